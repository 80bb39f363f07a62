"""The timeline of an Iceberg table: parents, main's path and refs are distinct, and every commit shows its state."""

from __future__ import annotations

import json
from typing import Any

import plotly.graph_objects as go

from core.formats.iceberg import metadata as documents
from core.formats.iceberg import references
from core.model.references import Heads
from core.table import resolve
from dashboard import words
from dashboard.charts import pointer, timeline
from dashboard.charts.time_axis import axis
from dashboard.components.history import snapshot_details
from dashboard.formatting import palette
from dashboard.view_models import rows
from tests.support.iceberg_documents import document, snapshot

HOUR = 3_600_000


def commit(number: int, parent: int | None, hours: float, **summary: str) -> dict[str, Any]:
    own = snapshot(number, parent, int(hours * HOUR), "file:/tmp/t")
    return {**own, "summary": {"operation": "append", **summary}}


def history() -> Heads:
    """1 2 3, 3 rolled back to 2; 4 staged, then picked as 6 onto 5; 7 staged; 8 on nothing; 9 on a branch from 2."""
    snapshots = [
        commit(1, None, 1), commit(2, 1, 2), commit(3, 2, 3), commit(4, 2, 4.5, **{"wap.id": "w"}), commit(5, 2, 5),
        commit(6, 5, 6, **{"source-snapshot-id": "4", "published-wap-id": "w"}), commit(7, 6, 7, **{"wap.id": "x"}),
        commit(8, 3, 8), commit(9, 2, 9),
    ]  # fmt: skip
    log = [(1, 1), (2, 2), (3, 3), (4, 2), (5, 5), (6, 6)]
    found = document(
        snapshots=snapshots,
        refs={"main": {"snapshot-id": 6, "type": "branch"}, "dev": {"snapshot-id": 9, "type": "branch"}},
    ) | {
        "current-snapshot-id": 6,
        "snapshot-log": [{"timestamp-ms": hours * HOUR, "snapshot-id": id} for hours, id in log],
        "last-updated-ms": 9 * HOUR,
        "last-sequence-number": 9,
    }
    parsed = documents.parse(json.dumps(found).encode(), "metadata/v1.metadata.json")
    return references.heads(parsed, "/tmp/t")


def test_each_commit_is_marked_as_what_it_is() -> None:
    found = axis(history())
    assert {dot.id: dot.state for dot in found.dots if dot.state} == {
        3: "rolled-back", 4: "published", 6: "picked", 7: "staged", 8: "orphaned",
    }  # fmt: skip
    assert set(words.STATES) == {dot.state for dot in found.dots if dot.state}


