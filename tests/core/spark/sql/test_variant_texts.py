"""Variants with types that Spark cannot turn into text: shown as Spark shows the others, alone and nested."""

from __future__ import annotations

import datetime as dt
import struct
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from core.spark.sql import arrow_rows
from core.spark.sql import run as sql

EMPTY = bytes.fromhex("010000")  # metadata without names
NAMES = bytes.fromhex("0101000164")  # with the name "d"
ID = uuid.UUID("f24f9b64-81fa-49d1-b74e-8c09a6e31c56")
AT = dt.datetime(2026, 1, 2, 3)


def primitive(kind: int, data: bytes = b"") -> bytes:
    return bytes([kind << 2]) + data


def long(number: int) -> bytes:
    return number.to_bytes(8, "little", signed=True)


KNOWN = {
    "text": bytes([(2 << 2) | 1]) + b'a"',
    "null": primitive(0),
    "true": primitive(1),
    "number": primitive(3, b"*"),
    "double": primitive(7, struct.pack("<d", 14.25)),
    "large double": primitive(7, struct.pack("<d", 12345678901.5)),
    "small double": primitive(7, struct.pack("<d", -1e-7)),
    "zero": primitive(7, struct.pack("<d", -0.0)),
    "float": primitive(14, struct.pack("<f", -10.11)),
    "large float": primitive(14, struct.pack("<f", 3.4e38)),
    "decimal": primitive(8, b"\x02" + (314).to_bytes(4, "little")),
    "date": primitive(11, (20_000).to_bytes(4, "little")),
    "timestamp": primitive(12, long(1_730_982_834_120_000)),
    "whole second": primitive(12, long(1_730_982_834_000_000)),
    "without a zone": primitive(13, long(-1)),
    "binary": primitive(15, (2).to_bytes(4, "little") + b"hi"),
    "long text": primitive(16, (3).to_bytes(4, "little") + b"abc"),
}
NEWER = {
    "time": (primitive(17, long(12 * 3_600 * 10**6 + 5)), "12:00:00.000005"),
    "midnight": (primitive(17, long(0)), "00:00:00"),
    "nanoseconds": (primitive(18, long(-1)), "1969-12-31 23:59:59.999999999"),
    "without a zone": (primitive(19, long(-1)), "1969-12-31 23:59:59.999999999"),
    "uuid": (primitive(20, ID.bytes), str(ID)),
    "array": (bytes([3, 1, 0, 9]) + primitive(17, long(0)), '["00:00:00"]'),
    "object": (bytes([2, 1, 0, 0, 9]) + primitive(18, long(0)), '{"d":"1970-01-01 00:00:00+00:00"}'),
}
Opened = Callable[[Mapping[str, bytes]], SparkSession]


@pytest.fixture
def opened(shop: SparkSession, tmp_path: Path) -> Opened:
    """The view `variants` of these values, and one that is NULL."""

    def write(values: Mapping[str, bytes]) -> SparkSession:
        kind = pa.struct([pa.field("value", pa.binary(), False), pa.field("metadata", pa.binary(), False)])
        stored = [{"value": each, "metadata": NAMES if each[0] == 2 else EMPTY} for each in values.values()]
        names, rows = [*values, "NULL"], pa.array([*stored, None], kind)
        table = pa.table({"name": names, "v": rows, "at": [AT] * len(names)})
        pq.write_table(table, tmp_path / "v.parquet")
        read = shop.read.schema("name STRING, v VARIANT, at TIMESTAMP_NTZ").parquet(str(tmp_path / "v.parquet"))
        read.createOrReplaceTempView("variants")
        return shop

    return write


def test_what_spark_knows_is_shown_as_spark_shows_it(opened: Opened) -> None:
    nested = {f"{name} in an array": bytes([3, 1, 0, len(each)]) + each for name, each in KNOWN.items()}
    frame = opened(KNOWN | nested).table("variants")
    by_spark = arrow_rows.first_rows(frame, 100)
    ours = arrow_rows._rows(frame, 100, lambda kind: arrow_rows._shown(kind, keeps_variants=True))
    shown = dict(zip(by_spark["name"].to_pylist(), by_spark["v"].to_pylist(), strict=True))
    assert dict(zip(ours["name"].to_pylist(), ours["v"].to_pylist(), strict=True)) == shown
    assert ours.schema == by_spark.schema


def test_newer_types_are_shown(opened: Opened) -> None:
    spark = opened({name: each[0] for name, each in NEWER.items()})
    answer = sql.run(spark, "SELECT name, v, at FROM variants", {"variants"}).table
    expected = {name: each[1] for name, each in NEWER.items()} | {"NULL": None}
    assert dict(zip(answer["name"].to_pylist(), answer["v"].to_pylist(), strict=True)) == expected
    assert set(answer["at"].to_pylist()) == {AT}


def test_nested_in_other_types(opened: Opened) -> None:
    spark = opened({"time": NEWER["time"][0]})
    text = "SELECT array(v) AS a, struct(v, at) AS s, map(name, v) AS m, array(name) AS n FROM variants LIMIT 1"
    shown = NEWER["time"][1]
    assert sql.run(spark, text, {"variants"}).table.to_pylist() == [
        {"a": [shown], "s": {"v": shown, "at": AT}, "m": [("time", shown)], "n": ["time"]}
    ]
