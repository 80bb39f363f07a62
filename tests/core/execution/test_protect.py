"""Protecting a version for a limited time: one kind of tag, wherever it is requested, and no expiry deletes its
files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.cli import main
from core.execution.apply import apply
from core.execution.protect import DAYS_MS, hold, pins, protection
from core.model.actions import CreateTag, Expire
from core.table import open_table, resolve
from tests.support.builders import START_MS, TableBuilder

HOUR_MS = 3_600_000
NOW_MS = START_MS + 9 * DAYS_MS


@pytest.fixture
def made(tmp_path: Path) -> TableBuilder:
    made = TableBuilder(tmp_path / "t")
    for _ in range(3):
        made.commit([made.file()], made.live()[:1])
    made.tag("v", 2)
    made.branch("dev", "v").commit([made.file()])
    return made


@pytest.mark.parametrize(("point", "answer"), [("1", "tag:"), ("branch:dev/2", "branch:dev/tag:")])
def test_a_held_point_outlives_an_expiry(made: TableBuilder, point: str, answer: str) -> None:
    table = open_table(str(made.root))
    found = resolve(table.heads(), point)
    held = hold(table, found, HOUR_MS, NOW_MS)
    assert held == f"{answer}protect-{found.snapshot.id}-{NOW_MS}"
    expiry = Expire(branch=found.branch, retain_max=1, retain_min=1)
    apply(table, table.preview(expiry, NOW_MS), settle_s=0)
    kept = resolve(table.heads(), held)
    assert pins(table.heads(), kept) == [held.rsplit("tag:", 1)[-1]]
    assert kept.snapshot.id == found.snapshot.id
    assert table.missing_files(table.history(), held) == []


def test_a_protected_point_is_verified_and_held_without(made: TableBuilder) -> None:
    table = open_table(str(made.root))
    asked = protection(table, resolve(table.heads(), "2"), DAYS_MS, NOW_MS)
    assert asked == CreateTag(f"protect-2-{NOW_MS}", 2, DAYS_MS, verified=True)


def test_the_command_line_gives_it_the_same_name(made: TableBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["protect", str(made.root), "2", "--now", str(NOW_MS), "--yes", "--json"]) == 0
    asked = json.loads(capsys.readouterr().out)["change"]
    assert (asked["name"], asked["retained_ms"], asked["verified"]) == (f"protect-2-{NOW_MS}", DAYS_MS, True)
