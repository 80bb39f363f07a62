"""Snapshots by their parents."""

from __future__ import annotations

from core.model.lineage import ancestors
from core.model.references import Snapshot


def snapshot(number: int, parent: int | None) -> Snapshot:
    return Snapshot(number, number, "append", 0, "", 0, None, None, None, {}, b"", parent)


def test_ancestors_end_where_a_parent_is_gone() -> None:
    known = {1: snapshot(1, None), 3: snapshot(3, 2), 4: snapshot(4, 3)}
    assert [each.id for each in ancestors(known, 4)] == [4, 3]
    assert [each.id for each in ancestors(known, 1)] == [1]
    assert list(ancestors(known, 2)) == list(ancestors(known, None)) == []


def test_parents_that_go_round_in_a_circle_end() -> None:
    known = {1: snapshot(1, 2), 2: snapshot(2, 1)}
    assert [each.id for each in ancestors(known, 2)] == [2, 1]
