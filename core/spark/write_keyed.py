"""Writes tables with a primary key and fixed buckets: upserts and deletes become sorted files of level 0.

Laws: what a file holds of a batch is what the engine's write buffer would have left of the same rows in the same order;
a row's number is greater than all numbers its bucket has in the table the commit is built on, so that the later commit
wins: where others wrote to the bucket meanwhile the rows are numbered anew. Rows of a frame are in the order of its
partitions, and in these as they come. What the engine could not merge again is refused.
"""

from __future__ import annotations

import contextlib
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from core.errors import Conflict, Invalid, Unsupported
from core.formats.paimon import binary_row, commit, documents, key_rows, layout, partitions, references, types
from core.formats.paimon.commit import Change, Choose, Stamp
from core.formats.paimon.entries import NewFile, Record
from core.formats.paimon.manifest import SOURCE_APPEND
from core.formats.paimon.types import Source, parse
from core.model import Schema, Snapshot
from core.spark import aggregates, key_files, write
from core.spark.merge import KIND, LEVEL, SEQUENCE, codes, merge
from core.spark.merge_rule import AGGREGATION, DEDUPLICATE, FIRST_ROW, PARTIAL_UPDATE, MergeRule, merge_rule
from core.spark.read import KINDS
from core.spark.told import heard, telling
from core.store import Store

Bucket: TypeAlias = tuple[bytes, int]

_KIND, _ORDER, _PARTITION, _BUCKET = "__kind", "__order", "__partition", "__bucket"
_TRIES = 5
_RETRACTIONS = pa.array([1, 3], pa.int8())


class _Overtaken(Conflict):
    """Others wrote to the same buckets; the same rows may be written again."""


def create_table(
    location: str | Store,
    columns: Sequence[tuple[str, Source]],
    *,
    primary_keys: Sequence[str],
    time_ms: int,
    partition_keys: Sequence[str] = (),
    options: Mapping[str, str],
    comment: str | None = None,
) -> Schema:
    """Create a table with a primary key; `options` name its number of buckets. See `references.create_table`."""
    store = write._store(location)
    return references.create_table(
        store,
        columns,
        time_ms=time_ms,
        partition_keys=partition_keys,
        options=options,
        comment=comment,
        primary_keys=primary_keys,
    )


def upsert(location: str | Store, rows: DataFrame, at: Stamp, *, kinds: str | None = None) -> Snapshot:
    """Write rows that replace, update or join those with the same keys, as the table's merge engine has it.

    `kinds` names a column that is not stored, with each row's kind (`+I`, `+U`, `-U`, `-D`); without it the table's
    option `rowkind.field` does, else all rows are inserted. `Conflict` where others kept writing to the same buckets.
    """
    return _written(location, rows, at, kinds, "WRITE")


def delete(location: str | Store, rows: DataFrame, at: Stamp) -> Snapshot:
    """Delete rows by their keys; columns that the frame has not are null.

    `Unsupported` where the table's options would leave the rows there; retractions of another kind are an `upsert`'s.
    """
    schema = references.read_head(write._store(location), at.branch).schema
    documents.refuse_unwritable_keyed(schema)
    missing = [field for field in schema.fields if field.name not in rows.columns]
    ordering = _ordering_deletes(merge_rule(schema))
    for field in missing:
        if field.name in ordering:
            raise Invalid(f"Rows to be deleted need the column '{field.name}', which orders them: null is the oldest.")
        if not parse(field.type).nullable:
            raise Invalid(f"Rows to be deleted need the column '{field.name}', which may not be null.")
    nothing = {field.name: F.lit(None).cast(types.spark(parse(field.type))) for field in missing}
    return _written(location, rows.withColumns({**nothing, _KIND: F.lit("-D")}), at, _KIND, "DELETE")


def _ordering_deletes(rule: MergeRule) -> set[str]:
    """The columns that say whether a deleted row is newer than the one there; `Unsupported` if it removes none."""
    removing = [group for group in rule.groups if group.removes]
    if rule.ignore_delete or not (rule.engine == DEDUPLICATE or rule.remove_on_delete or removing):
        raise Unsupported(
            f"Deleted rows would stay there: of a table of the merge engine '{rule.engine}' with these options a delete"
            " removes no row.",
            remedy="Set the engine's option that removes rows on delete.",
        )
    return {*rule.sequence, *(name for group in removing for name in group.sequence)}


