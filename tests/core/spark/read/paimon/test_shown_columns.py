"""One column that cannot be shown takes nothing away from the others, and says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from core.analysis.inspection import statistics
from core.errors import Unsupported
from core.spark.query.query import query
from core.table import Table, resolve
from tests.support.spark.stored import Stored

pytestmark = pytest.mark.spark
COLUMNS: list[tuple[str, Any]] = [("id", "INT NOT NULL"), ("v", "STRING"), ("odd", "DOUBLE"), ("more", "FLOAT")]
ROWS: list[dict[str, Any]] = [
    {"id": 1, "v": "a", "odd": 0.5, "more": 1.5},
    {"id": 2, "v": None, "odd": None, "more": 2.5},
]


def rows(table: Table, statement: str) -> list[Any]:
    return [tuple(row.values()) for row in query(table, statement).table.to_pylist()]


@pytest.mark.parametrize("keys", [[], ["id"]])
def test_columns_of_an_unknown_type(spark: SparkSession, tmp_path: Path, keys: list[str]) -> None:
    stored = Stored(tmp_path / "t", COLUMNS, primary_keys=keys, options={"bucket": "1"})
    stored.commit([stored.file(ROWS)])
    stored.commit([stored.file([{"id": 2 if keys else 3, "v": "b", "odd": 3.5, "more": 3.5}])])
    schema = stored.root / "schema" / "schema-0"
    schema.write_text(schema.read_text().replace('"DOUBLE"', '"GEOMETRY"').replace('"FLOAT"', '"ARRAY<NUMBER>"'))
    table = stored.opened()
    known = [(1, "a"), (2, "b")] if keys else [(1, "a"), (2, None), (3, "b")]
    assert rows(table, "select id, v from t order by id") == known
    assert rows(table, "select count(*) from t") == [(len(known),)]
    assert rows(table, "select count(*) from t where v = 'b'") == [(1,)]
    (stated,) = rows(table, "select fields from `t$schemas`")
    assert "GEOMETRY" in str(stated)
    history = table.history()
    point = resolve(history.heads, "latest")
    bounds = {each.column.name: each for each in statistics(table, history, point, history.files_of(point.point))}
    assert (bounds["id"].low, bounds["id"].high, bounds["odd"].low) == (1, 2 if keys else 3, None)
    assert (bounds["odd"].column.type, bounds["more"].column.type) == ("GEOMETRY", "ARRAY<NUMBER>")
    for statement in ("select * from t", "select odd from t", "select count(*) from t where odd = 'x'"):
        with pytest.raises(Unsupported) as caught:
            query(table, statement)
        assert "'odd' cannot be shown: Snapscope does not know the column type 'GEOMETRY'" in caught.value.message
        assert "Leave the column out" in str(caught.value.remedy)
    with pytest.raises(Unsupported, match="'more'"):
        query(table, "select more from t")


def test_a_key_of_an_unknown_type_refuses_the_rows(spark: SparkSession, tmp_path: Path) -> None:
    for option in ({}, {"sequence.field": "v"}):
        stored = Stored(tmp_path / "".join(["t", *option]), COLUMNS, primary_keys=["id"], options=option)
        stored.commit([stored.file(ROWS)])
        schema = stored.root / "schema" / "schema-0"
        schema.write_text(schema.read_text().replace('"STRING"' if option else '"INT NOT NULL"', '"GEOMETRY"'))
        with pytest.raises(Unsupported, match="GEOMETRY"):
            query(stored.opened(), "select more from t")


def test_names_that_differ_only_in_case_are_columns_of_their_own(spark: SparkSession, tmp_path: Path) -> None:
    stored = Stored(tmp_path / "t", [("id", "INT"), ("ID", "STRING")])
    stored.commit([stored.file([{"id": 1, "ID": "a"}])])
    assert rows(stored.opened(), "select ID, id from t where ID = 'a'") == [("a", 1)]


def test_an_unknown_aggregate_function_refuses_what_it_merges_alone(spark: SparkSession, tmp_path: Path) -> None:
    options = {"bucket": "1", "merge-engine": "aggregation", "fields.odd.aggregate-function": "hll_sketch",
               "fields.more.aggregate-function": "sum"}  # fmt: skip
    stored = Stored(tmp_path / "t", COLUMNS, primary_keys=["id"], options=options)
    stored.commit([stored.file(ROWS)])
    assert rows(stored.opened(), "select id, odd from t order by id") == [(1, 0.5), (2, None)]
    stored.commit([stored.file([{"id": 2, "v": "b", "odd": 3.5, "more": 3.5}])])
    table = stored.opened()
    assert rows(table, "select id, v, more from t order by id") == [(1, "a", 1.5), (2, "b", 6.0)]
    assert rows(table, "select count(*) from t where more > 2") == [(1,)]
    with pytest.raises(Unsupported, match="Column 'odd' is aggregated by 'hll_sketch'") as caught:
        query(table, "select odd from t")
    assert "Leave the column out" in str(caught.value.remedy)
