"""One data file as an Arrow table with the columns of a version, for tasks that process rows in Python.

Invariant: columns, values and types are the same as those that `frames` returns through the JVM: matched by field id,
partition values from the manifest, old types widened, and cast as Paimon casts them. Deleted positions are removed
before anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from core.errors import Corrupt
from core.formats import undecoded
from core.formats.paimon import binary_row, blob_files, schema_evolution, types
from core.formats.paimon.blob_files import Blob
from core.formats.paimon.schema_evolution import Origin
from core.formats.paimon.types import PaimonType, parse
from core.model.intervals import Ints
from core.model.references import Field, Schema
from core.spark.read import timestamps, variants
from core.spark.read.paimon import casts, python_files
from core.spark.session.divided import divided
from core.spark.session.task_errors import forwarding_errors
from core.storage.store import Store

_BATCH_ROWS = 16_384


def arrow_schema(schema: Schema, *, micros: bool) -> pa.Schema:
    """The table's columns in Arrow; with `micros`, as Spark accepts them."""
    return pa.schema([pa.field(f.name, types.arrow(parse(f.type), micros=micros)) for f in schema.fields])


def frame(
    spark: SparkSession,
    store: Store,
    form: str,
    written: Schema,
    wanted: Schema,
    files: pa.Table,
    system: Mapping[str, str],
) -> DataFrame:
    """The columns of `wanted`, then those of `system`, of files of one schema. Each file is read whole by one task."""
    fields = (*wanted.fields, *(Field(-1, name, of) for name, of in system.items()))
    schema = arrow_schema(replace(wanted, fields=fields), micros=True)
    ddl = [f"{types.quoted(each.name)} {types.spark(parse(each.type), reads=True)}" for each in fields]
    work = divided(spark, files.select(["path", "partition_bytes"]), files["bytes"].to_pylist())
    run = _reader(store, form, replace(written, options={}), replace(wanted, options={}), system, schema)
    return work.mapInArrow(run, ", ".join(ddl))


