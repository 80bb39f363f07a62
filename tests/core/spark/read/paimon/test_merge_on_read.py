"""Which files of a version are read directly, merged or skipped; deletion vectors, byte by byte."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fastavro
import numpy as np
import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as parquet
import pytest
from pyspark.sql import SparkSession

from core.errors import Corrupt, NotFound, Unsupported
from core.formats.paimon import binary_row
from core.formats.paimon.deletion_vectors import positions
from core.formats.paimon.scan_details import Range, Vector
from core.model.references import Field, Schema
from core.spark.read.paimon import arrow_files, merge_on_read
from core.storage.store import Store
from tests.support.vectors import vector

COLUMNS = (("id", "INT NOT NULL"), ("v", "STRING"))


def schema(**options: str) -> Schema:
    fields = tuple(Field(number, name, of) for number, (name, of) in enumerate(COLUMNS))
    return Schema(0, fields, (), ("id",), {name.replace("_", "-"): value for name, value in options.items()}, 0)


def files(*listed: tuple[str, int, int]) -> pa.Table:
    """(name, bucket, level) of each."""
    return pa.table({
        "path": [f"bucket-{bucket}/{name}.parquet" for name, bucket, _ in listed],
        "bytes": pa.array([10] * len(listed), pa.int64()),
        "rows": pa.array([5] * len(listed), pa.int64()),
        "bucket": pa.array([bucket for _, bucket, _ in listed], pa.int32()),
        "level": pa.array([level for _, _, level in listed], pa.int32()),
        "schema_id": pa.array([0] * len(listed), pa.int64()),
        "format": ["parquet"] * len(listed),
        "partition_bytes": pa.array([binary_row.EMPTY] * len(listed), pa.binary()),
    })  # fmt: skip


def key(value: int) -> bytes:
    return binary_row.encode([value], ["INT NOT NULL"])


def planned(
    of: Schema, *listed: tuple[str, int, int, int, int, int | None], vectors: Sequence[str] = ()
) -> tuple[list[str], list[tuple[str, ...]], tuple[str, ...]]:
    """(name, bucket, level, least key, greatest key, deleted rows) of each file → (raw, sections, left out)."""
    table = files(*((name, bucket, level) for name, bucket, level, *_ in listed))
    ranges = {
        (binary_row.EMPTY, bucket, f"{name}.parquet"): Range(key(low), key(high), deleted)
        for name, bucket, _, low, high, deleted in listed
    }
    given = {
        (binary_row.EMPTY, bucket, f"{name}.parquet"): Vector("index/i", 1, 10)
        for name, bucket, *_ in listed if name in vectors
    }  # fmt: skip
    found = merge_on_read.plan(of, {0: of}, table, ranges, given)
    work = [
        ("merge" if each["merges"] else "take", *(Path(f["path"]).stem for f in each["files"])) for each in found.work
    ]
    return sorted(Path(each).stem for each in found.raw["path"].to_pylist()), sorted(work), found.left_out


def test_files_whose_keys_may_meet_are_merged_together_and_others_stand_for_themselves() -> None:
    raw, work, left_out = planned(
        schema(),
        ("a", 0, 5, 1, 10, 0),
        ("b", 0, 0, 10, 12, 0),  # touches a
        ("c", 0, 0, 13, 20, 0),
        ("d", 0, 0, 30, 40, 2),  # has deleted rows
        ("e", 0, 0, 41, 50, None),  # may have some
        ("f", 1, 0, 1, 10, 0),  # another bucket
    )
    assert raw == ["c", "f"]
    assert work == [("merge", "a", "b"), ("merge", "d"), ("merge", "e")]
    assert not left_out


def test_a_range_that_spans_others_keeps_all_of_them_together() -> None:
    assert planned(schema(), ("a", 0, 5, 1, 100, 0), ("b", 0, 4, 2, 3, 0), ("c", 0, 3, 90, 91, 0))[1] == [
        ("merge", "a", "b", "c")
    ]


def test_negative_keys_are_compared_as_numbers() -> None:
    assert planned(schema(), ("a", 0, 5, -10, -5, 0), ("b", 0, 4, -4, 300, 0), ("c", 0, 3, 301, 302, 0))[0] == [*"abc"]


def test_files_of_one_level_never_meet() -> None:
    assert planned(schema(), ("a", 0, 5, 1, 10, 0), ("b", 0, 5, 5, 20, 0))[0] == ["a", "b"]
    assert planned(schema(), ("a", 0, 0, 1, 10, 0), ("b", 0, 0, 5, 20, 0))[0] == []


@pytest.mark.parametrize(
    ("options", "cause"),
    [({"merge_engine": "first-row"}, "first-row"), ({"deletion_vectors_enabled": "true"}, "deletion vectors")],
)
def test_level_0_is_left_out_where_the_engine_leaves_it_out_and_said(options: dict[str, str], cause: str) -> None:
    of = schema(**options)
    of = Schema(0, of.fields, (), ("id",), {n.replace("vectors-en", "vectors.en"): v for n, v in of.options.items()}, 0)
    raw, work, (said,) = planned(of, ("a", 0, 0, 1, 10, 0), ("b", 0, 5, 5, 20, 0), ("c", 0, 4, 5, 20, 0), vectors="c")
    assert (raw, work) == (["b"], [("take", "c")])
    assert "1 file of level 0 with 5 rows" in said
    assert cause in said


def test_rows_of_the_postpone_bucket_are_named() -> None:
    raw, work, (said,) = planned(schema(), ("a", -2, 0, 1, 10, 0), ("b", 0, 5, 5, 20, 0))
    assert (raw, work) == (["b"], [])
    assert "1 file with 5 rows" in said
    assert "postpone" in said


# deletion vectors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("runs", [False, True])
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_every_container_is_read(seed: int, wide: bool, runs: bool) -> None:
    choose = random.Random(seed)
    values = {choose.randrange(300_000) for _ in range(choose.choice((1, 50, 5000)))}
    values |= set(range(70_000, 70_000 + choose.choice((1, 9000)))) | {2**31 + 5}
    if wide:
        values |= {2**33 + 1, 2**33 + 70_000}
    entry, size = vector(sorted(values), wide=wide, runs=runs)
    found = positions(b"\x01" + entry + b"more", 1, size, "index/i")
    assert found.tolist() == sorted(values)


@pytest.mark.parametrize("wide", [False, True])
def test_a_damaged_vector_is_corrupt_whatever_is_wrong_with_it(wide: bool) -> None:
    entry, size = vector([1, 5, 100_000], wide=wide)
    content = b"\x01" + entry
    assert positions(content, 1, size, "i").tolist() == [1, 5, 100_000]
    for at in range(1, len(content)):
        with pytest.raises(Corrupt, match="deletion vector"):
            positions(content[:at], 1, size, "i")
        flipped = bytearray(content)
        flipped[at] ^= 0x10
        with pytest.raises(Corrupt, match="deletion vector"):
            positions(bytes(flipped), 1, size, "i")
    with pytest.raises(Corrupt, match="expected"):
        positions(content, 1, size + 1, "i")


@pytest.mark.parametrize("form", ["parquet", "orc", "avro"])
def test_deleted_rows_of_an_append_table_are_not_read(spark: SparkSession, tmp_path: Path, form: str) -> None:
    of = Schema(0, (Field(0, "id", "INT"), Field(1, "p", "STRING")), ("p",), (), {}, 0)
    rows = pa.table({"id": pa.array(range(10), pa.int32())})
    (tmp_path / "index").mkdir()
    for name in ("a", "b"):
        path = tmp_path / f"{name}.{form}"
        match form:
            case "parquet":
                parquet.write_table(rows, path, row_group_size=3)
            case "orc":
                orc.write_table(rows, path)
            case _:
                record = {"type": "record", "name": "r", "fields": [{"name": "id", "type": ["null", "int"]}]}
                with path.open("wb") as file:
                    fastavro.writer(file, record, rows.to_pylist())
    entry, size = vector([0, 3, 9], wide=False)
    (tmp_path / "index" / "i").write_bytes(b"\x01" + entry)
    stored = binary_row.encode(["x"], ["STRING"])
    listed = pa.table({
        "path": [f"a.{form}", f"b.{form}"], "bytes": [1, 1], "rows": [10, 10], "bucket": [0, 0], "level": [0, 0],
        "schema_id": [0, 0], "format": [form, form], "partition_bytes": pa.array([stored, stored], pa.binary()),
    })  # fmt: skip
    plan = merge_on_read.plan(of, {0: of}, listed, {}, {(stored, 0, f"b.{form}"): Vector("index/i", 1, size)})
    assert plan.raw["path"].to_pylist() == [f"a.{form}"]
    found = merge_on_read.frame(spark, Store(str(tmp_path)), of, {0: of}, plan.work).collect()
    assert sorted(found) == [(number, "x") for number in (1, 2, 4, 5, 6, 7, 8)]


# single files -----------------------------------------------------------------------------------------------------


def test_what_is_wrong_with_a_file_is_said(tmp_path: Path) -> None:
    of = Schema(0, (Field(0, "id", "INT"),), (), (), {}, 0)
    parquet.write_table(pa.table({"id": pa.array([1, 2], pa.int32())}), tmp_path / "f.parquet")
    good = str(tmp_path / "f.parquet")

    def read(source: str, form: str = "parquet", **more: Any) -> pa.Table:
        return arrow_files.read(source, form, of, of, (), "bucket-0/f", **more)

    assert read(good, deleted=np.array([1])).to_pylist() == [{"id": 1}]
    with pytest.raises(Corrupt, match="Row 2 is deleted in a file that has only 2 rows"):
        read(good, deleted=np.array([2]))
    with pytest.raises(NotFound):
        read(str(tmp_path / "g.parquet"))
    with pytest.raises(Corrupt, match="_VALUE_KIND"):
        read(good, system={"_VALUE_KIND": "TINYINT"})
    with pytest.raises(Unsupported, match="'lance'"):
        read(good, "lance")
    (tmp_path / "f.orc").write_bytes(b"nothing")
    with pytest.raises(Corrupt):
        read(str(tmp_path / "f.orc"), "orc")


def test_nested_rows_are_found_by_their_ids() -> None:
    old = {"type": "ROW", "fields": [{"id": 1, "name": "a", "type": "INT"}, {"id": 2, "name": "b", "type": "STRING"}]}
    new = {"type": "ROW", "fields": [
        {"id": 2, "name": "text", "type": "STRING"}, {"id": 3, "name": "c", "type": "DATE"},
        {"id": 1, "name": "a", "type": "BIGINT"},
    ]}  # fmt: skip
    written, wanted = (Schema(n, (Field(0, "r", of),), (), (), {}, 0) for n, of in enumerate((old, new)))
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table({"r": [{"a": 1, "b": "x"}, None]}, pa.schema({"r": pa.struct(
        {"a": pa.int32(), "b": pa.string()})})), sink)  # fmt: skip
    found = arrow_files.read(sink.getvalue().to_pybytes(), "parquet", written, wanted, (), "f")
    assert found.to_pylist() == [{"r": {"text": "x", "c": None, "a": 1}}, {"r": None}]
