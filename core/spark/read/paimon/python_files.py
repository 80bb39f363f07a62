"""Content of data files as Arrow, for tasks in Python: any format, from any store.

Invariant: the columns and rows that the JVM's readers would give.
"""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc

from core import urls
from core.errors import NotFound, Unsupported
from core.formats import footer_limits, undecoded
from core.formats.paimon import deletion_vectors, types
from core.formats.paimon.types import PaimonType
from core.messages import message
from core.model.intervals import Ints
from core.spark.read import int96, nested, orc_times
from core.spark.read.paimon import shredded_maps
from core.storage import local_disk
from core.storage.size_limits import DATA_FILE, INDEX_FILE
from core.storage.store import Store

FORMATS = ("avro", "parquet", "orc")


def source(store: Store, path: str) -> bytes | str:
    """What to decode: a local file by its path, so that only what is needed is read. External paths are URLs."""
    if urls.is_url(path) or path.startswith("/"):
        directory, _, path = path.rpartition("/")
        store = Store.named(directory)
    return local_disk.refuse_special(store.full(path)) if store.is_local else store.read(path, DATA_FILE)


def local_path(store: Store, path: str) -> str | None:
    """The full path of a file on the local disk; None if it is elsewhere."""
    if urls.is_url(path) or path.startswith("/"):
        return urls.local_path(path)
    return store.full(path) if store.is_local else None


def deleted_rows(store: Store, vector: Sequence[Any] | None) -> Ints | None:
    """The positions that a deletion vector, as (path, offset, size), takes out of its data file."""
    if vector is None:
        return None
    path, offset, size = vector
    content = source(store, path)
    if isinstance(content, str):
        content = Store("/").read(content.removeprefix("/"), INDEX_FILE)  # which tells what is missing from what is not
    return deletion_vectors.positions(content, offset, size, path)


def decode(
    source: bytes | str, form: str, wanted: Sequence[tuple[str, PaimonType]], path: str, *, micros: bool = True
) -> tuple[pa.Table, int]:
    """The wanted columns of one file (its content, or a local path) and its number of rows.

    A column that the file lacks is `Corrupt`. Times are returned as in the file, INT96 ones as bytes: see
    `timestamps.cast`; those of Avro in nanoseconds only without `micros`, because Arrow's range is then only 584 years.
    """
    names = [name for name, _ in wanted]
    try:
        if form == "avro":
            if isinstance(source, str):
                with open(source, "rb") as file:
                    return _avro(file, wanted, micros)
            return _avro(io.BytesIO(source), wanted, micros)
        footer_limits.refuse_large(source, form)
        opened = source if isinstance(source, str) else pa.BufferReader(source)
        if form == "parquet":
            import pyarrow.parquet as parquet

            with parquet.ParquetFile(opened, coerce_int96_timestamp_unit="us", pre_buffer=False) as found:
                if not int96.has(found.schema, names):
                    return _counted(_with_maps(found.read(names).select(names), path), found.metadata.num_rows)
            content = Path(source).read_bytes() if isinstance(source, str) else source
            with parquet.ParquetFile(pa.BufferReader(int96.as_bytes(content))) as found:
                return _counted(_with_maps(found.read(names).select(names), path), found.metadata.num_rows)
        if form == "orc":
            import pyarrow.orc as orc

            found, rows = _orc(orc.ORCFile(opened), source, names, path)
            found = _with_maps(found, path)
            columns = [_without_blanks(found[name], of) for name, of in wanted]
            return _counted(pa.table(columns, names=names), rows)
    except FileNotFoundError as error:
        raise NotFound(
            "A data file that the table refers to does not exist.",
            path=path,
            remedy="This snapshot or tag cannot be read in full; choose another one.",
        ) from error
    except (pa.ArrowException, KeyError, ValueError, EOFError, OSError) as error:
        raise undecoded.error(error, path) from error
    raise unknown_format(form, path)


def _counted(found: pa.Table, rows: int) -> tuple[pa.Table, int]:
    if found.num_columns and len(found) != rows:
        raise ValueError(message("expected {numbers} records, could decode {rows}", numbers=rows, rows=len(found)))
    return found, rows


