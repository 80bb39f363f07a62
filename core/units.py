"""Bytes, durations and counts in words, and bytes and durations out of words. Pure."""

from __future__ import annotations

import datetime as dt
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TypeVar

from core.errors import Invalid
from core.messages import told

N = TypeVar("N", int, float)

_DURATION = re.compile(r"\s*(\d{1,15})\s*([a-zA-Zµ\u03bc]*)\s*")
_DURATIONS = told("Write a whole number and a unit: 7 d, 36 h, 90 min, 30 s, 500 ms.")
_LONGEST_MS = 100_000 * 86_400_000  # nobody can wait longer than 292 years, nor is there a calendar for it
_SIZE = re.compile(r"\s*(\d{1,18})\s*([a-zA-Z]*)\s*")
_UNITS_BYTES: dict[str, int] = {
    **dict.fromkeys(("", "b", "bytes"), 1),
    **dict.fromkeys(("k", "kb", "kibibytes"), 1 << 10),
    **dict.fromkeys(("m", "mb", "mebibytes"), 1 << 20),
    **dict.fromkeys(("g", "gb", "gibibytes"), 1 << 30),
    **dict.fromkeys(("t", "tb", "tebibytes"), 1 << 40),
}
_UNITS_MS: dict[str, float] = {
    **dict.fromkeys(("d", "day", "days"), 86_400_000),
    **dict.fromkeys(("h", "hour", "hours"), 3_600_000),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60_000),
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1_000),
    **dict.fromkeys(("", "ms", "milli", "millis", "millisecond", "milliseconds"), 1),
    **dict.fromkeys(("µs", "\u03bcs", "us", "micro", "micros", "microsecond", "microseconds"), 1e-3),
    **dict.fromkeys(("ns", "nano", "nanos", "nanosecond", "nanoseconds"), 1e-6),
}


def is_true(text: str | None) -> bool:
    """A boolean option as Paimon reads it: whatever its case."""
    return text is not None and text.lower() == "true"


def parse_duration_ms(text: str) -> int:
    """Milliseconds of a duration as the engine writes it: `7 d`, `36h`, `90 min`; a bare number is milliseconds."""
    match = _DURATION.fullmatch(text)
    factor = _UNITS_MS.get(match[2].lower()) if match else None
    if match is None or factor is None:
        raise Invalid(
            "{text!r} is no duration.",
            text=text,
            remedy=_DURATIONS,
        )
    return int(int(match[1]) * factor)


def asked_duration_ms(text: str) -> int:
    """The same as a person asks for it: no bare number but 0, which `--timeout 200` shows may mean two things."""
    if text.strip().isdecimal() and int(text) != 0:
        raise Invalid(
            "{text!r} has no unit, so it could be seconds or milliseconds.",
            text=text,
            remedy=told("Write {number} s or {number} ms.", number=text.strip()),
        )
    ms = parse_duration_ms(text)
    if ms > _LONGEST_MS or (ms == 0 and any(map(int, re.findall(r"\d", text)))):
        raise Invalid(
            "{text!r} is shorter than a millisecond or longer than 100,000 days.", text=text, remedy=_DURATIONS
        )
    return ms


def parse_size_bytes(text: str) -> int:
    """Bytes of a size as the engine writes it: `8 mb`, `128MB`; units are powers of 1024, a bare number is bytes."""
    match = _SIZE.fullmatch(text)
    factor = _UNITS_BYTES.get(match[2].lower()) if match else None
    if match is None or factor is None:
        raise Invalid("{text!r} is no size.", text=text, remedy="Write a whole number and a unit: 8 mb, 128 kb, 1 gb.")
    return int(match[1]) * factor


def number(options: Mapping[str, str], key: str, usual: N) -> N:
    """An option that is a number of the kind of `usual`, which it is where nobody set it. `Invalid` for any other."""
    text = options.get(key, str(usual))
    try:
        found = type(usual)(text)
        if math.isfinite(found):
            return found
    except (ValueError, OverflowError):  # said below
        pass
    raise Invalid(f"The option {key} is {text!r}, which is no number.", remedy="Set the option right.")


def wall_clock(time_ms: int) -> dt.datetime:
    """A moment on this machine's wall clock, without its zone: what tags are stamped and judged by.

    `Invalid` for a number beyond the calendar.
    """
    try:
        return dt.datetime.fromtimestamp(time_ms / 1000, dt.UTC).astimezone().replace(tzinfo=None)
    except (ValueError, OverflowError, OSError) as error:
        raise Invalid(
            "{time_ms} ms since 1970 is no calendar time.", time_ms=time_ms, remedy="Name a time of this age."
        ) from error


def epoch_ms(clock: dt.datetime) -> int:
    """Whole milliseconds since 1970 of a wall clock without a zone, read as if it were UTC; downwards, in 1969 too."""
    return (clock - dt.datetime.combine(dt.date(1970, 1, 1), dt.time())) // dt.timedelta(milliseconds=1)


def duration(ms: int) -> str:
    """A duration in its largest whole units, two at the most: `7 d`, `1 h 30 min`, `250 ms`."""
    if ms < 0:
        return "-" + duration(-ms)
    parts = []
    rest = ms
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1)):
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 ms"


def whole(ms: int) -> str:
    """A length of time that `parse_duration_ms` reads back to the very millisecond: `7 d`, `90 min`."""
    lengths = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1))
    unit, size = next((unit, size) for unit, size in lengths if ms % size == 0)
    return f"{ms // size} {unit}"


def size(count: int) -> str:
    """Bytes with a decimal unit: `71.3 GB`, `482 B`."""
    if abs(count) < 1000:
        return f"{count} B"
    value = float(count)
    for unit in ("kB", "MB", "GB", "TB"):
        value /= 1000
        if abs(value) < 999.95:
            return f"{value:.1f} {unit}"
    return f"{value / 1000:,.1f} PB"


def several(count: int, noun: str, plural: str | None = None) -> str:
    """`1 file`, `1,204 files`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def iso(ms: int) -> str:
    """`2026-01-03T00:00:00Z`, with milliseconds where there are any: how a POINT or a TIME is written. A number that no
    calendar holds stays one."""
    try:
        at = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(milliseconds=ms)
    except OverflowError:
        return str(ms)
    return at.replace(tzinfo=None).isoformat("T", "milliseconds" if ms % 1_000 else "seconds") + "Z"


def nearest(name: str, names: Sequence[str]) -> str | None:
    """The name that was probably meant, if one is close."""
    import difflib

    return next(iter(difflib.get_close_matches(name, names, n=1)), None)


def printable(text: str) -> str:
    """The text with everything that is neither printed nor a line's end written as an escape."""
    if text.isprintable():
        return text
    return "".join(
        char
        if char.isprintable() or char == "\n" or unicodedata.category(char) == "Zs"
        else char.encode("unicode_escape").decode()
        for char in text
    )
