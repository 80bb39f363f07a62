"""Deletion vectors: which rows of a data file are deleted, as positions from 0. Pure.

Law: bytes that are not exactly one whole vector are `Corrupt`; the checksum is compared. Both kinds are read: 32 bits
(one portable Roaring bitmap) and 64 bits (several, each with the high half of its positions). Sources: spec 4.7 and
the public format specification of Roaring bitmaps.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np

from core.errors import Corrupt
from core.runs import Ints

MAGIC_32, MAGIC_64 = 1581511376, 1681511377
_WITHOUT_RUNS, _WITH_RUNS = 12346, 12347
_OFFSETS_FROM = 4  # containers: a bitmap with runs has no offsets below that
_ARRAY_MOST = 4096  # values of an array container


def positions(content: bytes, offset: int, size: int, path: str) -> Ints:
    """The positions of the vector at `offset` of an index file; `size` is what the index manifest says of it."""
    try:
        (length,) = struct.unpack_from(">i", content, offset)
        body = content[offset + 4 : offset + 4 + length]
        (checksum,) = struct.unpack_from(">I", content, offset + 4 + length)
        if len(body) != length or length < 4:
            raise ValueError(f"{length} bytes do not fit into the file")
        if zlib.crc32(body) != checksum:
            raise ValueError("its checksum is another")
        if struct.unpack_from(">i", body)[0] == MAGIC_32:
            expected = length
            found, end = _bitmap(body, 4)
        elif struct.unpack_from("<i", body)[0] == MAGIC_64:
            expected = length + 8
            found, end = _bitmaps(body)
        else:
            raise ValueError("it is of no known kind")
        if expected != size or end != length:
            raise ValueError(f"{size} bytes were expected, {expected} found")
    except (ValueError, struct.error) as error:
        raise Corrupt(f"The deletion vector at byte {offset} cannot be read: {error}.", path=path) from error
    return found


def _bitmaps(body: bytes) -> tuple[Ints, int]:
    (count,) = struct.unpack_from("<q", body, 4)
    parts, at = [np.zeros(0, dtype=np.int64)], 12
    for _ in range(count):
        (high,) = struct.unpack_from("<I", body, at)
        low, at = _bitmap(body, at + 4)
        parts.append(low + (high << 32))
    return np.concatenate(parts), at


def _bitmap(body: bytes, at: int) -> tuple[Ints, int]:
    """(values, where it ends)."""
    (cookie,) = struct.unpack_from("<I", body, at)
    if cookie & 0xFFFF == _WITH_RUNS:
        count = (cookie >> 16) + 1
        flags = np.frombuffer(body, np.uint8, (count + 7) // 8, at + 4)
        has_runs = np.unpackbits(flags, bitorder="little")[:count].astype(np.bool_)
        at += 4 + len(flags)
    elif cookie == _WITHOUT_RUNS:
        (count,) = struct.unpack_from("<I", body, at + 4)
        if count > 1 << 16:
            raise ValueError(f"{count} containers are too many")
        has_runs = np.zeros(count, dtype=np.bool_)
        at += 8
    else:
        raise ValueError("it holds no Roaring bitmap")
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
            raise ValueError(f"{cardinality} values were expected, {len(low)} found")
        parts.append(low + (high << 16))
    return np.concatenate(parts), at
