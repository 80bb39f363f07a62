"""Convert a file's column to the table's: by field id at every level, types widened, missing fields filled in. Pure.

Invariants: a field that the file lacks comes from its partition, else from the column's initial-default, else it is
null. A file that stores a type from which the column cannot be read is `Corrupt`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import Corrupt
from core.formats import undecoded
from core.formats.iceberg import types
from core.formats.iceberg.types import IcebergField
from core.spark.read import int96, timestamps, variants
from core.spark.read.iceberg.stored_files import children, id_of

Constants: TypeAlias = Mapping[str, str | None] | None  # a partition's values by column id; None: the spec is unknown


def way(fields: Iterable[pa.Field], id: int) -> tuple[int, ...] | None:
    """The path to the field with this id: the column's number, then the numbers of fields in structs."""
    for number, field in enumerate(fields):
        if id_of(field) == id:
            return (number,)
        inner = way(children(field.type), id) if pa.types.is_struct(field.type) else None
        if inner is not None:
            return (number, *inner)
    return None


def found(
    column: pa.Array, field: pa.Field, steps: Sequence[int], wanted: IcebergField, path: str, constants: Constants
) -> pa.Array:
    for number in steps:
        column, field = pc.struct_field(column, [number]), field.type.field(number)
    return converted(column, field, wanted, path, constants)


def filled(wanted: IcebergField, constants: Constants, count: int) -> pa.Array:
    """The values of a column that the file lacks."""
    to, constants = types.arrow(wanted.type), constants or {}
    if (text := constants.get(f"{wanted.id}")) is not None:
        return pa.repeat(pa.scalar(types.spelled(text, wanted.type), to), count)
    if f"{wanted.id}" in constants or wanted.default is None:
        return pa.nulls(count, to)
    return pa.repeat(pa.scalar(wanted.default, to), count)


def converted(
    column: pa.Array, field: pa.Field, wanted: IcebergField, path: str, constants: Constants = None
) -> pa.Array:
    """Convert a file's column to the table's: types widened, struct fields matched by their ids."""
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
                    made.append(filled(each, constants, len(column)))
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
        case "uuid" if _fits(have, "fixed"):
            return _uuids(column)
        case "variant" if pa.types.is_struct(have):
            return _variants(column, wanted, path)
        case "unknown":
            return pa.nulls(len(column))
        case root if _fits(have, root):
            if pa.types.is_fixed_size_binary(column.type) and pa.types.is_timestamp(have):
                return int96.times(column, types.arrow(of), is_floored=False)
            return timestamps.cast(_micros(column) if root == "time" else column, types.arrow(of))
        case _:
            raise Corrupt(
                "Column '{name}' should be {root}; the file has {have}.",
                name=wanted.name,
                root=of.root,
                have=have,
                path=path,
            )


def _fits(have: pa.DataType, root: str) -> bool:
    """Whether a column with this Iceberg type can be read from a file that stores this Arrow type."""
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
        "timestamp_ns": lambda: is_.is_timestamp(have) or is_.is_date32(have),
        "timestamptz_ns": lambda: is_.is_timestamp(have),
        "time": lambda: is_.is_time(have) or is_.is_int64(have),  # ORC: microseconds
        "string": lambda: is_.is_string(have) or is_.is_large_string(have) or is_.is_binary(have),
        "fixed": lambda: is_.is_fixed_size_binary(have) or is_.is_binary(have),
        "binary": lambda: is_.is_fixed_size_binary(have) or is_.is_binary(have) or is_.is_large_binary(have),
        "geometry": lambda: is_.is_binary(have) or is_.is_large_binary(have),
        "geography": lambda: is_.is_binary(have) or is_.is_large_binary(have),
    }
    return root in fits and bool(fits[root]())


def _offsets(column: pa.Array) -> pa.Array:
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    return pa.array(np.concatenate(([0], np.cumsum(lengths))), pa.int32())


def _uuids(column: pa.Array) -> pa.Array:
    texts = [None if each is None else each.hex() for each in column.to_pylist()]
    return pa.array([t and f"{t[:8]}-{t[8:12]}-{t[12:16]}-{t[16:20]}-{t[20:]}" for t in texts], pa.string())


def _micros(column: pa.Array) -> pa.Array:
    return column.cast(pa.time64("us")) if pa.types.is_int64(column.type) else column


def _variants(column: pa.Array, wanted: IcebergField, path: str) -> pa.Array:
    """Variant values in Spark's form; shredded ones have parts of their values in columns of their own."""
    try:
        made = variants.whole(column)
    except (ValueError, NotImplementedError) as error:
        raise undecoded.error(error, path) from error
    return pa.StructArray.from_arrays(list(made), fields=list(types.arrow(wanted.type)), mask=column.is_null())
