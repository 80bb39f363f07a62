"""How a table grew: rows, files and bytes at each version, and the panels that show it below the lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
import pandas as pd

from core.model.history import History
from dashboard import words
from dashboard.charts.canvas import Canvas, times
from dashboard.charts.time_axis import Axis
from dashboard.formatting import units

T = TypeVar("T")
BINS = 150  # stretches of a long trend; each keeps its first, last, least and greatest value
Values = tuple[int | None, ...]


def thinned(values: Values) -> list[int]:
    """Places enough to draw all values: no peak and no drop is lost, and what is unknown stays a gap."""
    if len(values) <= 4 * BINS:
        return list(range(len(values)))
    keep: set[int] = set()
    edges = np.linspace(0, len(values), BINS + 1).astype(int).tolist()
    for start, end in pairwise(edges):
        known = [place for place in range(start, end) if values[place] is not None]
        keep |= {start, end - 1, *(place for place in range(start, end) if values[place] is None)}
        if known:
            keep |= {min(known, key=values.__getitem__), max(known, key=values.__getitem__)}  # type: ignore[arg-type]
    return sorted(keep)


@dataclass(frozen=True, slots=True)
class Trend:
    """What was live at each point, in the order of ids. `files` and `bytes` are None where manifests were not read;
    a single None is a point that could not be read in full."""

    points: tuple[str, ...]
    times_ms: tuple[int, ...]
    rows: Values
    files: Values | None = None
    bytes: Values | None = None

    def within(self, window_ms: tuple[int, int] | None) -> Trend:
        """Only what lies inside a window, both ends included."""
        if window_ms is None:
            return self
        first, last = window_ms
        return self._take([place for place, time in enumerate(self.times_ms) if first <= time <= last])

    def _take(self, keep: Sequence[int]) -> Trend:
        def of(values: tuple[T, ...]) -> tuple[T, ...]:
            return tuple(values[place] for place in keep)

        return Trend(
            of(self.points),
            of(self.times_ms),
            of(self.rows),
            None if self.files is None else of(self.files),
            None if self.bytes is None else of(self.bytes),
        )


def points(axis: Axis, history: History | None, zone: str) -> pd.DataFrame:
    """Every dot of an axis as a line, newest first; what was live there where manifests were read."""
    dots = sorted(axis.dots, key=lambda dot: (dot.time_ms, dot.id), reverse=True)
    found = pd.DataFrame(
        {
            "point": [dot.point for dot in dots],
            "committed": [units.moment(dot.time_ms, zone, exact=True) for dot in dots],
            "kind": [words.commit_kind(dot.kind) for dot in dots],
            "rows": pd.array([dot.total_rows for dot in dots], dtype="Int64"),
            "delta": pd.array([dot.delta_rows for dot in dots], dtype="Int64"),
        }
    )
    if history is not None:
        places = [history.position(dot.point) for dot in dots]
        blind = set(history.incomplete)
        for name, live in (("files", history.totals.files), ("bytes", history.totals.bytes)):
            found[name] = pd.array([None if at in blind else int(live[at]) for at in places], dtype="Int64")
    found["schema"] = [str(dot.schema_id) for dot in dots]
    found["tags"] = [", ".join(dot.tags) for dot in dots]
    found["note"] = [words.capitalized(dot.note) for dot in dots]
    return found


@dataclass(frozen=True, slots=True)
class Panel:
    """One quantity over time, thinned to what a screen shows."""

    name: str
    hue: str
    points: tuple[str, ...]
    times_ms: tuple[int, ...]
    values: Values
    text: Callable[[int | None], str]
    exact: str  # a template of the browser's: the figure to the last unit


def panels(trend: Trend | None) -> list[Panel]:
    """What there is to draw below the lanes: rows, then files and bytes where manifests were read."""
    if trend is None or len(trend.points) < 2:
        return []
    found = []
    for name, hue, values, text, exact in (
        (words.TREND_ROWS, "rows", trend.rows, units.count, words.TREND_ROWS_EXACT),
        (words.TREND_FILES, "files", trend.files, units.count, words.TREND_FILES_EXACT),
        (words.TREND_BYTES, "bytes", trend.bytes, units.size, words.TREND_BYTES_EXACT),
    ):
        if values is not None:
            keep = thinned(values)
            points, times_ms = tuple(trend.points[at] for at in keep), tuple(trend.times_ms[at] for at in keep)
            found.append(Panel(name, hue, points, times_ms, tuple(values[at] for at in keep), text, exact))
    return found


def draw(canvas: Canvas, row: int, panel: Panel) -> None:
    """A step line over its own scale, from nothing to the most."""
    few = len(panel.points) <= 200
    named = not any(letter in point for point in panel.points for letter in "<&")  # names of others stay text
    canvas.add(
        row=row,
        x=times(panel.times_ms, canvas.zone),
        y=list(panel.values),
        customdata=list(panel.points),
        hovertemplate=f"{words.trend_template(panel.exact, canvas.zone, named)}<extra></extra>",
        mode="lines+markers" if few else "lines",
        line={"color": canvas.hue(panel.hue), "width": 1.6 if few else 1, "shape": "hv"},
        marker={"size": 4, "color": canvas.hue(panel.hue)},
        fill="tozeroy",
        fillcolor=canvas.palette.soft(panel.hue, 0.1),
        selected={"marker": {"size": 9}},
        unselected={"marker": {"opacity": 1.0}},
    )
    top = max((value for value in panel.values if value is not None), default=1) or 1
    canvas.layout[f"yaxis{row}"] |= {
        "range": [0, top * 1.18],
        "tickvals": [0, top],
        "ticktext": ["0", panel.text(top)],
        "title": {"text": panel.name, "font": {"size": 12, "color": canvas.hue(panel.hue)}, "standoff": 6},
    }
