"""Dots that overlap become one mark with their number; every mark can be hit."""

from __future__ import annotations

from itertools import groupby, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.formats import registry
from core.table import Table
from dashboard.charts import clusters, timeline
from dashboard.charts.ruler import Ruler
from dashboard.charts.time_axis import Axis, Dot, Lane, Mark, axis
from dashboard.charts.trends import ticks_of
from dashboard.components.history import timeline as lanes
from dashboard.formatting.palette import LIGHT
from tests.support.formats.paimon.tables import TableBuilder


def dot(number: int, time_ms: int, lane: int = 0) -> Dot:
    return Dot(str(number), number, time_ms, "APPEND", lane, 0, (), 1, 1)


DOTS = st.lists(st.tuples(st.integers(0, 100_000), st.integers(0, 2)), min_size=1, max_size=60).map(
    lambda drawn: [dot(number, time_ms, lane) for number, (time_ms, lane) in enumerate(drawn)]
)


@given(DOTS)
def test_every_dot_is_in_one_mark_and_marks_are_apart(dots: list[Dot]) -> None:
    span = (min(each.time_ms for each in dots), max(each.time_ms for each in dots))
    groups = clusters.clusters(dots, span)
    assert sorted(each.id for group in groups for each in group) == sorted(each.id for each in dots)
    gap_ms = clusters.GAP * max(span[1] - span[0], 1)
    for _, lane in groupby(sorted(groups, key=lambda group: (group[0].lane, group[-1].time_ms)), lambda g: g[0].lane):
        for left, right in pairwise(list(lane)):
            assert right[-1].time_ms - left[-1].time_ms >= gap_ms
    for group in groups:
        assert len({each.lane for each in group}) == 1
        assert group[-1].time_ms - group[0].time_ms < gap_ms
        assert [each.time_ms for each in group] == sorted(each.time_ms for each in group)


def test_dots_that_are_apart_stay_single() -> None:
    dots = [dot(number, number * 1_000) for number in range(20)]
    assert [len(group) for group in clusters.clusters(dots, (0, 19_000))] == [1] * 20


def test_a_click_on_a_cluster_zooms_until_its_dots_are_single(tmp_path: Path) -> None:
    made = TableBuilder(tmp_path / "t")
    for second in (0, 1, 2, 90_000, 90_001, 200_000):
        made.commit([made.file(10)], time_ms=1_767_225_600_000 + second * 1_000)
    whole = axis(Table(registry.opened(str(tmp_path / "t"))).heads())
    window = None
    for _ in range(4):
        shown = whole.within(window)
        marks = carried(shown, window)
        opens = [each for each in map(lanes.window_of, marks) if each]
        if not opens:
            break
        window = opens[-1]
    assert sorted(marks) == ["1", "2", "3"]


def test_commits_at_one_moment_choose_the_newest() -> None:
    shown = Axis((Lane("main", held=False),), tuple(dot(number, 5_000) for number in (1, 2, 3)), (), (), (), ())
    assert carried(shown, None) == ["3"]


def test_a_chosen_version_in_a_cluster_is_ringed_where_its_mark_is() -> None:
    dots = (dot(1, 0), dot(2, 99_000), dot(3, 100_000))
    shown = Axis((Lane("main", held=False),), dots, (), (), (), ())
    figure = timeline.timeline(shown, LIGHT, "UTC", chosen={"2": "A", "1": "B"})
    rings = {trace["text"][0]: trace["x"] for trace in figure["data"] if "<b>" in str(trace.get("text"))}
    assert rings == {"<b>A</b>": [100_000], "<b>B</b>": [0]}
    both = timeline.timeline(shown, LIGHT, "UTC", chosen={"2": "A", "3": "B"})
    assert [trace["text"] for trace in both["data"] if "<b>" in str(trace.get("text"))] == [["<b>AB</b>"]]


