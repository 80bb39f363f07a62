"""Groups the dots of a lane that would overlap on screen, so that every mark can be hit with a mouse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Protocol, TypeVar

from dashboard import words
from dashboard.charts.canvas import Canvas
from dashboard.charts.ruler import Ruler
from dashboard.charts.time_axis import Dot

GAP = 0.04  # least distance of two marks, of the visible time range: 17 px on a page of 900 px, 23 px on one of 1440 px
APART = 40  # commits side by side that all keep a mark of their own: 11 px on a page of 900 px, 15 px on one of 1440 px

Cluster = tuple[Dot, ...]  # one lane's dots, oldest first


class Placed(Protocol):
    """Whatever stands at a time on a lane."""

    @property
    def time_ms(self) -> int: ...
    @property
    def lane(self) -> int: ...


P = TypeVar("P", bound=Placed)


def clusters(dots: Sequence[P], span_ms: tuple[int, int], ruler: Ruler | None = None) -> list[tuple[P, ...]]:
    """Group the dots of each lane that lie less than `GAP` before a mark, from the newest dot on; of the same time in
    the order given.

    A mark stands at the newest dot of its cluster, so two marks of a lane are at least `GAP` apart; of evenly spaced
    commits, at most `APART` all stay single instead. Takes O(n log n).
    """
    times = [dot.time_ms for dot in dots]
    places: Sequence[float] = times if ruler is None else ruler.places(times)
    wide = span_ms[1] - span_ms[0] if ruler is None else len(ruler)
    gap = max(wide, 1) * GAP if ruler is None or wide > APART else 0.5
    found: list[list[P]] = []
    last = 0.0
    for at in sorted(range(len(dots)), key=lambda at: (dots[at].lane, -times[at], -at)):
        dot = dots[at]
        if found and found[-1][0].lane == dot.lane and last - places[at] < gap:
            found[-1].append(dot)
        else:
            found.append([dot])
            last = places[at]
    return [tuple(reversed(each)) for each in found]


def draw(
    canvas: Canvas, groups: Sequence[Cluster], held: Sequence[bool], unusual: Collection[str] = frozenset()
) -> None:
    """Draw each cluster as a circle with its number of commits; a click zooms in.

    Commits at one and the same time cannot be separated on a time axis: a click chooses the newest of them.
    """
    if not groups:
        return
    colour = canvas.hue("ink")
    canvas.marks(
        [group[-1].time_ms for group in groups],
        [-group[0].lane for group in groups],
        [_payload(group) for group in groups],
        [_hover(group, canvas.zone, sum(dot.point in unusual for dot in group)) for group in groups],
        mode="markers+text",
        text=[str(len(group)) if len(group) < 100 else "99+" for group in groups],
        textfont={"size": 10, "color": colour},
        marker={
            "symbol": "circle",
            "size": 17,
            "color": canvas.palette.paper,
            "line": {"color": [canvas.hue("tag") if held[group[0].lane] else colour for group in groups], "width": 1.5},
        },
    )


def _payload(group: Cluster) -> str:
    first, last = group[0].time_ms, group[-1].time_ms
    return words.window_text((first, last)) if first < last else group[-1].point


def _hover(group: Cluster, zone: str, unusual: int) -> str:
    kinds = Counter(words.commit_kind(dot.kind) for dot in group)
    return words.cluster_hover(len(group), kinds.most_common(), (group[0].time_ms, group[-1].time_ms), zone, unusual)
