"""Lays out a table's time axis from its references: dots on lanes, flags, pins and marks.

Invariant: every retained snapshot is one dot on its branch's lane, at its commit time. A snapshot held only by a tag is
a dot on a separate lane. Dots are ordered by snapshot id within a lane, not by time, because clocks can go backwards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from core.model.references import MAIN, Heads, Line, Snapshot
from dashboard.charts.pointer import Reset, Stay, path

MAX_POINTS = 2_000  # above this many dots, the chart shows commit density instead
BINS = 60  # bars of at least 7 pixels on a page of 900, so that each can be hit


@dataclass(frozen=True, slots=True)
class Lane:
    """A row of dots. A `held` lane shows expired snapshots kept by tags; an `empty` lane belongs to a branch without
    snapshots."""

    branch: str
    held: bool
    empty: bool = False


@dataclass(frozen=True, slots=True)
class Dot:
    """A snapshot. `point` is its version text; `tags` are its tags on the same branch."""

    point: str
    id: int
    time_ms: int
    kind: str
    lane: int
    schema_id: int
    tags: tuple[str, ...]
    total_rows: int | None
    delta_rows: int | None
    note: str = ""
    state: str = ""  # Iceberg only; see `core.model.references.Snapshot`


@dataclass(frozen=True, slots=True)
class Flag:
    """A tag, drawn above its dot."""

    name: str
    point: str
    snapshot_id: int
    time_ms: int
    lane: int


@dataclass(frozen=True, slots=True)
class Pin:
    """A consumer, drawn below the snapshot it reads next. `ahead`: that snapshot does not exist yet."""

    name: str
    next_snapshot: int
    time_ms: int
    lane: int
    ahead: bool


@dataclass(frozen=True, slots=True)
class Mark:
    """The first commit with a new schema."""

    point: str
    time_ms: int
    lane: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Cut:
    """A line between lanes: where a branch left its origin or, without a name, from a parent to its child."""

    branch: str
    start_ms: int
    start_lane: int
    end_ms: int
    end_lane: int


@dataclass(frozen=True, slots=True)
class Band:
    """A range of `count` commits on one lane that the next expiry removes, up to a given time."""

    lane: int
    until_ms: int
    count: int


@dataclass(frozen=True, slots=True)
class Axis:
    """Everything that the timeline draws, with lanes from top to bottom."""

    lanes: tuple[Lane, ...]
    dots: tuple[Dot, ...]
    flags: tuple[Flag, ...]
    pins: tuple[Pin, ...]
    marks: tuple[Mark, ...]
    cuts: tuple[Cut, ...]
    links: tuple[Cut, ...] | None = None  # parent-child lines, if the format records parents
    path: tuple[Stay, ...] = ()
    resets: tuple[Reset, ...] = ()

    @property
    def span_ms(self) -> tuple[int, int] | None:
        """The first and last commit times; None if there are no dots."""
        if not self.dots:
            return None
        times = [dot.time_ms for dot in self.dots]
        return min(times), max(times)

    def dot(self, point: str) -> Dot | None:
        return next((dot for dot in self.dots if dot.point == point), None)

    def due(self, points: Collection[str]) -> tuple[Band, ...]:
        """Return the range on each lane that ends with the last of these points."""
        found: dict[int, list[int]] = {}
        for dot in self.dots:
            if dot.point in points:
                found.setdefault(dot.lane, []).append(dot.time_ms)
        return tuple(Band(lane, max(times), len(times)) for lane, times in sorted(found.items()))

    def of_branch(self, branch: str) -> Axis:
        """Keep only the non-empty lanes of one branch and what is drawn on them."""
        filled = {dot.lane for dot in self.dots}
        return self._only([n for n, lane in enumerate(self.lanes) if lane.branch == branch and n in filled])

    def filled(self) -> Axis:
        """Keep only the lanes that have dots or that main's path crosses, and keep the path."""
        there = {dot.lane for dot in self.dots} | {stay.lane for stay in self.path}
        keep = [number for number in range(len(self.lanes)) if number in there]
        path = [replace(stay, lane=None if stay.lane is None else keep.index(stay.lane)) for stay in self.path]
        resets = [replace(each, lane=keep.index(each.lane)) for each in self.resets]
        return replace(self._only(keep), path=tuple(path), resets=tuple(resets))

    def _only(self, lanes: Sequence[int]) -> Axis:
        keep = {number: place for place, number in enumerate(lanes)}
        return Axis(
            tuple(self.lanes[number] for number in keep),
            tuple(replace(dot, lane=keep[dot.lane]) for dot in self.dots if dot.lane in keep),
            tuple(replace(flag, lane=keep[flag.lane]) for flag in self.flags if flag.lane in keep),
            tuple(replace(pin, lane=keep[pin.lane]) for pin in self.pins if pin.lane in keep),
            tuple(replace(mark, lane=keep[mark.lane]) for mark in self.marks if mark.lane in keep),
            (),
            None if self.links is None
            else tuple(replace(each, start_lane=keep[each.start_lane], end_lane=keep[each.end_lane])
                       for each in self.links if each.start_lane in keep and each.end_lane in keep),
        )  # fmt: skip

    def within(self, window_ms: tuple[int, int] | None) -> Axis:
        """Keep only what lies within a time window, both ends included."""
        if window_ms is None:
            return self
        first, last = window_ms
        return Axis(
            self.lanes,
            tuple(dot for dot in self.dots if first <= dot.time_ms <= last),
            tuple(flag for flag in self.flags if first <= flag.time_ms <= last),
            tuple(pin for pin in self.pins if first <= pin.time_ms <= last),
            tuple(mark for mark in self.marks if first <= mark.time_ms <= last),
            tuple(cut for cut in self.cuts if first <= cut.end_ms and cut.start_ms <= last),
            None if self.links is None
            else tuple(each for each in self.links if first <= each.end_ms and each.start_ms <= last),
            tuple(each for each in self.path if first <= each.until_ms and each.start_ms <= last),
            tuple(each for each in self.resets if first <= each.time_ms <= last),
        )  # fmt: skip


