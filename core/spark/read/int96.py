"""Parquet's INT96 timestamps as raw bytes. Pure.

Reason: Paimon writes a time before 1970 with a negative number of nanoseconds in its day. Arrow reads that number as
unsigned, which is 584 years later, and Spark truncates towards 1970, so neither returns the raw value. Arrow does if
the footer declares the column as 12 plain bytes, which it physically is; nothing else in the file differs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

BYTES = 12
_INT96, _FIXED = 3, 7  # Parquet's physical types
_TRUE, _FALSE, _I16, _I32 = 1, 2, 4, 5  # Thrift's types; also 3 byte, 6 i64, 7 double, 8 binary, 9 list, 12 struct
_JULIAN_1970 = 2_440_588
_NANOS_OF_DAY = 86_400_000_000_000
_Field: TypeAlias = tuple[int, int, Any]  # number, type, value


def has(schema: Any, names: Iterable[str]) -> bool:
    """Whether one of these columns of a Parquet schema is stored as INT96."""
    columns = (schema.column(number) for number in range(len(schema)))
    paths = [each.path for each in columns if each.physical_type == "INT96"]
    return any(path == name or path.startswith(f"{name}.") for name in names for path in paths)  # names have dots, too


def as_bytes(content: bytes) -> bytes:
    """Rewrite a Parquet file's footer so that INT96 columns are 12-byte columns.

    Raises ValueError if it is not Parquet.
    """
    size = int.from_bytes(content[-8:-4], "little")
    if content[-4:] != b"PAR1" or size > len(content) - 12:
        raise ValueError("it has no footer")
    reader = _Reader(content[-8 - size : -8])
    fields: dict[int, _Field] = {each[0]: each for each in reader.struct()}
    for element in fields[2][2][1]:
        if _is(element, _INT96):
            kept = [each for each in element if each[0] not in (1, 2, 6, 10)]  # drop the logical type
            element[:] = [(1, _I32, _FIXED), (2, _I32, BYTES), *kept]
    for group in fields[4][2][1]:
        for chunk in next(each[2][1] for each in group if each[0] == 1):
            for number, _, column in chunk:
                if number == 3 and _is(column, _INT96):
                    column[:] = [(1, _I32, _FIXED), *(each for each in column if each[0] not in (1, 12))]
    out = bytearray()
    _put_struct(out, [each for number, each in fields.items() if number != 5])  # nor a writer's own schema
    return b"".join((content[: -8 - size], bytes(out), len(out).to_bytes(4, "little"), b"PAR1"))


def times(column: pa.Array, to: pa.DataType, *, is_floored: bool = True) -> pa.Array:
    """Convert 12-byte values to timestamps. Raises `ArrowInvalid` for those out of the unit's range.

    Values are rounded down; or else, as in Spark and Iceberg, each day's nanoseconds are truncated towards zero.
    """
    raw = np.frombuffer(column.buffers()[1], dtype=np.uint8) if len(column) else np.zeros(0, np.uint8)
    raw = raw[BYTES * column.offset : BYTES * (column.offset + len(column))].reshape(-1, BYTES)
    nanos = np.ascontiguousarray(raw[:, :8]).view("<i8").reshape(-1)
    days = np.ascontiguousarray(raw[:, 8:]).view("<i4").reshape(-1).astype(np.int64) - _JULIAN_1970
    per_unit = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[to.unit]
    found = days * (_NANOS_OF_DAY // per_unit) + np.floor_divide(nanos, per_unit)
    if not is_floored:
        found += (nanos < 0) & (nanos % per_unit != 0)
    there = column.is_valid()
    about = days * (_NANOS_OF_DAY / per_unit) + nanos / per_unit  # an overflowed value is 2**64 away from it
    if (there.to_numpy(zero_copy_only=False) & (np.abs(about - found) > 2.0**62)).any():
        years = 2**63 * per_unit // 31_556_952 // 10**9
        raise pa.ArrowInvalid(f"a time lies more than {years} years from 1970, which 64 bits of {to.unit} do not reach")
    return pc.if_else(there, pa.array(found), None).cast(pa.timestamp(to.unit)).cast(to)


# Thrift's compact protocol -------------------------------------------------------------------------------------------


def _is(element: list[_Field], physical: int) -> bool:
    return any(number == 1 and value == physical for number, _, value in element)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def varint(self) -> int:
        found = shift = 0
        while True:
            byte = self.byte()
            found |= (byte & 0x7F) << shift
            if byte < 0x80:
                return found
            shift += 7

    def zigzag(self) -> int:
        found = self.varint()
        return found >> 1 ^ -(found & 1)

    def taken(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at]

    def struct(self) -> list[_Field]:
        fields: list[_Field] = []
        number = 0
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.zigzag()
            of = head & 0x0F
            fields.append((number, of, of == _TRUE if of in (_TRUE, _FALSE) else self.value(of)))
        return fields

    def value(self, of: int) -> Any:
        match of:
            case 1 | 2 | 3:
                return self.byte()
            case 4 | 5 | 6:
                return self.zigzag()
            case 7:
                return self.taken(8)
            case 8:
                return self.taken(self.varint())
            case 9 | 10:
                head = self.byte()
                count = self.varint() if head >> 4 == 15 else head >> 4
                return head & 0x0F, [self.value(head & 0x0F) for _ in range(count)]
            case 12:
                return self.struct()
            case _:
                raise ValueError(f"its footer has a value of the unknown type {of}")


def _put_varint(out: bytearray, value: int) -> None:
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def _put_struct(out: bytearray, fields: Iterable[_Field]) -> None:
    last = 0
    for number, of, value in fields:
        kind = (_TRUE if value else _FALSE) if of in (_TRUE, _FALSE) else of
        if 0 < number - last < 16:
            out.append((number - last) << 4 | kind)
        else:
            out.append(kind)
            _put_value(out, _I16, number)
        last = number
        if of not in (_TRUE, _FALSE):
            _put_value(out, of, value)
    out.append(0)


def _put_value(out: bytearray, of: int, value: Any) -> None:
    match of:
        case 1 | 2 | 3:
            out.append(value)
        case 4 | 5 | 6:
            _put_varint(out, value << 1 ^ value >> 63)
        case 7:
            out.extend(value)
        case 8:
            _put_varint(out, len(value))
            out.extend(value)
        case 9 | 10:
            inner, each = value
            out.append(min(len(each), 15) << 4 | inner)
            if len(each) >= 15:
                _put_varint(out, len(each))
            for one in each:
                _put_value(out, inner, one)
        case _:
            _put_struct(out, value)
