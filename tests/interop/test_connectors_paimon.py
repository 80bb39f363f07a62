"""Paimon's own Spark connector beside our plain reader: the same rows at every snapshot, tag and branch.

No release of it is fetched here, so this runs only where `SNAPSCOPE_TEST_PAIMON_CONNECTOR` names its jars, parted by
commas, and best in a process of its own. What does not depend on whose code reads is tested with a stand-in in
tests/core/spark/query/test_connector.py.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from core.errors import Unsupported
from core.spark.query import connector
from core.spark.query.query import query
from core.table import Table, open_table
from tests.engines.connectors import PAIMON
from tests.engines.paimon_java import PaimonJudge
from tests.support.places import TABLES

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
        asked: dict[str, Any] = {"at": holder.point, "history": history, "row_cap": 100_000, "timeout_s": 600}
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

    def test_what_plain_spark_refuses_is_read_pinned(java_judge: PaimonJudge, tmp_path: Path) -> None:
        location = str(tmp_path / "default.db" / "t")
        options = {"bucket": "-1", "row-tracking.enabled": "true", "data-evolution.enabled": "true"}
        java_judge.create(location, [("id", "INT"), ("v", "STRING")], options=options)
        java_judge.write(location, [[1, "a"], [2, None]])
        table = open_table(location)
        history = table.history()
        with pytest.raises(Unsupported, match=r"data-evolution.* \(--engine connector\)"):
            query(table, "select * from t", history=history)
        java_judge.alter(location, ["add", "w", "INT"])
        java_judge.write(location, [[3, "c", 1]])
        for at, rows in ((history, [[1, "a"], [2, None]]), (table.history(), java_judge.rows(location))):
            answer = query(table, "select * from t order by id", engine=connector.CONNECTOR, history=at, timeout_s=600)
            assert [list(row.values()) for row in answer.table.to_pylist()] == rows
