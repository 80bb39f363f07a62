"""Labels on the lanes: tags as flags above their dots, consumers as pins below the snapshot they read next."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard import words
from dashboard.charts.canvas import Canvas
from dashboard.charts.clusters import GAP, clusters
from dashboard.charts.time_axis import Axis, Dot, Flag

RISE, DROP = 0.36, 0.37  # in lanes: the height of flags above, and of pins below, their dots
CHART_PX = 440  # the width that labels are placed for: of a page of 900 px; on wider charts they just have more room
LETTER_PX, MARK_PX = 6.6, 14
LABEL_LETTERS = 24


def draw(canvas: Canvas, axis: Axis, span_ms: tuple[int, int], lift: float) -> None:
    """Draw flags and pins within the visible time range; `lift` is the height of the bars on main's lane, in lanes."""
    if axis.flags:
        flags = clusters(axis.flags, span_ms, canvas.ruler)
        _labelled(
            canvas, span_ms, [(words.group_label(group), group[-1].time_ms, group[-1].lane) for group in flags],
            [_payload(group) for group in flags], [words.flag_hover(group, canvas.zone) for group in flags],
            "triangle-down", "tag", [(0 if group[0].lane else lift) + RISE - group[0].lane for group in flags],
        )  # fmt: skip
    if axis.pins:
        pins = clusters(axis.pins, span_ms, canvas.ruler)
        _labelled(
            canvas, span_ms, [(words.group_label(group), group[-1].time_ms, group[-1].lane) for group in pins],
            [""] * len(pins),
            ["<br>".join(words.pin_hover(pin.name, pin.next_snapshot, pin.ahead) for pin in group) for group in pins],
            "triangle-up", "consumer", [-group[0].lane - DROP for group in pins],
        )  # fmt: skip


def _payload(group: Sequence[Flag]) -> str:
    """Return what a click chooses: the tag, or the time range of several that would overlap."""
    first, last = group[0].time_ms, group[-1].time_ms
    return words.window_text((first, last)) if first < last else group[0].point


def _labelled(
    canvas: Canvas,
    span_ms: tuple[int, int],
    named: Sequence[tuple[str, int, int]],
    payloads: Sequence[str],
    hovers: Sequence[str],
    symbol: str,
    hue: str,
    heights: Sequence[float],
) -> None:
    placed = labels(named, span_ms)
    if canvas.ruler is not None:
        places = canvas.ruler.places([time_ms for _, time_ms, _ in named])
        spread = [(name, place, lane) for (name, _, lane), place in zip(named, places, strict=True)]
        placed = labels(spread, (0, len(canvas.ruler)))
    canvas.marks(
        [time_ms for _, time_ms, _ in named],
        heights,
        payloads,
        hovers,
        mode="markers+text",
        text=[text for text, _ in placed],
        textposition=[f"middle {side}" for _, side in placed],
        textfont={"size": 12, "color": canvas.hue(hue)},
        cliponaxis=False,
        marker={"symbol": symbol, "size": 10, "color": canvas.hue(hue)},
    )


_SIDES = {"center": 0.0, "right": GAP, "left": -GAP}  # of a letter below its ring: about where it stands


def ring(canvas: Canvas, axis: Axis, dot: Dot, letter: str, span_ms: tuple[int, int]) -> None:
    """Draw a ring around a mark, with its letter below: beside what already stands there."""
    times = [dot.time_ms, *(mark.time_ms for mark in axis.marks if mark.lane == dot.lane)]
    times += [pin.time_ms for pin in axis.pins if pin.lane == dot.lane]
    places: Sequence[float] = times if canvas.ruler is None else canvas.ruler.places(times)
    wide = max(span_ms[1] - span_ms[0] if canvas.ruler is None else len(canvas.ruler), 1)
    near = [(other - places[0]) / wide for other in places[1:]]
    free = (side for side, at in _SIDES.items() if not any(abs(other - at) < GAP * 0.8 for other in near))
    canvas.add(
        x=canvas.at([dot.time_ms]),
        y=[-dot.lane],
        mode="markers+text",
        text=[f"<b>{letter}</b>"],
        textposition=f"bottom {next(free, 'center')}",
        textfont={"size": 13, "color": canvas.hue("ink")},
        marker={"symbol": "circle-open", "size": 21, "color": canvas.hue("ink"), "line": {"width": 2.5}},
        hoverinfo="skip",
    )


def labels(named: Sequence[tuple[str, float, int]], span_ms: tuple[int, int]) -> list[tuple[str, str]]:
    """Choose which `(name, time, lane)` labels fit next to their marks, and on which side; the others appear on hover
    only."""
    pixels = CHART_PX / max(span_ms[1] - span_ms[0], 1)
    found = [("", "right")] * len(named)
    occupied: dict[int, float] = {}  # how far marks and labels extend on each lane
    order = sorted(range(len(named)), key=lambda place: (named[place][1], named[place][0]))
    for place in order:
        name, time_ms, lane = named[place]
        name = name if len(name) <= LABEL_LETTERS else name[: LABEL_LETTERS - 1] + "…"
        wide = MARK_PX + LETTER_PX * len(name)
        at = (time_ms - span_ms[0]) * pixels
        following = min((each[1] for each in named if each[2] == lane and each[1] > time_ms), default=None)
        ends = CHART_PX if following is None else (following - span_ms[0]) * pixels
        reach = occupied.get(lane, -MARK_PX)
        occupied[lane] = max(reach, at + MARK_PX / 2)
        if at >= reach and at + wide <= ends:
            found[place] = words.plain(name), "right"
            occupied[lane] = at + wide + 2
        elif following is None and at - wide >= reach:
            found[place] = words.plain(name), "left"
    return found
