"""A chart being drawn, as the JSON a browser gets: marks and lines at moments, in a theme's hues, by a zone's clock.

Law: plain values alone. Graph objects check each value of each trace, which on 2,000 points takes longer than all
else a page does; that the result is a figure is checked once, in the tests.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dashboard.formatting import units
from dashboard.formatting.palette import Palette

Figure = dict[str, Any]  # `data` and `layout`
HOVER = "%{customdata[1]}<extra></extra>"
FONT = '"Source Sans", "Source Sans 3", sans-serif'


def times(times_ms: Sequence[int | None], zone: str) -> list[int | None]:
    """Axis positions. Plotly knows no zones: it gets, in milliseconds, what a clock in that zone shows."""
    if zone == units.UTC:
        return list(times_ms)
    return [None if ms is None else _shown(ms, zone) for ms in times_ms]


def _shown(ms: int, zone: str) -> int | None:
    at = units.when(ms, zone)
    return None if at is None else ms + (at.utcoffset() or dt.timedelta()) // dt.timedelta(milliseconds=1)


def clock_face(ms: int, zone: str) -> dt.datetime | None:
    """What a clock in that zone shows, to the second; None outside of what a calendar holds."""
    at = units.when(ms, zone)
    return None if at is None else at.replace(tzinfo=None, microsecond=0)


def moment_ms(shown: str | float, zone: str, *, fold: int = 0) -> int:
    """The moment at a place of the axis, as a browser tells it; of two moments the clock shows, the one `fold` says."""
    if isinstance(shown, str):
        naive = dt.datetime.fromisoformat(shown)
    else:
        naive = dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=shown)  # noqa: DTZ001  # a clock's face
    at = naive.replace(tzinfo=units.zone_of(zone), fold=fold)
    return (at - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Canvas:
    """The figure being drawn, its colours and its clock. `row` 1 holds the lanes, the trends follow below."""

    palette: Palette
    zone: str
    data: list[dict[str, Any]] = field(default_factory=list)
    layout: dict[str, Any] = field(default_factory=dict)

    def hue(self, name: str) -> str:
        return str(getattr(self.palette, name))

    def add(self, *, row: int = 1, **trace: Any) -> None:
        self.data.append({"type": "scatter", **trace, "xaxis": "x", "yaxis": "y" if row == 1 else f"y{row}"})

    def marks(
        self,
        times_ms: Sequence[int],
        heights: Sequence[float],
        carried: Sequence[str],
        hovers: Sequence[str],
        *,
        row: int = 1,
        hover: str = HOVER,
        **look: Any,
    ) -> None:
        """Marks at times and heights; `carried` is what a click on each tells. A click elsewhere leaves them as they
        are, unless they say how they fade."""
        font = {"textfont": {"color": look["textfont"]["color"]}} if "textfont" in look else {}
        look.setdefault("unselected", {"marker": {"opacity": 1.0}, **font})
        told = [list(pair) for pair in zip(carried, hovers, strict=True)]
        self.add(
            row=row, x=times(times_ms, self.zone), y=list(heights), customdata=told, hovertemplate=hover, **look
        )  # fmt: skip

    def line(
        self, times_ms: Sequence[int | None], heights: Sequence[float | None], hover: str | None, **look: Any
    ) -> None:
        """A line through moments; it is broken where one is None."""
        told: dict[str, Any] = {"hoverinfo": "skip"}
        if hover is not None:
            told = {"hovertemplate": f"{hover}<extra></extra>"}
        self.add(x=times(times_ms, self.zone), y=list(heights), mode="lines", line=look, **told)

    def finished(self) -> Figure:
        return {"data": self.data, "layout": self.layout}
