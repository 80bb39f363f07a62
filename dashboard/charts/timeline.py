"""Builds the timeline figure from an axis and a trend. Pure: takes a theme and a zone, returns plotly JSON.

Invariant: every clickable mark carries its point as text, alone or first in its `customdata` (bins carry `from..to` in
milliseconds). Colours come from the palette, by meaning. No figure draws more than `axis.MAX_POINTS` dots.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from html import unescape
from typing import Any
from unicodedata import east_asian_width

import numpy as np

from dashboard import words
from dashboard.charts import bisect_steps, clusters, flags, lineage, trends
from dashboard.charts.bisect_steps import Steps
from dashboard.charts.canvas import FONT, Canvas, Figure
from dashboard.charts.flags import DROP
from dashboard.charts.ruler import Ruler
from dashboard.charts.time_axis import BINS, MAX_POINTS, Axis, Bins, Cut, Dot, Lane, bins
from dashboard.charts.trends import Trend
from dashboard.formatting import units
from dashboard.formatting.palette import KINDS, OTHER_KIND, Palette

LANE_PX, TREND_PX, GAP_PX, AXIS_PX = 58, 82, 18, 62
DENSITY = 1.6  # in lanes: the height of the density bars

CONFIG: dict[str, Any] = {"displaylogo": False, "displayModeBar": False, "scrollZoom": False, "responsive": True}
Legend = lineage.Legend  # marker, colour, label


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
    unusual: Mapping[str, Sequence[str]] | None = None,
    by_commit: bool = False,
    bisected: Steps | None = None,
) -> Figure:
    """Draw the lanes on a true time axis, or evenly spaced `by_commit`, with the trends below on the same axis.

    `chosen` maps points to the letter in the ring around their dot (`A`, `B`, or blank for a plain ring). `asked_ms` is
    a time to mark. `window_ms` is the visible time range, or None for the whole axis. `due` are the points that the
    next expiry removes; their range is hatched. `unusual` maps points to why they need attention; these get a frame,
    and the reasons in their hover text. `bisected` are the steps of a bisect, drawn on a lane of their own. Above
    `MAX_POINTS` dots, the lanes show the number of commits per time bin.
    """
    panels = trends.panels(trend)
    dense = len(axis.dots) > MAX_POINTS
    lift = DENSITY if dense else 0.0
    ruler = Ruler(dot.time_ms for dot in axis.dots) if by_commit and axis.dots else None
    canvas = Canvas(palette, zone, ruler)
    single = axis.dots
    _horizon(canvas, axis, due, lift)
    if dense:  # bars for main and single dots for other lanes; too many of those join the bars
        others = tuple(dot for dot in axis.dots if dot.lane)
        few = len(others) <= MAX_POINTS
        single = others if few else ()
        drawn = set(single)  # unusual ones stand in front of the bars
        single += tuple(dot for dot in axis.dots if dot.point in (unusual or {}) and dot not in drawn)
        barred = [dot for dot in axis.dots if not (few and dot.lane)]
        _density(canvas, bins(barred, edges_ms=Ruler(dot.time_ms for dot in barred).edges_ms(BINS) if ruler else None))
    groups = clusters.clusters(single, window_ms or axis.span_ms or (0, 0), ruler)
    merged = {dot for group in groups if len(group) > 1 for dot in group}
    alone = [dot for dot in single if dot not in merged]
    lineage.lines(canvas, axis, single)
    lineage.path(canvas, axis)
    _frames(canvas, groups, unusual or {})
    _dots(canvas, axis, alone, unusual or {})
    clusters.draw(
        canvas, [group for group in groups if len(group) > 1], [lane.held for lane in axis.lanes], unusual or {}
    )
    lineage.states(canvas, alone)
    _marks(canvas, axis)
    span = window_ms or axis.span_ms or (0, 1)
    flags.draw(canvas, axis, span, lift)
    marks = {dot: group[-1] for group in groups for dot in group}
    rings: dict[Dot, str] = {}
    for point, letter in (chosen or {}).items():
        if (dot := axis.dot(point)) is not None:
            mark = marks.get(dot, dot)
            rings[mark] = rings.get(mark, "") + letter
    for dot, letters in rings.items():
        flags.ring(canvas, axis, dot, letters, span)
    if bisected is not None:
        bisect_steps.draw(canvas, axis, bisected, -len(axis.lanes))
        axis = replace(axis, lanes=(*axis.lanes, Lane(words.BISECT_LANE, held=False)))
    heights = [(max(len(axis.lanes), 1) + lift) * LANE_PX + 14, *[TREND_PX] * len(panels)]
    _dress(canvas, axis, heights, lift, window_ms)
    for row, panel in enumerate(panels, start=2):
        trends.draw(canvas, row, panel)
    canvas.layout["margin"] = {"l": _left(canvas.layout), "r": 12, "t": 4, "b": AXIS_PX - 4}
    if asked_ms is not None:
        _draw_requested_time(canvas, asked_ms)
    return canvas.finished()


def legend(axis: Axis, due: Collection[str] = (), due_words: str = "", unusual: Collection[str] = ()) -> list[Legend]:
    """List the legend entries, only for marks that occur."""
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
        ([dot for dot in axis.dots if dot.point in unusual], ("diamond-open", "freed", words.LEGEND_UNUSUAL)),
        (axis.due(due), ("band", "freed", due_words)),
    ):
        if there:
            found.append(entry)
    return found + lineage.legend(axis)


# lanes --------------------------------------------------------------------------------------------------------------


def _horizon(canvas: Canvas, axis: Axis, due: Collection[str], lift: float) -> None:
    """Hatch the background from the left edge to the last commit that the next expiry removes."""
    slack = _slack(axis.span_ms)
    for band in axis.due(due):
        below, above = -band.lane - 0.45, -band.lane + (0.45 if band.lane else 0.45 + lift)
        start = (axis.span_ms or (band.until_ms, 0))[0] - slack
        later = (dot.time_ms for dot in axis.dots if dot.lane == band.lane and dot.time_ms > band.until_ms)
        end = band.until_ms + min(slack, min(later, default=band.until_ms + 2 * slack) - band.until_ms) // 2
        canvas.add(
            x=canvas.at([start, end, end, start, start]),
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
    """Return the padding at both ends in milliseconds; half a minute around a single time."""
    first, last = span_ms or (0, 0)
    return max((last - first) // 40, 1) if last > first else 30_000


def _frames(canvas: Canvas, groups: Sequence[Sequence[Dot]], unusual: Collection[str]) -> None:
    """Frame the marks of unusual commits. The frames stand behind the marks, so they take no click away."""
    framed = [group[-1] for group in groups if any(dot.point in unusual for dot in group)]
    if framed:
        canvas.add(
            x=canvas.at([dot.time_ms for dot in framed]),
            y=[-dot.lane for dot in framed],
            mode="markers",
            marker={"symbol": "diamond-open", "size": 22, "color": canvas.hue("freed"), "line": {"width": 2}},
            hoverinfo="skip",
        )


def _dots(canvas: Canvas, axis: Axis, single: Sequence[Dot], unusual: Mapping[str, Sequence[str]]) -> None:
    groups: dict[tuple[bool, str], list[Dot]] = {}
    for dot in single:
        groups.setdefault((axis.lanes[dot.lane].held, dot.kind), []).append(dot)
    for (held, kind), dots in sorted(groups.items(), key=lambda item: item[0]):
        hue, symbol = KINDS.get(kind, OTHER_KIND)
        hollow = held or symbol.endswith("-open")
        colour = canvas.hue("tag" if held else hue)
        size, outline = (9, 0.5) if canvas.ruler is not None and len(canvas.ruler) > 24 else _dot_size(len(single))
        edge = {"color": colour, "width": 2} if hollow else {"color": canvas.palette.paper, "width": outline}
        canvas.marks(
            [dot.time_ms for dot in dots],
            [-dot.lane for dot in dots],
            [dot.point for dot in dots],
            [words.dot_hover(dot, unusual.get(dot.point, ())) for dot in dots],
            hover=f"{words.dot_template(kind, canvas.zone, held, by_commit=canvas.ruler is not None)}<extra></extra>",
            **canvas.hover_times([dot.time_ms for dot in dots]),
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
    """Return diameter and outline width in pixels: smaller and thinner where there are many dots."""
    return (12, 1.0) if dots <= 100 else (10, 0.5)


def _density(canvas: Canvas, counted: Bins) -> None:
    """Draw bars on the first lane: commits per time bin, stacked by kind."""
    totals = np.sum([list(each) for each in counted.counts.values()], axis=0)
    windows = [counted.window_ms(place) for place in range(len(totals))]
    base = np.zeros(len(totals))
    _behind(canvas, counted, totals.tolist())
    for kind, numbers in counted.counts.items():
        heights = np.array(numbers) * (DENSITY / max(int(totals.max()), 1))
        custom_data = [
            [words.window_text(window), words.bin_hover(kind, number, int(total), window, canvas.zone)]
            for window, number, total in zip(windows, numbers, totals, strict=True)
        ]
        middles, widths = _spread(canvas, windows)
        canvas.add(
            type="bar",
            x=middles,
            y=heights.tolist(),
            base=base.tolist(),
            width=widths,
            marker={"color": canvas.hue(KINDS.get(kind, OTHER_KIND)[0]), "line": {"width": 0}, "opacity": 0.85},
            customdata=custom_data,
            hovertemplate="%{customdata[1]}<extra></extra>",
        )
        base += heights
    canvas.layout["barmode"] = "overlay"


def _behind(canvas: Canvas, counted: Bins, totals: Sequence[int]) -> None:
    """Add an invisible mark of full height behind each bar, so that a low bar can be hit too."""
    filled = [place for place, total in enumerate(totals) if total]
    windows = [counted.window_ms(place) for place in filled]
    hovers = [
        words.cluster_hover(
            totals[place],
            [(words.commit_kind(kind), each[place]) for kind, each in counted.counts.items() if each[place]],
            window,
            canvas.zone,
        )
        for place, window in zip(filled, windows, strict=True)
    ]
    middles, widths = _spread(canvas, windows)
    canvas.add(
        type="bar",
        x=middles,
        y=[DENSITY] * len(filled),
        width=widths,
        opacity=0,
        marker={"line": {"width": 0}},
        customdata=[[words.window_text(window), hover] for window, hover in zip(windows, hovers, strict=True)],
        hovertemplate="%{customdata[1]}<extra></extra>",
    )


def _spread(canvas: Canvas, windows: Sequence[tuple[int, int]]) -> tuple[Sequence[float | None], Sequence[float]]:
    """Return the middles and widths of bars."""
    if canvas.ruler is None:
        middles = canvas.at([(first + last) // 2 for first, last in windows])
        return middles, [(last - first) * 0.9 for first, last in windows]
    ends = [canvas.ruler.places(window) for window in windows]
    return [(first + last) / 2 for first, last in ends], [(last - first) * 0.9 for first, last in ends]


def _marks(canvas: Canvas, axis: Axis) -> None:
    """Mark where branches begin and where the schema changes."""
    for cut in axis.cuts:
        _cut(canvas, cut)
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


def _cut(canvas: Canvas, cut: Cut) -> None:
    """Draw where a branch leaves its origin. Its text hangs on an unseen mark half a lane before the branch: on the
    line's ends it would take the clicks away from the commits there."""
    canvas.line([cut.start_ms, cut.end_ms], [-cut.start_lane, -cut.end_lane], None, color=canvas.hue("branch"), width=2)
    share = 1 - 0.5 / max(abs(cut.end_lane - cut.start_lane), 1)
    canvas.marks(
        [cut.start_ms + int(share * (cut.end_ms - cut.start_ms))],
        [-cut.start_lane - share * (cut.end_lane - cut.start_lane)],
        [""],
        [words.cut_hover(cut.branch)],
        mode="markers",
        marker={"size": 12, "opacity": 0},
        unselected={"marker": {"opacity": 0}},
    )


