"""Plots query results: the chart settings as URL text, and the figure. Pure.

Invariant: the meaning of the rows is unknown, so colours carry none. Series differ by dash, marker and pattern, in
black and grey only. Values are plotted as floats; the result table shows the exact values.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa
import pyarrow.compute as pc

from dashboard.charts.canvas import FONT
from dashboard.formatting import cells, units
from dashboard.formatting.palette import Palette

KINDS = ("line", "bar", "scatter")
MOST_ROWS = 2_000
MOST_SERIES = 4
HEIGHT_PX = 380
_DASHES = ("solid", "dash", "dot", "dashdot")
_MARKERS = ("circle", "square-open", "diamond", "cross-thin-open")
_PATTERNS = ("", "/", ".", "x")
_INKS = ("ink", "muted", "ink", "muted")


@dataclass(frozen=True, slots=True)
class Chart:
    """Chart settings: one of `KINDS`, the x column and the y columns."""

    kind: str
    x: str
    ys: tuple[str, ...]

    def text(self) -> str:
        return json.dumps([self.kind, self.x, *self.ys], ensure_ascii=False, separators=(",", ":"))


def numeric(table: pa.Table) -> tuple[str, ...]:
    """Return the names of the columns that can be plotted on the y axis."""
    names = cells.distinct(table.column_names)
    return tuple(name for name, column in zip(names, table.columns, strict=True) if _is_number(column.type))


def suiting(table: pa.Table) -> Chart | None:
    """Suggest an initial chart; None if no column is numeric."""
    names, numbers = cells.distinct(table.column_names), numeric(table)
    if not numbers:
        return None
    across = next((name for name in names if name not in numbers), names[0])
    ups = tuple(name for name in numbers if name != across)[:1] or numbers[:1]
    kinds = dict(zip(names, (column.type for column in table.columns), strict=True))
    return Chart("line" if pa.types.is_temporal(kinds[across]) or across in numbers else "bar", across, ups)


def read(text: str | None, table: pa.Table) -> Chart | None:
    """Parse chart settings from the URL. If they do not fit these columns, suggest others; None if nothing can be
    plotted."""
    suits = suiting(table)
    try:
        found = json.loads(text or "null")
    except ValueError:
        return suits
    if suits is None or not isinstance(found, list) or len(found) < 2 or found[0] not in KINDS:
        return suits
    names, numbers = cells.distinct(table.column_names), numeric(table)
    across = found[1] if found[1] in names else suits.x
    return Chart(found[0], across, tuple(name for name in found[2:] if name in numbers)[:MOST_SERIES] or suits.ys)


def figure(table: pa.Table, chart: Chart, palette: Palette, zone: str) -> go.Figure:
    """Plot the first `MOST_ROWS` rows, with times shown in `zone`."""
    shown = table.rename_columns(cells.distinct(table.column_names)).slice(0, MOST_ROWS)
    across = _across(shown[chart.x], zone)
    drawn = go.Figure()
    for number, name in enumerate(chart.ys):
        values = pc.cast(shown[name], pa.float64(), safe=False).to_pylist()
        drawn.add_trace(_trace(chart.kind, across, values, name, number, getattr(palette, _INKS[number])))
    title = f"{chart.x} ({zone})" if _is_moment(shown[chart.x].type) else chart.x
    ink, grid = palette.muted, palette.grid
    drawn.update_layout(
        height=HEIGHT_PX, margin={"l": 8, "r": 8, "t": 8, "b": 8}, paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)", font={"family": FONT, "color": palette.ink, "size": 13}, barmode="group",
        showlegend=len(chart.ys) > 1, legend={"orientation": "h", "y": 1.08, "x": 0}, hovermode="closest",
    )  # fmt: skip
    drawn.update_xaxes(title={"text": title, "font": {"color": ink}}, gridcolor=grid, zeroline=False, automargin=True)
    side = chart.ys[0] if len(chart.ys) == 1 else None
    drawn.update_yaxes(
        title={"text": side, "font": {"color": ink}}, gridcolor=grid, zerolinecolor=grid, automargin=True
    )
    return drawn


def _trace(kind: str, across: list[Any], values: list[Any], name: str, number: int, hue: str) -> Any:
    if kind == "bar":
        pattern = {"shape": _PATTERNS[number], "fgcolor": hue} if number else None
        return go.Bar(x=across, y=values, name=name, marker={"color": hue, "pattern": pattern})
    if kind == "line":
        return go.Scatter(x=across, y=values, name=name, mode="lines", line={"color": hue, "dash": _DASHES[number]})
    marker = {"color": hue, "symbol": _MARKERS[number], "size": 7, "line": {"color": hue, "width": 1.5}}
    return go.Scatter(x=across, y=values, name=name, mode="markers", marker=marker)


def _across(column: pa.ChunkedArray, zone: str) -> list[Any]:
    if _is_moment(column.type):
        clock = units.zone_of(zone)
        return [None if each is None else each.astimezone(clock).replace(tzinfo=None) for each in column.to_pylist()]
    if pa.types.is_temporal(column.type) or pa.types.is_floating(column.type):
        return list(column.to_pylist())
    if _is_number(column.type):
        return list(pc.cast(column, pa.float64(), safe=False).to_pylist())
    return [None if each is None else str(each) for each in column.to_pylist()]


def _is_moment(kind: pa.DataType) -> bool:
    return pa.types.is_timestamp(kind) and kind.tz is not None


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_decimal(kind) or pa.types.is_floating(kind))
