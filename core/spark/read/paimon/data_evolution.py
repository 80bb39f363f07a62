"""Tables with data evolution: several files hold different columns of the same rows, which their row ids tell.

Invariants: files whose row ids overlap are one group. A column is taken from the newest file of its group that wrote
it, and from none other; what no file of the group wrote is null. Values of blob and vector files, each of a part of the
rows, follow those of data files. Deleted rows are those of the vector of the group's oldest data file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from core.errors import Corrupt, Unsupported
from core.formats.paimon import blob_files, types
from core.formats.paimon.blob_files import Blob
from core.formats.paimon.scan_details import FileKey, RowIds
from core.formats.paimon.types import parse
from core.messages import message
from core.model.references import Field, Schema
from core.spark.read.paimon import arrow_files, python_files
from core.storage.store import Store

ENABLED = "data-evolution.enabled"
_File: TypeAlias = Mapping[str, Any]


def is_on(options: Mapping[str, str]) -> bool:
    """Whether files of a table may hold different columns of the same rows."""
    return options.get(ENABLED, "").strip().lower() == "true"


def groups(ids: Mapping[FileKey, RowIds]) -> list[list[FileKey]]:
    """Files of a bucket whose row ids overlap; in a group data files, the newest first, then those of parts."""
    found: list[list[FileKey]] = []
    place, end = None, -1
    for key in sorted(ids, key=lambda key: (key[:2], ids[key].first, -ids[key].rows)):
        if key[:2] != place or ids[key].first >= end:
            found.append([])
            place, end = key[:2], -1
        found[-1].append(key)
        end = max(end, ids[key].first + ids[key].rows)
    return [sorted(each, key=lambda key: (is_part(key[2]), -ids[key].sequence, key[2])) for each in found]


def is_part(name: str) -> bool:
    """Whether a file may hold fewer rows than its group: blobs and vectors have files of their own."""
    return name.endswith(f".{blob_files.FORMAT}") or ".vector." in name


def is_whole(columns: Sequence[str] | None, written: Schema | None) -> bool:
    """Whether a file has all columns of the schema it was written with."""
    if columns is None or written is None:
        return True
    return {field.name for field in written.fields} <= {*columns, *written.partition_keys}


def described(ids: RowIds) -> dict[str, Any]:
    """What a task must know of a file to put its rows together."""
    columns = None if ids.columns is None else list(ids.columns)
    return {"first": ids.first, "rows": ids.rows, "sequence": ids.sequence, "columns": columns}


def joined(
    store: Store, schema: Schema, schemas: Mapping[int, Schema], files: Sequence[_File], partition: Sequence[Any]
) -> pa.Table:
    """The rows of one group, its files in the order of `groups`."""
    whole = [file for file in files if not is_part(file["path"])]
    if not whole:
        raise Corrupt("No data file holds the rows of this file.", path=files[0]["path"])
    first, rows = whole[0]["first"], whole[0]["rows"]
    for file in whole:
        if (file["first"], file["rows"]) != (first, rows):
            raise Corrupt(
                "The rows {first} to {last} were expected, those of the other files of its group.",
                first=first,
                last=first + rows - 1,
                path=file["path"],
            )
    columns: dict[int, pa.Array] = {}
    for file, wanted in _chosen(schema, schemas, files):
        part = replace(schema, fields=tuple(wanted))
        found = _read(store, part, _projected(schemas[file["schema_id"]], file), file, partition)
        if len(found) != rows:
            raise Corrupt("{rows} rows were expected.", rows=rows, path=file["path"])
        columns |= {field.id: found[field.name] for field in wanted}
    for field in schema.fields:
        if field.id not in columns:
            columns[field.id] = _of_parts(store, schema, schemas, field, files, partition, first, rows)
    made = [columns[field.id] for field in schema.fields]
    out = arrow_files.arrow_schema(schema, micros=True)
    return arrow_files.without(
        pa.table(made, schema=out), python_files.deleted_rows(store, _oldest(whole)["vector"]), rows, whole[0]["path"]
    )


def _oldest(whole: Sequence[_File]) -> _File:
    return min(whole, key=lambda file: (file["sequence"], file["path"].rpartition("/")[2]))


def _projected(written: Schema, file: _File) -> Schema:
    """The schema reduced to the columns in the file."""
    if file["columns"] is None:
        return written
    return replace(written, fields=tuple(field for field in written.fields if field.name in file["columns"]))


def _chosen(schema: Schema, schemas: Mapping[int, Schema], files: Sequence[_File]) -> list[tuple[_File, list[Field]]]:
    """The data files that are read, each with the columns that are taken from it."""
    open_ = {field.id: field for field in schema.fields}
    found = []
    for file in files:
        if is_part(file["path"]):
            continue
        wanted = [open_.pop(field.id) for field in _projected(schemas[file["schema_id"]], file).fields
                  if field.id in open_]  # fmt: skip
        if wanted:
            found.append((file, wanted))
    partitions = [field for field in open_.values() if field.name in schema.partition_keys]
    if partitions:
        found.append((next(file for file in files if not is_part(file["path"])), partitions))
    return found


def _of_parts(
    store: Store,
    schema: Schema,
    schemas: Mapping[int, Schema],
    field: Field,
    files: Sequence[_File],
    partition: Sequence[Any],
    first: int,
    rows: int,
) -> pa.Array:
    """A column out of the blob and vector files of the group, the newest that has a row's value."""
    _refuse_older(schemas, field, files)
    taken = np.full(rows, -1, dtype=np.int64)
    pieces: list[pa.Array] = [pa.nulls(0, types.arrow(parse(field.type), micros=True))]
    count = 0
    for file in files:  # parts come the newest first
        written = _projected(schemas[file["schema_id"]], file)
        if not is_part(file["path"]) or field.id not in {each.id for each in written.fields}:
            continue
        at = file["first"] - first
        if at < 0 or at + file["rows"] > rows:
            raise Corrupt("Its rows reach beyond those of the data files.", path=file["path"])
        if file["format"] == blob_files.FORMAT:
            piece, has = _blobs(store, file)
        else:
            part = replace(schema, fields=(field,))
            piece = _read(store, part, written, file, partition)[field.name].combine_chunks()
            has = np.ones(len(piece), dtype=np.bool_)
        if len(piece) != file["rows"]:
            raise Corrupt("{rows} rows were expected.", rows=file["rows"], path=file["path"])
        own = taken[at : at + len(piece)]
        own[(own < 0) & has] = (count + np.arange(len(piece)))[(own < 0) & has]
        pieces.append(piece)
        count += len(piece)
    return pa.concat_arrays(pieces).take(pa.array(taken, mask=taken < 0))