def _left(layout: Mapping[str, Any]) -> float:
    """Compute the left margin in pixels. If the browser had to measure it, it would draw everything twice."""
    scales = [scale for name, scale in layout.items() if name.startswith("yaxis")]
    lines = [line for scale in scales for text in scale.get("ticktext", ()) for line in unescape(text).split("<br>")]
    widest = max((sum(12 if east_asian_width(letter) in "WF" else 6.8 for letter in line) for line in lines), default=0)
    return 14 + widest + (22 if len(scales) > 1 else 0)


def _draw_requested_time(canvas: Canvas, asked_ms: int) -> None:
    """Draw a dashed line across all lanes at the requested time."""
    at = canvas.at([asked_ms])[0]
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
    """Set the layout that all timelines share: one time axis below rows of the given pixel heights, light scales, lane
    names."""
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
        layout["xaxis"]["range"] = canvas.at([span[0] - slack, span[1] + slack])
    if canvas.ruler is not None:
        labels = canvas.ruler.labels()
        room = max(len(canvas.ruler) / 40, 0.6)
        layout["xaxis"] |= {
            "type": "linear", "range": [-room, len(canvas.ruler) - 1 + room],
            "tickvals": [place for place, _ in labels],
            "ticktext": [units.moment(ms, canvas.zone)[:16].replace(" ", "<br>") for _, ms in labels],
            "title": layout["xaxis"]["title"] | {"text": words.axis_commits(canvas.zone)},
        }  # fmt: skip
        del layout["xaxis"]["tickformatstops"]
    layout |= {
        "height": round(total) + AXIS_PX,  # in whole pixels, as Streamlit measures it: if not, it draws twice
        "showlegend": False,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": palette.ink, "size": 13, "family": FONT},
        "hoverlabel": {
            "align": "left", "bgcolor": palette.paper, "bordercolor": palette.muted,
            "font": {"color": palette.ink, "size": 13, "family": FONT},
        },
        "hovermode": "closest",
        "dragmode": "zoom",  # with a drag mode that selects, Streamlit reports no clicks
        "clickmode": "event+select",
    }  # fmt: skip
