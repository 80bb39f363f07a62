"""Tables of other projects, written by many engines: no point has other rows than Iceberg's own runtime reads.

What cannot be read is refused, which is no wrong answer; but the tables of `REWRITTEN` are answered. They are
read where the tables beyond tests/tables are.
"""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from core.errors import SnapscopeError
from core.spark.query.query import query
from core.table import open_table
from tests.support.iceberg_tables import relocated
from tests.support.places import TABLES

PUBLIC = TABLES / "iceberg" / "public"
NAMES = sorted(path.name for path in PUBLIC.iterdir()) if PUBLIC.is_dir() else []
REWRITTEN = [name for name in NAMES if "__partition_" in name]


@pytest.mark.parametrize("name", REWRITTEN)
def test_columns_that_stand_in_the_partition_alone(spark: SparkSession, tmp_path: Path, name: str) -> None:
    """Their manifests list sizes of a column which the files were rewritten without."""
    assert compared(PUBLIC / name, tmp_path / name) == (2, 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name not in REWRITTEN])
def test_no_point_has_other_rows(spark: SparkSession, tmp_path: Path, name: str) -> None:
    answered, refused = compared(PUBLIC / name, tmp_path / name)
    assert answered + refused


def compared(source: Path, to: Path) -> tuple[int, int]:
    """(points answered, points refused), all of those that the engine reads."""
    known = json.loads((source / "expected.json").read_text())
    relocated(source, to, f"/warehouse/public/{source.name}")
    answered = refused = 0
    for at, wanted in known["points"].items():
        try:
            found = query(open_table(str(to / known["metadata"])), "select * from t", at=at, row_cap=300_000).table
        except SnapscopeError:
            refused += 1
            continue
        answered += 1
        if "error" in wanted:
            continue
        assert (found.num_rows, found.column_names) == (wanted["count"], wanted["columns"]), at
        if "rows" in wanted:
            ours = [[plain(value) for value in row.values()] for row in found.to_pylist()]
            assert sorted(map(text, ours)) == sorted(map(text, wanted["rows"])), at
    return answered, refused


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
