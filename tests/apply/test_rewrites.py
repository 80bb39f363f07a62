"""References rewritten while others are at work on the same table: nothing of theirs is lost, and the run says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core import recover
from core.apply import apply
from core.changes import Change, CreateBranch, RenameBranch, Rollback
from core.errors import Conflict
from core.formats.paimon.manifest import Manifests
from core.journal import Journal
from core.store import Store
from core.table import Table, open_table
from tests.apply import ground
from tests.apply.dying import Life, MortalStore, dies

MEANWHILE = r"committed meanwhile|was being removed"


@pytest.mark.parametrize(
    ("change", "at", "directory", "number"),
    [
        (Rollback("5", destructive=True), "delete snapshot/snapshot-9", "snapshot", 10),
        (RenameBranch("b", "c"), "delete branch/branch-b/snapshot/snapshot-5", "branch/branch-b/snapshot", 6),
    ],
)
def test_who_commits_meanwhile_is_not_lost(
    change: Change, at: str, directory: str, number: int, tmp_path: Path
) -> None:
    """The run does not end over it; taken back, what the commit stands on is there again."""
    root = ground.warehouse(tmp_path / "w")
    ground.small_table(root)
    before = ground.references(root)
    made = f"{directory}/snapshot-{number}"
    theirs = json.dumps(json.loads(before[f"{directory}/snapshot-{number - 1}"]) | {"id": number}).encode()

    class Watched(Life):
        def effect(self, what: str) -> None:
            super().effect(what)
            if what == at:
                (root / made).write_bytes(theirs)

    table = Table(MortalStore(str(root), Watched()), Manifests(Store(str(root))))
    with pytest.raises(Conflict, match=MEANWHILE):
        apply(table, table.preview(change, ground.LATE_MS), settle_s=0)
    assert (root / made).read_bytes() == theirs
    run = Journal().open_run(table.location)
    assert run is not None
    with pytest.raises(Conflict, match=MEANWHILE):
        recover.resume(run.id, open_table=open_table, settle_s=0)
    recover.undo(run.id, open_table=open_table)
    assert ground.references(root) == {**before, made: theirs}
    assert ground.broken(root) == []
    if directory == "snapshot":
        assert (root / "snapshot/LATEST").read_text() == "10"


def test_no_branch_is_cut_from_a_tag_that_went_before_the_resume(tmp_path: Path) -> None:
    root = ground.warehouse(tmp_path / "w")
    builder = ground.small_table(root)
    run = dies(builder, CreateBranch("c", "tag:early"), "create branch/branch-c/snapshot")
    (root / "tag/tag-early").unlink()
    with pytest.raises(Conflict, match="changed by another hand"):
        recover.resume(run, open_table=open_table, settle_s=0)
    recover.undo(run, open_table=open_table)
    assert not (root / "branch/branch-c").exists()


def test_the_receipt_names_what_went(tmp_path: Path) -> None:
    """References that went are files that were deleted, in the journal too; nothing was freed by it."""
    root = ground.warehouse(tmp_path / "w")
    builder = ground.small_table(root)
    gone = {f"snapshot/snapshot-{number}" for number in (6, 7, 8, 9)}
    run = dies(builder, Rollback("5", destructive=True), "delete snapshot/snapshot-7")
    receipt = recover.resume(run, open_table=open_table, settle_s=0)
    assert set(receipt.deleted) == gone
    assert sorted(Journal().deleted(run)) == sorted(receipt.deleted)
    assert (receipt.outcome, receipt.freed_bytes, receipt.planned_files) == ("done", 0, 0)
