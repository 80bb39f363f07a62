"""The columns of a merge: their values as numbers in the engine's order; and the simplest merged column. Pure.

Invariants: `codes` are equal where the engine considers values equal, and `ranks` follow the order in which it compares
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from core.model.intervals import Ints, Mask

Values: TypeAlias = npt.NDArray[Any]
NO_ROW = -1  # the merged value is null


def codes(rows: pa.Table, names: Sequence[str]) -> Ints:
    """Equal numbers for rows with equal values in these columns, different numbers for others."""
    code: Ints = np.zeros(len(rows), dtype=np.int64)
    for name in names:
        column = one_chunk(rows[name])
        if pa.types.is_integer(column.type) and not column.null_count and len(names) == 1:
            return numbers(column).astype(np.int64)
        if pa.types.is_floating(column.type):
            column = pa.array(java_bits(numbers(column)), mask=nulls(column))
        encoded = column.dictionary_encode()
        own = pc.fill_null(encoded.indices, len(encoded.dictionary)).to_numpy(zero_copy_only=False).astype(np.int64)
        if code.any():
            code = np.unique(code, return_inverse=True)[1].astype(np.int64)
        code = code * (len(encoded.dictionary) + 1) + own
    return code


def ranks(column: pa.ChunkedArray | pa.Array, *, descending: bool = False) -> Ints:
    """Numbers in the order of the values, equal for equal ones; null is the lowest in both directions."""
    flat = one_chunk(column)
    if pa.types.is_floating(flat.type):
        flat = pa.array(java_bits(numbers(flat)), mask=nulls(flat))
    elif pa.types.is_boolean(flat.type):
        flat = flat.cast(pa.int8())
    nothing = nulls(flat)
    if pa.types.is_integer(flat.type) and not nothing.any():
        values = numbers(flat).astype(np.int64)
        return ~values if descending else values
    if pa.types.is_decimal(flat.type):
        encoded = flat.dictionary_encode()
        place = np.zeros(len(encoded.dictionary) + 1, dtype=np.int64)
        place[pc.sort_indices(encoded.dictionary).to_numpy()] = np.arange(1, len(place))
        found: Ints = place[pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)]
    else:
        found = pc.rank(flat, sort_keys="ascending", tiebreaker="dense").to_numpy().astype(np.int64)
    lowest = np.int64(-len(found) - 2)
    return np.where(nothing, lowest, -found if descending else found)


def order_by(*values: Values) -> Ints:
    """Return the order of rows by the first of these integers, then by the next; rows equal in all keep theirs.

    It is that of `np.lexsort`, which has the last one first, in a fraction of the time: numpy sorts integers fast, but
    not their positions, so both are put into one integer where they fit.
    """
    order: Ints | None = None
    for each in reversed(values):
        own = _stable(each.astype(np.int64) if order is None else each[order].astype(np.int64))
        order = own if order is None else order[own]
    assert order is not None
    return order


def _stable(values: Ints) -> Ints:
    place = len(values).bit_length()
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    if (high - low).bit_length() + place > 63:
        return np.argsort(values, kind="stable").astype(np.int64)
    both: Ints = (values - low) << place
    both |= np.arange(len(values), dtype=np.int64)
    both.sort()
    both &= (1 << place) - 1
    return both


def java_bits(values: Values) -> Ints:
    """Floats as integers in Java's order: -0.0 before 0.0, a single NaN after everything."""
    wide = values.astype(np.float64)
    wide[np.isnan(wide)] = np.nan
    bits = wide.view(np.int64)
    return np.where(bits < 0, bits ^ np.int64(0x7FFFFFFFFFFFFFFF), bits)


def tuple_ranks(columns: pa.Table, names: Sequence[str]) -> Ints:
    """The order of several columns together; 0 where all of them are null."""
    each = [ranks(columns[name]) for name in names]
    order = order_by(*each)
    changes: Mask = np.zeros(len(order), dtype=np.bool_)
    for rank in each:
        changes[1:] |= rank[order][1:] != rank[order][:-1]
    found = np.empty(len(order), dtype=np.int64)
    found[order] = np.cumsum(changes) + 1
    empty: Mask = np.ones(len(order), dtype=np.bool_)
    for name in names:
        empty &= nulls(one_chunk(columns[name]))
    found[empty] = 0
    return found


class PickedColumn:
    """A column whose merged value is one of its rows' values, or null."""

    def __init__(self, column: pa.ChunkedArray, keys: int) -> None:
        self.column = one_chunk(column)
        self.valid: Mask = ~nulls(self.column)
        self.source: Ints = np.full(keys, NO_ROW, dtype=np.int64)
        self.kept: Mask = np.ones(keys, dtype=np.bool_)

    def put(self, at: Ints, rows: Ints) -> None:
        self.source[at] = np.where(self.valid[rows], rows, NO_ROW)

    def clear(self, at: Ints) -> None:
        self.source[at] = NO_ROW

    def result(self, single: Ints) -> pa.Array:
        source = np.concatenate((single, self.source[self.kept]))
        return self.column.take(pa.array(source, mask=source == NO_ROW))


def one_chunk(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def nulls(column: pa.Array) -> Mask:
    found: Mask = column.is_null().to_numpy(zero_copy_only=False)
    return found


def numbers(column: pa.ChunkedArray | pa.Array) -> Values:
    """The values, with an arbitrary number where they are null."""
    flat = one_chunk(column)
    found: Values = (pc.fill_null(flat, 0) if flat.null_count else flat).to_numpy(zero_copy_only=False)
    return found
