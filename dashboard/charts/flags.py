"""Names on the lanes: tags as flags above their dots, consumers as pins below what they read next."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard import words
from dashboard.charts.canvas import Canvas
from dashboard.charts.time_axis import Axis, Flag

RISE, DROP = 0.36, 0.37  # in lanes: how far flags stand above and pins hang below their dots
CHART_PX = 820  # the width labels are placed for; a wider chart only has more room
LETTER_PX, MARK_PX = 6.6, 14
LABEL_LETTERS = 24


def draw(canvas: Canvas, axis: Axis, span_ms: tuple[int, int], lift: float) -> None:
    """Flags and pins over the stretch that is shown; `lift` is how far main's own bars reach, in lanes."""
    if axis.flags:
        groups = _grouped(axis.flags)
        first = [flags[0] for flags in groups]
        _labelled(
            canvas, span_ms, [(words.flag_label(flags), flags[0].time_ms, flags[0].lane) for flags in groups],
            [flag.point for flag in first], [words.flag_hover(flags, canvas.zone) for flags in groups], "triangle-down",
            "tag", [(0 if flags[0].lane else lift) + RISE - flags[0].lane for flags in groups],
        )  # fmt: skip
    if axis.pins:
        _labelled(
            canvas, span_ms, [(pin.name, pin.time_ms, pin.lane) for pin in axis.pins], [""] * len(axis.pins),
            [words.pin_hover(pin.name, pin.next_snapshot, pin.ahead) for pin in axis.pins], "triangle-up", "consumer",
            [-pin.lane - DROP for pin in axis.pins],
        )  # fmt: skip


def _grouped(flags: Sequence[Flag]) -> list[list[Flag]]:
    """Tags of one snapshot are one flag."""
    groups: dict[tuple[int, int], list[Flag]] = {}
    for flag in flags:
        groups.setdefault((flag.lane, flag.snapshot_id), []).append(flag)
    return list(groups.values())


def _labelled(
    canvas: Canvas,
    span_ms: tuple[int, int],
    named: Sequence[tuple[str, int, int]],
    carried: Sequence[str],
    hovers: Sequence[str],
    symbol: str,
    hue: str,
    heights: Sequence[float],
) -> None:
    placed = labels(named, span_ms)
    canvas.marks(
        [time_ms for _, time_ms, _ in named],
        heights,
        carried,
        hovers,
        mode="markers+text",
        text=[text for text, _ in placed],
        textposition=[f"middle {side}" for _, side in placed],
        textfont={"size": 12, "color": canvas.hue(hue)},
        cliponaxis=False,
        marker={"symbol": symbol, "size": 10, "color": canvas.hue(hue)},
    )


def labels(named: Sequence[tuple[str, int, int]], span_ms: tuple[int, int]) -> list[tuple[str, str]]:
    """Of `(name, time, lane)`, the names that fit beside their marks, and on which side; the others are told on hover
    alone."""
    pixels = CHART_PX / max(span_ms[1] - span_ms[0], 1)
    found = [("", "right")] * len(named)
    taken: dict[int, float] = {}  # of each lane, how far marks and names reach
    order = sorted(range(len(named)), key=lambda place: (named[place][1], named[place][0]))
    for place in order:
        name, time_ms, lane = named[place]
        name = name if len(name) <= LABEL_LETTERS else name[: LABEL_LETTERS - 1] + "…"
        wide = MARK_PX + LETTER_PX * len(name)
        at = (time_ms - span_ms[0]) * pixels
        following = min((each[1] for each in named if each[2] == lane and each[1] > time_ms), default=None)
        ends = CHART_PX if following is None else (following - span_ms[0]) * pixels
        reach = taken.get(lane, -MARK_PX)
        taken[lane] = max(reach, at + MARK_PX / 2)
        if at >= reach and at + wide <= ends:
            found[place] = words.plain(name), "right"
            taken[lane] = at + wide + 2
        elif following is None and at - wide >= reach:
            found[place] = words.plain(name), "left"
    return found
