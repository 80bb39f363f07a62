"""Whether a commit is usual for its table, and which commits of a branch need attention. Pure.

The rule: a commit is compared with the last `MOST` commits of its kind on its branch before it, of the same weekday and
within an hour of the same time of day (UTC). Where these are fewer than `LEAST`, of the same time on any day; where
these are too few, of any time; where there are fewer than `LEAST` at all, nothing is said. It is unusual if the rows it
added and removed are more than `TIMES` times their median, or less than 1/`TIMES` of it, and lie further from it than
`SPREADS` times their median deviation.

Invariant: from metadata alone, and only from commits before the one that is judged. What is not known is not judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np

from core.analysis.commit_changes import CommitChanges, CommitSummary

MOST, LEAST = 30, 5
JUDGED = 1_000
TIMES, SPREADS = 2.0, 3.0
DELETED = 0.1  # of the rows, beyond which a delete needs attention
PAUSE = 1.5  # times the longest pause between loads, after which they have stopped
HOUR_MS, DAY_MS = 3_600_000, 86_400_000


class Alike(StrEnum):
    """Which earlier commits a commit was compared with."""

    WEEKDAY = "weekday"  # of the same weekday and time of day
    TIME = "time"  # of the same time of day
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Usual:
    """What is usual: the median of the rows that `number` earlier commits moved, and how far these lie from it.
    `alike` is None where there are too few; then `number` is how many there are."""

    alike: Alike | None
    number: int
    median: float = 0
    spread: float = 0  # median absolute deviation
    rows: int = 0  # of the commit that is judged

    @property
    def is_larger(self) -> bool:
        return self._is_far and self.rows > TIMES * self.median

    @property
    def is_smaller(self) -> bool:
        return self._is_far and self.rows * TIMES < self.median

    @property
    def _is_far(self) -> bool:
        return self.alike is not None and abs(self.rows - self.median) > SPREADS * self.spread


class Sign(StrEnum):
    """Why a commit, or that none came, needs attention; the gravest first."""

    VANISHED = "vanished"
    DELETED = "deleted"
    SCHEMA = "schema"
    LARGER = "larger"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Attention:
    """One thing to look at. `change` is the commit; of loads that stopped the last one, with both pauses."""

    sign: Sign
    change: CommitSummary
    usual: Usual | None = None
    silent_ms: int = 0
    longest_ms: int = 0


def usual(changes: CommitChanges, number: int) -> Usual | None:
    """What is usual for the commit at a place, and how large it is; None where its change is not known."""
    if not changes.is_known[number]:
        return None
    rows = int(changes.moved_rows[number])
    alike = changes.is_known[:number] & (changes.kinds[:number] == changes.snapshots[number].kind)
    earlier = np.flatnonzero(alike)
    apart = np.abs(changes.times[earlier] - changes.times[number])
    for which, cycle_ms in ((Alike.WEEKDAY, 7 * DAY_MS), (Alike.TIME, DAY_MS), (Alike.ANY, 2 * HOUR_MS)):
        within = apart % cycle_ms  # to the hour, across midnight too; of two hours any time is
        fitting = earlier[np.minimum(within, cycle_ms - within) <= HOUR_MS][-MOST:]
        if len(fitting) >= LEAST:
            sizes = changes.moved_rows[fitting]
            median = float(np.median(sizes))
            return Usual(which, len(sizes), median, float(np.median(np.abs(sizes - median))), rows)
    return Usual(None, len(earlier), rows=rows)


def attention(changes: CommitChanges, since_ms: int, now_ms: int) -> tuple[Attention, ...]:
    """What needs attention among the commits after a moment, the last `JUDGED` at most, and whether loads have stopped;
    the newest first."""
    return (*_stopped(changes, now_ms), *unusual_commits(changes, since_ms))


def unusual_commits(changes: CommitChanges, since_ms: int | None = None) -> tuple[Attention, ...]:
    """What needs attention among the commits after a moment, or at any time, the last `JUDGED` at most; the newest
    first."""
    newest = len(changes.snapshots)
    return tuple(
        found
        for number in reversed(range(max(0, newest - JUDGED), newest))
        if since_ms is None or changes.snapshots[number].time_ms > since_ms
        for found in signs(changes, number)
    )


def signs(changes: CommitChanges, number: int) -> Iterator[Attention]:
    """Why the commit at a place needs attention."""
    if changes.schema(number):
        yield Attention(Sign.SCHEMA, changes.of(number))
    if not changes.is_known[number] or changes.is_rewrite(number):
        return
    sums = changes.sums[number]
    if sums.removed_files and changes.vanished[number] and not _drops_often(changes, number):
        yield Attention(Sign.VANISHED, changes.of(number))
    if sums.removed_rows - sums.added_rows > DELETED * changes.rows_before(number):
        yield Attention(Sign.DELETED, changes.of(number))
    if sums.added_rows > sums.removed_rows:
        found = usual(changes, number)
        if found is not None and found.is_larger:
            yield Attention(Sign.LARGER, changes.of(number), found)


def _drops_often(changes: CommitChanges, number: int) -> bool:
    """Whether partitions go as a matter of course: most of the last commits that took files away took whole ones."""
    earlier = [
        each
        for each in range(number)
        if changes.is_known[each] and changes.sums[each].removed_files and not changes.is_rewrite(each)
    ][-MOST:]
    dropping = sum(bool(changes.vanished[each]) for each in earlier)
    return len(earlier) >= LEAST and 2 * dropping > len(earlier)


def _stopped(changes: CommitChanges, now_ms: int) -> Iterator[Attention]:
    """The last load, where none has come for longer than ever among the last ones."""
    loads = [
        number
        for number in range(len(changes.snapshots))
        if changes.is_known[number]
        and not changes.is_rewrite(number)
        and changes.sums[number].added_rows > changes.sums[number].removed_rows
    ][-MOST:]
    times = [changes.snapshots[number].time_ms for number in loads]
    pauses = [after - before for before, after in pairwise(times)]
    if len(pauses) < LEAST:
        return
    silent, longest = now_ms - times[-1], max(pauses)
    if silent > PAUSE * longest:
        yield Attention(Sign.STOPPED, changes.of(loads[-1]), silent_ms=silent, longest_ms=longest)
