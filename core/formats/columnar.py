"""Metadata files in ORC and Parquet, decoded into the same Arrow columns as Avro files.

Invariant: a truncated or inconsistent file yields an error that names it, never fewer rows. Files with the same record
type are concatenated first and split into columns once.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import Corrupt, SnapscopeError
from core.formats import footer_limits, undecoded
from core.formats.avro.decode import AvroColumn, Decoded, arrow_schema, refuse_nulls, shown
from core.messages import message
from core.storage import local_disk, size_limits, time_limits
from core.storage.file_systems import TooLarge, too_large

if TYPE_CHECKING:
    import pyarrow.orc as orc
    import pyarrow.parquet as parquet

ORC, PARQUET = "ORC", "Parquet"
_AT_ONCE = 16  # files for one task of a thread
MAGIC = {b"ORC": ORC, b"PAR1": PARQUET}


def formats(paths: Sequence[str]) -> list[str | None]:
    """Return `ORC` or `PARQUET` for each file by its first bytes; None for other or unreadable files."""
    return time_limits.calling(lambda: [_format(path) for path in paths])


def _format(path: str) -> str | None:
    try:
        begin = local_disk.read(path, 4, 0)
    except (OSError, SnapscopeError):
        return None  # the reader that opens it next reports the error
    return MAGIC.get(begin) or MAGIC.get(begin[:3])


def read(paths: Sequence[str], forms: Sequence[str], columns: Sequence[AvroColumn]) -> Decoded:
    """Decode local files of the given formats. An unreadable file has no rows, and its number is in `errors`."""
    errors: dict[int, SnapscopeError] = {}
    groups: dict[int, list[_File]] = {}
    schemas: dict[int, bytes | pa.Schema] = {}
    types: list[_RecordType] = []

    def answers(numbers: range) -> list[_File | SnapscopeError]:
        return [_answer(number, paths[number], forms[number], columns, types) for number in numbers]

    parts = [range(first, min(first + _AT_ONCE, len(paths))) for first in range(0, len(paths), _AT_ONCE)]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for number, answer in enumerate(chain.from_iterable(pool.map(answers, parts))):
            if isinstance(answer, SnapscopeError):
                errors[number] = answer
            else:
                groups.setdefault(id(answer.type), []).append(answer)
                schemas[number] = answer.type.schema
    empty = arrow_schema(columns).empty_table()
    rows = pa.concat_tables([empty, *(part for files in groups.values() for part in _together(files, columns, errors))])
    refuse_nulls(rows, paths, columns, errors)
    if errors:
        rows = rows.filter(pc.invert(pc.is_in(rows["file"], pa.array(list(errors), pa.int32()))))
    return Decoded(rows, errors, schemas)


@dataclass(frozen=True, slots=True)
class _RecordType:
    """What files with the same schema share: working it out for each takes a fifth of the time of a small file."""

    stored: pa.Schema | parquet.ParquetSchema  # as the file has it
    schema: pa.Schema
    wanted: list[str]


@dataclass(frozen=True, slots=True)
class _File:
    number: int
    path: str
    form: str
    type: _RecordType
    rows: list[pa.Table]  # nested as in the file
    count: int


def _answer(
    number: int, path: str, form: str, columns: Sequence[AvroColumn], types: list[_RecordType]
) -> _File | SnapscopeError:
    try:
        data = time_limits.calling(local_disk.read, path, size_limits.MANIFEST)
        footer_limits.refuse_large(data, form.lower())
        opened = _orc(data) if form == ORC else _parquet(data)
        type_ = _record_type(opened, columns, form, types)
        count = opened.nrows if form == ORC else opened.metadata.num_rows
        if count > (most := max(size_limits.RECORDS, len(data))):
            raise ValueError(message("it claims {records:,} records; at most {most:,} fit", records=count, most=most))
        rows = _parts(opened, type_.wanted, max(size_limits.DECODED, size_limits.EXPANSION * len(data)))
        found = sum(map(len, rows))
        if found != count:
            raise ValueError(message("expected {numbers} records, could decode {rows}", numbers=count, rows=found))
    except FileNotFoundError:
        return _missing(path)
    except TooLarge as error:
        return too_large(error, size_limits.MANIFEST, path)
    except SnapscopeError as error:
        return error
    except (OSError, ValueError, ArithmeticError, pa.ArrowException, MemoryError) as error:
        return _damaged(error, path, form)
    return _File(number, path, form, type_, rows, count)


def _record_type(
    opened: orc.ORCFile | parquet.ParquetFile, columns: Sequence[AvroColumn], form: str, types: list[_RecordType]
) -> _RecordType:
    stored = opened.schema
    for known in types:
        if type(known.stored) is type(stored) and known.stored.equals(stored):
            return known
    schema = stored if form == ORC else opened.schema_arrow
    types.append(_RecordType(stored, schema, _wanted(schema, columns, form)))
    return types[-1]


def _orc(data: bytes) -> orc.ORCFile:
    import pyarrow.orc as orc  # slow to import, and most tables have only Avro

    return orc.ORCFile(pa.BufferReader(data))


def _parquet(data: bytes) -> parquet.ParquetFile:
    import pyarrow.parquet as parquet

    return parquet.ParquetFile(pa.BufferReader(data), pre_buffer=False)


def _parts(opened: orc.ORCFile | parquet.ParquetFile, wanted: list[str], most: int) -> list[pa.Table]:
    """Read one stripe or row group at a time, and fail as soon as they take more than `most` bytes of memory."""
    parts, size = [], 0
    is_orc = hasattr(opened, "read_stripe")
    for number in range(opened.nstripes if is_orc else opened.num_row_groups):
        if is_orc:
            part = pa.Table.from_batches([opened.read_stripe(number, columns=wanted)])
        else:
            part = opened.read_row_group(number, columns=wanted, use_threads=False)
        size += part.nbytes
        if size > most:
            raise ValueError(message("its rows take more than {most:,} bytes of memory", most=most))
        parts.append(part)
    return parts


def _wanted(schema: pa.Schema, columns: Sequence[AvroColumn], form: str) -> list[str]:
    """Return the dotted names of those columns that the file has. Raises `Corrupt` if a required column is missing."""
    found = []
    for column in columns:
        if _has(schema, column.path):
            found.append(".".join(str(step) for step in column.path))
        elif column.required:
            raise Corrupt(
                "The {format} file must have a field {column}; it has none.",
                format=form,
                column=shown(column),
                remedy="The file was not written by a known version of the table format.",
            )
    return found


def _has(type_: pa.Schema | pa.DataType, path: Sequence[str | int]) -> bool:
    for step in path:
        is_nested = isinstance(type_, pa.Schema) or pa.types.is_struct(type_)
        if not is_nested or type_.get_field_index(step) < 0:
            return False
        type_ = type_.field(step).type
    return True


def _together(files: list[_File], columns: Sequence[AvroColumn], errors: dict[int, SnapscopeError]) -> list[pa.Table]:
    """Flatten files with the same record type together; if that fails, one by one, to name the file with the error."""
    try:
        return [_flat(files, columns)]
    except (ValueError, pa.ArrowException) as error:
        if len(files) > 1:
            return [part for file in files for part in _together([file], columns, errors)]
        errors[files[0].number] = _damaged(error, files[0].path, files[0].form)
        return []


def _flat(files: list[_File], columns: Sequence[AvroColumn]) -> pa.Table:
    parts = [part for file in files for part in file.rows]
    rows = pa.concat_tables(parts).combine_chunks() if parts else pa.table({})
    numbers = np.repeat([file.number for file in files], [file.count for file in files])
    found = {"file": pa.array(numbers, pa.int32())}
    for column in columns:
        if _has(rows.schema, column.path):
            top, *inner = column.path
            values = rows[str(top)]
            if inner:
                values = pc.struct_field(values, inner)
            if _kind(values.type) != _kind(column.type):
                found_type = str(values.type)[:60]
                raise ValueError(message("the field {column} is of type {type}", column=shown(column), type=found_type))
            values = values.cast(column.type)
            values.validate(full=True)  # ORC does not guarantee that strings are valid UTF-8
        else:
            values = pa.nulls(len(rows), column.type)
        found[column.name] = values
    return pa.table(found, schema=arrow_schema(columns))


def _kind(type_: pa.DataType) -> int:
    """Return a type's kind: integers of any width are one kind; text and bytes are types of their own."""
    kind: int = pa.int64().id if pa.types.is_integer(type_) else type_.id
    return kind


def _damaged(error: BaseException, path: str, form: str) -> SnapscopeError:
    if undecoded.is_lack(error):
        return undecoded.error(error, path)
    first_line = next(iter(str(error).splitlines()), type(error).__name__)[:200]
    return Corrupt(
        "A whole {format} file was expected, decoding failed: {first_line}.",
        format=form,
        first_line=first_line,
        path=path,
        remedy="The file is damaged; restore it, or delete the snapshots and tags that need it.",
    )


def _missing(path: str) -> SnapscopeError:
    return Corrupt(
        "The table's metadata refers to this file, but it does not exist.",
        path=path,
        remedy="Snapshots and tags that need it can no longer be read in full.",
    )
