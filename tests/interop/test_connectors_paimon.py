"""Paimon's own Spark connector beside our plain reader: the same rows at every snapshot, tag and branch.

No release of it is fetched here, so this runs only where `SNAPSCOPE_TEST_PAIMON_CONNECTOR` names its jars; what does
not depend on whose code reads is tested with a stand-in in tests/spark/test_connectors.py.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from core.errors import Unsupported
from core.spark import connector
from core.spark.query import query
from core.table import Table, open_table
from tests.engines.connectors import PAIMON
from tests.places import TABLES

TABLES_OF_ENGINES = sorted(path.name for path in (TABLES / "paimon" / "default.db").iterdir() if path.is_dir())


def in_order(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(map(repr, rows))


def same_rows(table: Table) -> int:
    """Every snapshot and tag of every branch by both; how many were read by both."""
    history = table.history()
    met = 0
    for holder in history.holders:
        if holder.point.partition("/")[2].startswith("changelog:") or holder.point.startswith("changelog:"):
            continue
        asked: dict[str, Any] = {"at": holder.point, "history": history, "row_cap": 100_000}
        theirs = query(table, "select * from t", engine=connector.CONNECTOR, **asked)
        assert theirs.engine.startswith("Paimon Spark connector ")
        assert theirs.files_read is None
        try:
            ours = query(table, "select * from t", **asked)
        except Unsupported:
            continue
        assert in_order(ours.table.to_pylist()) == in_order(theirs.table.to_pylist()), holder.point
        met += 1
    return met


if os.environ.get(PAIMON):

    @pytest.fixture(autouse=True)
    def configured(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
        """The one Spark, which loads the connector where it is asked for."""
        monkeypatch.setenv(connector.SETTING, os.environ[PAIMON])

    @pytest.mark.parametrize("name", TABLES_OF_ENGINES)
    def test_shared_tables(tmp_path: Path, name: str) -> None:
        location = tmp_path / "default.db" / name
        shutil.copytree(TABLES / "paimon" / "default.db" / name, location)
        assert same_rows(open_table(str(location))) > 0
