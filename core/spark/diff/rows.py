"""Row diff: which rows differ between two versions, by primary key if the table has one, else as counted whole rows.

Invariants:
- A column is identified by its field id: a renamed column is the same one. A column that only `b` has counts as null at
  `a`, so it changes every row where it has a value. A column that only `a` has is not compared; the schema change
  reports it.
- NaN equals NaN and 0.0 equals -0.0, as in a GROUP BY; maps are equal regardless of the order of their entries.
- A column that cannot be shown or compared at one of the versions is left out at both, and the answer names it.
- Files (for primary-key tables: whole buckets) that both versions have unchanged are not read: their rows cancel out.
- Totals are exact however few rows are shown; rows that were not read are counted from metadata or not at all, and the
  answer says so.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping

from py4j.protocol import Py4JError
from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from core.errors import Corrupt
from core.messages import counted
from core.model.history import History
from core.model.row_diff import ADDED, CHANGED, REMOVED, RowDiff
from core.model.time_travel import AsOf
from core.spark.diff import iceberg as iceberg_diff
from core.spark.diff.compare import SAME, Compared, compare
from core.spark.read import removed_points
from core.spark.read.iceberg import scan
from core.spark.read.paimon import points
from core.spark.session.session import engine_name
from core.spark.sql import run as sql
from core.table import Table


def row_diff(
    table: Table,
    history: History,
    a: AsOf,
    b: AsOf,
    *,
    limit: int = 1000,
    timeout_s: float = 300.0,
    query_id: str | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> RowDiff:
    """Compare the rows of two versions of this history; return at most `limit` differing rows.

    `query_id` names the run for `sql.cancel`. Raises what reading either version raises, `Unsupported` for a key that
    cannot be compared, `Invalid` on timeout and cancellation, `NotFound` if a version disappeared
    meanwhile.
    """
    with removed_points.explained(table, history, (a, b)):
        return sql.run_on_spark(
            lambda spark, run: _row_diff(spark, run, table, history, a, b, limit),
            timeout_s=timeout_s,
            query_id=query_id,
            on_progress=on_progress,
        )


def _paimon(spark: SparkSession, table: Table, history: History, a: AsOf, b: AsOf) -> Compared:
    return compare(spark, *(points.opened_at(table, history, point) for point in (a, b)))


def _iceberg(spark: SparkSession, table: Table, history: History, a: AsOf, b: AsOf) -> Compared:
    return iceberg_diff.compare(spark, *(scan.opened(table, history, point) for point in (a, b)))


_COMPARING: Mapping[str, Callable[[SparkSession, Table, History, AsOf, AsOf], Compared]] = {
    "paimon": _paimon,
    "iceberg": _iceberg,
}


def _row_diff(
    spark: SparkSession, run: sql.RunningStatement, table: Table, history: History, a: AsOf, b: AsOf, limit: int
) -> RowDiff:
    started = time.monotonic()
    made: list[tuple[Compared, DataFrame]] = []

    def totals() -> DataFrame:
        found = _COMPARING[table.capabilities.format](spark, table, history, a, b)
        kept = found.frame.persist(StorageLevel.MEMORY_AND_DISK)  # read once, then counted and shown
        made.append((found, kept))
        counted = {kind: F.sum(F.when(F.col("kind") == kind, F.col("times"))) for kind in (ADDED, REMOVED, CHANGED)}
        counted |= {SAME: F.sum("same"), "doubled": F.sum(F.col("doubled").cast("long"))}
        return kept.agg(*(F.coalesce(sum_, F.lit(0)).alias(name) for name, sum_ in counted.items()))

    try:
        (total,) = run.answer(totals, row_cap=1).table.to_pylist()
        ((found, kept),) = made
        if total["doubled"]:
            raise Corrupt(
                counted(
                    total["doubled"],
                    ("{count} primary key occurs more than once in the table, so rows cannot be compared by it."),
                    ("{count} primary keys occur more than once in the table, so rows cannot be compared by them."),
                ),
                path=table.location,
            )
        rows = run.answer(lambda: found.in_order(kept.where(F.col("kind") != SAME)), row_cap=limit)
    finally:
        with contextlib.suppress(Py4JError, PySparkException):  # if Spark itself has ended, nothing is cached
            for _, each in made:
                each.unpersist()
    unchanged = None if found.not_read is None else total[SAME] + found.not_read
    return RowDiff(
        a=a,
        b=b,
        key=tuple(column.name for column in found.columns if column.is_key),
        columns=tuple(column.name for column in found.columns),
        changes=tuple(found.changes(rows.table)),
        added=total[ADDED],
        removed=total[REMOVED],
        changed=total[CHANGED],
        unchanged=unchanged,
        truncated=rows.truncated,
        files_read=found.files_read,
        files_live=found.files_live,
        seconds=time.monotonic() - started,
        notes=found.notes,
        engine=engine_name(),
        not_compared=found.not_compared,
    )
