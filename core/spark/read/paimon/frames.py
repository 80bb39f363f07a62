"""Resolved data files as one Spark DataFrame with the columns of a version.

Invariants: exactly the given files are read. A column is found in a file by its field id, through the schema the file
was written with, never by its current name. Partition values come from the manifest's bytes, never from directory
names. Whatever cannot be answered correctly is rejected, and named, before anything is read.

Method: one file source relation per (schema, format), built from an explicit list of paths and an explicit list of
(directory, partition values). So Spark neither expands globs nor infers partitions, and still skips the files of
partitions that a filter excludes. What the JVM cannot read (Avro, other stores than the disk, casts) is read in Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from core.errors import Corrupt, SnapscopeError, Unsupported
from core.formats.paimon import binary_row, schema_evolution, types
from core.formats.paimon.schema_evolution import Origin
from core.formats.paimon.types import PaimonType, parse
from core.formats.paimon.ways_out import OWN_ENGINE
from core.messages import message
from core.model.references import Field, Schema
from core.spark.read import relations
from core.spark.read.paimon import arrow_files, data_evolution, jvm_types, python_files, shredded_maps, unread_options
from core.spark.session.session import is_connect
from core.storage.store import Store

_PARTITION = "__partition_{}"  # names inside the relation; no table column can collide with what it selects
_NATIVE = ("parquet", "orc")
_NEEDS_MERGING = message("Its rows must be merged by key, and this reads files as they are.")
_DELETED = "deletion-vectors.enabled"
_KIND = Field(-1, "_VALUE_KIND", "TINYINT")
KINDS = ("+I", "-U", "+U", "-D")  # by their numbers in files
_ADDS = (0, 2)


def frame(
    spark: SparkSession,
    store: Store,
    schema: Schema,
    schemas: Mapping[int, Schema],
    files: pa.Table,
    *,
    options: Mapping[str, str] | None = None,
) -> DataFrame:
    """The rows of `files`, unordered, with the columns of `schema`, the version's schema.

    `files` has the columns path (relative to the table, or a full URI), schema_id, format, partition_bytes (the
    manifest's stored row) and bytes (the file's size); `schemas` are all schemas that those ids name; `options` are the
    table's current options, where they differ from the version's. Lists the given files once; reads nothing else until
    the frame is used. Raises
    `Unsupported` by name, `Corrupt` for missing files or a missing schema.
    """
    all_options = {**schema.options, **(options or {})}
    if schema.primary_keys:
        raise Unsupported(
            "The table has a primary key ({primary_keys}). {needs_merging}",
            primary_keys=", ".join(schema.primary_keys),
            needs_merging=_NEEDS_MERGING,
            remedy=OWN_ENGINE,
        )
    if all_options.get(_DELETED, "").strip().lower() == "true":
        raise Unsupported(
            ("The table's option '{deleted}' is true. Its files contain deleted rows, and this reads all rows."),
            deleted=_DELETED,
            remedy=OWN_ENGINE,
        )
    if data_evolution.is_on(all_options):
        raise Unsupported(
            "The table's option '{name}' is true. Several files contain different columns of the same rows.",
            name=data_evolution.ENABLED,
            remedy=OWN_ENGINE,
        )
    refuse_unreadable(schema, all_options)
    schema_evolution.refuse_casts(schema, schemas, files["schema_id"].unique().to_pylist())
    parts = stored(spark, store, schema, schemas, files)
    return reduce(DataFrame.unionAll, parts) if parts else empty(spark, schema)


def empty(spark: SparkSession, schema: Schema, *, kinds: str | None = None) -> DataFrame:
    """No rows, with the schema's columns; `kinds` as in `stored`."""
    frame = spark.createDataFrame([], _ddl(schema.fields))
    return frame if kinds is None else frame.select(F.lit(KINDS[0]).alias(kinds), "*")


