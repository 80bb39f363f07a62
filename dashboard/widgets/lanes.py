"""The timeline chart as a thing to click."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard import state
from dashboard.present import charts, markup, words
from dashboard.widgets import how


def draw(
    figure: go.Figure, legend: list[charts.Legend], key: str, clicked: Callable[[str], None], *rules: words.Rule
) -> None:
    """Draw a figure under its legend; `rules` are how what it shows beside the points is computed.

    `clicked` gets what the clicked mark carries: a point, or `from..to` in milliseconds.
    """

    def answer() -> None:
        chosen = carried(st.session_state.get(key))
        if chosen:
            clicked(chosen)

    how.beside(markup.legend(legend), words.HOW_TIMELINE, *rules)
    st.plotly_chart(
        figure,
        key=key,
        theme=None,
        on_select=answer,
        selection_mode="points",
        config=charts.CONFIG,
        alt=words.TIMELINE_ALT,
    )


def window_line(window: tuple[int, int], shown: int, zone: str) -> None:
    """Which stretch of time is shown, and the way back to all of it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(words.window(*window, shown, zone), width="content")
        st.button(
            words.SHOW_ALL, icon=":material/zoom_out_map:", on_click=lambda: state.put(window=None), type="tertiary"
        )


def carried(event: Any) -> str | None:
    """The text of the last selected mark that carries one."""
    points = (event or {}).get("selection", {}).get("points", [])
    for point in reversed(points):
        data = point.get("customdata")
        value = data[0] if isinstance(data, list | tuple) and data else data
        if isinstance(value, str) and value:
            return value
    return None


def window_of(text: str | None) -> tuple[int, int] | None:
    """`from..to` in epoch milliseconds; None for anything else."""
    first, between, last = (text or "").partition("..")
    try:
        return (int(first), int(last)) if between else None
    except ValueError:
        return None
