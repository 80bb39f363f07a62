"""Trends of a table: rows, files and bytes per version, and the panels that show them below the lanes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np
import pandas as pd

from core.model.history import History
from dashboard import words
from dashboard.charts.canvas import Canvas
from dashboard.charts.time_axis import Axis
from dashboard.formatting import units

T = TypeVar("T")
BINS = 150  # bins of a long trend; each keeps its first, last, minimum and maximum value
Values = tuple[int | None, ...]


def thinned(values: Values) -> list[int]:
    """Choose the indexes to draw: no peak or drop is lost, and unknown values remain gaps."""
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
class Difference:
    """How a version differs from the one listed before it; a None is unknown."""

    before: str
    rows: int | None
    files: int | None
    bytes: int | None


@dataclass(frozen=True, slots=True)
class Trend:
    """Rows, files and bytes of each version, ordered by id. `files` and `bytes` are None if manifests were not read; a
    single None is a version that could not be read completely. `steps` hold what changed, by version, and are the same
    in every time window."""

    points: tuple[str, ...]
    times_ms: tuple[int, ...]
    rows: Values
    files: Values | None = None
    bytes: Values | None = None
    steps: Mapping[str, Difference] = field(default_factory=dict, repr=False)

    def with_steps(self) -> Trend:
        """Compute what changed from each version to the next one."""
        columns = [_differences(values, len(self.points)) for values in (self.rows, self.files, self.bytes)]
        steps = zip(pairwise(self.points), zip(*columns, strict=True), strict=True)
        return replace(self, steps={after: Difference(before, *step) for (before, after), step in steps})

    def within(self, window_ms: tuple[int, int] | None) -> Trend:
        """Keep only what lies within a time window, both ends included."""
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
            self.steps,
        )


def _differences(values: Values | None, count: int) -> Values:
    """The change to each value but the first one."""
    steps = pairwise(values if values is not None else (None,) * count)
    return tuple(None if one is None or other is None else other - one for one, other in steps)


def points(axis: Axis, history: History | None, zone: str) -> pd.DataFrame:
    """List every dot of an axis as a row, newest first, with current files and bytes if manifests were read."""
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
    """One quantity over time, thinned to what a screen can show."""

    name: str
    hue: str
    points: tuple[str, ...]
    times_ms: tuple[int, ...]
    values: Values
    text: Callable[[int | None], str]
    exact: str  # plotly hover template with the exact value
    changes: tuple[str, ...] = ()  # of each point, in words


def panels(trend: Trend | None) -> list[Panel]:
    """List the panels to draw below the lanes: rows, plus files and bytes if manifests were read."""
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
            changes = tuple(_change(trend.steps.get(point), hue) for point in points)
            found.append(Panel(name, hue, points, times_ms, tuple(values[at] for at in keep), text, exact, changes))
    return found


def _change(step: Difference | None, of: str) -> str:
    """Say what changed of a quantity since the version before."""
    change: int | None = None if step is None else getattr(step, of)
    if step is None or change is None:
        return ""
    return words.trend_change(step.before, change, is_size=of == "bytes")


def draw(canvas: Canvas, row: int, panel: Panel) -> None:
    """Draw a step line on its own scale, filled below if the scale starts at zero."""
    few = len(panel.points) <= 200
    ticks = ticks_of([value for value in panel.values if value is not None])
    named = not any(letter in point for point in panel.points for letter in "<&")  # no HTML in hovers
    template = words.trend_template(panel.exact, canvas.zone, named, by_commit=canvas.ruler is not None)
    canvas.add(
        row=row,
        x=canvas.at(panel.times_ms),
        y=list(panel.values),
        customdata=[list(each) for each in zip(panel.points, panel.changes, strict=True)],
        hovertemplate=f"{template}<extra></extra>",
        **canvas.hover_times(panel.times_ms),
        mode="lines+markers" if few else "lines",
        line={"color": canvas.hue(panel.hue), "width": 1.6 if few else 1, "shape": "hv"},
        marker={"size": 4, "color": canvas.hue(panel.hue)},
        fill="tozeroy" if ticks[0] == 0 else "none",
        fillcolor=canvas.palette.soft(panel.hue, 0.1),
        selected={"marker": {"size": 9}},
        unselected={"marker": {"opacity": 1.0}},
    )
    room = (ticks[-1] - ticks[0]) * 0.09
    canvas.layout[f"yaxis{row}"] |= {
        "range": [ticks[0] - (room if ticks[0] else 0), ticks[-1] + room],
        "tickvals": ticks,
        "ticktext": [panel.text(tick) for tick in ticks],
        "title": {"text": panel.name, "font": {"size": 12, "color": canvas.hue(panel.hue)}, "standoff": 6},
    }


def ticks_of(values: Sequence[int]) -> list[int]:
    """Return three to six round numbers around the values: from zero, unless that would flatten the change.

    The scale starts at zero if the smallest value is less than half of the largest.
    """
    low, high = min(values, default=0), max(values, default=0)
    if low * 2 < high or low == high:
        low = 0
    rough = max(high - low, 1) / 3
    power = 10 ** math.floor(math.log10(rough)) if rough >= 1 else 1
    step = max(1, int(next(power * each for each in (1, 2, 5, 10) if power * each >= rough)))
    first, last = low // step, -(-high // step)
    return [number * step for number in range(first, max(last, first + 1) + 1)]