def axis(heads: Heads) -> Axis:
    """Lay out a table: main's lane first, then the snapshots held only by main's tags, then the other branches by
    name."""
    lanes: list[Lane] = []
    dots: list[Dot] = []
    flags: list[Flag] = []
    pins: list[Pin] = []
    marks: list[Mark] = []
    first_dot: dict[str, Dot] = {}
    for line in heads.lines:
        own = len(lanes)
        lanes.append(Lane(line.branch, held=False, empty=not (line.snapshots or line.tags)))
        retained = heads.retained(line)
        tags = _tags_by_id(line if heads.capabilities.branches_are_directories else heads.main)
        shown = [_dot(line, snapshot, own, tags) for snapshot in line.snapshots]
        expired = {tag.snapshot.id: tag.snapshot for tag in line.tags if tag.snapshot.id not in retained}
        if expired:
            lanes.append(Lane(line.branch, held=True))
            for number in sorted(expired):
                point = _point(line.branch, f"tag:{tags[number][0]}")
                shown.append(_dot(line, expired[number], own + 1, tags, point))
        by_id = {dot.id: dot for dot in shown}
        dots += shown
        if heads.capabilities.ids_are_ordered:
            shown.sort(key=lambda dot: dot.id)
        if shown:
            first_dot[line.branch] = shown[0]
        if heads.capabilities.branches_are_directories:
            flags += _flags(line, by_id)
        pins += _pins(line, own)
        marks += _marks(shown)
    if not heads.capabilities.branches_are_directories:
        flags += _flags(heads.main, {dot.id: dot for dot in dots})
    found = Axis(tuple(lanes), tuple(dots), tuple(flags), tuple(pins), tuple(marks), _cuts(heads, dots, first_dot))
    if not heads.capabilities.time_by_log:
        return found
    places = {dot.id: (dot.point, dot.lane, dot.time_ms) for dot in dots}
    stays, resets = path(heads.pointer, places, (found.span_ms or (0, 0))[1])
    return replace(found, links=_links(heads, dots), path=stays, resets=resets)


def _flags(line: Line, dots: Mapping[int, Dot]) -> Iterable[Flag]:
    for tag in line.tags:
        at = dots[tag.snapshot.id]
        yield Flag(tag.name, _point(line.branch, f"tag:{tag.name}"), at.id, at.time_ms, at.lane)


def _point(branch: str, own: str) -> str:
    return own if branch == MAIN else f"branch:{branch}/{own}"


def _tags_by_id(line: Line) -> Mapping[int, tuple[str, ...]]:
    found: dict[int, tuple[str, ...]] = {}
    for tag in line.tags:
        found[tag.snapshot.id] = (*found.get(tag.snapshot.id, ()), tag.name)
    return found