def overwrite(
    location: str | Store,
    rows: DataFrame | None,
    named: Sequence[Mapping[str, Any]],
    at: Stamp,
    *,
    kinds: str | None = None,
) -> Snapshot:
    """Replace the named partitions by these rows, or by none; see `commit.overwrite` for how they are named."""
    store = write._store(location)
    if not named:
        raise Invalid("No partition was named to overwrite.", remedy="Name one; {} means the whole table.")

    def choose(files: Sequence[NewFile]) -> Choose:
        def of(head: references.Head, live: list[Record]) -> list[Record]:
            matches = commit.matcher(head, named)
            if any(not matches(file.partition) for file in files):
                raise Invalid("A row lies outside of the partitions that were named to be overwritten.")
            return [entry for entry in live if matches(entry["_PARTITION"])]

        return of

    refuse = documents.refuse_unwritable_keyed
    if rows is None:
        return commit.run(store, Change("OVERWRITE", "TRUNCATE", (), choose(()), refuse=refuse), at)
    with _stage(store, rows, at, kinds, {}) as (_, waiting):
        files = write._placed(store, waiting, at)
        return commit.run(store, Change("OVERWRITE", "OVERWRITE", files, choose(files), refuse=refuse), at)


def _written(location: str | Store, rows: DataFrame, at: Stamp, kinds: str | None, operation: str) -> Snapshot:
    store = write._store(location)
    overtaken = Conflict("")
    for _ in range(_TRIES):
        head = references.read_head(store, at.branch)
        numbers = highest(commit.live_entries(store, head.snapshot))
        try:
            with _stage(store, rows, at, kinds, numbers) as (schema, waiting):
                files = write._placed(store, waiting, at)
                change = Change(
                    "APPEND",
                    operation,
                    files,
                    _not_overtaken(schema, files, numbers),
                    refuse=documents.refuse_unwritable_keyed,
                )
                return commit.run(store, change, at)
        except _Overtaken as error:
            overtaken = error
    raise Conflict(overtaken.message, path=store.location, remedy="Try again.")


def highest(live: Iterable[Record]) -> dict[Bucket, int]:
    """The greatest sequence number of each bucket."""
    found: dict[Bucket, int] = {}
    for entry in live:
        bucket = (entry["_PARTITION"], entry["_BUCKET"])
        found[bucket] = max(found.get(bucket, -1), entry["_FILE"]["_MAX_SEQUENCE_NUMBER"])
    return found


def _not_overtaken(schema: Schema, files: Sequence[NewFile], numbers: Mapping[Bucket, int]) -> Choose:
    """Ends no file; `_Overtaken` where a bucket we wrote to has numbers that ours do not follow."""
    buckets = int(schema.options["bucket"])
    touched = {file.partition for file in files}

    def choose(_: Any, live: list[Record]) -> list[Record]:
        for entry in live:
            if entry["_PARTITION"] in touched and entry["_TOTAL_BUCKETS"] != buckets:
                raise Unsupported(
                    f"A partition has {entry['_TOTAL_BUCKETS']} buckets and the table's option says {buckets}.",
                    remedy="Rescale it with the table's own engine.",
                )
        now = highest(live)
        for file in files:
            bucket = (file.partition, file.bucket)
            if now.get(bucket, -1) > numbers.get(bucket, -1):
                raise _Overtaken(f"Others kept writing to bucket {file.bucket}; nothing was written.")
        return []

    return choose