def unknown_format(form: str, path: str) -> Unsupported:
    """The error for data files that no reader here knows."""
    return Unsupported(
        "Data files of format {form!r} cannot be read.", form=form, path=path, remedy=undecoded.ELSEWHERE
    )


def _orc(file: Any, source: bytes | str, names: Sequence[str], path: str) -> tuple[pa.Table, int]:
    """Columns as Arrow reads them, but times that it cannot read, or may move by a second: see `orc_times`."""
    times = [name for name in names if _has_times(file.schema.field(name).type)]
    others = [name for name in names if name not in times]
    found = file.read(others)
    columns = {name: found[name] for name in others}
    for name in times:
        column: pa.ChunkedArray | None
        try:
            column = file.read([name])[name]
        except pa.ArrowInvalid:
            column = None
        if column is None or orc_times.is_near_1970(column):
            content = Path(source).read_bytes() if isinstance(source, str) else source
            try:
                column = pa.chunked_array([orc_times.column(content, name)])
            except (ValueError, LookupError) as error:
                raise _unreadable_times(path) from error
        columns[name] = column
    shredded = shredded_maps.in_orc(file)
    fields = [pa.field(name, columns[name].type, metadata=shredded.get(name)) for name in names]
    return pa.table([columns[name] for name in names], schema=pa.schema(fields)), file.nrows


def _with_maps(found: pa.Table, path: str) -> pa.Table:
    """The table with maps put together that the file stores in parts."""
    for number, field in enumerate(found.schema):
        if shredded_maps.is_stored(field):
            made = shredded_maps.whole(found.column(number), field.metadata, path)
            found = found.set_column(number, field.name, made)
    return found


def _without_blanks(column: pa.ChunkedArray | pa.Array, of: PaimonType) -> pa.ChunkedArray | pa.Array:
    """A column of ORC without the blanks that fill a CHAR up, at any depth; the engine's reader takes all off."""
    if of.root == "CHAR":
        return pc.utf8_rtrim(column, " ")
    inner = (*of.args, *(field.type for field in of.fields))
    if not any(each.root == "CHAR" or each.args or each.fields for each in inner):
        return column
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return nested.changed(array, lambda at, part: _without_blanks(part, inner[at]))


def _has_times(of: pa.DataType) -> bool:
    return pa.types.is_timestamp(of) or any(_has_times(of.field(at).type) for at in range(of.num_fields))


def _unreadable_times(path: str) -> Unsupported:
    return Unsupported(
        "An ORC file has a time outside of the years 1677 to 2262 where Snapscope cannot read it.",
        path=path,
        remedy="Leave the column out, or read it with the table's own engine.",
    )


def _avro(file: IO[bytes], wanted: Sequence[tuple[str, PaimonType]], micros: bool) -> tuple[pa.Table, int]:
    import fastavro

    columns: dict[str, list[Any]] = {name: [] for name, _ in wanted}
    rows = 0
    for record in fastavro.reader(file):
        if not isinstance(record, dict):
            raise ValueError("its records are no rows")
        rows += 1
        for name, values in columns.items():
            values.append(record[name])
    arrays = {
        name: pa.array([_plain(value, of) for value in columns[name]], types.arrow(of, micros=micros))
        for name, of in wanted
    }
    return pa.table(arrays), rows


def _plain(value: Any, of: PaimonType) -> Any:
    """Convert a value: Avro marks every timestamp as UTC, a Paimon TIMESTAMP has no zone; maps become Arrow's pairs."""
    if value is None:
        return None
    match of.root:
        case "ARRAY":
            return [_plain(each, of.args[0]) for each in value]
        case "MAP" | "MULTISET":
            pairs = value.items() if isinstance(value, dict) else ((each["key"], each["value"]) for each in value)
            inner = of.args[1] if of.root == "MAP" else PaimonType("INT")
            return [(_plain(key, of.args[0]), _plain(each, inner)) for key, each in pairs]
        case "ROW":
            return {field.name: _plain(value[field.name], field.type) for field in of.fields}
        case _:
            pass
    if isinstance(value, dt.datetime):
        return value.replace(tzinfo=None if of.root == "TIMESTAMP" else dt.UTC)
    return value
