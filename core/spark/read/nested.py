"""Convert the elements of Arrow's lists, maps and structs. Pure."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa


def changed(array: pa.Array, change: Callable[[int, pa.Array], pa.Array]) -> pa.Array:
    """Return a list, a map (its keys are 0, its values 1) or a struct with `change` made to the arrays inside of it.

    The array must not be a slice. Others stay as they are.
    """
    gone = array.is_null()
    if pa.types.is_struct(array.type):
        inner = [change(at, array.field(at)) for at in range(array.type.num_fields)]
        return pa.StructArray.from_arrays(inner, [field.name for field in array.type], mask=gone)
    if pa.types.is_map(array.type):
        return pa.MapArray.from_arrays(array.offsets, change(0, array.keys), change(1, array.items), mask=gone)
    if pa.types.is_list(array.type):
        return pa.ListArray.from_arrays(array.offsets, change(0, array.values), mask=gone)
    return array
