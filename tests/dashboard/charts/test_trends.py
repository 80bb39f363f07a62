"""The trends below the timeline: each mark says what its commit changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.table import open_table
from dashboard.charts import timeline
from dashboard.charts.time_axis import axis
from dashboard.charts.trends import Trend
from dashboard.formatting.palette import LIGHT
from dashboard.view_models import rows
from tests.support.builders import TableBuilder


def told(trend: Trend, table: TableBuilder, *, by_commit: bool = False) -> dict[str, dict[str, str]]:
    """The change in the hover text of each mark, by panel and version."""
    shown = axis(open_table(str(table.root)).heads())
    figure: dict[str, Any] = timeline.timeline(shown, LIGHT, "UTC", trend=trend, by_commit=by_commit)
    panels = [each for each in figure["data"] if each["yaxis"] != "y"]
    assert all("%{customdata[1]}" in each["hovertemplate"] for each in panels)
    return {each["line"]["color"]: dict(each["customdata"]) for each in panels}


@pytest.mark.parametrize("by_commit", [False, True])
def test_each_mark_says_what_changed_since_the_one_before(tmp_path: Path, by_commit: bool) -> None:
    table = TableBuilder(tmp_path / "shop.db" / "orders")
    first = table.file(1_000, rows=10)
    table.commit([first])
    table.tag("v1")
    table.commit([table.file(2_500, rows=3)])
    table.commit([], [first], kind="OVERWRITE")
    table.expire([1])
    history = open_table(str(table.root)).history()
    trend = rows.trend(history.heads, history)
    found = told(trend, table, by_commit=by_commit)
    assert found[LIGHT.rows] == {"tag:v1": "", "2": "<br>+3 since tag:v1", "3": "<br>\N{MINUS SIGN}10 since 2"}
    assert found[LIGHT.files] == {"tag:v1": "", "2": "<br>+1 since tag:v1", "3": "<br>\N{MINUS SIGN}1 since 2"}
    sizes = {"tag:v1": "", "2": "<br>+2.5 kB since tag:v1", "3": "<br>\N{MINUS SIGN}1.0 kB since 2"}
    assert found[LIGHT.bytes] == sizes
    times = trend.times_ms
    assert told(trend.within((times[1], times[2])), table)[LIGHT.rows]["2"] == "<br>+3 since tag:v1", "in every window"


def test_what_is_not_known_is_no_change() -> None:
    trend = Trend(("1", "2", "3"), (1, 2, 3), (5, None, 7), None, (1, 1, 4)).with_steps()
    steps = [(step.before, step.rows, step.files, step.bytes) for step in trend.steps.values()]
    assert steps == [("1", None, None, 0), ("2", None, None, 3)]
