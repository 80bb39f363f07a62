"""Paimon's BinaryRow: partition values and column statistics as bytes inside manifests.

Invariant: `decode(encode(values, types), types) == values`, and equal values have equal bytes, because a partition is
identified by its bytes. Stored form (docs/paimon.md §4.4): arity as 4 bytes big-endian, then the row, little-endian:
one byte of row kind and the null bits in whole 8-byte words, one 8-byte slot per field, then values that do not fit
their slot, padded to 8 bytes.
"""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from core import decimals
from core.errors import Corrupt, Invalid, Unsupported
from core.formats.paimon.types import PaimonType, Source, parse, text
from core.formats.paimon.ways_out import CHANGE, NEWER
from core.messages import message

EMPTY = bytes(12)  # the row without fields: partition of an unpartitioned table, keys of an append table

_EPOCH = dt.datetime.combine(dt.date(1970, 1, 1), dt.time())  # wall clock: TIMESTAMP has no zone
_EPOCH_DAY = dt.date(1970, 1, 1).toordinal()
_MILLIS_OF_DAY = 86_400_000
_INLINE = 7  # longest text or bytes stored inside a slot
_WIDEST = 16  # bytes of a decimal with 38 digits
_NUMBERS = {
    "TINYINT": struct.Struct("<b"),
    "SMALLINT": struct.Struct("<h"),
    "INT": struct.Struct("<i"),
    "BIGINT": struct.Struct("<q"),
    "FLOAT": struct.Struct("<f"),
    "DOUBLE": struct.Struct("<d"),
}
_INT = struct.Struct("<i")
_LONG = struct.Struct("<q")
_SLOT = struct.Struct("<Q")


class Single(float):
    """A FLOAT value: a number like any other, but printed with the digits of 32 bits (0.1, not 0.10000000149)."""

    __slots__ = ()


class Nano(dt.datetime):
    """A time with nanoseconds, which Python cannot represent: `nanosecond` is the part below 1 µs, 0 to 999."""

    nanosecond: int = 0


def decode(data: bytes, types: Sequence[Source]) -> tuple[Any, ...]:
    """Decode a stored row into Python values.

    Numbers, bool, str, bytes and Decimal are returned as such. DATE, TIME and TIMESTAMP are `datetime` values:
    TIMESTAMP without a zone, TIMESTAMP WITH LOCAL TIME ZONE in UTC, both as `Nano` if they have nanoseconds. Null is
    None. Raises `Corrupt` if the bytes are not a row of these types, `Unsupported` for a type without a plain value.
    """
    return tuple(some(data, len(types), dict(enumerate(types))).values())


def some(data: bytes, arity: int, wanted: Mapping[int, Source]) -> dict[int, Any]:
    """Decode the fields with the given numbers from a stored row with `arity` fields; see `decode`."""
    if len(data) < 4:
        raise _corrupt(data, message("it is shorter than 4 bytes"))
    if (found := int.from_bytes(data[:4], "big")) != arity:
        raise _corrupt(data, message("it has {found} fields, expected {arity}", found=found, arity=arity))
    row = memoryview(data)[4:]
    fixed = _null_width(arity) + 8 * arity
    if len(row) < fixed:
        raise _corrupt(
            data,
            message(
                "it has {row} bytes, but {arity} fields need at least {fixed}", row=len(row), arity=arity, fixed=fixed
            ),
        )
    values: dict[int, Any] = {}
    for index, source in wanted.items():
        bit, type_ = index + 8, parse(source)
        if row[bit >> 3] >> (bit & 7) & 1:
            values[index] = None
            continue
        try:
            values[index] = _value(row, _null_width(arity) + 8 * index, fixed, type_)
        except (ValueError, OverflowError) as error:
            raise _corrupt(
                data, message("field {index} is not a valid {of} ({error})", index=index, of=text(type_), error=error)
            ) from error
    return values


