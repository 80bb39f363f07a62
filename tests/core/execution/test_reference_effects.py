"""References rewritten while others work on the same table: nothing of theirs is lost, and the run reports it."""

from __future__ import annotations

import datetime as dt
import errno
import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import Conflict, Corrupt
from core.execution import recovery
from core.execution.apply import apply
from core.execution.journal import FAILED, REMOVED, UNDONE, Journal
from core.formats.paimon.format import PaimonFormat
from core.formats.paimon.manifests import PaimonManifests
from core.formats.paimon.write import documents
from core.model import codes
from core.model.actions import Change, CreateBranch, Expire, FastForward, RenameBranch, ResetConsumer, Rollback
from core.model.plan import Plan
from core.storage import local_disk
from core.storage.store import Store
from core.storage.time_limits import silent
from core.table import Table, open_table
from tests.support.builders import TableBuilder
from tests.support.execution import ground
from tests.support.execution.dying import Death, Life, MortalStore, dies, until

NOW = ground.LATE_MS
EXPIRE = Expire(retain_max=3, retain_min=3)
MEANWHILE = r"committed in the meantime|was being deleted"


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
    """The run does not end because of it; undo restores what the commit is based on."""
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

    table = Table(PaimonFormat(MortalStore(str(root), Watched()), PaimonManifests(Store(str(root)))))
    with pytest.raises(Conflict, match=MEANWHILE):
        apply(table, table.preview(change, ground.LATE_MS), settle_s=0)
    assert (root / made).read_bytes() == theirs
    run = Journal().open_run(table.location)
    assert run is not None
    with pytest.raises(Conflict, match=MEANWHILE):
        recovery.resume(run.id, open_table=open_table, settle_s=0)
    recovery.undo(run.id, open_table=open_table)
    assert ground.references(root) == {**before, made: theirs}
    assert ground.broken(root) == []
    if directory == "snapshot":
        assert (root / "snapshot/LATEST").read_text() == "10"


def _numbered(first: int, end: int) -> set[str]:
    return {f"snapshot/snapshot-{number}" for number in range(first, end)}


def meanwhile(root: Path, change: Change, at: str, act: Callable[[], object]) -> tuple[Table, Plan]:
    """A table whose store lets another process act just before an effect, and the plan of the change."""

    class Watched(Life):
        def effect(self, what: str) -> None:
            super().effect(what)
            if what == at:
                act()

    table = Table(PaimonFormat(MortalStore(str(root), Watched()), PaimonManifests(Store(str(root)))))
    return table, table.preview(change, ground.LATE_MS)


def test_who_commits_under_an_id_that_just_went_is_not_left_standing_on_nothing(tmp_path: Path) -> None:
    """Snapshot 9 was removed, another writer's 9 was committed on top of 8, then 8 was to be removed: 8 and what it is
    based on are restored."""
    root = ground.warehouse(tmp_path / "w")
    ground.small_table(root)
    before = ground.references(root)
    theirs = json.dumps(json.loads(before["snapshot/snapshot-8"]) | {"id": 9}).encode()
    made = root / "snapshot/snapshot-9"
    change = Rollback("5", destructive=True)
    table, plan = meanwhile(root, change, "delete snapshot/snapshot-8", lambda: made.write_bytes(theirs))
    with pytest.raises(Conflict, match=MEANWHILE):
        apply(table, plan, settle_s=0)
    run = Journal().open_run(table.location)
    assert run is not None
    with pytest.raises(Conflict, match=MEANWHILE):
        recovery.resume(run.id, open_table=open_table, settle_s=0)
    recovery.undo(run.id, open_table=open_table)
    assert ground.references(root) == {**before, "snapshot/snapshot-9": theirs}
    assert (root / "snapshot/LATEST").read_text() == "9"


