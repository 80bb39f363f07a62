"""Deletion vectors written according to their specifications, independent of core's decoder.

Invariant: nothing here uses core.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

import numpy as np

MAGIC_32, MAGIC_64 = 1581511376, 1681511377


def roaring(values: Sequence[int], *, runs: bool) -> bytes:
    """Encode the portable format of the specification: run containers, else arrays, else bitmaps."""
    containers: dict[int, list[int]] = {}
    for value in sorted(set(values)):
        containers.setdefault(value >> 16, []).append(value & 0xFFFF)
    heads = b"".join(struct.pack("<HH", high, len(low) - 1) for high, low in containers.items())
    bodies = [packed(low, runs) for low in containers.values()]
    count = len(containers)
    if runs:
        flags = np.packbits(np.ones(count, np.uint8), bitorder="little").tobytes()
        start = struct.pack("<I", 12347 | (count - 1) << 16) + flags
    else:
        start = struct.pack("<II", 12346, count)
    offsets = b"" if runs and count < 4 else bytes(4 * count)
    return start + heads + offsets + b"".join(bodies)


def packed(low: Sequence[int], runs: bool) -> bytes:
    if runs:
        found: list[list[int]] = []
        for value in low:
            if found and value == sum(found[-1]) + 1:
                found[-1][1] += 1
            else:
                found.append([value, 0])
        return struct.pack("<H", len(found)) + b"".join(struct.pack("<HH", *pair) for pair in found)
    if len(low) <= 4096:
        return np.array(low, "<u2").tobytes()
    bits = np.zeros(1 << 16, np.uint8)
    bits[list(low)] = 1
    return np.packbits(bits, bitorder="little").tobytes()


def vector(values: Sequence[int], *, wide: bool, runs: bool = False) -> tuple[bytes, int]:
    """Return (entry, size as in the index manifest)."""
    if wide:
        highs = sorted({value >> 32 for value in values})
        parts = [
            struct.pack("<I", high) + roaring([v & 0xFFFFFFFF for v in values if v >> 32 == high], runs=runs)
            for high in highs
        ]
        body = struct.pack("<iq", MAGIC_64, len(highs)) + b"".join(parts)
    else:
        body = struct.pack(">i", MAGIC_32) + roaring(values, runs=runs)
    entry = struct.pack(">i", len(body)) + body + struct.pack(">I", zlib.crc32(body))
    return entry, len(body) + (8 if wide else 0)
