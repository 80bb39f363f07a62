"""`snapscope compact` and `snapscope analyze`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from core.cli import main
from core.execution.journal import Journal
from core.formats.paimon.write import publish
from core.spark.write import append as write
from core.spark.write import upsert
from core.storage.store import Store

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
    assert said("analyze", store.root, "--yes")[1]["error"]["kind"] == "Invalid", "there is no snapshot to count"
    rows = spark.range(0, 40, numPartitions=4).selectExpr("id", "array(1) list")
    write.append(store, rows, write.stamp(T0))
    idle = said("compact", store.root)
    assert (idle[0], idle[1]["receipt"]) == (0, None), "four are fewer than the option's five"
    status, planned = said("plan", "compact", store.root, "--min-files", "2")
    assert (status, len(planned["leaving"])) == (0, 4)
    assert said("compact", store.root, "--min-files", "2")[0] == 1, "nobody said yes"
    status, done = said("compact", store.root, "--min-files", "2", "--yes")
    assert (status, len(done["leaving"]), len(done["receipt"]["created"])) == (0, 4, 2)
    assert done["receipt"]["created"][0] == "snapshot/snapshot-2"
    status, done = said("analyze", store.root, "--column", "id", "--yes")
    assert (status, done["receipt"]["created"]) == (0, ["snapshot/snapshot-3"])
    kinds = [(run.change_kind, run.state) for run in Journal().runs()]
    assert kinds == [("Analyze", "done"), ("Compact", "done")]
    head = publish.read_head(store).snapshot
    assert head is not None
    statistics = json.loads(store.read(f"statistics/{head.fields['statistics']}"))
    assert (statistics["mergedRecordCount"], statistics["colStats"]["id"]["max"]) == (40, "39")
    status, document = said("analyze", store.root, "--column", "list", "--yes")
    assert (status, document["error"]["kind"]) == (1, "Unsupported")
    assert Journal().open_run(store.location) is None, "nothing was done, so nothing is to be finished"


def test_a_call_compacts_the_table_it_names(spark: SparkSession, tmp_path: Path, said: Any) -> None:
    store = Store(str(tmp_path / "default.db" / "t"))
    write.create_table(store, (("id", "BIGINT"),), time_ms=T0)
    write.append(store, spark.range(0, 40, numPartitions=6).toDF("id"), write.stamp(T0))
    call = "CALL sys.compact(table => 'default.t')"
    assert said("call", str(tmp_path), call)[0] == 1, "nobody said yes"
    [receipt] = said("call", str(tmp_path), call, "--yes")[1]["receipts"]
    assert receipt["created"][0] == "snapshot/snapshot-2"


def test_a_table_with_a_key_is_compacted_as_planned(spark: SparkSession, tmp_path: Path, said: Any) -> None:
    """A file that only moves to a higher level is no new one."""
    store = Store(str(tmp_path / "default.db" / "t"))
    columns = (("id", "BIGINT NOT NULL"), ("day", "DATE NOT NULL"))
    options = {"bucket": "1", "write-only": "true"}
    keys = ["day", "id"]
    upsert.create_table(store, columns, primary_keys=keys, partition_keys=["day"], options=options, time_ms=T0)
    for day in ("2026-11-01", "2026-11-01", "2026-11-02"):
        rows = spark.range(5).selectExpr("id", f"date'{day}' day")
        upsert.upsert(store, rows, write.stamp(T0))
    status, done = said("compact", store.root, "--partition", "day=2026-11-01", "--yes")
    assert (status, len(done["leaving"]), len(done["receipt"]["created"])) == (0, 2, 2)
    status, done = said("compact", store.root, "--yes")
    assert (status, len(done["leaving"]), done["receipt"]["created"]) == (0, 1, ["snapshot/snapshot-5"])
    status, done = said("truncate", store.root, "--yes")
    assert (status, sum(each["rows"] for each in done["leaving"])) == (0, 10)
