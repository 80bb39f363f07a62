"""The changes between two versions of a branch, with row kinds: Paimon's `incremental-between`.

Invariants, as in the engine (docs/paimon.md §10.1):
- For an append table, the changes are the rows in files that the APPEND commits in between added, as written; for a
  primary-key table that writes changelogs, the changelog rows of the commits in between. OVERWRITE commits are skipped.
- If one version is a tag, or a primary-key table has no changelogs, the changes are the difference of the rows: for a
  changed row the old one (-U) and the new one (+U). The engine itself compares only the files that the versions do not
  share: it returns no old row, and also returns rows that were rewritten unchanged.
- If a commit in between is gone or cannot be read this way, the difference is used, with the reason. The answer states
  which mode was used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from core.errors import Invalid
from core.formats.paimon import scan_details
from core.formats.paimon.format import PaimonFormat
from core.formats.paimon.manifests import ADD
from core.formats.paimon.types import parse
from core.messages import counted, message
from core.model.history import History
from core.model.references import Schema, Snapshot
from core.model.row_diff import CHANGED
from core.model.time_travel import AsOf
from core.spark.diff.compare import Compared, columns_between, compare, key_ids
from core.spark.read.paimon import frames as read
from core.spark.read.paimon import merge_on_read, points, postponed, prune, unread_options
from core.spark.read.paimon.points import PaimonScan
from core.spark.read.paimon.shown_columns import ddls, narrowed, raising, readable, refusals, stored_id, widened
from core.spark.read.reader import Rows
from core.spark.sql import filters
from core.spark.sql.filters import Condition
from core.table import Table

KIND = "_rowkind"
DELTA, CHANGELOG, DIFF = "delta", "changelog", "diff"
_WINDOW = "compacted-changelog-"  # an entry that is part of another bucket's file


@dataclass(frozen=True)
class Between:
    """The changes: `rows` with `_rowkind` and the later version's columns, and how they were found (`mode`)."""

    mode: str
    rows: Rows


def between(
    spark: SparkSession,
    table: Table,
    history: History,
    since: AsOf,
    at: AsOf,
    condition: Condition = filters.EVERYTHING,
) -> Between:
    """The changes after `since` up to `at`.

    Changes that `condition`, on the later version's columns, excludes may be missing. Raises `Invalid` unless these are
    two versions of one branch in this order.
    """
    if since.branch != at.branch or since.snapshot.id > at.snapshot.id:
        raise Invalid(
            ("{since} does not come before {at} on the same branch, so there are no changes between them."),
            since=since.point,
            at=at.point,
            remedy="Give the earlier version as the start of the changes.",
        )
    mode = CHANGELOG if at.schema.primary_keys else DELTA
    try:
        if "tag:" in since.point or "tag:" in at.point:
            raise _NotByFiles(message("a tag was named"))
        if mode == CHANGELOG and at.schema.options.get("changelog-producer", "none").strip().lower() == "none":
            raise _NotByFiles(message("the table writes no changelog"))
        if points.is_joined(at.schema):
            raise _NotByFiles(message("several files hold different columns of the same rows"))
        if postponed.is_on(at.schema):
            raise _NotByFiles(message("rows of the postpone bucket are merged when they are read"))
        if points.adds_rows(at.schema, at.branch):
            raise _NotByFiles(message("the table has rows of another branch"))
        return _by_files(spark, table, history, since, at, mode, condition)
    except _NotByFiles as why:
        a, b = (points.opened_at(table, history, point) for point in (since, at))
        found = compare(spark, a, b, plans=_pruned(a, b, condition))
        note = message(
            "Changes are the difference between the rows at {since} and at {at} ({diff}): {why}",
            since=since.point,
            at=at.point,
            diff=DIFF,
            why=why.args[0],
        )
        return Between(DIFF, _rows(_rows_of(found, b.schema), found.files_read, found.files_live, note, *found.notes))


class _NotByFiles(Exception):
    """Why the files of the commits in between do not determine the changes: the second half of a sentence."""


