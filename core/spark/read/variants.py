"""Reassemble shredded variants, whose parts are stored in columns of their own, row by row. Pure.

Invariant: the result is one variant binary with the file's dictionary, to which names that it lacks are added. What
contradicts the format, and types that Spark has no variant of, are rejected.
Source: the Parquet format's specifications of the variant encoding and of shredding. A value that is missing where one
is required is a variant's null.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from core.messages import message

VALUE, METADATA, TYPED = "value", "metadata", "typed_value"
_NULL = b"\x00"
_EMPTY = b"\x01\x00\x00"  # a dictionary without names
_TRUE, _FALSE, _DOUBLE, _DATE, _TIMESTAMP, _TIMESTAMP_NTZ, _FLOAT, _BINARY, _STRING, _UUID = (
    each << 2 for each in (1, 2, 7, 11, 12, 13, 14, 15, 16, 20)
)
_INTS = ((1, 3 << 2), (2, 4 << 2), (4, 5 << 2), (8, 6 << 2))  # bytes, header
_DECIMALS = ((9, 4, 8 << 2), (18, 8, 9 << 2), (38, 16, 10 << 2))  # digits, bytes, header
_OBJECT, _ARRAY, _SHORT_STRING = 2, 3, 1
_SHORT = 64  # a string of fewer bytes has its length in its header


def whole(column: pa.StructArray) -> tuple[pa.Array, pa.Array]:
    """Values and metadata of a column of variants; both empty where it is null.

    Raises `ValueError` for what contradicts the format, `NotImplementedError` for a type that Spark has no variant of.
    """
    names = {field.name for field in column.type}
    if METADATA not in names or not {VALUE, TYPED} & names:
        raise ValueError(message("a variant has no metadata, or no values"))
    if TYPED not in names:
        return _stored(column)
    value = _reader(column)
    values, metadata = [], []
    last, known = _EMPTY, _Names(_EMPTY)
    for row, (stored, is_valid) in enumerate(zip(_bytes(column, METADATA), column.is_valid().to_pylist(), strict=True)):
        if not is_valid:
            values.append(b"")
            metadata.append(b"")
            continue
        if stored is None:
            raise ValueError(message("a variant has no metadata"))
        if stored != last:
            last, known = stored, _Names(stored)
        values.append(value(row, known) or _NULL)
        metadata.append(known.stored())
    return pa.array(values, pa.binary()), pa.array(metadata, pa.binary())


def _stored(column: pa.StructArray) -> tuple[pa.Array, pa.Array]:
    """As `whole`, where no part is apart."""
    value, metadata = (pc.struct_field(column, name) for name in (VALUE, METADATA))
    if pc.any(pc.and_(column.is_valid(), metadata.is_null())).as_py():
        raise ValueError(message("a variant has no metadata"))
    missing = pc.if_else(column.is_valid(), pa.scalar(_NULL), pa.scalar(b""))
    return pc.coalesce(value.cast(pa.binary()), missing), pc.fill_null(metadata.cast(pa.binary()), b"")


class _Names:
    """The dictionary of one variant."""

    def __init__(self, stored: bytes) -> None:
        if not stored or stored[0] & 0xF != 1:
            raise ValueError(message("a variant's metadata is of an unknown version"))
        self._stored = stored
        width = (stored[0] >> 6) + 1
        count = _number(stored, 1, width)
        ends = [_number(stored, 1 + width * (each + 1), width) for each in range(count + 1)]
        first = 1 + width * (count + 2)
        self.names = [stored[first + a : first + b].decode() for a, b in pairwise(ends)]
        self.ids = {name: number for number, name in enumerate(self.names)}
        self._known = count

    def id(self, name: str) -> int:
        if name not in self.ids:
            self.ids[name] = len(self.names)
            self.names.append(name)
        return self.ids[name]

    def stored(self) -> bytes:
        if len(self.names) == self._known:
            return self._stored
        texts = [name.encode() for name in self.names]
        ends = _ends(texts)
        width = _width(max(ends[-1], len(texts)))
        packed = b"".join(each.to_bytes(width, "little") for each in (len(texts), *ends))
        return bytes([1 | (width - 1) << 6]) + packed + b"".join(texts)


_Reader = Callable[[int, _Names], bytes | None]


def _reader(column: pa.StructArray) -> _Reader:
    """A function of a row that returns its variant, None if it is missing."""
    names = {field.name for field in column.type}
    values = _bytes(column, VALUE) if VALUE in names else [None] * len(column)
    if TYPED not in names:
        return lambda row, _: values[row]
    typed = pc.struct_field(column, TYPED)
    if isinstance(typed, pa.ExtensionArray):
        typed = typed.storage
    if pa.types.is_struct(typed.type):
        return _objects(typed, values)
    if pa.types.is_list(typed.type) or pa.types.is_large_list(typed.type):
        return _arrays(typed, values)
    scalars = _scalars(typed)

    def scalar(row: int, _: _Names) -> bytes | None:
        found = scalars[row]
        return values[row] if found is None else _alone(found, values[row])

    return scalar


def _objects(typed: pa.StructArray, values: Sequence[bytes | None]) -> _Reader:
    parts = {field.name: _reader(pc.struct_field(typed, [number])) for number, field in enumerate(typed.type)}
    is_valid = typed.is_valid().to_pylist()

    def found(row: int, names: _Names) -> bytes | None:
        if not is_valid[row]:
            return values[row]
        fields = {name: own for name, part in parts.items() if (own := part(row, names)) is not None}
        rest = values[row]
        for name, own in _fields(rest, names) if rest is not None else ():
            if name in parts:
                raise ValueError(message("a field of a variant is stored twice"))
            fields[name] = own
        return _object(fields, names)

    return found


def _arrays(typed: pa.ListArray, values: Sequence[bytes | None]) -> _Reader:
    part = _reader(typed.values)
    is_valid, ends = typed.is_valid().to_pylist(), typed.offsets.to_pylist()

    def found(row: int, names: _Names) -> bytes | None:
        if not is_valid[row]:
            return values[row]
        return _alone(_array([part(each, names) or _NULL for each in range(ends[row], ends[row + 1])]), values[row])

    return found


def _alone(found: bytes, other: bytes | None) -> bytes:
    if other is not None:
        raise ValueError(message("a value of a variant is stored twice"))
    return found


def _scalars(typed: pa.Array) -> list[bytes | None]:
    of, is_ = typed.type, pa.types
    if is_.is_timestamp(of) and of.unit in ("s", "ms", "us"):
        header, unit = _TIMESTAMP_NTZ if of.tz is None else _TIMESTAMP, pa.timestamp("us", of.tz)
        return _each(typed.cast(unit).cast(pa.int64()), lambda value: _fixed(header, value, 8))
    if is_.is_date32(of):
        return _each(typed.cast(pa.int32()), lambda value: _fixed(_DATE, value, 4))
    if is_.is_signed_integer(of):
        return _each(typed, _integer)
    if is_.is_decimal(of):
        return _each(typed, lambda value: _decimal(_unscaled(value), of.scale))
    makers: list[tuple[bool, Callable[[Any], bytes]]] = [
        (is_.is_boolean(of), lambda value: bytes([_TRUE if value else _FALSE])),
        (is_.is_float32(of), lambda value: bytes([_FLOAT]) + struct.pack("<f", value)),
        (is_.is_float64(of), lambda value: bytes([_DOUBLE]) + struct.pack("<d", value)),
        (is_.is_string(of) or is_.is_large_string(of), _text),
        (is_.is_binary(of) or is_.is_large_binary(of), lambda value: _fixed(_BINARY, len(value), 4) + value),
        (is_.is_fixed_size_binary(of) and of.byte_width == 16, lambda value: bytes([_UUID]) + value),
    ]
    for fits, make in makers:
        if fits:
            return _each(typed, make)
    raise NotImplementedError(message("Spark has no variant of type {type}", type=str(of)))


def _each(column: pa.Array, make: Callable[[Any], bytes]) -> list[bytes | None]:
    return [None if value is None else make(value) for value in column.to_pylist()]


def _fixed(header: int, value: int, width: int) -> bytes:
    return bytes([header]) + value.to_bytes(width, "little", signed=True)


def _integer(value: int) -> bytes:
    width, header = next(each for each in _INTS if -(1 << 8 * each[0] - 1) <= value < 1 << 8 * each[0] - 1)
    return _fixed(header, value, width)


def _unscaled(value: Decimal) -> int:
    sign, digits, _ = value.as_tuple()  # Arrow's have the exponent of their type; arithmetic would round them
    found = int("".join(map(str, digits)))
    return -found if sign else found


def _decimal(unscaled: int, scale: int) -> bytes:
    digits = max(len(str(abs(unscaled))), scale)
    _, width, header = next(each for each in _DECIMALS if digits <= each[0])
    return bytes([header, scale]) + unscaled.to_bytes(width, "little", signed=True)


def _text(value: str) -> bytes:
    text = value.encode()
    if len(text) < _SHORT:
        return bytes([len(text) << 2 | _SHORT_STRING]) + text
    return _fixed(_STRING, len(text), 4) + text


def _object(fields: dict[str, bytes], names: _Names) -> bytes:
    ordered = sorted(fields, key=lambda name: name.encode("utf-16-be", "surrogatepass"))  # as Java compares texts
    ids, parts = [names.id(name) for name in ordered], [fields[name] for name in ordered]
    ends = _ends(parts)
    wide, id_width, width = len(ids) > 0xFF, _width(max(ids, default=0)), _width(ends[-1])
    header = (wide << 4 | (id_width - 1) << 2 | width - 1) << 2 | _OBJECT
    packed = [each.to_bytes(id_width, "little") for each in ids] + [each.to_bytes(width, "little") for each in ends]
    return bytes([header]) + len(ids).to_bytes(4 if wide else 1, "little") + b"".join(packed) + b"".join(parts)


def _array(parts: Sequence[bytes]) -> bytes:
    ends = _ends(parts)
    wide, width = len(parts) > 0xFF, _width(ends[-1])
    packed = b"".join(each.to_bytes(width, "little") for each in ends)
    count = len(parts).to_bytes(4 if wide else 1, "little")
    return bytes([(wide << 2 | width - 1) << 2 | _ARRAY]) + count + packed + b"".join(parts)


def _fields(value: bytes, names: _Names) -> list[tuple[str, bytes]]:
    """Names and values of a variant that is an object."""
    if not value or value[0] & 3 != _OBJECT:
        raise ValueError(message("the rest of an object is no object"))
    header = value[0] >> 2
    width, id_width, wide = (header & 3) + 1, (header >> 2 & 3) + 1, header >> 4 & 1
    count = _number(value, 1, 4 if wide else 1)
    at = 5 if wide else 2
    ids = [_number(value, at + id_width * each, id_width) for each in range(count)]
    at += id_width * count
    starts = [_number(value, at + width * each, width) for each in range(count + 1)]
    at += width * (count + 1)
    following = dict(zip(ordered := sorted(set(starts)), ordered[1:], strict=False))  # in any order of the fields
    if (
        any(each not in following for each in starts[:-1])
        or at + starts[-1] > len(value)
        or max(ids, default=0) >= len(names.names)
    ):
        raise ValueError(message("an object of a variant is cut off"))
    return [
        (names.names[id], value[at + start : at + following[start]]) for id, start in zip(ids, starts, strict=False)
    ]


def _ends(parts: Sequence[bytes]) -> list[int]:
    ends = [0]
    for part in parts:
        ends.append(ends[-1] + len(part))
    return ends


def _width(number: int) -> int:
    return max(1, (number.bit_length() + 7) // 8)


def _number(stored: bytes, at: int, width: int) -> int:
    if at + width > len(stored):
        raise ValueError(message("a variant is cut off"))
    return int.from_bytes(stored[at : at + width], "little")


def _bytes(column: pa.StructArray, name: str) -> list[bytes | None]:
    found: list[bytes | None] = pc.struct_field(column, name).to_pylist()
    return found