def test_commits_after_a_rollback_that_was_cut_off_at_its_end_are_no_trouble(tmp_path: Path) -> None:
    """They are based on the rollback target, which may have expired since."""
    root = ground.warehouse(tmp_path / "w")
    builder = ground.small_table(root)
    run = dies(builder, Rollback("5", destructive=True), f"journal: entry {REMOVED}")
    document = json.loads((root / "snapshot/snapshot-5").read_bytes())
    for number in (6, 7):
        (root / f"snapshot/snapshot-{number}").write_text(json.dumps(document | {"id": number}))
    for number in range(1, 7):
        (root / f"snapshot/snapshot-{number}").unlink()
    now = ground.references(root)
    assert recovery.resume(run, open_table=open_table, settle_s=0).outcome == "done"
    assert ground.references(root) == now
    assert (root / "snapshot/LATEST").read_text() == "7", "engines believe it where no next one is there"


def commit(root: Path, *numbers: int) -> None:
    """Commit as other writers do: each on top of the snapshot before it."""
    for number in numbers:
        document = json.loads((root / f"snapshot/snapshot-{number - 1}").read_bytes())
        (root / f"snapshot/snapshot-{number}").write_text(json.dumps(document | {"id": number, "commitUser": "other"}))
    (root / "snapshot/LATEST").write_text(str(numbers[-1]))


def roll_back_to_3(root: Path) -> None:
    (root / "snapshot/LATEST").write_text("3")
    for path in _numbered(4, 10):
        (root / path).unlink(missing_ok=True)


def roll_back_and_commit(root: Path) -> None:
    roll_back_to_3(root)
    commit(root, 4, 5)


def commit_and_expire(root: Path) -> None:
    newest = max(int(path.name.rpartition("-")[2]) for path in (root / "snapshot").glob("snapshot-*"))
    commit(root, newest + 1, newest + 2)
    for path in _numbered(1, newest + 1):
        (root / path).unlink(missing_ok=True)
    (root / "snapshot/EARLIEST").write_text(str(newest + 1))


@pytest.mark.parametrize("change", [CreateBranch("new", "tag:early"), RenameBranch("b", "new")])
@pytest.mark.parametrize("count", [1, 2])
def test_an_undo_that_dies_leaves_no_empty_branch_to_the_next_one(change: Change, count: int, tmp_path: Path) -> None:
    """To engines, an empty directory is a branch."""
    root = ground.warehouse(tmp_path / "w")
    run = dies(ground.small_table(root), change, "create branch/branch-new/snapshot")
    before = ground.references(root)
    mortal = ground.open_with(MortalStore(str(root), until("remove directory", count=count)))
    with pytest.raises(Death):
        recovery.undo(run, open_table=lambda _: mortal)
    assert not [path for path in ground.references(root) if path.startswith("branch/branch-new/")]
    assert (root / "branch/branch-new").exists()
    recovery.undo(run, open_table=open_table)
    assert not (root / "branch/branch-new").exists()
    assert {path for path in before if "/branch-new/" not in path} == ground.references(root).keys()


def test_an_undo_leaves_no_branch_of_temporary_files(tmp_path: Path) -> None:
    """A process that is killed while it creates a branch leaves the file that was to get its name."""
    root = ground.warehouse(tmp_path / "w")
    run = dies(ground.small_table(root), CreateBranch("new", "tag:early"), "create branch/branch-new/schema")
    left = root / "branch/branch-new/schema/.schema-0.00000000-0000-4000-8000-000000000001.tmp"
    left.parent.mkdir(parents=True)
    left.write_text("{}")
    recovery.undo(run, open_table=open_table)
    assert not (root / "branch/branch-new").exists()
    assert (root / "branch/branch-b").exists()


def test_an_undo_leaves_the_temporary_files_of_others(tmp_path: Path) -> None:
    root = ground.warehouse(tmp_path / "w")
    run = dies(ground.small_table(root), CreateBranch("new", "tag:early"), "create branch/branch-new/schema")
    others = root / "branch/branch-new/schema/.schema-1.00000000-0000-4000-8000-000000000001.tmp"
    others.parent.mkdir(parents=True)
    others.write_text("{}")
    recovery.undo(run, open_table=open_table)
    assert others.exists()