def _refuse_older(schemas: Mapping[int, Schema], field: Field, files: Sequence[_File]) -> None:
    """Raise `Unsupported` for vectors of which the engine (2.0) does not take the newest: of the files of one group it
    takes those of the oldest schema."""
    found = [
        file for file in files if is_part(file["path"]) and file["format"] != blob_files.FORMAT
        and field.id in {each.id for each in _projected(schemas[file["schema_id"]], file).fields}
    ]  # fmt: skip
    kinds = [(file["schema_id"], file["format"], file["columns"] or []) for file in found]
    if kinds and kinds[0] != min(kinds):
        raise Unsupported(
            "The vectors of '{name}' were written again after a change of the schema, and Paimon 2.0 returns the older "
            "ones.",
            name=field.name,
            path=found[0]["path"],
            remedy=message("Leave the column out, or query a version before they were written again."),
        )


def _read(store: Store, part: Schema, written: Schema, file: _File, partition: Sequence[Any]) -> pa.Table:
    source = python_files.source(store, file["path"])
    return arrow_files.read(source, file["format"], written, part, partition, file["path"])


def _blobs(store: Store, file: _File) -> tuple[pa.Array, Any]:
    """The location of each value in a blob file, and the rows that it has a value for."""
    path = file["path"]
    source = python_files.source(store, path)
    if isinstance(source, str):
        with open(source, "rb") as opened:
            size = opened.seek(0, 2)
            opened.seek(max(0, size - blob_files.TAIL))
            length = blob_files.index_size(opened.read(), path)
            opened.seek(max(0, size - blob_files.TAIL - max(0, length)))
            index = opened.read(max(0, length))
    else:
        length = blob_files.index_size(source[-blob_files.TAIL :], path)
        index = source[len(source) - blob_files.TAIL - length : -blob_files.TAIL]
    if length < 0 or len(index) != length:
        raise Corrupt("The index of the blob file is longer than the file.", path=path)
    uri = path if ":" in path.split("/", 1)[0] else store.url(path)
    values = blob_files.values(index, uri, path)
    return arrow_files.blobs([each if isinstance(each, Blob) else None for each in values]), np.array(
        [each is not Blob for each in values], dtype=np.bool_
    )