def encode(values: Sequence[Any], types: Sequence[Source]) -> bytes:
    """Encode values as a stored row, byte for byte as the engine writes it; the inverse of `decode`.

    Raises `Invalid` for a value that its type cannot represent.
    """
    if len(values) != len(types):
        raise Invalid("{values} values were given for {types} types.", values=len(values), types=len(types))
    arity = len(values)
    width = _null_width(arity)
    row = bytearray(width + 8 * arity)
    for index, (value, source) in enumerate(zip(values, types, strict=True)):
        type_ = parse(source)
        slot = width + 8 * index
        if value is None:
            row[index + 8 >> 3] |= 1 << (index + 8 & 7)
            reserved = 16 if _is_wide_decimal(type_) else 8 if _is_wide_timestamp(type_) else 0
            if reserved:  # the engine reserves space for a value that may be updated later
                _SLOT.pack_into(row, slot, len(row) << 32)
                row.extend(bytes(reserved))
            continue
        try:
            _put(row, slot, value, type_)
        except (ValueError, OverflowError, TypeError, AttributeError, struct.error) as error:
            raise Invalid(
                "{value!r} is not a valid {of} ({error}).", value=value, of=text(type_), error=error
            ) from error
    return arity.to_bytes(4, "big") + bytes(row)


def bucket_hash(row_bytes: bytes) -> int:
    """Return the Murmur3 hash (x86, 32 bits, seed 42) of a row *without* its 4 bytes of arity, as a signed number.

    In fixed bucket mode, the bucket of a row is the absolute value of the remainder of this hash by the number of
    buckets, rounding towards zero. Raises `Invalid` if the length is not a multiple of 4 bytes.
    """
    if len(row_bytes) % 4:
        raise Invalid(
            "The length of a row to be hashed must be a multiple of 4 bytes, not {row_bytes}.", row_bytes=len(row_bytes)
        )
    h = 42
    for (word,) in struct.iter_unpack("<I", row_bytes):
        k = word * 0xCC9E2D51 & 0xFFFFFFFF
        k = (k << 15 | k >> 17) & 0xFFFFFFFF
        h ^= k * 0x1B873593 & 0xFFFFFFFF
        h = (h << 13 | h >> 19) & 0xFFFFFFFF
        h = h * 5 + 0xE6546B64 & 0xFFFFFFFF
    h ^= len(row_bytes)
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    h ^= h >> 16
    return h - (1 << 32) if h >> 31 else h


# ----------------------------------------------------------------------------------------------------------------


def _null_width(arity: int) -> int:
    return (arity + 63 + 8) // 64 * 8


def _is_wide_decimal(type_: PaimonType) -> bool:
    return type_.root == "DECIMAL" and (type_.size or 0) > 18


def _is_wide_timestamp(type_: PaimonType) -> bool:
    return type_.root in ("TIMESTAMP", "TIMESTAMP_LTZ") and (type_.size or 0) > 3


def _corrupt(data: bytes, why: str) -> Corrupt:
    shown = data[:32].hex() + ("..." if len(data) > 32 else "")
    return Corrupt("A stored row (bytes {shown}) cannot be read: {why}.", shown=shown or message("none"), why=why)


