"""Data and delete files of an Iceberg table as Arrow: columns by field id, less the deleted rows. Runs inside of tasks.

Laws: a column is found by its id alone, at every level; what a file lacks comes from its partition, then from the
column's initial-default, else it is null. A file that stores another type than its column can be read as is `Corrupt`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as parquet

from core.errors import Corrupt, NotFound, Unsupported
from core.formats import footer_limits
from core.formats.iceberg import puffin, types
from core.formats.iceberg.file_paths import TableLocation, normals
from core.formats.iceberg.types import IcebergField, IcebergType
from core.model.intervals import Ints
from core.spark.read import int96, timestamps
from core.spark.read.iceberg import deletes as iceberg_deletes
from core.spark.read.iceberg.columns import WAY_OUT
from core.spark.read.iceberg.deletes import near_miss
from core.storage import local_disk
from core.storage.size_limits import DATA_FILE, INDEX_FILE
from core.storage.store import Store

BATCH_ROWS = 1 << 16
PATH = IcebergField(iceberg_deletes.PATH, "file_path", IcebergType("string"))
POSITION = IcebergField(iceberg_deletes.POSITION, "pos", IcebergType("long"))
_ID = b"PARQUET:field_id"
_Constants: TypeAlias = Mapping[str, str | None] | None  # a partition's values by column id; None: spec not known


def rows(
    place: TableLocation, columns: Sequence[IcebergField], keys: Sequence[IcebergField], unit: Mapping[str, Any]
) -> Iterator[pa.Table]:
    """The rows of a unit's data files that no delete of it reaches, with these columns, some at a time."""
    by_id = {each.id: each for each in keys}
    positions = _positions(place, unit["positions"], [file["name"] for file in unit["files"]])
    groups: dict[tuple[int, ...], list[str]] = {}
    for path, ids in unit["equality"]:
        groups.setdefault(tuple(sorted(ids)), []).append(path)
    equality = [
        ([by_id[id] for id in ids], _Deleted(_equality(place, paths, [by_id[id] for id in ids])))
        for ids, paths in groups.items()
    ]
    wanted = list({each.id: each for each in (*columns, *(key for some, _ in equality for key in some))}.values())
    for file in unit["files"]:
        gone = _vector(place, file["vector"]) if file["vector"] else positions.get(file["name"], _NONE)
        start = 0
        for batch in read(place, file["path"], wanted, file["constants"]):
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
                "Row {gone} is deleted in a file of {start} rows.", gone=gone[-1], start=start, path=file["path"]
            )


def read(place: TableLocation, path: str, wanted: Sequence[IcebergField], constants: _Constants) -> Iterator[pa.Table]:
    """All rows of one Parquet file, in order, some at a time; columns are named by their ids.

    `constants` are the partition's values by column id, as Avro spells them; None where its spec is not known."""
    try:
        source = _source(place, path)
        with parquet.ParquetFile(source, coerce_int96_timestamp_unit="us", pre_buffer=False) as opened:
            schema = opened.schema_arrow
            file = _with_all_digits(opened, source)
            if not any(_has_ids(each) for each in schema):
                raise Unsupported(
                    "The data file's columns have no field ids, so only a name mapping tells which is which "
                    "(schema.name-mapping.default), and that is not read here.",
                    path=path,
                    remedy=WAY_OUT,
                )
            ways = [_way(schema, each.id) for each in wanted]
            for each, way in zip(wanted, ways, strict=True):
                if way is None and constants is None:
                    raise Unsupported(
                        "The data file has no column '{name}', and its manifest does not tell by which spec it is "
                        "partitioned.",
                        name=each.name,
                        path=path,
                        remedy=WAY_OUT,
                    )
            used = sorted({way[0] for way in ways if way})
            names = [schema.names[at] for at in used]
            is_plain = len(set(schema.names)) == len(schema.names) and not any("." in name for name in names)
            for batch in file.iter_batches(BATCH_ROWS, columns=names if is_plain else None):
                at = {number: place for place, number in enumerate(used)} if is_plain else {n: n for n in used}
                made = [
                    _filled(each, constants, len(batch)) if way is None
                    else _found(batch.column(at[way[0]]), schema.field(way[0]), way[1:], each, path, constants)
                    for each, way in zip(wanted, ways, strict=True)
                ]  # fmt: skip
                yield pa.table(made, names=[f"{each.id}" for each in wanted])
    except FileNotFoundError as error:
        raise missing(path) from error
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Corrupt(
            "The file could not be read: {error}.", error=f"{type(error).__name__}: {error}", path=path
        ) from error


