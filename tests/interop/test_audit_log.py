"""`t$audit_log` in a query, compared with the engine's own audit log of the same version."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from core.errors import Unsupported
from core.spark.query.query import query
from core.table import open_table
from tests.engines.paimon_java import PaimonJudge, ordered
from tests.support.interop.keyed_tables import ENGINE_OPTIONS, Case, build
from tests.support.interop.shown import shown


def check(judge: PaimonJudge, location: str, snapshot: int) -> list[str]:
    """Compares one snapshot with the engine; the kinds that were there."""
    table = query(open_table(location), "SELECT * FROM `t$audit_log`", at=str(snapshot)).table
    assert table.column_names[0] == "rowkind"
    found = ordered([[shown(value) for value in row.values()] for row in table.to_pylist()])
    assert found == judge.rows(location, snapshot=snapshot, audit=True), snapshot
    return table["rowkind"].to_pylist()


@pytest.mark.parametrize("engine", [each for each in ENGINE_OPTIONS if "by sequence" not in each])
def test_every_merge_engine(spark: SparkSession, tmp_path: Path, java_judge: PaimonJudge, engine: str) -> None:
    location = str(tmp_path / "default.db" / "t")
    fresh = "as it comes" if engine == "first-row" else "never"
    deletes = "deletes and updates"
    build(java_judge, location, Case(engine, "avro", "2", "no", "none", "added", deletes, fresh, "yes"), 7)
    last = max(each["id"] for each in java_judge.snapshots(location))
    kinds = check(java_judge, location, last)
    assert "ignore-delete" in ENGINE_OPTIONS[engine] or set(kinds) & {"-D", "-U"}


def test_deletes_from_before_they_were_ignored(spark: SparkSession, tmp_path: Path, java_judge: PaimonJudge) -> None:
    """Of a deleted row that is alone the engine does not ask whether it is ignored; of others it does."""
    location = str(tmp_path / "default.db" / "t")
    options = {"bucket": "1", "write-only": "true"}
    java_judge.create(location, [("id", "INT NOT NULL"), ("v", "INT")], primary_keys=["id"], options=options)
    java_judge.write(location, [[1, 1], [2, 1], [5, 1]])
    java_judge.write(location, [[2, 2], [3, 2], [4, 2]], kinds=["-D", "-D", "-D"])
    java_judge.write(location, [[4, 3]], kinds=["-D"])
    check(java_judge, location, 3)
    java_judge.alter(location, ("set_option", "ignore-delete", "true"))
    java_judge.write(location, [[1, 4]])
    assert sorted(check(java_judge, location, 4)) == ["+I", "+I", "+I", "-D"]


@pytest.mark.parametrize("compaction", ["as it comes", "full"])
def test_deletion_vectors(spark: SparkSession, tmp_path: Path, java_judge: PaimonJudge, compaction: str) -> None:
    location = str(tmp_path / "default.db" / "t")
    build(
        java_judge, location, Case("deduplicate", "parquet", "1", "32 bits", "none", "as it was", "deletes", compaction,
                                   "no"), 3
    )  # fmt: skip
    for each in java_judge.snapshots(location)[-2:]:
        check(java_judge, location, each["id"])


def test_append_tables(spark: SparkSession, tmp_path: Path, java_judge: PaimonJudge) -> None:
    location = str(tmp_path / "default.db" / "t")
    java_judge.create(location, [("id", "INT"), ("p", "STRING")], partition_keys=["p"], options={"bucket": "-1"})
    java_judge.write(location, [[1, "a"], [2, "b"]])
    java_judge.write(location, [[3, "a"]])
    assert [len(check(java_judge, location, snapshot)) for snapshot in (1, 2)] == [2, 3]
    java_judge.drop_partitions(location, {"p": "a"})
    joined = "SELECT l.rowkind, t.id FROM `t$audit_log` l JOIN t USING (id)"
    assert query(open_table(location), joined).table.to_pylist() == [{"rowkind": "+I", "id": 2}]
    java_judge.alter(location, ("add", "RowKind", "STRING"))
    java_judge.write(location, [[3, "a", "mine"]])
    with pytest.raises(Unsupported, match="The table already has a column 'rowkind', so its rows would have two"):
        query(open_table(location), "SELECT * FROM `t$audit_log`")
