"""Histories that Spark builds, compared with those of one process."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from core.analysis import storage_cost
from core.model.actions import Change, DeleteTags, Expire
from core.model.history import History
from core.model.references import MAIN
from core.spark.metadata import history as on_spark
from core.spark.metadata.history import SparkHistory
from core.table import Table, open_table
from tests.support.places import SMALL_TABLES

NOW_MS = 1_790_000_000_000


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
    if whole.incomplete:
        return
    assert storage_cost.drops(found, NOW_MS) == storage_cost.drops(whole, NOW_MS)
    tags = tuple(tag.name for tag in whole.heads.main.tags)
    changes: list[Change] = [Expire(retain_max=1, retain_min=1), Expire(retain_max=2, retain_min=1)]
    if tags:
        changes.append(DeleteTags(tags))
    for change in changes:
        plan, expected = table.preview_deletion(change, NOW_MS, found), table.preview(change, NOW_MS, whole)
        assert plan.frees.equals(expected.frees)
        assert plan == expected


@pytest.mark.parametrize("name", sorted(each.name for each in (SMALL_TABLES / "paimon" / "default.db").iterdir()))
def test_a_real_table(spark: SparkSession, name: str) -> None:
    agrees(spark, open_table(str(SMALL_TABLES / "paimon" / "default.db" / name)), 10)
