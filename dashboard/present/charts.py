"""Plotly figures made from an axis and a trend. Pure: a theme and a zone come in, a figure goes out.

Law: a mark that can be clicked carries its point as text in `customdata[0]` (bins carry `from..to` in milliseconds);
every hue comes from the palette by its meaning; no figure draws more dots than `axis.MAX_POINTS`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.present import lineage, units, words
from dashboard.present.axis import MAX_POINTS, Axis, Bins, Dot, Flag, bins
from dashboard.present.canvas import FONT, Canvas, times
from dashboard.present.palette import KINDS, OTHER_KIND, Palette
from dashboard.present.trends import Trend, Values

LANE_PX, TREND_PX, AXIS_PX = 58, 82, 62
RISE, DROP = 0.36, 0.37  # in lanes: how far flags stand above and pins hang below their dots
DENSITY = 1.6  # in lanes: how high the bars of a dense axis reach
CHART_PX = 820  # the width labels are placed for; a wider chart only has more room
LETTER_PX = 6.6
LABEL_LETTERS = 24

CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "displayModeBar": False,
    "scrollZoom": False,
    "responsive": True,
    "doubleClick": "reset",
}
Legend = lineage.Legend  # marker, hue, word


def timeline(
    axis: Axis,
    palette: Palette,
    zone: str,
    *,
    trend: Trend | None = None,
    chosen: Mapping[str, str] | None = None,
    asked_ms: int | None = None,
    window_ms: tuple[int, int] | None = None,
    due: Collection[str] = (),
) -> go.Figure:
    """Lanes on a true time axis, with trends below on the same axis.

    `chosen` maps points to a letter set under a ring round their dots (`A`, `B`, or blank for the ring alone);
    `asked_ms` is a moment to mark; `window_ms` the stretch to show, all of the axis where None; `due` are points that
    go by themselves, and their stretch is shaded. Above `MAX_POINTS` dots the lanes show how many commits each stretch
    of time holds.
    """
    panels = _panels(trend)
    dense = len(axis.dots) > MAX_POINTS
    lanes = max(len(axis.lanes), 1) + (DENSITY if dense else 0.0)
    heights = [lanes * LANE_PX + 14, *[TREND_PX] * len(panels)]
    figure = make_subplots(
        rows=len(heights), cols=1, shared_xaxes=True, row_heights=heights,
        vertical_spacing=18 / sum(heights) if panels else 0,
    )  # fmt: skip
    canvas = Canvas(figure, palette, zone)
    single = axis.dots
    if dense:  # main as bars, the few dots of other lanes one by one; too many of those join the bars
        others = tuple(dot for dot in axis.dots if dot.lane)
        few = len(others) <= MAX_POINTS
        single = others if few else ()
        _density(canvas, bins([dot for dot in axis.dots if not (few and dot.lane)]))
    _horizon(canvas, axis, due, DENSITY if dense else 0.0)
    lineage.lines(canvas, axis, single)
    lineage.path(canvas, axis)
    _dots(canvas, axis, single)
    lineage.states(canvas, single)
    _names(canvas, axis, DENSITY if dense else 0.0)
    for point, letter in (chosen or {}).items():
        _ring(canvas, axis.dot(point), letter)
    if asked_ms is not None:
        _asked(canvas, asked_ms)
    for row, (name, values, text) in enumerate(panels, start=2):
        assert trend is not None
        _trend(canvas, row, name, trend, values, text)
    figure.update_xaxes(
        title={"text": words.axis_time(zone), "font": {"size": 12, "color": palette.muted}, "standoff": 4},
        row=len(heights), col=1,
    )  # fmt: skip
    _dress(canvas, axis, sum(heights) + AXIS_PX, DENSITY if dense else 0.0, window_ms)
    return figure


def legend(axis: Axis, due: Collection[str] = (), due_words: str = "") -> list[Legend]:
    """What the marks of an axis mean; only those that are there."""
    found: list[Legend] = []
    held = {number for number, lane in enumerate(axis.lanes) if lane.held}
    for kind in sorted({dot.kind for dot in axis.dots if dot.lane not in held}):
        hue, marker = KINDS.get(kind, OTHER_KIND)
        found.append((marker, hue, words.commit_kind(kind)))
    if any(dot.lane in held for dot in axis.dots):
        found.append(("circle-open", "tag", words.LEGEND_HELD))
    for there, entry in (
        (axis.flags, ("triangle-down", "tag", words.LEGEND_TAG)),
        (axis.cuts, ("line", "branch", words.LEGEND_BRANCH)),
        (axis.pins, ("triangle-up", "consumer", words.LEGEND_CONSUMER)),
        (axis.marks, (f"letter:{words.SCHEMA_LETTER}", "ink", words.LEGEND_SCHEMA)),
        (axis.due(due), ("band", "freed", due_words)),
    ):
        if there:
            found.append(entry)
    return found + lineage.legend(axis)


# lanes --------------------------------------------------------------------------------------------------------------


def _horizon(canvas: Canvas, axis: Axis, due: Collection[str], lift: float) -> None:
    """A wash behind what goes by itself, from the left edge to its last commit."""
    for band in axis.due(due):
        below, above = -band.lane - 0.45, -band.lane + (0.45 if band.lane else 0.45 + lift)
        start = (axis.span_ms or (band.until_ms, 0))[0]
        first, last = times([start - _slack(axis), band.until_ms + _slack(axis) // 2], canvas.zone)
        canvas.figure.add_shape(
            type="rect", x0=first, x1=last, y0=below, y1=above, layer="below", line={"width": 0},
            fillcolor=canvas.palette.soft("freed", 0.13), row=1, col=1,
        )  # fmt: skip


def _slack(axis: Axis) -> int:
    """Room before the first dot, in milliseconds."""
    first, last = axis.span_ms or (0, 0)
    return max((last - first) // 50, 60_000)


def _dots(canvas: Canvas, axis: Axis, single: Sequence[Dot]) -> None:
    groups: dict[tuple[bool, str], list[Dot]] = {}
    for dot in single:
        groups.setdefault((axis.lanes[dot.lane].held, dot.kind), []).append(dot)
    for (held, kind), dots in sorted(groups.items(), key=lambda item: item[0]):
        hue, symbol = KINDS.get(kind, OTHER_KIND)
        hollow = held or symbol.endswith("-open")
        colour = canvas.hue("tag" if held else hue)
        size, outline = _dot_size(len(single))
        edge = {"color": colour, "width": 2} if hollow else {"color": canvas.palette.paper, "width": outline}
        canvas.marks(
            [dot.time_ms for dot in dots],
            [-dot.lane for dot in dots],
            [dot.point for dot in dots],
            [words.dot_hover(dot, canvas.zone, held) for dot in dots],
            mode="markers",
            marker={
                "symbol": f"{symbol.removesuffix('-open')}-open" if hollow else symbol,
                "size": size - 2 if kind in ("COMPACT", "ANALYZE") else size,
                "color": colour,
                "line": edge,
            },
            selected={"marker": {"size": 18}},
            unselected={"marker": {"opacity": 0.6}},
        )


def _dot_size(dots: int) -> tuple[int, float]:
    """Diameter and outline in pixels: many dots are drawn smaller and bare, or their outlines are all one sees."""
    return (12, 1.0) if dots <= 100 else (10, 0.5) if dots <= 300 else (7, 0.0)


def _density(canvas: Canvas, counted: Bins) -> None:
    """Bars on the first lane: commits per stretch of time, stacked by kind."""
    totals = np.sum([list(each) for each in counted.counts.values()], axis=0)
    places = range(len(totals))
    windows = [counted.window_ms(place) for place in places]
    middles = [(first + last) // 2 for first, last in windows]
    base = np.zeros(len(totals))
    for kind, numbers in counted.counts.items():
        heights = np.array(numbers) * (DENSITY / max(int(totals.max()), 1))
        canvas.figure.add_trace(
            go.Bar(
                x=times(middles, canvas.zone),
                y=heights,
                base=base.copy(),
                width=[(last - first) * 0.9 for first, last in windows],
                marker={"color": canvas.hue(KINDS.get(kind, OTHER_KIND)[0]), "line": {"width": 0}, "opacity": 0.85},
                customdata=[
                    [
                        words.window_text(windows[at]),
                        words.bin_hover(kind, n, int(totals[at]), windows[at], canvas.zone),
                    ]
                    for at, n in enumerate(numbers)
                ],
                hovertemplate="%{customdata[1]}<extra></extra>",
            ),
            row=1,
            col=1,
        )
        base += heights
    canvas.figure.update_layout(barmode="overlay")


def _names(canvas: Canvas, axis: Axis, lift: float) -> None:
    """Everything that is not a snapshot: branch cuts, schema marks, tags, consumers; `lift` is over main's bars."""
    for cut in axis.cuts:
        heights = [-cut.start_lane, -cut.end_lane]
        canvas.line(
            [cut.start_ms, cut.end_ms], heights, words.cut_hover(cut.branch), color=canvas.hue("branch"), width=2
        )
    if axis.marks:
        canvas.marks(
            [mark.time_ms for mark in axis.marks],
            [-mark.lane - DROP for mark in axis.marks],
            [mark.point for mark in axis.marks],
            [words.mark_hover(mark.before, mark.after) for mark in axis.marks],
            mode="markers+text",
            text=[words.SCHEMA_LETTER] * len(axis.marks),
            textfont={"size": 10, "color": canvas.hue("ink")},
            marker={
                "symbol": "square",
                "size": 14,
                "color": canvas.palette.paper,
                "line": {"color": canvas.hue("ink"), "width": 1},
            },
        )
    if axis.flags:
        groups = _grouped(axis.flags)
        first = [flags[0] for flags in groups]
        _labelled(
            canvas, axis, [(words.flag_label(flags), flags[0].time_ms, flags[0].lane) for flags in groups],
            [flag.point for flag in first], [words.flag_hover(flags, canvas.zone) for flags in groups], "triangle-down",
            "tag", [(0 if flags[0].lane else lift) + RISE - flags[0].lane for flags in groups],
        )  # fmt: skip
    if axis.pins:
        _labelled(
            canvas, axis, [(pin.name, pin.time_ms, pin.lane) for pin in axis.pins], [""] * len(axis.pins),
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
    axis: Axis,
    named: Sequence[tuple[str, int, int]],
    carried: Sequence[str],
    hovers: Sequence[str],
    symbol: str,
    hue: str,
    heights: Sequence[float],
) -> None:
    canvas.marks(
        [time_ms for _, time_ms, _ in named],
        heights,
        carried,
        hovers,
        mode="markers+text",
        text=labels(named, axis.span_ms or (0, 1)),
        textposition="middle right",
        textfont={"size": 12, "color": canvas.hue(hue)},
        cliponaxis=False,
        marker={"symbol": symbol, "size": 10, "color": canvas.hue(hue)},
    )


