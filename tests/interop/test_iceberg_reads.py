"""Iceberg tables that the Java core writes, read by us at every snapshot: the rows are those of its own generic reader.

Random histories first; then tables of every type whose schema and partitions evolve under deletes of all kinds.
"""

from __future__ import annotations

import datetime as dt
import itertools
import json
import math
import operator
import random
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from core.formats.paimon.types import PaimonType, parse
from core.spark.query.query import query
from core.spark.read.iceberg import files as iceberg_files
from core.spark.read.iceberg import frames as iceberg_read
from core.spark.read.iceberg import prune as iceberg_prune
from core.spark.read.iceberg import scan
from core.spark.read.paimon.prune import comparable
from core.spark.sql.filters import Check, kind
from core.table import open_table, resolve
from tests.engines.iceberg_java import EngineError, IcebergJudge, ordered
from tests.support.depth import sample
from tests.support.interop import iceberg_history
from tests.support.interop.iceberg_layouts import COLUMNS, LAYOUTS, Past


def same_rows(spark: SparkSession, judge: IcebergJudge, address: str, every: int = 3) -> Counter[str]:
    """Each snapshot read in Python, and each so-manyth by Spark as well; what was met."""
    table = open_table(address)
    history = table.history()
    met: Counter[str] = Counter()
    for number, holder in enumerate(history.holders):
        at = resolve(history.heads, holder.point)
        columns = [each.split(":", 2)[2] for each in judge.scan(address, snapshot=at.snapshot.id)["columns"]]
        wanted = ordered(
            [
                [_moment(value, of) for value, of in zip(row, columns, strict=True)]
                for row in judge.rows(address, snapshot=at.snapshot.id)
            ]
        )
        opened = scan.opened(table, history, at, by_jvm=False)
        units = opened.work
        rows = _in_python(opened)
        assert _plain(rows) == wanted, (holder.point, "in Python")
        met.update(left_out=_check_pruning(opened, rows))
        if number % every == 0:
            of = scan.opened(table, history, at)
            found = iceberg_read.rows(spark.newSession(), of).frame.toArrow().to_pylist()
            assert _plain(found) == wanted, (holder.point, "by Spark")
            met.update(native=len(of.native))
        for unit in units:
            met.update(
                points=1,
                positions=bool(unit["positions"]),
                equality=bool(unit["equality"]),
                vectors=any(file["vector"] for file in unit["files"]),
            )
    return met


def _in_python(opened: scan.IcebergScan) -> list[dict[str, Any]]:
    return [
        row
        for unit in opened.work
        for part in iceberg_files.rows(
            opened.place, opened.columns, opened.keys, json.loads(json.dumps(unit)), opened.names
        )
        for row in part.to_pylist()
    ]


def _check_pruning(opened: scan.IcebergScan, rows: Sequence[dict[str, Any]]) -> int:
    """Whatever is asked of some columns, the files that are left have all rows that pass; how many were left out."""
    passes: dict[str, Callable[[Any, Any], bool]] = {
        "=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    }  # fmt: skip
    choose, left_out = random.Random(f"{len(rows)} {opened.files}"), 0
    fields = list(enumerate(opened.schema.fields))
    for number, field in choose.sample(fields, min(len(fields), 4)):
        of = parse(field.type)
        values = {comparable(row[field.name], of) for row in rows} - {None}
        if not kind(of) or not values:
            continue
        value, sign = choose.choice(sorted(values)), choose.choice(sorted(passes))
        for check in (Check(number, sign, (value,)), Check(number, "null")):
            left = iceberg_prune.only(opened, check)
            left_out += opened.files - sum(len(unit["files"]) for unit in left.work)

            def does(row: dict[str, Any], check: Check = check, of: PaimonType = of, name: str = field.name) -> bool:
                own = comparable(row[name], of)
                if check.is_ == "null" or own is None:
                    return check.is_ == "null" and own is None
                return passes[check.is_](own, check.values[0])

            found = [row for row in _in_python(left) if does(row)]
            assert _plain(found) == _plain([row for row in rows if does(row)]), check
    return left_out


def _plain(rows: Sequence[dict[str, Any]]) -> list[list[Any]]:
    """Rows as the judge tells them."""
    return ordered([[_value(value) for value in row.values()] for row in rows])


def _value(value: Any) -> Any:
    match value:
        case float() if not math.isfinite(value):
            return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}[str(value)]
        case bytes():
            return value.hex()
        case Decimal():
            return format(value, "f")
        case dt.datetime():
            return str(value)
        case dt.date():
            return value.isoformat()
        case _:
            return value


