"""Times of ORC files against Arrow's own reading, and beyond what Arrow reads."""

from __future__ import annotations

import datetime as dt
import io
import random
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pytest

from core.spark.read import orc_times


def stored(values: list[int | None], compression: str) -> bytes:
    table = pa.table({"a": pa.array(range(len(values)), pa.int64()), "t": pa.array(values, pa.timestamp("us"))})
    out = io.BytesIO()
    orc.write_table(table, out, compression=compression)
    return out.getvalue()


def micros(content: bytes) -> list[int | None]:
    found: list[int | None] = orc_times.column(content, "t").cast(pa.int64()).to_pylist()
    return found


@pytest.mark.parametrize("compression", ["uncompressed", "zlib", "snappy", "lz4", "zstd"])
@pytest.mark.parametrize("rows", [1, 3, 700, 5_000])
def test_times_are_those_that_were_written(compression: str, rows: int) -> None:
    choose = random.Random(rows)
    wide = [choose.randrange(0, 250_000_000_000_000_000) for _ in range(rows)]
    shapes = {
        "wide": wide,
        "in order": [1_700_000_000_000_000 + 1_000_000 * number for number in range(rows)],
        "the same": [1_700_000_000_123_000] * rows,
        "mostly near": [value if choose.random() < 0.02 else 1_700_000_000_000_000 + value % 10**9 for value in wide],
        "long ago": [-value // 1_000_000 * 1_000_000 for value in wide if value < 60_000_000_000_000_000],
    }
    for name, values in shapes.items():
        some = [None if choose.random() < 0.2 else value for value in values]
        assert micros(stored(some, compression)) == some, name


def test_years_that_arrow_does_not_read() -> None:
    last = (dt.datetime(9999, 12, 31, 23, 59, 59) - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)
    content = stored([last, None, 5, -62_135_596_800_000_000], "zstd")
    with pytest.raises(pa.ArrowInvalid):
        orc.ORCFile(io.BytesIO(content)).read(["t"])
    assert micros(content) == [last, None, 5, -62_135_596_800_000_000]


@pytest.mark.parametrize("compression", ["uncompressed", "zstd"])
def test_times_inside_lists_maps_and_structs(compression: str) -> None:
    """Of every year, at every depth, and what is not a time beside them."""
    choose, last = random.Random(7), 253_402_300_799_999_999
    time = pa.timestamp("us")
    of = pa.struct(
        {"n": pa.string(), "t": time, "l": pa.list_(pa.struct({"m": pa.map_(pa.string(), time), "u": time}))}
    )

    def made(what: pa.DataType) -> Any:
        if choose.random() < 0.2:
            return None
        if pa.types.is_struct(what):
            return {field.name: made(field.type) for field in what}
        if pa.types.is_map(what):
            return [(f"k{number}", made(what.item_type)) for number in range(choose.randrange(3))]
        if pa.types.is_list(what):
            return [made(what.value_type) for _ in range(choose.randrange(4))]
        return choose.choice([last, 1_700_000_000_000_001, 0, -5_000_000]) if what == time else "text"

    column = pa.array([made(of) for _ in range(3_000)], of)
    out = io.BytesIO()
    orc.write_table(pa.table({"a": range(len(column)), "s": column}), out, compression=compression, stripe_size=16_000)
    with pytest.raises(pa.ArrowInvalid):
        orc.ORCFile(io.BytesIO(out.getvalue())).read(["s"])
    assert compression == "zstd" or orc.ORCFile(io.BytesIO(out.getvalue())).nstripes > 1
    found = orc_times.column(out.getvalue(), "s")
    assert (found.type, found.to_pylist()) == (of, column.to_pylist())


def test_a_writer_in_another_zone() -> None:
    """Its clock is shown. Seconds are cut towards 1970 by the writer, by the time in UTC and not by its clock."""
    shanghai = pa.array([-28_676, 1_600_000_000 - 28_800], pa.int64()).to_numpy()
    nanos = pa.array([123_123_000, 0], pa.int64()).to_numpy()
    since_2015 = shanghai - (1_420_070_400 - 28_800)
    coded = [number << 3 for number in nanos.tolist()]
    found = orc_times._micros(since_2015, pa.array(coded, pa.int64()).to_numpy(), "Asia/Shanghai")
    assert found.tolist() == [123_123_123, 1_600_000_000_000_000]
    with pytest.raises(ValueError, match="more nanoseconds"):
        orc_times._micros(since_2015, pa.array([1 << 62, 0], pa.int64()).to_numpy(), "")


def test_other_columns_are_refused() -> None:
    with pytest.raises(ValueError, match="no times"):
        orc_times.column(stored([1], "zlib"), "a")
    with pytest.raises(ValueError, match="compression"):
        orc_times._decompressed(b"", 3)
