"""Write append tables: Spark writes the Parquet files, then the driver commits them.

Invariants: a file is in place, complete and synced to disk before a commit names it; the staging directory is removed
whatever happens. Only what an engine would write the same way is written; anything else is rejected by an error that
names it. The time of a commit is an argument, so that histories can be built.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from core.errors import Conflict, Corrupt, Invalid
from core.formats.paimon import layout, partitions, types
from core.formats.paimon.manifests import SOURCE_APPEND, SOURCE_COMPACT
from core.formats.paimon.plan import commits
from core.formats.paimon.types import PaimonType, Source, parse
from core.formats.paimon.write import commit, documents, publish, small_files
from core.formats.paimon.write.alter import SchemaChange
from core.formats.paimon.write.commit import Stamp
from core.formats.paimon.write.manifest_encoding import NewDataFile, Record
from core.model.references import MAIN, Schema, Snapshot
from core.spark.read.paimon import frames as read
from core.spark.session.session import refuse_to_write
from core.spark.write import footers
from core.storage.store import Store

# directories in the staging directory, with names that no column of a table has
_GROUP, _PARTITION = "_KEY_group", "_KEY_partition"
_ID = "parquet.field.id"


@dataclass(frozen=True, slots=True)
class Staged:
    """A finished file in the staging directory, and its entry in the table."""

    staged_at: str
    file: NewDataFile


def stamp(
    time_ms: int,
    *,
    branch: str = MAIN,
    user: str = documents.WRITER,
    identifier: int = documents.BATCH,
    watermark: int | None = None,
    properties: Mapping[str, str] | None = None,
    new_uuid: Callable[[], str] = lambda: str(uuid.uuid4()),
) -> Stamp:
    """A commit's time and author; new names are random unless given.

    A user's change with one `identifier` is committed once, however often it is tried. The identifiers of one user
    increase: once a later one exists, an earlier one counts as committed, and nothing is written.
    """
    return Stamp(time_ms, new_uuid, user, identifier, branch, watermark, properties or {})


def create_table(
    location: str | Store,
    columns: Sequence[tuple[str, Source]],
    *,
    time_ms: int,
    partition_keys: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
    comment: str | None = None,
) -> Schema:
    """Create an append table; see `publish.create_table`."""
    store = _store(location)
    return publish.create_table(
        store, columns, time_ms=time_ms, partition_keys=partition_keys, options=options, comment=comment
    )


def add_column(location: str | Store, name: str, of: Source, *, time_ms: int, branch: str = MAIN) -> Schema:
    """Add a nullable column at the end; existing rows have null there."""
    return publish.add_column(_store(location), name, of, time_ms=time_ms, branch=branch)


def alter(location: str | Store, changes: Sequence[SchemaChange], *, time_ms: int, branch: str = MAIN) -> Schema:
    """Add, rename, drop or widen columns, and set options; see `publish.alter`."""
    return publish.alter(_store(location), changes, time_ms=time_ms, branch=branch)


def append(location: str | Store, rows: DataFrame, at: Stamp) -> Snapshot:
    """Add rows. One file per partition and per partition of the frame: `coalesce(1)` gives one file per partition."""
    store = _store(location)
    with stage(store, rows, at) as groups:
        return commit_append(store, groups.get(None, ()), at)


def overwrite(
    location: str | Store, rows: DataFrame | None, partitions: Sequence[Mapping[str, Any]], at: Stamp
) -> Snapshot:
    """Replace the named partitions by these rows; None drops them. See `commit.overwrite` for how they are named."""
    store = _store(location)
    if rows is None:
        return commit.overwrite(store, (), partitions, at)
    with stage(store, rows, at) as groups:
        return commit_overwrite(store, groups.get(None, ()), partitions, at)


def overwrite_touched(location: str | Store, rows: DataFrame, at: Stamp) -> Snapshot | None:
    """Replace the partitions that these rows belong to (a dynamic overwrite); return None if there are no rows.

    A table without partition keys is replaced as a whole.
    """
    store = _store(location)
    with stage(store, rows, at) as groups:
        return commit.overwrite_touched(store, _placed(store, groups.get(None, ()), at), at)


def drop_partitions(location: str | Store, partitions: Sequence[Mapping[str, Any]], at: Stamp) -> Snapshot:
    """Delete all rows of the named partitions, also in tables with a primary key.

    Commits even if they have no rows, as the engine does.
    """
    if any(not named for named in partitions):
        raise Invalid("Give a value for at least one partition key.", remedy="Truncate the table instead.")
    return commit.overwrite(_store(location), (), partitions, at, operation="TRUNCATE", refuse=commits.refuse)


def truncate(location: str | Store, at: Stamp) -> Snapshot:
    """Delete all rows, also in tables with a primary key."""
    return commit.overwrite(_store(location), (), ({},), at, operation="TRUNCATE", refuse=commits.refuse)


def compact(
    location: str | Store,
    at: Stamp,
    *,
    spark: SparkSession,
    partitions: Sequence[Mapping[str, Any]] = ({},),
    min_files: int | None = 2,
    only: frozenset[str] | None = None,
) -> Snapshot | None:
    """Rewrite small files of each named partition into large ones; return None if there is nothing to do.

    The table's options define what is small and how large files become; `min_files` small files are merged even if they
    do not reach the target size (None: the table's option). Raises `Conflict` if another commit replaces one of them in
    the meantime, or if the files to replace are not those in `only`.
    """
    store = _store(location)
    head = publish.read_head(store, at.branch)
    documents.refuse_unwritable(head.schema)
    matches = commit.matcher(head, partitions)
    rules = small_files.rules(head.schema.options)
    rules = rules if min_files is None else replace(rules, least=min_files)
    live = commit.live_entries(store, head.snapshot)
    bins = small_files.bins((entry for entry in live if matches(entry["_PARTITION"])), rules)
    if not bins:
        return None
    gone = [entry for small in bins for entry in small]
    refuse_others(store, gone, only)
    ids = {entry["_FILE"]["_SCHEMA_ID"] for entry in gone}
    schemas = {number: publish.read_schema(store, number, at.branch) for number in ids}
    tasks = (file_table(head.schema, files) for files in small_files.tasks(bins, rules))
    frames = (read.frame(spark, store, head.schema, schemas, files).coalesce(1) for files in tasks)
    rows = reduce(DataFrame.unionAll, frames)
    with stage(store, rows, at, source=SOURCE_COMPACT) as groups:
        staged = groups.get(None, ())
        if any(each.file.schema_id != head.schema.id for each in staged):  # same names may be other columns now
            raise Conflict("The schema changed while the rows were read.", path=store.location, remedy="Try again.")
        before, after = sum(e["_FILE"]["_ROW_COUNT"] for e in gone), sum(each.file.rows for each in staged)
        if before != after:
            raise Corrupt(f"{before} rows were to be compacted and {after} were read.", path=store.location)
        return commit.compact(store, gone, _placed(store, staged, at), at)


def refuse_others(store: Store, gone: Sequence[Record], only: frozenset[str] | None) -> None:
    """Raise `Conflict` unless the files to replace are exactly those named in `only`."""
    if only is not None and {entry["_FILE"]["_FILE_NAME"] for entry in gone} != only:
        raise Conflict("The compaction would rewrite other files now.", path=store.location, remedy="Plan again.")


# several commits from one Spark job -----------------------------------------------------------------------------


@contextlib.contextmanager
def stage(
    store: Store, rows: DataFrame, at: Stamp, *, group: str | None = None, source: int = SOURCE_APPEND
) -> Iterator[Mapping[Any, Sequence[Staged]]]:
    """Write rows into files beside the table's own, grouped by the column `group`, which is not stored.

    The files stay staged until `commit_append` or `commit_overwrite` moves them into place; the rest is deleted at the
    end.
    """
    refuse_to_write(rows.sparkSession, store.location, on_this_disk=store.is_local)
    schema = publish.read_head(store, at.branch).schema
    documents.refuse_unwritable(schema)
    folder = store.full(f"{layout.STAGING}{at.new_uuid()}")
    try:
        _write(rows, schema, folder, group)
        yield _staged(folder, schema, at, group is not None, source)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def commit_append(store: Store, staged: Sequence[Staged], at: Stamp) -> Snapshot:
    """Append staged files."""
    return commit.append(store, _placed(store, staged, at), at)


def commit_overwrite(
    store: Store, staged: Sequence[Staged], partitions: Sequence[Mapping[str, Any]], at: Stamp
) -> Snapshot:
    """Replace the named partitions by staged files."""
    return commit.overwrite(store, _placed(store, staged, at), partitions, at)


# ----------------------------------------------------------------------------------------------------------------


def _store(location: str | Store) -> Store:
    return location if isinstance(location, Store) else Store(location)


def _write(rows: DataFrame, schema: Schema, folder: str, group: str | None) -> None:
    from pyspark.sql.types import StructType

    own = [name for name in rows.columns if name != group]
    names = [field.name for field in schema.fields]
    if sorted(own) != sorted(names):
        raise Invalid(f"The rows have the columns {', '.join(own)}; the table has {', '.join(names)}.")
    fields = [(field.name, parse(field.type), field.id) for field in schema.fields]
    wanted = StructType([_struct_field(name, of, number) for name, of, number in fields])
    chosen = [F.col(types.quoted(name)) for name in names]
    final = [_checked(name, of).alias(name, metadata={_ID: number}) for name, of, number in fields]
    if group is not None:
        chosen.append(F.col(types.quoted(group)).alias(_GROUP))
        wanted.add(_GROUP, rows.schema[group].dataType)
        final.append(F.col(_GROUP))
    shaped = rows.select(*chosen).to(wanted).select(*final)  # `to` alone loses column ids if it changes nothing
    by = [_GROUP] if group is not None else []
    if schema.partition_keys:
        texts = [
            F.col(types.quoted(key)).cast("string").alias(f"k{at}") for at, key in enumerate(schema.partition_keys)
        ]
        marker = F.md5(F.to_json(F.struct(*texts), {"ignoreNullFields": "false"}))
        shaped, by = shaped.select("*", marker.alias(_PARTITION)), [*by, _PARTITION]
    codec = schema.options.get("file.compression", "zstd").lower()
    with _microseconds(rows.sparkSession):
        shaped.write.partitionBy(*by).option("compression", codec).parquet(folder)


def _struct_field(name: str, of: PaimonType, number: int) -> Any:
    """A column with its id, so that the Parquet file contains it; nested fields too."""
    from pyspark.sql.types import StructField

    return StructField(name, _spark_type(of), True, {_ID: number})


def _spark_type(of: PaimonType) -> Any:
    from pyspark.sql.types import ArrayType, DataType, MapType, StructType

    match of.root:
        case "ROW":
            return StructType([_struct_field(field.name, field.type, field.id) for field in of.fields])
        case "ARRAY":
            return ArrayType(_spark_type(of.args[0]))
        case "MAP":
            return MapType(_spark_type(of.args[0]), _spark_type(of.args[1]))
        case _:
            return DataType.fromDDL(types.spark(of))


def _checked(name: str, of: PaimonType) -> Column:
    """The column; a string longer than its type allows fails the job."""
    column = F.col(types.quoted(name))
    if of.root not in ("CHAR", "VARCHAR") or of.size == types.MAX_LENGTH:
        return column
    message = f"a value of the column '{name}' is longer than {types.text(of)}"
    too_long = F.length(column) > F.lit(of.size)
    return F.when(too_long, F.raise_error(F.lit(message)).cast("string")).otherwise(column)


@contextlib.contextmanager
def _microseconds(spark: SparkSession) -> Iterator[None]:
    """Write TIMESTAMP WITH LOCAL TIME ZONE as Paimon expects it; Spark's default is the old 12-byte form."""
    name, value = "spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS"
    before = spark.conf.get(name)
    if before == value:
        yield
        return
    spark.conf.set(name, value)
    try:
        yield
    finally:
        spark.conf.set(name, str(before))


def _staged(folder: str, schema: Schema, at: Stamp, is_grouped: bool, source: int) -> Mapping[Any, list[Staged]]:
    prefix = schema.options.get("data-file.prefix", "data-")
    name = at.new_uuid()
    created_ms = _wall_clock_ms(at.time_ms)
    keeps_stats = schema.options.get("metadata.stats-mode", "").lower() != "none"
    groups: dict[Any, list[Staged]] = {}
    number = 0
    for path, group in _written(folder, is_grouped):
        found = footers.read(path, schema)
        if not found.rows:
            continue
        directory = _directory(schema, found.partition)
        file = NewDataFile(
            partition=found.partition,
            path=f"{directory}/{prefix}{name}-{number}.parquet",
            size_bytes=os.stat(path).st_size,
            rows=found.rows,
            schema_id=schema.id,
            stats=found.stats if keeps_stats else None,
            source=source,
            created_ms=created_ms,
        )
        groups.setdefault(group, []).append(Staged(path, file))
        number += 1
    return groups


def _written(folder: str, is_grouped: bool) -> Iterator[tuple[str, str | None]]:
    """All data files in the staging directory in a fixed order, with the text of their group."""
    for directory, inside, names in os.walk(folder):
        inside.sort()
        parts = dict(part.split("=", 1) for part in os.path.relpath(directory, folder).split(os.sep) if "=" in part)
        for name in sorted(names):
            if name.endswith(".parquet") and not name.startswith((".", "_")):
                yield f"{directory}/{name}", parts[_GROUP] if is_grouped else None


def _placed(store: Store, staged: Sequence[Staged], at: Stamp) -> list[NewDataFile]:
    """Move finished files to their final paths and sync them to disk."""
    directories = {each.file.path.rpartition("/")[0] for each in staged}
    store.make_dirs(sorted(directories))
    for each in staged:
        _sync(each.staged_at)
        os.rename(each.staged_at, store.full(each.file.path))
    for directory in sorted(directories):
        _sync(store.full(directory))
    created_ms = _wall_clock_ms(at.time_ms)
    return [replace(each.file, created_ms=created_ms) for each in staged]


def _sync(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _wall_clock_ms(time_ms: int) -> int:
    """This machine's wall clock at that time, as if it were UTC: how the format stores a file's creation time."""
    offset = dt.datetime.fromtimestamp(time_ms / 1000, dt.UTC).astimezone().utcoffset()
    return time_ms + round((offset or dt.timedelta()).total_seconds() * 1000)


def _directory(schema: Schema, partition: bytes) -> str:
    path = partitions.directory(schema, partition)
    return f"{path}/{layout.bucket_dir(0)}" if path else layout.bucket_dir(0)


def file_table(schema: Schema, entries: Sequence[Record]) -> pa.Table:
    """Entries as the file list that `read.frame` takes."""
    names = [entry["_FILE"]["_FILE_NAME"] for entry in entries]
    paths = [
        entry["_FILE"]["_EXTERNAL_PATH"] or f"{_directory(schema, entry['_PARTITION'])}/{name}"
        for entry, name in zip(entries, names, strict=True)
    ]
    return pa.table(
        {
            "path": paths,
            "schema_id": [entry["_FILE"]["_SCHEMA_ID"] for entry in entries],
            "format": [layout.file_format(name) for name in names],
            "partition_bytes": pa.array([entry["_PARTITION"] for entry in entries], pa.binary()),
            "bytes": [entry["_FILE"]["_FILE_SIZE"] for entry in entries],
        }
    )
