"""One data or delete file as Arrow, with the field ids it has: Parquet, ORC or Avro, detected by its first bytes.

Invariant: nothing is converted here that depends on the table's types; an encrypted file is detected by its first
bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as parquet

from core.errors import Unsupported
from core.formats import footer_limits
from core.messages import message
from core.spark.read import int96, orc_times
from core.spark.read.iceberg import avro_rows
from core.spark.read.iceberg.columns import WAY_OUT
from core.storage import local_disk, time_limits

FORMATS = ("parquet", "orc", "avro")
_MAGIC = {b"PAR1": "parquet", b"ORC": "orc", b"Obj\x01": "avro"}
_ENCRYPTED = (b"PARE", b"AGS1")


Batches = Callable[[Sequence[int]], Iterator[tuple[int, list[pa.Array]]]]


@dataclass(frozen=True, slots=True)
class StoredFile:
    """An open file. `batches` yields (row count, columns with these numbers), in batches of rows."""

    form: str
    schema: pa.Schema
    batches: Batches


@contextmanager
def opened(source: str | pa.Buffer, path: str, batch_rows: int) -> Iterator[StoredFile]:
    """Open a file by its local path or its content; `path` is its name in the table.

    Raises `Unsupported` if it is encrypted; Arrow errors, `ValueError` or `OSError` if it is damaged.
    """
    form = _form(source, path)
    if form == "avro":
        rows = avro_rows.opened(source, batch_rows)
        yield StoredFile("avro", rows.schema, rows.batches)
        return
    footer_limits.refuse_large(source if isinstance(source, str) else source.to_pybytes(), form)
    if form == "orc":
        yield _orc(source, path)
        return
    with parquet.ParquetFile(_opening(source), coerce_int96_timestamp_unit="us", pre_buffer=False) as file:
        yield _parquet(file, source, batch_rows)


def has_ids(schema: pa.Schema) -> bool:
    return any(map(_has_id, schema))


def id_of(field: pa.Field) -> int | None:
    own = field.metadata or {}
    found = own.get(b"PARQUET:field_id", own.get(b"iceberg.id"))
    return None if found is None else int(found)


def children(of: pa.DataType) -> list[pa.Field]:
    return [of.field(number) for number in range(of.num_fields)] if pa.types.is_nested(of) else []


def _has_id(field: pa.Field) -> bool:
    return id_of(field) is not None or any(map(_has_id, children(field.type)))


def _form(source: str | pa.Buffer, path: str) -> str:
    head = time_limits.calling(local_disk.read, source, 4, 0) if isinstance(source, str) else source[:4].to_pybytes()
    if head in _ENCRYPTED:
        raise Unsupported("The file is encrypted, and the keys are not here.", path=path, remedy=WAY_OUT)
    found = next((form for magic, form in _MAGIC.items() if head.startswith(magic)), None)
    if found is None:
        raise ValueError(message("its first bytes are those of no Parquet, ORC or Avro file"))
    return found


def _opening(source: str | pa.Buffer) -> Any:
    return source if isinstance(source, str) else pa.BufferReader(source)


def _parquet(file: parquet.ParquetFile, source: str | pa.Buffer, batch_rows: int) -> StoredFile:
    schema = file.schema_arrow

    def batches(columns: Sequence[int]) -> Iterator[tuple[int, list[pa.Array]]]:
        names = _names(schema, columns)
        for batch in _with_all_digits(file, source).iter_batches(batch_rows, columns=names):
            yield len(batch), _chosen(batch.columns, columns, names)

    return StoredFile("parquet", schema, _counted(file.metadata.num_rows, batches))


def _with_all_digits(file: parquet.ParquetFile, source: str | pa.Buffer) -> parquet.ParquetFile:
    """The file, or a copy whose INT96 times, which Arrow misreads before 1970, are raw bytes."""
    if not int96.has(file.schema, file.schema_arrow.names):
        return file
    content = Path(source).read_bytes() if isinstance(source, str) else source.to_pybytes()
    return parquet.ParquetFile(pa.BufferReader(int96.as_bytes(content)), pre_buffer=False)


def _orc(source: str | pa.Buffer, path: str) -> StoredFile:
    file = orc.ORCFile(_opening(source))
    schema = file.schema

    def batches(columns: Sequence[int]) -> Iterator[tuple[int, list[pa.Array]]]:
        names = _names(schema, columns)
        if not columns:
            yield file.nrows, []
            return
        times: dict[int, list[pa.Array]] = {}
        for stripe in range(file.nstripes):
            found = _as_arrow_reads(file, stripe, columns, names)
            for number, column in found.items():
                if column is None or (names and _is_in_micros(schema.field(number)) and orc_times.is_near_1970(column)):
                    if number not in times:
                        times[number] = _times(source, schema.field(number), path)
                    found[number] = times[number][stripe]
            arrays = [found[number] for number in columns]
            yield len(arrays[0]), arrays

    return StoredFile("orc", schema, _counted(file.nrows, batches))


def _counted(rows: int, batches: Batches) -> Batches:
    """Raise `ValueError` after the last batch if they do not have as many rows as the file claims."""

    def counted(columns: Sequence[int]) -> Iterator[tuple[int, list[pa.Array]]]:
        found = 0
        for count, arrays in batches(columns):
            found += count
            yield count, arrays
        if found != rows:
            raise ValueError(message("expected {numbers} records, could decode {rows}", numbers=rows, rows=found))

    return counted


def _as_arrow_reads(file: orc.ORCFile, stripe: int, columns: Sequence[int], names: list[str] | None) -> dict[int, Any]:
    """Return a stripe's columns by number; None for those with times that Arrow cannot read."""
    try:
        return dict(zip(columns, _chosen(file.read_stripe(stripe, columns=names).columns, columns, names), strict=True))
    except pa.ArrowInvalid:
        if not _has_times_alone_at_fault(file, stripe, columns):
            raise
        if len(columns) > 1:
            each = (_as_arrow_reads(file, stripe, [number], _names(file.schema, [number])) for number in columns)
            return {number: column for one in each for number, column in one.items()}
        return {columns[0]: None}


