"""Parse times as people and logs write them, and report how each was read. Pure.

Invariant: nothing is guessed. A time without a zone is in the reader's own zone. A text with two possible meanings
raises `AmbiguousTime`, which names both. A text that starts like a time but is not a valid one is refused.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from core.errors import ErrorCode, Invalid
from core.messages import Message, both, message
from core.model.references import Heads
from core.model.time_hints import WEEKDAYS, hint, no_such_time, no_such_zone
from core.units import iso

UTC = "UTC"
EXAMPLES = '2026-11-17, "2026-11-17 08:00", "yesterday 08:00", tuesday, "3 days ago", 2026-11-17T08:00:00Z'
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MILLISECOND = dt.timedelta(milliseconds=1)
_DAY = dt.timedelta(days=1)
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_EPOCHS = {10: ("epoch_s", 1, 1000), 13: ("epoch_ms", 1, 1), 16: ("epoch_us", 1000, 1), 19: ("epoch_ns", 10**6, 1)}
_LEVELS = {"INFO", "WARN", "ERROR", "DEBUG", "TRACE", "FATAL"}  # the word after the time in a log line

# Patterns stay strings: compiling all of them costs more than most commands, and `re` caches those that were used.
_CLOCK = (
    r"(?P<hour>\d{1,2})(?:[:时](?P<minute>\d{2})(?:[:分](?P<second>\d{2})(?:[.,](?P<part>\d{1,9}))?)?)?[时分秒]?"
    r"(?:\s*(?P<half>[AaPp][Mm])\b)?"
)
_ZONE = (
    r"\s*(?P<zone>[Zz]\b|[+-]\d{2}(?::?\d{2})?(?!\d)|(?i:utc|gmt)\b|[A-Z]{2,5}\b(?!/))?"
    r"(?:\s*\[?(?P<place>[A-Z]\w+(?:/[\w+-]+)+)\]?)?"
)
_END = r"(?=$|[\s\])\"',;>])"
_NUMBERS = r"(?P<whole>1\d{9}|1\d{12}|1\d{15}|1\d{18})(?:\.(?P<part>\d{1,9}))?"
_MILLISECONDS = r"-?\d{1,18}"
_ID_LIKE = r"1\d{9}(\.\d+)?|1\d{12}|1\d{15}"  # from 2001 to 2033; Iceberg's snapshot ids have 19 digits
_COMPACT_DAY = r"(?P<year>(?:19|20)\d\d)(?P<month>\d\d)(?P<day>\d\d)"
_NAMED_DAY = rf"(?P<name>today|yesterday|{'|'.join(WEEKDAYS)})(?:,?\s+(?:at\s+)?{_CLOCK}{_ZONE})?"
_AGO = r"(?P<count>\d{1,6})\s*(?P<unit>[a-z]+)\s+ago"
_SLASHED = (
    rf"(?P<first>\d{{1,2}})(?P<sign>[/.])(?P<second_>\d{{1,2}})(?P=sign)(?P<year>\d{{4}})(?:[T ]\s*{_CLOCK}{_ZONE})?"
)
_UNITS = {
    **dict.fromkeys(("w", "week", "weeks"), ("days", 7)),
    **dict.fromkeys(("d", "day", "days"), ("days", 1)),
    **dict.fromkeys(("h", "hour", "hours"), ("seconds", 3600)),
    **dict.fromkeys(("min", "minute", "minutes"), ("seconds", 60)),
    **dict.fromkeys(("s", "sec", "second", "seconds"), ("seconds", 1)),
}
FORMS: tuple[tuple[str, str], ...] = tuple(
    (form, pattern + _END)
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
    """A moment and how it was read. `zone`: the zone that applied; `named`: whether the text itself named it."""

    ms: int
    form: str
    zone: str
    named: bool

    @property
    def is_plain(self) -> bool:
        """Whether the text alone determines the moment, independent of the reader's zone and the current time."""
        return self.form == "number" or (self.named and self.form in ("iso", "epoch_ms") and "(" not in self.zone)


class AmbiguousTime(Invalid):
    """A text that can mean several moments. `choices`: each as (unambiguous text, description)."""

    usual = ErrorCode.AMBIGUOUS_TIME

    def __init__(self, text: Message, found: Sequence[ParsedTime]) -> None:
        self.choices = tuple((iso(each.ms), in_zone(each.ms, each.zone)) for each in found)
        first, *rest = (message("{text} ({words})", text=text, words=words) for text, words in self.choices)
        listed = message("{first} or {second}", first=first, second=rest[0])
        super().__init__(text, remedy=message("Write which one: {choices}.", choices=listed))

    @property
    def kind(self) -> str:
        return Invalid.__name__


