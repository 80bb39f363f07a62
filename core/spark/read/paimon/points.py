"""The rows of a Paimon table at a version, for every kind of table.

Invariants: exactly the live files of the version are read, with its own schema and options; what the engine leaves out
of a batch read is left out and reported. Until the frame is used, only metadata is read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from core.errors import Corrupt, SnapscopeError, Unsupported
from core.formats.paimon import scan_details, schema_evolution
from core.formats.paimon.format import PaimonFormat
from core.formats.paimon.scan_details import FileKey, Range, Vector, keys_of
from core.formats.paimon.types import PaimonType, parse
from core.messages import message
from core.model.history import History
from core.model.references import Field, Heads, Line, Schema, Snapshot
from core.model.time_travel import AsOf
from core.spark.merge.rules import is_on
from core.spark.read.paimon import chain_tables, data_evolution, merge_on_read, postponed, unread_options
from core.spark.read.paimon import frames as read
from core.spark.read.paimon.changed_options import differs, elsewhere
from core.spark.read.paimon.shown_columns import narrowed, readable, refusals, widened
from core.spark.read.reader import Rows
from core.table import Table

ROW_KIND = "rowkind"


@dataclass(frozen=True)
class PaimonScan:
    """A version with everything needed to read its rows, from metadata alone."""

    table: Table
    snapshot: Snapshot
    schema: Schema
    schemas: Mapping[int, Schema]
    files: pa.Table
    ranges: Mapping[FileKey, Range]
    vectors: Mapping[FileKey, Vector]
    plan: merge_on_read.ReadPlan
    differs: tuple[str, ...]
    refused: Mapping[str, SnapscopeError]
    """Columns that cannot be shown; `schema` has texts in their place."""
    other: PaimonScan | None = None
    """Another branch, where its rows are the table's in partitions that this one lacks."""


def opened(table: Table, history: History, point: str, snapshot: Snapshot, branch: str, schema: Schema) -> PaimonScan:
    """What a holder's point takes to be read. `Unsupported` by name for what cannot be right, `Corrupt` for what is
    not whole."""
    files = history.files_of(point)
    if (names := chain_tables.branches(schema, branch)) is not None:
        return _chained(table, history, point, snapshot, branch, schema, names)
    name = other_branch(schema, branch)
    if name is None:
        return _opened(table, history, snapshot, branch, schema, files)
    _, is_first = name
    line = history.heads.line(name[0])
    if line is None or not line.snapshots:
        note = message("A table option names branch '{name}', which has no snapshot: it adds no rows", name=name[0])
        found = _opened(table, history, snapshot, branch, schema, files)
        return replace(found, differs=(*found.differs, note))
    holder, then, columns = _beside(history.heads, branch, snapshot, schema, line)
    theirs = _same_columns(schema, columns, name[0])
    others = history.files_at(history.require(holder))
    first, second = (others, files) if is_first else (files, others)
    had = pc.unique(first["partition_bytes"].combine_chunks())
    second = second.filter(pc.invert(pc.is_in(second["partition_bytes"], had)))
    files, others = (second, first) if is_first else (first, second)
    ours = schemas_of(history.heads, branch).values()
    found = _opened(table, history, snapshot, branch, schema, files, line.schemas.values())
    other = _opened(table, history, then, name[0], theirs, others, ours)
    note = message(
        "Partitions that branch '{first}' lacks are read from branch '{second}' ({point})",
        first=name[0] if is_first else branch,
        second=branch if is_first else name[0],
        point=holder,
    )
    return replace(found, other=other, plan=replace(found.plan, other=other.plan), differs=(*found.differs, note))


