"""Aggregate functions of a merge, one object per column. Pure.

Invariant: each function processes the rows of a key one after another, exactly as the engine's own does. A number that
does not fit its type is refused, not wrapped. (For decimals of more than 18 digits, every release of the engine yields
null instead and starts again with the next row: so they are read, and never written.)

Methods: `put` starts from a row's value, `add` adds a row, `retract` removes one (missing if the function cannot),
`result` returns the values of single rows followed by the merged ones. `add_before` adds a row that is older than all
before it, as a sequence group may: the engine's function with its arguments swapped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from core import decimals
from core.errors import Unsupported
from core.model.intervals import Ints, Mask
from core.spark.merge.columns import PickedColumn, Values, nulls, numbers, ranks
from core.spark.merge.rules import LAST_NON_NULL, LAST_VALUE, PRIMARY_KEY, Function

_BLANK = " \t\n\r\v\f\x1c\x1d\x1e\x1f"


def column_of(function: Function, column: pa.ChunkedArray, keys: int) -> Any:
    """The column with the state of its function for this many keys."""
    if function.refusal is not None:
        return _Refused(column, keys, function.refusal)
    match function.name:
        case "max" | "bool_or":
            return _Extreme(column, keys, 1)
        case "min" | "bool_and":
            return _Extreme(column, keys, -1)
        case "sum":
            return _Sum(column, keys)
        case "product":
            return _Product(column, keys)
        case "listagg":
            return _ListAgg(column, keys, function)
        case "collect":
            return _Collect(column, keys)
        case "merge_map":
            return _MergeMap(column, keys)
        case "first_value":
            return _First(column, keys, of_any=True)
        case "first_non_null_value" | "first_not_null_value":
            return _First(column, keys, of_any=False)
        case name if name == PRIMARY_KEY:
            return _Key(column, keys)
        case name if name == LAST_VALUE:
            return _Last(column, keys)
        case name if name == LAST_NON_NULL:
            return _LastNonNull(column, keys)
        case name:
            raise AssertionError(name)  # `read_rule` refuses all others


def refuse_lost(found: Mapping[str, Any]) -> None:
    """Raise `Unsupported` if a merged column that is to be written contains a sum that does not fit."""
    for name, column in found.items():
        if getattr(column, "lost", False):
            raise Unsupported(
                "A sum in column '{name}' does not fit its type {type}: every reader sees NULL until it "
                "is corrected, and once written its rows could no longer be summed.",
                name=name,
                type=column.column.type,
                remedy="Widen the column, or correct its rows, then compact.",
            )


class _Refused(PickedColumn):
    """A column whose rows cannot be merged: only those of keys with a single row are known."""

    def __init__(self, column: pa.ChunkedArray, keys: int, refusal: Unsupported) -> None:
        super().__init__(column, keys)
        self.refusal = refusal

    def add(self, at: Ints, rows: Ints) -> None:
        if len(rows):
            raise self.refusal

    add_before = retract = add


class _Key(PickedColumn):
    def add(self, at: Ints, rows: Ints) -> None:
        self.put(at, rows)

    def retract(self, at: Ints, rows: Ints) -> None:
        self.put(at, rows)


class _Last(PickedColumn):
    def add(self, at: Ints, rows: Ints) -> None:
        self.put(at, rows)

    def add_before(self, at: Ints, rows: Ints) -> None:
        """The newest row is already there."""

    def retract(self, at: Ints, rows: Ints) -> None:
        self.clear(at)


class _LastNonNull(PickedColumn):
    def add(self, at: Ints, rows: Ints) -> None:
        there = self.valid[rows]
        self.source[at[there]] = rows[there]

    def add_before(self, at: Ints, rows: Ints) -> None:
        empty = self.source[at] < 0
        self.put(at[empty], rows[empty])

    def retract(self, at: Ints, rows: Ints) -> None:
        self.clear(at[self.valid[rows]])


class _First(PickedColumn):
    def __init__(self, column: pa.ChunkedArray, keys: int, *, of_any: bool) -> None:
        super().__init__(column, keys)
        self.of_any = of_any
        self.done: Mask = np.zeros(keys, dtype=np.bool_)

    def add(self, at: Ints, rows: Ints) -> None:
        taken = ~self.done[at] & (self.valid[rows] | self.of_any)
        self.put(at[taken], rows[taken])
        self.done[at[taken]] = True

    def add_before(self, at: Ints, rows: Ints) -> None:
        starts = ~self.done[at] & ((self.source[at] >= 0) | self.of_any)  # the current value counts as the first now
        self.put(at[~starts], rows[~starts])
        self.done[at[starts]] = True


class _Extreme(PickedColumn):
    """The maximum (sign 1) or minimum (-1); of equal values, that of the earlier row. Nulls are ignored."""

    def __init__(self, column: pa.ChunkedArray, keys: int, sign: int) -> None:
        super().__init__(column, keys)
        self.rank: Ints = sign * ranks(self.column)

    def add(self, at: Ints, rows: Ints) -> None:
        have = self.source[at]
        taken = self.valid[rows] & ((have < 0) | (self.rank[have] < self.rank[rows]))
        self.source[at[taken]] = rows[taken]

    add_before = add


class _Computed:
    """A column whose merged value is computed: per key a value, and whether there is one."""

    lost = False

    def __init__(self, column: pa.ChunkedArray, keys: int) -> None:
        self.column: pa.Array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        self.valid: Mask = ~nulls(self.column)
        self.values = self.plain()
        self.value: Values = np.zeros(keys, dtype=self.values.dtype)
        self.there: Mask = np.zeros(keys, dtype=np.bool_)
        self.kept: Mask = np.ones(keys, dtype=np.bool_)

    def plain(self) -> Values:
        """The column's values; undefined where null."""
        of = self.column.type
        if pa.types.is_decimal(of):
            return decimals.integers(self.column)
        return numbers(self.column)

    def put(self, at: Ints, rows: Ints) -> None:
        self.value[at], self.there[at] = self.values[rows], self.valid[rows]

    def add(self, at: Ints, rows: Ints) -> None:
        at, rows = at[self.valid[rows]], rows[self.valid[rows]]
        have = self.there[at]
        self.put(at[~have], rows[~have])
        self.take(at[have], self.combined(self.value[at[have]], self.values[rows[have]]))

    def take(self, at: Ints, found: Values) -> None:
        self.value[at], self.there[at] = found, True

    def add_before(self, at: Ints, rows: Ints) -> None:
        self.add(at, rows)  # the order does not matter

    def combined(self, have: Values, new: Values) -> Values:
        raise NotImplementedError

    def exact(self, found: Values, is_exact: Mask) -> Values:
        if not is_exact.all():
            raise Unsupported(
                "A number does not fit its type {type} when it is aggregated.",
                type=self.column.type,
                remedy=("The engine stores a number here that its type cannot hold; read it with the engine itself.")
                if pa.types.is_decimal(self.column.type)
                else ("The engine's releases give different results here, and none of them is known to be right."),
            )
        return found

    def result(self, single: Ints) -> pa.Array:
        value, there = self.value[self.kept], self.there[self.kept]
        return pa.concat_arrays([self.column.take(pa.array(single)), self.array(value, there)])

    def array(self, value: Values, there: Mask) -> pa.Array:
        of = self.column.type
        if pa.types.is_decimal(of):
            return decimals.column(value, there, of)
        return pa.array(value, of, mask=~there)


