"""What metadata says about the values of columns: minimum, maximum and null count, of one file or of many.

Invariants:
- Nothing is guessed. A bound that no file states is None, and `files_with_bounds` is below `files`. A null count covers
  only the files that state one; it is never 0 for those that do not. Bounds that are present but cannot be read as the
  column's current type count as `unreadable`, not as missing.
- A string or binary bound of the length at which formats truncate may be truncated: a minimum to its prefix, a maximum
  to its prefix rounded up. A shorter bound is exact.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

CUT = 16  # characters or bytes: both formats' default is truncate(16)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a version, with its type as the format spells it."""

    id: int
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class FileBounds:
    """What one file's metadata states about one column. None is unknown; if all of `rows` are null there are no bounds.

    unreadable: bounds are present but are not values of the column's current type
    """

    low: Any
    high: Any
    nulls: int | None
    unreadable: bool = False


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of one column over `files` files with `rows` rows.

    low, high: over the files that state them, None if none does
    nulls: over the files that state a null count, None if none does
    files_with_bounds: those that state both bounds, or hold only nulls
    files_with_null_count: those that state a null count
    """

    column: Column
    low: Any
    high: Any
    low_cut: bool
    high_cut: bool
    nulls: int | None
    files: int
    files_with_bounds: int
    files_with_null_count: int
    rows: int
    unreadable: int  # files whose bounds are not values of the current type


def merged(
    columns: Sequence[Column], files: Iterable[tuple[int, Mapping[int, FileBounds]]], cuts: Mapping[int, int]
) -> tuple[Bounds, ...]:
    """Merge the bounds of columns over the files given as `(rows, what the file states by column id)`.

    `cuts`: the length from which a column's strings may be truncated, where it is not `CUT`.
    """
    given = list(files)
    return tuple(_merged(column, given, cuts.get(column.id, CUT)) for column in columns)


def _merged(column: Column, files: Sequence[tuple[int, Mapping[int, FileBounds]]], cut: int) -> Bounds:
    low = high = None
    nulls = files_with_bounds = files_with_null_count = rows = unreadable = 0
    for count, stated in files:
        rows += count
        own = stated.get(column.id)
        if own is None:
            continue
        unreadable += own.unreadable
        if own.nulls is not None:
            files_with_null_count += 1
            nulls += own.nulls
        is_empty = own.low is None and own.high is None and own.nulls == count
        files_with_bounds += is_empty or (own.low is not None and own.high is not None)
        if own.low is not None:
            low = own.low if low is None else min(low, own.low, key=ordered)
        if own.high is not None:
            high = own.high if high is None else max(high, own.high, key=ordered)
    return Bounds(
        column, low, high, _may_be_cut(low, cut), _may_be_cut(high, cut),
        nulls if files_with_null_count else None, len(files),
        files_with_bounds, files_with_null_count, rows, unreadable,
    )  # fmt: skip


def _may_be_cut(value: Any, length: int) -> bool:
    return isinstance(value, str | bytes) and len(value) >= length


def ordered(value: Any) -> Any:
    """The sort key of a value: NaN is above all numbers; strings compare by UTF-8 bytes, as files order them."""
    if isinstance(value, float):
        return (value != value, 0.0 if value != value else value)
    return value.encode() if isinstance(value, str) else value


def cut_length(mode: str | None) -> int:
    """The length from which a string may be truncated under an option such as `truncate(8)`.

    Files may be older than the option, so the result never exceeds the default.
    """
    found = re.fullmatch(r"truncate\((\d+)\)", (mode or "").strip().lower())
    return min(CUT, int(found[1])) if found else CUT