def labels(named: Sequence[tuple[str, int, int]], span_ms: tuple[int, int]) -> list[str]:
    """Of `(name, time, lane)`, the names that fit beside their marks; the others are told on hover alone."""
    length = max(span_ms[1] - span_ms[0], 1)
    found = [""] * len(named)
    taken: dict[int, float] = {}
    for place in sorted(range(len(named)), key=lambda place: (named[place][1], named[place][0])):
        name, time_ms, lane = named[place]
        name = name if len(name) <= LABEL_LETTERS else name[: LABEL_LETTERS - 1] + "…"
        start = (time_ms - span_ms[0]) / length * CHART_PX
        following = min((each[1] for each in named if each[2] == lane and each[1] > time_ms), default=None)
        room = CHART_PX * 2.0 if following is None else (following - span_ms[0]) / length * CHART_PX - start
        if start >= taken.get(lane, -1.0) and (room > 14 + LETTER_PX * len(name) or following is None):
            found[place] = words.plain(name)
            taken[lane] = start + 16 + LETTER_PX * len(name)
    return found


def _ring(canvas: Canvas, dot: Dot | None, letter: str) -> None:
    if dot is not None:
        canvas.figure.add_trace(
            go.Scatter(
                x=times([dot.time_ms], canvas.zone),
                y=[-dot.lane],
                mode="markers+text",
                text=[f"<b>{letter}</b>"],
                textposition="bottom center",
                textfont={"size": 13, "color": canvas.hue("ink")},
                marker={"symbol": "circle-open", "size": 21, "color": canvas.hue("ink"), "line": {"width": 2.5}},
                hoverinfo="skip",
            ),
            row=1,
            col=1,
        )


