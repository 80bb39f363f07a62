"""Portable Roaring bitmaps: sets of numbers as both table formats store deleted positions. Pure.

Law: what a few bytes claim is counted before it is laid out, so memory is never more than some times the bytes and the
limit; values that do not ascend, or end beyond their container, are no bitmap. Bytes that are none raise ValueError or
struct.error. CRoaring is given the bitmaps of 64 bits one by one: of all at once it would make seven times their bytes
before it could be asked how many values there are.
"""

from __future__ import annotations

import struct

import numpy as np
from pyroaring import BitMap

from core.messages import told
from core.model.intervals import Ints
from core.storage import size_limits


def wide(body: bytes, at: int) -> tuple[Ints, int]:
    """(values, where it ends): a count of 64 bits, then bitmaps, each after the high half of its values."""
    (count,) = struct.unpack_from("<q", body, at)
    if not 0 <= count <= size_limits.BITMAPS:
        raise ValueError(
            told("{count} bitmaps were expected to be at most {most:,}", count=count, most=size_limits.BITMAPS)
        )
    parts, at, left = [np.zeros(0, dtype=np.int64)], at + 8, size_limits.POSITIONS
    for _ in range(count):
        (high,) = struct.unpack_from("<I", body, at)
        if high >> 31:
            raise ValueError(told("it begins a bitmap with a negative number"))
        low, at = narrow(body, at + 4, left)
        left -= len(low)
        low += high << 32
        parts.append(low)
    return parts[1] if len(parts) == 2 else np.concatenate(parts), at


def narrow(body: bytes, at: int, most: int = size_limits.POSITIONS) -> tuple[Ints, int]:
    """(values below 2**32, ascending; where it ends). No room is made for more than `most`."""
    try:
        bitmap = BitMap.deserialize(memoryview(body)[at:])  # type: ignore[arg-type]  # it takes any buffer
    except (ValueError, IndexError) as error:  # the latter where nothing is left
        raise ValueError(told("it holds no Roaring bitmap ({error})", error=error)) from error
    if len(bitmap) > most:
        raise ValueError(told("it claims {total:,} values, more than {most:,}", total=len(bitmap), most=most))
    return np.frombuffer(bitmap.to_array(), np.uint32).astype(np.int64), at + len(bitmap.serialize())
