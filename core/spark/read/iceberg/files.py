"""Data files of an Iceberg table as Arrow, without the rows that delete files name. Runs inside tasks.

Invariant: a column is matched by its id alone, at every level (convert.py, and field_ids.py for files without ids).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import Corrupt, NotFound, Unsupported
from core.formats import undecoded
from core.formats.iceberg import puffin, types
from core.formats.iceberg.file_paths import TableLocation, normals
from core.formats.iceberg.types import IcebergField, IcebergType
from core.model.intervals import Ints
from core.spark.read.iceberg import convert, field_ids, stored_files
from core.spark.read.iceberg import deletes as iceberg_deletes
from core.spark.read.iceberg.columns import WAY_OUT
from core.spark.read.iceberg.convert import Constants
from core.spark.read.iceberg.deletes import near_miss
from core.spark.read.iceberg.field_ids import MappedName
from core.storage import local_disk
from core.storage.size_limits import DATA_FILE, INDEX_FILE
from core.storage.store import Store

BATCH_ROWS = 1 << 16
PATH = IcebergField(iceberg_deletes.PATH, "file_path", IcebergType("string"), default="")  # where the column is lacking
POSITION = IcebergField(iceberg_deletes.POSITION, "pos", IcebergType("long"))
Names: TypeAlias = Mapping[str, MappedName] | None


def rows(
    place: TableLocation,
    columns: Sequence[IcebergField],
    keys: Sequence[IcebergField],
    unit: Mapping[str, Any],
    names: Names,
) -> Iterator[pa.Table]:
    """The rows of a unit's data files that none of its deletes applies to, with these columns, in batches."""
    by_id = {each.id: each for each in keys}
    positions = _positions(place, unit["positions"], [file["name"] for file in unit["files"]], names)
    groups: dict[tuple[int, ...], list[str]] = {}
    for path, ids in unit["equality"]:
        groups.setdefault(tuple(sorted(ids)), []).append(path)
    equality = [
        ([by_id[id] for id in ids], _Deleted(_equality(place, paths, [by_id[id] for id in ids], names)))
        for ids, paths in groups.items()
    ]
    wanted = list({each.id: each for each in (*columns, *(key for some, _ in equality for key in some))}.values())
    for file in unit["files"]:
        gone = _vector(place, file["vector"]) if file["vector"] else positions.get(file["name"], _NONE)
        start = 0
        for batch in read(place, file["path"], wanted, file["constants"], names):
            keep = np.ones(len(batch), dtype=np.bool_)
            low, high = np.searchsorted(gone, (start, start + len(batch)))
            keep[gone[low:high] - start] = False
            for some, deleted in equality:
                keep &= ~deleted.among([batch[f"{each.id}"] for each in some])
            start += len(batch)
            found = batch.select([f"{each.id}" for each in columns]).rename_columns([each.name for each in columns])
            yield found if keep.all() else found.filter(pa.array(keep))
        if len(gone) and gone[-1] >= start:
            raise Corrupt(
                "Row {gone} is deleted in a file that has only {start} rows.",
                gone=gone[-1],
                start=start,
                path=file["path"],
            )


def read(
    place: TableLocation, path: str, wanted: Sequence[IcebergField], constants: Constants, names: Names
) -> Iterator[pa.Table]:
    """All rows of one file, in order, in batches; columns are named by their ids.

    `constants`: the partition's values by column id, as spelled in Avro; None if its spec is unknown. `names`: the
    mapping for a file without field ids.
    """
    for each in wanted:
        if each.refusal is not None:
            raise each.refusal
    try:
        with stored_files.opened(_source(place, path), path, BATCH_ROWS) as file:
            schema = field_ids.identified(file, wanted, names)
            parted = (constants or {}) if field_ids.is_by_place(file, names) else {}
            ways = [None if f"{each.id}" in parted else convert.way(schema, each.id) for each in wanted]
            for each, way in zip(wanted, ways, strict=True):
                if way is None and constants is None:
                    raise Unsupported(
                        "The data file has no column '{name}', and its manifest does not say which spec partitions it.",
                        name=each.name,
                        path=path,
                        remedy=WAY_OUT,
                    )
            used = sorted({way[0] for way in ways if way})
            at = {number: place for place, number in enumerate(used)}
            for count, columns in file.batches(used):
                made = [
                    convert.filled(each, constants, count) if way is None
                    else convert.found(columns[at[way[0]]], schema.field(way[0]), way[1:], each, path, constants)
                    for each, way in zip(wanted, ways, strict=True)
                ]  # fmt: skip
                yield pa.table(made, names=[f"{each.id}" for each in wanted])
    except FileNotFoundError as error:
        raise missing(path) from error
    except (pa.ArrowException, OSError, ValueError) as error:
        raise undecoded.error(error, path) from error


def missing(path: str) -> NotFound:
    """The error for a missing data or delete file."""
    return NotFound(
        "A file that the table refers to does not exist.",
        path=path,
        remedy="This snapshot or tag cannot be read in full; choose another one.",
    )


def local(place: TableLocation, path: str) -> str:
    """A file's full path on the local disk."""
    store, inside = _opened(place, path)
    return local_disk.refuse_special(store.full(inside))


def _opened(place: TableLocation, path: str) -> tuple[Store, str]:
    """The store of a file, and its path there."""
    directory, _, name = path.rpartition("/")
    store, below = place.opened(directory)
    return store, f"{below}/{name}" if below else name


