"""Portable Roaring bitmaps: sets of numbers as both table formats store deleted positions. Pure.

Source: the public format specification of Roaring bitmaps. Bytes that are no bitmap raise ValueError or struct.error.
"""

from __future__ import annotations

import struct

import numpy as np

from core.runs import Ints
from core.told import told

_WITHOUT_RUNS, _WITH_RUNS = 12346, 12347
_OFFSETS_FROM = 4  # containers: a bitmap with runs has no offsets below that
_ARRAY_MOST = 4096  # values of an array container


def wide(body: bytes, at: int) -> tuple[Ints, int]:
    """(values, where it ends): a count of 64 bits, then bitmaps, each after the high half of its values."""
    (count,) = struct.unpack_from("<q", body, at)
    parts, at = [np.zeros(0, dtype=np.int64)], at + 8
    for _ in range(count):
        (high,) = struct.unpack_from("<I", body, at)
        low, at = narrow(body, at + 4)
        parts.append(low + (high << 32))
    return np.concatenate(parts), at


def narrow(body: bytes, at: int) -> tuple[Ints, int]:
    """(values below 2**32, where it ends)."""
    (cookie,) = struct.unpack_from("<I", body, at)
    if cookie & 0xFFFF == _WITH_RUNS:
        count = (cookie >> 16) + 1
        flags = np.frombuffer(body, np.uint8, (count + 7) // 8, at + 4)
        has_runs = np.unpackbits(flags, bitorder="little")[:count].astype(np.bool_)
        at += 4 + len(flags)
    elif cookie == _WITHOUT_RUNS:
        (count,) = struct.unpack_from("<I", body, at + 4)
        if count > 1 << 16:
            raise ValueError(told("{count} containers are too many", count=count))
        has_runs = np.zeros(count, dtype=np.bool_)
        at += 8
    else:
        raise ValueError(told("it holds no Roaring bitmap"))
    heads = np.frombuffer(body, "<u2", 2 * count, at).reshape(count, 2).astype(np.int64)
    at += 4 * count
    if cookie == _WITHOUT_RUNS or count >= _OFFSETS_FROM:
        at += 4 * count
    parts = [np.zeros(0, dtype=np.int64)]
    for (high, less_one), runs in zip(heads.tolist(), has_runs.tolist(), strict=True):
        cardinality = less_one + 1
        if runs:
            (number,) = struct.unpack_from("<H", body, at)
            pairs = np.frombuffer(body, "<u2", 2 * number, at + 2).reshape(number, 2).astype(np.int64)
            lengths = pairs[:, 1] + 1
            first = np.repeat(pairs[:, 0] - (np.cumsum(lengths) - lengths), lengths)
            low = first + np.arange(lengths.sum(), dtype=np.int64)
            at += 2 + 4 * number
        elif cardinality <= _ARRAY_MOST:
            low = np.frombuffer(body, "<u2", cardinality, at).astype(np.int64)
            at += 2 * cardinality
        else:
            bits = np.unpackbits(np.frombuffer(body, np.uint8, 8192, at), bitorder="little")
            low = np.flatnonzero(bits).astype(np.int64)
            at += 8192
        if len(low) != cardinality:
            raise ValueError(
                told("{cardinality} values were expected, {low} found", cardinality=cardinality, low=len(low))
            )
        parts.append(low + (high << 16))
    return np.concatenate(parts), at
