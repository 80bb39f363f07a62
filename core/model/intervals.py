"""Intervals: which objects are held at which positions, in columns.

Invariant: an object is held exactly at the positions that its intervals cover. The order of positions affects the
number of intervals, never an answer. Every operation is a gather, a prefix sum or a sort: a million intervals take
milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
_BLOCK = 1 << 15  # intervals at a time: what is computed for them stays in the processor's cache


@dataclass(frozen=True, slots=True)
class Intervals:
    """Interval i means that object `owner[i]` is held at positions `first[i]` to `last[i]`, both included.

    `owners` is the number of objects, `positions` the length of the axis. Intervals of one owner may touch or overlap.
    """

    owner: Ints
    first: Ints
    last: Ints
    owners: int
    positions: int

    def over(self, mask: Mask) -> Mask:
        """Per object: whether any of its intervals contains a position where `mask` is true."""
        sums = np.concatenate(([0], np.cumsum(mask, dtype=np.int64)))
        answer = np.zeros(self.owners, dtype=np.bool_)
        for begin in range(0, len(self.owner), _BLOCK):
            some = slice(begin, begin + _BLOCK)
            hit = sums[self.last[some] + 1] > sums[self.first[some]]
            answer[self.owner[some][hit]] = True
        return answer

    def at(self, position: int) -> Mask:
        """Per object: whether it is held at this position."""
        answer = np.zeros(self.owners, dtype=np.bool_)
        answer[self.owner[(self.first <= position) & (self.last >= position)]] = True
        return answer

    def covers(self, owner: Ints, position: Ints) -> Mask:
        """Per (owner, position) pair: whether it is covered. Intervals must be maximal and sorted by owner."""
        if not len(self.owner) or not len(owner):
            return np.zeros(len(owner), dtype=np.bool_)
        step = np.int64(self.positions + 1)
        begin, end = self.owner * step + self.first, self.owner * step + self.last
        key = owner * step + position
        at = np.searchsorted(begin, key, side="right") - 1
        return np.asarray((at >= 0) & (end[np.maximum(at, 0)] >= key), dtype=np.bool_)

    def positions_of(self, owner: int) -> Mask:
        """Per position: whether it holds this object."""
        answer = np.zeros(self.positions, dtype=np.bool_)
        for run in np.flatnonzero(self.owner == owner):
            answer[self.first[run] : self.last[run] + 1] = True
        return answer

    def sums(self, weight: Ints) -> Ints:
        """Per position: the total weight of the objects held there. Intervals of one owner must not overlap."""
        change = np.zeros(self.positions + 1, dtype=np.int64)
        np.add.at(change, self.first, weight[self.owner])
        np.subtract.at(change, self.last + 1, weight[self.owner])
        return np.cumsum(change[:-1])

    def of(self, owner: Ints, owners: int) -> Intervals:
        """The same intervals assigned to other owners: `owner[i]` replaces object i."""
        return Intervals(owner[self.owner], self.first, self.last, owners, self.positions)

    def only(self, chosen: Mask) -> Intervals:
        """The intervals of the chosen objects, renumbered."""
        is_chosen, number = chosen[self.owner], np.cumsum(chosen) - 1
        owner = number[self.owner[is_chosen]]
        return Intervals(owner, self.first[is_chosen], self.last[is_chosen], int(chosen.sum()), self.positions)

    def split(self, first: Ints) -> Intervals:
        """The same intervals where position p was split into `first[p]` to `first[p + 1]`, the latter excluded."""
        return Intervals(self.owner, first[self.first], first[self.last + 1] - 1, self.owners, int(first[-1]))


@dataclass(frozen=True, slots=True)
class Shapes:
    """Objects with identical intervals, grouped: sums over objects become sums over far fewer shapes.

    `runs` are the intervals of shapes (maximal, sorted); `count` and `weight` are the number and the total weight of
    each shape's objects.
    """

    runs: Intervals
    count: Ints
    weight: Ints


def shapes(held: Intervals, weight: Ints) -> Shapes:
    """Group objects into shapes. Intervals must be maximal and sorted; an object with several is a shape of its own."""
    step = np.int64(held.positions + 1)
    number_of_runs = np.bincount(held.owner, minlength=held.owners)
    is_single = number_of_runs[held.owner] == 1
    single = held.owner[is_single]
    found = pa.array(held.first[is_single] * step + held.last[is_single]).dictionary_encode()
    key, shape = found.dictionary.to_numpy(), found.indices.to_numpy()
    several = np.flatnonzero(number_of_runs > 1)
    number = np.zeros(held.owners, dtype=np.int64)
    number[several] = np.arange(len(key), len(key) + len(several))
    total = len(key) + len(several)
    runs = Intervals(
        np.concatenate((np.arange(len(key)), number[held.owner[~is_single]])),
        np.concatenate((key // step, held.first[~is_single])),
        np.concatenate((key % step, held.last[~is_single])),
        total,
        held.positions,
    )
    count, summed = np.ones(total, dtype=np.int64), np.zeros(total, dtype=np.int64)
    count[: len(key)] = np.bincount(shape, minlength=len(key))
    np.add.at(summed, shape, weight[single])
    summed[len(key) :] = weight[several]
    return Shapes(runs, count, summed)


def merged(parts: Sequence[Shapes], positions: int) -> Shapes:
    """The shapes of different objects together, no two alike. `shapes` leaves objects with several intervals apart."""
    sizes = np.array([len(each.count) for each in parts], dtype=np.int64)
    before = np.repeat(np.cumsum(sizes) - sizes, [len(each.runs.owner) for each in parts])
    every = union(empty(0, positions), *(each.runs for each in parts))
    runs = Intervals(every.owner + before, every.first, every.last, int(sizes.sum()), positions)
    length = np.bincount(runs.owner, minlength=runs.owners)
    start = np.cumsum(length) - length
    place = _numbers(runs.first * np.int64(positions + 1) + runs.last)
    like = length.astype(np.int64)  # the same for shapes of as many intervals, the first of which are the same
    for number in range(int(length.max(initial=0))):
        longer = np.flatnonzero(length > number)
        pairs = like[longer] * np.int64(len(place)) + place[start[longer] + number]
        like[longer] = like.max() + 1 + _numbers(pairs)
    like = _numbers(like)
    is_first = np.diff(np.maximum.accumulate(like), prepend=-1) > 0
    count, weight = np.zeros((2, int(is_first.sum())), dtype=np.int64)
    np.add.at(count, like, np.concatenate([each.count for each in parts]))
    np.add.at(weight, like, np.concatenate([each.weight for each in parts]))
    return Shapes(runs.only(is_first), count, weight)


def _numbers(values: Ints) -> Ints:
    """The number of each value, in the order of their first mention."""
    found: Ints = pa.array(values).dictionary_encode().indices.to_numpy().astype(np.int64)
    return found


def freed(held: Intervals, before: Mask, after: Mask) -> Mask:
    """Per object: whether some position of `before` and no position of `after` holds it."""
    return held.over(before) & ~held.over(after)


def from_pairs(owner: Ints, position: Ints, owners: int, positions: int) -> Intervals:
    """Maximal intervals of (object, position) pairs, which may be in any order and repeated."""
    if not len(owner):
        return empty(owners, positions)
    key = np.sort(owner * np.int64(positions + 1) + position)  # a gap after the last position separates the owners
    key = key[np.concatenate(([True], key[1:] != key[:-1]))]  # np.unique takes far longer: it hashes
    start = np.concatenate(([True], np.diff(key) > 1))
    end = np.concatenate((start[1:], [True]))
    return Intervals(
        key[start] // (positions + 1), key[start] % (positions + 1), key[end] % (positions + 1), owners, positions
    )


def subtract(added: Intervals, removed: Intervals) -> Intervals:
    """Maximal intervals of the positions where an object is covered by `added` and not by `removed`."""
    if not len(removed.owner) and _is_maximal(added):
        return added
    step = np.int64(added.positions + 1)
    at = np.concatenate(
        (
            added.owner * step + added.first,
            added.owner * step + added.last + 1,
            removed.owner * step + removed.first,
            removed.owner * step + removed.last + 1,
        )
    )
    plus, minus = len(added.owner), len(removed.owner)
    additions = np.repeat(np.array([1, -1, 0], dtype=np.int8), (plus, plus, 2 * minus))
    removals = np.repeat(np.array([0, 1, -1], dtype=np.int8), (2 * plus, minus, minus))
    order = np.argsort(at, kind="stable")
    at, additions, removals = (
        at[order],
        np.cumsum(additions[order], dtype=np.int64),
        np.cumsum(removals[order], dtype=np.int64),
    )
    settled = np.concatenate((at[1:] != at[:-1], [True])) if len(at) else np.zeros(0, dtype=np.bool_)
    at, live = at[settled], (additions[settled] > 0) & (removals[settled] == 0)
    if not live.any():
        return empty(added.owners, added.positions)
    start = live & ~np.concatenate(([False], live[:-1]))
    end = ~live & np.concatenate(([False], live[:-1]))
    return Intervals(at[start] // step, at[start] % step, at[end] % step - 1, added.owners, added.positions)


def _is_maximal(runs: Intervals) -> bool:
    """Whether intervals are sorted by owner and position, and neither touch nor overlap."""
    same = runs.owner[1:] == runs.owner[:-1]
    return bool(np.where(same, runs.first[1:] > runs.last[:-1] + 1, runs.owner[1:] > runs.owner[:-1]).all())


def maximal(runs: Intervals) -> Intervals:
    """The same coverage as intervals that neither touch nor overlap, sorted by owner."""
    return subtract(runs, empty(runs.owners, runs.positions))


def union(*parts: Intervals) -> Intervals:
    """All intervals of several sets over the same objects and positions, unmerged."""
    return Intervals(
        np.concatenate([part.owner for part in parts]),
        np.concatenate([part.first for part in parts]),
        np.concatenate([part.last for part in parts]),
        parts[0].owners,
        parts[0].positions,
    )


def empty(owners: int, positions: int) -> Intervals:
    nothing = np.zeros(0, dtype=np.int64)
    return Intervals(nothing, nothing, nothing, owners, positions)
