"""A calendar beside a version picker, with the days that have commits marked. A day is written into the picker as
text, so it is read, echoed and linked like one that was typed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import streamlit as st

from dashboard import words
from dashboard.formatting import language, units

_HERE = Path(__file__).parent
_draw = st.components.v2.component(
    "snapscope_calendar",
    html=(_HERE / "calendar.html").read_text(encoding="utf-8"),
    css=(_HERE / "calendar.css").read_text(encoding="utf-8"),
    js=(_HERE / "calendar.js").read_text(encoding="utf-8"),
)


def draw(
    key: str, found: Mapping[str, int], zone: str, now_ms: int, chosen_ms: int | None, choose: Callable[[str], None]
) -> None:
    """Draw the button that opens it, at the day of the chosen version; `choose` receives a day with its time."""
    if not found:
        return
    last = max(_day(now_ms, zone), *found)

    def chosen() -> None:
        if day := st.session_state[key]["day"]:
            choose(day)

    _draw(
        key=key,
        data={
            "days": dict(found),
            "first": min(found),
            "last": last,
            "chosen": last if chosen_ms is None else _day(chosen_ms, zone) or last,
            "language": language.chosen(),
            "labels": {
                "open": words.CALENDAR,
                "before": words.CALENDAR_BEFORE,
                "after": words.CALENDAR_AFTER,
                "time": words.CALENDAR_TIME,
                "commits": words.CALENDAR_COMMITS,
                "hint": words.calendar_hint(zone),
            },
        },
        width="content",
        height="content",
        on_day_change=chosen,
    )


def _day(ms: int, zone: str) -> str:
    at = units.when(ms, zone)
    return "" if at is None else at.date().isoformat()
