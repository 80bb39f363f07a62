"""Versions, times and durations as callers give them, and the same as the core's parsers read them."""

from __future__ import annotations

import datetime as dt
import time
from typing import Any

from core.model import time_input
from core.model.references import Heads
from core.model.time_travel import parse_time_ms
from core.units import asked_duration_ms, iso, whole

Time = dt.datetime | str
Duration = dt.timedelta | str


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def point_of(at: Time, heads: Heads, zone: str) -> str:
    """A version as the core writes it; a moment, and a text that the parser of times reads, is a time."""
    if isinstance(at, dt.datetime):
        return f"time:{word_of(at)}"
    return time_input.point(str(at), heads, zone, now_ms())[0]


def time_ms(value: Time, zone: str) -> int:
    """A moment; a text without a zone is read in this one."""
    if isinstance(value, dt.datetime):
        return parse_time_ms(word_of(value))
    return time_input.moment(value, zone, now_ms()).ms


def duration_s(value: Duration) -> float:
    return asked_duration_ms(word_of(value)) / 1000


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
