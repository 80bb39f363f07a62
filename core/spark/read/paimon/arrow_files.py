"""One data file as an Arrow table with the columns of a version, for tasks that process rows in Python.

Law: columns, values and types are those that `frames` gives through the JVM: by field id, partition values from the
manifest, older types widened. Deleted positions are removed before anything else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import Corrupt
from core.formats.paimon import schema_evolution, types
from core.formats.paimon.schema_evolution import Origin
from core.formats.paimon.types import PaimonType, parse
from core.model.intervals import Ints
from core.model.references import Field, Schema
from core.spark.read import timestamps
from core.spark.read.paimon import python_files


def arrow_schema(schema: Schema, *, micros: bool) -> pa.Schema:
    """The table's columns in Arrow; with `micros` as Spark takes them."""
    return pa.schema([pa.field(f.name, types.arrow(parse(f.type), micros=micros)) for f in schema.fields])


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
    """The rows of one file, `source` being its content or a local path.

    `system` names columns of the engine's own and their types (`_VALUE_KIND`). Without `micros` timestamps keep their
    nanoseconds. Raises `Corrupt` for a file that is not what the metadata says, `Unsupported` by name.
    """
    origins = schema_evolution.origins(written, wanted)
    sources = [origin.source for origin in origins if origin.source is not None]
    own = [Field(-1, name, of) for name, of in (system or {}).items()]
    columns = [(field.name, parse(field.type)) for field in (*sources, *own)]
    table, rows = python_files.decode(source, form, columns, path, micros=micros)
    try:
        found = [_column(each, table, rows, partition, micros) for each in origins]
    except pa.ArrowInvalid as error:
        raise Corrupt("The data file could not be read: {error}.", error=error, path=path) from error
    names = [field.name for field in wanted.fields]
    for field in own:
        names.append(field.name)
        found.append(table[field.name].cast(types.arrow(parse(field.type))))
    whole = pa.table(found, names=names)
    if deleted is None or not len(deleted):
        return whole
    if int(deleted.max()) >= rows:
        raise Corrupt(
            "Row {deleted} is deleted in a file of {rows} rows.", deleted=int(deleted.max()), rows=rows, path=path
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
    return timestamps.cast(converted(as_stored(table[origin.source.name], have, micros), have, wanted, micros), to)


def as_stored(column: pa.ChunkedArray, of: PaimonType, micros: bool) -> pa.ChunkedArray:
    """A file's column in the type its schema gives it."""
    return timestamps.cast(column, types.arrow(of, micros=micros))


def converted(column: Any, have: PaimonType, wanted: PaimonType, micros: bool) -> Any:
    """A value of an old type as the new one, as Spark's cast would; nested rows field by field, by id."""
    if schema_evolution.same(have, wanted):
        return column
    to = types.arrow(wanted, micros=micros)
    if have.root == "ROW":
        flat = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        inner = {field.id: number for number, field in enumerate(have.fields)}
        made = []
        for field in wanted.fields:
            at = inner.get(field.id)
            if at is None:
                made.append(pa.nulls(len(flat), types.arrow(field.type, micros=micros)))
            else:
                part = pc.struct_field(flat, [at])
                part = converted(part, have.fields[at].type, field.type, micros)
                made.append(timestamps.cast(part, types.arrow(field.type, micros=micros)))
        return pa.StructArray.from_arrays(made, fields=list(to), mask=flat.is_null())
    return timestamps.cast(column, to)
