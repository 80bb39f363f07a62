"""The retention curve as values: every possible retention, bytes by set of holders, the best tags to delete.

Law: every number is an answer of the core; nothing is summed here that the core has not counted.
"""

from __future__ import annotations

import html
import itertools
from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go

from core.analysis import storage_cost
from core.analysis.expiration_dates import ExpirationDate
from core.analysis.storage_cost import by_holders, retention_curve
from core.model.expiry import Expiry
from core.model.history import History
from dashboard import words
from dashboard.charts.canvas import FONT, Canvas, Figure
from dashboard.formatting import units
from dashboard.formatting.palette import Palette

CURVE_PX = 260
CALENDAR_PX = 230
SHOWN_SETS = 12
SHOWN_DROPS = 8


def curve(history: History, branch: str, palette: Palette, chosen: int | None = None) -> go.Figure | None:
    """Bytes freed by keeping the newest N snapshots, for every N; None where there is nothing to choose."""
    files, sizes = retention_curve(history, branch)
    keeps = list(range(1, len(files)))
    if len(keeps) < 2:
        return None
    freed, counts = [int(sizes[keep]) for keep in keeps], [int(files[keep]) for keep in keeps]
    hovers = [words.curve_hover(keep, size, number) for keep, size, number in zip(keeps, freed, counts, strict=True)]
    figure = go.Figure(
        go.Scatter(
            x=keeps,
            y=freed,
            mode="lines",
            line={"shape": "hv", "color": palette.freed, "width": 2},
            fill="tozeroy",
            fillcolor=palette.soft("freed"),
            customdata=[[hover] for hover in hovers],
            hovertemplate="%{customdata[0]}<extra></extra>",
        )
    )
    if chosen is not None and 1 <= chosen < len(files):
        figure.add_vline(x=chosen, line={"color": palette.ink, "width": 1, "dash": "dot"})
        figure.add_annotation(
            x=chosen, y=1, yref="paper", yanchor="bottom", showarrow=False, text=words.curve_chosen(chosen),
            font={"size": 12, "color": palette.ink},
        )  # fmt: skip
    top = max(freed) or 1
    figure.update_layout(
        height=CURVE_PX,
        margin={"l": 74, "r": 14, "t": 22, "b": 44},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": FONT, "size": 13, "color": palette.ink},
        showlegend=False,
        hovermode="x",
    )
    figure.update_xaxes(
        title={"text": words.CURVE_X, "font": {"size": 12, "color": palette.muted}, "standoff": 4},
        showgrid=False, zeroline=False, fixedrange=True,
    )  # fmt: skip
    figure.update_yaxes(
        tickvals=[0, top / 2, top], ticktext=[units.size(round(each)) for each in (0, top / 2, top)],
        gridcolor=palette.grid, zeroline=False, fixedrange=True, rangemode="tozero",
    )  # fmt: skip
    return figure


def calendar(days: Sequence[ExpirationDate], now_ms: int, palette: Palette, zone: str) -> Figure:
    """Bytes that have gone by themselves by each date: a step for each, tags told apart by shape and hue."""
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
    """The calendar as numbers: the date, what goes, and what that frees alone and in sum."""
    return pd.DataFrame(
        {
            "date": [units.moment(day.at_ms, zone) for day in days],
            "points": [", ".join(day.points) for day in days],
            "files": [day.files for day in days],
            "bytes": [day.bytes for day in days],
            "total": list(itertools.accumulate(day.bytes for day in days)),
        }
    )


def curve_table(history: History, branch: str) -> pd.DataFrame:
    """The curve as numbers: snapshots kept, files and bytes freed."""
    files, sizes = retention_curve(history, branch)
    return pd.DataFrame({"keep": range(1, len(files)), "files": files[1:].tolist(), "bytes": sizes[1:].tolist()})


def holders(history: History) -> pd.DataFrame:
    """Bytes by the exact set of names that hold them, greatest first."""
    found: pd.DataFrame = by_holders(history).to_pandas()
    return found


def holders_bars(found: pd.DataFrame, palette: Palette) -> Figure:
    """The greatest sets of holders as bars, in the hue of what they keep: tags, branches, history, or what is live."""
    shown = found.head(SHOWN_SETS)
    names = [units.short_name(name, 46) for name in shown["holders"]]
    art = Canvas(palette, units.UTC)
    art.data.append(
        {
            "type": "bar", "orientation": "h",
            "x": [int(size) for size in shown["bytes"]], "y": list(range(len(shown))),
            "marker": {"color": [getattr(palette, _hue(name)) for name in shown["holders"]]},
            "text": [units.size(int(size)) for size in shown["bytes"]], "textposition": "outside", "cliponaxis": False,
            "hovertext": [
                words.holders_hover(name, int(size), int(files))
                for name, size, files in zip(shown["holders"], shown["bytes"], shown["files"], strict=True)
            ],
            "hovertemplate": "%{hovertext}<extra></extra>",
        }
    )  # fmt: skip
    art.layout.update(
        height=44 + 27 * len(shown),
        margin={"l": 10, "r": 60, "t": 6, "b": 26},
        paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)",
        font={"family": FONT, "size": 13, "color": palette.ink},
        bargap=0.3,
        xaxis={"visible": False, "fixedrange": True},
        yaxis={
            "tickvals": list(range(len(shown))), "ticktext": [f"{html.escape(name)}  " for name in names],
            "autorange": "reversed", "automargin": True, "fixedrange": True, "showgrid": False, "zeroline": False,
        },
    )  # fmt: skip
    return art.finished()


def _hue(holders: str) -> str:
    """What a set is about: live data, whatever else holds it; else a branch, history, or tags alone."""
    names = holders.split(" + ")
    if "live" in names:
        return "compaction"
    if any(name.startswith("branch:") for name in names):
        return "branch"
    return "rows" if "history" in names or "changelogs" in names else "tag"


def drops(history: History, now_ms: int, branch: str) -> pd.DataFrame:
    """For each number of tags the ones whose dropping frees most: see `core.analysis.storage_cost.drops`."""
    found = storage_cost.drops(history, now_ms, branch)[:SHOWN_DROPS]
    return pd.DataFrame(
        {
            "count": [len(drop.tags) for drop in found],
            "tags": [", ".join(drop.tags) for drop in found],
            "files": [drop.files for drop in found],
            "bytes": [drop.bytes for drop in found],
        }
    )


def ends(history: History, told: Mapping[str, Expiry], branch: str) -> pd.DataFrame:
    """When each snapshot and tag of a branch goes by itself, in words, the oldest first."""
    points = [each.point for each in history.holders if each.branch == branch and each.point in told]
    return pd.DataFrame({"point": points, "expires": [words.spoken(told[point].words) for point in points]})