def _source(place: TableLocation, path: str) -> str | pa.Buffer:
    """What to decode: a local file by its path, so that only what is needed is read; otherwise its content."""
    store, inside = _opened(place, path)
    if store.is_local:
        return local_disk.refuse_special(store.full(inside))
    return pa.py_buffer(store.read(inside, DATA_FILE))


# deletes ----------------------------------------------------------------------------------------------------------

_NONE: Ints = np.zeros(0, dtype=np.int64)


def _vector(place: TableLocation, where: Sequence[Any]) -> Ints:
    path, offset, size, count = where
    store, inside = _opened(place, path)
    if size > INDEX_FILE:
        raise Corrupt(
            "A deletion vector may be at most {most:,} bytes; its manifest says {size:,}.",
            most=INDEX_FILE,
            size=size,
            path=path,
            remedy="Restore the manifest, or choose another snapshot or tag.",
        )
    try:
        return puffin.deleted(store.read(inside, size, offset), count, path)  # a file may hold a thousand
    except NotFound as error:
        raise missing(path) from error


def _positions(place: TableLocation, paths: Sequence[str], files: Sequence[str], names: Names) -> dict[str, Ints]:
    """Deleted row positions per data file, ascending, for these data files."""
    own, wanted = set(files), pa.array(files, pa.string())
    spellings = normals(wanted)
    found: dict[str, list[Ints]] = {}
    for path in paths:
        for batch in read(place, path, (PATH, POSITION), {}, names):
            batch = _with_path(batch, path)
            encoded = batch[f"{PATH.id}"].combine_chunks().dictionary_encode()
            odd = encoded.dictionary.filter(pc.invert(pc.is_in(encoded.dictionary, value_set=wanted)))
            for name, is_near in zip(odd, pc.is_in(normals(odd), value_set=spellings), strict=True):
                if is_near.as_py():
                    raise near_miss(name.as_py(), path)
            code, row = encoded.indices.to_numpy(), batch[f"{POSITION.id}"].to_numpy()
            for number, name in enumerate(encoded.dictionary.to_pylist()):
                if name in own:
                    found.setdefault(name, []).append(row[code == number])
    return {name: np.unique(np.concatenate(parts)) for name, parts in found.items()}


def _with_path(batch: pa.Table, path: str) -> pa.Table:
    """The position deletes without those whose path is null: they name no file, so the engine's readers skip them."""
    batch = batch.filter(batch[f"{PATH.id}"].is_valid())
    if batch[f"{POSITION.id}"].null_count or pc.any(pc.equal(batch[f"{PATH.id}"], "")).as_py():
        raise Corrupt("A position delete file has rows without a path or a position.", path=path)
    if len(batch) and pc.min(batch[f"{POSITION.id}"]).as_py() < 0:
        raise Corrupt("A position delete file has a negative position.", path=path)
    return batch


def _equality(place: TableLocation, paths: Sequence[str], keys: Sequence[IcebergField], names: Names) -> list[pa.Array]:
    """The values of deleted rows, column by column."""
    parts: list[pa.Table] = []
    for path in paths:
        parts += read(place, path, keys, {}, names)
    empty = pa.schema([(f"{each.id}", types.arrow(each.type)) for each in keys]).empty_table()
    whole = pa.concat_tables([empty, *parts])
    return [whole[f"{each.id}"].combine_chunks() for each in keys]


class _Deleted:
    """A lookup of value rows: null equals null, NaN equals NaN, 0.0 is not -0.0, as in the engines."""

    def __init__(self, columns: Sequence[pa.Array]) -> None:
        self.values: list[pa.Array] = []
        self.codes: list[Ints] = []
        code: Ints = np.zeros(len(columns[0]), dtype=np.int64)
        for column in map(_comparable, columns):
            values = column.unique()
            code = code * len(values) + pc.index_in(column, value_set=values).to_numpy(zero_copy_only=False)
            self.values.append(values)
            self.codes.append(np.unique(code))
            code = np.searchsorted(self.codes[-1], code)

    def among(self, columns: Sequence[pa.ChunkedArray]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Per row: whether it is deleted."""
        count = len(columns[0])
        found = np.ones(count, dtype=np.bool_)
        code: Ints = np.zeros(count, dtype=np.int64)
        for column, values, codes in zip(columns, self.values, self.codes, strict=True):
            if not len(codes):
                return np.zeros(count, dtype=np.bool_)
            at = pc.index_in(_comparable(column.combine_chunks()), value_set=values)
            found &= at.is_valid().to_numpy(zero_copy_only=False)
            code = code * len(values) + pc.fill_null(at, 0).to_numpy(zero_copy_only=False)
            place = np.minimum(np.searchsorted(codes, code), len(codes) - 1)
            found &= codes[place] == code
            code = place
        return found


def _comparable(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    flat = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if not pa.types.is_floating(flat.type):
        return flat
    bits = pc.fill_null(flat, 0).to_numpy(zero_copy_only=False).copy()
    bits[np.isnan(bits)] = np.nan
    whole = pa.array(bits.view(np.int32 if bits.itemsize == 4 else np.int64))
    return pc.if_else(flat.is_valid(), whole, None)


__all__ = ["BATCH_ROWS", "read", "rows"]
