"""SQL over a table at one version: its files become a view, those of a second version one with the suffix `_before`.

Invariant: the view is exactly the files of the resolved snapshot, read with that snapshot's schema; the statement can
access nothing else.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from core.errors import Invalid, Unsupported
from core.formats.paimon import types
from core.messages import message
from core.model.history import History
from core.model.query_answer import QueryAnswer
from core.model.references import MAIN, Schema
from core.model.time_travel import UNWRITTEN, AsOf
from core.spark.diff.incremental import KIND, between
from core.spark.query import connector
from core.spark.read import readers, removed_points, system_tables
from core.spark.read.paimon import prune
from core.spark.read.paimon.points import (
    ROW_KIND,
    PaimonScan,
    audit_log,
    of_audit_log,
    opened_at,
    schemas_of,
    with_kind,
)
from core.spark.read.paimon.shown_columns import ddls, readable, refusals
from core.spark.read.reader import Rows, is_by_case
from core.spark.session.session import engine_name
from core.spark.sql import filters, guard
from core.spark.sql import run as sql
from core.spark.sql.filters import Condition, Pushdown
from core.table import Table, unwritten

VIEW = "t"


def views(table_name: str, *, has_before: bool) -> tuple[str, ...]:
    """The view names a statement may use: the table's own and `t`, and both with `_before` for the second version."""
    own = tuple(dict.fromkeys((table_name, VIEW)))
    return (*own, *(f"{name}_before" for name in own)) if has_before else own


def query(
    table: Table,
    statement: str,
    *,
    at: str | AsOf = "latest",
    before: str | None = None,
    since: str | None = None,
    branch: str = MAIN,
    row_cap: int = 1000,
    timeout_s: float = 60.0,
    query_id: str | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    history: History | None = None,
    engine: str = connector.PLAIN,
) -> QueryAnswer:
    """Run one SELECT over the table as of `at`; `` `t$files` `` and others are the format's system tables.

    Give `at` as it was resolved if a name may have moved since; the resolved text can name another schema.

    `` `t$audit_log` `` contains the version's rows with their row kinds: see `points`. With `since`, an earlier
    version, `t_changes` are the rows that changed since then: see core/spark/diff/incremental.py. `query_id` names the
    run for `sql.cancel` from another thread; `on_progress` is called with (tasks done, tasks known). `engine` reads the
    rows: PLAIN or the CONNECTOR of the table's format.

    Raises `Unsupported` for tables that plain Spark cannot read correctly yet, `Invalid` for a statement that is not
    allowed or fails.
    """
    history = history or table.history()
    point = at if isinstance(at, AsOf) else _resolved(table, history, at, branch)
    second, earlier = (
        removed_points.resolved(table, history.heads, each, branch) if each else None for each in (before, since)
    )
    if engine not in connector.ENGINES:
        raise Invalid(
            "not a valid engine: {engine!r}.",
            engine=engine,
            remedy=message("Use {engines}.", engines=" or ".join(connector.ENGINES)),
        )
    guard.check_text(statement, views(table.name, has_before=second is not None))
    arguments = (table, statement, point, second, earlier, row_cap, history, engine)
    points = [each for each in (point, second, earlier) if each and each.point != UNWRITTEN]
    with removed_points.explained(table, history, points, by_name=engine == connector.CONNECTOR):
        return sql.run_on_spark(
            lambda spark, run: _query(spark, run, *arguments),
            timeout_s=timeout_s,
            query_id=query_id,
            on_progress=on_progress,
        )


def _resolved(table: Table, history: History, at: str, branch: str) -> AsOf:
    return unwritten(history.heads, at, branch) or removed_points.resolved(table, history.heads, at, branch)