@pytest.mark.parametrize("others", [roll_back_to_3, roll_back_and_commit])
@pytest.mark.parametrize("at", ["put snapshot/LATEST", "delete snapshot/snapshot-7", f"journal: entry {REMOVED}"])
def test_a_rollback_by_others_since_is_not_reversed(at: str, others: Callable[[Path], None], tmp_path: Path) -> None:
    """Restored above it, old snapshots would be the newest, after a gap in the ids."""
    root = ground.warehouse(tmp_path / "w")
    run = dies(ground.small_table(root), Rollback("5", destructive=True), at)
    others(root)
    now = ground.references(root)
    with pytest.raises(Conflict, match=r"snapshot-5 .*someone has rolled back .*Resume the run instead"):
        recovery.undo(run, open_table=open_table)
    assert ground.references(root) == now
    receipt = recovery.resume(run, open_table=open_table, settle_s=0)
    assert ({path: ground.references(root).get(path) for path in now if "/snapshot-" in path}
            == {path: text for path, text in now.items() if "/snapshot-" in path})  # fmt: skip
    assert receipt.outcome == "done"
    assert ground.broken(root) == []


def test_a_snapshot_that_expired_since_is_not_restored(tmp_path: Path) -> None:
    root = ground.warehouse(tmp_path / "w")
    run = dies(ground.small_table(root), Rollback("5", destructive=True), "delete snapshot/snapshot-8")
    before = ground.references(root)
    for path in _numbered(1, 7):
        (root / path).unlink()
    assert recovery.undo(run, open_table=open_table) == ("snapshot/snapshot-9",)
    left = {path for path in ground.references(root) if path.startswith("snapshot/snapshot-")}
    assert left == _numbered(7, 10)
    assert before.keys() - _numbered(1, 7) < ground.references(root).keys()


@pytest.mark.parametrize(
    ("change", "at", "others"),
    [
        (FastForward("b"), "put snapshot/snapshot-5", roll_back_to_3),
        (FastForward("b"), "put snapshot/snapshot-5", commit_and_expire),
        (FastForward("b"), "delete tag/tag-twin", roll_back_to_3),
        (Rollback("tag:early", destructive=True), "delete snapshot/snapshot-8", commit_and_expire),
    ],
)
def test_what_can_neither_be_done_nor_undone_ends_and_says_so(
    change: Change, at: str, others: Callable[[Path], None], tmp_path: Path
) -> None:
    """Otherwise, its run would block the table for ever."""
    root = ground.warehouse(tmp_path / "w")
    run = dies(ground.small_table(root), change, at)
    others(root)
    now = ground.references(root)
    with pytest.raises(Conflict, match="Resume the run instead"):
        recovery.undo(run, open_table=open_table)
    receipt = recovery.resume(run, open_table=open_table, settle_s=0)
    assert [each.code for each in receipt.problems] == [codes.REST_LEFT]
    assert ground.references(root) == now
    assert Journal().open_run(str(root)) is None


def test_main_is_not_forwarded_below_a_commit_by_others(tmp_path: Path) -> None:
    """It would not contain the branch's rows, nor would a reader of the table."""
    root = ground.warehouse(tmp_path / "w")
    run = dies(ground.small_table(root), FastForward("b"), "put snapshot/snapshot-5")
    commit(root, 6)
    now = ground.references(root)
    with pytest.raises(Conflict, match=MEANWHILE):
        recovery.resume(run, open_table=open_table, settle_s=0)
    recovery.undo(run, open_table=open_table)
    assert ground.references(root) == now
    assert (root / "snapshot/LATEST").read_text() == "6"


def test_a_point_that_expires_while_it_is_rolled_back_to_leaves_the_table_as_it_was(tmp_path: Path) -> None:
    root = ground.warehouse(tmp_path / "w")
    ground.small_table(root)
    before = ground.references(root)

    def expires() -> None:
        for path in _numbered(1, 6):
            (root / path).unlink()

    change = Rollback("5", destructive=True)
    table, plan = meanwhile(root, change, "delete snapshot/snapshot-9", expires)
    with pytest.raises(Conflict, match="Another writer changed"):
        apply(table, plan, settle_s=0)
    assert ground.references(root) == {path: before[path] for path in before.keys() - _numbered(1, 6)}


