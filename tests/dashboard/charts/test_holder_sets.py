"""The matrix of holders: every column carries its place, and each name has its dots."""

from __future__ import annotations

from plotly.graph_objects import Figure

from core.model.references import NO_BRANCH
from dashboard.charts import holder_sets
from dashboard.formatting.palette import DARK, LIGHT

ROWS = [("history", 9, 900), ("history + tag:a", 3, 300), ("live", 1, 100), ("branch:b + live + tag:<i>", 1, 0)]


def test_a_column_carries_its_place_wherever_it_is_clicked() -> None:
    for palette in (LIGHT, DARK):
        made = holder_sets.figure(ROWS, ["live"], palette)
        assert Figure(made).to_dict()["data"], "plotly knows all of it"
        bars = [each for each in made["data"] if each["type"] == "bar"]
        assert len(bars) == 3, "above, among the dots, and the bar itself"
        for each in bars:
            assert [told[0] for told in each["customdata"]] == ["0", "1", "2", "3"]
        assert len(set(bars[0]["marker"]["color"])) == 2, "what is ticked is marked"
        dots = made["data"][-1]
        names = {name for holders, _, _ in ROWS for name in holder_sets.members(holders)}
        assert len(dots["x"]) == len(ROWS) * len(names)
        assert sum(size > 6 for size in dots["marker"]["size"]) == sum(len(holder_sets.members(row[0])) for row in ROWS)
        assert not any("<i>" in label for label in made["layout"]["yaxis2"]["ticktext"]), "a name is text"


def test_snapshots_on_no_branch_are_not_called_a_branch() -> None:
    assert holder_sets.label(f"history + branch:{NO_BRANCH}") == "older snapshots + snapshots on no branch"
