"""Format bytes, durations and counts as text, and parse bytes and durations. Pure."""

from __future__ import annotations

import datetime as dt
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TypeVar

from core.errors import Invalid
from core.messages import message

N = TypeVar("N", int, float)

_DURATION = re.compile(r"\s*(\d{1,15})\s*([a-zA-Zµ\u03bc]*)\s*")
_DURATIONS = message("Write a whole number and a unit: 7 d, 36 h, 90 min, 30 s, 500 ms.")
_LONGEST_MS = 100_000 * 86_400_000  # 274 years: longer waits make no sense and run past the calendar
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
    """Parse a boolean option as Paimon does, ignoring case."""
    return text is not None and text.lower() == "true"


def parse_duration_ms(text: str) -> int:
    """Milliseconds of a duration in the engines' notation: `7 d`, `36h`, `90 min`; a bare number is milliseconds."""
    match = _DURATION.fullmatch(text)
    factor = _UNITS_MS.get(match[2].lower()) if match else None
    if match is None or factor is None:
        raise Invalid(
            "not a valid duration: {text!r}.",
            text=text,
            remedy=_DURATIONS,
        )
    return int(int(match[1]) * factor)


def parse_user_duration_ms(text: str) -> int:
    """Parse a duration that a person typed: the unit is required except for 0, because `--timeout 200` is ambiguous."""
    if text.strip().isdecimal() and int(text) != 0:
        raise Invalid(
            "{text!r} has no unit.",
            text=text,
            remedy=message("Write {number} d, {number} h, {number} s or {number} ms.", number=text.strip()),
        )
    ms = parse_duration_ms(text)
    if ms > _LONGEST_MS or (ms == 0 and any(map(int, re.findall(r"\d", text)))):
        raise Invalid(
            "{text!r} is shorter than a millisecond or longer than 100,000 days.", text=text, remedy=_DURATIONS
        )
    return ms


def parse_size_bytes(text: str) -> int:
    """Bytes of a size in the engines' notation: `8 mb`, `128MB`; units are powers of 1024, a bare number is bytes."""
    match = _SIZE.fullmatch(text)
    factor = _UNITS_BYTES.get(match[2].lower()) if match else None
    if match is None or factor is None:
        raise Invalid(
            "not a valid size: {text!r}.", text=text, remedy="Write a whole number and a unit: 8 mb, 128 kb, 1 gb."
        )
    return int(match[1]) * factor


def number(options: Mapping[str, str], key: str, usual: N) -> N:
    """A numeric option of the type of `usual`, which is the default. Raises `Invalid` if it is not a finite number."""
    text = options.get(key, str(usual))
    try:
        found = type(usual)(text)
        if math.isfinite(found):
            return found
    except (ValueError, OverflowError):  # reported below
        pass
    raise Invalid(
        "The option {key} is {text!r}, which is not a number.", key=key, text=text, remedy="Correct the option."
    )


def wall_clock(time_ms: int) -> dt.datetime:
    """A moment on this machine's wall clock, without its zone, as tags are stamped and compared.

    Raises `Invalid` for a number outside the calendar.
    """
    try:
        return dt.datetime.fromtimestamp(time_ms / 1000, dt.UTC).astimezone().replace(tzinfo=None)
    except (ValueError, OverflowError, OSError) as error:
        raise Invalid(
            "{time_ms} ms since 1970 is not a valid calendar time.",
            time_ms=time_ms,
            remedy="Give a time that far back.",
        ) from error


def epoch_ms(clock: dt.datetime) -> int:
    """Whole milliseconds since 1970 of a wall-clock time without a zone, read as UTC; rounds down, also before 1970."""
    return (clock - dt.datetime.combine(dt.date(1970, 1, 1), dt.time())) // dt.timedelta(milliseconds=1)


def duration(ms: int) -> str:
    """A duration in its two largest units at most: `7 d`, `1 h 30 min`, `250 ms`."""
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
    """A duration in one unit that `parse_duration_ms` reads back exactly: `7 d`, `90 min`."""
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
    """The notation of a POINT or a TIME: `2026-01-03T00:00:00Z`, with milliseconds if there are any.

    A number outside the calendar stays a number.
    """
    try:
        at = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(milliseconds=ms)
    except OverflowError:
        return str(ms)
    return at.replace(tzinfo=None).isoformat("T", "milliseconds" if ms % 1_000 else "seconds") + "Z"


def nearest(name: str, names: Sequence[str], likeness: float = 0.6) -> str | None:
    """The name that was probably meant, if one is similar: a `likeness` of 1 is equal, 0 has nothing in common."""
    import difflib

    return next(iter(difflib.get_close_matches(name, names, n=1, cutoff=likeness)), None)


def printable(text: str) -> str:
    """Escape every character that is neither printable nor a line break."""
    if text.isprintable():
        return text
    return "".join(
        char
        if char.isprintable() or char == "\n" or unicodedata.category(char) == "Zs"
        else char.encode("unicode_escape").decode()
        for char in text
    )