def _query(
    spark: SparkSession,
    run: sql.RunningStatement,
    table: Table,
    statement: str,
    at: AsOf,
    before: AsOf | None,
    since: AsOf | None,
    row_cap: int,
    history: History,
    engine: str,
) -> QueryAnswer:
    started = time.monotonic()
    own = views(table.name, has_before=False)
    audits = [name for name in (f"{each}$audit_log" for each in own) if name.lower() in statement.lower()]
    by_connector = engine == connector.CONNECTOR
    if by_connector or not history.heads.capabilities.has_row_kinds:
        _refuse_changes(since is not None, audits, by_connector=by_connector)
    of_point = _by_connector if by_connector else _of_point
    sources = [of_point(own, table, history, at)]
    if before is not None:
        sources.append(of_point([f"{name}_before" for name in own], table, history, before))
    if since is not None:
        sources.append(_of_changes([f"{name}_changes" for name in own], table, history, since, at))
    if audits:
        sources.append(_of_audit_log(audits, of_audit_log(opened_at(table, history, at))))
    known = {name for each in sources for name in each.names}
    for view, found in system_tables.views(statement, own, table, history, at):
        _frame(spark, found).createOrReplaceTempView(types.quoted(view))
        known.add(view)
    if any(is_by_case(each.schema) for each in sources):
        spark.conf.set("spark.sql.caseSensitive", "true")
    read: list[Rows] = []
    engines: list[str] = []

    def make() -> DataFrame:
        """Create the views from the files that the statement can use, and return the statement's frame."""
        if by_connector:
            engines.append(connector.loaded(spark, history.heads.format))
            wanted = [filters.ALL] * len(sources)
        else:
            tables = [(each.names, each.schema) for each in sources]
            wanted = filters.pushdowns(spark, statement, known, tables, [each.ddl for each in sources])
        for each, pushdown in zip(sources, wanted, strict=True):
            found = each.rows(spark, pushdown)
            if pushdown.condition != filters.NOTHING or len(sources) == 1:
                read.append(found)
            for name in each.names:
                found.frame.createOrReplaceTempView(types.quoted(name))
        return guard.check(spark, statement, known).frame

    is_offered = not (by_connector or since or audits)
    with connector.offered(table) if is_offered else contextlib.nullcontext():
        answer = run.answer(make, row_cap=row_cap)
    sizes = [each.bytes_read for each in read]
    return QueryAnswer(
        table=answer.table,
        truncated=answer.truncated,
        seconds=time.monotonic() - started,
        files_read=None if by_connector else sum(each.files_read for each in read),
        files_live=sum(each.files for each in read),
        point=at,
        before=before,
        engine=engine_name(*engines),
        left_out=tuple(dict.fromkeys(sentence for each in read for sentence in each.left_out)),
        differs=tuple(dict.fromkeys(sentence for each in read for sentence in each.differs)),
        bytes_read=None if None in sizes else sum(filter(None, sizes)),
    )


@dataclass(frozen=True, slots=True)
class _Source:
    """Views of the same rows, their columns, and a function returning at least the rows that a statement asks for."""

    names: Sequence[str]
    schema: Schema
    rows: Callable[[SparkSession, Pushdown], Rows]
    ddl: tuple[str, ...] | None = None


def _of_point(names: Sequence[str], table: Table, history: History, at: AsOf) -> _Source:
    with connector.offered(table):
        found = readers.source(table, history, at)
    return _Source(names, found.schema, found.rows, found.ddl)


def _by_connector(names: Sequence[str], table: Table, history: History, at: AsOf) -> _Source:
    return _Source(names, at.schema, lambda spark, _: connector.rows(spark, table, history, at))


def _of_audit_log(names: Sequence[str], of: PaimonScan) -> _Source:
    schema = with_kind(of.schema, ROW_KIND)
    ddl = ("string", *ddls(of.schema))

    def found(spark: SparkSession, pushdown: Pushdown) -> Rows:
        return audit_log(spark, of, prune.plan(of, _without_kind(pushdown.condition, schema)))

    return _Source(names, schema, found, ddl)


def _of_changes(names: Sequence[str], table: Table, history: History, since: AsOf, at: AsOf) -> _Source:
    own = readable(at.schema, refusals(at.schema, schemas_of(history.heads, at.branch).values()))
    schema = with_kind(own, KIND)
    ddl = ("string", *ddls(own))

    def found(spark: SparkSession, pushdown: Pushdown) -> Rows:
        return between(spark, table, history, since, at, _without_kind(pushdown.condition, schema)).rows

    return _Source(names, schema, found, ddl)


def _refuse_changes(since: bool, audits: Sequence[str], *, by_connector: bool) -> None:
    if since or audits:
        what = "t_changes" if since else "`t$audit_log`"
        if by_connector:
            raise Unsupported(
                "{what} is not available with a connector.", what=what, remedy="Use plain Spark (--engine plain)."
            )
        raise Unsupported(
            "{what} needs row kinds, which Paimon's files store and Iceberg's do not.",
            what=what,
            remedy="Compare two versions: --at and --before in one query, or use Diff.",
        )


def _without_kind(condition: Condition, schema: Schema) -> Condition:
    """A condition on rows with a leading kind column, renumbered for the rows without it."""
    return filters.renumbered(condition, {number: number - 1 for number in range(1, len(schema.fields))})


def _frame(spark: SparkSession, rows: pa.Table) -> DataFrame:
    """Arrow rows as a frame; without the casts, Spark would read wall-clock times as instants."""
    clocks = {field.name for field in rows.schema if pa.types.is_timestamp(field.type) and field.type.tz is None}
    frame = spark.createDataFrame(rows)
    return frame.select(*(F.col(name).cast("timestamp_ntz") if name in clocks else name for name in frame.columns))
