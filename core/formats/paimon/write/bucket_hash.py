"""The bucket hash of many keys at once. Pure: Arrow columns in, numbers out.

Invariant: for each row equal to `bucket_hash` of the bytes of `binary_row.encode` without their arity. The bytes of all
rows are processed together, word by word: first the fixed part, then each column's variable part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.errors import Invalid, Unsupported
from core.formats.paimon.types import PaimonType, text
from core.formats.paimon.ways_out import CHANGE

HASHED = ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE", "DECIMAL", "CHAR", "VARCHAR",
          "BINARY", "VARBINARY", "TIMESTAMP", "TIMESTAMP_LTZ")  # fmt: skip
_INLINE = 7
_Words: TypeAlias = npt.NDArray[np.uint32]
_Slots: TypeAlias = npt.NDArray[np.uint64]
_Sizes: TypeAlias = npt.NDArray[np.int64]


def buckets(columns: Sequence[pa.Array], types: Sequence[PaimonType], number: int) -> npt.NDArray[np.int32]:
    """Return the bucket of each row among `number` buckets: the absolute value of Java's remainder (towards zero)."""
    return (np.abs(hashes(columns, types).astype(np.int64)) % number).astype(np.int32)


def hashes(columns: Sequence[pa.Array], types: Sequence[PaimonType]) -> npt.NDArray[np.int32]:
    """Return the Murmur3 hash of each row of these columns. Raises `Invalid` if one of them contains a null."""
    if any(column.null_count for column in columns):
        raise Invalid("A key is null; keys must not be null.")
    rows = len(columns[0])
    head = (len(columns) + 63 + 8) // 64 * 8
    end: _Sizes = np.full(rows, head + 8 * len(columns), dtype=np.int64)
    found = np.full(rows, 42, dtype=np.uint32)
    with np.errstate(over="ignore"):
        for _ in range(head // 4):
            found = _mixed(found, np.zeros(rows, dtype=np.uint32))
        behind = []
        for column, type_ in zip(columns, types, strict=True):
            slot, sizes, content = _stored(column, type_)
            where = end.astype(np.uint64) << np.uint64(32)
            slot = np.where(sizes > 0, slot | where, slot)
            behind.append((sizes // 4, content))
            end += sizes
            words = slot.astype("<u8").view("<u4").reshape(rows, 2)
            found = _mixed(_mixed(found, words[:, 0]), words[:, 1])
        for count, content in behind:
            start = np.cumsum(count) - count
            for at in range(int(count.max(initial=0))):
                some = np.flatnonzero(count > at)
                found[some] = _mixed(found[some], content[start[some] + at])
        return _finished(found ^ end.astype(np.uint32)).view(np.int32)


def _mixed(state: _Words, word: _Words) -> _Words:
    k = word * np.uint32(0xCC9E2D51)
    k = (k << np.uint32(15) | k >> np.uint32(17)) * np.uint32(0x1B873593)
    h = state ^ k
    return (h << np.uint32(13) | h >> np.uint32(19)) * np.uint32(5) + np.uint32(0xE6546B64)


def _finished(h: _Words) -> _Words:
    h = (h ^ h >> np.uint32(16)) * np.uint32(0x85EBCA6B)
    h = (h ^ h >> np.uint32(13)) * np.uint32(0xC2B2AE35)
    return h ^ h >> np.uint32(16)


def _stored(column: pa.Array, type_: PaimonType) -> tuple[_Slots, _Sizes, _Words]:
    """Return (slots without offsets, size in bytes of each variable part, all variable parts as words)."""
    rows = len(column)
    nothing: tuple[_Sizes, _Words] = np.zeros(rows, dtype=np.int64), np.zeros(0, dtype=np.uint32)
    match type_.root:
        case "BOOLEAN":
            return _numbers(column.cast(pa.uint8()), np.uint8), *nothing
        case "TINYINT" | "SMALLINT" | "INT" | "BIGINT":
            bits = {"TINYINT": np.uint8, "SMALLINT": np.uint16, "INT": np.uint32, "BIGINT": np.uint64}[type_.root]
            return _numbers(column, bits), *nothing
        case "FLOAT" | "DOUBLE":
            return _numbers(column, np.uint32 if type_.root == "FLOAT" else np.uint64), *nothing
        case "DATE":
            return _numbers(column.cast(pa.int32()), np.uint32), *nothing
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            unit = pa.timestamp("us", tz=column.type.tz)
            micros = column.cast(unit).cast(pa.int64()).to_numpy(zero_copy_only=False)
            millis = np.floor_divide(micros, 1000)
            if (type_.size or 0) <= 3:
                return millis.astype(np.uint64), *nothing
            nanos = ((micros - millis * 1000) * 1000).astype(np.uint64)
            return nanos, np.full(rows, 8, dtype=np.int64), millis.astype("<i8").view("<u4")
        case "DECIMAL":
            return _decimals(column, (type_.size or 0) > 18)
        case "CHAR" | "VARCHAR" | "BINARY" | "VARBINARY":
            return _texts(column)
        case _:
            raise Unsupported("Snapscope cannot assign a bucket to keys of type {of}.", of=text(type_), remedy=CHANGE)


def _numbers(column: pa.Array, bits: Any) -> _Slots:
    values: Any = np.ascontiguousarray(column.to_numpy(zero_copy_only=False))
    found: _Slots = values.view(bits).astype(np.uint64)
    return found


def _decimals(column: pa.Array, is_wide: bool) -> tuple[_Slots, _Sizes, _Words]:
    """Wide decimals are stored as the shortest big-endian two's complement, padded to 16 bytes."""
    rows = len(column)
    stored = np.frombuffer(column.buffers()[1], dtype=np.uint8)[16 * column.offset :][: 16 * rows].reshape(rows, 16)
    if not is_wide:
        low = np.ascontiguousarray(stored[:, :8]).view("<u8").reshape(rows)
        return low, np.zeros(rows, dtype=np.int64), np.zeros(0, dtype=np.uint32)
    high_first = stored[:, ::-1]
    sign = (high_first[:, :1] >> 7) * np.uint8(0xFF)
    is_spare = (high_first[:, :-1] == sign) & ((high_first[:, 1:] ^ sign) < 0x80)
    spare = np.cumprod(is_spare, axis=1).sum(axis=1).astype(np.int64)
    places = np.arange(16) + spare[:, None]
    shifted = np.where(places < 16, np.take_along_axis(high_first, np.minimum(places, 15), axis=1), np.uint8(0))
    size = (16 - spare).astype(np.uint64)
    return size, np.full(rows, 16, dtype=np.int64), np.ascontiguousarray(shifted).view("<u4").reshape(-1)


def _texts(column: pa.Array) -> tuple[_Slots, _Sizes, _Words]:
    """Short values are stored in the slot with their length in its last byte, others after it, padded to 8 bytes."""
    flat = column.cast(pa.binary())
    _, offsets, data = flat.buffers()
    ends = np.frombuffer(offsets, dtype=np.int32)[flat.offset :][: len(flat) + 1].astype(np.int64)
    length = np.diff(ends)
    whole = np.frombuffer(data, dtype=np.uint8)[ends[0] : ends[-1]] if data is not None else np.zeros(0, np.uint8)
    short = length <= _INLINE
    sizes = np.where(short, 0, (length + 7) // 8 * 8)
    rows = len(flat)
    # one target array for all bytes: the slots of all rows, then their variable parts
    to = np.where(short, 8 * np.arange(rows), 8 * rows + np.cumsum(sizes) - sizes)
    target = np.zeros(8 * rows + int(sizes.sum()), dtype=np.uint8)
    target[np.arange(len(whole)) + np.repeat(to - (ends[:-1] - ends[0]), length)] = whole
    slots = np.where(
        short,
        target[: 8 * rows].view("<u8") | (np.uint64(0x80) | length.astype(np.uint64)) << np.uint64(56),
        length.astype(np.uint64),
    )
    return slots, sizes, target[8 * rows :].view("<u4")