def test_a_forwarded_main_begins_where_its_branch_begins(tmp_path: Path) -> None:
    """An old EARLIEST would name a snapshot again once main gets that far, and hide all before it."""
    root = ground.warehouse(tmp_path / "w")
    builder = ground.small_table(root)
    builder.commit([builder.file(10, partition=("2026-01-01",))])
    for number in range(1, 8):
        (root / f"snapshot/snapshot-{number}").unlink()
    (root / "snapshot/EARLIEST").write_text("8")
    table = open_table(str(root))
    apply(table, table.preview(FastForward("b"), ground.LATE_MS), settle_s=0)
    assert min(path for path in ground.references(root) if path.startswith("snapshot/")) == "snapshot/snapshot-4"
    assert (root / "snapshot/EARLIEST").read_text() == "4"


def test_no_hint_names_changelogs_that_are_all_gone(tmp_path: Path) -> None:
    """Neither after the rollback, nor missing after an undo."""
    root = ground.warehouse(tmp_path / "w")
    builder = ground.small_table(root)
    (root / "changelog").mkdir()
    (root / "snapshot/snapshot-3").rename(root / "changelog/changelog-3")
    for path in _numbered(1, 3):
        (root / path).unlink()
    hints = [root / "changelog" / name for name in ("EARLIEST", "LATEST")]
    for hint in hints:
        hint.write_text("3")
    change = Rollback("tag:early", destructive=True)
    run = dies(builder, change, f"journal: entry {REMOVED}")
    assert not any(hint.exists() for hint in hints)
    recovery.undo(run, open_table=open_table)
    assert [hint.read_text() for hint in hints] == ["3", "3"]


def test_no_new_snapshot_has_the_content_of_a_tag_that_went_before_the_resume(tmp_path: Path) -> None:
    """Deleting a tag deletes its files."""
    root = ground.warehouse(tmp_path / "w")
    builder = ground.small_table(root)
    run = dies(builder, Rollback("tag:early"), "create snapshot/snapshot-10")
    (root / "tag/tag-early").unlink()
    with pytest.raises(Conflict, match="tag-early"):
        recovery.resume(run, open_table=open_table, settle_s=0)
    assert not (root / "snapshot/snapshot-10").exists()
    recovery.undo(run, open_table=open_table)


def test_no_new_snapshot_has_the_content_of_a_point_that_expired_before_its_tag_came(tmp_path: Path) -> None:
    root = ground.warehouse(tmp_path / "w")
    builder = ground.small_table(root)
    before = ground.references(root)
    run = dies(builder, Rollback("5"), "create manifest/")
    path = next(path for path in sorted(builder.commits[5].paths) if path.endswith(".parquet"))
    (root / path).unlink()
    with pytest.raises(Corrupt, match="was withdrawn"):
        recovery.resume(run, open_table=open_table, settle_s=0)
    recovery.undo(run, open_table=open_table)
    assert ground.references(root) == before


def test_what_comes_back_from_a_tag_that_ends_is_kept_by_one_that_does_not(tmp_path: Path) -> None:
    """An engine that deletes the tag would delete the files, because it only knows one lifetime of them."""
    root = ground.warehouse(tmp_path / "w")
    ground.small_table(root)
    tag = root / "tag/tag-early"
    whole = tag.read_bytes()
    tag.write_bytes(documents.tag(documents.untagged(whole), dt.datetime(2026, 1, 1), 86_400_000))
    table = open_table(str(root))
    receipt = apply(table, table.preview(Rollback("tag:early"), ground.LATE_MS), settle_s=0)
    [kept] = [path for path in receipt.created if path.startswith("tag/")]
    assert json.loads((root / kept).read_bytes()) == json.loads(documents.untagged(whole))
    assert ground.broken(root) == []


def test_no_branch_is_cut_from_a_tag_that_went_before_the_resume(tmp_path: Path) -> None:
    root = ground.warehouse(tmp_path / "w")
    builder = ground.small_table(root)
    run = dies(builder, CreateBranch("c", "tag:early"), "create branch/branch-c/snapshot")
    (root / "tag/tag-early").unlink()
    with pytest.raises(Conflict, match="Another writer changed"):
        recovery.resume(run, open_table=open_table, settle_s=0)
    recovery.undo(run, open_table=open_table)
    assert not (root / "branch/branch-c").exists()