# from a frame to files --------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _stage(
    store: Store, rows: DataFrame, at: Stamp, kinds: str | None, numbers: Mapping[Bucket, int]
) -> Iterator[tuple[Schema, list[write.Staged]]]:
    """Files that wait beside the table's own; what is left of them is deleted at the end."""
    if not store.is_local:
        raise Unsupported("Spark can only write to the local disk here.", path=store.location)
    schema = references.read_head(store, at.branch).schema
    documents.refuse_unwritable_keyed(schema)
    rule = merge_rule(schema)
    folder = store.full(f"{layout.STAGING}{at.new_uuid()}")
    try:
        placed = _shaped(rows, schema, kinds).mapInArrow(_assign(schema, rule), _assigned_ddl(schema))
        sorted_ = placed.groupBy(_PARTITION, _BUCKET).applyInArrow(
            _sort(schema, rule, folder, numbers), key_files.DESCRIBED_DDL
        )
        yield schema, staged(schema, described(sorted_), at, source=SOURCE_APPEND)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def described(files: DataFrame) -> list[key_files.Described]:
    """The files that tasks wrote; an error of ours in a task is raised as itself."""
    try:
        found: list[key_files.Described] = files.toArrow().to_pylist()
    except PySparkException as error:
        if ours := heard(str(error)):
            raise ours from error
        raise
    return sorted(found, key=lambda file: (file["partition"], file["bucket"], file["min_key"], file["staged_at"]))


def staged(schema: Schema, files: Iterable[key_files.Described], at: Stamp, *, source: int) -> list[write.Staged]:
    """Described files with the names and places they will have."""
    prefix, name = schema.options.get("data-file.prefix", "data-"), at.new_uuid()
    created_ms = write._wall_clock_ms(at.time_ms)
    found = []
    for number, file in enumerate(files):
        path = f"{directory(schema, file['partition'], file['bucket'])}/{prefix}{name}-{number}.parquet"
        new = NewFile(
            partition=file["partition"],
            path=path,
            size_bytes=file["bytes"],
            rows=file["rows"],
            schema_id=schema.id,
            stats=None,
            source=source,
            created_ms=created_ms,
            bucket=file["bucket"],
            total_buckets=file["total_buckets"],
            own=key_files.own_fields(file),
        )
        found.append(write.Staged(file["staged_at"], new))
    return found


def directory(schema: Schema, partition: bytes, bucket: int) -> str:
    path = partitions.directory(schema, partition)
    return f"{path}/{layout.bucket_dir(bucket)}" if path else layout.bucket_dir(bucket)


def _shaped(rows: DataFrame, schema: Schema, kinds: str | None) -> DataFrame:
    """The table's columns in their types, each row's kind and its place in the frame."""
    from pyspark.sql.types import StructType

    own = [name for name in rows.columns if name != kinds]
    names = [field.name for field in schema.fields]
    if sorted(own) != sorted(names):
        raise Invalid(f"The rows have the columns {', '.join(own)}; the table has {', '.join(names)}.")
    kind = kinds or schema.options.get("rowkind.field")
    named = F.col(types.quoted(kind)).cast("string") if kind else F.lit("+I")
    fields = [(field.name, parse(field.type), field.id) for field in schema.fields]
    wanted = StructType([write._struct_field(name, of, number) for name, of, number in fields]).add(_KIND, "string")
    chosen = rows.select(*(F.col(types.quoted(name)) for name in names), named.alias(_KIND)).to(wanted)
    checked = [write._checked(name, of).alias(name) for name, of, _ in fields]
    return chosen.select(*checked, _KIND, F.monotonically_increasing_id().alias(_ORDER))


def _assigned_ddl(schema: Schema) -> str:
    columns = [f"{types.quoted(field.name)} {types.spark(parse(field.type))}" for field in schema.fields]
    return ", ".join([*columns, f"{KIND} tinyint", f"{_ORDER} bigint", f"{_PARTITION} binary", f"{_BUCKET} int"])