def _reader(
    store: Store, form: str, written: Schema, wanted: Schema, system: Mapping[str, str], schema: pa.Schema
) -> Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]:
    keys = [parse(next(f.type for f in wanted.fields if f.name == name)) for name in wanted.partition_keys]

    def run(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        for batch in batches:
            for work in batch.to_pylist():
                path = work["path"]
                with forwarding_errors():
                    values = binary_row.decode(work["partition_bytes"], keys)
                    source = python_files.source(store, path)
                    found = read(source, form, written, wanted, values, path, system=system)
                made = [timestamps.cast(found[each.name], each.type) for each in schema]
                yield from pa.table(made, schema=schema).to_batches(_BATCH_ROWS)

    return run


def read(
    source: Any,
    form: str,
    written: Schema,
    wanted: Schema,
    partition: Sequence[Any],
    path: str,
    *,
    system: Mapping[str, str] | None = None,
    deleted: Ints | None = None,
    micros: bool = True,
) -> pa.Table:
    """The rows of one file; `source` is its content or a local path.

    `system` names the engine's own columns and their types (`_VALUE_KIND`). Without `micros`, timestamps keep their
    nanoseconds. Raises `Corrupt` for a file that does not match the metadata, `Unsupported` by name.
    """
    origins = schema_evolution.origins(written, wanted, casts=True)
    sources = [origin.source for origin in origins if origin.source is not None]
    own = [Field(-1, name, of) for name, of in (system or {}).items()]
    columns = [(field.name, parse(field.type)) for field in (*sources, *own)]
    table, rows = python_files.decode(source, form, columns, path, micros=micros)
    try:
        found = [_column(each, table, rows, partition, micros) for each in origins]
    except (ValueError, NotImplementedError) as error:
        raise undecoded.error(error, path) from error
    names = [field.name for field in wanted.fields]
    for field in own:
        names.append(field.name)
        found.append(table[field.name].cast(types.arrow(parse(field.type))))
    whole = pa.table(found, names=names)
    return without(whole, deleted, rows, path)


def without(whole: pa.Table, deleted: Ints | None, rows: int, path: str) -> pa.Table:
    """Return the rows of a file of so many without the deleted ones. Raises `Corrupt` if it has fewer."""
    if deleted is None or not len(deleted):
        return whole
    if int(deleted.max()) >= rows:
        raise Corrupt(
            "Row {deleted} is deleted in a file that has only {rows} rows.",
            deleted=int(deleted.max()),
            rows=rows,
            path=path,
        )
    keep = np.ones(rows, dtype=np.bool_)
    keep[deleted] = False
    return whole.filter(pa.array(keep))


def _column(origin: Origin, table: pa.Table, rows: int, partition: Sequence[Any], micros: bool) -> Any:
    wanted = parse(origin.field.type)
    to = types.arrow(wanted, micros=micros)
    if origin.partition is not None:
        return pa.array([partition[origin.partition]] * rows, to)
    if origin.source is None:
        return pa.nulls(rows, to)
    have = parse(origin.source.type)
    column = table[origin.source.name]
    if schema_evolution.same(have, wanted) and not _holds_variants(have):
        return as_stored(column, have, micros)
    return timestamps.cast(converted(column, have, wanted, micros), to)


def as_stored(column: Any, of: PaimonType, micros: bool) -> Any:
    """A file's column in the type its schema gives it."""
    to = types.arrow(of, micros=micros)
    if of.root == "TIME" and pa.types.is_int32(column.type):  # of ORC and Avro, milliseconds
        column = column.cast(pa.time32("ms"))
    if pa.types.is_fixed_size_list(column.type):
        column = column.cast(pa.list_(column.type.value_field))
    if of.root == "BLOB":  # descriptors; else the bytes themselves, which stand nowhere else
        found = column.to_pylist()
        return blobs([None if each is None else blob_files.described(each) or Blob("", 0, len(each)) for each in found])
    if of.root == "VARIANT" and pa.types.is_struct(column.type):
        return _variants(column)
    return timestamps.cast(column, to)


def blobs(found: Sequence[Blob | None]) -> pa.Array:
    """Blobs as Spark shows them."""
    rows = [None if each is None else {"uri": each.uri, "offset": each.offset, "length": each.length} for each in found]
    return pa.array(rows, types.arrow(PaimonType("BLOB"), micros=True))


def _variants(column: Any) -> Any:
    """Values as Spark takes them; shredded ones have parts of their values in columns of their own."""
    flat = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    to = types.arrow(PaimonType("VARIANT"), micros=True)
    return pa.StructArray.from_arrays(list(variants.whole(flat)), fields=list(to), mask=flat.is_null())


def _holds_variants(of: PaimonType) -> bool:
    """Whether its values contain variants: a cast would lose the parts that are stored in columns of their own."""
    inner = (*of.args, *(field.type for field in of.fields))
    return any(each.root == "VARIANT" or _holds_variants(each) for each in inner)


def converted(column: Any, have: PaimonType, wanted: PaimonType, micros: bool) -> Any:
    """Cast values of an old type to the new one as the engine does: nested rows field by field, by id, and the elements
    of arrays and maps."""
    if schema_evolution.same(have, wanted) and not _holds_variants(have):
        return as_stored(column, have, micros)
    to = types.arrow(wanted, micros=micros)
    flat = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if have.root == "ROW":
        inner = schema_evolution.inner(have, wanted)
        made = []
        for field in wanted.fields:
            of = types.arrow(field.type, micros=micros)
            if (old := inner.get(field.id)) is None:
                made.append(pa.nulls(len(flat), of))
            else:
                part = pc.struct_field(flat, old.name)
                made.append(timestamps.cast(converted(part, old.type, field.type, micros), of))
        return pa.StructArray.from_arrays(made, fields=list(to), mask=flat.is_null())
    if have.root == wanted.root and have.args:
        return _inside(flat, have, wanted, to, micros)
    if schema_evolution.widens(have, wanted) and _is_exact(have, wanted):
        return timestamps.cast(as_stored(flat, have, micros), to)
    return timestamps.cast(casts.cast(as_stored(flat, have, False), have, wanted), to)


def _is_exact(have: PaimonType, wanted: PaimonType) -> bool:
    """Whether Arrow's own cast gives the engine's value: not of texts, which Arrow prints in ways of its own."""
    return wanted.root not in ("CHAR", "VARCHAR") or have.root in ("CHAR", "VARCHAR")


def _inside(flat: Any, have: PaimonType, wanted: PaimonType, to: pa.DataType, micros: bool) -> Any:
    """Arrays and maps of elements that were changed."""
    if pa.types.is_map(to):
        flat = flat.cast(pa.list_(pa.struct([flat.type.key_field, flat.type.item_field])))
    lengths = pc.fill_null(pc.list_value_length(flat), 0).to_numpy(zero_copy_only=False)
    offsets = pa.array(np.concatenate(([0], np.cumsum(lengths))), pa.int32())
    if pa.types.is_map(to):
        pairs = flat.flatten()
        keys = timestamps.cast(as_stored(pc.struct_field(pairs, [0]), have.args[0], micros), to.key_type)
        values = pc.struct_field(pairs, [1])
        values = converted(values, have.args[1], wanted.args[1], micros) if len(have.args) > 1 else values
        made = timestamps.cast(values, to.item_type)
        return pa.MapArray.from_arrays(offsets, keys, made, type=to, mask=flat.is_null())
    values = converted(flat.flatten(), have.args[0], wanted.args[0], micros)
    made = timestamps.cast(values, to.value_type)
    return pa.ListArray.from_arrays(offsets, made, type=to, mask=flat.is_null())
