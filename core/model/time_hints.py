"""What somebody probably meant by a text that is almost a time. Pure."""

from __future__ import annotations

import datetime as dt
import re

from core.errors import ErrorCode, Invalid
from core.messages import Message, message
from core.units import nearest

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAYS = ("today", "yesterday", *WEEKDAYS)
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}
_IN_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_CLOCKS = {"noon": "12:00", "midnight": "00:00", "morning": "08:00", "evening": "20:00"}
_PERIOD = r"(?:last|past|this|previous) (day|week|month|year)"
_LONG_AGO = r"(\w+) (month|year)s? ago"
_DURATION = r"(?:last |past )?(\d{1,6} ?(?:w|weeks?|d|days?|h|hours?|min|minutes?|s|sec|seconds?))"
_SPELLED_OUT = rf"({'|'.join(_NUMBERS)}) (minute|hour|day|week)s? ago"
_CLOCK = rf"(?:at )?({'|'.join(_CLOCKS)}|(\d{{1,2}})(?:[:.](\d{{2}}))?(?::\d{{2}})? ?([ap]m)?)"
_FUTURE = r"(?:tomorrow|next \w+|in \w+ \w+)\b"
_COMPACT_DAY = r"((?:19|20)\d\d)(\d\d)(\d\d)"


def hint(text: str) -> Message | None:
    """What to write instead of a text that is not a valid time; None if it does not resemble one."""
    text = " ".join(text.lower().split())
    if match := re.fullmatch(_PERIOD, text):
        return message(
            'Give one moment: a day, such as 2026-11-17, or "{days} days ago" for this time of day.',
            days=_IN_DAYS[match[1]],
        )
    if re.fullmatch(_LONG_AGO, text):
        return message(
            'Months and years differ in length: give a day, such as 2026-11-17, or days, such as "90 days ago".'
        )
    if re.match(_FUTURE, text):
        return message('Write a future time as a date, such as 2026-11-17, and a past one also as "3 days ago".')
    if match := re.fullmatch(rf"(?:this|yesterday) ({'|'.join(_CLOCKS)})", text):
        day = "yesterday" if text.startswith("yesterday") else "today"
        return _suggestion(f"{day} {_CLOCKS[match[1]]}")
    if match := re.fullmatch(_DURATION, text):
        return _suggestion(f"{match[1]} ago")
    if match := re.fullmatch(_SPELLED_OUT, text):
        return _suggestion(f"{_NUMBERS[match[1]]} {match[2]}{'' if _NUMBERS[match[1]] == 1 else 's'} ago")
    if match := re.fullmatch(_CLOCK, text):
        return _with_day(match)
    return _nearly_a_day(text)


def of_digits(text: str) -> Message | None:
    """What to write if eight digits, which name no snapshot, are a date."""
    match = re.fullmatch(_COMPACT_DAY, text)
    try:
        return match and message("If it is a date, write {day}.", day=dt.date(*map(int, match.groups())).isoformat())
    except ValueError:
        return None


def no_such_time(text: str) -> Invalid:
    """The error for a day or clock time that does not exist."""
    return Invalid(
        'not a valid time: "{text}".',
        text=text[:60],
        remedy="Check the month, day, hour and minute.",
        code=ErrorCode.NOT_A_TIME,
    )


def no_such_zone(name: str) -> Invalid:
    """The error for a zone that could be several or none."""
    return Invalid(
        "The time zone {name!r} is not known here, so the time could mean different moments.",
        name=name,
        remedy=(
            "Enter an offset (+08:00) or a zone name (Asia/Shanghai); abbreviations such as CST "
            "stand for several zones."
        ),
        code=ErrorCode.NOT_A_TIME,
    )


def _suggestion(text: str) -> Message:
    return message('Did you mean "{text}"?', text=text)


def _with_day(match: re.Match[str]) -> Message | None:
    """A time of day needs a day."""
    if match[2] and not match[3] and not match[4]:
        return None  # a bare number
    clock = _CLOCKS.get(match[1], match[1].replace(".", ":"))
    return message('Say a day and a time, such as "yesterday {clock}" or "2026-11-17 {clock}".', clock=clock)


def _nearly_a_day(text: str) -> Message | None:
    """A misspelt or abbreviated day, or one with a word before it: `teusday 08:00`, `tue`, `last tuesday`."""
    words = text.removeprefix("last ").removeprefix("on ").removeprefix("this ").split()
    if not words:
        return None
    first = words[0].rstrip(",")
    short = next((day for day in _DAYS if len(first) > 2 and day.startswith(first.rstrip("."))), None)
    day = short or nearest(first, _DAYS, 0.75)
    if day is None:
        return None
    return _suggestion(" ".join([day, *(_CLOCKS.get(each, each) for each in words[1:])]))
