"""Every page opens every real table available, at its first and last version and at each of its names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.table import open_table
from dashboard import words
from tests.support.places import TABLES

NAMES = sorted(path.name for path in (TABLES / "paimon" / "default.db").iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_page(name: str, open_page: Callable, shared_tables: Path) -> None:
    warehouse, table = shared_tables / "paimon", f"default.{name}"
    heads = open_table(str(warehouse / "default.db" / name)).heads()
    points = ["latest", "earliest", *(f"tag:{tag.name}" for tag in heads.main.tags)]
    points += [f"branch:{line.branch}" for line in heads.lines[1:] if line.snapshots]
    for point in points:
        for page in ("timeline", "asof", "query"):
            assert words.ERROR_TITLES["NotFound"] not in open_page(page, warehouse, table=table, point=point).text
    for pane in words.PANES:
        shown = open_page("files", warehouse, table=table, pane=pane)
        assert not any(title in shown.text for title in words.ERROR_TITLES.values())
    assert "Net " in open_page("diff", warehouse, table=table, a="earliest", b="latest").text
    assert "would be reclaimed" in open_page("retention", warehouse, table=table, keep_max="1").text.lower()
    if heads.main.tags:
        tags = ",".join(tag.name for tag in heads.main.tags)
        assert "Reclaims" in open_page("retention", warehouse, table=table, mode="tags", tags=tags).text
        assert heads.main.tags[0].name in open_page("tags", warehouse, table=table).text
