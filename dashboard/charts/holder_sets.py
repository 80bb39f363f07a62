"""An UpSet chart: sets of names as columns of dots, the bytes of each as a bar above it. Pure.

Invariant: a column carries its place wherever it is clicked; names stand beside dots, so none is cut and no bar is
nameless.
"""

from __future__ import annotations

import html
from collections.abc import Collection, Sequence

from dashboard import words
from dashboard.charts.canvas import FONT, HOVER, Canvas, Figure
from dashboard.formatting import units
from dashboard.formatting.palette import Palette

SHOWN_SETS = 10
BARS_PX, LINE_PX = 130, 24
_FIRST = ("live", "history", "changelogs")
BETWEEN = " + "


def members(holders: str) -> list[str]:
    """The names of a set."""
    return holders.split(BETWEEN)


def label(holders: str) -> str:
    """A set as readers call it."""
    return BETWEEN.join(words.holder_name(name) for name in members(holders))


def figure(rows: Sequence[tuple[str, int, int]], ticked: Collection[str], palette: Palette) -> Figure:
    """Of `(set, files, bytes)`, the greatest first; `ticked` sets are marked."""
    shown = rows[:SHOWN_SETS]
    found = {name for holders, _, _ in shown for name in members(holders)}
    names = sorted(found, key=lambda name: (_FIRST.index(name) if name in _FIRST else len(_FIRST), name))
    top = max((size for _, _, size in shown), default=0) or 1
    art = Canvas(palette, units.UTC)
    hovers = [
        [str(at), words.holders_hover(label(holders), size, files)] for at, (holders, files, size) in enumerate(shown)
    ]
    wash = [palette.soft("ink", 0.13 if holders in ticked else 0.0) for holders, _, _ in shown]
    still = {"selected": {"marker": {"opacity": 1.0}}, "unselected": {"marker": {"opacity": 1.0}}}
    for axis, height in (("y", top * 1.18), ("y2", len(names))):
        base = {} if axis == "y" else {"base": -0.5}
        art.data.append(
            {
                "type": "bar", "x": list(range(len(shown))), "y": [height] * len(shown), "width": 1, "yaxis": axis,
                "marker": {"color": wash, "line": {"width": 0}}, "customdata": hovers, "hovertemplate": HOVER, **base,
                **still,
            }
        )  # fmt: skip
    art.data.append(
        {
            "type": "bar", "x": list(range(len(shown))), "y": [size for _, _, size in shown], "width": 0.6,
            "marker": {"color": [getattr(palette, hue(holders)) for holders, _, _ in shown]},
            "text": [units.size(size) for _, _, size in shown], "textposition": "outside", "cliponaxis": False,
            "textangle": 0, "constraintext": "none", "textfont": {"size": 11}, "customdata": hovers,
            "hovertemplate": HOVER, **still,
        }
    )  # fmt: skip
    for at, (holders, _, _) in enumerate(shown):
        places = sorted(names.index(name) for name in members(holders))
        art.data.append(
            {
                "type": "scatter", "mode": "lines", "x": [at, at], "y": [places[0], places[-1]], "yaxis": "y2",
                "line": {"color": getattr(palette, hue(holders)), "width": 2}, "hoverinfo": "skip",
            }
        )  # fmt: skip
    dots = [(at, place, name in members(holders), hue(holders))
            for at, (holders, _, _) in enumerate(shown) for place, name in enumerate(names)]  # fmt: skip
    art.data.append(
        {
            "type": "scatter", "mode": "markers", "x": [dot[0] for dot in dots], "y": [dot[1] for dot in dots],
            "yaxis": "y2", "hoverinfo": "skip",
            "marker": {
                "size": [11 if dot[2] else 6 for dot in dots],
                "color": [getattr(palette, dot[3]) if dot[2] else palette.grid for dot in dots],
            },
            "unselected": {"marker": {"opacity": 1.0}},
        }
    )  # fmt: skip
    below = LINE_PX * len(names)
    part = below / (below + BARS_PX)
    hidden = {"zeroline": False, "fixedrange": True, "showgrid": False}
    art.layout.update(
        height=BARS_PX + below + 30,
        margin={"l": 10, "r": 10, "t": 10, "b": 8},
        paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)",
        font={"family": FONT, "size": 13, "color": palette.ink},
        barmode="overlay", showlegend=False, hovermode="closest", clickmode="event+select", dragmode=False,
        xaxis={**hidden, "visible": False, "range": [-0.5, max(len(shown), 6) - 0.5]},
        yaxis={**hidden, "visible": False, "domain": [part + 0.02, 1], "range": [0, top * 1.18]},
        yaxis2={
            **hidden, "domain": [0, part], "range": [len(names) - 0.5, -0.5], "automargin": True,
            "tickvals": list(range(len(names))),
            "ticktext": [f"{html.escape(units.short_name(words.holder_name(name), 30))}  " for name in names],
        },
        hoverlabel={
            "align": "left", "bgcolor": palette.paper, "bordercolor": palette.muted,
            "font": {"color": palette.ink, "size": 13, "family": FONT},
        },
    )  # fmt: skip
    return art.finished()


def hue(holders: str) -> str:
    """What a set is about: live data, whatever else holds it; else a branch, history, or tags alone."""
    names = members(holders)
    if "live" in names:
        return "compaction"
    if any(name.startswith("branch:") for name in names):
        return "branch"
    return "rows" if "history" in names or "changelogs" in names else "tag"
