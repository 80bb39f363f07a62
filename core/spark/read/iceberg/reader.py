"""The rows of a version of an Iceberg table, from the files that a statement can use."""

from __future__ import annotations

from pyspark.sql import SparkSession

from core.formats.iceberg import types
from core.model.history import History
from core.model.time_travel import AsOf
from core.spark.read.iceberg import frames, prune, scan
from core.spark.read.reader import Rows, Source
from core.spark.sql.filters import Pushdown
from core.table import Table


def source(table: Table, history: History, at: AsOf) -> Source:
    found = scan.opened(table, history, at)

    def rows(spark: SparkSession, pushdown: Pushdown) -> Rows:
        return frames.rows(spark, prune.only(found, pushdown.condition), pushdown.columns)

    return Source(found.schema, rows, tuple(types.spark(each.type) for each in found.columns))