def _chained(
    table: Table,
    history: History,
    point: str,
    snapshot: Snapshot,
    branch: str,
    schema: Schema,
    names: tuple[str, str],
) -> PaimonScan:
    """As `opened`, of a chain table. Partitions of other branches are a scan of their own, by the options of the delta
    branch. Files of the snapshot branch have the numbers of its schemas turned into negative ones there."""
    full, delta = (chain_tables.line(history.heads, name) for name in names)
    then = chain_tables.beside(history.heads, branch, point, snapshot, full, delta)
    holders = [f"branch:{of.branch}/{each.id}" if each else None for of, each in zip((full, delta), then, strict=True)]
    own, fulls, deltas = (
        history.files.slice(0, 0) if each is None else history.files_of(each) for each in (point, *holders)
    )
    theirs = _same_columns(schema, delta.schema, names[1])
    _same_columns(schema, full.schema, names[0])
    (seen, _), (fulls, late), (deltas, later) = (
        _batch(*each) for each in ((schema, own), (full.schema or theirs, fulls), (theirs, deltas))
    )
    apart = chain_tables.partitions(theirs, *(_partitions(each) for each in (seen, fulls, deltas)))
    manifests = PaimonFormat.of(table.format).manifests
    parts, ranges, buckets = [], dict[FileKey, Range](), dict[bytes, set[int]]()
    vectors: dict[FileKey, Vector] = {}
    for files, at, is_full in ((fulls, then[0], True), (deltas, then[1], False)):
        if at is None:
            continue
        known = scan_details.ranges(manifests, at, files)
        gone = scan_details.vectors(manifests, history.heads, at)
        for key, entry in scan_details.stats(table.store, at, files).items():
            buckets.setdefault(key[0], set()).add(entry["total_buckets"])
        if is_full:
            files = files.set_column(
                files.column_names.index("schema_id"), "schema_id", pc.subtract(-1, files["schema_id"])
            )
        for each in apart:
            used = [each.full] if is_full and each.full is not None else [] if is_full else list(each.deltas)
            some = files.filter(pc.is_in(files["partition_bytes"], pa.array(used, pa.binary())))
            moved = pa.array([each.stored] * len(some), some["partition_bytes"].type)
            taken = some.set_column(some.column_names.index("partition_bytes"), "partition_bytes", moved)
            parts.append(taken)
            pairs = list(zip(keys_of(some), keys_of(taken), strict=True))
            ranges |= {new: known[old] for old, new in pairs}
            vectors |= {new: gone[old] for old, new in pairs if old in gone}
    chain_tables.refuse_buckets(apart, buckets)
    schemas = {**schemas_of(history.heads, delta.branch)}
    schemas |= {-1 - number: each for number, each in schemas_of(history.heads, full.branch).items()}
    found = _opened(table, history, snapshot, branch, schema, own, schemas.values())
    if not parts:
        return found
    unread_options.refuse(theirs.options)
    refused = refusals(theirs, (*schemas.values(), *found.schemas.values()))
    theirs = readable(theirs, refused)
    files = pa.concat_tables(parts)
    other = PaimonScan(
        table=table,
        snapshot=then[1] or then[0] or snapshot,
        schema=theirs,
        schemas=schemas,
        files=files,
        ranges=ranges,
        vectors=vectors,
        plan=replace(
            merge_on_read.plan(theirs, schemas, files, ranges, vectors, chained=True), left_out=(*late, *later)
        ),
        differs=(),
        refused=refused,
    )
    note = message(
        "Partitions that branch '{own}' lacks are those of branch '{full}' ({at}), with the changes of branch "
        "'{delta}' ({then}) since",
        own=branch,
        full=full.branch,
        at=holders[0] or message("no snapshot"),
        delta=delta.branch,
        then=holders[1] or message("no snapshot"),
    )
    return replace(found, other=other, plan=replace(found.plan, other=other.plan), differs=(*found.differs, note))


def _batch(schema: Schema, files: pa.Table) -> tuple[pa.Table, tuple[str, ...]]:
    """The files of one branch of a chain table that a batch read includes, and sentences about the others."""
    skips = is_on(schema.options, "deletion-vectors.enabled")
    skips = skips and not is_on(schema.options, "deletion-vectors.merge-on-read")
    return merge_on_read.taken(files, skips_level_0=skips, why="vectors")


def _partitions(files: pa.Table) -> list[bytes]:
    found: list[bytes] = pc.unique(files["partition_bytes"].combine_chunks()).to_pylist()
    return found


def adds_rows(schema: Schema, branch: str) -> bool:
    """Whether the table has rows of another branch."""
    return other_branch(schema, branch) is not None or chain_tables.branches(schema, branch) is not None


def other_branch(schema: Schema, branch: str) -> tuple[str, bool] | None:
    """The branch whose partitions are read as well, and whether they take precedence over the table's own."""
    for option, is_first in (("scan.fallback-branch", False), ("scan.primary-branch", True)):
        if (name := schema.options.get(option, "").strip()) and name != branch:
            return name, is_first
    return None


