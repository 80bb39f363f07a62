"""Which directories are branches."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from core.errors import Corrupt
from core.formats.paimon.read.branches import branches_of
from core.formats.paimon.read.lagging_reads import Patience
from core.storage.store import Store
from tests.support.builders import TableBuilder


@pytest.fixture
def table(tmp_path: Path) -> TableBuilder:
    made = TableBuilder(tmp_path / "t")
    made.commit([made.file()])
    made.tag("v")
    return made


def found(table: TableBuilder) -> list[str]:
    return branches_of(Patience(Store(str(table.root)), time.monotonic()))


def test_directories_of_references_are_branches_and_what_stands_beside_them_is_not(table: TableBuilder) -> None:
    assert found(table) == []
    table.branch("dev", "v")
    (table.root / "branch/branch-team/x/snapshot").mkdir(parents=True)  # the name team/x
    (table.root / "branch/branch-empty").mkdir()
    (table.root / "branch/branch-file").write_bytes(b"")
    (table.root / "branch/other").mkdir()
    assert found(table) == ["dev", "empty", "team/x"]


def test_a_branch_whose_name_is_no_text_is_refused(table: TableBuilder) -> None:
    table.branch("x", "v")
    os.rename(table.root / "branch/branch-x", os.fsencode(table.root / "branch") + b"/branch-\xff")
    with pytest.raises(Corrupt, match="not valid UTF-8"):
        found(table)


def test_main_among_the_branches_is_refused(table: TableBuilder) -> None:
    table.branch("x", "v")
    (table.root / "branch/branch-x").rename(table.root / "branch/branch-main")
    with pytest.raises(Corrupt, match="stored under the name main"):
        found(table)
