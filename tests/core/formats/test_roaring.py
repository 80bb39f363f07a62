"""Bitmaps as engines write them, bytes that contradict their content, and the memory that a few bytes may claim."""

from __future__ import annotations

import resource
import struct
import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.formats import roaring
from tests.support import vectors
from tests.support.depth import tries

LOW = st.integers(0, (1 << 32) - 1)
LUMPS = st.lists(
    st.one_of(
        st.builds(
            lambda start, length: list(range(start, start + length)), st.integers(0, 1 << 22), st.integers(1, 9000)
        ),
        st.lists(LOW, min_size=1, max_size=50),
    ),
    min_size=1,
    max_size=4,
)


def bitmap(kinds: Sequence[tuple[int, bytes]], *, runs: bool = False) -> bytes:
    """Encode containers as (cardinality, body), at successive keys."""
    count = len(kinds)
    start = struct.pack("<IB", 12347 | count - 1 << 16, 0xFF) if runs else struct.pack("<II", 12346, count)
    heads = b"".join(struct.pack("<HH", high, cardinality - 1) for high, (cardinality, _) in enumerate(kinds))
    return start + heads + (b"" if runs else bytes(4 * count)) + b"".join(body for _, body in kinds)


def shorts(*values: int) -> bytes:
    return np.array(values, "<u2").tobytes()


@pytest.mark.parametrize("runs", [False, True])
@given(lumps=LUMPS)
@tries(40)
def test_what_the_specification_writes_is_read_to_its_end(runs: bool, lumps: list[list[int]]) -> None:
    values = sorted({value for lump in lumps for value in lump})
    data = vectors.roaring(values, runs=runs)
    found, end = roaring.narrow(b"??" + data + b"what follows", 2)
    assert (found.tolist(), end) == (values, 2 + len(data))
    assert found.dtype == np.int64
    both = struct.pack("<q", 2) + struct.pack("<I", 3) + data + struct.pack("<I", 0x7FFFFFFF) + data
    found, end = roaring.wide(both + b"what follows", 0)
    assert found.tolist() == [high << 32 | value for high in (3, 0x7FFFFFFF) for value in values]
    assert end == len(both)


def test_one_that_is_empty() -> None:
    assert roaring.narrow(bitmap([]), 0)[0].tolist() == []
    assert roaring.wide(struct.pack("<q", 0), 0)[0].tolist() == []


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0",
        bitmap([(3, shorts(1, 2))]),  # too short
        bitmap([(3, shorts(5, 4, 6))]),  # not ascending
        bitmap([(3, shorts(5, 5, 6))]),  # a duplicate
        bitmap([(5000, bytes([0xFF] * 600 + [0] * 7592))]),  # 4,800 bits are set
        bitmap([(10, shorts(1, 65530, 9))], runs=True),  # ends beyond its container
        bitmap([(20, shorts(2, 0, 9, 5, 9))], runs=True),  # runs overlap
        struct.pack("<II", 12346, (1 << 16) + 1) + bytes(1 << 20),
        struct.pack("<II", 12346, 0xFFFFFFFF),
        struct.pack("<II", 12345, 1) + bytes(100),
    ],
)
def test_what_says_something_else_than_it_holds(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"it is not a valid Roaring bitmap \("):
        roaring.narrow(data, 0)


_ASKED = """
import struct, sys
from core.formats import roaring
from pyroaring import BitMap
bitmap = BitMap()
bitmap.add_range(0, 1 << 32)
one = struct.pack("<I", 0) + bitmap.serialize()
content = struct.pack("<q", 200) + one * 200
try:
    roaring.wide(content, 0)
except ValueError as error:
    print(error, len(content))
"""


def test_a_bomb_is_refused_before_memory_is_made() -> None:
    """185 MB that claim 859 billion positions: neither these nor CRoaring's own form of them are allocated."""
    done = subprocess.run(
        [sys.executable, "-c", _ASKED],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30)),
    )
    assert done.stdout == "it claims 4,294,967,296 values, more than 67,108,864 185140808\n"
