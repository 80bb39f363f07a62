"""Files decoded in Python: ORC times that Arrow does not read."""

from __future__ import annotations

import datetime as dt
import io

import fastavro
import pyarrow as pa
import pyarrow.orc as orc
import pytest

from core.errors import Corrupt, SnapscopeError
from core.formats.paimon.types import parse
from core.spark.read.paimon import python_files
from tests.support.formats import flipped

FAR = dt.datetime(9999, 12, 31, 23, 59, 59)


def stored(**columns: pa.Array) -> bytes:
    out = io.BytesIO()
    orc.write_table(pa.table(columns), out, compression="zstd")
    return out.getvalue()


def decoded(content: bytes, *names: str) -> list[dict[str, object]]:
    table, rows = python_files.decode(content, "orc", [(name, parse("INT")) for name in names], "f.orc")
    assert rows == 2
    return table.to_pylist() if names else []


def test_times_far_away_and_the_columns_beside_them() -> None:
    ids, far = pa.array([1, 2], pa.int32()), pa.array([FAR, dt.datetime(2026, 1, 1)], pa.timestamp("us"))
    content = stored(id=ids, t=far)
    assert decoded(content, "t", "id") == [{"t": FAR, "id": 1}, {"t": dt.datetime(2026, 1, 1), "id": 2}]
    assert decoded(content, "id") == [{"id": 1}, {"id": 2}]
    assert decoded(content) == []


@pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "zstandard", "bzip2", "xz"])
def test_avro_in_every_compression_that_engines_write(codec: str) -> None:
    out = io.BytesIO()
    of = {"type": "record", "name": "record", "fields": [{"name": "id", "type": ["null", "int"]}]}
    fastavro.writer(out, of, [{"id": 1}, {"id": None}], codec=codec)
    table, rows = python_files.decode(out.getvalue(), "avro", [("id", parse("INT"))], "f.avro")
    assert (table["id"].to_pylist(), rows) == ([1, None], 2)


def test_blanks_that_fill_a_char_up() -> None:
    """The engine writes them into ORC, and takes all off again."""
    padded = ["ab   ", None, "     "]
    inside = {"type": "ROW", "fields": [{"id": 0, "name": "l", "type": {"type": "ARRAY", "element": "CHAR(5)"}}]}
    lists = pa.array([[each, "x "] for each in padded], pa.list_(pa.string()))
    content = stored(c=pa.array(padded), s=pa.array(padded), r=pa.StructArray.from_arrays([lists], ["l"]))
    wanted = [("c", parse("CHAR(5)")), ("s", parse("STRING")), ("r", parse(inside))]
    table, _ = python_files.decode(content, "orc", wanted, "f.orc")
    assert table["c"].to_pylist() == ["ab", None, ""]
    assert table["s"].to_pylist() == padded
    assert table["r"].to_pylist() == [{"l": [each and each.rstrip(), "x"]} for each in padded]


def test_times_far_away_inside_others() -> None:
    inside = pa.array([{"t": FAR}, None], pa.struct({"t": pa.timestamp("us")}))
    content = stored(id=pa.array([1, 2], pa.int32()), r=inside)
    assert decoded(content, "id") == [{"id": 1}, {"id": 2}]
    assert decoded(content, "r", "id") == [{"r": {"t": FAR}, "id": 1}, {"r": None, "id": 2}]
    lz4 = io.BytesIO()
    orc.write_table(pa.table({"id": pa.array([1, 2], pa.int32()), "r": inside}), lz4, compression="lz4")
    assert decoded(lz4.getvalue(), "id") == [{"id": 1}, {"id": 2}]
    with pytest.raises(Corrupt):
        decoded(content[: len(content) // 2], "id")


@pytest.mark.parametrize("form", flipped.FORMS)
def test_a_flipped_bit_in_the_footer_takes_no_row_away(form: str) -> None:
    wanted = [("a", "BIGINT"), ("s", "STRING"), ("t", "TIMESTAMP(6)"), ("l", "ARRAY<INT>")]
    refused = 0
    for bit, content in flipped.flipped(flipped.whole(form), form, 2_000):
        try:
            table, rows = python_files.decode(content, form, [(name, parse(of)) for name, of in wanted], "f")
        except SnapscopeError:
            refused += 1
        else:
            assert (len(table), rows) == (200, 200), bit
    assert refused > 500