@pytest.mark.parametrize(
    ("schemas_ms", "side"),
    [((), "center"), ((90_000,), "center"), ((50_000,), "right"), ((50_000, 54_000), "left"),
     ((46_000, 50_000, 54_000), "center")],
)  # fmt: skip
@pytest.mark.parametrize("by_commit", [False, True])
def test_a_letter_stands_beside_what_is_below_its_ring(schemas_ms: tuple[int, ...], side: str, by_commit: bool) -> None:
    dots = tuple(dot(number, number * 5_000) for number in range(21))
    marks = tuple(Mark(str(at), at, 0, 0, 1) for at in schemas_ms)
    shown = Axis((Lane("main", held=False),), dots, (), (), marks, ())
    figure = timeline.timeline(shown, LIGHT, "UTC", chosen={"10": "B"}, by_commit=by_commit)
    (ring,) = (trace for trace in figure["data"] if "<b>B</b>" in trace.get("text", ()))
    assert ring["textposition"] == f"bottom {side}"


@pytest.mark.parametrize("count", [20, 2_100])
def test_unusual_commits_are_framed_and_say_why(count: int) -> None:
    dots = tuple(dot(number, number * 1_000) for number in range(1, count + 1))
    shown = Axis((Lane("main", held=False),), dots, (), (), (), ())
    figure = timeline.timeline(shown, LIGHT, "UTC", unusual={"7": ["Seven <b> rows."]})
    frames = [trace for trace in figure["data"] if trace.get("marker", {}).get("symbol") == "diamond-open"]
    assert [(trace["x"], trace["y"]) for trace in frames] == [([7_000], [0])]
    told = {data[0]: data[1] for trace in figure["data"] for data in trace.get("customdata", ())}
    assert "<b>!</b> Seven &lt;b&gt; rows." in told["7"]
    assert "diamond-open" in [entry[0] for entry in timeline.legend(shown, unusual={"7"})]
    assert "diamond-open" not in [entry[0] for entry in timeline.legend(shown, unusual={"none"})]


def test_a_cluster_with_unusual_commits_is_framed_and_counts_them() -> None:
    dots = (dot(1, 0), dot(2, 99_000), dot(3, 100_000))
    shown = Axis((Lane("main", held=False),), dots, (), (), (), ())
    figure = timeline.timeline(shown, LIGHT, "UTC", unusual={"2": ["why"]})
    [frame] = [trace for trace in figure["data"] if trace.get("marker", {}).get("symbol") == "diamond-open"]
    assert frame["x"] == [100_000]
    assert any("1 unusual" in data[1] for trace in figure["data"] for data in trace.get("customdata", ()))


def carried(shown: Axis, window: tuple[int, int] | None) -> list[str]:
    figure = timeline.timeline(shown, LIGHT, "UTC", window_ms=window)
    return [data[0] for trace in figure["data"] if trace.get("customdata") for data in trace["customdata"]]


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([], [0, 1]),
        ([0, 0], [0, 1]),
        ([7], [0, 5, 10]),
        ([0, 100], [0, 50, 100]),
        ([99_222, 100_000], [99_000, 99_500, 100_000]),
        ([1_000, 2_500], [0, 1_000, 2_000, 3_000]),
    ],
)
def test_a_scale_shows_the_change(values: list[int], ticks: list[int]) -> None:
    assert ticks_of(values) == ticks


@given(st.lists(st.integers(0, 10**15), min_size=1, max_size=9))
def test_a_scale_holds_all_values(values: list[int]) -> None:
    ticks = ticks_of(values)
    assert ticks[0] <= min(values) <= max(values) <= ticks[-1]
    assert 2 <= len(ticks) <= 6
    assert ticks == sorted(set(ticks))


@pytest.mark.parametrize(("count", "marks"), [(37, 37), (40, 40), (41, 21)])
def test_few_commits_side_by_side_all_keep_their_marks(count: int, marks: int) -> None:
    dots = [dot(number, number * number * 1_000) for number in range(count)]
    ruler = Ruler([each.time_ms for each in dots])
    assert len(clusters.clusters(dots, (0, 1), ruler)) == marks
