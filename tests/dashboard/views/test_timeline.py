"""The timeline and what surrounds its chart: time ranges, versions as a table, all fields of a version."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from core.formats import registry
from core.model.history import History
from core.table import open_table
from dashboard.charts import trends
from dashboard.charts.time_axis import axis
from dashboard.formatting import time_windows
from dashboard.view_models import rows
from tests.support.builders import DAY_MS, TableBuilder
from tests.support.dashboard.pages import Open
from tests.support.formats import ledger


@pytest.fixture
def known(tmp_path: Path) -> History:
    """Create three commits, the first one expired and tagged."""
    made = TableBuilder(tmp_path / "shop.db" / "orders", step_ms=DAY_MS)
    for _ in range(3):
        made.commit([made.file(rows=10)])
        if made.live() and len(made.live()) == 1:
            made.tag("early")
    made.expire([1])
    return open_table(str(made.root)).history()


def test_every_stretch_of_time_has_a_way_to_all_others() -> None:
    whole = (0, 80_000)
    assert time_windows.closer(whole, 10_000) == (0, 40_000)
    assert time_windows.closer(whole, 80_000) == (40_000, 80_000)
    assert time_windows.closer(whole, None) == time_windows.closer(whole, 99_000_000) == (20_000, 60_000)
    assert time_windows.wider((20_000, 30_000), whole) == (15_000, 35_000)
    assert time_windows.wider((-10_000, 70_000), whole) is None
    assert time_windows.moved((20_000, 40_000), whole, 1) == (30_000, 50_000)
    assert time_windows.moved((20_000, 40_000), whole, 9) == (60_000, 80_000)
    assert time_windows.moved((5_000, 25_000), whole, -1) == (0, 20_000)
    assert time_windows.moved((70_000, 90_000), whole, 1) == (70_000, 90_000)
    there = (50_000, 50_000)
    for _ in range(60):
        there = time_windows.closer(there, None)
    assert there[1] - there[0] >= time_windows.LEAST_MS - 1


def test_points_as_a_table_are_the_dots(known: History) -> None:
    found = trends.points(axis(known.heads), known, "Asia/Shanghai")
    assert set(found["point"]) == {dot.point for dot in axis(known.heads).dots}
    line = found.set_index("point").loc["tag:early"]
    assert (line["rows"], line["files"], line["tags"]) == (10, 1, "early")
    assert line["committed"].endswith("CST")
    assert "files" not in trends.points(axis(known.heads), None, "UTC")


def test_every_field_keeps_its_digits_and_tells_its_unit(known: History) -> None:
    snapshot = known.heads.main.latest
    assert snapshot is not None
    found = {name: re.sub("<[^>]+>", "", str(piece)) for name, piece in rows.every_field(snapshot, "Asia/Shanghai")}
    assert found["commitIdentifier"] == "9223372036854775807"
    assert found["timeMillis"].endswith("CST")
    assert found["totalRecordCount"].endswith(" rows")
    assert set(found) == set(snapshot.fields)  # including empty ones


def test_a_format_that_no_page_knows_has_its_timeline_and_its_plan(
    tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "FORMATS", (*registry.FORMATS, ledger.ENTRY))
    root = ledger.write(tmp_path / "shop.db" / "toy", {1: ["a"], 2: ["a", "bb"], 3: ["bb", "ccc"]})
    page = open_page("timeline", tmp_path, table="shop.toy", point="2")
    assert "toy 3 snapshots" in page.text
    assert [dot.point for dot in axis(open_table(str(root)).heads()).dots] == ["1", "2", "3"]
    planned = open_page("retention", tmp_path, table="shop.toy", keep_max="1")
    assert "Expires 2 snapshots (1, 2), reclaims 1 B in 1 file." in planned.text
    assert "older than those" in planned.text


def test_a_snapshot_says_what_it_changed(open_page: Open, tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "w" / "shop.db" / "t", partition_keys=["dt"])
    table.commit([table.file(1_000, rows=100, partition=(each,)) for each in ("a", "b")], user="loader")
    table.commit([], [each for each in table.live() if each.partition == ("a",)], kind="OVERWRITE", user="cleaner")
    first = open_page("timeline", tmp_path / "w", table="shop.t", point="1")
    assert "loader (append): added 200 rows in 2 files (2.0 kB), in dt=a, dt=b." in first.text
    assert "+100 rows" in first.text
    second = open_page("timeline", tmp_path / "w", table="shop.t", point="2")
    assert "Snapshot 2 by cleaner removed every file of dt=a." in second.text
    assert "Snapshot 2 by cleaner removed 50 % of the rows (100 rows)." in second.text
    assert "Unusual commit" in second.text