def stored(
    spark: SparkSession,
    store: Store,
    schema: Schema,
    schemas: Mapping[int, Schema],
    files: pa.Table,
    *,
    kinds: str | None = None,
) -> list[DataFrame]:
    """The unmerged rows of these files, in parts; for a primary-key table only those that add.

    With `kinds`: all rows, and a first column of that name with each one's row kind: +I, -U, +U or -D.
    """
    own = [_KIND] if schema.primary_keys else []
    keys = [parse(_field(schema, key).type) for key in schema.partition_keys]
    parts = []
    for (schema_id, form, is_here), group in _groups(store, files):
        if schema_id not in schemas:
            raise Corrupt(
                "Data files were written with schema {schema_id}, which cannot be read.",
                schema_id=schema_id,
                path=store.location,
            )
        written = schemas[schema_id]
        columns = [F.col(types.quoted(field.name)) for field in schema.fields]
        if is_here and by_jvm(store, form, written, schema):
            known = [*_physical(written, schema), *own]
            columns = [_column(origin) for origin in schema_evolution.origins(written, schema)]
            rounds = _rounds(store, group, keys)
            frames = [_native(spark, form, known, keys, paths, places) for paths, places in rounds]
        elif form in python_files.FORMATS:
            system = {field.name: str(field.type) for field in own}
            frames = [arrow_files.frame(spark, store, form, written, schema, group, system)]
        else:
            raise python_files.unknown_format(form, store.location)
        if own and kinds is None:
            frames = [each.where(F.col(_KIND.name).isin(*_ADDS)) for each in frames]
        first = [] if kinds is None else [_kind(has_kinds=bool(own)).alias(kinds)]
        parts += [each.select(*first, *columns) for each in frames]
    return parts


def by_jvm(store: Store, form: str, written: Schema, schema: Schema) -> bool:
    """True if the JVM's own readers read such files correctly; others are read in Python."""
    if is_connect() or not store.is_local or form not in _NATIVE or not schema_evolution.widens_all(written, schema):
        return False
    if any(shredded_maps.is_on(each, field.name) for each in (written, schema) for field in _physical(each, schema)):
        return False  # whose maps may be stored in parts
    fields = written.fields if form == "orc" else _physical(written, schema)  # of ORC it looks at all of them
    return not any(_is_hard(field, form) for field in fields)


def _is_hard(field: Field, form: str) -> bool:
    try:
        return jvm_types.is_hard(parse(field.type), form)
    except SnapscopeError:
        return True  # of an unknown type; only columns of other types are read


def refuse_unreadable(schema: Schema, options: Mapping[str, str]) -> None:
    """Raise `Unsupported`, by name, if the rows or a column are not just those of the files, keys and vectors aside."""
    unread_options.refuse(options)
    for field in schema.fields:
        types.spark(parse(field.type), reads=True)  # refuses by the type's name


# files ------------------------------------------------------------------------------------------------------------


def _groups(store: Store, files: pa.Table) -> Iterable[tuple[tuple[int, str, bool], pa.Table]]:
    """Files by (schema id, format, whether they are on the local disk), oldest schema first."""
    here = [python_files.local_path(store, path) is not None for path in files["path"].to_pylist()]
    files = files.append_column("here", pa.array(here, pa.bool_()))
    names = ["schema_id", "format", "here"]
    distinct = files.group_by(names).aggregate([]).sort_by([("schema_id", "ascending")])
    for row in distinct.to_pylist():
        same = reduce(pc.and_, (pc.equal(files[name], row[name]) for name in names))
        yield (row["schema_id"], row["format"], row["here"]), files.filter(same).drop_columns("here")


