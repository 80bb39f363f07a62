"""What metadata says of the values of columns: least, greatest and nulls, of one file or of many together.

Laws:
- Nothing is guessed: a value that no file tells is None with `told` below `files`, and a count of nulls is of the
  files that count them, never 0 for those that do not. What is written but is no value of today's type is `unreadable`,
  not missing.
- A text or bytes of a length at which formats cut may be cut: of a least value the start, of a greatest value the start
  rounded up. What is shorter is whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

CUT = 16  # characters or bytes: both formats' default is truncate(16)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the point, with its type as the format spells it."""

    id: int
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Said:
    """What one file's entry says of one column. Unknown is None; where all of `rows` are null there are no bounds.

    unreadable: bounds are written, and are none of the type that the column has today"""

    low: Any
    high: Any
    nulls: int | None
    unreadable: bool = False


@dataclass(frozen=True, slots=True)
class Bounds:
    """Of one column over `files` files with `rows` rows.

    low, high: over the files that tell them, None where none does; `told` files tell both, or hold nulls alone
    nulls: over the `counted` files that count them; None where none does
    """

    column: Column
    low: Any
    high: Any
    low_cut: bool
    high_cut: bool
    nulls: int | None
    files: int
    told: int
    counted: int
    rows: int
    unreadable: int  # files whose bounds are none of today's type


def merged(
    columns: Sequence[Column], files: Iterable[tuple[int, Mapping[int, Said]]], cuts: Mapping[int, int]
) -> tuple[Bounds, ...]:
    """Bounds of columns over `(rows, what it says by column id)` of each file. `cuts`: from which length a text of a
    column may be cut, where that is not `CUT`."""
    given = list(files)
    return tuple(_merged(column, given, cuts.get(column.id, CUT)) for column in columns)


def _merged(column: Column, files: Sequence[tuple[int, Mapping[int, Said]]], cut: int) -> Bounds:
    low = high = None
    nulls = told = counted = rows = unreadable = 0
    for count, said in files:
        rows += count
        own = said.get(column.id)
        if own is None:
            continue
        unreadable += own.unreadable
        if own.nulls is not None:
            counted += 1
            nulls += own.nulls
        is_empty = own.low is None and own.high is None and own.nulls == count
        told += is_empty or (own.low is not None and own.high is not None)
        if own.low is not None:
            low = own.low if low is None else min(low, own.low, key=ordered)
        if own.high is not None:
            high = own.high if high is None else max(high, own.high, key=ordered)
    return Bounds(
        column, low, high, _may_be_cut(low, cut), _may_be_cut(high, cut),
        nulls if counted else None, len(files), told, counted, rows, unreadable,
    )  # fmt: skip


def _may_be_cut(value: Any, length: int) -> bool:
    return isinstance(value, str | bytes) and len(value) >= length


def ordered(value: Any) -> Any:
    """What to compare a value by: NaN is above all numbers; texts go by their UTF-8 bytes, as files order them."""
    if isinstance(value, float):
        return (value != value, 0.0 if value != value else value)
    return value.encode() if isinstance(value, str) else value


def cut_length(mode: str | None) -> int:
    """From which length a text may be cut under an option such as `truncate(8)`. Files may be older than the option,
    so nothing makes it longer than the default."""
    found = re.fullmatch(r"truncate\((\d+)\)", (mode or "").strip().lower())
    return min(CUT, int(found[1])) if found else CUT
