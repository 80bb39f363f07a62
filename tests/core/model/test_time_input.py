"""Times as logs write them: each form is parsed to the time it means; ambiguous ones are reported or rejected."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as some

from core.errors import Invalid
from core.model import time_input
from core.model.time_hints import WEEKDAYS
from core.model.time_input import AmbiguousTime
from core.units import iso
from dashboard.formatting import units
from dashboard.view_models import version_picker

AT = 1793520000123  # 2026-11-01 08:00:00.123 UTC
WHOLE = AT - 123


@pytest.mark.parametrize(
    ("text", "ms", "form"),
    [
        ("2026-11-01T08:00:00.123Z", AT, "iso"),
        ("2026-11-01T16:00:00.123+08:00", AT, "iso"),
        ("2026-11-01T16:00:00.123456789+0800", AT, "iso"),
        ("2026-11-01T16:00:00.123+08", AT, "iso"),
        ("2026-11-01T09:00:00.123+01:00[Europe/Berlin]", AT, "iso"),
        ("2026-11-01 09:00:00.123 Europe/Berlin", AT, "iso"),
        ("2026-11-01 08:00:00,123 GMT", AT, "iso"),
        ("2026-11-01 16:00:00,123", AT, "iso"),
        ("2026-11-01 16:00:00,123 INFO  org.apache.flink.runtime.taskmanager.Task [] - Source", AT, "iso"),
        ("[2026-11-01 16:00:00,123] ERROR it failed", AT, "iso"),
        ("2026-11-01 16:00:00.123 CST", AT, "iso"),  # as our own pages write it
        ("2026/11/01 16:00:00", WHOLE, "iso"),
        ("2026年11月1日 16时00分00秒", WHOLE, "iso"),
        ("20261101T080000Z", WHOLE, "iso"),
        ("2026-11-01 16", WHOLE, "iso"),
        ("2026-11-01", WHOLE - 16 * 3_600_000, "iso"),
        ("26/11/01 16:00:00 INFO SparkContext: Running Spark version 4.1.1", WHOLE, "spark"),
        ("Sun, 01 Nov 2026 08:00:00 +0000", WHOLE, "rfc2822"),
        ("1 Nov 2026 08:00:00 GMT", WHOLE, "rfc2822"),
        ("01/Nov/2026:08:00:00 +0000", WHOLE, "web"),
        ("Sun Nov 01 08:00:00 UTC 2026", WHOLE, "java"),
        ("1793520000", WHOLE, "epoch_s"),
        ("1793520000.123", AT, "epoch_s"),
        ("1793520000123", AT, "epoch_ms"),
        ("1793520000123456", AT, "epoch_us"),
        ("1793520000123456789", AT, "epoch_ns"),
    ],
)
def test_forms_of_logs(text: str, ms: int, form: str) -> None:
    found = time_input.read(text, "Asia/Shanghai", is_line=True)
    assert found is not None
    assert (found.ms, found.form) == (ms, form)


@pytest.mark.parametrize("text", ["12", "latest~3", "nonsense", "tag:2026-01-01", "2026-1", "2026-11-01x", "20261101"])
def test_what_is_no_time(text: str) -> None:
    assert time_input.read(text, "UTC", is_line=True) is None


@pytest.mark.parametrize(
    "text", ["2026-11-01 08:00:00 CST", "2026-13-01", "2026-02-30 10:00", "2026-11-01 25:00", "2026-11-01 08:00 Mars/X"]
)
def test_what_could_be_hours_off_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        time_input.read(text, "Europe/Berlin", is_line=True)


def test_an_hour_that_came_twice_and_one_that_never_came_are_asked_about() -> None:
    with pytest.raises(AmbiguousTime) as twice:
        time_input.read("2026-10-25 02:30", "Europe/Berlin")
    assert twice.value.choices == (
        ("2026-10-25T00:30:00Z", "2026-10-25 02:30:00 CEST"),
        ("2026-10-25T01:30:00Z", "2026-10-25 02:30:00 CET"),
    )
    assert "2026-10-25T00:30:00Z (2026-10-25 02:30:00 CEST) or" in str(twice.value)
    assert twice.value.kind == "Invalid"
    for name, ms in (("CEST", 1792888200000), ("CET", 1792891800000)):
        told = time_input.read(f"2026-10-25 02:30 {name}", "Europe/Berlin")
        assert told is not None
        assert told.ms == ms
    with pytest.raises(AmbiguousTime) as never:
        time_input.read("2026-03-29 02:30", "Europe/Berlin")
    assert [words for _, words in never.value.choices] == ["2026-03-29 01:30:00 CET", "2026-03-29 03:30:00 CEST"]
    assert "skipped" in never.value.message
    plain = time_input.read("2026-10-25 02:30", "UTC")
    assert plain is not None
    assert plain.ms == 1792895400000


NOW = dt.datetime(2026, 11, 23, 2, 30, tzinfo=dt.UTC)  # a Monday; 10:30 in Shanghai
NOW_MS = int(NOW.timestamp() * 1000)


@pytest.mark.parametrize(
    ("text", "local"),
    [
        ("now", "2026-11-23 10:30"),
        ("today", "2026-11-23 00:00"),
        ("Yesterday", "2026-11-22 00:00"),
        ("yesterday 08:00", "2026-11-22 08:00"),
        ("yesterday at 8:00:05", "2026-11-22 08:00:05"),
        ("yesterday 8 pm", "2026-11-22 20:00"),
        ("yesterday 12am", "2026-11-22 00:00"),
        ("yesterday 12:15 PM", "2026-11-22 12:15"),
        ("yesterday 08:00 UTC", "2026-11-22 16:00"),
        ("tuesday", "2026-11-17 00:00"),
        ("Sunday 23:59", "2026-11-22 23:59"),
        ("monday 11:00", "2026-11-16 11:00"),  # today's 11:00 is still to come
        ("3 days ago", "2026-11-20 10:30"),
        ("2 weeks ago", "2026-11-09 10:30"),
        ("36 h ago", "2026-11-21 22:30"),
        ("90 minutes ago", "2026-11-23 09:00"),
        ("2026-11-20", "2026-11-20 00:00"),
        ("2026-11-20 8 pm", "2026-11-20 20:00"),
        ("25/12/2026", "2026-12-25 00:00"),
        ("12/25/2026 08:00", "2026-12-25 08:00"),
        ("04.04.2026", "2026-04-04 00:00"),
    ],
)
def test_times_that_people_write(text: str, local: str) -> None:
    found = time_input.moment(text, "Asia/Shanghai", NOW_MS)
    assert time_input.in_zone(found.ms, "Asia/Shanghai") == f"{(local + ':00')[:19]} CST"
    assert not found.is_plain


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("monday", ["2026-11-22T16:00:00Z", "2026-11-15T16:00:00Z"]),
        ("03/04/2026", ["2026-04-02T16:00:00Z", "2026-03-03T16:00:00Z"]),
        ("3.4.2026 08:00", ["2026-04-03T00:00:00Z", "2026-03-04T00:00:00Z"]),
        ("20261101", ["2026-10-31T16:00:00Z", "1970-01-01T05:37:41.101Z"]),
    ],
)
def test_what_can_be_two_moments_is_asked_about(text: str, said: list[str]) -> None:
    with pytest.raises(AmbiguousTime) as asked:
        time_input.moment(text, "Asia/Shanghai", NOW_MS)
    assert [choice for choice, _ in asked.value.choices] == said
    assert all(choice in str(asked.value.remedy) for choice in said)
    for choice, _ in asked.value.choices:
        assert iso(time_input.moment(choice, "Asia/Shanghai").ms) == choice


@pytest.mark.parametrize(
    "text",
    [
        *("", "soon", "Tuesdy", "last tuesday", "3 months ago", "3 fortnights ago", "31/02/2026", "13/13/2026", "1.5"),
        *("2026-11-01 8 o'clock", "2026-11-01 08:00 and so on", "2026-11-01 13 pm", "yesterday 25:00", "1e9", "12:00Z"),
        *("2026-11-01 08:00:00 Berlin", "2026-11-01 08:00:00 cst", "999999 weeks ago", "2026-11-01 8:00 p", "noon"),
    ],
)
def test_what_is_no_time_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(Invalid) as refused:
        time_input.moment(text, "Asia/Shanghai", NOW_MS)
    assert refused.value.remedy
    assert not isinstance(refused.value, AmbiguousTime)


def test_relative_times_need_a_now() -> None:
    for text in ("now", "yesterday", "tuesday", "3 days ago"):
        with pytest.raises(Invalid):
            time_input.moment(text, "UTC")


def test_numbers() -> None:
    said = {"1793520000": "epoch_s", "1793520000123": "epoch_ms", "5": "number", "-5": "number", "9" * 18: "number"}
    for text, form in said.items():
        assert time_input.moment(text, "UTC").form == form
    assert time_input.moment("1793520000", "UTC").ms == WHOLE
    assert time_input.moment("-5", "UTC").ms == -5


def test_how_a_time_was_read_is_told_with_its_zone() -> None:
    def told(text: str, *, is_point: bool = False) -> str:
        return time_input.sentence(text, time_input.moment(text, "Asia/Shanghai", NOW_MS), is_point=is_point)

    at = "2026-11-17 00:00:00 CST (Asia/Shanghai), 2026-11-16 16:00:00 UTC"
    assert told("tuesday") == f'Read "tuesday" as {at}.'
    assert told("1793520000") == "Read 1793520000 as seconds since 1970: 2026-11-01 08:00:00 UTC."
    assert told("1793520000123", is_point=True) == (
        "No snapshot has the id 1793520000123. "
        "Read 1793520000123 as milliseconds since 1970: 2026-11-01 08:00:00.123 UTC."
    )


ZONES = some.sampled_from(
    [
        "UTC",
        "Asia/Shanghai",
        "Europe/Berlin",
        "America/New_York",
        "Australia/Lord_Howe",
        "Asia/Kathmandu",
        "Africa/Cairo",
    ]
)
CLOCKS = some.datetimes(dt.datetime(1971, 1, 1), dt.datetime(2036, 1, 1)).map(lambda at: at.replace(microsecond=0))


@given(CLOCKS, ZONES)
def test_a_clock_is_read_as_what_it_showed_or_asked_about(naive: dt.datetime, zone: str) -> None:
    """Resolved text shows exactly this time; text that is rejected as ambiguous occurred twice, or never."""

    def shown(ms: int) -> str:
        return time_input.in_zone(ms, zone)[:19]

    text = naive.isoformat(" ")
    try:
        found = time_input.moment(text, zone)
    except AmbiguousTime as asked:
        moments = [time_input.moment(choice, zone).ms for choice, _ in asked.choices]
        assert moments == sorted(set(moments))
        assert [shown(ms) == text for ms in moments] in ([True, True], [False, False])
        if "skipped" in asked.message:
            assert shown(moments[0]) < text < shown(moments[1])
        return
    assert shown(found.ms) == text
    near = (found.ms + minutes * 60_000 for minutes in range(-180, 181, 30) if minutes)
    assert text not in map(shown, near)


@given(some.integers(0, 2_000_000_000_000), ZONES, some.sampled_from(WEEKDAYS))
def test_a_weekday_is_the_most_recent_past_one(now_ms: int, zone: str, name: str) -> None:
    today = dt.datetime.fromtimestamp(now_ms / 1000, dt.UTC).astimezone(time_input.zone_of(zone)).date()
    try:
        found = time_input.moment(name, zone, now_ms)
    except AmbiguousTime:
        return  # today is that day, or midnight was skipped
    day = dt.datetime.fromtimestamp(found.ms / 1000, dt.UTC).astimezone(time_input.zone_of(zone)).date()
    assert day.weekday() == WEEKDAYS.index(name)
    assert 1 <= (today - day).days <= 6
    assert found.ms <= now_ms


@given(some.integers(0, 2_000_000_000_000), ZONES, some.integers(0, 400))
def test_days_ago_keep_the_clock_and_hours_the_distance(now_ms: int, zone: str, count: int) -> None:
    assert time_input.moment(f"{count} hours ago", zone, now_ms).ms == now_ms - count * 3_600_000
    try:
        found = time_input.moment(f"{count} days ago", zone, now_ms)
    except AmbiguousTime:
        return
    assert time_input.in_zone(found.ms, zone)[10:19] == time_input.in_zone(now_ms, zone)[10:19]
    assert abs(now_ms - found.ms - count * 86_400_000) <= 2 * 3_600_000


@given(some.text(max_size=30), ZONES)
def test_any_text_is_a_time_or_one_error(text: str, zone: str) -> None:
    try:
        found = time_input.moment(text, zone, NOW_MS)
    except Invalid:
        return
    assert iso(found.ms)


@given(some.integers(0, 4_000_000_000_000), some.sampled_from(["UTC", "Asia/Shanghai", "America/New_York"]))
def test_what_our_pages_write_can_be_pasted_back(ms: int, zone: str) -> None:
    for text in (units.moment(ms, zone, exact=True), units.iso(ms)):
        found = time_input.read(text, zone)
        assert found is not None
        assert found.ms == ms


def test_a_pasted_line_becomes_a_point() -> None:
    line = "26/11/01 16:00:00 INFO SparkContext: Running"
    assert version_picker.read(line, "Asia/Shanghai") == "time:2026-11-01T08:00:00Z"
    assert version_picker.read("1793520000") == "time:2026-11-01T08:00:00Z"
    assert version_picker.read("1793520000123456789") == "1793520000123456789"  # looks like an Iceberg id
    assert version_picker.read("time:1793520000") == "time:2026-11-01T08:00:00Z"  # the same with its kind
    assert version_picker.read("12") == "12"
    assert dt.datetime.fromtimestamp(WHOLE / 1000, dt.UTC).isoformat() == "2026-11-01T08:00:00+00:00"
