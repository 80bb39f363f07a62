"""A Paimon table's history in parts; `test_history.py` compares the parts of every table it reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.table import open_table
from tests.support.builders import DataFile, TableBuilder
from tests.support.formats.in_parts import agrees

MANY = 64  # parts: few objects share one


@pytest.mark.parametrize("parts", [1, 2, MANY])
def test_a_range_of_another_buckets_changelog_holds_its_real_file(tmp_path: Path, parts: int) -> None:
    table = TableBuilder(tmp_path / "t", options={"changelog-producer": "lookup"})
    whole = DataFile("compacted-changelog-x$0-100.cc-parquet", 100, 1, bucket=0)
    window: dict[str, Any] = {"source": 0, "bucket": 1}
    table.commit([table.file()], changelog=[whole])
    table.commit([table.file()], changelog=[DataFile("compacted-changelog-x$0-100-100-50.cc-parquet", 50, 1, **window)])
    opened = open_table(str(tmp_path / "t"))
    history = opened.history()
    assert {each.point for each in history.holders_of(f"bucket-0/{whole.name}")} == {"1", "2"}
    agrees(opened, history, parts)


def test_a_file_and_its_extra_files_are_in_parts_of_their_own(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "t")
    files = [table.file(extra=(".index",)) for _ in range(8)]
    table.commit(files)
    table.commit([], files[:4])
    opened = open_table(str(tmp_path / "t"))
    agrees(opened, opened.history(), MANY)


def test_a_table_without_snapshots_has_empty_parts(tmp_path: Path) -> None:
    TableBuilder(tmp_path / "t").schema()
    opened = open_table(str(tmp_path / "t"))
    agrees(opened, opened.history(), 3)