class _Sum(_Computed):
    @property
    def is_wide(self) -> bool:
        return bool(self.values.dtype == object)  # decimals of more than 18 digits

    def fits(self, found: Values) -> Mask:
        fitting: Mask = (np.abs(found) < 10**self.column.type.precision).astype(np.bool_)
        return fitting

    def take(self, at: Ints, found: Values) -> None:
        super().take(at, found)
        if self.is_wide:
            self.there[at] = fits = self.fits(found)
            self.lost = self.lost or not fits.all()

    def combined(self, have: Values, new: Values) -> Values:
        if have.dtype.kind == "f":
            return have + new
        if pa.types.is_decimal(self.column.type):
            found = have + new
            return found if self.is_wide else self.exact(found, self.fits(found))
        with np.errstate(over="ignore"):
            found = have + new
        return self.exact(found, ((have ^ found) & (new ^ found)) >= 0)

    def retract(self, at: Ints, rows: Ints) -> None:
        at, rows = at[self.valid[rows]], rows[self.valid[rows]]
        have = self.there[at]
        less = self.values[rows]
        if less.dtype.kind == "i":
            self.exact(less, less != np.iinfo(less.dtype).min)
        self.take(at[have], self.combined(self.value[at[have]], -less[have]))
        self.value[at[~have]], self.there[at[~have]] = -less[~have], True


