"""The interactive timeline chart."""

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

LEAST = dt.timedelta(seconds=1)  # the step of the slider


class Drawn(BaseFigure):  # type: ignore[misc]  # plotly has no types
    """A figure that is already JSON. Streamlit validates every other figure value by value before sending it.

    Streamlit treats a different figure as a different chart, so the data of one figure never change. The browser
    receives them twice; a fixed `datarevision` makes it draw only once.
    """

    def __init__(self, figure: Figure) -> None:
        object.__setattr__(self, "_figure", figure | {"layout": figure["layout"] | {"datarevision": 0}})

    def to_dict(self) -> Figure:
        found: Figure = object.__getattribute__(self, "_figure")
        return found


def draw(
    figure: Figure,
    legend: list[timeline.Legend],
    key: str,
    clicked: Callable[[str], None],
    *rules: words.Rule,
    compared: Callable[[str, str], None] | None = None,
) -> None:
    """Draw a figure below its legend; `rules` explain how the other values in the figure are computed.

    `clicked` receives the value of the clicked mark: a point, or `from..to` in milliseconds. `compared` receives the
    points of two marks, the second of which was clicked with shift held.
    """

    def answer() -> None:
        event = st.session_state.get(key)
        both = pair(event)
        chosen = clicked_payload(event)
        if compared is not None and both is not None:
            compared(*both)
        elif chosen:
            clicked(chosen)

    explain_figure.html(markup.legend(legend), words.HOW_TIMELINE, *rules)
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
    """Show the visible time range and a link back to the whole range."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(words.window(*window, shown, zone), width="content")
        st.button(
            words.SHOW_ALL, icon=":material/zoom_out_map:", on_click=lambda: url_state.put(window=None), type="tertiary"
        )


def shown_line(window: Window | None, shown: Axis, zone: str, teach: str) -> None:
    """Show what is visible and a link back to the whole range, in the same format in every case."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="timeline_window"):
        st.caption(teach if window is None else words.window(*window, len(shown.dots), zone), width="stretch")
        _aim(words.SHOW_ALL, ":material/zoom_out_map:", None, disabled=window is None)
    if window is not None and not shown.dots:
        st.html(markup.note("info", words.NOTHING_IN_WINDOW))


def windows(whole: Axis, window: Window | None, around_ms: int | None, zone: str) -> None:
    """Draw the controls for the time range: a slider with two handles, and buttons for keyboard use."""
    span = whole.span_ms
    if span is None:
        return
    now = window or span
    _slider(span, now, zone)
    with st.container(horizontal=True, gap="small", key="timeline_steps"):
        earlier, later = moved(now, span, -1), moved(now, span, 1)
        _aim(words.EARLIER, ":material/arrow_back:", earlier, disabled=window is None or earlier == now)
        _aim(words.LATER, ":material/arrow_forward:", later, disabled=window is None or later == now)
        _aim(words.CLOSER, ":material/zoom_in:", closer(now, around_ms), disabled=False)
        _aim(words.WIDER, ":material/zoom_out:", window and wider(window, span), disabled=window is None)


def _aim(label: str, icon: str, aim: Window | None, *, disabled: bool) -> None:
    st.button(
        label, icon=icon, key=f"window.{icon}", type="tertiary", disabled=disabled, on_click=_look, args=(aim,)
    )  # fmt: skip


def _slider(span: Window, now: Window, zone: str) -> None:
    """Draw the slider for both ends of the range, moved by mouse or arrow keys, in the local time of the zone."""
    first, last = (clock_face(ms, zone) for ms in (min(span[0], now[0]), max(span[1], now[1])))
    if first is None or last is None or last - first < LEAST:
        return
    key = "window.range"
    st.session_state[key] = (clock_face(now[0], zone), clock_face(now[1], zone))

    def dragged() -> None:
        known = {clock_face(ms, zone): ms for ms in (*now, *span)}  # clock faces lack milliseconds: keep exact ends
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


def clicked_payload(event: Any) -> str | None:
    """Return the text of the last selected mark that carries one; of marks selected with shift held, a time range
    before points, because it can only be opened."""
    found = _payloads(event)
    return next((text for text in reversed(found) if window_of(text)), found[-1] if found else None)


def pair(event: Any) -> tuple[str, str] | None:
    """Return the points of two selected marks; None if there is one, or one stands for several commits."""
    found = list(dict.fromkeys(_payloads(event)))
    return None if len(found) != 2 or any(map(window_of, found)) else (found[0], found[1])


def _payloads(event: Any) -> list[str]:
    """Return the texts of all selected marks that carry one, in the order the chart reports them."""
    found = []
    for point in (event or {}).get("selection", {}).get("points", []):
        data = point.get("customdata")
        value = data[0] if isinstance(data, list | tuple) and data else data
        if isinstance(value, str) and value:
            found.append(value)
    return found


def window_of(text: str | None) -> tuple[int, int] | None:
    """Parse `from..to` in epoch milliseconds; None for anything else."""
    first, between, last = (text or "").partition("..")
    try:
        return (int(first), int(last)) if between else None
    except ValueError:
        return None