def moment(text: str, zone: str, now_ms: int | None = None) -> ParsedTime:
    """Parse a whole text as one moment. `now_ms`: the reference for `yesterday` and `3 days ago`.

    Raises `Invalid` if it is not a time, `AmbiguousTime` if it can mean several.
    """
    stripped = text.strip()
    if re.fullmatch(_COMPACT_DAY, stripped):
        _refuse_compact(stripped, zone)
    found = read(stripped, zone, now_ms)
    if found is None and re.fullmatch(_MILLISECONDS, stripped):
        found = ParsedTime(int(stripped), "number", UTC, named=True)
    if found is None:
        raise Invalid(
            'not a valid time: "{text}".',
            text=text,
            remedy=hint(text) or message("Try {examples}.", examples=EXAMPLES),
            code=ErrorCode.NOT_A_TIME,
        )
    return found


def read(text: str, zone: str, now_ms: int | None = None, *, is_line: bool = False) -> ParsedTime | None:
    """The moment that a text states, or that a log line begins with (`is_line`); None if it states none.

    Raises `Invalid` for a zone or a day that does not exist, `AmbiguousTime` if it can mean several moments.
    """
    text = text.strip()
    if is_line:
        text = text.lstrip("[(\"'<").strip()
    if found := _epoch(text):
        return found
    if now_ms is not None and (found := _relative(text, zone, now_ms)):
        return found
    if match := re.fullmatch(_SLASHED, text):
        return _slashed(match, zone, text)
    for form, pattern in FORMS:
        match = re.match(pattern, text) if is_line else re.fullmatch(pattern, text)
        if match is not None and _is_whole(match, text):
            return _dated(form, match, zone, text)
    return None


def point(text: str, heads: Heads | None, zone: str, now_ms: int | None) -> tuple[str, ParsedTime | None]:
    """Turn a POINT into the core's grammar; return the parsed time with it if it was one.

    A text that is a time, or starts with `time:`, becomes `time:` and the moment in UTC; any other text is unchanged.
    Digits name a snapshot if one has that id; otherwise 10, 13 or 16 of them are a time since 1970.
    """
    text = text.strip()
    if text.startswith("time:"):
        found = moment(text.removeprefix("time:"), zone, now_ms)
        return f"time:{iso(found.ms)}", found
    is_number = re.fullmatch(_ID_LIKE, text) is not None and not _is_id(text, heads)
    if text.isdecimal() and not is_number:
        return text, None
    found_or_none = read(text, zone, now_ms, is_line=True)
    if found_or_none is None:
        return text, None
    return f"time:{text if found_or_none.form == 'epoch_ms' else iso(found_or_none.ms)}", found_or_none


def _is_id(text: str, heads: Heads | None) -> bool:
    return heads is not None and any(str(each.id) == text for line in heads.lines for each in line.snapshots)


def in_zone(ms: int, zone: str) -> str:
    """Format as `2026-11-01 08:00:00 CST`; a number outside the calendar stays a number."""
    try:
        at = (_EPOCH + ms * _MILLISECOND).astimezone(zone_of(zone))
    except (OverflowError, ValueError):
        return f"{ms} ms since 1970 UTC"
    text = at.replace(tzinfo=None).isoformat(" ", "milliseconds" if ms % 1000 else "seconds")
    return f"{text} {at.tzname() or zone}"


def sentence(text: str, found: ParsedTime, *, is_point: bool = False) -> str:
    """Say how a text was read, with the zone."""
    zone = found.zone if found.form not in _NUMBER_UNITS and not found.named else UTC
    at = in_zone(found.ms, zone)
    if at != (utc := in_zone(found.ms, UTC)):
        at = message("{at} ({zone}), {utc}", at=at, zone=zone, utc=utc)
    if found.form not in _NUMBER_UNITS:
        return message('Read "{text}" as {at}.', text=text, at=at)
    unit = _NUMBER_UNITS[found.form]
    read_as = message("Read {text} as {unit} since 1970: {at}.", text=text, unit=unit, at=at)
    return both(message("No snapshot has the id {text}.", text=text), read_as) if is_point else read_as


