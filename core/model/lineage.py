"""What versions have in common: snapshots by their parents, for formats that record them, and columns by the schemas of
their branches. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from core.model.references import Field, Heads, Schema, Snapshot


class Child(Protocol):
    @property
    def parent_id(self) -> int | None: ...


C = TypeVar("C", bound=Child)


def ancestors(snapshots: Mapping[int, C], head: int | None) -> Iterator[C]:
    """The snapshot `head` and those of its ancestors that exist, newest first."""
    seen: set[int] = set()
    while head is not None and head in snapshots and head not in seen:  # stop at a cycle, which no real history has
        seen.add(head)
        yield snapshots[head]
        head = snapshots[head].parent_id


def members(heads: Heads) -> dict[int, Snapshot]:
    """All snapshots of a table by id, in the order of its lines."""
    return {each.id: each for line in heads.lines for each in line.snapshots}


def apart(schema: Schema, ours: Mapping[int, Schema], theirs: Mapping[int, Schema]) -> Schema:
    """A schema of one branch, to be compared by field id with one of another. `ours`, `theirs`: all of their schemas.

    Branches of Paimon number new columns independently. Columns, and fields inside of them, that are newer than the
    schema at which the branches parted get ids that the other branch does not have.
    """
    if ours == theirs:
        return schema
    known = max((id for each in _shared(ours, theirs) for id in _ids(each.fields)), default=-1)
    free = max((id for each in (schema, *theirs.values()) for id in _ids(each.fields)), default=-1) + 1
    return replace(schema, fields=tuple(_renumbered(each, known, free) for each in schema.fields))


def _shared(ours: Mapping[int, Schema], theirs: Mapping[int, Schema]) -> Iterator[Schema]:
    """The schemas up to the one at which the branches parted: both have them, with the same content."""
    for number in sorted(ours.keys() & theirs.keys()):
        if ours[number] != theirs[number]:
            return
        yield ours[number]


def _ids(node: object) -> Iterator[int]:
    """The ids of columns and of all fields inside their types."""
    if isinstance(node, Field):
        yield node.id
        yield from _ids(node.type)
    elif isinstance(node, Mapping):
        if isinstance(id := node.get("id"), int):
            yield id
        yield from _ids(tuple(node.values()))
    elif isinstance(node, list | tuple):
        for each in node:
            yield from _ids(each)


def _renumbered(node: Any, known: int, free: int) -> Any:
    """A column or type in which ids after `known` are moved up by `free`."""
    if isinstance(node, Field):
        id = node.id + free if node.id > known else node.id
        return replace(node, id=id, type=_renumbered(node.type, known, free))
    if isinstance(node, Mapping):
        is_field = isinstance(node.get("id"), int) and node["id"] > known
        moved = {"id": node["id"] + free} if is_field else {}
        return {name: _renumbered(each, known, free) for name, each in node.items()} | moved
    return [_renumbered(each, known, free) for each in node] if isinstance(node, list | tuple) else node
