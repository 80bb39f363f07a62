"""Why a version cannot be read: who removed it before or during the read, if that is known, and what is left."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from core.errors import Corrupt, NotFound, SnapscopeError
from core.execution.journal import UNDONE, Journal
from core.formats.paimon import layout
from core.messages import both, message
from core.model.history import History
from core.model.references import MAIN, Heads, Snapshot
from core.model.time_travel import AsOf, in_words
from core.table import Table, resolve


def resolved(table: Table, heads: Heads, point: str, branch: str = MAIN) -> AsOf:
    """As `core.model.time_travel.resolve`, with an error that says who removed the version if our journal knows."""
    try:
        return resolve(heads, point, branch)
    except NotFound as error:
        path = _path(point, branch)
        who = None if path is None else _who(table, path)
        if who is None:
            raise
        raise NotFound(both(error.message, message("{who}.", who=who)), path=path, remedy=error.remedy) from error


@contextlib.contextmanager
def explained(table: Table, history: History, points: Sequence[AsOf], *, by_name: bool = False) -> Iterator[None]:
    """While these versions are read, turn failures caused by the loss of one of them into a `NotFound` that says so.

    `by_name`: the reader looks the versions up again, so any failure may come from that, and an answer may be of other
    rows.
    """
    failures = (SnapscopeError,) if by_name else (Corrupt, NotFound)
    try:
        yield
    except failures as error:
        if (gone := _lost(table, history, points)) is not None:
            raise gone from error
        raise
    if by_name and (gone := _lost(table, history, points)) is not None:
        raise gone


def _lost(table: Table, history: History, points: Sequence[AsOf]) -> NotFound | None:
    """The error for the first of these versions whose reference has changed, or None."""
    now = table.heads()
    for point in points:
        path = history.holders[history.position(point.point)].path
        if now.references.get(path) != history.heads.references.get(path):
            return _gone(table, now, point, path)
    return None


def _gone(table: Table, now: Heads, point: AsOf, path: str) -> NotFound:
    nearest = _nearest(now, point)
    remedy = (
        message(
            "The nearest remaining snapshot is {id}, committed {in_words}: query {id}.",
            id=nearest.id,
            in_words=in_words(nearest.time_ms),
        )
        if nearest is not None
        else message("No snapshot is left on its branch.")
    )
    who = _who(table, path) or message("not by this Snapscope: another engine or user expired, deleted or replaced it")
    return NotFound(
        "{point} was deleted while it was read: {who}.", point=point.point, who=who, path=path, remedy=remedy
    )


def _path(point: str, branch: str) -> str | None:
    """The path of a snapshot or tag given as a POINT; None for other POINTs."""
    text = point.strip()
    if text.startswith("branch:"):
        branch, _, text = text.removeprefix("branch:").partition("/")
    if text.isdigit():
        return layout.reference(branch, layout.SNAPSHOT, int(text))
    return layout.reference(branch, layout.TAG, text.removeprefix("tag:")) if text.startswith("tag:") else None


def _who(table: Table, path: str) -> str | None:
    """Who last removed a reference, as far as our journal knows."""
    journal = Journal()
    for run in journal.runs(table.location):
        if run.state != UNDONE and any(removed == path for removed, _ in journal.removed(run.id)):
            return message(
                "{who} deleted it in run {id} ({change_kind}), started {in_words}",
                who=run.who,
                id=run.id,
                change_kind=run.change_kind,
                in_words=in_words(run.started_ms),
            )
    return None


def _nearest(now: Heads, point: AsOf) -> Snapshot | None:
    line = now.line(point.branch)
    left = () if line is None else line.snapshots
    return min(left, key=lambda each: (abs(each.time_ms - point.snapshot.time_ms), each.id), default=None)