_NUMBER_UNITS: Mapping[str, str] = {
    "epoch_s": message("seconds"),
    "epoch_ms": message("milliseconds"),
    "epoch_us": message("microseconds"),
    "epoch_ns": message("nanoseconds"),
    "number": message("milliseconds"),
}


def zone_of(name: str) -> dt.tzinfo:
    """The zone of that name. Raises `Invalid` if this machine does not know it."""
    if name == UTC:
        return dt.UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Invalid(
            "not a valid time zone: {name!r}.",
            name=name,
            remedy="Use a name such as Asia/Shanghai.",
            code=ErrorCode.NOT_A_TIME,
        ) from None


def _is_whole(match: re.Match[str], text: str) -> bool:
    """Whether nothing but the rest of a log line follows the time.

    A single word after it could be a zone: `Invalid`.
    """
    rest = text[match.end() :].strip(" ])\"',;>")
    if not rest:
        return True
    if match["second"] is None or match.groupdict().get("half"):
        return False
    if re.fullmatch(r"[A-Za-z]+", rest):
        raise no_such_zone(rest)
    return True


def _epoch(text: str) -> ParsedTime | None:
    match = re.fullmatch(_NUMBERS, text)
    if match is None or (match["part"] and len(match["whole"]) != 10):
        return None
    form, less, more = _EPOCHS[len(match["whole"])]
    part = int(((match["part"] or "") + "000")[:3])
    return ParsedTime(int(match["whole"]) // less * more + part, form, UTC, named=True)


def _relative(text: str, zone: str, now_ms: int) -> ParsedTime | None:
    """Parse `now`, `3 days ago`, `yesterday 08:00`, `tuesday`. Days and weeks follow the calendar; hours are exact."""
    if text.lower() == "now":
        return ParsedTime(now_ms, "relative", zone, named=False)
    try:
        if match := re.fullmatch(_AGO, text, re.IGNORECASE):
            return _ago(match, zone, now_ms)
        if match := re.fullmatch(_NAMED_DAY, text, re.IGNORECASE):
            return _named_day(match, zone, now_ms, text)
    except (OverflowError, ValueError):
        raise no_such_time(text) from None
    return None


def _ago(match: re.Match[str], zone: str, now_ms: int) -> ParsedTime | None:
    unit = _UNITS.get(match["unit"].lower())
    if unit is None:
        return None
    kind, each = unit
    count = int(match["count"]) * each
    if kind == "seconds":
        return ParsedTime(now_ms - count * 1000, "relative", zone, named=False)
    now = (_EPOCH + now_ms * _MILLISECOND).astimezone(zone_of(zone)).replace(tzinfo=None)
    return _local(now - count * _DAY, "relative", zone, match[0], named=False)


def _named_day(match: re.Match[str], zone: str, now_ms: int, text: str) -> ParsedTime:
    """Parse a named day. On a Tuesday, `tuesday` can be today or a week ago, which raises `AmbiguousTime`."""
    place = match["place"] or (UTC if (match["zone"] or "").upper() in ("Z", "UTC", "GMT") else zone)
    now = (_EPOCH + now_ms * _MILLISECOND).astimezone(zone_of(place))
    name = match["name"].lower()
    if name in WEEKDAYS:
        back = (now.weekday() - WEEKDAYS.index(name)) % 7
        days = [back] if back else [0, 7]
    else:
        days = [("today", "yesterday").index(name)]
    given = {name: value for name, value in match.groupdict().items() if value is not None}
    found = [
        _dated(
            "relative", {**given, "year": f"{day.year:04}", "month": str(day.month), "day": str(day.day)}, zone, text
        )
        for day in (now.date() - each * _DAY for each in days)
    ]
    found = [each for each in found if len(found) == 1 or each.ms <= now_ms]
    if len(found) > 1:
        raise AmbiguousTime(message('"{text}" can be today or a week ago.', text=text), found)
    return found[0]


def _slashed(match: re.Match[str], zone: str, text: str) -> ParsedTime:
    """Parse a slashed date: 03/04/2026 is 3 April to some readers and 4 March to others."""
    given = {name: value for name, value in match.groupdict().items() if value is not None}
    first, second = int(match["first"]), int(match["second_"])
    days = dict.fromkeys((day, month) for day, month in ((first, second), (second, first)) if 1 <= month <= 12)
    found = [
        _dated("day", {**given, "day": str(day), "month": str(month)}, zone, text)
        for day, month in days
        if _is_day(int(match["year"]), month, day)
    ]
    if not found:
        raise no_such_time(text)
    if len(found) > 1:
        raise AmbiguousTime(message('"{text}" can be day/month or month/day.', text=text), found)
    return found[0]


def _is_day(year: int, month: int, day: int) -> bool:
    try:
        dt.date(year, month, day)
    except ValueError:
        return False
    return True


def _refuse_compact(text: str, zone: str) -> None:
    """Refuse eight digits that can be a date (as people read them) or milliseconds (as programs do)."""
    day = f"{text[:4]}-{text[4:6]}-{text[6:]}"
    if _is_day(int(text[:4]), int(text[4:6]), int(text[6:])):
        found = read(day, zone)
        assert found is not None
        number = ParsedTime(int(text), "number", UTC, named=True)
        raise AmbiguousTime(message('"{text}" can be a date or milliseconds since 1970.', text=text), [found, number])


def _dated(form: str, match: re.Match[str] | dict[str, str], zone: str, text: str) -> ParsedTime:
    groups = match if isinstance(match, dict) else match.groupdict()
    given = {"hour": "0", "minute": "0", "second": "0"} | {
        name: value for name, value in groups.items() if value is not None
    }
    month = given["month"]
    number = int(month) if month.isdigit() else MONTHS.index(month.lower()) + 1 if month.lower() in MONTHS else 0
    year = int(given["year"]) + (2000 if form == "spark" else 0)
    micros = int((given.get("part", "") + "000000")[:6])
    hour, minute, second = _hour(given, text), int(given["minute"]), int(given["second"])
    try:
        naive = dt.datetime(year, number, int(given["day"]), hour, minute, second, micros)  # noqa: DTZ001  # see below
    except ValueError:
        raise no_such_time(text) from None
    name, place = given.get("zone", ""), given.get("place")
    if name.upper() in ("Z", UTC, "GMT"):
        return ParsedTime(_ms(naive.replace(tzinfo=dt.UTC)), form, UTC, named=True)
    if name[:1] in ("+", "-"):
        try:
            offset = dt.datetime.strptime(name if len(name) > 3 else f"{name}00", "%z").tzinfo
            return ParsedTime(_ms(naive.replace(tzinfo=offset)), form, name, named=True)
        except ValueError:
            raise no_such_zone(name) from None
    if place is not None:
        return _local(naive, form, place, text, named=True)
    if name and name not in _LEVELS:
        return _abbreviated(naive, form, name, zone)
    return _local(naive, form, zone, text, named=False)


def _hour(given: dict[str, str], text: str) -> int:
    """The hour on a 24-hour clock; `12 am` is midnight."""
    hour, half = int(given["hour"]), given.get("half", "").lower()
    if not half:
        return hour
    if not 1 <= hour <= 12:
        raise no_such_time(text)
    return hour % 12 + (12 if half == "pm" else 0)


def _abbreviated(naive: dt.datetime, form: str, name: str, zone: str) -> ParsedTime:
    """Resolve an abbreviated zone. `CST` is ambiguous: it is accepted only if the reader's own zone uses it then."""
    own = zone_of(zone)
    for fold in (0, 1):
        at = naive.replace(tzinfo=own, fold=fold)
        if at.tzname() == name and at.astimezone(dt.UTC).astimezone(own).replace(tzinfo=None) == naive:
            return ParsedTime(_ms(at), form, f"{name} ({zone})", named=True)
    raise no_such_zone(name)


def _local(naive: dt.datetime, form: str, zone: str, text: str, *, named: bool) -> ParsedTime:
    """Interpret a clock time in a zone. Raises `AmbiguousTime` where clocks showed that time twice or skipped it."""
    own = zone_of(zone)
    first, second = (ParsedTime(_ms(naive.replace(tzinfo=own, fold=fold)), form, zone, named) for fold in (0, 1))
    if first.ms == second.ms:
        return first
    if first.ms < second.ms:
        why = message('Clocks in {zone} showed "{text}" twice, because they were set back.', zone=zone, text=text)
        raise AmbiguousTime(why, [first, second])
    why = message('Clocks in {zone} skipped "{text}", because they were set forward.', zone=zone, text=text)
    raise AmbiguousTime(why, [second, first])


def _ms(at: dt.datetime) -> int:
    return (at - _EPOCH) // _MILLISECOND