def _moment(value: Any, of: str) -> Any:
    """Java leaves out seconds that are zero."""
    return str(dt.datetime.fromisoformat(value)) if value is not None and of.startswith("timestamp") else value


@pytest.mark.parametrize("seed", sample([0, 2, 4, 12, 22, 16], 3))
def test_random_histories(
    spark: SparkSession,
    iceberg_judge: IcebergJudge,
    history_of: Callable[[int], iceberg_history.History],
    seed: int,
) -> None:
    history = history_of(seed)
    assert history.is_real
    met = same_rows(spark, iceberg_judge, history.address)
    assert met["points"] > 5
    head = query(open_table(history.address), "select count(*) as n from t")  # with the table's current schema
    assert head.table.to_pylist() == [{"n": len(iceberg_judge.rows(history.address))}]


# every type -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("layout", "version"), list(zip(sample(LAYOUTS, 4), itertools.cycle([2, 3]))))
def test_every_type_under_deletes_and_evolution(
    spark: SparkSession, iceberg_judge: IcebergJudge, tmp_path: Path, layout: str, version: int
) -> None:
    past = Past(iceberg_judge, tmp_path, layout, version)
    past.append()
    past.append()
    past.positions()
    past.equality("i", "s")
    past.equality("day")
    past.append()
    keys = {name for name, _ in LAYOUTS[layout]}
    grown = [("type", "i", "long"), ("type", "f", "double"), ("type", "e", "decimal(38,2)")]
    past.do("schema", changes=[each for each in grown if each[1] not in keys])
    for old, new in (("s", "b2"), ("b", "s"), ("b2", "b")) if not keys & {"s", "b"} else ():
        past.do("schema", changes=[("rename", old, new)])
    if version == 3:
        past.do("schema", changes=[("add", "n", "int", 7), ("add", "t", "string", "it's"), ("add", "m", "date")])
    past.append()
    past.equality("ts", "tz")
    past.equality("u", "tz")
    past.equality("e", "i")
    past.positions()
    past.do("spec", changes=[("add", "id", "bucket[3]"), *[("remove", name) for name in _fields(past)[:1]]])
    past.append()
    past.positions()
    past.equality("id", "d")
    if "y" not in keys:
        past.do("schema", changes=[("drop", "y"), ("first", "d")])
        past.do("schema", changes=[("add", "y", "int")])
    past.append()
    past.equality("id")
    past.positions()
    met = same_rows(spark, iceberg_judge, past.address, every=4)
    assert met["left_out"]
    assert met["equality"]
    assert met["positions" if version == 2 else "vectors"]


def test_keys_of_fixed_length(spark: SparkSession, iceberg_judge: IcebergJudge, tmp_path: Path) -> None:
    """The engine's generic reader reads one such delete right; of several it knows the last alone, as if it kept one
    buffer for all. By the specification each deletes its rows."""
    past = Past(iceberg_judge, tmp_path, "whole", 2)
    names = [name for name, _ in COLUMNS]

    def row(id: int, value: str) -> list[Any]:
        return [{"id": id, "x": value}.get(name) for name in names]

    past.do("append", rows=[row(1, "00000001"), row(2, "00000002"), row(3, "80000003"), row(4, "00000004")])
    past.do("row_delta", equality={"columns": ["x"], "rows": [row(0, "80000003")]})
    assert same_rows(spark, iceberg_judge, past.address)["equality"]
    past.do("row_delta", equality={"columns": ["x"], "rows": [row(0, "00000001"), row(0, "00000002")]})
    assert query(open_table(past.address), "select id from t").table["id"].to_pylist() == [4]


def test_a_key_that_was_dropped(spark: SparkSession, iceberg_judge: IcebergJudge, tmp_path: Path) -> None:
    """The engine's core cannot read on; the deleted rows are told all the same."""
    past = Past(iceberg_judge, tmp_path, "whole", 2)
    past.append()
    past.do("row_delta", equality={"columns": ["day"], "rows": past.rows(1)})
    left = query(open_table(past.address), "select id from t order by id").table
    assert 0 < len(left) < 8
    past.do("schema", changes=[("drop", "day")])
    with pytest.raises(EngineError, match="Cannot find required field for ID 7"):
        iceberg_judge.rows(past.address)
    assert query(open_table(past.address), "select id from t order by id").table == left


def _fields(past: Past) -> list[str]:
    """The names of the fields that part the table now."""
    state = past.judge.state(past.address)
    return [name for name, _ in state["partition_fields"]]
