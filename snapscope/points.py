"""Parse versions, times and durations from callers with the parsers of core."""

from __future__ import annotations

import datetime as dt
import operator
import time
from typing import Any

from core.errors import Invalid
from core.model import time_input
from core.model.references import Heads
from core.model.time_travel import parse_time_ms
from core.units import iso, parse_user_duration_ms, whole

Time = dt.datetime | str
Duration = dt.timedelta | str


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def point_of(at: Time, heads: Heads, zone: str) -> str:
    """Convert to a version in core's syntax. A datetime, or text that parses as a time, becomes `time:…`."""
    if isinstance(at, dt.datetime):
        return f"time:{word_of(at)}"
    return time_input.point(str(at), heads, zone, now_ms())[0]


def time_ms(value: Time, zone: str) -> int:
    """Convert to epoch milliseconds; text without a zone is read in `zone`."""
    if isinstance(value, dt.datetime):
        return parse_time_ms(word_of(value))
    if not isinstance(value, str):
        raise Invalid("{value!r} is not a time.", value=value, remedy="Give a datetime with a zone, or text.")
    return time_input.moment(value, zone, now_ms()).ms


def duration_s(value: Duration) -> float:
    return parse_user_duration_ms(word_of(value)) / 1000


def whole_number(name: str, value: Any) -> int:
    """Return the value of an argument that is a count; raises `Invalid` for anything but a whole number."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise Invalid("{name} must be a whole number, not {value!r}.", name=name, value=value, remedy="Give an int.")
    return operator.index(value)


def word_of(value: Any) -> str:
    """Convert a value to its command-line form. A datetime without a zone keeps none, and the time parser rejects
    it."""
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