def missing(path: str) -> NotFound:
    """A data or delete file that is not there."""
    return NotFound(
        "A file that the table names is not there.",
        path=path,
        remedy="The point cannot be read in full; choose another one.",
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


def _source(place: TableLocation, path: str) -> Any:
    """What to decode: a local file by its path, so that only what is needed is read."""
    store, inside = _opened(place, path)
    source = local_disk.refuse_special(store.full(inside)) if store.is_local else store.read(inside, DATA_FILE)
    footer_limits.refuse_large(source, "parquet")
    return source if isinstance(source, str) else pa.BufferReader(source)


def _with_all_digits(opened: parquet.ParquetFile, source: Any) -> parquet.ParquetFile:
    """The file, or one whose times of 96 bits, which Arrow gets wrong before 1970, are bytes: see `timestamps.cast`."""
    if not int96.has(opened.schema, opened.schema_arrow.names):
        return opened
    content = Path(source).read_bytes() if isinstance(source, str) else source.getvalue()
    return parquet.ParquetFile(pa.BufferReader(int96.as_bytes(content)), pre_buffer=False)


# columns ----------------------------------------------------------------------------------------------------------


def _has_ids(field: pa.Field) -> bool:
    return _ID in (field.metadata or {}) or any(map(_has_ids, children(field.type)))


def children(of: pa.DataType) -> list[pa.Field]:
    return [of.field(number) for number in range(of.num_fields)] if pa.types.is_nested(of) else []


def id_of(field: pa.Field) -> int | None:
    own = (field.metadata or {}).get(_ID)
    return None if own is None else int(own)


def _way(fields: Iterable[pa.Field], id: int) -> tuple[int, ...] | None:
    """Where the field with this id stands: the number of the column, then of fields in structs."""
    for number, field in enumerate(fields):
        if id_of(field) == id:
            return (number,)
        inner = _way(children(field.type), id) if pa.types.is_struct(field.type) else None
        if inner is not None:
            return (number, *inner)
    return None


def _found(
    column: pa.Array, field: pa.Field, way: Sequence[int], wanted: IcebergField, path: str, constants: _Constants
) -> pa.Array:
    for number in way:
        column, field = pc.struct_field(column, [number]), field.type.field(number)
    return converted(column, field, wanted, path, constants)


def _filled(wanted: IcebergField, constants: _Constants, count: int) -> pa.Array:
    """A column that the file lacks."""
    to, constants = types.arrow(wanted.type), constants or {}
    if (text := constants.get(f"{wanted.id}")) is not None:
        return pa.repeat(pa.scalar(types.spelled(text, wanted.type), to), count)
    if f"{wanted.id}" in constants or wanted.default is None:
        return pa.nulls(count, to)
    return pa.repeat(pa.scalar(wanted.default, to), count)


def converted(
    column: pa.Array, field: pa.Field, wanted: IcebergField, path: str, constants: _Constants = None
) -> pa.Array:
    """A file's column as its column of the table: types widened, fields of structs by their ids."""
    of = wanted.type
    have = field.type.storage_type if isinstance(field.type, pa.BaseExtensionType) else field.type
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    match of.root:
        case "struct" if pa.types.is_struct(have):
            made = []
            for each in of.inner:
                at = next((n for n, inner in enumerate(children(have)) if id_of(inner) == each.id), None)
                if at is None:
                    made.append(_filled(each, constants, len(column)))
                else:
                    made.append(converted(pc.struct_field(column, [at]), have.field(at), each, path, constants))
            return pa.StructArray.from_arrays(made, fields=list(types.arrow(of)), mask=column.is_null())
        case "list" if pa.types.is_list(have) or pa.types.is_large_list(have):
            inside = converted(column.flatten(), have.value_field, of.inner[0], path)
            return pa.ListArray.from_arrays(_offsets(column), inside, type=types.arrow(of), mask=column.is_null())
        case "map" if pa.types.is_map(have):
            column = column.cast(pa.list_(pa.struct([column.type.key_field, column.type.item_field])))
            pairs = column.flatten()
            key, value = (
                converted(pc.struct_field(pairs, [n]), inner, own, path)
                for n, (inner, own) in enumerate(zip((have.key_field, have.item_field), of.inner, strict=True))
            )
            return pa.MapArray.from_arrays(_offsets(column), key, value, type=types.arrow(of), mask=column.is_null())
        case "uuid" if pa.types.is_fixed_size_binary(have) and have.byte_width == 16:
            return _uuids(column)
        case root if _fits(have, root):
            return timestamps.cast(column, types.arrow(of))
        case _:
            raise Corrupt(
                "The column '{name}' was expected to be {root}; the file has {have}.",
                name=wanted.name,
                root=of.root,
                have=have,
                path=path,
            )


def _fits(have: pa.DataType, root: str) -> bool:
    """Whether a file that stores this type may be one of such a column."""
    is_ = pa.types
    fits = {
        "boolean": lambda: is_.is_boolean(have),
        "int": lambda: is_.is_signed_integer(have) and have.bit_width <= 32,
        "long": lambda: is_.is_signed_integer(have),
        "float": lambda: is_.is_float32(have),
        "double": lambda: is_.is_float32(have) or is_.is_float64(have),
        "decimal": lambda: is_.is_decimal(have),
        "date": lambda: is_.is_date32(have),
        "timestamp": lambda: is_.is_timestamp(have) or is_.is_date32(have),
        "timestamptz": lambda: is_.is_timestamp(have),
        "string": lambda: is_.is_string(have) or is_.is_large_string(have) or is_.is_binary(have),
        "fixed": lambda: is_.is_fixed_size_binary(have) or is_.is_binary(have),
        "binary": lambda: is_.is_fixed_size_binary(have) or is_.is_binary(have) or is_.is_large_binary(have),
    }
    return root in fits and bool(fits[root]())


def _offsets(column: pa.Array) -> pa.Array:
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    return pa.array(np.concatenate(([0], np.cumsum(lengths))), pa.int32())


def _uuids(column: pa.Array) -> pa.Array:
    texts = [None if each is None else each.hex() for each in column.to_pylist()]
    return pa.array([t and f"{t[:8]}-{t[8:12]}-{t[12:16]}-{t[16:20]}-{t[20:]}" for t in texts], pa.string())


# deletes ----------------------------------------------------------------------------------------------------------

_NONE: Ints = np.zeros(0, dtype=np.int64)


def _vector(place: TableLocation, where: Sequence[Any]) -> Ints:
    path, offset, size, count = where
    store, inside = _opened(place, path)
    if size > INDEX_FILE:
        raise Corrupt(
            "A deletion vector of at most {most:,} bytes was expected, its manifest says {size:,}.",
            most=INDEX_FILE,
            size=size,
            path=path,
            remedy="Restore the manifest, or choose another point.",
        )
    try:
        return puffin.deleted(store.read(inside, size, offset), count, path)  # of a file with those of a thousand files
    except NotFound as error:
        raise missing(path) from error


def _positions(place: TableLocation, paths: Sequence[str], names: Sequence[str]) -> dict[str, Ints]:
    """Deleted rows by data file, of these data files, ascending."""
    own, wanted = set(names), pa.array(names, pa.string())
    spellings = normals(wanted)
    found: dict[str, list[Ints]] = {}
    for path in paths:
        for batch in read(place, path, (PATH, POSITION), {}):
            _refuse_nulls(batch, path)
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


def _refuse_nulls(batch: pa.Table, path: str) -> None:
    if batch[f"{PATH.id}"].null_count or batch[f"{POSITION.id}"].null_count:
        raise Corrupt("A file of position deletes has rows without a path or a position.", path=path)
    if len(batch) and pc.min(batch[f"{POSITION.id}"]).as_py() < 0:
        raise Corrupt("A file of position deletes names a negative position.", path=path)


def _equality(place: TableLocation, paths: Sequence[str], keys: Sequence[IcebergField]) -> list[pa.Array]:
    """The values of deleted rows, column by column."""
    parts: list[pa.Table] = []
    for path in paths:
        parts += read(place, path, keys, {})
    empty = pa.schema([(f"{each.id}", types.arrow(each.type)) for each in keys]).empty_table()
    whole = pa.concat_tables([empty, *parts])
    return [whole[f"{each.id}"].combine_chunks() for each in keys]


class _Deleted:
    """Rows of values, to be looked up: null equals null, NaN equals NaN, 0.0 is not -0.0, as the engines compare."""

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
        """Which rows are among the deleted."""
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


__all__ = ["BATCH_ROWS", "converted", "read", "rows"]