class _Product(_Computed):
    def combined(self, have: Values, new: Values) -> Values:
        if have.dtype.kind == "f":
            return have * new
        wide = have.astype(object) * new.astype(object)
        limits = np.iinfo(have.dtype)
        self.exact(have, ((wide >= limits.min) & (wide <= limits.max)).astype(np.bool_))
        found: Values = wide.astype(have.dtype)
        return found

    def retract(self, at: Ints, rows: Ints) -> None:
        taken = self.valid[rows] & self.there[at]
        at, less = at[taken], self.values[rows[taken]]
        have = self.value[at]
        if have.dtype.kind == "f":
            with np.errstate(divide="ignore", invalid="ignore"):
                self.value[at] = have / less
            return
        self.exact(have, (less != 0) & ~((less == -1) & (have == np.iinfo(have.dtype).min)))
        self.value[at] = np.sign(have) * np.sign(less) * (np.abs(have) // np.abs(less))  # rounds towards zero


class _ListAgg(_Computed):
    """Concatenated strings; blank ones are ignored."""

    def __init__(self, column: pa.ChunkedArray, keys: int, function: Function) -> None:
        self.function = function
        super().__init__(column, keys)

    def plain(self) -> Values:
        return np.array([text or "" for text in self.column.to_pylist()], dtype=object)

    def add(self, at: Ints, rows: Ints) -> None:
        for key, row in zip(at.tolist(), rows.tolist(), strict=True):
            new = self.values[row]
            if not self.valid[row] or not new.strip(_BLANK):
                continue
            have = self.value[key] if self.there[key] else ""
            self.value[key] = self.joined(have, new) if have.strip(_BLANK) else new
            self.there[key] = True

    def add_before(self, at: Ints, rows: Ints) -> None:
        for key, row in zip(at.tolist(), rows.tolist(), strict=True):
            new, have = self.values[row], self.value[key] if self.there[key] else ""
            if not have.strip(_BLANK):
                self.value[key], self.there[key] = new, self.valid[row]
            elif new.strip(_BLANK):
                self.value[key] = self.joined(new, have)

    def joined(self, have: str, new: str) -> str:
        delimiter = self.function.delimiter
        if not self.function.distinct:
            return f"{have}{delimiter}{new}"
        known = set(have.split(delimiter)) if delimiter else {have}
        for text in new.split(delimiter) if delimiter else [new]:
            if text.strip(_BLANK) and text not in known:
                known.add(text)
                have = f"{have}{delimiter}{text}"
        return have

    def array(self, value: Values, there: Mask) -> pa.Array:
        pairs = zip(value.tolist(), there.tolist(), strict=True)
        return pa.array([text if known else None for text, known in pairs], self.column.type)


class _Inside(_Computed):
    """Arrays or maps as Python's own, combined one after another; null changes nothing."""

    def plain(self) -> Values:
        found = np.empty(len(self.column), dtype=object)
        for number, value in enumerate(self.column.to_pylist()):
            found[number] = value
        return found

    def add(self, at: Ints, rows: Ints) -> None:
        self._each(at, rows, self.joined)

    def add_before(self, at: Ints, rows: Ints) -> None:
        self._each(at, rows, lambda have, new: self.joined(new, have))

    def retract(self, at: Ints, rows: Ints) -> None:
        for key, row in zip(at.tolist(), rows.tolist(), strict=True):
            if self.valid[row] and self.there[key]:
                self.value[key] = self.without(self.value[key], self.values[row])

    def _each(self, at: Ints, rows: Ints, join: Callable[[Any, Any], Any]) -> None:
        for key, row in zip(at.tolist(), rows.tolist(), strict=True):
            if self.valid[row]:
                new = self.values[row]
                self.value[key] = join(self.value[key], new) if self.there[key] else new
                self.there[key] = True

    def joined(self, have: Any, new: Any) -> Any:
        raise NotImplementedError

    def without(self, have: Any, gone: Any) -> Any:
        raise NotImplementedError

    def array(self, value: Values, there: Mask) -> pa.Array:
        pairs = zip(value.tolist(), there.tolist(), strict=True)
        return pa.array([each if known else None for each, known in pairs], self.column.type)


class _Collect(_Inside):
    """Arrays, one after another; an older row's come last, too."""

    def add_before(self, at: Ints, rows: Ints) -> None:
        self.add(at, rows)

    def joined(self, have: list[Any], new: list[Any]) -> list[Any]:
        return [*have, *new]

    def without(self, have: list[Any], gone: list[Any]) -> list[Any]:
        left, gone = [], list(gone)
        for each in have:  # the first that are equal, each once
            if each in gone:
                gone.remove(each)
            else:
                left.append(each)
        return left


class _MergeMap(_Inside):
    """Maps: a later value of a key replaces an earlier one."""

    def joined(self, have: list[tuple[Any, Any]], new: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        later = [key for key, _ in new]
        return [*(each for each in have if each[0] not in later), *new]

    def without(self, have: list[tuple[Any, Any]], gone: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        keys = [key for key, _ in gone]
        return [each for each in have if each[0] not in keys]
