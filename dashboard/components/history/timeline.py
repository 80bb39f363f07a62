"""The timeline chart as a thing to click."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import streamlit as st
from plotly.basedatatypes import BaseFigure

from dashboard import url_state, words
from dashboard.charts import timeline
from dashboard.charts.canvas import Figure, clock_face, moment_ms
from dashboard.charts.time_axis import Axis
from dashboard.components import explain_figure
from dashboard.formatting import markup
from dashboard.formatting.time_windows import Window, closer, moved, wider

LEAST = dt.timedelta(seconds=1)  # what a slider can be moved by


class Drawn(BaseFigure):  # type: ignore[misc]  # plotly has no types
    """A figure that is JSON already. Streamlit has every other figure checked value by value before it is sent.

    Another figure is another chart to Streamlit, so the data of one never change: the browser, which is given them
    twice, is told so, and draws once.
    """

    def __init__(self, figure: Figure) -> None:
        object.__setattr__(self, "_figure", figure | {"layout": figure["layout"] | {"datarevision": 0}})

    def to_dict(self) -> Figure:
        found: Figure = object.__getattribute__(self, "_figure")
        return found


def draw(
    figure: Figure, legend: list[timeline.Legend], key: str, clicked: Callable[[str], None], *rules: words.Rule
) -> None:
    """Draw a figure under its legend; `rules` are how what it shows beside the points is computed.

    `clicked` gets what the clicked mark carries: a point, or `from..to` in milliseconds.
    """

    def answer() -> None:
        chosen = carried(st.session_state.get(key))
        if chosen:
            clicked(chosen)

    explain_figure.beside(markup.legend(legend), words.HOW_TIMELINE, *rules)
    st.plotly_chart(
        Drawn(figure),
        key=key,
        theme=None,
        on_select=answer,
        selection_mode="points",
        config=timeline.CONFIG,
        alt=words.TIMELINE_ALT,
    )


def window_line(window: tuple[int, int], shown: int, zone: str) -> None:
    """Which stretch of time is shown, and the way back to all of it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(words.window(*window, shown, zone), width="content")
        st.button(
            words.SHOW_ALL, icon=":material/zoom_out_map:", on_click=lambda: url_state.put(window=None), type="tertiary"
        )


def shown_line(window: Window | None, shown: Axis, zone: str, teach: str) -> None:
    """What is shown, and the way back to all of it: the same line in every case."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="timeline_window"):
        st.caption(teach if window is None else words.window(*window, len(shown.dots), zone), width="stretch")
        _aim(words.SHOW_ALL, ":material/zoom_out_map:", None, disabled=window is None)
    if window is not None and not shown.dots:
        st.html(markup.note("info", words.NOTHING_IN_WINDOW))


def windows(whole: Axis, window: Window | None, around_ms: int | None, zone: str) -> None:
    """Ways to another stretch of time: two handles, and steps that keyboards reach."""
    span = whole.span_ms
    if span is None:
        return
    now = window or span
    _slider(span, now, zone)
    with st.container(horizontal=True, gap="small", key="timeline_steps"):
        earlier, later = moved(now, span, -1), moved(now, span, 1)
        _aim(words.EARLIER, ":material/chevron_left:", earlier, disabled=window is None or earlier == now)
        _aim(words.LATER, ":material/chevron_right:", later, disabled=window is None or later == now)
        _aim(words.CLOSER, ":material/zoom_in:", closer(now, around_ms), disabled=False)
        _aim(words.WIDER, ":material/zoom_out:", window and wider(window, span), disabled=window is None)


def _aim(label: str, icon: str, aim: Window | None, *, disabled: bool) -> None:
    st.button(
        label, icon=icon, key=f"window.{icon}", type="tertiary", disabled=disabled, on_click=_look, args=(aim,)
    )  # fmt: skip


def _slider(span: Window, now: Window, zone: str) -> None:
    """Both ends of the stretch, to be dragged or moved by arrow keys, by the zone's clock."""
    first, last = (clock_face(ms, zone) for ms in (min(span[0], now[0]), max(span[1], now[1])))
    if first is None or last is None or last - first < LEAST:
        return
    key = "window.range"
    st.session_state[key] = (clock_face(now[0], zone), clock_face(now[1], zone))

    def dragged() -> None:
        known = {clock_face(ms, zone): ms for ms in (*now, *span)}  # a face has no milliseconds: an end stays itself
        ends = enumerate(st.session_state[key])
        left, right = (known.get(at, moment_ms(at.isoformat(), zone, fold=fold)) for fold, at in ends)
        url_state.put(window=None if (left, right) == span else words.window_text((left, right)))

    st.slider(
        words.RANGE,
        first,
        last,
        key=key,
        step=max((last - first) // 200, LEAST),
        format="YYYY-MM-DD HH:mm",
        on_change=dragged,
        label_visibility="collapsed",
    )


def _look(aim: Window | None) -> None:
    url_state.put(window=None if aim is None else words.window_text(aim))


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
