"""System tables in a query: Paimon's names, the values of references and history, and no other table."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from core.errors import Corrupt, Invalid
from core.spark.query.query import query
from core.spark.read.paimon import system_tables
from core.table import open_table
from tests.support.builders import TableBuilder

UTC = dt.UTC


def test_every_system_table_answers_a_query(spark: SparkSession, shared_tables: Path) -> None:
    table = open_table(str(shared_tables / "paimon" / "default.db" / "schema_evolved"))
    history = table.history()
    line = history.heads.main

    def rows(kind: str, at: str = "latest", what: str = "*") -> list[dict[str, object]]:
        return query(table, f"SELECT {what} FROM `t${kind}`", at=at, history=history).table.to_pylist()

    for found, snapshot in zip(rows("snapshots"), line.snapshots, strict=True):
        assert found["snapshot_id"] == snapshot.id
        assert found["commit_time"] == dt.datetime.fromtimestamp(snapshot.time_ms / 1000, UTC)
        assert found["base_manifest_list"] == snapshot.fields["baseManifestList"]
        assert found["total_record_count"] == snapshot.total_rows
    assert [found["tag_name"] for found in rows("tags")] == [tag.name for tag in line.tags]
    assert [found["schema_id"] for found in rows("schemas")] == sorted(line.schemas)
    assert json.loads(str(rows("schemas")[0]["partition_keys"])) == ["dt"]
    assert {found["key"]: found["value"] for found in rows("options")} == dict(line.options)
    assert rows("branches") == rows("consumers") == []
    for at in (str(line.snapshots[0].id), str(line.snapshots[7].id), "latest"):
        point = at if at != "latest" else str(line.snapshots[-1].id)
        live = history.files_at(history.position(point))
        paths = [f"{table.location}/{path}" for path in live["path"].to_pylist()]
        assert sorted(str(found["file_path"]) for found in rows("files", at)) == paths
        for kind in ("partitions", "buckets"):
            found = rows(kind, at, "sum(record_count) AS r, sum(file_size_in_bytes) AS b, sum(file_count) AS n")
            assert found == [{"r": sum(live["rows"].to_pylist()), "b": sum(live["bytes"].to_pylist()), "n": len(live)}]
    joined = "SELECT count(*) AS n FROM `schema_evolved$files` f JOIN `t$partitions` p USING (partition)"
    assert query(table, joined, history=history).table.to_pylist() == [{"n": len(rows("files"))}]


def test_consumers_branches_and_times_without_a_zone(spark: SparkSession, shared_tables: Path, tmp_path: Path) -> None:
    branched = open_table(str(shutil.copytree(shared_tables / "paimon" / "default.db" / "branches", tmp_path / "b")))
    (tmp_path / "b" / "consumer").mkdir()
    for name, following in (("job1", 7), ("job2", 11)):
        (tmp_path / "b" / "consumer" / f"consumer-{name}").write_text(json.dumps({"nextSnapshot": following}))
    consumers = query(branched, "SELECT * FROM `t$consumers` ORDER BY 1").table
    assert consumers.to_pylist() == [
        {"consumer_id": "job1", "next_snapshot_id": 7},
        {"consumer_id": "job2", "next_snapshot_id": 11},
    ]
    assert query(branched, "SELECT * FROM `t$branches` ORDER BY 1").table["branch_name"].to_pylist() == ["b0", "b1"]
    kinds = query(branched, "SELECT typeof(create_time) AS a, typeof(commit_time) AS b FROM `t$tags`").table
    assert kinds.to_pylist() == [{"a": "timestamp_ntz", "b": "timestamp"}]


def test_manifests_and_statistics_are_those_of_the_point(spark: SparkSession, tmp_path: Path) -> None:
    made = TableBuilder(tmp_path / "w" / "default.db" / "t")
    made.commit([made.file(100)])
    made.commit([made.file(100), made.file(200)], statistics=True)
    made.tag("v", 1)
    table = open_table(str(made.root))

    def rows(kind: str, at: str) -> list[dict[str, Any]]:
        return query(table, f"SELECT * FROM `t${kind}`", at=at).table.to_pylist()

    for at, added in (("1", [1]), ("2", [1, 2])):
        found = rows("manifests", at)
        assert [each["num_added_files"] for each in found] == added
        for each in found:
            assert each["file_size"] == (made.root / "manifest" / each["file_name"]).stat().st_size
    assert rows("statistics", "1") == []
    (counted,) = rows("statistics", "2")
    assert (counted["snapshot_id"], counted["schema_id"]) == (2, 0)
    (tag,) = rows("tags_pip", "2")
    assert (tag["tag_name"], tag["tag_id"], tag["tagged_snapshot_id"], tag["record_count"]) == ("v", None, 1, 10)
    next(made.root.glob("statistics/*")).write_bytes(b"[")
    with pytest.raises(Corrupt, match="statistics/stat-"):
        rows("statistics", "2")


@pytest.mark.parametrize("name", ["t$nothing", "other$files", "t$files_before"])
def test_what_is_no_system_table_of_this_table_is_refused(spark: SparkSession, shared_tables: Path, name: str) -> None:
    with pytest.raises(Invalid):
        query(open_table(str(shared_tables / "paimon" / "default.db" / "branches")), f"SELECT * FROM `{name}`")


def test_durations_are_spelled_as_paimon_spells_them() -> None:
    assert system_tables._duration(dt.timedelta(hours=36)) == "PT36H"
    assert system_tables._duration(dt.timedelta(minutes=61, seconds=5)) == "PT1H1M5S"
    assert system_tables._duration(dt.timedelta()) == "PT0S"
