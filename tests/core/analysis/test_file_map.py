"""What the file map is coloured by, against each file looked at by itself."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from core.analysis import file_map, file_tree
from core.table import open_table
from tests.support.builders import DAY_MS, START_MS, TableBuilder

NOW_MS = START_MS + 60 * DAY_MS


@pytest.fixture
def table(tmp_path: Path) -> TableBuilder:
    made = TableBuilder(tmp_path / "t", partition_keys=["dt"], step_ms=DAY_MS)
    for number in range(12):
        part = (f"2026-01-0{number % 3 + 1}",)
        old = [each for each in made.live() if each.partition == part][:1]
        made.commit([made.file(500 + 37 * number, rows=1, partition=part)], old if number > 5 else [])
    made.tag("first", 2)
    return made


@pytest.mark.parametrize("folder", ["", "dt=2026-01-02", "dt=2026-01-02/bucket-0"])
def test_each_row_is_of_the_files_below_it(table: TableBuilder, folder: str) -> None:
    history = open_table(str(table.root)).history()
    files = history.files_at(history.require("12"))
    level = file_tree.level(files, folder)
    rows = level.to_pylist()
    assert rows
    born: dict[str, int] = {}
    for each in history.holders:
        for path in history.files_at(history.position(each.point))["path"].to_pylist():
            born[path] = min(born.get(path, NOW_MS), each.snapshot.time_ms if each.snapshot else NOW_MS)
    live = {row["path"]: row["bytes"] for row in files.to_pylist()}
    every = {row["path"]: row["bytes"] for row in history.files.to_pylist()}
    ages, sizes, rewrites = (
        file_map.values(history, files, level, folder, by, NOW_MS)
        for by in (file_map.AGE, file_map.SIZE, file_map.REWRITES)
    )
    for row, age, size, rewritten in zip(rows, ages, sizes, rewrites, strict=True):
        below = [path for path in live if path == row["folder"] or path.startswith(row["folder"] + "/")]
        assert below
        weight = sum(live[path] for path in below)
        assert age == pytest.approx(sum(live[path] * (NOW_MS - born[path]) for path in below) / weight)
        assert size == pytest.approx(weight / len(below))
        where = folder if row["is_file"] else row["folder"]
        here = sum(bytes_ for path, bytes_ in live.items() if path.startswith(where + "/"))
        written = sum(bytes_ for path, bytes_ in every.items() if path.startswith(where + "/"))
        assert rewritten == pytest.approx(written / here)
    if not folder:
        assert max(filter(None, rewrites)) > 1


def test_a_file_that_moved_to_another_level_was_written_once(tmp_path: Path) -> None:
    """An upgrade deletes and adds the same path; its age counts from the first version that has it at any level."""
    made = TableBuilder(tmp_path / "t", step_ms=DAY_MS)
    first = made.file(1_000, rows=1)
    made.commit([first])
    made.commit([made.file(1_000, rows=1)])
    made.commit([dataclasses.replace(first, level=5)], [first], kind="COMPACT")
    made.commit([made.file(10, rows=1)])

    def values(by: str) -> list[float | None]:
        history = open_table(str(made.root)).history()
        files = history.files_at(history.require("4"))
        return file_map.values(history, files, file_tree.level(files, ""), "", by, NOW_MS)

    assert values(file_map.REWRITES) == [1.0]
    made.expire([1, 2])
    assert None not in values(file_map.AGE)
