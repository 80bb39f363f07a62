"""Full compaction of a table with a primary key: every bucket becomes one sorted run at the highest level.

Invariants: files are merged or only moved exactly as by the engine (its `MergeTreeCompactTask`). Files that share keys
with others, and neighbouring small ones, are merged; a large or single file is moved unchanged unless it contains
deleted rows. These are dropped, because nothing older remains. `Conflict` if others replaced a file in the meantime.
"""

from __future__ import annotations

import base64
import shutil
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from core.errors import Conflict
from core.formats.paimon import layout, schema_evolution
from core.formats.paimon.manifests import SOURCE_COMPACT
from core.formats.paimon.write import commit, documents, full_compaction, publish
from core.formats.paimon.write.commit import CommitChange, Stamp
from core.formats.paimon.write.full_compaction import BucketRewrite
from core.formats.paimon.write.manifest_encoding import NewDataFile, Record
from core.model.references import Schema, Snapshot
from core.spark.merge.rows import KIND
from core.spark.merge.rules import MergeRule, merge_rule
from core.spark.read.paimon import merge_on_read
from core.spark.session.session import refuse_to_write
from core.spark.write import append as write
from core.spark.write import key_files, upsert
from core.spark.write.append import refuse_others
from core.storage.store import Store

_ADDS = pa.array([0, 2], pa.int8())
_TRIES = 3


def compact(
    location: str | Store,
    at: Stamp,
    *,
    spark: SparkSession,
    partitions: Sequence[Mapping[str, Any]] = ({},),
    only: frozenset[str] | None = None,
) -> Snapshot | None:
    """Compact every bucket of the named partitions; return None if there is nothing to do.

    If others change the same files, it tries again, and then raises `Conflict`; also if the files to replace are not
    those in `only`.
    """
    store = write._store(location)
    for attempt in range(_TRIES):
        try:
            return _compact(store, at, spark, partitions, only)
        except Conflict:
            if attempt + 1 == _TRIES:
                raise
    raise AssertionError("the last try raises")


def _compact(
    store: Store, at: Stamp, spark: SparkSession, partitions: Sequence[Mapping[str, Any]], only: frozenset[str] | None
) -> Snapshot | None:
    head = publish.read_head(store, at.branch)
    schema = head.schema
    documents.refuse_unwritable_keyed(schema)
    refuse_to_write(spark, store.location, on_this_disk=store.is_local)
    rule = merge_rule(schema)
    matches = commit.matcher(head, partitions)
    live = [entry for entry in commit.live_entries(store, head.snapshot) if matches(entry["_PARTITION"])]
    rewrites: list[BucketRewrite] = []
    gone: list[Record] = []
    new: list[NewDataFile] = []
    for top, upgraded, merged in full_compaction.of_table(schema, live):
        gone += [*upgraded, *(entry for rewrite in merged for entry in rewrite.files)]
        new += [_moved(schema, entry, top) for entry in upgraded]
        rewrites += merged
    if not gone:
        return None
    refuse_others(store, gone, only)
    folder = store.full(f"{layout.STAGING}{at.new_uuid()}")
    try:
        new += write._placed(store, _rewritten(store, spark, schema, rule, rewrites, folder, at), at)
        change = CommitChange(
            "COMPACT", None, new, commit.exactly(store, gone), refuse=documents.refuse_unwritable_keyed
        )
        return commit.run(store, change, at)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _moved(schema: Schema, entry: Record, top: int) -> NewDataFile:
    """The same file at the top level."""
    file = entry["_FILE"]
    return NewDataFile(
        partition=entry["_PARTITION"],
        path=f"{upsert.directory(schema, entry['_PARTITION'], entry['_BUCKET'])}/{file['_FILE_NAME']}",
        size_bytes=file["_FILE_SIZE"],
        rows=file["_ROW_COUNT"],
        schema_id=file["_SCHEMA_ID"],
        stats=None,
        source=file["_FILE_SOURCE"],
        created_ms=file["_CREATION_TIME"],
        bucket=entry["_BUCKET"],
        total_buckets=entry["_TOTAL_BUCKETS"],
        own={**file, "_LEVEL": top},
        is_new=False,
    )


def _rewritten(
    store: Store,
    spark: SparkSession,
    schema: Schema,
    rule: MergeRule,
    rewrites: Sequence[BucketRewrite],
    folder: str,
    at: Stamp,
) -> list[write.Staged]:
    if not rewrites:
        return []
    ids = {entry["_FILE"]["_SCHEMA_ID"] for rewrite in rewrites for entry in rewrite.files}
    schemas = {number: publish.read_schema(store, number, at.branch) for number in ids}
    schema_evolution.refuse_casts(schema, schemas, ids)
    work = [_described(schema, rewrite) for rewrite in rewrites]
    done = upsert.spread(spark, work, _task(store, schema, schemas, rule, folder))
    return upsert.staged(schema, done, at, source=SOURCE_COMPACT)


def _described(schema: Schema, rewrite: BucketRewrite) -> dict[str, Any]:
    first = rewrite.files[0]
    partition = base64.b64encode(first["_PARTITION"]).decode()
    where = upsert.directory(schema, first["_PARTITION"], first["_BUCKET"])

    def file(entry: Record) -> dict[str, Any]:
        name = entry["_FILE"]["_FILE_NAME"]
        return {
            "path": entry["_FILE"]["_EXTERNAL_PATH"] or f"{where}/{name}",
            "schema_id": entry["_FILE"]["_SCHEMA_ID"],
            "format": layout.file_format(name),
            "level": entry["_FILE"]["_LEVEL"],
            "partition": partition,
            "rows": entry["_FILE"]["_ROW_COUNT"],
            "vector": None,
        }

    sections_ = [[file(entry) for entry in section] for section in rewrite.sections]
    rows = sum(entry["_FILE"]["_ROW_COUNT"] for entry in rewrite.files)
    own = {"bucket": first["_BUCKET"], "total_buckets": first["_TOTAL_BUCKETS"], "top": rewrite.top, "rows": rows}
    return {"partition": partition, **own, "sections": sections_}


def _task(
    store: Store, schema: Schema, schemas: Mapping[int, Schema], rule: MergeRule, folder: str
) -> Callable[[Any], list[key_files.Described]]:
    def run(work: Any) -> list[key_files.Described]:
        place, partition = f"{folder}/{uuid.uuid4()}", base64.b64decode(work["partition"])
        files = key_files.Files(schema, place, partition, work["bucket"], work["total_buckets"], level=work["top"])
        for section in work["sections"]:
            merged = merge_on_read.section(store, schema, schemas, rule, section, merges=True, stored=True)
            kept = merged.filter(pc.is_in(merged[KIND], _ADDS))
            files.add(key_files.by_key(schema, kept))
        return files.close()

    return run
