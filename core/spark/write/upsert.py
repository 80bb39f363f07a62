"""Write tables with a primary key and fixed buckets: upserts and deletes become sorted files of level 0.

Invariants: a file contains what the engine's write buffer would keep of the same rows in the same order. A row's
sequence number exceeds all of its bucket in the table that the commit is based on, so that the later commit wins; if
others wrote to the bucket in the meantime, the rows are numbered again. Rows keep the order of the frame's partitions
and their order within them. What the engine could not merge again is refused.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from core.errors import Conflict, Invalid, Unsupported
from core.formats.paimon import layout, partitions, types
from core.formats.paimon.manifests import SOURCE_APPEND
from core.formats.paimon.types import Source, parse
from core.formats.paimon.write import commit, documents, publish
from core.formats.paimon.write.commit import Choose, CommitChange, Stamp
from core.formats.paimon.write.manifest_encoding import NewDataFile, Record
from core.model.references import Schema, Snapshot
from core.spark.merge.rows import LEVEL, SEQUENCE, merge
from core.spark.merge.rules import DEDUPLICATE, MergeRule, merge_rule
from core.spark.session.divided import divided
from core.spark.session.session import refuse_to_write
from core.spark.session.task_errors import forwarding_errors, received
from core.spark.write import append as write
from core.spark.write import key_files, split_by_bucket
from core.spark.write.split_by_bucket import NAMED_KIND, Bucket
from core.storage.store import Store

_TRIES = 5


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
    """Create a table with a primary key; `options` sets its number of buckets. See `publish.create_table`."""
    store = write._store(location)
    return publish.create_table(
        store,
        columns,
        time_ms=time_ms,
        partition_keys=partition_keys,
        options=options,
        comment=comment,
        primary_keys=primary_keys,
    )


def upsert(location: str | Store, rows: DataFrame, at: Stamp, *, kinds: str | None = None) -> Snapshot:
    """Write rows that replace, update or are merged with those of the same keys, by the table's merge engine.

    `kinds` names a column, which is not stored, with each row's kind (`+I`, `+U`, `-U`, `-D`); without it the table's
    option `rowkind.field` does, otherwise all rows are inserted. Raises `Conflict` if others keep writing to the same
    buckets.
    """
    return _written(location, rows, at, kinds, "WRITE")


def delete(location: str | Store, rows: DataFrame, at: Stamp) -> Snapshot:
    """Delete rows by their keys; columns that the frame lacks are null.

    Raises `Unsupported` if the table's options would ignore the deletes. For retractions of other kinds use `upsert`.
    """
    schema = publish.read_head(write._store(location), at.branch).schema
    documents.refuse_unwritable_keyed(schema)
    missing = [field for field in schema.fields if field.name not in rows.columns]
    ordering = _ordering_deletes(merge_rule(schema))
    for field in missing:
        if field.name in ordering:
            raise Invalid(f"Rows to be deleted need the column '{field.name}', which orders them: null is the oldest.")
        if not parse(field.type).nullable:
            raise Invalid(f"Rows to be deleted need the column '{field.name}', which may not be null.")
    nothing = {field.name: F.lit(None).cast(types.spark(parse(field.type))) for field in missing}
    return _written(location, rows.withColumns({**nothing, NAMED_KIND: F.lit("-D")}), at, NAMED_KIND, "DELETE")


def _ordering_deletes(rule: MergeRule) -> set[str]:
    """The columns that decide whether a delete is newer than the existing row; `Unsupported` if it deletes none."""
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
        raise Invalid("No partition to overwrite was given.", remedy="Name one; an empty mapping is the whole table.")

    def choose(files: Sequence[NewDataFile]) -> Choose:
        def of(head: publish.Head, live: list[Record]) -> list[Record]:
            matches = commit.matcher(head, named)
            if any(not matches(file.partition) for file in files):
                raise Invalid("A row is outside the partitions to overwrite.")
            return [entry for entry in live if matches(entry["_PARTITION"])]

        return of

    refuse = documents.refuse_unwritable_keyed
    if rows is None:
        return commit.run(store, CommitChange("OVERWRITE", "TRUNCATE", (), choose(()), refuse=refuse), at)
    with _stage(store, rows, at, kinds, {}) as (_, waiting):
        files = write._placed(store, waiting, at)
        return commit.run(store, CommitChange("OVERWRITE", "OVERWRITE", files, choose(files), refuse=refuse), at)


def _written(location: str | Store, rows: DataFrame, at: Stamp, kinds: str | None, operation: str) -> Snapshot:
    store = write._store(location)
    overtaken = Conflict("")
    for _ in range(_TRIES):
        head = publish.read_head(store, at.branch)
        numbers = highest(commit.live_entries(store, head.snapshot))
        try:
            with _stage(store, rows, at, kinds, numbers) as (schema, waiting):
                files = write._placed(store, waiting, at)
                change = CommitChange(
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
    """The highest sequence number of each bucket."""
    found: dict[Bucket, int] = {}
    for entry in live:
        bucket = (entry["_PARTITION"], entry["_BUCKET"])
        found[bucket] = max(found.get(bucket, -1), entry["_FILE"]["_MAX_SEQUENCE_NUMBER"])
    return found


def _not_overtaken(schema: Schema, files: Sequence[NewDataFile], numbers: Mapping[Bucket, int]) -> Choose:
    """A choice that ends no file, but raises `_Overtaken` if a bucket we wrote to has newer sequence numbers."""
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
                raise _Overtaken(f"Other writers kept committing to bucket {file.bucket}; nothing was written.")
        return []

    return choose


# from a frame to files -----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _stage(
    store: Store, rows: DataFrame, at: Stamp, kinds: str | None, numbers: Mapping[Bucket, int]
) -> Iterator[tuple[Schema, list[write.Staged]]]:
    """Write files to the staging directory; what is not committed is deleted at the end."""
    refuse_to_write(rows.sparkSession, store.location, on_this_disk=store.is_local)
    schema = publish.read_head(store, at.branch).schema
    documents.refuse_unwritable_keyed(schema)
    rule = merge_rule(schema)
    folder = store.full(f"{layout.STAGING}{at.new_uuid()}")
    os.makedirs(folder)
    try:
        split = split_by_bucket.split(schema, rule, folder)
        pieces = split_by_bucket.shaped(rows, schema, kinds).mapInArrow(split, split_by_bucket.PIECES)
        work = split_by_bucket.of_buckets(collected(pieces), numbers)
        done = spread(rows.sparkSession, work, _sort(schema, rule, folder))
        yield schema, staged(schema, done, at, source=SOURCE_APPEND)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# tasks ---------------------------------------------------------------------------------------------------------------


def spread(
    spark: SparkSession, work: Sequence[Mapping[str, Any]], run: Callable[[Any], Sequence[key_files.Described]]
) -> list[key_files.Described]:
    """The files written by tasks, each of which gets items of `work`, which have a number of `rows`, as JSON."""
    if not work:
        return []

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for text in batch.column(0).to_pylist():
                with forwarding_errors():
                    done = run(json.loads(text))
                yield from key_files.table(done).to_batches()

    units = pa.table({"work": [json.dumps(each) for each in work]})
    frame = divided(spark, units, [each["rows"] for each in work])
    found = collected(frame.mapInArrow(task, key_files.DESCRIBED_DDL))
    return sorted(found, key=lambda file: (file["partition"], file["bucket"], file["min_key"], file["staged_at"]))


def collected(frame: DataFrame) -> list[dict[str, Any]]:
    """The frame's rows; an error of ours in a task is raised as itself."""
    try:
        found: list[dict[str, Any]] = frame.toArrow().to_pylist()
    except PySparkException as error:
        if ours := received(str(error)):
            raise ours from error
        raise
    return found


