"""`snapscope compact` and `snapscope analyze`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from core.cli import main
from core.formats.paimon import references
from core.spark import write
from core.store import Store

T0 = 1_790_000_000_000


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*words: str) -> tuple[int, Any]:
        status = main([*words, "--json"])
        return status, json.loads(capsys.readouterr().out)

    return run


def test_small_files_are_compacted_and_statistics_committed(spark: SparkSession, tmp_path: Path, said: Any) -> None:
    store = Store(str(tmp_path / "default.db" / "t"))
    write.create_table(store, (("id", "BIGINT"), ("list", "ARRAY<INT>")), time_ms=T0)
    assert said("analyze", store.root) == (0, {"snapshot": None, "kind": None})
    rows = spark.range(0, 40, numPartitions=4).selectExpr("id", "array(1) list")
    write.append(store, rows, write.stamp(T0))
    assert said("compact", store.root) == (0, {"snapshot": None, "kind": None}), "four are fewer than the option's five"
    done = {"snapshot": 2, "kind": "COMPACT", "files_before": 4, "files_after": 1}
    assert said("compact", store.root, "--min-files", "2") == (0, done)
    assert said("analyze", store.root, "--column", "id") == (0, {"snapshot": 3, "kind": "ANALYZE"})
    head = references.read_head(store).snapshot
    assert head is not None
    statistics = json.loads(store.read(f"statistics/{head.fields['statistics']}"))
    assert (statistics["mergedRecordCount"], statistics["colStats"]["id"]["max"]) == (40, "39")
    status, document = said("analyze", store.root, "--column", "list")
    assert (status, document["error"]["kind"]) == (1, "Unsupported")


def test_a_call_compacts_the_table_it_names(spark: SparkSession, tmp_path: Path, said: Any) -> None:
    store = Store(str(tmp_path / "default.db" / "t"))
    write.create_table(store, (("id", "BIGINT"),), time_ms=T0)
    write.append(store, spark.range(0, 40, numPartitions=6).toDF("id"), write.stamp(T0))
    call = "CALL sys.compact(table => 'default.t')"
    assert said("call", str(tmp_path), call)[0] == 1, "nobody said yes"
    assert said("call", str(tmp_path), call, "--yes")[1]["kind"] == "COMPACT"
