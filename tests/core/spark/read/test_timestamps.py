"""Times with more digits than a column keeps, compared with Python's integers, which round down."""

from __future__ import annotations

import datetime as dt
import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.formats.paimon import types
from core.spark.read import int96, timestamps
from core.spark.read.paimon import python_files

NANOS = st.lists(st.none() | st.integers(-(2**62), 2**62), max_size=8)
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


@given(NANOS, st.sampled_from(["s", "ms", "us"]), st.sampled_from([None, "UTC"]), st.integers(0, 3))
@example([-1, None, -1_000, -1_001, 999], "us", None, 0)
def test_times_go_down_before_1970_too(nanos: list[int | None], unit: str, zone: str | None, skip: int) -> None:
    column = pa.array(nanos, pa.timestamp("ns"))[skip:]
    to = pa.timestamp(unit, zone)
    wanted = [None if each is None else each // UNITS[unit] for each in nanos[skip:]]
    assert timestamps.cast(column, to).cast(pa.int64()).to_pylist() == wanted
    chunked = timestamps.cast(pa.chunked_array([column, column], column.type), to)
    assert chunked.cast(pa.int64()).to_pylist() == [*wanted, *wanted]


def test_times_inside_of_others() -> None:
    have, to = pa.timestamp("ns"), pa.timestamp("us", "UTC")
    before = dt.datetime(1969, 12, 31, 23, 59, 59, 999_999, dt.UTC)

    def column(of: pa.DataType) -> pa.DataType:
        return pa.struct([("l", pa.list_(of)), ("m", pa.map_(pa.string(), of)), ("n", pa.int32())])

    raw = pa.scalar(-1, pa.int64()).cast(have)
    rows: list[Any] = [None, {"l": [raw, None], "m": [("k", raw)], "n": 1}, {"l": None, "m": None, "n": None}]
    given_ = pa.array([{"l": [None], "m": [], "n": 0}, *rows], column(have))[1:]
    assert timestamps.cast(given_, column(to)).to_pylist() == [
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
        timestamps.cast(column, to)


@pytest.mark.parametrize("count", [1, 20])
def test_times_of_96_bits_in_any_footer(tmp_path: Path, count: int) -> None:
    """Many columns and row groups; nested; compressed, and with a dictionary or without; nanoseconds below zero too."""
    of = pa.timestamp("ns")
    some = [None, 0, 1, -1, -86_400 * 10**9, 10**18 + 999, -(2**62)]
    column = pa.array(some * 50, of)
    rows = pa.table({f"c{n}": column for n in range(count)} | {
        "s": pa.StructArray.from_arrays([column], ["t"]), "l": pa.array([[each] for each in some * 50], pa.list_(of)),
        "text": pa.array(["x" * 40] * len(column)),
    })  # fmt: skip
    for dictionary, codec in ((True, "zstd"), (False, "none")):
        path = tmp_path / f"{dictionary}.parquet"
        parquet.write_table(
            rows, path, use_deprecated_int96_timestamps=True, use_dictionary=dictionary, compression=codec,
            row_group_size=40,
        )  # fmt: skip
        opened = parquet.ParquetFile(path)
        assert int96.has(opened.schema, ["s"])
        assert not int96.has(opened.schema, ["text"])
        raw = parquet.read_table(pa.BufferReader(int96.as_bytes(path.read_bytes())))
        assert raw["text"].equals(rows["text"])
        for name in rows.column_names[:-1]:
            for unit in ("ns", "us"):
                to = {"s": pa.struct([("t", pa.timestamp(unit))]), "l": raw.schema.field("l").type}.get(name)
                if name == "l":
                    to = pa.list_(raw.schema.field("l").type.value_field.with_type(pa.timestamp(unit)))
                found = timestamps.cast(raw[name], to or pa.timestamp(unit))
                assert found.equals(timestamps.cast(rows[name].cast(rows[name].type), found.type)), (name, unit)


def test_nanoseconds_below_zero_and_beyond_64_bits() -> None:
    def stored(day: int, nanos: int) -> bytes:
        return nanos.to_bytes(8, "little", signed=True) + (2_440_588 + day).to_bytes(4, "little")

    days = [(0, -1), (-1, 86_400 * 10**9 - 1), (-719_162, 1), (2_932_896, 86_399_999_999_999)]
    column = pa.array([None, *(stored(*each) for each in days)], pa.binary(12))
    wanted = [day * 86_400_000_000 + nanos // 1000 for day, nanos in days]
    assert timestamps.cast(column, pa.timestamp("us")).cast(pa.int64()).to_pylist() == [None, *wanted]
    assert timestamps.cast(column[:3], pa.timestamp("ns")).cast(pa.int64()).to_pylist() == [None, -1, -1]
    for far in (3, 4):
        with pytest.raises(pa.ArrowInvalid, match="292 years"):
            timestamps.cast(column[far:], pa.timestamp("ns"))


@pytest.mark.parametrize("unit", UNITS)
def test_every_time_of_96_bits_is_itself_or_refused(unit: str) -> None:
    last = 2**63 * UNITS[unit] // (86_400 * 10**9)
    days = {
        0,
        -1,
        -(2**31) - 2_440_588,
        2**31 - 2_440_589,
        *(sign * (last + off) for sign in (1, -1) for off in (-1, 0, 1)),
    }
    for day in (each for each in days if -(2**31) <= each + 2_440_588 < 2**31):
        for nanos in (0, -1, 86_399 * 10**9, -(2**63), 2**63 - 1):
            stored = nanos.to_bytes(8, "little", signed=True) + (2_440_588 + day).to_bytes(4, "little", signed=True)
            column, wanted = pa.array([None, stored], pa.binary(12)), (day * 86_400 * 10**9 + nanos) // UNITS[unit]
            if -(2**63) <= wanted < 2**63:
                assert timestamps.cast(column, pa.timestamp(unit)).cast(pa.int64()).to_pylist() == [None, wanted]
            else:
                with pytest.raises(pa.ArrowInvalid, match=f"64 bits of {unit}"):
                    timestamps.cast(column, pa.timestamp(unit))


@pytest.mark.parametrize("name", ["t", "event.time", "a.b.c", "."])
def test_times_of_96_bits_in_columns_whose_names_have_dots(name: str) -> None:
    far = [dt.datetime(9999, 12, 31, 23, 59, 59), dt.datetime(1, 1, 1), dt.datetime(1969, 12, 31)]
    file = io.BytesIO()
    rows = pa.table({"event": [1, 2, 3], name: pa.array(far, pa.timestamp("us"))})
    parquet.write_table(rows, file, use_deprecated_int96_timestamps=True)
    found, _ = python_files.decode(file.getvalue(), "parquet", [(name, types.parse("TIMESTAMP(9)"))], "p")
    assert found.schema.names == [name]
    assert found.schema.field(0).type == pa.binary(int96.BYTES)
    assert timestamps.cast(found[name], pa.timestamp("us")).to_pylist() == far
