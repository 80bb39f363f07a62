"""The rows that differ between two versions of a table, as core/spark/diff/ finds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.model.time_travel import AsOf
from core.units import several

ADDED, REMOVED, CHANGED = "added", "removed", "changed"


@dataclass(frozen=True, slots=True)
class RowChange:
    """One row that differs.

    `before` and `after` hold its columns at each version: for an added row all are in `after`, for a removed one all
    are in `before`, for a changed one both hold only the changed columns, and `same` the others of the second version.
    `key` holds the primary key. In a table without one, `times` counts how often the row was added or removed.
    """

    kind: str
    key: Mapping[str, Any]
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    times: int = 1
    same: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RowDiff:
    """The row differences from `a` to `b`.

    `changes` are ordered by key and limited to the requested number (`truncated`); the totals count all. `unchanged` is
    None where counting the rows of skipped files would require reading them. `files_read` of `files_live` files (those
    live at either version) were given to Spark. Rows that differ only in columns `not_compared` count as equal.
    """

    a: AsOf
    b: AsOf
    key: tuple[str, ...]
    columns: tuple[str, ...]
    changes: tuple[RowChange, ...] = field(repr=False)
    added: int
    removed: int
    changed: int
    unchanged: int | None
    truncated: bool
    files_read: int
    files_live: int
    seconds: float
    notes: tuple[str, ...]
    engine: str
    not_compared: tuple[str, ...] = ()

    @property
    def stat_line(self) -> str:
        rest = "" if self.unchanged is None else f", {self.unchanged:,} unchanged"
        return f"{self.added:,} added, {self.removed:,} removed, {self.changed:,} changed{rest}"

    @property
    def note(self) -> str:
        first_sentence = (
            f"{self.a.point} to {self.b.point}, read {self.files_read:,} of {several(self.files_live, 'file')} "
            f"in {self.seconds:.1f} s by {self.engine}."
        )
        if self.truncated:
            first_sentence += f" The first {several(len(self.changes), 'row')} are shown; the totals count all."
        return " ".join((first_sentence, *(f"{note}." for note in self.notes)))
