"""Every commit on the timeline can be clicked, whatever is drawn over it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dashboard.charts import timeline
from dashboard.charts.time_axis import MAX_POINTS, Axis, Cut, Dot, Lane
from dashboard.formatting.palette import LIGHT

LANES = (Lane("main", held=False), Lane("a", held=False), Lane("b", held=False))
CUTS = st.lists(
    st.builds(lambda branch, at, low: Cut(branch, at * 1_000, low, at * 1_000, low + 1 + (branch == "b")),
              st.sampled_from("ab"), st.integers(0, 9), st.just(0)),
    max_size=4,
)  # fmt: skip


@given(CUTS)
def test_nothing_without_a_commit_answers_to_the_pointer_where_a_commit_is(cuts: list[Cut]) -> None:
    """Plotly gives a click to the nearest mark that has a hover text, whether or not that mark leads anywhere."""
    dots = tuple(
        Dot(f"{lane}/{second}", second, second * 1_000, "APPEND", lane, 0, (), 1, 1)
        for lane in range(len(LANES)) for second in range(10)
    )  # fmt: skip
    figure = timeline.timeline(Axis(LANES, dots, (), (), (), tuple(cuts)), LIGHT, "UTC")
    places = {(dot.time_ms, -dot.lane): dot.point for dot in dots}
    answering = [
        (places[x, y], (trace.get("customdata") or {number: [None]})[number][0])
        for trace in figure["data"] if trace["yaxis"] == "y" and trace.get("hoverinfo") != "skip"
        for number, (x, y) in enumerate(zip(trace["x"], trace["y"], strict=True)) if (x, y) in places
    ]  # fmt: skip
    assert len(answering) >= len(dots)
    assert [pair for pair in answering if pair[0] != pair[1]] == []


@given(st.integers(1, 4), st.sampled_from([1, MAX_POINTS + 1]))
def test_a_timeline_is_a_whole_number_of_pixels_high(lanes: int, count: int) -> None:
    """Streamlit measures its height in whole pixels, and draws it again if the figure says otherwise."""
    dots = tuple(Dot(str(number), number, number * 1_000, "APPEND", 0, 0, (), 1, 1) for number in range(count))
    axis = Axis(tuple(Lane(f"b{number}", held=False) for number in range(lanes)), dots, (), (), (), ())
    assert isinstance(timeline.timeline(axis, LIGHT, "UTC")["layout"]["height"], int)
