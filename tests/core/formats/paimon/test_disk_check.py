"""Files that are not where a version says: what may be one of them is not deleted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.formats.paimon import disk_check
from core.formats.paimon.disk_check import PaimonDiskCheck
from core.messages import Reason
from core.table import open_table
from tests.support.builders import TableBuilder
from tests.support.formats.in_parts import agrees


@pytest.fixture
def table(tmp_path: Path) -> TableBuilder:
    made = TableBuilder(tmp_path / "t")
    made.commit([made.file(5_000, rows=46)])
    return made


def unsure(root: Path, frees: set[str]) -> dict[str, Reason]:
    """Where nothing may be deleted, and why, if these were to go."""
    opened = open_table(str(root))
    history = opened.history()
    agrees(opened, history, 3)
    return dict(disk_check.doubts(opened.store, history, frees).unsure)


def test_a_held_file_that_is_not_there_makes_its_directory_unsure(table: TableBuilder, tmp_path: Path) -> None:
    """A name that changed by a digit: the file that is meant looks free."""
    held, free = (f"bucket-0/{file.name}" for file in (table.live()[0], table.file()))
    (tmp_path / "t" / held).rename(tmp_path / "t/bucket-0/data-elsewhere.parquet")
    found = unsure(tmp_path / "t", {free})
    assert list(found) == ["bucket-0"]
    assert found["bucket-0"].values["path"] == held
    assert unsure(tmp_path / "t", {"index/index-x"}) == {}


def test_a_held_file_of_another_size_makes_its_directory_unsure(table: TableBuilder, tmp_path: Path) -> None:
    held, free = (f"bucket-0/{file.name}" for file in (table.live()[0], table.file()))
    os.truncate(tmp_path / "t" / held, 7)
    found = unsure(tmp_path / "t", {free})
    assert "7 bytes instead of 5000" in found["bucket-0"].text


def test_a_namesake_of_an_absent_file_is_unsure(table: TableBuilder, tmp_path: Path) -> None:
    """A bucket that changed by a digit: the file that is meant lies elsewhere under the same name."""
    name = table.live()[0].name
    for bucket in (1, 2):
        (tmp_path / f"t/bucket-{bucket}").mkdir()
        (tmp_path / f"t/bucket-{bucket}" / name).touch()
    namesakes = {f"bucket-{bucket}/{name}" for bucket in (1, 2)}
    assert unsure(tmp_path / "t", namesakes) == {}
    (tmp_path / "t/bucket-0" / name).unlink()
    found = unsure(tmp_path / "t", namesakes | {"bucket-1/other"})
    assert found.keys() == namesakes


def test_what_is_outside_the_places_of_a_table_stays(table: TableBuilder) -> None:
    store = open_table(str(table.root)).store
    found = PaimonDiskCheck.of(store, []).doubts([], [], ())
    assert found.of("README.md") is not None
    assert found.of("bucket-0/data-x.parquet") is None
