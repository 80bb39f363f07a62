"""Snapshots of a branch deleted many at a time: by its expiry, or with the branch. Crashes anywhere are resumed or
undone exactly, and engines never see a gap."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.execution import deleted_tags, expired_references, recovery, replanned
from core.execution.apply import apply
from core.execution.journal import Journal
from core.model.actions import Change, DeleteBranches, Expire, RenameBranch
from tests.support.builders import TableBuilder
from tests.support.depth import moments
from tests.support.execution import ground
from tests.support.execution.batches import crashed, crashed_at, every_crash, opened, resume, shuffling
from tests.support.execution.dying import Death, Life

NOW = ground.LATE_MS
BELOW = "branch/branch-b/snapshot"
CHANGES: dict[str, Change] = {
    "expire": Expire(branch="b", retain_max=2, retain_min=2),
    "delete": DeleteBranches(("b",)),
    "rename": RenameBranch("b", "c"),
}


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (expired_references, deleted_tags, replanned):
        monkeypatch.setattr(module, "BATCH", 4)


@pytest.fixture
def table(tmp_path: Path) -> TableBuilder:
    """A table with a branch of ten snapshots, 4 to 13, and two tags of its own."""
    table = ground.small_table(ground.warehouse(tmp_path))
    [branch] = [each for each in table._shared.lines if each is not table]
    for number in range(8):
        branch.commit([branch.file(2_000 + number, rows=10, partition=("2026-01-01",))])
    branch.tag("inner", 9)
    branch.hints(earliest=4)
    return table


def is_safe_branch(root: Path) -> bool:
    """Engines read a range without a gap, with a schema, and no tag across one; or there is no branch."""
    branch = root / "branch/branch-b"
    there = sorted(int(path.name[9:]) for path in branch.glob("snapshot/snapshot-*"))
    if not there:
        return not list(branch.glob("tag/tag-*"))
    try:
        hint = int((branch / "snapshot/EARLIEST").read_text())
    except FileNotFoundError:
        hint = there[0]
    first = hint if hint in there else there[0]
    tagged = {json.loads(path.read_bytes())["id"] for path in branch.glob("tag/tag-*")}
    lost = [number for number in tagged if number not in there and any(each < number for each in there)]
    read = [number for number in there if number >= first]
    return read == list(range(first, 14)) and (branch / "schema/schema-0").exists() and not lost


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_a_crash_anywhere_in_a_branch_is_resumed_to_the_end_of_a_clean_run(
    table: TableBuilder, tmp_path: Path, name: str
) -> None:
    clean = ground.copied(table.root, tmp_path / "default.db" / "clean")
    assert crashed(clean, CHANGES[name], 1_000, 1) is None
    for root, run in every_crash(table, CHANGES[name], 1, is_safe_branch):
        resume(run, root)
        assert ground.disk(root) == ground.disk(clean)
        assert ground.references(root) == ground.references(clean)
        assert ground.broken(root) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_a_crash_anywhere_in_a_branch_is_undone_exactly(table: TableBuilder, tmp_path: Path, name: str) -> None:
    before, undone = ground.references(table.root), 0
    for root, run in every_crash(table, CHANGES[name], 5, is_safe_branch):
        if not Journal().run(run).can_undo:
            break
        recovery.undo(run, open_table=lambda _, root=root: opened(root))
        assert ground.references(root) == before
        assert (root / "branch/branch-b/snapshot/EARLIEST").read_text() == "4"
        undone += 1
    assert undone > 6


@pytest.mark.slow
@pytest.mark.parametrize("name", ["expire", "delete"])
def test_an_undo_in_a_branch_that_crashes_is_undone_by_the_next_one(
    table: TableBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(expired_references, "each_of", shuffling(1))
    before = ground.references(table.root)
    for left in moments():
        root = ground.copied(table.root, tmp_path / "default.db" / "again")
        run = crashed_at(root, CHANGES[name], "journal: entry")
        life = Life(left=left)
        try:
            recovery.undo(run, open_table=lambda _, root=root, life=life: opened(root, life))
        except Death:
            assert is_safe_branch(root), left
            recovery.undo(run, open_table=lambda _, root=root: opened(root))
            assert ground.references(root) == before
        else:
            assert left > 6
            return


def test_the_snapshots_of_a_branch_go_in_batches(table: TableBuilder) -> None:
    """Those that are left are hidden, and the newest is deleted last: the branch is read as that one until then."""
    life = Life()
    mortal = opened(table.root, life)
    plan = mortal.preview(DeleteBranches(("b",)), NOW)
    life.log = []
    assert apply(mortal, plan, settle_s=0).outcome == "done"
    snapshots = [what for what in life.log if "/snapshot/" in what]
    assert snapshots[0] == f"put {BELOW}/EARLIEST"
    assert snapshots[10] == f"delete {BELOW}/snapshot-13"
    assert sorted(snapshots[1:10]) == sorted(f"delete {BELOW}/snapshot-{number}" for number in range(4, 13))
    assert snapshots[1:10] != [f"delete {BELOW}/snapshot-{number}" for number in range(4, 13)]
    assert not (table.root / "branch/branch-b").exists()


def test_snapshots_that_others_created_again_after_the_last_one_go_oldest_first(table: TableBuilder) -> None:
    """Nothing is left that the hint could name."""
    run = crashed_at(table.root, CHANGES["delete"], "delete branch/branch-b/schema/")
    for path, content in Journal().removed(run):
        if path in {f"{BELOW}/snapshot-{number}" for number in (4, 5, 6)}:
            (table.root / path).write_bytes(content)
    life = Life()
    receipt = recovery.resume(run, open_table=lambda _: opened(table.root, life), settle_s=0)
    assert receipt.outcome == "done"
    assert [what for what in life.log if "/snapshot-" in what][:3] == [
        f"delete {BELOW}/snapshot-{number}" for number in (4, 5, 6)
    ]
    assert ground.broken(table.root) == []
