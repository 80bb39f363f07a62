"""One statement's answers at two versions side by side: which rows belong together, and which cells differ.

Invariant: a row that one answer lacks counts as removed or added only if that answer is complete. Of an answer that
was cut off, the rest is unknown, so is the row.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import pyarrow as pa

from core.errors import SnapscopeError
from core.model.query_answer import QueryAnswer
from core.safe_text import shortened
from dashboard import words
from dashboard.formatting import cells

LONGEST = 300  # characters shown of a value
POSITION: tuple[str, ...] = ("",)  # a single row each: they belong together, whatever they say
_NOT_A_NUMBER = ("NaN",)

_LAST_LIMIT = re.compile(r"\blimit\s+(\d+)\s*;?\s*$", re.IGNORECASE)
_LIMITS = re.compile(r"\b(limit|offset|tablesample)\b", re.IGNORECASE)

Values = tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class MatchedRow:
    """A row of either answer, or of both; `kind` is a key of `words.ANSWER_SIDES`."""

    kind: str
    before: Values | None
    after: Values | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The rows of two answers, matched by the columns `by`; () if a row matches only an equal one."""

    before: tuple[str, ...]  # the columns of each answer
    after: tuple[str, ...]
    by: tuple[str, ...]
    rows: tuple[MatchedRow, ...]

    @property
    def counts(self) -> Mapping[str, int]:
        return Counter(each.kind for each in self.rows)


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """What one statement answered at an earlier version and at the chosen one: each an answer, or why there is none."""

    points: tuple[str, str]
    before: QueryAnswer | SnapscopeError
    after: QueryAnswer | SnapscopeError
    comparison: Comparison | None  # if both answered

    @property
    def answers(self) -> list[QueryAnswer]:
        return [each for each in (self.before, self.after) if isinstance(each, QueryAnswer)]


def compare(statement: str, before: QueryAnswer, after: QueryAnswer, keys: Sequence[str]) -> Comparison:
    """Match the rows of two answers. `keys` is the table's primary key: it matches them if both answers have it."""
    names = tuple(map(tuple, (cells.distinct(each.table.column_names) for each in (before, after))))
    one, other = _rows(before.table), _rows(after.table)
    shared = tuple(name for name in names[1] if name in names[0])
    by = _matching(names, (one, other), before.table, shared, keys)
    if by == POSITION:
        pairs: list[tuple[Values | None, Values | None]] = [(one[0], other[0])]
    elif by:
        pairs = _by_columns(names, one, other, by)
    else:
        pairs = _whole(names, one, other)
    is_cut = is_incomplete(statement, before), is_incomplete(statement, after)
    rows = (_row(names, shared, pair, is_cut) for pair in pairs)
    return Comparison(names[0], names[1], by, tuple(rows))


def is_incomplete(statement: str, answer: QueryAnswer) -> bool:
    """Return whether other rows may belong to an answer, which the row cap or a LIMIT of the statement left out."""
    last = _LAST_LIMIT.search(statement)
    if answer.truncated or _LIMITS.search(statement, 0, last.start() if last else len(statement)):
        return True
    return last is not None and answer.table.num_rows >= int(last[1])


def _rows(table: pa.Table) -> list[Values]:
    columns = [[_hashable(value) for value in column.to_pylist()] for column in table.columns]
    return list(zip(*columns, strict=True)) if columns else []


def _hashable(value: object) -> Hashable:
    if isinstance(value, list | dict):
        return repr(value)
    return _NOT_A_NUMBER if value != value else value


def _matching(
    names: Sequence[tuple[str, ...]],
    rows: tuple[list[Values], list[Values]],
    table: pa.Table,
    shared: Sequence[str],
    keys: Sequence[str],
) -> tuple[str, ...]:
    """Choose the columns that match rows: the key, else the first columns whose values no answer repeats."""
    exact = [name for name in shared if not _is_measure(table.column(names[0].index(name)).type)]
    candidates = [tuple(keys)] if keys and set(keys) <= set(shared) else []
    if not candidates and len(rows[0]) == len(rows[1]) == 1:
        return POSITION
    candidates += [tuple(exact[:number]) for number in range(1, len(exact) + 1)]
    for by in candidates:
        places = [[of.index(name) for name in by] for of in names]
        if all(
            len({tuple(row[place] for place in at) for row in of}) == len(of)
            for at, of in zip(places, rows, strict=True)
        ):
            return by
    return ()


def _is_measure(of: pa.DataType) -> bool:
    return bool(pa.types.is_floating(of) or pa.types.is_decimal(of))