def staged(schema: Schema, files: Iterable[key_files.Described], at: Stamp, *, source: int) -> list[write.Staged]:
    """Described files with their final names and paths."""
    prefix, name = schema.options.get("data-file.prefix", "data-"), at.new_uuid()
    created_ms = write._wall_clock_ms(at.time_ms)
    found = []
    for number, file in enumerate(files):
        path = f"{directory(schema, file['partition'], file['bucket'])}/{prefix}{name}-{number}.parquet"
        new = NewDataFile(
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


def _sort(schema: Schema, rule: MergeRule, folder: str) -> Callable[[Any], list[key_files.Described]]:
    """Return a task that merges, sorts and writes the rows of one bucket."""
    buckets = int(schema.options["bucket"])

    def run(work: Any) -> list[key_files.Described]:
        rows = split_by_bucket.read(work["pieces"])
        sequence = np.arange(work["first"], work["first"] + len(rows), dtype=np.int64)
        rows = rows.append_column(SEQUENCE, pa.array(sequence))
        rows = rows.append_column(LEVEL, pa.array(np.zeros(len(rows), dtype=np.int32)))
        merged = merge(rule, rows, stored=True)
        partition = base64.b64decode(work["partition"])
        files = key_files.Files(schema, f"{folder}/{uuid.uuid4()}", partition, work["bucket"], buckets)
        files.add(key_files.by_key(schema, merged))
        return files.close()

    return run