def _dot(
    line: Line, snapshot: Snapshot, lane: int, tags: Mapping[int, tuple[str, ...]], point: str | None = None
) -> Dot:
    return Dot(
        point or _point(line.branch, str(snapshot.id)),
        snapshot.id,
        snapshot.time_ms,
        snapshot.kind,
        lane,
        snapshot.schema_id,
        tags.get(snapshot.id, ()),
        snapshot.total_rows,
        snapshot.delta_rows,
        snapshot.note,
        snapshot.state,
    )


def _pins(line: Line, lane: int) -> Iterable[Pin]:
    if not line.snapshots:
        return
    for consumer in line.consumers:
        later = [snapshot for snapshot in line.snapshots if snapshot.id >= consumer.next_snapshot]
        at = later[0] if later else line.snapshots[-1]
        yield Pin(consumer.name, consumer.next_snapshot, at.time_ms, lane, ahead=not later)


def _marks(dots: Sequence[Dot]) -> Iterable[Mark]:
    for before, after in pairwise(dots):
        if before.schema_id != after.schema_id:
            yield Mark(after.point, after.time_ms, after.lane, before.schema_id, after.schema_id)


def _cuts(heads: Heads, dots: Sequence[Dot], first: Mapping[str, Dot]) -> tuple[Cut, ...]:
    """Find where each branch starts: the dot on another lane with the same id and commit time as its first dot; for
    Iceberg, the parent of its first dot."""
    cuts = []
    if not heads.capabilities.ids_are_ordered:
        parents = {each.id: each.parent_id for line in heads.lines for each in line.snapshots}
        placed = {dot.id: dot for dot in dots}
        for branch, start in sorted(first.items()):
            end = placed.get(parents[start.id] or 0)
            if end is not None and branch in heads.branches:
                cuts.append(Cut(branch, end.time_ms, end.lane, start.time_ms, start.lane))
        return tuple(cuts)
    own = {line.branch for line in heads.lines if line.branch != MAIN}
    origin = {(dot.id, dot.time_ms): dot for dot in reversed(dots) if not dot.point.startswith("branch:")}
    for branch in sorted(own & first.keys()):
        start, end = first[branch], origin.get((first[branch].id, first[branch].time_ms))
        if end is not None:
            cuts.append(Cut(branch, end.time_ms, end.lane, start.time_ms, start.lane))
    return tuple(cuts)


def _links(heads: Heads, dots: Sequence[Dot]) -> tuple[Cut, ...]:
    """Connect each existing parent to its child, except at the start of a branch, which has its own line."""
    parents = {each.id: each.parent_id for line in heads.lines for each in line.snapshots}
    placed = {dot.id: dot for dot in dots}
    branched = [number for number, line in enumerate(heads.lines) if line.branch in heads.branches]
    return tuple(
        Cut("", start.time_ms, start.lane, dot.time_ms, dot.lane)
        for dot in dots
        if (start := placed.get(parents[dot.id] or 0)) and (start.lane == dot.lane or dot.lane not in branched)
    )


@dataclass(frozen=True, slots=True)
class Bins:
    """Commit counts per time bin; `counts[kind][i]` covers `edges_ms[i]` to `edges_ms[i + 1]`."""

    edges_ms: tuple[int, ...]
    counts: Mapping[str, tuple[int, ...]]

    def window_ms(self, index: int) -> tuple[int, int]:
        """The time range of a bin, both ends included."""
        last = index == len(self.edges_ms) - 2
        return self.edges_ms[index], self.edges_ms[index + 1] - (0 if last else 1)


def bins(dots: Sequence[Dot], number: int = BINS, *, edges_ms: tuple[int, ...] | None = None) -> Bins:
    """Count commits by kind. Requires at least one dot; if all dots share a time, there is one bin of 1 ms.

    The bins are equally long, unless `edges_ms` is given.
    """
    times = np.array([dot.time_ms for dot in dots], dtype=np.int64)
    first, last = int(times.min()), int(times.max())
    number = max(1, min(number, last - first))
    edges = edges_ms or (*(first + (last - first) * step // number for step in range(number)), max(last, first + 1))
    number = len(edges) - 1
    place = np.clip(np.searchsorted(edges, times, side="right") - 1, 0, number - 1)
    kinds = np.array([dot.kind for dot in dots])
    return Bins(
        edges,
        {
            str(kind): tuple(np.bincount(place[kinds == kind], minlength=number).tolist())
            for kind in sorted(set(kinds.tolist()))
        },
    )
