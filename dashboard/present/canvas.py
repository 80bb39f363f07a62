"""A figure being drawn: marks and lines at moments, in the hues of a theme and by the clock of a zone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from dashboard.present import units
from dashboard.present.palette import Palette

HOVER = "%{customdata[1]}<extra></extra>"
FONT = '"Source Sans", "Source Sans 3", sans-serif'


def times(times_ms: Sequence[int | None], zone: str) -> list[str]:
    """Axis positions: Plotly knows no zones, so it gets what a clock in that zone shows."""
    found = [None if ms is None else units.when(ms, zone) for ms in times_ms]
    return ["" if at is None else at.replace(tzinfo=None).isoformat(" ", "milliseconds") for at in found]


def pairs(carried: Sequence[str], hovers: Sequence[str]) -> npt.NDArray[np.object_]:
    """`customdata` of marks: an array, because Plotly walks through lists value by value."""
    return np.array([carried, hovers], dtype=object).T


@dataclass(frozen=True, slots=True)
class Canvas:
    """The figure being drawn, its colours and its clock."""

    figure: go.Figure
    palette: Palette
    zone: str

    def hue(self, name: str) -> str:
        return str(getattr(self.palette, name))

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
        self.figure.add_trace(
            go.Scatter(
                x=times(times_ms, self.zone),
                y=list(heights),
                customdata=pairs(carried, hovers),
                hovertemplate=hover,
                **look,
            ),
            row=row,
            col=1,
        )

    def line(
        self, times_ms: Sequence[int | None], heights: Sequence[float | None], hover: str | None, **look: Any
    ) -> None:
        """A line through moments; it is broken where one is None."""
        self.figure.add_trace(
            go.Scatter(
                x=times(times_ms, self.zone),
                y=list(heights),
                mode="lines",
                line=look,
                hoverinfo="skip" if hover is None else None,
                hovertemplate=None if hover is None else f"{hover}<extra></extra>",
            ),
            row=1,
            col=1,
        )
