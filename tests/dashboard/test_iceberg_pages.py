"""Every page opens Iceberg tables: commits, refs, branches, what is on none, previews; rows refuse by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.table import open_table
from dashboard.present import words
from tests.iceberg_tables import JAVA_RANDOM, PYICEBERG, moved

TABLES = [JAVA_RANDOM / "t12_v1", JAVA_RANDOM / "t05_v3", PYICEBERG / "tags_branches", PYICEBERG / "rollback"]


@pytest.mark.slow
@pytest.mark.parametrize("source", TABLES, ids=lambda path: path.name)
def test_every_page(source: Path, open_page: Callable, tmp_path: Path) -> None:
    root = moved(source, tmp_path / "lake" / "db" / source.name)
    warehouse, table = tmp_path / "lake", f"db.{source.name}"
    heads = open_table(str(root)).heads()
    points = ["latest", "earliest", str(heads.lines[-1].snapshots[-1].id)]
    points += [f"tag:{tag.name}" for line in heads.lines for tag in line.tags]
    points += [f"branch:{line.branch}" for line in heads.lines[1:]]
    for point in points:
        for page in ("timeline", "asof", "query"):
            shown = open_page(page, warehouse, table=table, point=point)
            assert not any(title in shown.text for title in words.ERROR_TITLES.values()), (page, point, shown.text)
    assert "Net " in open_page("diff", warehouse, table=table, a="earliest", b="latest").text
    assert source.name in open_page("overview", warehouse).text
    shown = open_page("retention", warehouse, table=table, older="2026-01-02T00:00:00Z")
    assert not any(title in shown.text for title in words.ERROR_TITLES.values()), shown.text
    shown = open_page("tags", warehouse, table=table)
    for tag in heads.main.tags:
        assert tag.name in shown.text