def _assign(schema: Schema, rule: MergeRule) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Gives each row its partition and bucket; rows that are not stored go."""
    of = {field.name: parse(field.type) for field in schema.fields}
    by = documents.bucket_keys(schema)
    buckets = int(schema.options["bucket"])
    refused = _refused(schema, rule)
    known = pa.array(KINDS)

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            with telling():
                for name, type_ in of.items():
                    if not type_.nullable and batch[name].null_count:
                        raise Invalid(f"The column '{name}' may not be null, but some rows have no value.")
                kind = pc.index_in(batch[_KIND], known)
                if kind.null_count:
                    wrong = batch[_KIND].filter(kind.is_null())[0].as_py()
                    raise Invalid(f"{wrong!r} is no kind of a row: {', '.join(KINDS)} are.")
                gone = pc.is_in(kind.cast(pa.int8()), _RETRACTIONS)
                if rule.ignore_delete:
                    kept = pc.invert(gone)
                    batch, kind = batch.filter(kept), kind.filter(kept)
                else:
                    for number, why in refused.items():
                        if pc.any(pc.equal(kind, number)).as_py():
                            raise Unsupported(f"A row of kind {KINDS[number]} cannot be written: {why}")
                if not len(batch):
                    continue
                bucket = key_rows.buckets([batch[name] for name in by], [of[name] for name in by], buckets)
                columns = [batch[name] for name in of]
                own = [kind.cast(pa.int8()), batch[_ORDER], _partition(batch, schema), pa.array(bucket)]
            yield pa.RecordBatch.from_arrays([*columns, *own], names=[*of, KIND, _ORDER, _PARTITION, _BUCKET])

    return run


def _partition(batch: pa.RecordBatch, schema: Schema) -> pa.Array:
    """Each row's partition as it is stored."""
    names = schema.partition_keys
    if not names:
        return pa.array([binary_row.EMPTY] * len(batch), pa.binary())
    of = {field.name: parse(field.type) for field in schema.fields}
    columns = pa.table({name: batch[name].cast(types.arrow(of[name])) for name in names})
    _, first, each = np.unique(codes(columns, names), return_index=True, return_inverse=True)
    distinct = columns.take(pa.array(first)).to_pylist()
    stored = [binary_row.encode([row[name] for name in names], [of[name] for name in names]) for row in distinct]
    return pa.array(stored, pa.binary()).take(pa.array(each))


def _sort(
    schema: Schema, rule: MergeRule, folder: str, numbers: Mapping[Bucket, int]
) -> Callable[[tuple[pa.Scalar, ...], pa.Table], pa.Table]:
    """Merges and sorts the rows of one bucket and writes them."""
    first = {bucket: number + 1 for bucket, number in numbers.items()}
    columns = [field.name for field in schema.fields]
    buckets = int(schema.options["bucket"])

    def run(key: tuple[pa.Scalar, ...], rows: pa.Table) -> pa.Table:
        partition, bucket = (each.as_py() for each in key)
        with telling():
            rows = rows.take(pc.sort_indices(rows[_ORDER]))
            start = first.get((partition, bucket), 0)
            rows = rows.select([*columns, KIND])
            rows = rows.append_column(SEQUENCE, pa.array(np.arange(start, start + len(rows), dtype=np.int64)))
            rows = rows.append_column(LEVEL, pa.array(np.zeros(len(rows), dtype=np.int32)))
            merged = merge(rule, rows, stored=True)
            files = key_files.Files(schema, f"{folder}/{uuid.uuid4()}", partition, bucket, buckets)
            files.add(key_files.by_key(schema, merged))
            return key_files.table(files.close())

    return run


def _refused(schema: Schema, rule: MergeRule) -> dict[int, str]:
    """Kinds of rows, by number, that the table cannot merge again, and why: the engine takes them, and then no reader
    can read the table any more."""
    if rule.engine == FIRST_ROW:
        return dict.fromkeys((1, 3), "a first-row table takes those only with 'ignore-delete'.")
    if rule.engine == PARTIAL_UPDATE and not rule.groups:
        if rule.remove_on_delete:
            return {}
        why = (
            "a partial-update table takes those only with 'ignore-delete', 'partial-update.remove-record-on-delete' "
            "or sequence groups."
        )
        return dict.fromkeys((1, 3), why)
    of = {field.name: parse(field.type) for field in schema.fields}
    for name, function in rule.functions.items():
        column = aggregates.column_of(function, pa.chunked_array([pa.array([], types.arrow(of[name], micros=True))]), 0)
        if not function.ignores_retract and not hasattr(column, "retract"):
            why = f"the function '{function.name}' of the column '{name}' cannot take a row back."
            whole = rule.engine == AGGREGATION and rule.remove_on_delete
            return dict.fromkeys((1,) if whole else (1, 3), why)
    return {}
