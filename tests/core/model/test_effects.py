"""The one list of steps: what is shown of a plan is what is run."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from core.model import effects
from core.model.actions import (
    Change,
    CreateTag,
    DeleteBranches,
    DropPartitions,
    Expire,
    RenameTag,
    ReplaceTag,
    Rollback,
)
from core.model.effects import (
    CheckTable,
    DeleteIfEqual,
    DeleteUnreferencedFiles,
    Effect,
    PutIfAbsent,
    Require,
    Wait,
    changes,
    ended,
    is_shared,
    steps,
)
from core.table import open_table
from tests.support.builders import TableBuilder
from tests.support.execution import ground


def test_neighbours_of_a_kind_are_one_step() -> None:
    gone = [DeleteIfEqual(f"snapshot/snapshot-{number}", b"") for number in (1, 2, 3)]
    found = steps(ended([*gone, PutIfAbsent("tag/tag-a", b"")], 1_204, 5_000, waits=True))
    assert [(each.kind, each.count, each.words) for each in found] == [
        ("DeleteIfEqual", 3, "Delete 3 references, each if unchanged: snapshot/snapshot-1 … snapshot/snapshot-3"),
        ("PutIfAbsent", 1, "Create tag/tag-a, if nothing is there"),
        ("Wait", 1, "Wait for running writers to finish"),
        (
            "DeleteUnreferencedFiles",
            1,
            "Read all references again; delete of 1,204 files (5.0 kB) those that none of them holds",
        ),
        ("CheckTable", 1, "Check that everything that stays can be read"),
    ]


def test_what_changes_nothing_has_no_steps() -> None:
    assert steps(ended((), 0, 0, waits=False)) == ()


def test_files_go_after_the_wait_and_the_check_comes_last() -> None:
    assert ended((), 2, 7, waits=True) == (Wait(), DeleteUnreferencedFiles(2, 7), CheckTable())
    assert changes(ended([Require("a", b"")], 2, 7, waits=True)) == (Require("a", b""),)


ORDERS: dict[str, tuple[Change, list[str], bool]] = {
    "expire": (
        Expire(retain_max=3, retain_min=1, drop_tags=("early",)),
        ["DeleteIfEqual", "RepairHint", "Wait", "DeleteUnreferencedFiles", "CheckTable"],
        False,
    ),
    "create a tag": (CreateTag("new", 9), ["Require", "PutIfAbsent", "Require", "VerifyFiles"], True),
    "rename a tag": (RenameTag("early", "new"), ["Require", "PutIfAbsent", "Require", "DeleteIfEqual"], True),
    "replace a tag": (
        ReplaceTag("early", 9),
        ["Require", "ReplaceIfEqual", "Require", "Wait", "CheckTable"],
        False,
    ),
    "roll back as latest": (
        Rollback("5"),
        ["VerifyFiles", "Require", "PutIfAbsent", "Require", "VerifyFiles", "CommitSnapshot"],
        False,
    ),
    "roll back destructively": (
        Rollback("5", destructive=True),
        ["Require", "SetHint", "DeleteIfEqual", "Require", "RequireNewest", "CheckTable"],
        False,
    ),
    "delete a branch": (
        DeleteBranches(("b",)),
        ["DeleteIfEqual", "RemoveDirectory", "Wait", "DeleteUnreferencedFiles", "CheckTable"],
        False,
    ),
}


@pytest.mark.parametrize("name", ORDERS)
def test_references_go_before_files_and_sources_are_required_before_and_after(name: str, tmp_path: Path) -> None:
    change, order, shared = ORDERS[name]
    root = ground.warehouse(tmp_path)
    ground.small_table(root)
    plan = open_table(str(root)).preview(change, ground.LATE_MS)
    assert [each.kind for each in steps(plan.effects)] == order
    assert is_shared(plan.effects) is shared
    (files,) = [each.files for each in plan.effects if isinstance(each, DeleteUnreferencedFiles)] or [0]
    assert files == len(plan.frees)
    if not shared and not isinstance(change, ReplaceTag):
        gone = {each.path for each in plan.effects if isinstance(each, DeleteIfEqual)}
        assert gone == {path for path, _ in plan.removes}


def test_every_effect_is_told_and_stands_in_the_crash_table_or_changes_nothing() -> None:
    assert all(f"`{kind.__name__}`" in str(effects.__doc__) for kind in get_args(Effect))


def test_a_commit_is_one_step_on_the_snapshot_that_was_shown(tmp_path: Path) -> None:
    root = ground.warehouse(tmp_path)
    table = TableBuilder(root, partition_keys=["dt"])
    table.commit([table.file(1_000, rows=10, partition=("2026-01-01",))])
    plan = open_table(str(root)).preview(DropPartitions(("dt=2026-01-01",)), ground.LATE_MS)
    assert [each.words for each in steps(plan.effects)] == [
        "Commit a snapshot on top of snapshot/snapshot-1, if that is still the newest"
    ]
