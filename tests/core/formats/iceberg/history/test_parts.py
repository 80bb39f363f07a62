"""An Iceberg table's history in parts; `test_build.py` compares the parts of every table it reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.table import open_table
from tests.support.formats.in_parts import agrees, built
from tests.support.places import SMALL_TABLES

TABLES = sorted(path.parent for path in (SMALL_TABLES / "iceberg").rglob("metadata") if path.is_dir())


@pytest.mark.parametrize("root", TABLES, ids=lambda path: path.name)
def test_many_parts_are_the_whole(root: Path) -> None:
    table = open_table(str(root))
    agrees(table, table.history(), 64)


def test_deleted_entries_are_counted_and_left_out() -> None:
    table = open_table(str(TABLES[0]))
    whole = table.history()
    reader = table.format.in_parts(whole.heads).reader()
    facts, rows, of = reader.entries(table.format.in_parts(whole.heads).manifests, 3)
    assert len(rows) == len(of) == sum(sum(each.entries[:2]) for each in facts)
    assert set(of.tolist()) <= {0, 1, 2}
    _, parts = built(table, whole, 3)
    assert sum(len(part.history.files) for part in parts) == len(whole.files)
