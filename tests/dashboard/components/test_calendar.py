"""The calendar of a version picker: the days of the reader's zone, and where a day leads."""

from __future__ import annotations

import json
from pathlib import Path

from core.table import open_table
from dashboard.view_models import commit_days
from tests.support.builders import DAY_MS, START_MS, TableBuilder
from tests.support.dashboard.pages import Open


def test_days_that_have_commits_are_those_of_the_readers_zone(tmp_path: Path, open_page: Open) -> None:
    made = TableBuilder(tmp_path / "shop.db" / "orders")
    late_ms = START_MS + DAY_MS - 1  # the last moment of 2026-01-01 in UTC
    for time_ms in (START_MS, START_MS + 1, late_ms, START_MS + 2 * DAY_MS, 2**61):
        made.commit([made.file(1)], time_ms=time_ms)
    made.tag("v1", 2)  # another name of the same commit
    heads = open_table(str(made.root)).heads()
    assert commit_days.days(heads, "UTC") == {"2026-01-01": 3, "2026-01-03": 1}
    assert commit_days.days(heads, "Asia/Tokyo") == {"2026-01-01": 2, "2026-01-02": 1, "2026-01-03": 1}
    page = open_page("asof", tmp_path, table="shop.orders", point="3", tz="Asia/Tokyo")
    [given] = [json.loads(each.proto.json) for each in page.test.get("bidi_component") if '"days"' in each.proto.json]
    assert (given["first"], given["chosen"]) == ("2026-01-01", "2026-01-02")
