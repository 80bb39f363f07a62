"""Times as logs and people write them, parsed to one moment; how each was understood is shown with it.

Law: nothing is guessed silently. A time without a zone is the reader's own; one that a clock showed twice, or never,
says so; an ambiguous zone abbreviation is refused, because it could be hours off.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from core.errors import Invalid
from dashboard import words
from dashboard.formatting import units

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MILLISECOND = dt.timedelta(milliseconds=1)
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_EPOCHS = {10: ("epoch_s", 1, 1000), 13: ("epoch_ms", 1, 1), 16: ("epoch_us", 1000, 1), 19: ("epoch_ns", 10**6, 1)}
_LEVELS = {"INFO", "WARN", "ERROR", "DEBUG", "TRACE", "FATAL"}  # what follows the time on a line of a log

_CLOCK = r"(?P<hour>\d{1,2})(?:[:时](?P<minute>\d{2})(?:[:分](?P<second>\d{2})(?:[.,](?P<part>\d{1,9}))?)?)?[分秒]?"
_ZONE = r"\s*(?P<zone>Z\b|[+-]\d{2}(?::?\d{2})?(?!\d)|[A-Z]{2,5}\b(?!/))?(?:\s*\[?(?P<place>[A-Z]\w+(?:/[\w+-]+)+)\]?)?"
_END = r"(?=$|[\s\])\"',;>])"
FORMS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (form, re.compile(pattern + _END))
    for form, pattern in (
        ("iso", rf"(?P<year>\d{{4}})[-/年](?P<month>\d{{1,2}})[-/月](?P<day>\d{{1,2}})日?(?:[T ]\s*{_CLOCK}{_ZONE})?"),
        (
            "iso",
            r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)[T_ ](?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)"
            rf"(?:[.,](?P<part>\d{{1,9}}))?{_ZONE}",
        ),
        ("spark", rf"(?P<year>\d\d)/(?P<month>\d\d)/(?P<day>\d\d) {_CLOCK}{_ZONE}"),
        (
            "rfc2822",
            rf"(?:[A-Z][a-z]{{2}},? )?(?P<day>\d{{1,2}}) (?P<month>[A-Z][a-z]{{2}}) (?P<year>\d{{4}}) {_CLOCK}{_ZONE}",
        ),
        ("web", rf"(?P<day>\d\d)/(?P<month>[A-Z][a-z]{{2}})/(?P<year>\d{{4}}):{_CLOCK}{_ZONE}"),
        (
            "java",
            rf"[A-Z][a-z]{{2}} (?P<month>[A-Z][a-z]{{2}}) +(?P<day>\d{{1,2}}) {_CLOCK}"
            rf"(?: (?P<zone>[A-Z]{{2,5}}))? (?P<year>\d{{4}})",
        ),
    )
)


@dataclass(frozen=True, slots=True)
class ParsedTime:
    """A moment and how it was read. `named`: the zone stood in the text; `second_ms`: a clock showed it a second time;
    `is_skipped`: no clock there ever did."""

    ms: int
    form: str
    zone: str
    named: bool
    second_ms: int | None = None
    is_skipped: bool = False


def read(text: str, zone: str) -> ParsedTime | None:
    """The moment at the start of a text, None where none is there. `Invalid` for a zone or a day that is none."""
    text = text.strip().lstrip("[(\"'<").strip()
    if found := _epoch(text):
        return found
    for form, pattern in FORMS:
        if match := pattern.match(text):
            return _dated(form, match, zone, text)
    return None


def _epoch(text: str) -> ParsedTime | None:
    match = re.fullmatch(r"(?P<whole>1\d{9}|1\d{12}|1\d{15}|1\d{18})(?:\.(?P<part>\d{1,9}))?", text)
    if match is None or (match["part"] and len(match["whole"]) != 10):
        return None
    form, less, more = _EPOCHS[len(match["whole"])]
    part = int(((match["part"] or "") + "000")[:3])
    return ParsedTime(int(match["whole"]) // less * more + part, form, units.UTC, named=True)


def _dated(form: str, match: re.Match[str], zone: str, text: str) -> ParsedTime:
    told = {"hour": "0", "minute": "0", "second": "0"} | {
        name: value for name, value in match.groupdict().items() if value is not None
    }
    month = told["month"]
    number = int(month) if month.isdigit() else MONTHS.index(month.lower()) + 1 if month.lower() in MONTHS else 0
    year = int(told["year"]) + (2000 if form == "spark" else 0)
    micros = int((told.get("part", "") + "000000")[:6])
    hour, minute, second = (int(told[name]) for name in ("hour", "minute", "second"))
    try:
        naive = dt.datetime(year, number, int(told["day"]), hour, minute, second, micros)  # noqa: DTZ001  # see below
    except ValueError as error:
        raise Invalid(words.no_such_time(text), remedy=words.NO_SUCH_TIME_NEXT) from error
    name, place = told.get("zone", ""), told.get("place")
    if name in ("Z", units.UTC, "GMT"):
        return ParsedTime(_ms(naive, dt.UTC), form, units.UTC, named=True)
    if name[:1] in ("+", "-"):
        offset = dt.datetime.strptime(name if len(name) > 3 else f"{name}00", "%z").tzinfo
        assert offset is not None
        return ParsedTime(_ms(naive, offset), form, name, named=True)
    if place is not None:
        if not units.knows_zone(place):
            raise Invalid(words.no_such_zone(place), remedy=words.NO_SUCH_ZONE_NEXT)
        return _local(naive, form, place, named=True)
    if name and name not in _LEVELS:
        return _abbreviated(naive, form, name, zone)
    return _local(naive, form, zone, named=False)


def _abbreviated(naive: dt.datetime, form: str, name: str, zone: str) -> ParsedTime:
    """`CST` is Chinese, American or Cuban: it is taken where the reader's own zone is called so at that time."""
    for fold in (0, 1):
        at = naive.replace(tzinfo=units.zone_of(zone), fold=fold)
        if at.tzname() == name:
            return ParsedTime(_ms(at, None), form, f"{name} ({zone})", named=True)
    raise Invalid(words.no_such_zone(name), remedy=words.NO_SUCH_ZONE_NEXT)


def _local(naive: dt.datetime, form: str, zone: str, *, named: bool) -> ParsedTime:
    own = units.zone_of(zone)
    first, second = (naive.replace(tzinfo=own, fold=fold) for fold in (0, 1))
    is_skipped = first.astimezone(dt.UTC).astimezone(own).replace(tzinfo=None) != naive
    first_ms, second_ms = _ms(first, None), _ms(second, None)
    twice = None if is_skipped or first_ms == second_ms else second_ms
    return ParsedTime(first_ms, form, zone, named, twice, is_skipped)


def _ms(at: dt.datetime, zone: dt.tzinfo | None) -> int:
    return ((at if zone is None else at.replace(tzinfo=zone)) - _EPOCH) // _MILLISECOND
