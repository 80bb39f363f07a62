"""Portable Roaring bitmaps, in which both table formats store deleted positions. Pure.

Invariant: a claimed count is checked before memory is allocated for it, so memory stays within a small multiple of the
input and the limit. Values that do not ascend, or that exceed their container, are rejected. Invalid bytes raise
ValueError or struct.error. CRoaring gets the parts of a 64-bit bitmap one by one: given all at once, it would allocate
seven times their size before the number of values could be checked.
"""

from __future__ import annotations

import struct

import numpy as np
from pyroaring import BitMap

from core.messages import message
from core.model.intervals import Ints
from core.storage import size_limits


def wide(body: bytes, at: int) -> tuple[Ints, int]:
    """Decode a 64-bit bitmap into (values, end offset).

    Stored form: a 64-bit count, then 32-bit bitmaps, each preceded by the high half of its values.
    """
    (count,) = struct.unpack_from("<q", body, at)
    if not 0 <= count <= size_limits.BITMAPS:
        raise ValueError(
            message("it has {count} bitmaps; the limit is {most:,}", count=count, most=size_limits.BITMAPS)
        )
    parts, at, free_positions = [np.zeros(0, dtype=np.int64)], at + 8, size_limits.POSITIONS
    for _ in range(count):
        (high,) = struct.unpack_from("<I", body, at)
        if high >> 31:
            raise ValueError(message("one of its bitmaps starts with a negative number"))
        low, at = narrow(body, at + 4, free_positions)
        free_positions -= len(low)
        low += high << 32
        parts.append(low)
    return parts[1] if len(parts) == 2 else np.concatenate(parts), at


def narrow(body: bytes, at: int, most: int = size_limits.POSITIONS) -> tuple[Ints, int]:
    """Decode a 32-bit bitmap into (ascending values below 2**32, end offset). Raises ValueError above `most` values."""
    try:
        bitmap = BitMap.deserialize(memoryview(body)[at:])  # type: ignore[arg-type]  # it takes any buffer
    except (ValueError, IndexError) as error:  # the latter where nothing is left
        raise ValueError(message("it is not a valid Roaring bitmap ({error})", error=error)) from error
    if len(bitmap) > most:
        raise ValueError(message("it claims {total:,} values, more than {most:,}", total=len(bitmap), most=most))
    return np.frombuffer(bitmap.to_array(), np.uint32).astype(np.int64), at + len(bitmap.serialize())
