"""The cheapest versions to keep for a goal such as "daily for 30 days, monthly for a year". Pure.

Invariant: every period of the goal that still has a version keeps one, and among all such choices the one that holds
the fewest bytes is proposed. This is exact unless a file returns after it was removed: such a file is counted once per
return, so a choice with it looks more expensive than it is. `Proposal.bytes` is exact in any case.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.errors import Invalid
from core.model.history import History
from core.model.intervals import Ints, Mask
from core.model.references import HolderKind
from core.units import epoch_ms

HOUR, DAY, WEEK, MONTH = "hour", "day", "week", "month"
MOST = 1_000  # stretches of one tier
_LENGTH_MS = {HOUR: 3_600_000, DAY: 86_400_000, WEEK: 7 * 86_400_000, MONTH: 31 * 86_400_000}
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MONDAY_MS = 4 * 86_400_000  # 1970-01-05


@dataclass(frozen=True, slots=True)
class Tier:
    """A version of each of the last `count` hours, days, weeks (from Monday) or months, by the UTC calendar."""

    unit: str
    count: int


@dataclass(frozen=True, slots=True)
class GoalPeriod:
    """One hour, day, week or month of a goal: from `start_ms` until before `end_ms`."""

    tier: Tier
    start_ms: int
    end_ms: int

    def has(self, time_ms: int) -> bool:
        return self.start_ms <= time_ms < self.end_ms

    @property
    def needed_until_ms(self) -> int:
        """When it is older than the goal reaches."""
        return self.end_ms + self.tier.count * _LENGTH_MS[self.tier.unit]


@dataclass(frozen=True, slots=True)
class Kept:
    """A version that needs a tag, the stretches it is kept for, and how long the goal needs it."""

    position: int
    stretches: tuple[GoalPeriod, ...]
    until_ms: int


@dataclass(frozen=True, slots=True)
class Proposal:
    """`missing`: stretches of which nothing is left. `after`: the positions that stay; `bytes` is all they hold."""

    tags: tuple[Kept, ...]
    met: tuple[GoalPeriod, ...]
    missing: tuple[GoalPeriod, ...]
    after: Mask
    bytes: int


def stretches(tiers: Sequence[Tier], now_ms: int) -> list[GoalPeriod]:
    """All that the goal asks for, the oldest first; the one that `now_ms` lies in is the last of its tier."""
    found = []
    for tier in tiers:
        if tier.unit not in _LENGTH_MS or not 1 <= tier.count <= MOST:
            raise Invalid("A goal counts 1 to {most} hours, days, weeks or months.", most=MOST)
        end = _start(tier.unit, now_ms)
        found.append(GoalPeriod(tier, end, _next(tier.unit, end)))
        for _ in range(tier.count - 1):
            start = _start(tier.unit, end - 1)
            found.append(GoalPeriod(tier, start, end))
            end = start
    return sorted(found, key=lambda each: (each.start_ms, each.end_ms))


def propose(history: History, branch: str, kept: Mask, tiers: Sequence[Tier], now_ms: int) -> Proposal:
    """What to tag so that the goal is met once everything but `kept` and the tags has expired."""
    periods = stretches(tiers, now_ms)
    readable = [
        (holder.snapshot.time_ms, position)
        for position, holder in enumerate(history.holders)
        if holder.exists
        and holder.branch == branch
        and holder.kind in (HolderKind.SNAPSHOT, HolderKind.TAG)
        and holder.snapshot is not None
        and position not in history.incomplete
    ]
    by_time = sorted(readable)
    ends = {tag.name: epoch_ms(tag.expires) for tag in history.heads.require(branch).tags if tag.expires is not None}
    until = {
        at: ends.get(each.name)
        for at, each in enumerate(history.holders)
        if each.kind is HolderKind.TAG and each.branch == branch
    }

    def lasts(at: int, each: GoalPeriod) -> bool:
        """Whether what is kept is kept as long as it is needed: tags with a retention end by themselves."""
        end_ms = until.get(at)
        return bool(kept[at]) and (end_ms is None or end_ms + _LENGTH_MS[DAY] >= each.needed_until_ms)  # in any zone

    open_ = [each for each in periods if not any(each.has(time_ms) and lasts(at, each) for time_ms, at in by_time)]
    candidates = [
        (time_ms, at)
        for time_ms, at in by_time
        if (not kept[at] or until.get(at) is not None) and any(each.has(time_ms) for each in open_)
    ]
    spans = [_span([time_ms for time_ms, _ in candidates], each) for each in open_]
    needed = [span for span in spans if span is not None]
    chosen = [candidates[index] for index in cheapest(*_weights(history, kept), [at for _, at in candidates], needed)]
    after = kept.copy()
    after[[position for _, position in chosen]] = True
    missing = tuple(each for each, span in zip(open_, spans, strict=True) if span is None)
    return Proposal(
        tuple(_named(chosen, open_)),
        tuple(each for each in periods if each not in missing),
        missing,
        after,
        history.bytes_of(history.held.over(after)),
    )


def cheapest(
    first: Ints, last: Ints, weight: Ints, positions: Sequence[int], needed: Sequence[tuple[int, int]]
) -> list[int]:
    """Which of the `positions`, by their place, hold the fewest bytes together while each of `needed` (from a place to
    a place, both included) has one. Files of `weight` are held from a first to a last position.

    Choosing in order, what a version adds is what it holds that the one chosen before it does not: a file held on one
    run of positions that is held by any earlier choice is held by the nearest one.
    """
    if not needed:
        return []
    count = len(positions)
    # after[i]: the nearest place by which something has to be chosen when i (0: nothing yet) was chosen last
    after = np.full(count + 1, count + 1, dtype=np.int64)
    for begin, end in needed:
        after[begin] = min(after[begin], end + 1)  # stretches that begin after the place `begin - 1`, counted from 1
    after = np.minimum.accumulate(after[::-1])[::-1]
    best = np.zeros(count + 1, dtype=np.int64)
    before = np.zeros(count + 1, dtype=np.int64)
    at = np.array(positions, dtype=np.int64)
    for place in range(1, count + 1):
        position = at[place - 1]
        holding = (first <= position) & (position <= last)
        order = np.argsort(first[holding], kind="stable")
        begins, sums = first[holding][order], np.concatenate(([0], np.cumsum(weight[holding][order])))
        low = int(np.searchsorted(after, place))  # those before it would leave a stretch without a version
        earlier = np.arange(low, place)
        shared = np.where(earlier == 0, 0, sums[np.searchsorted(begins, at[earlier - 1], side="right")])
        totals = best[earlier] + sums[-1] - shared
        least = int(np.argmin(totals))
        best[place], before[place] = totals[least], earlier[least]
    ends = np.flatnonzero(after[1:] > count) + 1
    place = int(ends[np.argmin(best[ends])])
    chosen = []
    while place:
        chosen.append(place - 1)
        place = int(before[place])
    return chosen[::-1]


def _weights(history: History, kept: Mask) -> tuple[Ints, Ints, Ints]:
    """Every run of files that nothing of `kept` holds: first and last position, bytes."""
    alike = history.shapes
    loose = ~alike.runs.over(kept)[alike.runs.owner]
    return alike.runs.first[loose], alike.runs.last[loose], alike.weight[alike.runs.owner[loose]]


def _span(times_ms: Sequence[int], stretch: GoalPeriod) -> tuple[int, int] | None:
    """The places of the candidates in a stretch; None where there is none."""
    low, high = np.searchsorted(np.array(times_ms, dtype=np.int64), [stretch.start_ms, stretch.end_ms])
    return (int(low), int(high) - 1) if low < high else None


def _named(chosen: Sequence[tuple[int, int]], open_: Sequence[GoalPeriod]) -> list[Kept]:
    """Each stretch is for the newest version in it; a version is needed as long as the longest of its own."""
    own: dict[int, list[GoalPeriod]] = {position: [] for _, position in chosen}
    for each in open_:
        inside = [position for time_ms, position in chosen if each.has(time_ms)]
        if inside:
            own[inside[-1]].append(each)
    return [
        Kept(position, tuple(periods), max(each.needed_until_ms for each in periods))
        for position, periods in own.items()
        if periods
    ]


def _start(unit: str, time_ms: int) -> int:
    if unit == MONTH:
        at = _EPOCH + dt.timedelta(milliseconds=time_ms)
        return (dt.datetime(at.year, at.month, 1, tzinfo=dt.UTC) - _EPOCH) // dt.timedelta(milliseconds=1)
    offset = _MONDAY_MS if unit == WEEK else 0
    return time_ms - (time_ms - offset) % _LENGTH_MS[unit]


def _next(unit: str, start_ms: int) -> int:
    return _start(unit, start_ms + 32 * 86_400_000) if unit == MONTH else start_ms + _LENGTH_MS[unit]
