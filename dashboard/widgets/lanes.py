"""The timeline chart as a thing to click."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st
from plotly.basedatatypes import BaseFigure

from dashboard import state
from dashboard.present import charts, markup, words
from dashboard.present.axis import Axis
from dashboard.present.canvas import Figure, moment_ms
from dashboard.present.windows import Window, closer, moved, wider
from dashboard.widgets import how


class Drawn(BaseFigure):  # type: ignore[misc]  # plotly has no types
    """A figure that is JSON already. Streamlit has every other figure checked value by value before it is sent."""

    def __init__(self, figure: Figure) -> None:
        object.__setattr__(self, "_figure", figure)

    def to_dict(self) -> Figure:
        found: Figure = object.__getattribute__(self, "_figure")
        return found


def draw(
    figure: Figure, legend: list[charts.Legend], key: str, clicked: Callable[[str], None], *rules: words.Rule
) -> None:
    """Draw a figure under its legend; `rules` are how what it shows beside the points is computed.

    `clicked` gets what the clicked mark carries: a point, or `from..to` in milliseconds, as a stretch dragged over
    does.
    """
    zone = state.zone()

    def answer() -> None:
        event = st.session_state.get(key)
        chosen = stretch(event, zone) or carried(event)
        if chosen:
            clicked(chosen)

    how.beside(markup.legend(legend), words.HOW_TIMELINE, *rules)
    st.plotly_chart(
        Drawn(figure),
        key=key,
        theme=None,
        on_select=answer,
        selection_mode=("points", "box"),
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


def windows(whole: Axis, shown: Axis, window: Window | None, around_ms: int | None, zone: str, teach: str) -> None:
    """Which stretch of time is shown, ways to another, and the way back to all of it: the same line in every case."""
    span = whole.span_ms
    if span is None:
        return
    now = window or span
    aims: list[tuple[str, str, Window | None]] = [
        (words.EARLIER, ":material/chevron_left:", window and moved(window, span, -1)),
        (words.LATER, ":material/chevron_right:", window and moved(window, span, 1)),
        (words.CLOSER, ":material/zoom_in:", closer(now, around_ms)),
        (words.WIDER, ":material/zoom_out:", window and wider(window, span)),
        (words.SHOW_ALL, ":material/zoom_out_map:", None),
    ]
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="timeline_window"):
        st.caption(teach if window is None else words.window(*window, len(shown.dots), zone), width="stretch")
        for label, icon, aim in aims:
            st.button(
                label,
                icon=icon,
                key=f"window.{icon}",
                type="tertiary",
                disabled=window is None and aim is None,
                on_click=_look,
                args=(aim,),
            )
    if window is not None and not shown.dots:
        st.html(markup.note("info", words.NOTHING_IN_WINDOW))


def _look(aim: Window | None) -> None:
    state.put(window=None if aim is None else words.window_text(aim))


def stretch(event: Any, zone: str) -> str | None:
    """The stretch of time that was dragged over, as a window; None where nothing was."""
    boxes = (event or {}).get("selection", {}).get("box", [])
    ends = boxes[-1].get("x", []) if boxes else []
    if len(ends) != 2:
        return None
    first, last = sorted(ends)
    return words.window_text((moment_ms(first, zone), moment_ms(last, zone, fold=1)))


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
