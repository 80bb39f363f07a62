"""The rows of a Paimon table at a version, whatever kind of table it is.

Laws: exactly the live files of the version, with its own schema and options; what the engine leaves out of a batch read
is left out and reported. Until the frame is used, only metadata is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from core.errors import Unsupported
from core.formats.paimon import scan_details
from core.formats.paimon.format import PaimonFormat
from core.formats.paimon.scan_details import FileKey, Range, Vector
from core.formats.paimon.types import PaimonType, parse
from core.messages import told
from core.model.history import History
from core.model.references import Field, Heads, Line, Schema, Snapshot
from core.model.time_travel import AsOf
from core.spark.merge.rules import is_on
from core.spark.read.paimon import frames as read
from core.spark.read.paimon import merge_on_read
from core.spark.read.reader import Rows
from core.table import Table

ROW_KIND = "rowkind"
DECIDES = re.compile(  # options that decide what merging answers
    r"merge-engine|sequence\.|fields\.|deletion-vectors\.enabled|deletion-vectors\.merge|changelog-producer$|"
    r"force-lookup|(.*\.)?ignore-delete|.*\.remove-record-on-"
)
_ELSEWHERE = re.compile(r"scan\.(fallback|primary)-branch")  # options that bring rows of another branch


@dataclass(frozen=True)
class PaimonScan:
    """A point with all that reading its rows takes, from metadata alone."""

    table: Table
    snapshot: Snapshot
    schema: Schema
    schemas: Mapping[int, Schema]
    files: pa.Table
    ranges: Mapping[FileKey, Range]
    vectors: Mapping[FileKey, Vector]
    plan: merge_on_read.ReadPlan
    differs: tuple[str, ...]


def opened(table: Table, history: History, point: str, snapshot: Snapshot, branch: str, schema: Schema) -> PaimonScan:
    """What a holder's point takes to be read. `Unsupported` by name for what cannot be right, `Corrupt` for what is
    not whole."""
    read.refuse_unreadable(schema, schema.options)
    files = history.files_at(history.require(point))
    schemas, manifests = schemas_of(history.heads, branch), PaimonFormat.of(table.format).manifests
    ranges = scan_details.ranges(manifests, snapshot, files) if schema.primary_keys else {}
    has_vectors = is_on(schema.options, "deletion-vectors.enabled")
    vectors = scan_details.vectors(manifests, history.heads, snapshot) if has_vectors else {}
    return PaimonScan(
        table=table,
        snapshot=snapshot,
        schema=schema,
        schemas=schemas,
        files=files,
        ranges=ranges,
        vectors=vectors,
        plan=merge_on_read.plan(schema, schemas, files, ranges, vectors),
        differs=(*_differs(schema, history.heads, branch), *cut_off(schema)),
    )


def opened_at(table: Table, history: History, at: AsOf) -> PaimonScan:
    """The same for a point as it was resolved."""
    return opened(table, history, at.point, at.snapshot, at.branch, at.schema)


def rows(
    spark: SparkSession, of: PaimonScan, plan: merge_on_read.ReadPlan | None = None, *, kinds: str | None = None
) -> Rows:
    """The rows of an opened point; with a `plan` of fewer files those of them.

    With `kinds` also what merging leaves of deleted rows, and a first column of that name: +I, -U, +U or -D."""
    plan = of.plan if plan is None else plan
    store, schema, schemas = of.table.store, of.schema, of.schemas
    merged = plan.files - len(plan.raw)
    plan = merge_on_read.in_python(
        plan, lambda form, number: number not in schemas or read.by_jvm(store, form, schemas[number])
    )
    parts = read.stored(spark, store, schema, schemas, plan.raw, kinds=kinds)
    if plan.work:
        parts.append(merge_on_read.frame(spark, store, schema, schemas, plan.work, kinds=kinds))
    return Rows(
        frame=reduce(DataFrame.unionAll, parts) if parts else read.empty(spark, schema, kinds=kinds),
        files=len(of.files),
        files_read=plan.files,
        merged=merged,
        left_out=plan.left_out,
        differs=of.differs,
        bytes_read=plan.bytes,
    )


def audit_log(spark: SparkSession, of: PaimonScan, plan: merge_on_read.ReadPlan | None = None) -> Rows:
    """Paimon's `t$audit_log` in a batch: the rows of the point with `rowkind` before them; in a primary-key table also
    the deleted ones that are still in its files, each as its merging left it. `plan` as in `rows`."""
    return rows(spark, of, plan, kinds=ROW_KIND)


def with_kind(schema: Schema, kind: str) -> Schema:
    """The schema with a column for the kind of each row before its own. `Unsupported` where it has one of that name."""
    if any(field.name.casefold() == kind for field in schema.fields):
        raise Unsupported("The table has a column '{kind}' of its own, so its rows would have two.", kind=kind)
    return replace(schema, fields=(Field(-1, kind, "STRING"), *schema.fields))


def rows_at(
    spark: SparkSession, table: Table, history: History, point: str, snapshot: Snapshot, branch: str, schema: Schema
) -> Rows:
    """The rows at a holder's point; see `opened`."""
    return rows(spark, opened(table, history, point, snapshot, branch, schema))


def _differs(schema: Schema, heads: Heads, branch: str) -> tuple[str, ...]:
    """Paimon reads the past with today's options; here a point is read with its own, as it was read then."""
    return tuple(
        told(
            "Paimon itself reads this point with today's '{name}' ({today}); this is with the point's own ({own})",
            name=name,
            today=today,
            own=own,
        )
        for name, today, own in decided(schema, heads, branch)
    )


def cut_off(schema: Schema) -> tuple[str, ...]:
    """What Spark has no place for, in a sentence where there is any."""
    names = [field.name for field in schema.fields if _has_nanos(parse(field.type))]
    if not names:
        return ()
    return (
        told(
            "Spark keeps six digits of a second, so later ones of {columns} are cut off, in comparisons too",
            columns=", ".join(f"'{name}'" for name in names),
        ),
    )


def _has_nanos(of: PaimonType) -> bool:
    if of.root in ("TIMESTAMP", "TIMESTAMP_LTZ"):
        return (of.size or 0) > 6
    return any(map(_has_nanos, (*of.args, *(field.type for field in of.fields))))


def decided(schema: Schema, heads: Heads, branch: str) -> list[tuple[str, str, str]]:
    """Options that decide which rows there are, or what merging answers, and have changed since the point: name, value
    today, value then."""
    line = heads.line(branch)
    today = line.options if line is not None else {}
    names = sorted(
        name
        for name in {*today, *schema.options}
        if _ELSEWHERE.fullmatch(name) or (schema.primary_keys and DECIDES.match(name))
    )
    return [
        (name, today.get(name, told("not set")), schema.options.get(name, told("not set")))
        for name in names
        if today.get(name) != schema.options.get(name)
    ]


def schemas_of(heads: Heads, branch: str) -> dict[int, Schema]:
    """Schemas a point's files may name: its branch's own, else main's (a branch shares files with main)."""
    line: Line | None = heads.line(branch)
    return {**heads.main.schemas, **(line.schemas if line is not None else {})}