def _asked(canvas: Canvas, asked_ms: int) -> None:
    at = times([asked_ms], canvas.zone)[0]
    colour = canvas.hue("consumer")
    canvas.figure.add_vline(x=at, line={"color": colour, "width": 2, "dash": "dash"}, row=1, col=1)
    canvas.figure.add_annotation(
        x=at, y=0.72, text=words.ASKED, showarrow=False, xanchor="left", xshift=4, font={"size": 12, "color": colour},
        row=1, col=1,
    )  # fmt: skip


# trends -------------------------------------------------------------------------------------------------------------

Panel = tuple[str, Values, Callable[[int | None], str]]


def _panels(trend: Trend | None) -> list[Panel]:
    if trend is None or len(trend.points) < 2:
        return []
    found: list[Panel] = [(words.TREND_ROWS, trend.rows, units.count)]
    if trend.files is not None:
        found.append((words.TREND_FILES, trend.files, units.count))
    if trend.bytes is not None:
        found.append((words.TREND_BYTES, trend.bytes, units.size))
    return found


def _trend(
    canvas: Canvas, row: int, name: str, trend: Trend, values: Values, text: Callable[[int | None], str]
) -> None:
    canvas.marks(
        trend.times_ms,
        list(values),  # type: ignore[arg-type]
        trend.points,
        [words.trend_hover(point, name, text(value)) for point, value in zip(trend.points, values, strict=True)],
        row=row,
        hover=f"{words.trend_template(canvas.zone)}<extra></extra>",
        mode="lines+markers" if len(trend.points) <= 200 else "lines",
        line={"color": canvas.hue("ink"), "width": 1.6 if len(trend.points) <= 200 else 1, "shape": "hv"},
        marker={"size": 4, "color": canvas.hue("ink")},
        fill="tozeroy",
        fillcolor=canvas.palette.soft("ink", 0.07),
        selected={"marker": {"size": 9}},
        unselected={"marker": {"opacity": 1.0}},
    )
    top = max((value for value in values if value is not None), default=1) or 1
    canvas.figure.update_yaxes(
        row=row, col=1, range=[0, top * 1.18], tickvals=[0, top], ticktext=["0", text(top)],
        title={"text": name, "font": {"size": 12}, "standoff": 6}, gridcolor=canvas.palette.grid, zeroline=False,
    )  # fmt: skip