def _by_columns(
    names: Sequence[tuple[str, ...]], one: list[Values], other: list[Values], by: Sequence[str]
) -> list[tuple[Values | None, Values | None]]:
    places = [[of.index(name) for name in by] for of in names]
    first = {tuple(row[place] for place in places[0]): row for row in one}
    found: list[tuple[Values | None, Values | None]] = [
        (first.pop(tuple(row[place] for place in places[1]), None), row) for row in other
    ]
    return found + [(row, None) for row in first.values()]


def _whole(
    names: Sequence[tuple[str, ...]], one: list[Values], other: list[Values]
) -> list[tuple[Values | None, Values | None]]:
    """Match equal rows as often as both answers have them."""
    left = Counter(one) if names[0] == names[1] else Counter[Values]()
    found: list[tuple[Values | None, Values | None]] = []
    for row in other:
        is_both = left[row] > 0
        left[row] -= is_both
        found.append((row if is_both else None, row))
    if names[0] != names[1]:
        return found + [(row, None) for row in one]
    return found + [(row, None) for row, times in left.items() for _ in range(times)]


def _row(
    names: Sequence[tuple[str, ...]],
    shared: Sequence[str],
    pair: tuple[Values | None, Values | None],
    is_cut: tuple[bool, bool],
) -> MatchedRow:
    before, after = pair
    if before is None or after is None:
        lacks = 0 if before is None else 1
        return MatchedRow("unknown" if is_cut[lacks] else ("added", "removed")[lacks], before, after)
    differs = any(before[names[0].index(name)] != after[names[1].index(name)] for name in shared)
    return MatchedRow("changed" if differs else "same", before, after)


def frame(
    of: Comparison, points: tuple[str, str], *, differing: bool
) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, str]]:
    """List the rows, optionally only those that differ, each cell's colour by meaning, and the labels of the columns.
    A column whose values differ stands there twice, once for each version."""
    rows = [each for each in of.rows if not differing or each.kind != "same"]
    differing_columns = {
        name
        for name in of.after
        if name in of.before
        for each in rows
        if each.kind == "changed" and _at(of.before, each.before, name) != _at(of.after, each.after, name)
    }
    ordered = [*of.after, *(name for name in of.before if name not in of.after)]
    labels = {"side": words.COLUMN["side"]}
    for number, name in enumerate(ordered):
        if name in of.before and name in of.after and name not in differing_columns:
            labels[f"v{number}"] = name
            continue
        for side, columns, point in (("a", of.before, points[0]), ("b", of.after, points[1])):
            if name in columns:
                labels[f"{side}{number}"] = words.column_at(name, point)
    lines, meanings = list[dict[str, str]](), list[dict[str, str]]()
    for each in rows:
        line, hue = {"side": words.ANSWER_SIDES[each.kind]}, {"side": HUES[each.kind]}
        for number, name in enumerate(ordered):
            one, other = _at(of.before, each.before, name), _at(of.after, each.after, name)
            if f"v{number}" in labels:
                line[f"v{number}"] = _text(other if each.after is not None else one)
                hue[f"v{number}"] = HUES[each.kind] if each.kind in ("added", "removed") else ""
                continue
            is_other = each.kind == "changed" and name in of.before and name in of.after and one != other
            for side, columns, values, value, alone in (
                ("a", of.before, each.before, one, "removed"),
                ("b", of.after, each.after, other, "added"),
            ):
                if name in columns and values is not None:
                    line[f"{side}{number}"] = _text(value)
                    hue[f"{side}{number}"] = "changed" if is_other else alone if each.kind == alone else ""
        lines.append(line)
        meanings.append(hue)
    listed, hues = (pd.DataFrame(each, columns=list(labels)).fillna("") for each in (lines, meanings))
    return listed, hues, labels


HUES = {"added": "added", "removed": "removed", "changed": "changed", "same": "", "unknown": ""}


def _at(columns: tuple[str, ...], values: Values | None, name: str) -> Hashable:
    return None if values is None or name not in columns else values[columns.index(name)]


def _text(value: Hashable) -> str:
    if value is None:
        return words.NULL
    if value is _NOT_A_NUMBER:
        return _NOT_A_NUMBER[0]
    return shortened(value.hex() if isinstance(value, bytes) else str(value), LONGEST)


def numbers(of: Comparison, answer: QueryAnswer, labels: Mapping[str, str]) -> set[str]:
    """Return the columns of `frame` that hold numbers, which stand at the right."""
    ordered = [*of.after, *(name for name in of.before if name not in of.after)]
    exact = {
        name
        for name, column in zip(of.after, answer.table.columns, strict=True)
        if pa.types.is_integer(column.type) or _is_measure(column.type)
    }
    return {key for key in labels if key != "side" and ordered[int(key[1:])] in exact}
