"""The effects of Paimon plans, in order."""

from __future__ import annotations

from pathlib import Path

import pytest

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
from core.model.effects import DeleteIfEqual, DeleteUnreferencedFiles, is_shared, steps
from core.table import open_table
from tests.support.builders import TableBuilder
from tests.support.execution import ground

ORDERS: dict[str, tuple[Change, list[str], bool]] = {
    "expire": (
        Expire(retain_max=3, retain_min=1, drop_tags=("early",)),
        ["DeleteIfEqual", "RaiseHint", "DeleteIfEqual", "RepairHint", "Wait", "DeleteUnreferencedFiles", "CheckTable"],
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
        [
            "DeleteIfEqual",
            "RaiseHint",
            "DeleteIfEqual",
            "RemoveDirectory",
            "Wait",
            "DeleteUnreferencedFiles",
            "CheckTable",
        ],
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


def test_a_commit_is_one_step_on_the_snapshot_that_was_shown(tmp_path: Path) -> None:
    root = ground.warehouse(tmp_path)
    table = TableBuilder(root, partition_keys=["dt"])
    table.commit([table.file(1_000, rows=10, partition=("2026-01-01",))])
    plan = open_table(str(root)).preview(DropPartitions(("dt=2026-01-01",)), ground.LATE_MS)
    assert [each.words for each in steps(plan.effects)] == [
        "Commit a snapshot on top of snapshot/snapshot-1, if that is still the newest"
    ]
