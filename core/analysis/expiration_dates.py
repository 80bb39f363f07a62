"""When each version expires automatically: the table's own options and TTLs, applied as the next writers would.

Invariant: a date is given only if it follows from the current state; if it depends on future commits or on a consumer,
the text says so. Tags expire by the writer's wall clock, whose zone is not stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from core.formats import registry
from core.messages import message
from core.model.expiry import Expiry
from core.model.history import History, HistorySummary
from core.model.intervals import Mask
from core.model.references import Heads, Holder, HolderKind


def expiring(history: HistorySummary, now_ms: int) -> Mask:
    """Positions that the table's own policy would expire at `now_ms`; none where it cannot be evaluated."""
    return registry.of(history.heads).expiring(history, now_ms)


def expiries(heads: Heads, now_ms: int, rules: str = "newest") -> dict[str, Expiry]:
    """The expiry of every readable snapshot and tag of every branch, by POINT."""
    return registry.of(heads).expiries(heads, now_ms, rules)


@dataclass(frozen=True, slots=True)
class ExpirationDate:
    """A date on which versions expire automatically, at the earliest.

    `files` and `bytes` are freed once these versions and all earlier ones have expired, and not sooner.
    """

    at_ms: int
    points: tuple[str, ...]
    files: int
    bytes: int


def calendar(history: History, expiries_by_point: Mapping[str, Expiry], now_ms: int) -> tuple[ExpirationDate, ...]:
    """What expires automatically and when (`expiries_by_point`: see `expiries`), soonest first.

    Overdue versions are listed at `now_ms`. Only what follows from dates: a version that waits for commits or a
    consumer, or never expires, keeps its files.
    """
    never = np.iinfo(np.int64).max
    ends = np.array(
        [_ends(holder.point, expiries_by_point, now_ms, never) for holder in history.holders], dtype=np.int64
    )
    ends[~history.existing] = -1  # a holder that does not exist holds nothing
    dates: dict[int, list[str]] = {}
    for expiry in expiries_by_point.values():
        if expiry.not_before_ms is not None:
            dates.setdefault(max(expiry.not_before_ms, now_ms), []).append(expiry.point)
    # An object is freed on the last date among its holders.
    alike = history.shapes
    last = np.full(alike.runs.owners, -1, dtype=np.int64)
    if len(alike.runs.owner):
        bounds = np.stack((alike.runs.first, alike.runs.last + 1), axis=1).ravel()
        longest = np.maximum.reduceat(np.append(ends, -1), bounds)[::2]
        np.maximum.at(last, alike.runs.owner, longest)
    found = []
    for at_ms, points in sorted(dates.items()):
        chosen = last == at_ms
        found.append(
            ExpirationDate(at_ms, tuple(points), int(alike.count[chosen].sum()), int(alike.weight[chosen].sum()))
        )
    return tuple(found)


def _ends(point: str, expiries_by_point: Mapping[str, Expiry], now_ms: int, never: int) -> int:
    expiry = expiries_by_point.get(point)
    return never if expiry is None or expiry.not_before_ms is None else max(expiry.not_before_ms, now_ms)


@dataclass(frozen=True, slots=True)
class Life:
    """Why a file is kept and when it may be deleted.

    `not_before_ms` None: its last holder never expires automatically.
    """

    path: str
    kind: str
    bytes: int | None
    holders: tuple[str, ...]
    last: str | None
    not_before_ms: int | None
    words: str


def life(history: History, path: str, now_ms: int) -> Life | None:
    """The holders of a path and the one that lasts longest; None for a path that the history does not know."""
    row = pc.index(history.objects["path"], path).as_py()
    if row < 0:
        return None
    kind, size = history.objects["kind"][row].as_py(), history.objects["bytes"][row].as_py()
    dates = expiries(history.heads, now_ms)
    holders = history.holders_of(path)
    last, longest, ends = None, (-1, 0.0, 0), None
    words = message(
        "no snapshot or tag holds it" if history.incomplete else "no snapshot or tag holds it: it is an orphan"
    )
    for place, holder in enumerate(holders):
        expiry = dates.get(holder.point)
        if (lasts := lasting(holder, expiry, place)) > longest:
            last, longest, ends = holder.point, lasts, expiry.not_before_ms if expiry else None
            what = message("an unreadable snapshot or tag") if holder.snapshot is None else holder.point
            when = expiry.words if expiry else message("no rule expires it automatically")
            if holder.kind is HolderKind.CHANGELOG:
                when = message("when its long-lived changelog expires")
            words = message("last holder: {what}, {tells}", what=what, tells=when)
    if history.incomplete:
        words = message(
            ("{words} (as far as can be read: some snapshots or tags cannot be read, and may hold it too)"), words=words
        )
    return Life(path, kind, size, tuple(holder.point for holder in holders), last, ends, words)


def lasting(holder: Holder, expiry: Expiry | None, place: int) -> tuple[int, float, int]:
    """The sort key of how long a holder lasts.

    Dates first, then holders that depend on future commits (newer ones last longer), then those that never expire.
    """
    if expiry is not None and expiry.not_before_ms is not None:
        return 0, float(expiry.not_before_ms), -place
    hangs = holder.kind is HolderKind.CHANGELOG or (expiry is not None and expiry.is_open)
    return (1, 0.0, place) if hangs else (2, 0.0, -place)