def is_joined(schema: Schema) -> bool:
    """Whether files of the table may hold different columns of the same rows."""
    return not schema.primary_keys and data_evolution.is_on(schema.options)


def _beside(
    heads: Heads, branch: str, snapshot: Snapshot, schema: Schema, other: Line
) -> tuple[str, Snapshot, Schema | None]:
    """The other branch's snapshot that is read with this one, and its schema: the newest with the newest, else the last
    one that was there then, or its first, with its own schema."""
    own = heads.line(branch)
    ordered = sorted(other.snapshots, key=lambda each: each.id)
    if own is None or snapshot.id < max((each.id for each in own.snapshots), default=snapshot.id):
        ordered = [each for each in ordered if each.time_ms <= snapshot.time_ms] or ordered[:1]
    found = ordered[-1]
    is_newest = own is not None and own.schema is not None and schema.id == own.schema.id
    return f"branch:{other.branch}/{found.id}", found, other.schema if is_newest else other.schemas.get(found.schema_id)


def _same_columns(schema: Schema, theirs: Schema | None, name: str) -> Schema:
    if theirs is None:
        raise Corrupt("Branch '{name}' lacks the schema of its snapshot.", name=name)
    fields = schema.fields, theirs.fields
    if len(fields[0]) != len(fields[1]) or not all(map(_same_type, *fields)):
        raise Unsupported(
            "Branch '{name}' has other columns than the table, and a table option says to read partitions from it.",
            name=name,
            remedy="Query one branch (--branch), or change the option.",
        )
    return theirs


def _same_type(ours: Field, theirs: Field) -> bool:
    try:
        return schema_evolution.same(parse(ours.type), parse(theirs.type))
    except SnapscopeError:  # an unknown type, which is not read
        return ours.type == theirs.type


def _opened(
    table: Table,
    history: History,
    snapshot: Snapshot,
    branch: str,
    schema: Schema,
    files: pa.Table,
    beside: Iterable[Schema] = (),
) -> PaimonScan:
    """As `opened`, of these files. `beside`: schemas of the other branch, which refuse its columns here as well."""
    unread_options.refuse(schema.options)
    if postponed.is_on(schema) and adds_rows(schema, branch):
        raise Unsupported(
            "The table has rows of another branch, and its option '{name}' is true.",
            name=postponed.ENABLED,
            remedy=message("Query one branch (--branch), or change one of the options."),
        )
    schemas = schemas_of(history.heads, branch)
    refused = refusals(schema, (*schemas.values(), *beside))
    schema = readable(schema, refused)
    manifests = PaimonFormat.of(table.format).manifests
    ranges = scan_details.ranges(manifests, snapshot, files) if schema.primary_keys and len(files) else {}
    ids = scan_details.row_ids(manifests, snapshot, files) if is_joined(schema) and len(files) else None
    has_vectors = is_on(schema.options, "deletion-vectors.enabled") and len(files) > 0
    vectors = scan_details.vectors(manifests, history.heads, snapshot) if has_vectors else {}
    orders = None
    if postponed.is_on(schema):
        late = files.filter(pc.less(files["bucket"], 0))
        orders = postponed.orders(scan_details.created(manifests, snapshot, late) if len(late) else {})
    return PaimonScan(
        table=table,
        snapshot=snapshot,
        schema=schema,
        schemas=schemas,
        files=files,
        ranges=ranges,
        vectors=vectors,
        plan=merge_on_read.plan(schema, schemas, files, ranges, vectors, ids, orders=orders),
        differs=(
            *differs(schema, history.heads, branch),
            *elsewhere(history.heads, branch, snapshot.id),
            *cut_off(schema),
        ),
        refused=refused,
    )


def opened_at(table: Table, history: History, at: AsOf) -> PaimonScan:
    """As `opened`, for a resolved version."""
    return opened(table, history, at.point, at.snapshot, at.branch, at.schema)


