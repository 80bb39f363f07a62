"""Shredded variants, put together as Spark 4.1 does: Spark writes them, and reads the same files."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import VariantVal

from core.spark.read import variants
from tests.support.depth import sample

_WRITES, _SCHEMA = "spark.sql.variant.writeShredding.enabled", "spark.sql.variant.forceShreddingSchemaForTest"
_SIMPLE = (
    "boolean", "tinyint", "int", "bigint", "float", "double", "decimal(9,2)", "decimal(38,10)", "string", "binary",
    "date", "timestamp", "timestamp_ntz",
)  # fmt: skip


@pytest.fixture
def shredding(spark: SparkSession) -> Iterator[SparkSession]:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set(_WRITES, "true")
    yield spark
    spark.conf.set("spark.sql.session.timeZone", str(before))
    for name in (_WRITES, _SCHEMA):
        spark.conf.unset(name)


def stored(spark: SparkSession, folder: Path, shape: str, values: list[str]) -> pa.StructArray:
    """A file's column of SQL expressions of variants, with parts of this type apart."""
    spark.conf.set(_SCHEMA, shape)
    rows = " union all ".join(f"select {number} as id, {value} as j" for number, value in enumerate(values))
    spark.sql(rows).coalesce(1).write.mode("overwrite").parquet(str(folder))
    (file,) = folder.glob("*.parquet")
    column = parquet.read_table(file).sort_by("id")["j"].combine_chunks()
    assert variants.TYPED in column.type.names
    return column


def ours(spark: SparkSession, column: pa.StructArray) -> list[tuple[str | None, str | None]]:
    value, metadata = variants.whole(column)
    pairs = zip(value.to_pylist(), metadata.to_pylist(), column.is_valid().to_pylist(), strict=True)
    rows = [(number, VariantVal(a, b) if there else None) for number, (a, b, there) in enumerate(pairs)]
    return shown(spark.createDataFrame(rows, "id int, j variant"))


def shown(frame: Any) -> list[tuple[str | None, str | None]]:
    found = frame.selectExpr("id", "to_json(j) as text", "schema_of_variant(j) as kind").collect()
    return [(row.text, row.kind) for row in sorted(found, key=lambda row: row.id)]


def test_values_of_every_type(shredding: SparkSession, tmp_path: Path) -> None:
    values = [
        "cast(true as variant)", "cast(7 as variant)", "cast(-70000 as variant)", "cast(5000000000L as variant)",
        "cast(1.5f as variant)", "cast(2.5d as variant)", "cast(-3.25 as variant)", "cast('x' as variant)",
        f"cast('{'é' * 70}' as variant)", "cast(x'00ff' as variant)", "cast(date'1969-01-02' as variant)",
        "cast(timestamp'2025-01-02 03:04:05.678901Z' as variant)",
        "cast(timestamp_ntz'1950-01-02 03:04:05.678901' as variant)", "parse_json('null')", "null",
        "cast(cast('-1234567890123456789012345678.0123456789' as decimal(38,10)) as variant)", "parse_json('[1,{}]')",
    ]  # fmt: skip
    for shape in _SIMPLE:
        column = stored(shredding, tmp_path / "v", shape, values)
        assert ours(shredding, column) == shown(shredding.read.parquet(str(tmp_path / "v"))), shape