def _dress(canvas: Canvas, axis: Axis, height: float, top: float, window_ms: tuple[int, int] | None) -> None:
    """What all timelines share: quiet axes, lane names, a click selects."""
    figure, palette = canvas.figure, canvas.palette
    figure.update_yaxes(
        row=1,
        col=1,
        range=[-max(len(axis.lanes) - 1, 0) - 0.6, top + 0.74],
        tickvals=[-number for number in range(len(axis.lanes))],
        ticktext=[words.lane(lane.branch, lane.held) for lane in axis.lanes],
        showgrid=False,
        zeroline=False,
    )
    figure.update_yaxes(fixedrange=True, automargin=True, tickfont={"size": 12})
    figure.update_xaxes(
        type="date", automargin=True, showgrid=True, gridcolor=palette.grid, zeroline=False, tickfont={"size": 12},
        showspikes=True, spikemode="across", spikethickness=1, spikedash="dot", spikecolor=palette.muted,
    )  # fmt: skip
    span = window_ms or axis.span_ms
    if span is not None:
        slack = 0 if window_ms else _slack(axis)
        figure.update_xaxes(range=times([span[0] - slack, span[1] + slack * 2], canvas.zone))
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 12, "t": 4, "b": 8},
        showlegend=False,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": palette.ink, "size": 13, "family": FONT},
        hoverlabel={
            "align": "left", "bgcolor": palette.paper, "bordercolor": palette.muted,
            "font": {"color": palette.ink, "size": 13, "family": FONT},
        },
        hovermode="closest",
        dragmode="zoom",
        clickmode="event+select",
    )  # fmt: skip
