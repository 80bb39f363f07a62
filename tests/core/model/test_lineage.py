"""Snapshots by their parents, and columns of branches that parted."""

from __future__ import annotations

from typing import Any

from core.model.lineage import ancestors, apart
from core.model.references import Field, Schema, Snapshot


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


def schema(number: int, *columns: tuple[int, str, Any]) -> Schema:
    return Schema(number, tuple(Field(*each) for each in columns), (), (), {}, number)


def test_columns_are_the_same_up_to_the_schema_at_which_branches_parted() -> None:
    shared = {0: schema(0, (0, "a", "INT"), (1, "gone", "INT")), 1: schema(1, (0, "a", "INT"))}
    ours = {**shared, 2: schema(2, (0, "a", "INT"), (2, "price", "INT"))}
    theirs = {**shared, 2: schema(2, (0, "a", "INT"), (2, "discount", "INT"), (3, "b", "INT"))}
    assert [each.id for each in apart(ours[2], ours, theirs).fields] == [0, 6]
    assert [each.id for each in apart(shared[0], ours, theirs).fields] == [0, 1]
    assert apart(ours[2], ours, ours) is ours[2]
    assert apart(shared[1], shared, theirs) == shared[1]


def test_fields_inside_a_shared_column_can_be_another_branchs_as_well() -> None:
    def row(*inner: tuple[int, str]) -> dict[str, Any]:
        fields = [{"id": id, "name": name, "type": "INT"} for id, name in inner]
        return {"type": "ARRAY", "element": {"type": "ROW", "fields": fields}}

    shared = {0: schema(0, (0, "r", row((1, "x"))))}
    ours, theirs = ({**shared, 1: schema(1, (0, "r", row((1, "x"), (2, name))))} for name in ("y", "z"))
    (found,) = apart(ours[1], ours, theirs).fields
    assert found == Field(0, "r", row((1, "x"), (5, "y")))