@pytest.mark.parametrize("seed", sample(range(6), 3))
def test_random_values(shredding: SparkSession, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    names = [chance.choice("abcäé") + str(chance.randrange(40)) for _ in range(60)]

    def value(depth: int) -> Any:
        kind = chance.randrange(8 if depth else 5)
        if kind >= 6:
            return {chance.choice(names): value(depth - 1) for _ in range(chance.choice([0, 1, 3, 50]))}
        if kind == 5:
            return [value(depth - 1) for _ in range(chance.choice([0, 1, 3, 300]))]
        return [None, chance.randrange(-(10 ** chance.randrange(1, 18)), 10**9), "t" * chance.randrange(80), 1.5, True][
            kind
        ]

    def shape(depth: int) -> str:
        kind = chance.randrange(3) if depth else 0
        if kind == 2:
            return f"array<{shape(depth - 1)}>"
        if kind == 1:
            used = dict.fromkeys(chance.choices(names, k=8))
            return f"struct<{', '.join(f'`{name}`: {shape(depth - 1)}' for name in used)}>"
        return chance.choice(["bigint", "string", "boolean", "decimal(18,1)", "double"])

    for _ in range(3):
        values = [f"parse_json('{json.dumps(value(3), ensure_ascii=False)}')" for _ in range(20)]
        column = stored(shredding, tmp_path / "v", shape(3), [*values, "null"])
        assert ours(shredding, column) == shown(shredding.read.parquet(str(tmp_path / "v")))


def _column(typed: pa.Array, value: bytes | None = None, metadata: bytes | None = b"\x01\x00\x00") -> pa.StructArray:
    parts = [pa.array([metadata], pa.binary()), pa.array([value], pa.binary()), typed]
    return pa.StructArray.from_arrays(parts, [variants.METADATA, variants.VALUE, variants.TYPED])


def _field(**parts: Any) -> dict[str, Any]:
    return {"f": {variants.VALUE: None, variants.TYPED: None, **parts}}


_FIELDS = pa.struct([("f", pa.struct([(variants.VALUE, pa.binary()), (variants.TYPED, pa.int32())]))])


@pytest.mark.parametrize(
    ("typed", "value", "metadata", "says"),
    [
        (pa.array([5], pa.int32()), b"\x00", b"\x01\x00\x00", "stored twice"),
        (
            pa.array([[]], pa.list_(pa.struct([(variants.VALUE, pa.binary())]))),
            b"\x00",
            b"\x01\x00\x00",
            "stored twice",
        ),
        (pa.array([_field(typed_value=1)], _FIELDS), b"\x02\x01\x00\x00\x01\x00", b"\x01\x01\x00\x01f", "stored twice"),
        (pa.array([_field(typed_value=1)], _FIELDS), b"\x00", b"\x01\x00\x00", "no object"),
        (pa.array([_field(typed_value=1)], _FIELDS), b"\x02\x01\x05\x00\x01\x00", b"\x01\x01\x00\x01g", "cut off"),
        (pa.array([_field(typed_value=1)], _FIELDS), b"\x02\x09", b"\x01\x00\x00", "cut off"),
        (pa.array([5], pa.int32()), None, None, "no metadata"),
        (pa.array([5], pa.int32()), None, b"\x02\x00\x00", "unknown version"),
        (pa.array([5], pa.int32()), None, b"\x01\x05\x00", "cut off"),
        (pa.array([5], pa.time64("us")), None, b"\x01\x00\x00", r"no variant of type time64"),
        (pa.array([5], pa.timestamp("ns")), None, b"\x01\x00\x00", r"no variant of type timestamp\[ns\]"),
    ],
)
def test_what_contradicts_the_format(typed: pa.Array, value: bytes | None, metadata: bytes | None, says: str) -> None:
    with pytest.raises((ValueError, NotImplementedError), match=says):
        variants.whole(_column(typed, value, metadata))


def test_what_is_missing_is_a_null_of_a_variant() -> None:
    assert variants.whole(_column(pa.nulls(1, pa.int32())))[0].to_pylist() == [b"\x00"]
    inner = pa.struct([(variants.VALUE, pa.binary()), (variants.TYPED, pa.int32())])
    lists = pa.array([[None, {variants.VALUE: None, variants.TYPED: None}]], pa.list_(inner))
    assert variants.whole(_column(lists))[0].to_pylist() == [b"\x03\x02\x00\x01\x02\x00\x00"]
    assert variants.whole(_column(pa.array([_field()], _FIELDS)))[0].to_pylist() == [b"\x02\x00\x00"]


def test_a_name_that_the_dictionary_lacks_is_added() -> None:
    value, metadata = variants.whole(_column(pa.array([_field(typed_value=300)], _FIELDS)))
    assert value.to_pylist() == [b"\x02\x01\x00\x00\x03\x10" + struct.pack("<h", 300)]
    assert metadata.to_pylist() == [b"\x01\x01\x00\x01f"]


def test_slices_and_nulls() -> None:
    whole = pa.concat_arrays([_column(pa.array([number], pa.int32())) for number in range(4)])
    assert variants.whole(whole[2:])[0].to_pylist() == [b"\x0c\x02", b"\x0c\x03"]
    masked = pa.StructArray.from_arrays(whole.flatten(), fields=list(whole.type), mask=pa.array([True, False] * 2))
    assert variants.whole(masked)[0].to_pylist() == [b"", b"\x0c\x01", b"", b"\x0c\x03"]