def rows(
    spark: SparkSession,
    of: PaimonScan,
    plan: merge_on_read.ReadPlan | None = None,
    *,
    kinds: str | None = None,
    columns: Collection[int] | None = None,
) -> Rows:
    """The rows of an opened point; with a `plan` of fewer files those of them, with `columns`, numbers of those that
    will be looked at, others may be null.

    With `kinds` also what merging leaves of deleted rows, and a first column of that name: +I, -U, +U or -D.
    """
    plan = of.plan if plan is None else plan
    store, schema, schemas = of.table.store, narrowed(of.schema, _without(of, columns)), of.schemas
    merged = plan.files - len(plan.raw)
    plan = merge_on_read.in_python(
        plan, lambda form, number: number not in schemas or read.by_jvm(store, form, schemas[number], schema)
    )
    parts = read.stored(spark, store, schema, schemas, plan.raw, kinds=kinds)
    if plan.work:
        parts.append(merge_on_read.frame(spark, store, of.schema, schemas, plan.work, kinds=kinds, narrow=schema))
    frame = reduce(DataFrame.unionAll, parts) if parts else read.empty(spark, schema, kinds=kinds)
    found = Rows(
        frame=widened(frame, schema, of.schema, of.refused, kinds),
        files=len(of.files),
        files_read=plan.files,
        merged=merged,
        left_out=plan.left_out,
        differs=of.differs,
        bytes_read=plan.bytes,
    )
    if of.other is None or plan.other is None:
        return found
    more = rows(spark, of.other, plan.other, kinds=kinds, columns=columns)
    return Rows(
        frame=found.frame.unionAll(more.frame),
        files=found.files + more.files,
        files_read=found.files_read + more.files_read,
        merged=found.merged + more.merged,
        left_out=(*found.left_out, *more.left_out),
        differs=(*found.differs, *more.differs),
        bytes_read=(found.bytes_read or 0) + (more.bytes_read or 0),
    )


def _without(of: PaimonScan, columns: Collection[int] | None) -> Collection[int] | None:
    """The columns to read: those that will be looked at and can be shown."""
    if not of.refused:
        return columns
    asked = range(len(of.schema.fields)) if columns is None else columns
    return [number for number in asked if of.schema.fields[number].name not in of.refused]


def of_audit_log(of: PaimonScan) -> PaimonScan:
    """The version as the engine's audit log reads it: without rows of the postpone bucket, whatever the table says."""
    if not postponed.is_on(of.schema):
        return of
    return replace(of, plan=merge_on_read.plan(of.schema, of.schemas, of.files, of.ranges, of.vectors))


def audit_log(spark: SparkSession, of: PaimonScan, plan: merge_on_read.ReadPlan | None = None) -> Rows:
    """Paimon's `t$audit_log` in a batch read: the rows of the version with a leading column `rowkind`.

    In a primary-key table it includes deleted rows that are still in its files, each as merged. `plan` as in `rows`.
    """
    return rows(spark, of, plan, kinds=ROW_KIND)


def with_kind(schema: Schema, kind: str) -> Schema:
    """The schema with a leading column for row kinds. Raises `Unsupported` if it already has a column of that name."""
    if any(field.name.casefold() == kind for field in schema.fields):
        raise Unsupported(
            "The table already has a column '{kind}', so its rows would have two.",
            kind=kind,
            remedy=message("Query the table's rows, or compare two versions in Diff."),
        )
    return replace(schema, fields=(Field(-1, kind, "STRING"), *schema.fields))


def rows_at(
    spark: SparkSession, table: Table, history: History, point: str, snapshot: Snapshot, branch: str, schema: Schema
) -> Rows:
    """The rows at a holder's version; see `opened`."""
    return rows(spark, opened(table, history, point, snapshot, branch, schema))


def cut_off(schema: Schema) -> tuple[str, ...]:
    """A sentence about digits of times that Spark cannot represent, if there are any."""
    names = [field.name for field in schema.fields if _has_nanos(parse(field.type))]
    if not names:
        return ()
    return (
        message(
            ("Spark keeps six decimals of a second; further decimals of {columns} are cut off, also in comparisons"),
            columns=", ".join(f"'{name}'" for name in names),
        ),
    )


def _has_nanos(of: PaimonType) -> bool:
    if of.root in ("TIMESTAMP", "TIMESTAMP_LTZ"):
        return (of.size or 0) > 6
    return any(map(_has_nanos, (*of.args, *(field.type for field in of.fields))))


def schemas_of(heads: Heads, branch: str) -> dict[int, Schema]:
    """Schemas that a version's files may name: its branch's own, else main's (a branch shares files with main)."""
    line: Line | None = heads.line(branch)
    return {**heads.main.schemas, **(line.schemas if line is not None else {})}
