"""Completing requests with what depends on the table or on the current time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.errors import Invalid
from core.model.actions import CleanOrphans, CreateTag
from core.procedures.change_input import read_change
from core.procedures.registry import BY_COMMAND
from core.table import open_table
from core.units import iso
from tests.support.builders import DAY_MS, START_MS
from tests.support.execution import ground, iceberg_ground

LATE_MS = START_MS + 10**9


@pytest.fixture
def place(tmp_path: Path) -> str:
    ground.small_table(tmp_path / "default.db" / "t")
    return str(tmp_path / "default.db" / "t")


def test_orphans_are_a_day_old_and_never_of_the_future(place: str) -> None:
    heads = open_table(place).heads()
    given: dict[str, Any] = {"branch": "main", "older_than": None, "also": [], "delete": False}
    found, _ = read_change(BY_COMMAND["orphans"], given, heads, LATE_MS, LATE_MS)
    assert found == CleanOrphans(LATE_MS - DAY_MS)
    later = given | {"older_than": iso(LATE_MS + 1)}
    with pytest.raises(Invalid, match="The age limit for orphans must be in the past"):
        read_change(BY_COMMAND["orphans"], later, heads, LATE_MS + 2 * DAY_MS, LATE_MS)


def test_a_later_moment_makes_no_file_an_orphan_sooner(place: str) -> None:
    """`--now`, at which a plan is made: the files of a running writer are as old as they are."""
    heads = open_table(place).heads()
    given: dict[str, Any] = {"branch": "main", "older_than": None, "also": [], "delete": False}
    found, _ = read_change(BY_COMMAND["orphans"], given, heads, LATE_MS + DAY_MS - 1, LATE_MS)
    assert found == CleanOrphans(LATE_MS - DAY_MS)


def test_orphans_of_iceberg_are_three_days_old(tmp_path: Path) -> None:
    heads = open_table(str(iceberg_ground.small_table(tmp_path / "t"))).heads()
    given: dict[str, Any] = {"branch": "main", "older_than": None, "also": [], "delete": False}
    found, _ = read_change(BY_COMMAND["orphans"], given, heads, LATE_MS, LATE_MS)
    assert found == CleanOrphans(LATE_MS - 3 * DAY_MS)


def test_a_tag_from_a_time_names_a_snapshot(place: str) -> None:
    heads = open_table(place).heads()
    given: dict[str, Any] = {
        "branch": "main",
        "name": "x",
        "snapshot": None,
        "time": str(START_MS + 1),
        "watermark": None,
    }
    change, target = read_change(
        BY_COMMAND["create-tag"], {**given, "time_retained": None, "verify": False}, heads, LATE_MS, LATE_MS
    )
    assert change == CreateTag("x", 2)
    assert target is not None
    assert target.snapshot.id == 2