def _value(row: memoryview, slot: int, fixed: int, type_: PaimonType) -> Any:
    root = type_.root
    if root in _NUMBERS:
        number = _NUMBERS[root].unpack_from(row, slot)[0]
        return Single(number) if root == "FLOAT" else number
    match root:
        case "CHAR" | "VARCHAR":
            return str(_bytes(row, slot, fixed), "utf-8")
        case "BINARY" | "VARBINARY":
            return _bytes(row, slot, fixed)
        case "BOOLEAN":
            return row[slot] != 0
        case "DATE":
            return dt.date.fromordinal(_EPOCH_DAY + _INT.unpack_from(row, slot)[0])
        case "TIME":
            millis = _INT.unpack_from(row, slot)[0]
            if not 0 <= millis < _MILLIS_OF_DAY:
                raise ValueError(f"{millis} is no millisecond of a day")
            return (_EPOCH + dt.timedelta(milliseconds=millis)).time()
        case "DECIMAL":
            if _is_wide_decimal(type_):
                unscaled = _wide_decimal(row, slot, fixed)
            else:
                unscaled = _LONG.unpack_from(row, slot)[0]
            return decimals.number(unscaled, type_.scale or 0)
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            nanos = 0
            if _is_wide_timestamp(type_):
                offset, nanos = _offset_and_size(row, slot)
                if not fixed <= offset <= len(row) - 8 or nanos > 999_999:
                    raise ValueError(message("its position is outside the row"))
                millis = _LONG.unpack_from(row, offset)[0]
            else:
                millis = _LONG.unpack_from(row, slot)[0]
            naive = _EPOCH + dt.timedelta(milliseconds=millis, microseconds=nanos // 1000)
            moment = naive if root == "TIMESTAMP" else naive.replace(tzinfo=dt.UTC)
            return _with_nanos(moment, nanos % 1000)
        case _:
            raise Unsupported("Snapscope cannot read values of type {of} in stored rows.", of=text(type_), remedy=NEWER)


def _with_nanos(moment: dt.datetime, nanosecond: int) -> dt.datetime:
    if not nanosecond:
        return moment
    fine = Nano(*moment.timetuple()[:6], moment.microsecond, moment.tzinfo)
    fine.nanosecond = nanosecond
    return fine


def _bytes(row: memoryview, slot: int, fixed: int) -> bytes:
    last = row[slot + 7]
    if last & 0x80:
        size = last & 0x7F
        if size > _INLINE:
            raise ValueError(f"a slot cannot hold {size} bytes")
        return bytes(row[slot : slot + size])
    return _variable(row, slot, fixed)


def _variable(row: memoryview, slot: int, fixed: int) -> bytes:
    offset, size = _offset_and_size(row, slot)
    if offset < fixed or offset + size > len(row):
        raise ValueError(message("its position is outside the row"))
    return bytes(row[offset : offset + size])


def _wide_decimal(row: memoryview, slot: int, fixed: int) -> int:
    stored = _variable(row, slot, fixed)
    if len(stored) > _WIDEST:  # converting millions of bytes to digits would take minutes
        raise ValueError(
            message("a decimal may have at most {most} bytes; this one has {found:,}", most=_WIDEST, found=len(stored))
        )
    return int.from_bytes(stored, "big", signed=True)


def _offset_and_size(row: memoryview, slot: int) -> tuple[int, int]:
    word: int = _SLOT.unpack_from(row, slot)[0]
    return word >> 32, word & 0xFFFFFFFF


def _put(row: bytearray, slot: int, value: Any, type_: PaimonType) -> None:
    root = type_.root
    if root in _NUMBERS:
        _NUMBERS[root].pack_into(row, slot, value)
        return
    match root:
        case "CHAR" | "VARCHAR":
            _put_bytes(row, slot, value.encode("utf-8"))
        case "BINARY" | "VARBINARY":
            _put_bytes(row, slot, bytes(memoryview(value)))
        case "BOOLEAN":
            if value not in (True, False):  # any non-empty string is true, even "false"
                raise ValueError("true or false was expected")
            row[slot] = 1 if value else 0
        case "DATE":
            _INT.pack_into(row, slot, value.toordinal() - _EPOCH_DAY)
        case "TIME":
            since = ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000
            _INT.pack_into(row, slot, since)
        case "DECIMAL":
            _put_decimal(
                row, slot, decimals.unscaled(value, type_.scale or 0, type_.size or 0), _is_wide_decimal(type_)
            )
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            if (value.tzinfo is None) != (root == "TIMESTAMP"):
                raise ValueError("a TIMESTAMP has no zone, a TIMESTAMP WITH LOCAL TIME ZONE needs one")
            naive = value if value.tzinfo is None else value.astimezone(dt.UTC).replace(tzinfo=None)
            millis, micros = divmod((naive - _EPOCH) // dt.timedelta(microseconds=1), 1000)
            if _is_wide_timestamp(type_):
                _SLOT.pack_into(row, slot, len(row) << 32 | micros * 1000 + getattr(value, "nanosecond", 0))
                row.extend(_LONG.pack(millis))
            else:
                _LONG.pack_into(row, slot, millis)
        case _:
            raise Unsupported("Snapscope cannot store values of type {of} in rows.", of=text(type_), remedy=CHANGE)


def _put_bytes(row: bytearray, slot: int, value: bytes) -> None:
    size = len(value)
    if size <= _INLINE:
        row[slot : slot + size] = value
        row[slot + 7] = 0x80 | size
        return
    _SLOT.pack_into(row, slot, len(row) << 32 | size)
    row.extend(value)
    row.extend(bytes(-size % 8))


def _put_decimal(row: bytearray, slot: int, unscaled: int, is_wide: bool) -> None:
    if not is_wide:
        _LONG.pack_into(row, slot, unscaled)
        return
    magnitude = unscaled if unscaled >= 0 else ~unscaled
    size = magnitude.bit_length() // 8 + 1  # the shortest two's complement, as Java's BigInteger writes it
    _SLOT.pack_into(row, slot, len(row) << 32 | size)
    row.extend(unscaled.to_bytes(size, "big", signed=True).ljust(16, b"\0"))
