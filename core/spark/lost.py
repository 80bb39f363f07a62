"""Why a point cannot be read any more: who removed it while a query ran, where that is known, and what is left."""

from __future__ import annotations

from collections.abc import Sequence

from core.asof import AsOf, in_words
from core.errors import NotFound, SnapscopeError
from core.history import History
from core.journal import Journal
from core.model import Heads, Snapshot
from core.table import Table


def explain(table: Table, history: History, points: Sequence[AsOf], error: SnapscopeError) -> None:
    """After `error` of a query over `points`: raises `NotFound` where the table no longer has one of them."""
    now = table.heads()
    for point in points:
        path = history.holders[history.position(point.point)].path
        if now.references.get(path) != history.heads.references.get(path):
            raise _gone(table, now, point, path) from error


def _gone(table: Table, now: Heads, point: AsOf, path: str) -> NotFound:
    nearest = _nearest(now, point)
    remedy = (
        f"The nearest point left is {nearest.id}, committed {in_words(nearest.time_ms)}: ask at {nearest.id}."
        if nearest is not None
        else "No snapshot is left on its branch."
    )
    return NotFound(f"{point.point} went while the query ran: {_by_whom(table, path)}.", path=path, remedy=remedy)


def _by_whom(table: Table, path: str) -> str:
    journal = Journal()
    for run in journal.runs(table.location):
        if any(removed == path for removed, _ in journal.removed(run.id)):
            return f"{run.who} removed it in run {run.id} ({run.change_kind}), begun {in_words(run.started_ms)}"
    return "not by this Snapscope, so another engine or user expired, deleted or replaced it"


def _nearest(now: Heads, point: AsOf) -> Snapshot | None:
    line = now.line(point.branch)
    left = () if line is None else line.snapshots
    return min(left, key=lambda each: (abs(each.time_ms - point.snapshot.time_ms), each.id), default=None)
