"""The timeline chart of a table, as shown on the dashboard."""

from __future__ import annotations

from typing import Any

from core.model.references import Heads
from core.model.time_travel import in_words
from dashboard.charts.time_axis import axis
from dashboard.charts.timeline import timeline
from dashboard.formatting.palette import palette
from snapscope import display


class Timeline:
    """Snapshots, tags and branches on a time axis (UTC).

    Notebooks show it as a plotly chart. The chart has its own background, so it is readable in light and dark
    notebooks.

    Example:
        >>> table.timeline(theme="dark").figure().write_html("orders.html")
    """

    def __init__(self, heads: Heads, theme: str) -> None:
        self._axis = axis(heads)
        self._name = heads.name
        self._palette = palette(theme)

    def figure(self) -> Any:
        """Return the chart as a `plotly.graph_objects.Figure`, to modify or save it.

        Example:
            >>> table.timeline().figure().to_json()
        """
        import plotly.graph_objects as go

        figure = timeline(self._axis, self._palette, "UTC")
        paper = {"paper_bgcolor": self._palette.paper, "plot_bgcolor": self._palette.paper}
        return go.Figure(data=figure["data"], layout={**figure["layout"], **paper})

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """Use plotly's configured renderer; without one, Jupyter falls back to `_repr_html_`."""
        return self.figure()._repr_mimebundle_(include, exclude)

    def _repr_html_(self) -> str:
        shown: str = self.figure().to_html(full_html=False, include_plotlyjs=True)
        return shown

    def __repr__(self) -> str:
        dots = sorted(self._axis.dots, key=lambda each: each.time_ms)
        shown = dots[-display.SHOWN :]
        return display.lines(
            f"{self._name}: {len(dots):,} snapshots on {len(self._axis.lanes):,} lanes",
            *([f"  … {len(dots) - len(shown):,} earlier"] if len(dots) > len(shown) else []),
            *(f"  {in_words(each.time_ms)}  {each.point:<12} {each.kind}  {', '.join(each.tags)}" for each in shown),
        )
