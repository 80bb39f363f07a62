"""Lines on the timeline: parents, branch points and the path of main's pointer.

Invariant: these stay distinct. Thin lines connect a commit to its parent, the wide line follows main through time, and
refs are flags and lanes. A letter marks every commit that is off main's path.
"""

from __future__ import annotations

from collections.abc import Sequence

from dashboard import words
from dashboard.charts.canvas import Canvas
from dashboard.charts.time_axis import Axis, Dot

LIFT = 0.2  # in lanes: how far main's path runs above the dots
BELOW = 0.37  # in lanes: how far the letters are below the dots

Legend = tuple[str, str, str]


def lines(canvas: Canvas, axis: Axis, dots: Sequence[Dot]) -> None:
    """Draw a line along each lane: from each commit to its parent if parents are known, else from the first dot to the
    last."""
    for number, lane in enumerate(axis.lanes):
        own = [dot.time_ms for dot in dots if dot.lane == number]
        if not own:
            continue
        hue = "tag" if lane.held else "muted" if lane.branch == "main" else "branch"
        look = {"color": canvas.palette.soft(hue, 0.6), "width": 1.5, "dash": "dot" if lane.held else "solid"}
        if axis.links is None:
            canvas.line([min(own), max(own)], [-number, -number], None, **look)
            continue
        spans = [(link.start_ms, link.end_ms) for link in axis.links if link.start_lane == link.end_lane == number]
        _broken(canvas, [(span, (-number, -number)) for span in spans], **look)
    across = [link for link in axis.links or () if link.start_lane != link.end_lane]
    look = {"color": canvas.palette.soft("muted", 0.8), "width": 1.2, "dash": "dot"}
    _broken(canvas, [((at.start_ms, at.end_ms), (-at.start_lane, -at.end_lane)) for at in across], **look)


def _broken(canvas: Canvas, parts: Sequence[tuple[tuple[int, int], tuple[float, float]]], **look: object) -> None:
    """Draw several line segments as one trace."""
    times: list[int | None] = []
    heights: list[float | None] = []
    for (start_ms, end_ms), (low, high) in parts:
        times += [start_ms, end_ms, None]
        heights += [low, high, None]
    if times:
        canvas.line(times, heights, None, **look)


def path(canvas: Canvas, axis: Axis) -> None:
    """Draw main's path: horizontal within a lane, vertical between lanes."""
    times: list[int | None] = []
    heights: list[float | None] = []
    for stay in axis.path:
        height = None if stay.lane is None else LIFT - stay.lane
        times += [stay.start_ms, stay.until_ms]
        heights += [height, height]
    if times:
        look = {"color": canvas.palette.soft("pointer", 0.75), "width": 3}
        canvas.line(times, heights, words.PATH_HOVER, **look)
    if axis.resets:
        canvas.marks(
            [each.time_ms for each in axis.resets],
            [LIFT - each.lane for each in axis.resets],
            [each.point for each in axis.resets],
            [words.reset_hover(each, canvas.zone) for each in axis.resets],
            mode="markers",
            marker={"symbol": "triangle-left", "size": 11, "color": canvas.hue("pointer")},
        )


def states(canvas: Canvas, dots: Sequence[Dot]) -> None:
    """Draw a letter below each commit with a special state."""
    marked = [dot for dot in dots if dot.state]
    if not marked:
        return
    canvas.marks(
        [dot.time_ms for dot in marked],
        [-dot.lane - BELOW for dot in marked],
        [dot.point for dot in marked],
        [words.state_hover(dot, canvas.zone) for dot in marked],
        mode="markers+text",
        text=[words.STATES[dot.state][0] for dot in marked],
        textfont={"size": 10, "color": canvas.hue("pointer")},
        marker={
            "symbol": "square",
            "size": 14,
            "color": canvas.palette.paper,
            "line": {"color": canvas.hue("pointer"), "width": 1},
        },
    )


def legend(axis: Axis) -> list[Legend]:
    """List the legend entries for these marks, only for those that occur."""
    found: list[Legend] = []
    if axis.path:
        found.append(("path", "pointer", words.LEGEND_PATH))
    if axis.resets:
        found.append(("triangle-left", "pointer", words.LEGEND_RESET))
    there = {dot.state for dot in axis.dots}
    found += [(f"letter:{letter}", "pointer", text) for state, (letter, text) in words.STATES.items() if state in there]
    return found
