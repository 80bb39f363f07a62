"""Convert the timestamps of files to those of columns. Pure.

Invariant: a time with more digits than its column stores is rounded down, before 1970 as well as after it, so that a
time read is never later than the one written. Nothing else loses a digit: a value that does not fit raises
`ArrowInvalid`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.spark.read import int96

_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def cast(column: Any, to: pa.DataType) -> Any:
    """Cast an array or chunked array to another type; times are rounded down to its unit."""
    if column.type == to:
        return column
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([cast(chunk, to) for chunk in column.chunks], to)
    is_ = pa.types
    have = column.type
    if is_.is_timestamp(have) and is_.is_timestamp(to):
        return _floored(column, to)
    if is_.is_fixed_size_binary(have) and is_.is_timestamp(to) and have.byte_width == int96.BYTES:
        return int96.times(column, to)
    if not _has_times(to):
        return column.cast(to)
    if is_.is_struct(have) and is_.is_struct(to) and have.names == to.names:
        made = [cast(pc.struct_field(column, [at]), each.type) for at, each in enumerate(to)]
        return pa.StructArray.from_arrays(made, fields=list(to), mask=column.is_null())
    if is_.is_list(have) and is_.is_list(to):
        return _nested(column, to, cast(column.values, to.value_type))
    if is_.is_map(have) and is_.is_map(to):
        kind = pa.struct([to.key_field, to.item_field])
        pairs = [cast(column.keys, to.key_type), cast(column.items, to.item_type)]
        return _nested(column, to, pa.StructArray.from_arrays(pairs, fields=list(kind)))
    return column.cast(to)


def _nested(column: pa.Array, to: pa.DataType, values: pa.Array) -> pa.Array:
    valid, offsets = column.buffers()[:2]
    return pa.Array.from_buffers(to, len(column), [valid, offsets], column.null_count, column.offset, [values])


def _has_times(of: pa.DataType) -> bool:
    if pa.types.is_nested(of):
        return any(_has_times(of.field(number).type) for number in range(of.num_fields))
    return bool(pa.types.is_timestamp(of))


def _floored(column: pa.Array, to: pa.DataType) -> pa.Array:
    """Round times down. A zone only names the moment differently: a time without one is read as UTC."""
    digits = _PER_SECOND[column.type.unit] // _PER_SECOND[to.unit] or 1
    if digits > 1 and len(column):
        whole = np.frombuffer(column.buffers()[1], dtype=np.int64)[column.offset : column.offset + len(column)]
        own = pa.timestamp(to.unit, column.type.tz)
        flat = pa.array(np.floor_divide(whole, digits), pa.int64())
        column = pc.if_else(column.is_valid(), flat, None).cast(own)  # null slots have undefined values
    return column.cast(to)