def test_the_receipt_names_what_went(tmp_path: Path) -> None:
    """Removed references are deleted files, also in the journal; they freed nothing."""
    root = ground.warehouse(tmp_path / "w")
    builder = ground.small_table(root)
    gone = {f"snapshot/snapshot-{number}" for number in (6, 7, 8, 9)}
    run = dies(builder, Rollback("5", destructive=True), "delete snapshot/snapshot-7")
    receipt = recovery.resume(run, open_table=open_table, settle_s=0)
    assert set(receipt.deleted) == gone
    assert sorted(Journal().deleted(run)) == sorted(receipt.deleted)
    assert (receipt.outcome, receipt.freed_bytes, receipt.planned_files) == ("done", 0, 0)


def test_a_consumer_that_reads_on_by_itself_does_not_block_the_table(tmp_path: Path) -> None:
    """The run was interrupted before the consumer was set; its current position is its reader's, and nothing is
    ours."""
    root = ground.warehouse(tmp_path / "w")
    builder = ground.small_table(root)
    builder.consumer("job", 3)
    run = dies(builder, ResetConsumer("job", 7), "put consumer/consumer-job")
    builder.consumer("job", 4)
    before = ground.references(root)
    with pytest.raises(Conflict, match="consumer-job"):
        recovery.resume(run, open_table=open_table, settle_s=0)
    assert recovery.undo(run, open_table=open_table) == ()
    assert ground.references(root) == before
    assert Journal().open_run(str(root)) is None


# a full disk: what changed nothing leaves no run open ----------------------------------------------------------------


@pytest.fixture
def table(tmp_path: Path) -> TableBuilder:
    return ground.small_table(ground.warehouse(tmp_path))