def _times(source: str | pa.Buffer, field: pa.Field, path: str) -> list[pa.Array]:
    """Return the times of a column by stripe, as read by `orc_times`."""
    content = Path(source).read_bytes() if isinstance(source, str) else source.to_pybytes()
    try:
        return orc_times.stripes(content, field.name)
    except (ValueError, LookupError) as error:
        raise _unreadable_times(path) from error


def _unreadable_times(path: str) -> Unsupported:
    return Unsupported(
        "An ORC file has a time outside of the years 1677 to 2262, which cannot be read here.",
        path=path,
        remedy=WAY_OUT,
    )


def _is_in_micros(field: pa.Field) -> bool:
    """Whether its times are whole microseconds: `orc_times` keeps no more, and Iceberg marks finer ones."""
    own = (field.metadata or {}).get(b"iceberg.timestamp-unit")
    return own != b"NANOS" and all(map(_is_in_micros, children(field.type)))


def _has_times_alone_at_fault(file: orc.ORCFile, stripe: int, columns: Sequence[int]) -> bool:
    """Whether only times fail: Arrow stores ORC's times in nanoseconds, from 1677 to 2262 only."""
    others = [number for number in columns if not _has_times(file.schema.field(number).type)]
    if len(others) == len(columns):
        return False
    names = _names(file.schema, others)
    try:
        if others and names is not None:
            file.read_stripe(stripe, columns=names)
    except pa.ArrowInvalid:
        return False
    return names is not None


def _has_times(of: pa.DataType) -> bool:
    return pa.types.is_timestamp(of) or any(_has_times(each.type) for each in children(of))


def _names(schema: pa.Schema, columns: Sequence[int]) -> list[str] | None:
    """The columns by name; None if names are ambiguous, or contain a dot, which would mean a nested field."""
    names = [schema.names[number] for number in columns]
    is_plain = len(set(schema.names)) == len(schema.names) and not any("." in name for name in names)
    return names if is_plain else None


def _chosen(found: Sequence[pa.Array], columns: Sequence[int], names: list[str] | None) -> list[pa.Array]:
    """The columns in the requested order; Arrow returns them in the file's order."""
    if names is None:
        return [found[number] for number in columns]
    place = {number: at for at, number in enumerate(sorted(columns))}
    return [found[place[number]] for number in columns]
