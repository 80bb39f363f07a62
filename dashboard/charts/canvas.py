"""Builds a chart as plotly JSON: marks and lines over time, in a theme's colours and a time zone.

Invariant: only plain values. Plotly's graph objects validate every value of every trace, which for 2,000 snapshots
takes longer than the rest of the page; the tests check that the result is a valid figure.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from core.safe_text import escape_direction_marks
from dashboard.charts.ruler import Ruler
from dashboard.formatting import units
from dashboard.formatting.palette import Palette

Figure = dict[str, Any]  # `data` and `layout`
HOVER = "%{customdata[1]}<extra></extra>"
FONT = '"Source Sans", "Source Sans 3", sans-serif'


def times(times_ms: Sequence[int | None], zone: str) -> list[int | None]:
    """Convert times to axis positions. Plotly does not support time zones, so it gets the local time of the zone in
    milliseconds."""
    if zone == units.UTC:
        return list(times_ms)
    return [None if ms is None else _shown(ms, zone) for ms in times_ms]


def _shown(ms: int, zone: str) -> int | None:
    at = units.when(ms, zone)
    return None if at is None else ms + (at.utcoffset() or dt.timedelta()) // dt.timedelta(milliseconds=1)


def clock_face(ms: int, zone: str) -> dt.datetime | None:
    """Return the local time in a zone, to the second; None if it is out of the calendar's range."""
    at = units.when(ms, zone)
    return None if at is None else at.replace(tzinfo=None, microsecond=0)


def moment_ms(shown: str | float, zone: str, *, fold: int = 0) -> int:
    """Return the time at an axis position reported by the browser. `fold` picks one if the local time occurs twice."""
    if isinstance(shown, str):
        naive = dt.datetime.fromisoformat(shown)
    else:
        naive = dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=shown)  # noqa: DTZ001  # a clock's face
    at = naive.replace(tzinfo=units.zone_of(zone), fold=fold)
    return (at - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Canvas:
    """The figure under construction, with its palette and time zone. Row 1 holds the lanes; the trends follow below."""

    palette: Palette
    zone: str
    ruler: Ruler | None = None  # None: commits stand at their times
    data: list[dict[str, Any]] = field(default_factory=list)
    layout: dict[str, Any] = field(default_factory=dict)

    def at(self, times_ms: Sequence[int | None]) -> Sequence[float | None]:
        """Return the axis positions of times."""
        return times(times_ms, self.zone) if self.ruler is None else self.ruler.at(times_ms)

    def hover_times(self, times_ms: Sequence[int]) -> dict[str, Any]:
        """Return the times for a hover text, where plotly cannot read them from the axis or say their weekday."""
        if self.ruler is None and units.is_plotlys_weekday():
            return {}
        return {"hovertext": [units.weekday_moment(ms, self.zone) for ms in times_ms]}

    def hue(self, name: str) -> str:
        return str(getattr(self.palette, name))

    def add(self, *, row: int = 1, **trace: Any) -> None:
        self.data.append({"type": "scatter", **trace, "xaxis": "x", "yaxis": "y" if row == 1 else f"y{row}"})

    def marks(
        self,
        times_ms: Sequence[int],
        heights: Sequence[float],
        payloads: Sequence[str],
        hovers: Sequence[str],
        *,
        row: int = 1,
        hover: str = HOVER,
        **look: Any,
    ) -> None:
        """Add marks at the given times and heights; clicking a mark reports its entry of `payloads`. A click does not
        fade the other marks unless `look` sets an unselected style."""
        font = {"textfont": {"color": look["textfont"]["color"]}} if "textfont" in look else {}
        look.setdefault("unselected", {"marker": {"opacity": 1.0}, **font})
        custom_data = [[each, escape_direction_marks(hover)] for each, hover in zip(payloads, hovers, strict=True)]
        self.add(
            row=row, x=self.at(times_ms), y=list(heights), customdata=custom_data, hovertemplate=hover, **look
        )  # fmt: skip

    def line(
        self, times_ms: Sequence[int | None], heights: Sequence[float | None], hover: str | None, **look: Any
    ) -> None:
        """Draw a line through the given times; a None breaks it."""
        hover_style: dict[str, Any] = {"hoverinfo": "skip"}
        if hover is not None:
            hover_style = {"hovertemplate": f"{hover}<extra></extra>"}
        self.add(x=self.at(times_ms), y=list(heights), mode="lines", line=look, **hover_style)

    def finished(self) -> Figure:
        return {"data": self.data, "layout": self.layout}
