"""Table and column statistics for query planners, computed by Spark and committed as the engine does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from core.errors import NotFound, Unsupported
from core.formats.paimon import types
from core.formats.paimon.types import PaimonType, parse
from core.formats.paimon.ways_out import CHANGE
from core.formats.paimon.write import commit, commit_base, statistics
from core.formats.paimon.write.commit import CommitChange, Stamp
from core.model.references import Schema, Snapshot
from core.spark.read.paimon import points
from core.storage.store import Store
from core.table import open_table, resolve

_ERROR = 0.05  # relative error of the distinct count, the one that Spark's own ANALYZE allows


def analyze(
    location: str | Store, at: Stamp, *, spark: SparkSession, columns: Sequence[str] | None = ()
) -> Snapshot | None:
    """Count the newest rows, compute statistics of these columns (None: of all possible ones), and commit both.

    Returns None if the table has no snapshot. Deleted and merged rows do not count. Raises `NotFound` for an unknown
    column, `Unsupported` for a type without statistics.
    """
    table = open_table(location.location if isinstance(location, Store) else location)
    history = table.history()
    line = history.heads.line(at.branch)
    if line is None:
        raise NotFound("There is no branch '{branch}'.", branch=at.branch, path=table.location)
    if not line.snapshots:
        return None
    newest_one = max(line.snapshots, key=lambda snapshot: snapshot.id)
    opened = points.opened_at(table, history, resolve(history.heads, str(newest_one.id), at.branch))
    rows = points.rows(spark, opened).frame
    counted, columns_of = _counted(rows, _chosen(opened.schema, columns))
    live = commit_base.live_entries(table.store, opened.snapshot)
    size, stored = sum(entry["_FILE"]["_FILE_SIZE"] for entry in live), commit_base.rows(live)
    content = statistics.document(
        opened.snapshot.id, opened.schema, counted, size * counted // stored if stored else 0, columns_of
    )
    return commit.run(table.store, CommitChange("ANALYZE", statistics=content, refuse=_refuse), at)


def _refuse(schema: Schema) -> None:
    """Refuse options that affect the commit itself; statistics are written for every kind of table."""
    for name, usual in (("type", "table"), ("manifest.format", "avro")):
        if (value := schema.options.get(name, usual)) != usual:
            raise Unsupported(
                "Snapscope cannot write to tables with the option '{name}' = '{value}'.",
                name=name,
                value=value,
                remedy=CHANGE,
            )
    for name in schema.options:
        if name.startswith(("commit.callback", "scan.fallback-", "scan.primary-")) or name in (
            "row-tracking.enabled",
            "write.sequence-number-init-mode",
        ):
            raise Unsupported(
                "Snapscope does not know the table option '{name}', so it does not write to this table.",
                name=name,
                remedy=CHANGE,
            )


def _chosen(schema: Schema, columns: Sequence[str] | None) -> dict[str, PaimonType]:
    fields = {field.name: parse(field.type) for field in schema.fields}
    if columns is None:
        return {name: of for name, of in fields.items() if statistics.is_analyzable(of)}
    for name in columns:
        if name not in fields:
            raise NotFound("There is no column '{name}'; the table has {fields}.", name=name, fields=", ".join(fields))
        if not statistics.is_analyzable(fields[name]):
            raise Unsupported(
                "Column '{name}' of type {types} has no statistics.",
                name=name,
                types=types.text(fields[name]),
                remedy="Leave the column out.",
            )
    return {name: fields[name] for name in columns}


def _counted(rows: DataFrame, columns: dict[str, PaimonType]) -> tuple[int, dict[str, statistics.ColumnStatistics]]:
    """The number of rows and the statistics of these columns, in one job."""
    aggregates = [F.count(F.lit(1))]
    for name, of in columns.items():
        aggregates += _aggregates(F.col(types.quoted(name)), of)
    (row,) = rows.select(*(each.alias(f"c{number}") for number, each in enumerate(aggregates))).toArrow().to_pylist()
    count, *values = row.values()
    found = {}
    for number, (name, of) in enumerate(columns.items()):
        filled, distinct, least, greatest, average, longest = values[6 * number : 6 * number + 6]
        width = statistics.SIZES.get(of.root, 8 if (of.size or 0) <= 18 else 16)
        if of.root in statistics.TEXTS:
            width = 20 if of.root in ("CHAR", "VARCHAR") else 100  # Spark's default if there is no value
        found[name] = statistics.ColumnStatistics(
            min(distinct, filled), count - filled, least, greatest, average or width, longest or width
        )
    return count, found


def _aggregates(column: Column, of: PaimonType) -> list[Column]:
    is_text = of.root in statistics.TEXTS
    nothing: Any = F.lit(None)
    length = F.length(column) if is_text else nothing.cast("int")
    return [
        F.count(column),
        F.approx_count_distinct(column, _ERROR),
        nothing if is_text else F.min(column),
        nothing if is_text else F.max(column),
        F.ceil(F.avg(length)),
        F.max(length),
    ]
