"""Histories that Spark builds, compared with those of one process."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from pyspark.sql import DataFrame, SparkSession

from core.analysis import storage_cost
from core.cli import main
from core.errors import Conflict, SnapscopeError, Unsupported
from core.model.actions import Change, DeleteTags, Expire
from core.model.history import History, HistorySummary
from core.model.plan import Plan
from core.model.references import MAIN
from core.reports import json as answers
from core.spark.metadata import history as on_spark
from core.spark.metadata.history import SparkHistory
from core.storage import memory
from core.table import Table, open_table
from tests.support.formats.manifest_bytes import FORMS
from tests.support.formats.paimon.random_tables import Maker
from tests.support.formats.paimon.tables import four_commits, manifest_of
from tests.support.places import SMALL_TABLES
from tests.support.spark.planned import NOW_MS

TABLES = [
    *(SMALL_TABLES / "paimon" / "default.db" / name for name in ("branches", "changelog_decoupled", "pk_tags_expired")),
    *(SMALL_TABLES / "iceberg" / "pyiceberg" / name for name in ("tags_branches", "expired")),
    SMALL_TABLES / "iceberg" / "java_random" / "t05_v3",
]


def agrees(spark: SparkSession, table: Table, entries: int) -> None:
    """Assert that sums, costs and plans are those of one process."""
    heads = table.heads()
    whole = table.history(heads)
    found = on_spark.build(spark, table, heads, entries=entries)
    try:
        compare(table, whole, found)
    finally:
        found.close()


def compare(table: Table, whole: History, found: SparkHistory) -> None:
    assert (found.holders, found.incomplete, found.warnings) == (whole.holders, whole.incomplete, whole.warnings)
    for name in ("files", "bytes", "rows"):
        assert getattr(found.totals, name).tolist() == getattr(whole.totals, name).tolist()
    for branch in [MAIN, *whole.heads.branches]:
        ours, theirs = (storage_cost.retention_curve(each, branch) for each in (found, whole))
        assert [each.tolist() for each in ours] == [each.tolist() for each in theirs]
    assert storage_cost.by_holders(found).equals(storage_cost.by_holders(whole))
    for mine, other in zip(*(storage_cost.exclusive(each, whole.existing) for each in (found, whole)), strict=True):
        assert mine.tolist() == other.tolist()
    tags = tuple(tag.name for tag in whole.heads.main.tags)
    changes: list[Change] = [Expire(retain_max=1, retain_min=1), Expire(retain_max=2, retain_min=1)]
    if tags:
        changes.append(DeleteTags(tags))
    for change in changes:
        plan, expected = (_planned(table, change, each) for each in (found, whole))
        if isinstance(plan, Plan) and isinstance(expected, Plan):
            assert set(plan.warnings) <= set(expected.warnings)  # what the engine does is not compared
            plan = replace(plan, warnings=expected.warnings)
            assert plan.frees.equals(expected.frees)
        assert plan == expected
    if not whole.incomplete:
        assert storage_cost.drops(found, NOW_MS) == storage_cost.drops(whole, NOW_MS)
        assert answers.costs(found, NOW_MS) == answers.costs(whole, NOW_MS)


def _planned(table: Table, change: Change, history: HistorySummary) -> Plan | str:
    """The plan, or why there is none."""
    try:
        return table.preview(change, NOW_MS, history)
    except SnapscopeError as error:
        return str(error)


@pytest.mark.parametrize("root", TABLES, ids=lambda path: path.name)
def test_a_real_table(spark: SparkSession, root: Path) -> None:
    agrees(spark, open_table(str(root)), 20)


@pytest.mark.parametrize("seed", range(2))
def test_a_random_table(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    words = [
        "append",
        "append",
        "delete",
        "compact",
        "upgrade",
        "merge",
        "tag",
        "branch",
        "expire",
        "index",
        "overwrite",
    ]
    made = Maker(tmp_path / "default.db" / "t", {"changelog-producer": "input"}, FORMS)
    made.main.commit([made.file(made.main, 1, 1)])
    made.run([(chance.choice(words), chance.randrange(10**6), chance.randrange(10**6)) for _ in range(40)])
    agrees(spark, open_table(str(tmp_path / "default.db" / "t")), 10)


def test_a_manifest_that_cannot_be_read(spark: SparkSession, tmp_path: Path) -> None:
    table = four_commits(tmp_path / "t")
    (table.root / manifest_of(table, 2)).write_bytes(b"no manifest")
    agrees(spark, open_table(str(table.root)), 4)


def test_parts_that_are_built_again_from_a_changed_table(spark: SparkSession, tmp_path: Path) -> None:
    """As after the loss of an executor, while others expired a snapshot: its manifest is not there any more."""
    table = four_commits(tmp_path / "t")
    opened = open_table(str(table.root))
    found = on_spark.build(spark, opened, opened.heads(), entries=4)
    assert found.made is not None
    found.made.unpersist(blocking=True)
    change = Expire(retain_max=3, retain_min=1)
    plan = opened.preview(change, NOW_MS, found)
    assert plan == opened.preview(change, NOW_MS)
    found.made.unpersist(blocking=True)
    (table.root / manifest_of(table, 2)).unlink()
    with pytest.raises(Conflict, match="Spark lost some of the metadata that it had read, and the table has changed"):
        opened.preview(change, NOW_MS, found)


def test_whatever_goes_wrong_when_parts_are_asked_is_told(spark: SparkSession, tmp_path: Path) -> None:
    """As after the death of the JVM."""
    table = open_table(str(four_commits(tmp_path / "t").root))
    found = on_spark.build(spark, table, table.heads())
    lost = replace(found, made=cast(DataFrame, SimpleNamespace(sparkSession=None)))
    for ask in (lambda: lost.held_among(["a"]), lambda: lost.objects_among(["a"]), lambda: lost.examined(["a"])):
        with pytest.raises(SnapscopeError, match=r"NoneType|SimpleNamespace"):
            ask()
    found.close()


def test_a_plan_that_would_name_too_many_files(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = open_table(str(four_commits(tmp_path / "t").root))
    monkeypatch.setattr(on_spark, "MOST_FREED", 1)
    history = on_spark.build(spark, table, table.heads())
    with pytest.raises(Unsupported, match=r"would free \d files; a plan names each file, and 1 at most") as raised:
        table.preview(Expire(retain_max=1, retain_min=1), NOW_MS, history)
    assert raised.value.remedy == "Expire fewer snapshots at a time, or delete fewer tags."
    history.close()


def test_commands(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    root = str(SMALL_TABLES / "paimon" / "default.db" / "pk_tags_expired")
    for words in (["cost", root], ["plan", "expire", root, "--retain-max", "1", "--retain-min", "1"]):
        documents = []
        for more in (["--on-spark"], []):
            assert main([*words, "--now", "2026-11-20", "--json", *more]) == 0
            documents.append(json.loads(capsys.readouterr().out))
        ours, theirs = documents
        assert ours.pop("metadata_read_by") == "Spark (local)"
        assert {name: theirs[name] for name in ours} == ours
        assert theirs.keys() - ours.keys() <= {"native", "native_codes", "next_commit"}
        assert main([*words, "--on-spark"]) == 0
        assert "Metadata was read by Spark (local)." in capsys.readouterr().out


def test_commands_use_spark_for_a_table_that_does_not_fit(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = str(SMALL_TABLES / "paimon" / "default.db" / "pk_tags_expired")
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(memory, "available", lambda: 1)
    for words in (["cost", root], ["plan", "expire", root, "--retain-max", "1", "--retain-min", "1"]):
        assert main([*words, "--now", "2026-11-20", "--json"]) == 0
        shown = capsys.readouterr()
        assert json.loads(shown.out)["metadata_read_by"] == "Spark (local)"
        assert "need about" in shown.err
        assert "is available. Spark reads it instead, as with --on-spark." in shown.err
    assert main(["plan", "rollback", root, "1"]) != 0
    assert "need about" in capsys.readouterr().err