@pytest.fixture
def fill(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Fill the disk: after so many files nothing can be written."""

    def full(after: int) -> None:
        written = list[str]()
        temporary = local_disk.temporary

        def refusing(path: str, data: bytes) -> object:
            if data and len(written) == after:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
            written.extend([path] if data else [])
            return temporary(path, data)

        monkeypatch.setattr(local_disk, "temporary", refusing)

    return full


@pytest.mark.parametrize("has_hints", [True, False])
@pytest.mark.parametrize("change", [EXPIRE, Rollback("4", destructive=True)], ids=lambda change: type(change).__name__)
def test_what_fails_before_it_changes_anything_leaves_no_run_open(
    table: TableBuilder, change: Change, has_hints: bool, fill: Callable[[int], None]
) -> None:
    for hint in () if has_hints else ("EARLIEST", "LATEST"):
        (table.root / "snapshot" / hint).unlink()
    opened, before = open_table(str(table.root)), ground.disk(table.root)
    plan = opened.preview(change, NOW)
    fill(0)
    with pytest.raises(Corrupt, match="No space left") as refused:
        apply(opened, plan, settle_s=0)
    assert "unfinished" not in str(refused.value)
    assert "Free a few kilobytes on that disk" in str(refused.value)
    assert ground.disk(table.root) == before
    (run,) = Journal().runs()
    assert run.state == UNDONE
    assert "No space left" in str(run.problem)


def test_a_hint_is_put_back_if_nothing_could_be_deleted(table: TableBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else engines would not see the snapshots that are still there."""
    opened, before = open_table(str(table.root)), ground.references(table.root)

    def denied(*_: object) -> bool:
        assert (table.root / "snapshot/EARLIEST").read_text() != "1", "nothing is deleted before it is hidden"
        raise Corrupt("Access denied.")

    monkeypatch.setattr(Store, "delete", denied)
    with pytest.raises(Corrupt, match="denied"):
        apply(opened, opened.preview(EXPIRE, NOW), settle_s=0)
    assert (table.root / "snapshot/EARLIEST").read_text() == "1"
    assert ground.references(table.root) == before
    assert Journal().runs()[0].state == UNDONE


def test_a_deletion_without_an_answer_leaves_the_run_open(table: TableBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may still happen, after nothing was found to be deleted."""
    opened = open_table(str(table.root))

    def unanswered(store: Store, *_: object) -> bool:
        raise silent(store.location, 1)

    monkeypatch.setattr(Store, "delete", unanswered)
    with pytest.raises(Corrupt, match="did not answer"):
        apply(opened, opened.preview(EXPIRE, NOW), settle_s=0)
    assert Journal().runs()[0].state == FAILED


def test_a_hint_that_cannot_be_put_back_leaves_the_run_open(
    table: TableBuilder, fill: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = open_table(str(table.root))
    plan = opened.preview(EXPIRE, NOW)

    def denied(*_: object) -> bool:
        raise Corrupt("Access denied.")

    with monkeypatch.context() as patch:
        patch.setattr(Store, "delete", denied)
        fill(1)
        with pytest.raises(Corrupt, match="denied"):
            apply(opened, plan, settle_s=0)
    run = Journal().runs()[0]
    assert (run.state, run.can_undo) == (FAILED, True)
    with pytest.raises(Corrupt, match="No space left"):
        recovery.undo(run.id, open_table=open_table)
    assert Journal().run(run.id).can_undo


def test_a_run_that_has_deleted_something_stays_open(table: TableBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, before, delete = open_table(str(table.root)), ground.references(table.root), Store.delete

    def second(store: Store, relative: str, was: bytes | None = None) -> bool:
        if relative == "snapshot/snapshot-2":
            raise Corrupt("Access denied.")
        return delete(store, relative, was)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "delete", second)
        with pytest.raises(Corrupt, match="denied") as refused:
            apply(opened, opened.preview(EXPIRE, NOW), settle_s=0)
    (run,) = Journal().runs()
    assert (run.state, run.can_undo) == (FAILED, True)
    ways = f"Run {run.id} is unfinished. Resume it: snapscope resume {run.id}. Or undo it: snapscope undo {run.id}."
    assert refused.value.remedy == ways, "the error says that the run is open, and how to end it"
    with monkeypatch.context() as patch:
        patch.setattr(Store, "delete", second)
        with pytest.raises(Corrupt, match=f"denied.*{run.id} is unfinished"):
            recovery.resume(run.id, open_table=open_table, settle_s=0)
    recovery.undo(run.id, open_table=open_table)
    assert ground.references(table.root) == before


def test_what_changed_nothing_is_undone_on_a_full_disk(
    table: TableBuilder, fill: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, before = open_table(str(table.root)), ground.disk(table.root)

    def dies(*_: object) -> None:
        raise Death

    with monkeypatch.context() as patch:
        patch.setattr(Store, "put", dies)
        with pytest.raises(Death):
            apply(opened, opened.preview(EXPIRE, NOW), settle_s=0)
    (run,) = Journal().runs()
    assert run.can_undo
    fill(0)
    assert recovery.undo(run.id, open_table=open_table) == ()
    assert Journal().run(run.id).state == UNDONE
    assert ground.disk(table.root) == before


@pytest.mark.parametrize("code", [sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_READ])
@pytest.mark.parametrize("is_started", [False, True])
def test_a_full_disk_of_the_journal_is_told(
    tmp_path: Path, code: int, is_started: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite calls it an input or output error if it cannot write beside the journal."""
    journal = Journal(tmp_path / "journal.sqlite")
    run = journal.start("/w/t", "DeleteTags", {"change": {}, "fingerprint": "f"}, [], [])
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = code

    def failing(*_: object, **__: object) -> None:
        raise error

    full = shutil.disk_usage(tmp_path)._replace(free=4096)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    monkeypatch.setattr(sqlite3, "connect", failing)
    with pytest.raises(Corrupt, match="Free space on its disk") as told:
        journal.add(run, FAILED, {}) if is_started else journal.events()
    assert ("Nothing is changed without it." in str(told.value)) != is_started, "files may have been deleted"
    assert (f"then resume the run: snapscope resume {run}." in str(told.value)) == is_started
    if code != sqlite3.SQLITE_FULL:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: full._replace(free=1 << 30))
        with pytest.raises(Corrupt, match="not the journal" if is_started else "Make it readable"):
            journal.add(run, FAILED, {}) if is_started else journal.events()
