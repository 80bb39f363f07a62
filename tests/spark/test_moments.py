"""Times with more digits than a column keeps, beside whole numbers of Python, which divide downwards."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.spark import moments

NANOS = st.lists(st.none() | st.integers(-(2**62), 2**62), max_size=8)
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


@given(NANOS, st.sampled_from(["s", "ms", "us"]), st.sampled_from([None, "UTC"]), st.integers(0, 3))
@example([-1, None, -1_000, -1_001, 999], "us", None, 0)
def test_times_go_down_before_1970_too(nanos: list[int | None], unit: str, zone: str | None, skip: int) -> None:
    column = pa.array(nanos, pa.timestamp("ns"))[skip:]
    to = pa.timestamp(unit, zone)
    wanted = [None if each is None else each // UNITS[unit] for each in nanos[skip:]]
    assert moments.cast(column, to).cast(pa.int64()).to_pylist() == wanted
    chunked = moments.cast(pa.chunked_array([column, column], column.type), to)
    assert chunked.cast(pa.int64()).to_pylist() == [*wanted, *wanted]


def test_times_inside_of_others() -> None:
    have, to = pa.timestamp("ns"), pa.timestamp("us", "UTC")
    before = dt.datetime(1969, 12, 31, 23, 59, 59, 999_999, dt.UTC)

    def column(of: pa.DataType) -> pa.DataType:
        return pa.struct([("l", pa.list_(of)), ("m", pa.map_(pa.string(), of)), ("n", pa.int32())])

    raw = pa.scalar(-1, pa.int64()).cast(have)
    rows: list[Any] = [None, {"l": [raw, None], "m": [("k", raw)], "n": 1}, {"l": None, "m": None, "n": None}]
    given_ = pa.array([{"l": [None], "m": [], "n": 0}, *rows], column(have))[1:]
    assert moments.cast(given_, column(to)).to_pylist() == [
        None, {"l": [before, None], "m": [("k", before)], "n": 1}, {"l": None, "m": None, "n": None},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("column", "to"),
    [
        (pa.array([2**40]), pa.int32()),
        (pa.array(["1.005"]).cast(pa.decimal128(9, 3)), pa.decimal128(9, 2)),
        (pa.array([2**62], pa.timestamp("s")), pa.timestamp("us")),
    ],
)
def test_nothing_else_loses_a_digit(column: pa.Array, to: pa.DataType) -> None:
    with pytest.raises(pa.ArrowInvalid):
        moments.cast(column, to)
