"""The retention curve for display: every possible retention, storage by holder, the best tags to delete.

Invariant: every number comes from core; nothing is added up here that core did not count.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.analysis import storage_cost
from core.analysis.expiration_dates import ExpirationDate
from core.analysis.storage_cost import by_holders, retention_curve
from core.model.expiry import Expiry
from core.model.history import History, HistorySummary
from core.model.plan import Plan
from core.model.references import MAIN
from dashboard import words
from dashboard.charts.canvas import FONT, HOVER, Canvas, Figure
from dashboard.formatting import units
from dashboard.formatting.palette import Palette
from dashboard.formatting.prices import Price, money

CURVE_PX = 260
MOST_TURNS = 1_000  # of the line, which has fewer pixels
MOST_COLUMNS = 120  # that can be clicked: of longer histories each stands for several numbers
CALENDAR_PX = 230
SHOWN_DROPS = 8
FEW = 10  # counts on an axis that plotly could mark with halves


def curve(
    history: History, branch: str, palette: Palette, chosen: int | None = None, price: Price | None = None
) -> Figure | None:
    """Bytes freed by keeping the newest N snapshots, for every N; None where there is nothing to choose.

    A column over each N, as high as the chart, can be clicked and carries N. With a price the right axis is money.
    """
    files, sizes = retention_curve(history, branch)
    keeps = list(range(1, len(files)))
    if len(keeps) < 2:
        return None
    freed = [int(sizes[keep]) for keep in keeps]
    apart = -(-len(freed) // MOST_TURNS)
    last = {at // apart: at for at in range(1, len(freed)) if freed[at] != freed[at - 1]}  # in each stretch
    turns = sorted({0, len(freed) - 1, *last.values()})
    step = -(-len(keeps) // MOST_COLUMNS)
    columns = keeps[::step]
    hovers = [words.curve_hover(keep, int(sizes[keep]), int(files[keep]), price) for keep in columns]
    top = max(freed) or 1
    line: dict[str, Any] = {
        "type": "scatter",
        "x": [keeps[at] for at in turns],
        "y": [freed[at] for at in turns],
        "mode": "lines",
        "line": {"shape": "hv", "color": palette.freed, "width": 2},
        "fill": "tozeroy",
        "fillcolor": palette.soft("freed"),
        "hoverinfo": "skip",
    }
    bars = {
        "type": "bar",
        "x": columns,
        "y": [1] * len(columns),
        "width": step,
        "yaxis": "y2",
        "marker": {"color": [palette.soft("ink", 0.13 if keep == chosen else 0.0) for keep in columns]},
        "customdata": [[str(keep), hover] for keep, hover in zip(columns, hovers, strict=True)],
        "hovertemplate": HOVER,
        "selected": {"marker": {"opacity": 1.0}},
        "unselected": {"marker": {"opacity": 1.0}},
    }
    layout: dict[str, Any] = {
        "height": CURVE_PX,
        "margin": {"l": 74, "r": 14 if price is None else 96, "t": 26, "b": 44},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 13, "color": palette.ink},
        "showlegend": False,
        "hovermode": "x",
        "clickmode": "event+select",
        "dragmode": False,
        "bargap": 0,
        "hoverlabel": {
            "align": "left", "bgcolor": palette.paper, "bordercolor": palette.muted,
            "font": {"color": palette.ink, "size": 13, "family": FONT},
        },
        "xaxis": {
            "title": {"text": words.CURVE_X, "font": {"size": 12, "color": palette.muted}, "standoff": 4},
            "showgrid": False, "zeroline": False, "fixedrange": True, "range": [0.5, len(keeps) + 0.5],
            **({"dtick": 1} if len(keeps) <= FEW else {}),
        },
        "yaxis": {
            "tickvals": [0, top / 2, top], "ticktext": [units.size(round(each)) for each in (0, top / 2, top)],
            "gridcolor": palette.grid, "zeroline": False, "fixedrange": True, "range": [0, top],
        },
        "yaxis2": {
            "overlaying": "y", "side": "right", "range": [0, 1], "tickvals": [0, 0.5, 1], "showgrid": False,
            "ticktext": [] if price is None else [money(round(top * part), price) for part in (0, 0.5, 1)],
            "showticklabels": price is not None, "zeroline": False, "fixedrange": True,
        },
    }  # fmt: skip
    if chosen is not None and 1 <= chosen < len(files):
        layout["shapes"] = [
            {"type": "line", "x0": chosen, "x1": chosen, "xref": "x", "y0": 0, "y1": 1, "yref": "y domain",
             "line": {"color": palette.ink, "width": 2}}
        ]  # fmt: skip
        layout["annotations"] = [
            {"x": chosen, "xref": "x", "y": 1, "yref": "paper", "yanchor": "bottom", "showarrow": False,
             "text": words.curve_chosen(chosen), "font": {"size": 13, "color": palette.ink}}
        ]  # fmt: skip
    return {"data": [line, bars], "layout": layout}


def kept_snapshots(plan: Plan, branch: str) -> int:
    """Return the plan's position on the curve: how many of a branch's newest snapshots it keeps in a row."""
    before = "" if branch == MAIN else f"branch:{branch}/"
    own = [
        each.keep
        for each in plan.points
        if each.point.startswith(before) and each.point.removeprefix(before).isdecimal()
    ]
    return sum(1 for _ in itertools.takewhile(bool, reversed(own)))


def calendar(days: Sequence[ExpirationDate], now_ms: int, palette: Palette, zone: str) -> Figure:
    """Plot the bytes that expire automatically by each date, as steps; tags differ in shape and colour."""
    total = list(itertools.accumulate(day.bytes for day in days))
    art = Canvas(palette, zone)
    art.line(
        [now_ms, *(day.at_ms for day in days)], [0, *total], None, shape="hv", color=palette.freed, width=2,
    )  # fmt: skip
    art.data[0] |= {"fill": "tozeroy", "fillcolor": palette.soft("freed"), "showlegend": False}
    for name, symbol, hue, has_tags in (
        (words.CALENDAR_SNAPSHOTS, "circle", palette.freed, False),
        (words.CALENDAR_TAGS, "triangle-up", palette.tag, True),
    ):
        chosen = [at for at, day in enumerate(days) if any("tag:" in point for point in day.points) is has_tags]
        if chosen:
            art.marks(
                [days[at].at_ms for at in chosen], [total[at] for at in chosen], [""] * len(chosen),
                [words.calendar_hover(days[at], total[at], zone) for at in chosen],
                mode="markers", name=name, marker={"symbol": symbol, "color": hue, "size": 10},
            )  # fmt: skip
    top = max(total, default=0) or 1
    art.layout.update(
        height=CALENDAR_PX,
        margin={"l": 74, "r": 14, "t": 34, "b": 34},
        paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)",
        font={"family": FONT, "size": 13, "color": palette.ink},
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        showlegend=True,
        hovermode="closest",
        xaxis={
            "type": "date", "tickformatstops": words.date_ticks(),
            "showgrid": False, "zeroline": False, "fixedrange": True,
        },
        yaxis={
            "tickvals": [0, top / 2, top], "ticktext": [units.size(round(each)) for each in (0, top / 2, top)],
            "gridcolor": palette.grid, "zeroline": False, "fixedrange": True, "rangemode": "tozero",
        },
    )  # fmt: skip
    return art.finished()


def calendar_table(days: Sequence[ExpirationDate], zone: str) -> pd.DataFrame:
    """List the calendar as a table: the date, what expires, and what that reclaims alone and in total."""
    return pd.DataFrame(
        {
            "date": [units.moment(day.at_ms, zone) for day in days],
            "points": [", ".join(day.points) for day in days],
            "files": [day.files for day in days],
            "bytes": [day.bytes for day in days],
            "total": list(itertools.accumulate(day.bytes for day in days)),
        }
    )


def curve_table(history: History, branch: str, price: Price | None = None) -> pd.DataFrame:
    """The curve as numbers: snapshots kept, files and bytes freed, and what these cost."""
    files, sizes = retention_curve(history, branch)
    found = pd.DataFrame({"keep": range(1, len(files)), "files": files[1:].tolist(), "bytes": sizes[1:].tolist()})
    return found if price is None else found.assign(money=[money(int(size), price) for size in found["bytes"]])


def holders(history: HistorySummary) -> pd.DataFrame:
    """List bytes by the exact set of holders, largest first."""
    found: pd.DataFrame = by_holders(history).to_pandas()
    return found


def drops(history: History, now_ms: int, branch: str) -> pd.DataFrame:
    """For each number of tags, list those whose deletion reclaims most; see `core.analysis.storage_cost.drops`."""
    found = storage_cost.drops(history, now_ms, branch)[:SHOWN_DROPS]
    return pd.DataFrame(
        {
            "count": [len(drop.tags) for drop in found],
            "tags": [", ".join(drop.tags) for drop in found],
            "files": [drop.files for drop in found],
            "bytes": [drop.bytes for drop in found],
        }
    )


def ends(history: History, expirations: Mapping[str, Expiry], branch: str) -> pd.DataFrame:
    """Describe when each snapshot and tag of a branch expires automatically, oldest first."""
    points = [each.point for each in history.holders if each.branch == branch and each.point in expirations]
    return pd.DataFrame({"point": points, "expires": [words.spoken(expirations[point].words) for point in points]})
