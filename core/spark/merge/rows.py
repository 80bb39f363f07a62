"""Merge the rows of one bucket, as its files hold them, into the table's rows. Pure: Arrow in, Arrow out.

Invariants: rows of one key are processed in the order user sequence, sequence number, retractions first; a key with a
single row is that row, whatever the engine; a result that is a retraction is not a row (docs/paimon.md §5.4). Where
releases differ, the result is that of Paimon 2.0. What cannot be merged correctly is rejected, and named, when the
rule is read or when such a row is found. Method: rows are sorted once; then every key takes its first row, every key
with more rows its second, and so on. So each step is one numpy operation over all keys, and yet each key processes its
rows one by one, as the engine does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import Unsupported
from core.model.intervals import Ints, Mask
from core.spark.merge.aggregates import column_of, refuse_lost
from core.spark.merge.columns import NO_ROW, PickedColumn, Values, codes, numbers, order_by, ranks, tuple_ranks
from core.spark.merge.rules import DEDUPLICATE, FIRST_ROW, PARTIAL_UPDATE, Function, Group, MergeRule

SEQUENCE, KIND, LEVEL = "_SEQUENCE_NUMBER", "_VALUE_KIND", "_LEVEL"
INSERT, UPDATE_BEFORE, DELETE = 0, 1, 3


def merge(rule: MergeRule, rows: pa.Table, *, kinds: bool = False, stored: bool = False) -> pa.Table:
    """Return the merged rows, unordered.

    `kinds`: also those that are retractions, with a first column `_VALUE_KIND`. `stored`: as a file holds them, with a
    column `_SEQUENCE_NUMBER` before that. `rows` has the columns of `rule.columns`, `_SEQUENCE_NUMBER` (int64),
    `_VALUE_KIND` (int8) and `_LEVEL` (int32). Raises `Unsupported` for a row that the rule cannot process.
    """
    kinds = kinds or stored
    rows = rows.combine_chunks()
    kind = numbers(rows[KIND])
    retract = (kind == UPDATE_BEFORE) | (kind == DELETE)
    columns = rows.select(list(rule.columns))
    shown = rows.select([*([SEQUENCE] if stored else []), *([KIND] if kinds else []), *rule.columns])
    if not len(rows):
        return shown
    order, start, count = _grouped(rule, rows, retract)
    if rule.engine == FIRST_ROW:
        return shown.take(pa.array(np.sort(_first(rule, order, start, count, retract))))
    if rule.engine == DEDUPLICATE:
        if rule.ignore_delete and retract.any():
            retract[order[start[count == 1]]] &= not kinds  # the engine does not ignore a single row
            kept = rows.filter(pa.array(~retract))
            return merge(replace(rule, ignore_delete=False), kept, kinds=kinds, stored=stored)
        last = order[start + count - 1]
        return shown.take(pa.array(np.sort(last if kinds else last[~retract[last]])))
    alone = count == 1
    if rule.lookup:
        order, start, count = _without_stale(order, start, count, numbers(rows[LEVEL]))
    single = order[start[alone]]
    if not kinds:
        single = single[~retract[single]]
    steps = _Steps(order, start[~alone], count[~alone])
    if rule.engine == PARTIAL_UPDATE:
        found, lives = _partial_update(rule, columns, steps, retract, kind)
    else:
        found, lives = _aggregation(rule, columns, steps, retract, kind)
    for column in found.values():
        column.kept = lives | kinds
    merged = pa.table({name: found[name].result(single) for name in rule.columns})
    if not kinds:
        return merged
    of = np.concatenate((kind[single], np.where(lives, INSERT, DELETE)))
    merged = merged.add_column(0, KIND, pa.array(of, pa.int8()))
    if not stored:
        return merged
    refuse_lost(found)
    number = numbers(rows[SEQUENCE])
    last = _last(steps, retract if rule.engine == PARTIAL_UPDATE and rule.ignore_delete else None)
    latest = np.where(last == NO_ROW, 0, number[last])  # as in the engine, zero if all rows are ignored
    return merged.add_column(0, SEQUENCE, pa.array(np.concatenate((number[single], latest)), pa.int64()))


def refuse_ties(rule: MergeRule, rows: pa.Table) -> None:
    """Raise `Unsupported` if rows of one key that differ have no order, as rows of different branches may."""
    by = [*rule.keys, *rule.sequence, SEQUENCE]
    numbered = rows.append_column("", pa.array(np.arange(len(rows)), pa.int64()))
    groups = numbered.group_by(by).aggregate([("", "list"), ("", "count")])
    for tied in groups.filter(pc.greater(groups["_count"], 1))["_list"].to_pylist():
        first, *others = rows.take(pa.array(tied)).select([KIND, *rule.columns]).to_pylist()
        if any(each != first for each in others):
            raise Unsupported(
                "Two rows of the key {key} have the same sequence field and number: which of them the engine keeps "
                "depends on how it opens their files.",
                key="/".join(str(first[name]) for name in rule.keys),
                remedy="Write a greater sequence field with each change, or read the table with its own engine.",
            )


def _first(rule: MergeRule, order: Ints, start: Ints, count: Ints, retract: Mask) -> Ints:
    """The first row of each key."""
    first = order[start]
    if not retract.any():
        return first
    if not rule.ignore_delete:
        raise Unsupported(
            "The table contains a delete row, which a first-row table accepts only with 'ignore-delete'.",
            remedy="The engine refuses to read this version too.",
        )
    group = np.repeat(np.arange(len(start), dtype=np.int64), count)
    taken = ~retract[order] | (count[group] == 1)  # a single row is not checked
    _, at = np.unique(group[taken], return_index=True)
    found: Ints = order[taken][at]
    return found


def _last(steps: _Steps, ignored: Mask | None) -> Ints:
    """The last row that counts, of each key with several rows."""
    found: Ints = np.full(steps.keys, NO_ROW, dtype=np.int64)
    for rows in steps:
        keys = np.arange(len(rows), dtype=np.int64)
        taken = slice(None) if ignored is None else ~ignored[rows]
        found[keys[taken]] = rows[taken]
    return found


# order and groups -------------------------------------------------------------------------------------------------


def _grouped(rule: MergeRule, rows: pa.Table, retract: Mask) -> tuple[Ints, Ints, Ints]:
    """(rows in merge order, first index of each key, number of rows of each key)."""
    key = codes(rows, rule.keys)
    user = [ranks(rows[name], descending=rule.descending) for name in rule.sequence]
    by: list[Values] = [key, *user, numbers(rows[SEQUENCE])]
    order = order_by(*by, ~retract) if retract.any() else order_by(*by)
    ordered = key[order]
    start = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1]))).astype(np.int64)
    return order, start, np.diff(np.concatenate((start, [len(order)])))


def _without_stale(order: Ints, start: Ints, count: Ints, level: Values) -> tuple[Ints, Ints, Ints]:
    """Drop rows that were already merged.

    With look-ups, a row above level 0 is already merged with all levels below it: of each key only the row of the
    lowest such level counts, together with those of level 0.
    """
    group = np.repeat(np.arange(len(start), dtype=np.int64), count)
    at = level[order].astype(np.int64)
    high = np.flatnonzero(at > 0)
    picked = high[order_by(group[high], at[high], high)]
    first = np.concatenate(([True], group[picked][1:] != group[picked][:-1])) if len(picked) else picked.astype(bool)
    keep = at <= 0
    keep[picked[first]] = True
    kept = np.bincount(group[keep], minlength=len(start)).astype(np.int64)
    return order[keep], np.cumsum(kept) - kept, kept


@dataclass(frozen=True)
class _Steps:
    """Keys with several rows, longest first: step n is the n-th row of every key that has that many."""

    order: Ints
    start: Ints
    count: Ints

    def __post_init__(self) -> None:
        longest = np.argsort(-self.count, kind="stable")
        object.__setattr__(self, "start", self.start[longest])
        object.__setattr__(self, "count", self.count[longest])

    @property
    def keys(self) -> int:
        return len(self.start)

    def __iter__(self) -> Any:
        for number in range(int(self.count.max(initial=0))):
            active = int(np.searchsorted(-self.count, -number, side="left"))
            yield self.order[self.start[:active] + number]


def _partial_update(
    rule: MergeRule, columns: pa.Table, steps: _Steps, retract: Mask, kind: Values
) -> tuple[Mapping[str, Any], Mask]:
    """The columns of the merged keys, and which keys are rows."""
    found = _columns(rule, columns, steps.keys)
    free = [found[name] for name in rule.columns if not any(name in group.fields for group in rule.groups)]
    groups = [(group, tuple_ranks(columns, group.sequence), np.zeros(steps.keys, np.int64)) for group in rule.groups]
    deleted, inserted, filled = (np.zeros(steps.keys, dtype=np.bool_) for _ in range(3))

    def reset(at: Ints, rows: Ints) -> None:
        for column in found.values():
            column.put(at, rows)
        for _, rank, newest in groups:
            newest[at] = rank[rows]

    for rows in steps:
        keys = np.arange(len(rows), dtype=np.int64)
        gone = retract[rows]
        deleted[keys] = False
        at, taken = keys[gone], rows[gone]
        if len(at):
            fresh = ~filled[at]
            reset(at[fresh], taken[fresh])
            filled[at] = True
            if not rule.ignore_delete:
                _retract_partial(rule, found, groups, deleted, reset, at, taken, kind[taken] == DELETE)
        at, taken = keys[~gone], rows[~gone]
        for column in free:
            there = column.valid[taken]
            column.source[at[there]] = taken[there]
        for group, rank, newest in groups:
            there = rank[taken] > 0
            newer = there & (rank[taken] >= newest[at])
            older = there & ~newer
            newest[at[newer]] = rank[taken[newer]]
            for name in group.fields:
                if name in rule.functions:
                    found[name].add(at[newer], taken[newer])
                    found[name].add_before(at[older], taken[older])
                else:
                    found[name].put(at[newer], taken[newer])
        inserted[at] = filled[at] = True
    return found, inserted & ~deleted


def _retract_partial(
    rule: MergeRule,
    found: Mapping[str, Any],
    groups: Sequence[tuple[Group, Ints, Ints]],
    deleted: Mask,
    reset: Any,
    at: Ints,
    rows: Ints,
    is_delete: Mask,
) -> None:
    if rule.groups:
        number = {name: number for number, name in enumerate(rule.columns)}
        judged = []
        ends = np.full(len(at), len(rule.columns))  # the engine stops at the column that removes the row
        for group, rank, newest in groups:
            there = rank[rows] > 0
            newer = there & (rank[rows] >= newest[at])
            newest[at[newer]] = rank[rows[newer]]
            judged.append((group, there, newer))
            if group.removes:
                whole = newer & is_delete
                ends[whole] = np.minimum(ends[whole], min(number[name] for name in group.sequence))
        for group, there, newer in judged:
            for name in group.fields:
                if name in group.sequence:
                    found[name].put(at[newer], rows[newer])
                elif name in rule.functions:
                    taken = there & (number[name] < ends)
                    if taken.any():
                        _retract(rule.functions[name], name, found[name], at[taken], rows[taken])
                else:
                    found[name].clear(at[newer])
        deleted[at] = ends < len(rule.columns)
        reset(at[deleted[at]], rows[deleted[at]])
        return
    if not rule.remove_on_delete:
        raise Unsupported(
            "The table contains a delete row, which a partial-update table accepts only with "
            "'ignore-delete', 'partial-update.remove-record-on-delete' or sequence groups.",
            remedy="The engine refuses to read this version too.",
        )
    deleted[at[is_delete]] = True
    reset(at[is_delete], rows[is_delete])


def _columns(rule: MergeRule, columns: pa.Table, keys: int) -> dict[str, Any]:
    """The columns with the state of their functions, if they have any."""
    return {
        name: column_of(rule.functions[name], columns[name], keys)
        if name in rule.functions
        else PickedColumn(columns[name], keys)
        for name in rule.columns
    }


def _aggregation(
    rule: MergeRule, columns: pa.Table, steps: _Steps, retract: Mask, kind: Values
) -> tuple[Mapping[str, Any], Mask]:
    found = _columns(rule, columns, steps.keys)
    deleted: Mask = np.zeros(steps.keys, dtype=np.bool_)
    for rows in steps:
        keys = np.arange(len(rows), dtype=np.int64)
        gone = retract[rows]
        whole = gone & (kind[rows] == DELETE) if rule.remove_on_delete else np.zeros(len(rows), dtype=np.bool_)
        deleted[keys] = whole
        for name, column in found.items():
            column.put(keys[whole], rows[whole])
            column.add(keys[~gone], rows[~gone])
            at = gone & ~whole
            if at.any():
                _retract(rule.functions[name], name, column, keys[at], rows[at])
    return found, ~deleted


def _retract(function: Function, name: str, column: Any, at: Ints, rows: Ints) -> None:
    if function.ignores_retract:
        return
    if not hasattr(column, "retract"):
        raise Unsupported(
            "The table contains a delete or update row, which the function '{function}' of column "
            "'{column}' cannot retract.",
            function=function.name,
            column=name,
            remedy=("The engine refuses to read this version too, unless 'ignore-retract' is set for the column."),
        )
    column.retract(at, rows)
