"""Times as logs write them: each form is the moment it means, and what is not certain is said or refused."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as some

from core.errors import Invalid
from dashboard.formatting import time_input, units
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
    found = time_input.read(text, "Asia/Shanghai")
    assert found is not None
    assert (found.ms, found.form) == (ms, form)


@pytest.mark.parametrize("text", ["12", "latest~3", "nonsense", "tag:2026-01-01", "2026-1", "2026-11-01x", "20261101"])
def test_what_is_no_time(text: str) -> None:
    assert time_input.read(text, "UTC") is None


@pytest.mark.parametrize(
    "text", ["2026-11-01 08:00:00 CST", "2026-13-01", "2026-02-30 10:00", "2026-11-01 25:00", "2026-11-01 08:00 Mars/X"]
)
def test_what_could_be_hours_off_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        time_input.read(text, "Europe/Berlin")


def test_an_hour_that_came_twice_and_one_that_never_came() -> None:
    twice = time_input.read("2026-10-25 02:30", "Europe/Berlin")
    assert twice is not None
    assert (twice.ms, twice.second_ms) == (1792888200000, 1792891800000)
    for name, ms in (("CEST", twice.ms), ("CET", twice.second_ms)):
        told = time_input.read(f"2026-10-25 02:30 {name}", "Europe/Berlin")
        assert told is not None
        assert (told.ms, told.second_ms) == (ms, None)
    never = time_input.read("2026-03-29 02:30", "Europe/Berlin")
    assert never is not None
    assert never.is_skipped
    assert units.moment(never.ms, "Europe/Berlin") == "2026-03-29 03:30:00 CEST"
    plain = time_input.read("2026-10-25 02:30", "UTC")
    assert plain is not None
    assert (plain.is_skipped, plain.second_ms) == (False, None)


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
    assert version_picker.read("1793520000123456789") == "1793520000123456789"  # as Iceberg's ids look
    assert version_picker.read("time:1793520000") == "time:1970-01-21T18:12:00Z"  # as the core reads it
    assert version_picker.read("12") == "12"
    assert dt.datetime.fromtimestamp(WHOLE / 1000, dt.UTC).isoformat() == "2026-11-01T08:00:00+00:00"