def _by_files(
    spark: SparkSession, table: Table, history: History, since: AsOf, at: AsOf, mode: str, condition: Condition
) -> Between:
    unread_options.refuse(at.schema.options)
    commits = _commits(history, since, at)
    taken = [each for each in commits if (each.kind == "APPEND" if mode == DELTA else each.kind != "OVERWRITE")]
    parts = [scan_details.brought(PaimonFormat.of(table.format).manifests, history.heads, each, mode) for each in taken]
    for commit, part in zip(taken, parts, strict=True):
        if pc.any(pc.not_equal(part["kind"], ADD)).as_py():
            raise _NotByFiles(message("APPEND commit {id} also removed files", id=commit.id))
        if any(_WINDOW in path for path in part["path"].to_pylist()):
            raise _NotByFiles(
                message("the changelog of commit {id} was compacted into files of several buckets", id=commit.id)
            )
    files = pa.concat_tables(parts) if parts else history.files.slice(0, 0)
    schemas = points.schemas_of(history.heads, at.branch)
    refused = refusals(at.schema, schemas.values())
    schema = readable(at.schema, refused)
    narrow = narrowed(schema, [number for number, each in enumerate(schema.fields) if each.name not in refused])

    def stats(of: pa.Table) -> dict[scan_details.FileKey, dict[str, Any]]:
        stats = (scan_details.stats(table.store, each, of, (mode,)) for each in taken)
        return {key: row for each in stats for key, row in each.items()}

    _, kept = prune.left(schema, schemas, files, condition, stats)  # rows are not merged here
    changed_files = files.filter(pc.is_in(files["path"], pa.array(sorted(kept), pa.string())))
    frames = read.stored(spark, table.store, narrow, schemas, changed_files, kinds=KIND)
    passed = sum(each.kind == "OVERWRITE" for each in commits)
    what = (
        message("rows as the APPEND commits wrote them") if mode == DELTA else message("the changelogs of the commits")
    )
    notes: list[str] = [
        message(
            "Changes are {what} after {since} up to {at} ({mode})", what=what, since=since.point, at=at.point, mode=mode
        )
    ]
    notes += points.cut_off(schema)
    if passed:
        notes.append(
            message(
                "{passed} skipped, as the engine does",
                passed=counted(passed, "{count} OVERWRITE commit", "{count} OVERWRITE commits"),
            )
        )
    frame = reduce(DataFrame.unionAll, frames or [read.empty(spark, narrow, kinds=KIND)])
    frame = widened(frame, narrow, schema, refused, KIND)
    return Between(
        mode,
        _rows(frame, len(changed_files), len(files), *notes, bytes_read=pc.sum(changed_files["bytes"]).as_py() or 0),
    )


def _pruned(
    a: PaimonScan, b: PaimonScan, condition: Condition
) -> tuple[merge_on_read.ReadPlan, merge_on_read.ReadPlan]:
    """The files of two versions to compare for the requested rows.

    Rows are compared by key: only with both versions' rows of a key can a changed row be told from a new one. Without a
    key, equal rows are counted, and those agree in all columns.
    """
    left_out = columns_between(a, b).left_out
    ids = key_ids(b.schema)
    if ids != key_ids(a.schema):
        return a.plan, b.plan
    fixed = {
        number: field
        for number, field in enumerate(b.schema.fields)
        if (field.id in ids or not ids) and stored_id(field) not in left_out and filters.kind(parse(field.type))
    }

    def of(point: PaimonScan) -> merge_on_read.ReadPlan:
        own = {field.id: (number, field) for number, field in enumerate(point.schema.fields)}
        numbers = {
            number: own[field.id][0]
            for number, field in fixed.items()
            if field.id in own and filters.kind(parse(own[field.id][1].type)) == filters.kind(parse(field.type))
        }
        return prune.plan(point, filters.renumbered(condition, numbers))

    return of(a), of(b)


def _rows(frame: DataFrame, files_read: int, files: int, *notes: str, bytes_read: int | None = None) -> Rows:
    return Rows(frame, files, files_read, merged=0, left_out=(), differs=notes, bytes_read=bytes_read)


def _commits(history: History, since: AsOf, at: AsOf) -> Sequence[Snapshot]:
    """Every commit after `since` up to `at`."""
    line = history.heads.line(at.branch)
    found = {each.id: each for each in (line.snapshots if line is not None else ())}
    ids = range(since.snapshot.id, at.snapshot.id + 1)
    if gone := next((id for id in ids if id not in found), None):
        raise _NotByFiles(message("commit {gone} is no longer retained", gone=gone))
    return [found[id] for id in ids[1:]]


def _rows_of(found: Compared, schema: Schema) -> DataFrame:
    """A comparison as rows with row kinds, with the columns of the later version; those left out say why, if used."""
    kind = F.col("kind")

    def side(name: str, alone: str, changed: str) -> Column:
        values = (
            (F.col(f"k{at}") if each.is_key else F.col(name)[f"c{at}"]).alias(f"v{at}")
            for at, each in enumerate(found.columns)
        )
        row = F.struct(F.when(kind == CHANGED, changed).otherwise(alone).alias("kind"), *values)
        return F.when(F.col(name).isNotNull(), F.array_repeat(row, F.col("times").cast("int")))

    sides = F.array(side("a", "-D", "-U"), side("b", "+I", "+U"))
    rows = found.frame.select(F.explode(F.flatten(F.array_compact(sides))).alias("row"))
    numbers = {each.after.id: at for at, each in enumerate(found.columns) if each.after is not None}
    shown = (
        F.col("row")[f"v{numbers[field.id]}"].alias(field.name) if field.id in numbers
        else raising(found.left_out[stored_id(field)][1], ddl).alias(field.name)
        for field, ddl in zip(schema.fields, ddls(schema), strict=True)
    )  # fmt: skip
    return rows.select(F.col("row")["kind"].alias(KIND), *shown)
