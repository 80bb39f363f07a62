"""By commit, marks stand evenly, can all be hit, and keep their true times."""

from __future__ import annotations

import functools
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.formats import registry
from core.table import Table
from dashboard.charts import clusters, timeline
from dashboard.charts.ruler import Ruler
from dashboard.charts.time_axis import Axis, Dot, Flag, Lane, axis
from dashboard.components.history import timeline as lanes
from dashboard.formatting import language
from dashboard.formatting.palette import LIGHT
from tests.support.formats.paimon.tables import TableBuilder

UNEVEN = (0, 1, 2, 90_000, 90_001, 200_000)


def shown(times_ms: tuple[int, ...], flags: tuple[Flag, ...] = ()) -> Axis:
    dots = tuple(Dot(str(at), at, ms, "APPEND", 0, 0, (), 1, 1) for at, ms in enumerate(times_ms, start=1))
    return Axis((Lane("main", held=False),), dots, flags, (), (), ())


@given(st.sets(st.integers(0, 10**13), min_size=1, max_size=50))
def test_commits_stand_one_apart_in_order(times_ms: set[int]) -> None:
    ruler = Ruler(times_ms)
    assert ruler.at(sorted(times_ms)) == list(range(len(times_ms)))
    assert ruler.at([None, min(times_ms) - 10**6, max(times_ms) + 10**6]) == [None, -1, len(times_ms)]
    assert all(ruler.at([ms]) == [place] for place, ms in ruler.labels())


def test_commits_seconds_apart_stand_single_and_say_their_times() -> None:
    figure = timeline.timeline(shown(UNEVEN), LIGHT, "Asia/Shanghai", by_commit=True)
    [dots] = [trace for trace in figure["data"] if trace.get("hovertext")]
    assert dots["x"] == [0, 1, 2, 3, 4, 5]
    assert dots["hovertext"][5] == "Thu 1970-01-01 08:03:20 CST"
    assert figure["layout"]["xaxis"]["type"] == "linear"
    assert len(clusters.clusters(shown(UNEVEN).dots, (0, 200_000))) == 3
    go.Figure(figure)  # plotly validates it


@pytest.mark.parametrize("by_commit", [False, True])
def test_weekdays_are_in_the_readers_language(by_commit: bool) -> None:
    """The browser knows the names of days in English only."""
    asked = functools.partial(timeline.timeline, shown(UNEVEN[::3]), LIGHT, "UTC", by_commit=by_commit)
    with ThreadPoolExecutor(1) as reader:
        reader.submit(language.choose, "zh").result()
        figure = reader.submit(asked).result()
    said = [trace for trace in figure["data"] if "hovertext" in str(trace.get("hovertemplate"))]
    assert [text for trace in said for text in trace["hovertext"]] == [
        "周四 1970-01-01 00:00:00 UTC",
        "周四 1970-01-01 00:01:30 UTC",
    ]
    assert "%a" not in str(figure)


@pytest.mark.parametrize("by_commit", [False, True])
@pytest.mark.parametrize("count", [40, 10_000])
@pytest.mark.parametrize("width", [470, 640])  # pixels of the plot on pages of 900 and 1440 pixels
def test_every_mark_can_be_hit(count: int, width: int, by_commit: bool) -> None:
    times_ms = tuple(at * at * 1_000 for at in range(count))
    flags = tuple(Flag(f"t{at}", f"tag:t{at}", at + 1, times_ms[at], 0) for at in range(0, count, 4))
    figure = timeline.timeline(shown(times_ms, flags), LIGHT, "UTC", by_commit=by_commit)
    first, last = figure["layout"]["xaxis"]["range"]
    marks: dict[float, set[float]] = {}
    for trace in figure["data"]:
        for at, height in zip(trace["x"], trace["y"], strict=True) if trace.get("customdata") else ():
            row = -9.0 if trace["type"] == "bar" else height  # a bar is hit over its whole height
            marks.setdefault(row, set()).add((at - first) / (last - first) * width)
    assert len(marks) == 2
    least = 14
    if by_commit and count <= clusters.APART:  # all single and small: none touches the next one
        sizes = [trace["marker"]["size"] for trace in figure["data"] if trace.get("mode") == "markers"]
        assert max(sizes) == 9
        least = 11
    for row, pixels in marks.items():
        assert all(right - left >= (3 if row == -9 else least) for left, right in pairwise(sorted(pixels)))


def test_tags_that_would_overlap_are_one_flag_that_zooms() -> None:
    flags = tuple(Flag(f"t{at}", f"tag:t{at}", at, UNEVEN[at - 1], 0) for at in (1, 2, 6))
    figure = timeline.timeline(shown(UNEVEN, flags), LIGHT, "UTC")
    [drawn] = [trace for trace in figure["data"] if trace.get("marker", {}).get("symbol") == "triangle-down"]
    assert [data[0] for data in drawn["customdata"]] == ["tag:t6", "0..1"]


def test_bars_by_commit_hold_all_commits_and_zoom(tmp_path: Path) -> None:
    figure = timeline.timeline(shown(tuple(at * at for at in range(2_500))), LIGHT, "UTC", by_commit=True)
    bars = [trace for trace in figure["data"] if trace["type"] == "bar"]
    windows = [lanes.window_of(data[0]) for data in bars[0]["customdata"]]
    assert set(bars[0]["y"]) == {timeline.DENSITY}  # the whole height can be hit, however low the visible bar
    held = [sum(first <= at * at <= last for at in range(2_500)) for first, last in filter(None, windows)]
    assert sum(held) == 2_500
    assert max(held) - min(held) <= 2


def test_a_table_by_commit(tmp_path: Path) -> None:
    made = TableBuilder(tmp_path / "t")
    for second in UNEVEN:
        made.commit([made.file(10)], time_ms=1_767_225_600_000 + second * 1_000)
    made.tag("newest")
    whole = axis(Table(registry.opened(str(tmp_path / "t"))).heads())
    figure = timeline.timeline(whole, LIGHT, "UTC", by_commit=True, due={"2"}, chosen={"4": ""}, asked_ms=1)
    assert [trace["x"] for trace in figure["data"] if trace.get("text") == ["<b></b>"]] == [[3]]
    go.Figure(figure)
