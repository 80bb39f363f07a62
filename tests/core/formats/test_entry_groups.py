"""Files with the same entries: whatever is added in whatever order, each file has exactly its own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.formats import entry_groups
from core.formats.entry_groups import Groups
from core.model.intervals import Intervals, Ints, from_pairs

STEPS = st.lists(
    st.lists(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=6), max_size=4), max_size=4
)
"""Of each step the new manifests, of each manifest its entries: the file and the code."""


def grown(steps: list[list[list[tuple[int, int]]]]) -> tuple[Groups, dict[int, list[tuple[int, int]]], int]:
    groups, expected, manifests = Groups.none(), dict[int, list[tuple[int, int]]](), 0
    known: dict[int, int] = {}
    for step in steps:
        rows = []
        for entries in step:
            rows += [(known.setdefault(file, len(known)), manifests, code) for file, code in entries]
            manifests += 1
        for file, manifest, code in rows:
            expected.setdefault(file, []).append((manifest, code))
        columns = np.array(rows, dtype=np.int64).reshape(-1, 3)
        groups = groups.extended(columns[:, 0], columns[:, 1], columns[:, 2], len(known))
    return groups, expected, manifests


def entries(groups: Groups, file: int) -> list[tuple[int, int]]:
    own = slice(groups.start[groups.group_of[file]], groups.start[groups.group_of[file] + 1])
    return list(zip(groups.manifest[own].tolist(), groups.code[own].tolist(), strict=True))


@given(STEPS)
def test_each_file_has_exactly_its_own_entries(steps: list[list[list[tuple[int, int]]]]) -> None:
    groups, expected, _ = grown(steps)
    assert {file: entries(groups, file) for file in range(len(groups.group_of))} == expected


@given(STEPS)
def test_equal_keys_of_different_entries_cost_groups_and_no_answer(steps: list[list[list[tuple[int, int]]]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entry_groups, "_mixed", np.zeros_like)
        groups, expected, _ = grown(steps)
    assert {file: entries(groups, file) for file in range(len(groups.group_of))} == expected


@given(STEPS, st.sets(st.integers(0, 15)), st.sets(st.tuples(st.integers(0, 15), st.integers(0, 3))))
def test_where_files_are_named_and_what_is_left_of_some_manifests(
    steps: list[list[list[tuple[int, int]]]], kept: set[int], listed: set[tuple[int, int]]
) -> None:
    groups, expected, manifests = grown(steps)
    pairs = [(manifest, position) for manifest, position in listed if manifest < manifests]
    columns = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    runs = from_pairs(columns[:, 0], columns[:, 1], manifests, 4)
    chosen = groups.on_files(from_pairs(*_pairs(groups.covered(runs, (0, 2))), groups.count, 4))
    for file, own in expected.items():
        found = {position for manifest, position in pairs for each, code in own if each == manifest and code in (0, 2)}
        assert set(np.flatnonzero(chosen.positions_of(file)).tolist()) == found
    mask = np.array([number in kept for number in range(manifests)], dtype=np.bool_)
    alive = [file for file, own in sorted(expected.items()) if any(mask[manifest] for manifest, _ in own)]
    numbers = np.cumsum(mask) - 1
    left = groups.without(mask, np.array(alive, dtype=np.int64), numbers)
    for number, file in enumerate(alive):
        assert entries(left, number) == [
            (numbers[manifest], code) for manifest, code in expected[file] if mask[manifest]
        ]


def _pairs(runs: Intervals) -> tuple[Ints, Ints]:
    rows = [
        (owner, position)
        for owner, first, last in zip(runs.owner, runs.first, runs.last, strict=True)
        for position in range(first, last + 1)
    ]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 2)
    return columns[:, 0], columns[:, 1]