def test_parents_the_pointer_and_refs_are_three_things() -> None:
    found = axis(history())
    lanes = {lane.branch: number for number, lane in enumerate(found.lanes)}
    main, dev, nowhere = (lanes[name] for name in ("main", "dev", "(no branch)"))
    # parents: within main past what was rolled back, and across lanes for what is on no branch
    assert {(each.start_ms // HOUR, each.end_ms // HOUR) for each in found.links or () if each.end_lane == main} == {
        (1, 2), (2, 5), (5, 6),
    }  # fmt: skip
    across = [(each.start_lane, each.end_lane) for each in found.links or () if each.start_lane != each.end_lane]
    assert sorted(across) == [(main, nowhere)] * 3
    assert [(each.branch, each.start_ms) for each in found.cuts] == [("dev", 2 * HOUR)]
    assert not any(each.end_lane == dev for each in found.links or ())
    # main's way: to 3, which is on no branch now, and back by hand
    assert [(each.lane, each.start_ms // HOUR, each.until_ms // HOUR) for each in found.path] == [
        (main, 1, 3), (nowhere, 3, 4), (main, 4, 9),
    ]  # fmt: skip
    assert [(each.id, each.time_ms // HOUR, each.made_ms // HOUR) for each in found.resets] == [(2, 4, 2)]
    inner = found.within((4 * HOUR + 1, 5 * HOUR))
    assert [each.lane for each in inner.path] == [main]
    assert inner.resets == ()
    assert found.of_branch("main").path == ()
    near = found.within((3 * HOUR, 4 * HOUR)).filled()  # around the rollback: no branch, and main's path
    assert [lane.branch for lane in near.lanes] == ["main", "(no branch)"]
    assert [(dot.id, dot.lane) for dot in near.dots] == [(3, 1)]
    assert [each.lane for each in near.path] == [0, 1, 0]
    assert [each.lane for each in near.resets] == [0]
    assert [(each.start_lane, each.end_lane) for each in near.links or ()] == [(0, 0), (0, 1), (0, 1), (1, 1)]


def test_before_a_point_is_what_it_was_made_from() -> None:
    known = history()
    found = {name: resolve(known, name) for name in ("2", "branch:(no branch)/8", "branch:dev", "1")}
    around = {name: (each.before and each.before.id, each.after and each.after.id) for name, each in found.items()}
    assert around == {"2": (1, 5), "branch:(no branch)/8": (3, None), "branch:dev": (2, None), "1": (None, 2)}
    points = [snapshot_details._named(known, each.before, each.branch) for each in found.values() if each.before]
    assert points == ["1", "branch:(no branch)/3", "2"]  # whatever line it stands on


def test_an_entry_whose_snapshot_is_gone_breaks_the_path() -> None:
    places = {1: ("1", 0, 10), 3: ("3", 0, 30)}
    stays, resets = pointer.path([(10, 1), (20, 2), (30, 3), (25, 1)], places, 40)
    assert [(each.lane, each.start_ms, each.until_ms) for each in stays] == [
        (0, 10, 20), (None, 20, 30), (0, 30, 25), (0, 25, 40),
    ]  # fmt: skip  # the last entry's clock went back: listed order counts
    assert [each.id for each in resets] == [1]
    assert pointer.path([], places, 40) == ((), ())


def test_it_is_drawn_told_in_the_legend_and_in_the_panel() -> None:
    known = history()
    found = axis(known)
    for theme in ("light", "dark"):
        figure = go.Figure(timeline.timeline(found, palette.palette(theme), "UTC"))
        hue = palette.palette(theme).pointer
        assert [each.text for each in figure.data if each.text and each.textfont.color == hue] == [
            ("C", "R", "P", "W", "O")
        ]
        path = next(each for each in figure.data if each.hovertemplate == f"{words.PATH_HOVER}<extra></extra>")
        assert len(path.x) == 6
    told = [text for _, _, text in timeline.legend(found)]
    assert {words.LEGEND_PATH, words.LEGEND_RESET, *(text for _, text in words.STATES.values())} <= set(told)
    by_id = {each.id: each for line in known.lines for each in line.snapshots}
    facts = dict[str, Any](
        rows.point_facts(known, None, "branch:(no branch)/3", "(no branch)", by_id[3], "UTC", 9 * HOUR)
    )
    assert facts[words.FIELD_NAMES["standing"]] == "Rolled back: main was here and was moved to another line"
    assert facts[words.FIELD_NAMES["main"]] == "1970-01-01 03:00:00 UTC to 1970-01-01 04:00:00 UTC"
    assert words.FIELD_NAMES["branch"] not in facts
    facts = dict[str, Any](rows.point_facts(known, None, "2", "main", by_id[2], "UTC", 9 * HOUR))
    assert facts[words.FIELD_NAMES["main"]].count(" to ") == 2
    facts = dict[str, Any](rows.point_facts(known, None, "6", "main", by_id[6], "UTC", 9 * HOUR))
    assert facts[words.FIELD_NAMES["main"]].endswith("to now")
    assert (
        "never"
        in dict[str, Any](rows.point_facts(known, None, "9", "dev", by_id[9], "UTC", 0))[words.FIELD_NAMES["main"]]
    )
