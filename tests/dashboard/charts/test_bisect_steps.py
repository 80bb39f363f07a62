"""The steps of a bisect on the timeline, and in its address."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.table import open_table
from dashboard import words
from dashboard.charts import bisect_steps, timeline
from dashboard.charts.bisect_steps import Checked, Steps
from dashboard.charts.time_axis import Axis, axis
from dashboard.formatting.palette import LIGHT
from tests.support.builders import TableBuilder
from tests.support.dashboard.pages import Open

NAMES = st.text(min_size=1, max_size=12)


@pytest.fixture
def table(tmp_path: Path) -> TableBuilder:
    made = TableBuilder(tmp_path / "lake" / "shop.db" / "orders")
    for _ in range(8):
        made.commit([made.file(1_000, rows=10)])
    return made


@given(NAMES, st.lists(st.tuples(NAMES, st.sampled_from([True, False, None])), min_size=1, max_size=9))
def test_an_address_holds_steps_whatever_tags_are_called(condition: str, steps: list[tuple[str, bool | None]]) -> None:
    found = Steps(condition, tuple(Checked(*each) for each in steps))
    assert bisect_steps.parse(found.spelled()) == found


@pytest.mark.parametrize("text", [None, "", "count", "c;", "c;x1", "c;t1;", ";;"])
def test_what_is_no_search_is_none(text: str | None) -> None:
    assert bisect_steps.parse(text) is None


def traces(shown: Axis, steps: Steps, *, by_commit: bool = False) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """What a bisect adds to a figure, and the figure's layout."""
    plain = timeline.timeline(shown, LIGHT, "UTC", by_commit=by_commit)
    figure = timeline.timeline(shown, LIGHT, "UTC", bisected=steps, by_commit=by_commit)
    return [each for each in figure["data"] if each not in plain["data"]], figure["layout"]


@pytest.mark.parametrize("by_commit", [False, True])
def test_the_lane_is_false_up_to_the_last_false_and_true_from_the_first_true(
    table: TableBuilder, by_commit: bool
) -> None:
    shown = axis(open_table(str(table.root)).heads())
    answers = (("1", False), ("8", True), ("4", False), ("6", True), ("5", None))
    drawn, layout = traces(shown, Steps("c", tuple(Checked(*each) for each in answers)), by_commit=by_commit)
    (marks,) = (each for each in drawn if each["mode"] == "markers+text")
    assert [each[0] for each in marks["customdata"]] == [point for point, _ in answers]
    place = dict(zip([point for point, _ in answers], marks["x"], strict=True))
    spans = [each["x"] for each in drawn if each["mode"] == "lines"]
    assert spans == [
        [place["1"], place["4"]],  # false
        [place["4"], place["6"]],  # not known
        [place["6"], place["8"]],  # true
        [place["6"], place["6"]],  # up to the commit itself
    ]
    assert layout["yaxis"]["ticktext"][-1] == words.BISECT_LANE
    assert [each["text"] for each in layout["annotations"]] == ["first true: 6"]
    assert "Step 5: ? unknown" in marks["customdata"][4][1]


def test_while_it_runs_the_rest_is_not_known(table: TableBuilder) -> None:
    shown = axis(open_table(str(table.root)).heads())
    drawn, layout = traces(shown, Steps("c", (Checked("1", True), Checked("nowhere", False))))
    assert layout["annotations"][0]["text"] == "already true: 1"
    assert len(next(each for each in drawn if each["mode"] == "markers+text")["x"]) == 1, "one is not on the axis"
    assert traces(shown, Steps("c", (Checked("nowhere", True),)))[0] == []


def test_a_link_draws_the_search_again_until_it_is_hidden(open_page: Open, table: TableBuilder) -> None:
    lake = table.root.parents[1]
    steps = Steps("count(*) > `x`", (Checked("1", False), Checked("8", True)))
    page = open_page("timeline", lake, table="shop.orders", bisect=steps.spelled())
    assert "Bisect of count(*) > 'x' : 2 snapshots checked, as this link recorded them." in page.text
    (hide,) = (each for each in page.test.button if each.label == words.BISECT_HIDE)
    hide.click()
    page.run()
    assert "bisect" not in page.test.query_params
    assert "as this link recorded" not in page.text
    other = open_page("timeline", lake, table="shop.orders", bisect="nothing")
    assert "as this link recorded" not in other.text
