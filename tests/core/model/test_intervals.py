"""Runs against dictionaries of frozensets, on whatever Hypothesis makes up."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.model import intervals
from core.model.intervals import Intervals, Ints, Mask
from tests.support.depth import tries

Sets = Mapping[int, frozenset[int]]


@st.composite
def universes(draw: st.DrawFn, tables: int = 1) -> tuple[int, list[Sets]]:
    """A number of positions and some tables of the same objects: object → positions."""
    positions = draw(st.integers(1, 12))
    objects = draw(st.integers(0, 8))
    one = st.frozensets(st.integers(0, positions - 1))
    return positions, [{owner: draw(one) for owner in range(objects)} for _ in range(tables)]


def build(sets: Sets, positions: int, order: int = 0) -> Intervals:
    pairs = [(owner, each) for owner, found in sets.items() for each in found]
    pairs = pairs[order % (len(pairs) + 1) :] + pairs[: order % (len(pairs) + 1)]
    owner, position = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in (0, 1))
    return intervals.from_pairs(owner, position, len(sets), positions)


def mask(found: frozenset[int], positions: int) -> Mask:
    return np.isin(np.arange(positions), list(found))


def owners(answer: Mask) -> set[int]:
    return set(np.flatnonzero(answer).tolist())


def sets_of(held: Intervals) -> dict[int, frozenset[int]]:
    found: dict[int, set[int]] = {owner: set() for owner in range(held.owners)}
    for owner, first, last in zip(held.owner.tolist(), held.first.tolist(), held.last.tolist(), strict=True):
        assert 0 <= first <= last < held.positions
        found[owner] |= set(range(first, last + 1))
    return {owner: frozenset(each) for owner, each in found.items()}


def assert_maximal(held: Intervals) -> None:
    ordered = sorted(zip(held.owner.tolist(), held.first.tolist(), held.last.tolist(), strict=True))
    for (owner, _, last), (following, first, _) in itertools.pairwise(ordered):
        assert owner != following or first > last + 1, "runs of one object that touch are one run"
    assert ordered == list(zip(held.owner.tolist(), held.first.tolist(), held.last.tolist(), strict=True))


@tries(100)
@given(universes(), st.integers(0, 50))
def test_pairs_in_any_order_and_repeated_give_the_same_maximal_runs(
    universe: tuple[int, list[Sets]], turn: int
) -> None:
    positions, [sets] = universe
    held = build(sets, positions, turn)
    assert sets_of(held) == sets
    assert_maximal(held)
    twice = intervals.from_pairs(
        np.tile(np.repeat(held.owner, 1), 2), np.tile(held.first, 2), held.owners, positions
    )  # the first positions, each told twice
    assert sets_of(twice) == {
        owner: frozenset(held.first[held.owner == owner].tolist()) for owner in range(held.owners)
    }


@tries(100)
@given(universes(), st.data())
def test_questions_of_runs(universe: tuple[int, list[Sets]], data: st.DataObject) -> None:
    positions, [sets] = universe
    held = build(sets, positions)
    chosen = data.draw(st.frozensets(st.integers(0, positions - 1)))
    assert owners(held.over(mask(chosen, positions))) == {owner for owner, on in sets.items() if on & chosen}
    for position in range(positions):
        assert owners(held.at(position)) == {owner for owner, on in sets.items() if position in on}
    for owner, on in sets.items():
        assert frozenset(np.flatnonzero(held.positions_of(owner)).tolist()) == on
    weights = data.draw(st.lists(st.integers(0, 2**50), min_size=len(sets), max_size=len(sets)))
    expected = [sum(weights[owner] for owner, on in sets.items() if position in on) for position in range(positions)]
    assert held.sums(np.array(weights, dtype=np.int64)).tolist() == expected
    pairs = [(owner, position) for owner in sets for position in range(positions)]
    asked: tuple[Ints, Ints] = (
        np.array([pair[0] for pair in pairs], dtype=np.int64),
        np.array([pair[1] for pair in pairs], dtype=np.int64),
    )
    assert held.covers(*asked).tolist() == [position in sets[owner] for owner, position in pairs]


@tries(100)
@given(universes(), st.data())
def test_freed_is_what_only_those_that_go_hold(universe: tuple[int, list[Sets]], data: st.DataObject) -> None:
    positions, [sets] = universe
    every = st.frozensets(st.integers(0, positions - 1))
    before, after = data.draw(every), data.draw(every)  # `after` may hold positions that were not there before
    answer = intervals.freed(build(sets, positions), mask(before, positions), mask(after, positions))
    assert owners(answer) == {owner for owner, on in sets.items() if on & before and not on & after}


@tries(150)
@given(universes(tables=2))
def test_subtract_is_the_difference(universe: tuple[int, list[Sets]]) -> None:
    positions, [added, removed] = universe
    left = intervals.subtract(build(added, positions), build(removed, positions))
    assert sets_of(left) == {owner: added[owner] - removed[owner] for owner in added}
    assert_maximal(left)


@tries(100)
@given(universes(tables=3))
def test_subtract_from_runs_that_overlap(universe: tuple[int, list[Sets]]) -> None:
    """Several manifests ADD one identity, and several DELETE it: their runs overlap and touch."""
    positions, [one, other, removed] = universe
    both = intervals.union(build(one, positions), build(other, positions))
    gone = intervals.union(build(removed, positions), build(removed, positions))
    left = intervals.subtract(both, gone)
    assert sets_of(left) == {owner: (one[owner] | other[owner]) - removed[owner] for owner in one}
    assert_maximal(left)


@tries(100)
@given(universes(tables=2), st.data())
def test_union_and_other_owners(universe: tuple[int, list[Sets]], data: st.DataObject) -> None:
    positions, [one, other] = universe
    joined = intervals.union(build(one, positions), build(other, positions))
    expected = {owner: one[owner] | other[owner] for owner in one}
    assert sets_of(joined) == expected
    whole = intervals.maximal(joined)
    assert sets_of(whole) == expected
    assert_maximal(whole)
    chosen = data.draw(st.frozensets(st.integers(0, positions - 1)))
    assert owners(joined.over(mask(chosen, positions))) == {owner for owner, on in expected.items() if on & chosen}
    target = data.draw(st.lists(st.integers(0, 3), min_size=len(one), max_size=len(one)))
    moved = whole.of(np.array(target, dtype=np.int64), 4)
    for new in range(4):
        assert sets_of(moved)[new] == frozenset().union(*(expected[old] for old in expected if target[old] == new))


def test_nothing_at_all() -> None:
    nothing = intervals.empty(0, 0)
    assert nothing.over(np.zeros(0, dtype=np.bool_)).tolist() == []
    assert nothing.sums(np.zeros(0, dtype=np.int64)).tolist() == []
    assert sets_of(intervals.subtract(intervals.empty(3, 4), intervals.empty(3, 4))) == dict.fromkeys(
        range(3), frozenset()
    )
    assert intervals.freed(intervals.empty(2, 3), np.ones(3, np.bool_), np.zeros(3, np.bool_)).tolist() == [
        False,
        False,
    ]


def test_owners_that_end_and_begin_beside_each_other_stay_apart() -> None:
    """The last position of one object and the first of the next are no neighbours."""
    held = build({0: frozenset({2}), 1: frozenset({0})}, 3)
    assert sets_of(held) == {0: {2}, 1: {0}}
    assert sets_of(intervals.subtract(held, build({0: frozenset(), 1: frozenset({0})}, 3))) == {0: {2}, 1: set()}


def test_many_positions_and_objects_do_not_overflow() -> None:
    positions, objects = 2_000_000, 2_000_000
    last = np.array([objects - 1], dtype=np.int64)
    held = intervals.from_pairs(last, np.array([positions - 1], dtype=np.int64), objects, positions)
    assert (held.owner.tolist(), held.first.tolist()) == ([objects - 1], [positions - 1])
    assert held.at(positions - 1).nonzero()[0].tolist() == [objects - 1]
