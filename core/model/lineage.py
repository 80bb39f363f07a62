"""Snapshots by their parents, for formats that record them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol, TypeVar

from core.model.references import Heads, Snapshot


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
