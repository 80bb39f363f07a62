"""Formats numbers, sizes and times as text.

Invariant: a number keeps its unit, a time keeps its zone, and every rounded value is also available exactly
(`exact_bytes`). Sizes are decimal: 1 kB is 1,000 bytes. Times are epoch milliseconds, in UTC unless a zone is given.
Nouns and durations are in the reader's language.
"""

from __future__ import annotations

import datetime as dt
import math
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from core import units as core_units
from dashboard.formatting import language
from dashboard.formatting.language import N_, _, ngettext, noun

UTC = "UTC"
MINUS = language.MINUS
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_SPANS = (
    (noun("year"), 365 * 86_400_000),
    (noun("month"), 30 * 86_400_000),
    (noun("day"), 86_400_000),
    (noun("hour"), 3_600_000),
    (noun("minute"), 60_000),
)
_WEEKDAYS = (N_("Mon"), N_("Tue"), N_("Wed"), N_("Thu"), N_("Fri"), N_("Sat"), N_("Sun"))
_UNITS = {"d": N_("d"), "h": N_("h"), "min": N_("min"), "s": N_("s"), "ms": N_("ms")}


def size(value: int | None) -> str:
    """Format a size: `71.3 GB`, or `—` if unknown."""
    if value is None:
        return "—"
    return (MINUS if value < 0 else "") + core_units.size(abs(value))


def exact_bytes(value: int | None) -> str:
    """Format a size exactly: `71,312,345,678 bytes`."""
    if value is None:
        return _("unknown size")
    return plural(value, "byte")


def count(value: int | None) -> str:
    """Format a count: `1,204`, or `—` if unknown."""
    return "—" if value is None else f"{value:,}".replace("-", MINUS)


def plural(value: int, noun: str, nouns: str | None = None) -> str:
    """Format a count with its noun: `1 file`, `1,204 files`. The nouns are literals at the call or marked with `noun`,
    for the catalogues."""
    return ngettext(f"{{count}} {noun}", f"{{count}} {nouns or noun + 's'}", value)


def signed(value: int | None) -> str:
    """Format a difference: `+12`, `−3`, `0`."""
    return "—" if value is None else ("+" if value > 0 else "") + count(value)


def signed_plural(value: int, noun: str) -> str:
    """Format a difference with its noun: `+1 row`, `−3 files`, `0 rows`."""
    return ("+" if value > 0 else "") + plural(value, noun)


def signed_size(value: int) -> str:
    return ("+" if value > 0 else "") + size(value)


def zone_of(name: str) -> dt.tzinfo:
    """Return the zone of a name; UTC if unknown on this machine."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return dt.UTC


def knows_zone(name: str) -> bool:
    return name == UTC or zone_of(name) is not dt.UTC


def find_zone(typed: str) -> str | None:
    """Find a zone by its full name, ignoring case, or by its city if that is unique."""
    typed_zone = typed.strip().replace(" ", "_").lower()
    names = {UTC, *available_timezones()}
    whole = [name for name in names if name.lower() == typed_zone]
    found = whole or [name for name in names if name.lower().endswith(f"/{typed_zone}")]
    return found[0] if len(found) == 1 else None


def when(ms: int, zone: str = UTC) -> dt.datetime | None:
    """Convert to a datetime in a zone; None outside the calendar's range (years 1 to 9999)."""
    try:
        return (_EPOCH + dt.timedelta(milliseconds=ms)).astimezone(zone_of(zone))
    except (OverflowError, ValueError):
        return None


def moment(ms: int | None, zone: str = UTC, *, exact: bool = False) -> str:
    """Format a time: `2026-01-03 00:00:00 UTC`, with milliseconds if `exact`; the plain number if out of range."""
    if ms is None:
        return "—"
    at = when(ms, zone)
    if at is None:
        return f"{ms} ms"
    text = at.replace(tzinfo=None).isoformat(" ", "milliseconds" if exact else "seconds")
    return f"{text} {at.tzname() or zone}"


def weekday_moment(ms: int, zone: str = UTC) -> str:
    """Format a time with its weekday: `Sat 2026-01-03 00:00:00 UTC`."""
    at = when(ms, zone)
    return moment(ms, zone) if at is None else f"{_(_WEEKDAYS[at.weekday()])} {moment(ms, zone)}"


def is_plotlys_weekday() -> bool:
    """Whether the reader's language has the names of days that plotly writes for `%a`."""
    return all(_(day) == day for day in _WEEKDAYS)


def wall_clock(at: dt.datetime | None) -> str:
    """Format a local time of unknown zone."""
    return "—" if at is None else at.strftime("%Y-%m-%d %H:%M:%S")


def ago(ms: int | None, now_ms: int) -> str:
    """Format an age: `20 days ago`, `in 3 hours`, `just now`."""
    if ms is None:
        return "—"
    distance = now_ms - ms
    if abs(distance) < 60_000:
        return _("just now")
    text = span(abs(distance))
    return _("{span} ago", span=text) if distance > 0 else _("in {span}", span=text)


def span(ms: int) -> str:
    """Format a duration in the largest unit that fits: `20 days`, `1 hour`, `45 s`, `120 ms`."""
    for name, length in _SPANS:
        if ms >= length:
            return plural(math.floor(ms / length), name)
    return _length(f"{ms // 1_000} s" if ms >= 1_000 else f"{ms} ms")


def duration(ms: int | None) -> str:
    """Format a duration in its two largest units: `1 d 12 h`."""
    if ms is None:
        return "—"
    return (MINUS if ms < 0 else "") + _length(core_units.duration(abs(ms)))


whole = core_units.whole


def iso(ms: int) -> str:
    """Format a time as in a POINT or TIME argument: `2026-01-03T00:00:00Z`, with milliseconds if there are any."""
    return core_units.iso(ms)


def _length(text: str) -> str:
    """Translate the units of a duration."""
    return " ".join(_(_UNITS[part]) if part in _UNITS else part for part in text.split())


def short_name(path: str, keep: int = 44) -> str:
    """Shorten a long path to its end, where names differ."""
    return path if len(path) <= keep else "…" + path[-(keep - 1) :]