def _rounds(
    store: Store, files: pa.Table, keys: Sequence[PaimonType]
) -> list[tuple[list[str], list[tuple[str, tuple[Any, ...]]]]]:
    """Full paths and their (directory, partition values), in rounds in which a directory has one partition.

    Different partitions can share a directory (null and blank text do): they are read in further rounds.
    """
    by_directory: dict[str, dict[bytes, list[str]]] = {}
    for path, stored in zip(files["path"].to_pylist(), files["partition_bytes"].to_pylist(), strict=True):
        full = python_files.local_path(store, path)
        assert full is not None, path
        by_directory.setdefault(full.rpartition("/")[0], {}).setdefault(stored, []).append(full)
    decoded = {stored: binary_row.decode(stored, keys) for partitions in by_directory.values() for stored in partitions}
    rounds = []
    for number in range(max((len(partitions) for partitions in by_directory.values()), default=0)):
        chosen = {
            directory: list(partitions.items())[number]
            for directory, partitions in by_directory.items()
            if number < len(partitions)
        }
        paths = [path for _, inside in chosen.values() for path in inside]
        rounds.append((paths, [(directory, decoded[stored]) for directory, (stored, _) in chosen.items()]))
    return rounds


# the JVM's own readers ---------------------------------------------------------------------------------------------


def _native(
    spark: SparkSession,
    form: str,
    fields: Sequence[Field],
    keys: Sequence[PaimonType],
    paths: Sequence[str],
    places: Sequence[tuple[str, tuple[Any, ...]]],
) -> DataFrame:
    """One relation over these files: data columns by their name in the file, partition columns by number."""
    if not keys:
        return relations.over(spark, form, _ddl(fields), paths)
    return relations.over(
        spark,
        form,
        _ddl(fields),
        paths,
        partition=", ".join(f"{_PARTITION.format(at)} {types.spark(of)}" for at, of in enumerate(keys)),
        values=spark.createDataFrame(partition_table(keys, [values for _, values in places])),
        directories=[directory for directory, _ in places],
    )


def partition_table(keys: Sequence[PaimonType], values: Sequence[tuple[Any, ...]]) -> pa.Table:
    """Partition values as Arrow columns named by number."""
    columns = list(zip(*values, strict=True)) or [()] * len(keys)
    return pa.table(
        {
            _PARTITION.format(at): pa.array(column, types.arrow(of, micros=True))
            for at, (of, column) in enumerate(zip(keys, columns, strict=True))
        }
    )


# columns ----------------------------------------------------------------------------------------------------------


def _field(schema: Schema, name: str) -> Field:
    return next(field for field in schema.fields if field.name == name)


def _physical(written: Schema, schema: Schema) -> list[Field]:
    """The columns to read from files of an old schema: all that the version still has, except partition keys."""
    wanted = {field.id for field in schema.fields if field.name not in schema.partition_keys}
    return [field for field in written.fields if field.id in wanted]


def _ddl(fields: Sequence[Field]) -> str:
    return ", ".join(f"{types.quoted(field.name)} {types.spark(parse(field.type), reads=True)}" for field in fields)


def _kind(*, has_kinds: bool) -> Column:
    return F.element_at(F.array(*map(F.lit, KINDS)), F.col(_KIND.name) + 1) if has_kinds else F.lit(KINDS[0])


def _column(origin: Origin) -> Column:
    wanted = parse(origin.field.type)
    if origin.partition is not None:
        column = F.col(_PARTITION.format(origin.partition))
    elif origin.source is None:
        column = F.lit(None).cast(types.spark(wanted, reads=True))
    else:
        have = parse(origin.source.type)
        column = F.col(types.quoted(origin.source.name))
        if have.root in ("FLOAT", "DOUBLE"):
            column = F.nanvl(
                column, column
            )  # the same value, but blocks filters, because files' statistics tell 0.0 from -0.0
        column = converted(column, have, wanted)
    return column.alias(origin.field.name)


def converted(column: Column, have: PaimonType, wanted: PaimonType) -> Column:
    """Convert a value of an old type to the new one; nested rows field by field, by id."""
    if schema_evolution.same(have, wanted):
        return column
    if have.root == "ROW":
        inner = schema_evolution.inner(have, wanted)
        made = [
            (
                converted(column.getField(inner[field.id].name), inner[field.id].type, field.type)
                if field.id in inner
                else F.lit(None).cast(types.spark(field.type))
            ).alias(field.name)
            for field in wanted.fields
        ]
        return F.when(column.isNotNull(), F.struct(*made))
    return column.cast(types.spark(wanted))
