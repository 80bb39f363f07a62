"""What to write instead of a text that is almost a time."""

from __future__ import annotations

import re

import pytest

from core.errors import Invalid
from core.model import time_input
from core.model.time_hints import hint, of_digits

NOW_MS = 1_795_100_000_000  # a Thursday


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("teusday", 'Did you mean "tuesday"?'),
        ("Wensday 08:00", 'Did you mean "wednesday 08:00"?'),
        ("tue", 'Did you mean "tuesday"?'),
        ("last friday", 'Did you mean "friday"?'),
        ("yesteday noon", 'Did you mean "yesterday 12:00"?'),
        ("an hour ago", 'Did you mean "1 hour ago"?'),
        ("two weeks ago", 'Did you mean "2 weeks ago"?'),
        ("7d", 'Did you mean "7d ago"?'),
        ("36 h", 'Did you mean "36 h ago"?'),
        ("90 Min", 'Did you mean "90 min ago"?'),
        ("2 weeks", 'Did you mean "2 weeks ago"?'),
        ("last 3 days", 'Did you mean "3 days ago"?'),
        ("last week", 'Give one moment: a day, such as 2026-11-17, or "7 days ago" for this time of day.'),
        ("this morning", 'Did you mean "today 08:00"?'),
        ("next tuesday", 'and a past one also as "3 days ago".'),
        ("in 3 days", 'and a past one also as "3 days ago".'),
        ("tomorrow 08:00", 'and a past one also as "3 days ago".'),
        ("noon", 'Say a day and a time, such as "yesterday 12:00" or "2026-11-17 12:00".'),
        ("8 am", 'Say a day and a time, such as "yesterday 8 am" or "2026-11-17 8 am".'),
        ("08:00", 'Say a day and a time, such as "yesterday 08:00" or "2026-11-17 08:00".'),
        ("12.30", 'Say a day and a time, such as "yesterday 12:30" or "2026-11-17 12:30".'),
        ("3 months ago", 'such as "90 days ago".'),
    ],
)
def test_the_remedy_fits_what_was_written(text: str, meant: str) -> None:
    with pytest.raises(Invalid) as raised:
        time_input.moment(text, time_input.UTC, NOW_MS)
    assert raised.value.remedy is not None
    assert raised.value.remedy.endswith(meant)
    for suggested in re.findall(r'"([^"]+)"', meant):
        assert time_input.moment(suggested, time_input.UTC, NOW_MS).ms < NOW_MS, "what is suggested can be written"


@pytest.mark.parametrize("text", ["", "latest", "12", "nightly", "sunday-backup", "main", "8", "release 2", "v7d"])
def test_other_texts_get_no_hint(text: str) -> None:
    assert hint(text) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [("20261120", "If it is a date, write 2026-11-20."), ("20261320", None), ("99991201", None), ("43", None)],
)
def test_eight_digits_may_be_a_date(text: str, said: str | None) -> None:
    assert of_digits(text) == said
