"""Intervals compared with plain set algebra: dictionaries of frozensets, one object at a time."""

from __future__ import annotations

import random

import numpy as np

from core.model import intervals

CLAIM = "Freed, live and held objects from runs equal the plain set algebra, on random holders"
CASES = 100


def prove(seed: int) -> dict[str, int]:
    chance = random.Random(seed)
    objects_seen = freed_seen = 0
    for _ in range(CASES):
        positions, objects = chance.randint(1, 40), chance.randint(1, 60)
        holders = {each: _some(chance, positions) for each in range(objects)}
        hidden = {each: _some(chance, positions) for each in range(objects)}
        held = _runs(holders, positions)
        _check_answers(chance, held, holders, positions)
        left = {each: holders[each] - hidden[each] for each in holders}
        _check_answers(chance, intervals.subtract(held, _runs(hidden, positions)), left, positions)

        goes = _some(chance, positions)
        before, after = _mask(range(positions), positions), _mask(set(range(positions)) - goes, positions)
        expected = {each for each, on in holders.items() if on and on <= goes}
        assert set(np.flatnonzero(intervals.freed(held, before, after)).tolist()) == expected, (seed, goes)
        objects_seen += objects
        freed_seen += len(expected)
    return {"objects": objects_seen, "freed objects": freed_seen, "histories": CASES}


def _some(chance: random.Random, positions: int) -> frozenset[int]:
    """A few intervals of positions, as real objects have them, or none."""
    found: set[int] = set()
    for _ in range(chance.choice((0, 1, 1, 1, 2, 3))):
        first = chance.randrange(positions)
        found.update(range(first, min(positions, first + chance.randint(1, 12))))
    return frozenset(found)


def _runs(holders: dict[int, frozenset[int]], positions: int) -> intervals.Intervals:
    pairs = [(each, on) for each, all_on in holders.items() for on in all_on]
    owner = np.array([pair[0] for pair in pairs], dtype=np.int64)
    position = np.array([pair[1] for pair in pairs], dtype=np.int64)
    return intervals.from_pairs(owner, position, len(holders), positions)


def _mask(on: object, positions: int) -> intervals.Mask:
    mask = np.zeros(positions, dtype=np.bool_)
    mask[list(on)] = True  # type: ignore[call-overload]
    return mask


def _check_answers(
    chance: random.Random, held: intervals.Intervals, holders: dict[int, frozenset[int]], positions: int
) -> None:
    at = chance.randrange(positions)
    assert set(np.flatnonzero(held.at(at)).tolist()) == {each for each, on in holders.items() if at in on}
    some = _some(chance, positions)
    met = {each for each, on in holders.items() if on & some}
    assert set(np.flatnonzero(held.over(_mask(some, positions))).tolist()) == met
    each = chance.randrange(len(holders))
    assert set(np.flatnonzero(held.positions_of(each)).tolist()) == holders[each]
    weight = np.array([chance.randint(0, 1 << 40) for _ in holders], dtype=np.int64)
    sums = [sum(int(weight[e]) for e, on in holders.items() if p in on) for p in range(positions)]
    assert held.sums(weight).tolist() == sums
