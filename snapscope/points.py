"""Versions, times and durations as callers give them, and the same as the core's parsers read them."""

from __future__ import annotations

import datetime as dt
from typing import Any

from core.model.time_travel import parse_time_ms
from core.units import asked_duration_ms, iso, whole

Time = dt.datetime | str
Duration = dt.timedelta | str


def point_of(at: Time) -> str:
    """A version as the core writes it: a moment, and a text that begins as an ISO date does, is a time."""
    if isinstance(at, dt.datetime):
        return f"time:{word_of(at)}"
    text = str(at).strip()
    is_date = len(text) >= 10 and text[:4].isdecimal() and text[4] == text[7] == "-"
    return f"time:{text}" if is_date else text


def word_of(value: Any) -> str:
    """A value as the word of a command line. A moment without a zone stays one, and is refused where it is read."""
    match value:
        case dt.datetime(tzinfo=None):
            return value.isoformat()
        case dt.datetime():
            epoch = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
            return iso((value - epoch) // dt.timedelta(milliseconds=1))
        case dt.timedelta():
            return whole(value // dt.timedelta(milliseconds=1))
        case _:
            return str(value)


def time_ms(value: Time) -> int:
    return parse_time_ms(word_of(value))


def duration_s(value: Duration) -> float:
    return asked_duration_ms(word_of(value)) / 1000
