"""The rows of a version of a Paimon table, from the files that a statement can use."""

from __future__ import annotations

from pyspark.sql import SparkSession

from core.model.history import History
from core.model.time_travel import AsOf
from core.spark.read.paimon import points, prune
from core.spark.read.paimon.shown_columns import ddls
from core.spark.read.reader import Rows, Source
from core.spark.sql.filters import Pushdown
from core.table import Table


def source(table: Table, history: History, at: AsOf) -> Source:
    found = points.opened_at(table, history, at)

    def rows(spark: SparkSession, pushdown: Pushdown) -> Rows:
        return points.rows(spark, found, prune.plan(found, pushdown.condition), columns=pushdown.columns)

    return Source(found.schema, rows, ddls(found.schema))
