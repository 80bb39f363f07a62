"""Portable Roaring bitmaps: sets of numbers as both table formats store deleted positions. Pure.

Source: the public format specification of Roaring bitmaps. Bytes that are no bitmap raise ValueError or struct.error.
"""

from __future__ import annotations

import struct

import numpy as np

from core.messages import told
from core.model.intervals import Ints
from core.storage import size_limits

_WITHOUT_RUNS, _WITH_RUNS = 12346, 12347
_OFFSETS_FROM = 4  # containers: a bitmap with runs has no offsets below that
_ARRAY_MOST = 4096  # values of an array container


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
    """(values below 2**32, where it ends). Containers say how many they have: no room is made for more than `most`."""
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
    total = int(heads[:, 1].sum()) + count
    if total > most:
        raise ValueError(told("it claims {total:,} values, more than {most:,}", total=total, most=most))
    values, filled = np.empty(total, dtype=np.int64), 0
    for (high, less_one), runs in zip(heads.tolist(), has_runs.tolist(), strict=True):
        cardinality = less_one + 1
        if runs:
            (number,) = struct.unpack_from("<H", body, at)
            pairs = np.frombuffer(body, "<u2", 2 * number, at + 2).reshape(number, 2).astype(np.int64)
            lengths = pairs[:, 1] + 1
            found = int(lengths.sum())
            _refuse_other(found, cardinality)
            if number and int((pairs[:, 0] + pairs[:, 1]).max()) > 0xFFFF:
                raise ValueError(told("a run of values ends beyond its container"))
            low = np.repeat(pairs[:, 0] - (np.cumsum(lengths) - lengths), lengths) + np.arange(found, dtype=np.int64)
            at += 2 + 4 * number
        elif cardinality <= _ARRAY_MOST:
            low = np.frombuffer(body, "<u2", cardinality, at)
            at += 2 * cardinality
        else:
            low = np.flatnonzero(np.unpackbits(np.frombuffer(body, np.uint8, 8192, at), bitorder="little"))
            at += 8192
            _refuse_other(len(low), cardinality)
        part = values[filled : filled + cardinality]
        part[:] = low
        part += high << 16
        filled += cardinality
    return values, at


def _refuse_other(found: int, cardinality: int) -> None:
    if found != cardinality:
        raise ValueError(told("{cardinality} values were expected, {low} found", cardinality=cardinality, low=found))
