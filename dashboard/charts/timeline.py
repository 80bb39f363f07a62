"""Charts made from an axis and a trend. Pure: a theme and a zone come in, the JSON of a figure goes out.

Law: a mark that can be clicked carries its point as text, alone or first in its `customdata` (bins carry `from..to`
in milliseconds); every hue comes from the palette by its meaning; no figure draws more dots than `axis.MAX_POINTS`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import unescape
from typing import Any
from unicodedata import east_asian_width

import numpy as np

from dashboard import words
from dashboard.charts import flags, lineage, trends
from dashboard.charts.canvas import FONT, Canvas, Figure, times
from dashboard.charts.flags import CHART_PX, DROP
from dashboard.charts.time_axis import MAX_POINTS, Axis, Bins, Dot, bins
from dashboard.charts.trends import Trend
from dashboard.formatting.palette import KINDS, OTHER_KIND, Palette

LANE_PX, TREND_PX, GAP_PX, AXIS_PX = 58, 82, 18, 62
MANY = 300  # dots of a lane and a kind: more are drawn small and bare, and once where they lie under one another
CELL_PX = 2.0
DENSITY = 1.6  # in lanes: how high the bars of a dense axis reach

CONFIG: dict[str, Any] = {"displaylogo": False, "displayModeBar": False, "scrollZoom": False, "responsive": True}
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
) -> Figure:
    """Lanes on a true time axis, with trends below on the same axis.

    `chosen` maps points to a letter set under a ring round their dots (`A`, `B`, or blank for the ring alone);
    `asked_ms` is a moment to mark; `window_ms` the stretch to show, all of the axis where None; `due` are points that
    go by themselves, and their stretch is hatched. Above `MAX_POINTS` dots the lanes show how many commits each
    stretch of time holds.
    """
    panels = trends.panels(trend)
    dense = len(axis.dots) > MAX_POINTS
    lift = DENSITY if dense else 0.0
    canvas = Canvas(palette, zone)
    single = axis.dots
    _horizon(canvas, axis, due, lift)
    if dense:  # main as bars, the few dots of other lanes one by one; too many of those join the bars
        others = tuple(dot for dot in axis.dots if dot.lane)
        few = len(others) <= MAX_POINTS
        single = others if few else ()
        _density(canvas, bins([dot for dot in axis.dots if not (few and dot.lane)]))
    lineage.lines(canvas, axis, single)
    lineage.path(canvas, axis)
    _dots(canvas, axis, single)
    lineage.states(canvas, single)
    _marks(canvas, axis)
    flags.draw(canvas, axis, window_ms or axis.span_ms or (0, 1), lift)
    for point, letter in (chosen or {}).items():
        _ring(canvas, axis.dot(point), letter)
    heights = [(max(len(axis.lanes), 1) + lift) * LANE_PX + 14, *[TREND_PX] * len(panels)]
    _dress(canvas, axis, heights, lift, window_ms)
    for row, panel in enumerate(panels, start=2):
        trends.draw(canvas, row, panel)
    canvas.layout["margin"] = {"l": _left(canvas.layout), "r": 12, "t": 4, "b": AXIS_PX - 4}
    if asked_ms is not None:
        _asked(canvas, asked_ms)
    return canvas.finished()


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
    """Hatching behind what goes by itself, from the left edge to its last commit."""
    slack = _slack(axis.span_ms)
    for band in axis.due(due):
        below, above = -band.lane - 0.45, -band.lane + (0.45 if band.lane else 0.45 + lift)
        start = (axis.span_ms or (band.until_ms, 0))[0] - slack
        later = (dot.time_ms for dot in axis.dots if dot.lane == band.lane and dot.time_ms > band.until_ms)
        end = band.until_ms + min(slack, min(later, default=band.until_ms + 2 * slack) - band.until_ms) // 2
        canvas.add(
            x=times([start, end, end, start, start], canvas.zone),
            y=[below, below, above, above, below],
            mode="lines",
            line={"width": 0},
            fill="toself",
            fillcolor=canvas.palette.soft("freed", 0.1),
            fillpattern={
                "shape": "/", "size": 9, "solidity": 0.12, "fillmode": "overlay",
                "fgcolor": canvas.palette.soft("freed", 0.55), "bgcolor": canvas.palette.soft("freed", 0.1),
            },
            hoverinfo="skip",
        )  # fmt: skip


def _slack(span_ms: tuple[int, int] | None) -> int:
    """Room beside both ends, in milliseconds; half a minute round a single moment."""
    first, last = span_ms or (0, 0)
    return max((last - first) // 40, 1) if last > first else 30_000


def _dots(canvas: Canvas, axis: Axis, single: Sequence[Dot]) -> None:
    groups: dict[tuple[bool, str], list[Dot]] = {}
    for dot in single:
        groups.setdefault((axis.lanes[dot.lane].held, dot.kind), []).append(dot)
    for (held, kind), dots in sorted(groups.items(), key=lambda item: item[0]):
        cells = _cells(dots, axis.span_ms or (0, 0))
        dots = [cell[-1] for cell in cells]
        hue, symbol = KINDS.get(kind, OTHER_KIND)
        hollow = held or symbol.endswith("-open")
        colour = canvas.hue("tag" if held else hue)
        size, outline = _dot_size(len(single))
        edge = {"color": colour, "width": 2} if hollow else {"color": canvas.palette.paper, "width": outline}
        canvas.marks(
            [dot.time_ms for dot in dots],
            [-dot.lane for dot in dots],
            [dot.point for dot in dots],
            [words.dot_hover(cell[-1], len(cell) - 1) for cell in cells],
            hover=f"{words.dot_template(kind, canvas.zone, held)}<extra></extra>",
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


def _cells(dots: Sequence[Dot], span_ms: tuple[int, int]) -> list[list[Dot]]:
    """Dots that are drawn as one, because nobody could tell them apart; each alone while there are few of them."""
    if len(dots) <= MANY:
        return [[dot] for dot in dots]
    length = max(span_ms[1] - span_ms[0], 1)
    found: dict[tuple[int, int, str], list[Dot]] = {}
    for dot in dots:
        cell = int((dot.time_ms - span_ms[0]) / length * CHART_PX / CELL_PX)
        found.setdefault((dot.lane, cell, dot.point if dot.note else ""), []).append(dot)
    return list(found.values())


def _dot_size(dots: int) -> tuple[int, float]:
    """Diameter and outline in pixels: many dots are drawn smaller and bare, or their outlines are all one sees."""
    return (12, 1.0) if dots <= 100 else (10, 0.5) if dots <= MANY else (7, 0.0)


def _density(canvas: Canvas, counted: Bins) -> None:
    """Bars on the first lane: commits per stretch of time, stacked by kind."""
    totals = np.sum([list(each) for each in counted.counts.values()], axis=0)
    windows = [counted.window_ms(place) for place in range(len(totals))]
    base = np.zeros(len(totals))
    for kind, numbers in counted.counts.items():
        heights = np.array(numbers) * (DENSITY / max(int(totals.max()), 1))
        told = [
            [words.window_text(window), words.bin_hover(kind, number, int(total), window, canvas.zone)]
            for window, number, total in zip(windows, numbers, totals, strict=True)
        ]
        canvas.add(
            type="bar",
            x=times([(first + last) // 2 for first, last in windows], canvas.zone),
            y=heights.tolist(),
            base=base.tolist(),
            width=[(last - first) * 0.9 for first, last in windows],
            marker={"color": canvas.hue(KINDS.get(kind, OTHER_KIND)[0]), "line": {"width": 0}, "opacity": 0.85},
            customdata=told,
            hovertemplate="%{customdata[1]}<extra></extra>",
        )
        base += heights
    canvas.layout["barmode"] = "overlay"


def _marks(canvas: Canvas, axis: Axis) -> None:
    """Where branches begin, and where the schema changes."""
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


def _left(layout: Mapping[str, Any]) -> float:
    """Room for what stands left of the scales, in pixels: were the browser to measure it, it would draw all twice."""
    scales = [scale for name, scale in layout.items() if name.startswith("yaxis")]
    lines = [line for scale in scales for text in scale.get("ticktext", ()) for line in unescape(text).split("<br>")]
    widest = max((sum(12 if east_asian_width(letter) in "WF" else 6.8 for letter in line) for line in lines), default=0)
    return 14 + widest + (22 if len(scales) > 1 else 0)


def _ring(canvas: Canvas, dot: Dot | None, letter: str) -> None:
    if dot is not None:
        canvas.add(
            x=times([dot.time_ms], canvas.zone),
            y=[-dot.lane],
            mode="markers+text",
            text=[f"<b>{letter}</b>"],
            textposition="bottom center",
            textfont={"size": 13, "color": canvas.hue("ink")},
            marker={"symbol": "circle-open", "size": 21, "color": canvas.hue("ink"), "line": {"width": 2.5}},
            hoverinfo="skip",
        )


def _asked(canvas: Canvas, asked_ms: int) -> None:
    """A dashed line over all lanes."""
    at = times([asked_ms], canvas.zone)[0]
    colour = canvas.hue("consumer")
    canvas.layout["shapes"] = [
        {
            "type": "line", "xref": "x", "yref": "y domain", "x0": at, "x1": at, "y0": 0, "y1": 1,
            "line": {"color": colour, "width": 2, "dash": "dash"},
        }
    ]  # fmt: skip
    canvas.layout["annotations"] = [
        {
            "x": at, "y": 1, "xref": "x", "yref": "y domain", "text": words.ASKED, "showarrow": False,
            "xanchor": "left", "yanchor": "top", "xshift": 4, "font": {"size": 12, "color": colour},
        }
    ]  # fmt: skip


def _dress(
    canvas: Canvas, axis: Axis, heights: Sequence[float], lift: float, window_ms: tuple[int, int] | None
) -> None:
    """What all timelines share: one time axis under rows of these heights in pixels, quiet scales, lane names."""
    palette, layout = canvas.palette, canvas.layout
    total = sum(heights) + GAP_PX * (len(heights) - 1)
    top = total
    for row, height in enumerate(heights, start=1):
        scale = {
            "domain": [max(top - height, 0) / total, top / total], "anchor": "x", "fixedrange": True,
            "tickfont": {"size": 12}, "zeroline": False, "gridcolor": palette.grid,
        }  # fmt: skip
        layout["yaxis" if row == 1 else f"yaxis{row}"] = scale
        top -= height + GAP_PX
    layout["yaxis"] |= {
        "range": [-max(len(axis.lanes) - 1, 0) - 0.6, lift + 0.74],
        "tickvals": [-number for number in range(len(axis.lanes))],
        "ticktext": [words.lane(lane.branch, lane.held, lane.empty) for lane in axis.lanes],
        "showgrid": False,
    }
    layout["xaxis"] = {
        "type": "date", "tickformatstops": words.date_ticks(),
        "anchor": "y" if len(heights) == 1 else f"y{len(heights)}", "showgrid": True,
        "gridcolor": palette.grid, "zeroline": False, "tickfont": {"size": 12},
        "showspikes": True, "spikemode": "across", "spikethickness": 1, "spikedash": "dot", "spikecolor": palette.muted,
        "title": {"text": words.axis_time(canvas.zone), "font": {"size": 12, "color": palette.muted}, "standoff": 4},
    }  # fmt: skip
    span = window_ms or axis.span_ms
    if span is not None:
        slack = _slack(span)
        layout["xaxis"]["range"] = times([span[0] - slack, span[1] + slack], canvas.zone)
    layout |= {
        "height": total + AXIS_PX,
        "showlegend": False,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": palette.ink, "size": 13, "family": FONT},
        "hoverlabel": {
            "align": "left", "bgcolor": palette.paper, "bordercolor": palette.muted,
            "font": {"color": palette.ink, "size": 13, "family": FONT},
        },
        "hovermode": "closest",
        "dragmode": "zoom",  # where a drag selects, Streamlit hears no click
        "clickmode": "event+select",
    }  # fmt: skip
