"""Tables of other projects, written by many engines: every point that the format's own engine reads has its rows.

Of Paimon tables the number of rows is known, and the values that Java Paimon 2.0 reads (tests/data). They are read
where the tables beyond tests/tables are: copies that believe to be elsewhere.
"""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.variant_utils import VariantUtils

from core.errors import SnapscopeError
from core.spark.query.query import query
from core.table import open_table
from tests.engines.paimon_java import ordered
from tests.support.depth import sample
from tests.support.iceberg_tables import relocated
from tests.support.interop.shown import judged_rows, rows_of
from tests.support.places import ROOT, TABLES

PUBLIC = TABLES / "iceberg" / "public"
NAMES = sorted(path.name for path in PUBLIC.iterdir()) if PUBLIC.is_dir() else []
PAIMON = TABLES / "paimon_public"
COUNTS = json.loads((PAIMON / "expected.json").read_text()) if PAIMON.is_dir() else {}
VALUES = json.loads((ROOT / "tests" / "data" / "paimon_public_values.json").read_text()) if PAIMON.is_dir() else {}
REWRITTEN = [name for name in NAMES if "__partition_" in name]


@pytest.mark.parametrize("name", sample(REWRITTEN, 3))
def test_columns_that_stand_in_the_partition_alone(spark: SparkSession, tmp_path: Path, name: str) -> None:
    """Their manifests list sizes of a column which the files were rewritten without."""
    relocated(PUBLIC / name, tmp_path / name, f"/warehouse/public/{name}")
    assert compared(tmp_path / name) == (2, 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", sample([name for name in NAMES if name not in REWRITTEN], 18))
def test_every_point_that_the_engine_reads_has_its_rows(spark: SparkSession, name: str) -> None:
    answered, refused = compared(PUBLIC / name)
    assert answered + refused


@pytest.mark.slow
@pytest.mark.parametrize("name", sample(sorted({*COUNTS, *VALUES}), 20))
def test_every_point_of_a_paimon_table_has_the_rows_that_the_engine_reads(spark: SparkSession, name: str) -> None:
    table = open_table(str(PAIMON / name))
    values = VALUES.get(name, {})
    counts = {at: {"count": len(rows)} for at, rows in values.items()} | COUNTS.get(name, {})
    last = next(reversed(counts))
    for at, wanted in counts.items():
        try:
            found = query(table, "select * from t", at=at, timeout_s=300).table
        except SnapscopeError:
            assert "error" in wanted, at
            continue
        if "error" not in wanted:  # or it reads what the engine does not, see docs/paimon-features.md
            assert found.num_rows == wanted["count"], at
            if at == last:
                counted = query(table, "select count(*) as n from t", at=at, timeout_s=300).table.to_pylist()
                assert counted == [{"n": wanted["count"]}]
        if at in values:
            assert ordered(rows_of(found)) == ordered(judged_rows(values[at], found.schema)), at


def compared(source: Path) -> tuple[int, int]:
    """(points answered, points that the engine does not read either)."""
    known = json.loads((source / "expected.json").read_text())
    answered = refused = 0
    for at, wanted in known["points"].items():
        try:
            found = query(open_table(str(source / known["metadata"])), "select * from t", at=at, row_cap=300_000).table
        except SnapscopeError:
            assert "error" in wanted, at
            refused += 1
            continue
        answered += 1
        if "error" in wanted:
            continue
        assert (found.num_rows, found.column_names) == (wanted["count"], wanted["columns"]), at
        if "rows" in wanted:
            ours = [[plain(value) for value in row.values()] for row in found.to_pylist()]
            assert sorted(map(text, ours)) == sorted(text(shown(row)) for row in wanted["rows"]), at
    return answered, refused


def shown(value: Any) -> Any:
    """What the engine told, with a text in the place of every variant."""
    match value:
        case {"value": str(stored), "metadata": str(names)}:
            found = VariantUtils.to_python(bytes.fromhex(stored), bytes.fromhex(names))
            if found is None:  # a variant's own null is none as a text either
                return None
            return json.dumps(found, separators=(",", ":")) if isinstance(found, dict | list) else str(found)
        case dict():
            return {key: shown(each) for key, each in value.items()}
        case list():
            return [shown(each) for each in value]
        case _:
            return value


def text(row: Any) -> str:
    return json.dumps(row, sort_keys=True)


def plain(value: Any) -> Any:
    match value:
        case bytes():
            return value.hex()
        case dict():
            return {key: plain(each) for key, each in value.items()}
        case list() | tuple():
            return [plain(each) for each in value]
        case dt.datetime():
            return value.isoformat(" ")
        case dt.date() | Decimal():
            return str(value)
        case _:
            return value
