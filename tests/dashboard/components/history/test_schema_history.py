"""The schema history on the timeline and on Diff."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dashboard import words
from tests.support.dashboard.pages import Open
from tests.support.places import SMALL_TABLES


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    source = SMALL_TABLES / "paimon" / "default.db" / "schema_evolved"
    shutil.copytree(source, tmp_path / "lake" / "shop.db" / "t")
    return tmp_path / "lake"


def test_the_timeline_opens_it_from_its_address(open_page: Open, warehouse: Path) -> None:
    closed = open_page("timeline", warehouse, table="shop.t")
    assert words.schema_history(5) in [each.label for each in closed.test.expander]
    assert "Queries must say" not in closed.text
    opened = open_page("timeline", warehouse, table="shop.t", schemas="1")
    assert "Readers no longer see b . Its values stay in older files until those are rewritten." in opened.text
    assert opened.test.query_params["schemas"] == "1"


def test_diff_points_out_what_its_two_versions_see(open_page: Open, warehouse: Path) -> None:
    page = open_page("diff", warehouse, table="shop.t", a="3", b="14", part="schema")
    assert "Schema 1 2026-11-21 00:36 2 snapshots seen by A" in page.text
    assert "4 snapshots, current seen by B" in page.text
    same = open_page("diff", warehouse, table="shop.t", a="13", b="14", part="schema", tz="Asia/Shanghai")
    assert "seen by A, B" in same.text
    assert "2026-11-21 08:36" in same.text
