"""Rows of the postpone bucket, merged with those of the real buckets (`postpone.merge-on-read`), as Spark and Flink do.

The rows of a key are merged in three steps: those of the real buckets, those of the postpone bucket in their writers'
order, then both results, the postponed one as the newer one. Sequence fields come first in each step.

Invariant: writers have no order among themselves. A key whose result depends on it is rejected, and named. Files of the
postpone bucket are not sorted, so their key ranges say nothing.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import Unsupported
from core.formats.paimon.layout import POSTPONE_BUCKET
from core.formats.paimon.scan_details import FileKey
from core.messages import message
from core.model.references import Schema
from core.spark.merge import rows
from core.spark.merge.columns import codes, order_by
from core.spark.merge.rows import LEVEL, SEQUENCE
from core.spark.merge.rules import MergeRule
from core.spark.merge.rules import is_on as option

ENABLED = "postpone.merge-on-read"
_WRITER = "_WRITER"
_NAME = re.compile(r"(?P<writer>.*-w-)(?P<own>.*)-(?P<number>\d+)\.[^-]*")
_COMPACT = message(
    "Compact the table with Paimon 2.0 (CALL sys.compact), or switch '{name}' off to read it without these rows.",
    name=ENABLED,
)


def is_on(schema: Schema) -> bool:
    """Whether rows of the postpone bucket are the table's before they are compacted."""
    bucket = schema.options.get("bucket", "").strip()
    return bool(schema.primary_keys) and bucket == str(POSTPONE_BUCKET) and option(schema.options, ENABLED)


def orders(created: Mapping[FileKey, int]) -> dict[FileKey, tuple[str, int]]:
    """Of each file of the postpone bucket, by when it was created: its writer, and its number among that one's."""
    writers: dict[tuple[bytes, str], list[tuple[int, str, int, FileKey]]] = {}
    for key, time in created.items():
        found = _NAME.fullmatch(key[2])
        if found is None:
            raise Unsupported(
                "The name of a file in the postpone bucket does not say who wrote it, so its rows have no order.",
                path=key[2],
                remedy=_COMPACT,
            )
        writers.setdefault((key[0], found["writer"]), []).append((time, found["own"], int(found["number"]), key))
    found_orders: dict[FileKey, tuple[str, int]] = {}
    for (_, writer), files in writers.items():
        files.sort(key=lambda each: each[:3])
        for before, after in itertools.pairwise(files):
            if before[0] == after[0] and before[1] != after[1]:
                raise Unsupported(
                    "Two files of one writer in the postpone bucket were created at the same time.",
                    path=after[3][2],
                    remedy=_COMPACT,
                )
        found_orders |= {key: (writer, number) for number, (*_, key) in enumerate(files)}
    return found_orders


def merge(rule: MergeRule, files: Sequence[Mapping[str, Any]], parts: Sequence[pa.Table], *, kinds: bool) -> pa.Table:
    """The rows of a partition out of those of each of its files; the `order` of a file of the postpone bucket is its
    writer and number."""
    late = sorted((tuple(file["order"]), at) for at, file in enumerate(files) if file["order"] is not None)
    numbers = {writer: number for number, writer in enumerate(dict.fromkeys(order[0] for order, _ in late))}
    nothing = parts[0].slice(0, 0)
    whole = pa.concat_tables([_by(parts[at], numbers[order[0]]) for order, at in late] or [_by(nothing, 0)])
    real = pa.concat_tables([parts[at] for at, file in enumerate(files) if file["order"] is None] or [nothing])
    newest = pc.max(real[SEQUENCE]).as_py()
    whole = _ordered(whole, np.arange(len(whole), dtype=np.int64), 0 if newest is None else newest + 1)
    if len(numbers) > 1:
        _refuse_ties(rule, whole, files[late[-1][1]]["path"])
    both = [rows.merge(rule, each, stored=True) for each in (real, whole.drop_columns([_WRITER]))]
    found = pa.concat_tables(both)
    found = found.append_column(LEVEL, pa.array(np.zeros(len(found), dtype=np.int32)))
    return rows.merge(rule, found, kinds=kinds)


def _by(part: pa.Table, writer: int) -> pa.Table:
    return part.append_column(_WRITER, pa.array(np.full(len(part), writer, dtype=np.int64)))


def _ordered(whole: pa.Table, order: Any, first: int) -> pa.Table:
    """The rows with numbers from `first` on, in this order."""
    number = np.empty(len(whole), dtype=np.int64)
    number[order] = first + np.arange(len(whole))
    return whole.set_column(whole.column_names.index(SEQUENCE), SEQUENCE, pa.array(number))


def _refuse_ties(rule: MergeRule, whole: pa.Table, path: str) -> None:
    """Raise `Unsupported` for a key that several writers wrote, if what it becomes depends on which of them was last or
    first."""
    by = [*rule.keys, *rule.sequence]
    groups = whole.group_by(by).aggregate([(_WRITER, "count_distinct")])
    tied = groups.filter(pc.greater(groups[f"{_WRITER}_count_distinct"], 1)).select(list(rule.keys))
    if not len(tied):
        return
    both = pa.concat_tables([tied.cast(whole.select(list(rule.keys)).schema), whole.select(list(rule.keys))])
    code = codes(both.combine_chunks(), rule.keys)
    some = np.flatnonzero(np.isin(code[len(tied) :], code[: len(tied)]))
    whole, code = whole.take(pa.array(some)), code[len(tied) :][some]
    rank = _ranks(code, whole[_WRITER].to_numpy())
    number = whole[SEQUENCE].to_numpy()
    first: pa.Table | None = None
    for at in range(int(rank.max()) + 1):
        for is_apart in (rank == at, rank != at):  # this writer last, this writer first
            ordered = _ordered(whole, order_by(is_apart, number), 0).drop_columns([_WRITER])
            made = rows.merge(rule, ordered, stored=True).drop_columns([SEQUENCE])
            made = made.sort_by([(name, "ascending") for name in rule.keys])
            first = made if first is None else first
            if not made.equals(first) and (key := _differing(rule, first, made)):
                raise Unsupported(
                    "Several writers have put rows of the key {key} into the postpone bucket, and nothing says which "
                    "of them is newer: the engine returns one or the other.",
                    key=key,
                    path=path,
                    remedy=_COMPACT,
                )


def _ranks(code: Any, writer: Any) -> Any:
    """Of each row, how many writers of its key come before its own."""
    order = order_by(code, writer)
    fresh = np.concatenate(([True], code[order][1:] != code[order][:-1]))
    step = np.concatenate(([False], writer[order][1:] != writer[order][:-1])) & ~fresh
    count = np.cumsum(step)
    start = np.maximum.accumulate(np.where(fresh, np.arange(len(order)), 0))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = count - count[start]
    return rank


def _differing(rule: MergeRule, first: pa.Table, other: pa.Table) -> str:
    """The first key whose rows differ, as text; a NaN is like another."""
    for one, two in zip(first.to_pylist(), other.to_pylist(), strict=True):
        if repr(one) != repr(two):
            return "/".join(str(one[name]) for name in rule.keys)
    return ""
