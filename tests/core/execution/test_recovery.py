"""Resume and undo: what a later process may do with a run that an earlier one left unfinished."""

from __future__ import annotations

import dataclasses
import itertools
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.errors import Conflict, Corrupt, DoesNotFit, ErrorCode, Invalid, NotFound, SnapscopeError, Unsupported
from core.execution import grace_period, recovery, table_lock
from core.execution import journal as journals
from core.execution.apply import apply
from core.execution.journal import CANCELLED, FAILED, REMOVED, Journal
from core.formats.paimon.format import PaimonFormat
from core.model import codes
from core.model.actions import (
    Change,
    CleanOrphans,
    CreateBranch,
    CreateTag,
    DeleteBranches,
    DeleteTags,
    Expire,
    FastForward,
    RenameBranch,
    RenameTag,
    ReplaceTag,
    Rollback,
)
from core.storage import memory
from core.storage.store import Store
from core.table import Table, open_table
from tests.support.builders import TableBuilder
from tests.support.execution import ground, iceberg_ground
from tests.support.execution.dying import Death, Life, MortalStore, dies

NOW = ground.LATE_MS
EXPIRE = Expire(retain_max=3, retain_min=3)


@pytest.fixture
def table(tmp_path: Path) -> TableBuilder:
    return ground.small_table(ground.warehouse(tmp_path))


def resume(run: str) -> None:
    receipt = recovery.resume(run, open_table=open_table, settle_s=0)
    assert receipt.outcome == "done"


def test_what_is_cancelled_before_any_file_went_can_be_taken_back(table: TableBuilder) -> None:
    """Cancel during the grace period: only references are gone by then."""
    before = {path: path.read_bytes() for path in table.root.rglob("*") if path.is_file() and path.name != "EARLIEST"}
    opened = open_table(str(table.root))
    receipt = apply(opened, opened.preview(EXPIRE, NOW), settle_s=0, cancelled=lambda: True)
    assert receipt.outcome == "cancelled"
    assert set(receipt.deleted) == {path for path, _ in Journal().removed(receipt.run)}
    assert Journal().run(receipt.run).can_undo
    recovery.undo(receipt.run, open_table=open_table)
    after = {path: path.read_bytes() for path in table.root.rglob("*") if path.is_file() and path.name != "EARLIEST"}
    assert after == before


def test_nobody_recovers_what_is_still_running(table: TableBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tag is made without the lock of the table, and its files may be checked for minutes."""
    opened, real, told = open_table(str(table.root)), Table.missing_files, list[SnapscopeError]()

    def meanwhile(*args: Any) -> list[str]:
        (run,) = Journal().runs()
        for recover in (recovery.undo, recovery.resume):
            with pytest.raises(Conflict, match="is still running on this machine") as refused:
                recover(run.id, open_table=open_table)
            told.append(refused.value)
        with pytest.raises(Conflict, match="is still running on this machine") as refused:
            apply(opened, opened.preview(EXPIRE, NOW), settle_s=0)
        told.append(refused.value)
        return real(*args)

    with monkeypatch.context() as patch:
        patch.setattr(Table, "missing_files", meanwhile)
        receipt = apply(opened, opened.preview(CreateTag("mine", verified=True), NOW), settle_s=0)
    assert {(each.code, each.remedy) for each in told} == {(ErrorCode.TABLE_LOCKED, "Wait until it has finished.")}
    assert (table.root / "tag/tag-mine").is_file()
    assert [each["what"] for each in Journal().events(receipt.run)] == ["started", "done"]
    apply(opened, opened.preview(EXPIRE, NOW), settle_s=0)


def cancelled_in_its_sweep(table: TableBuilder) -> str:
    opened, asked = open_table(str(table.root)), itertools.count()
    plan = opened.preview(EXPIRE, NOW)
    receipt = apply(opened, plan, settle_s=0, cancelled=lambda: next(asked) >= 4)
    assert receipt.outcome == "cancelled"
    assert len(plan.removes) < len(receipt.deleted) < len(plan.frees)
    return receipt.run


def test_what_was_cancelled_and_carried_on_to_its_end_is_exact(table: TableBuilder) -> None:
    """Its receipt covers the whole change, not only the last attempt."""
    run = cancelled_in_its_sweep(table)
    assert (Journal().run(run).state, Journal().run(run).problem) == (CANCELLED, None)
    receipt = recovery.resume(run, open_table=open_table, settle_s=0)
    assert receipt.is_exact
    assert set(receipt.deleted) == {path for path, _, _ in Journal().frees(run)}
    assert receipt.freed_bytes == receipt.planned_bytes


def test_what_was_swept_once_is_never_taken_back(table: TableBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted while a resume waits for writers: the last entry says that references were removed, an earlier one
    that files were deleted."""
    run = cancelled_in_its_sweep(table)

    def is_killed(*_: object) -> None:
        raise Death

    with monkeypatch.context() as patch:
        patch.setattr(grace_period, "wait", is_killed)
        patch.setattr(Journal, "add", without(FAILED, Journal.add))
        with pytest.raises(Death):
            recovery.resume(run, open_table=open_table, settle_s=0)
    assert [event["what"] for event in Journal().events(run)][-1] == REMOVED
    assert not Journal().run(run).can_undo
    with pytest.raises(Invalid, match="it has started to delete files"):
        recovery.undo(run, open_table=open_table)
    resume(run)
    assert ground.broken(table.root) == []


def test_what_another_hand_deleted_files_of_is_not_taken_back(
    table: TableBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Orphans were removed while the run waited: restored versions would lack their rows."""

    def is_killed(*_: object) -> None:
        raise Death

    opened = open_table(str(table.root))
    plan = opened.preview(EXPIRE, NOW)
    with monkeypatch.context() as patch:
        patch.setattr(grace_period, "wait", is_killed)
        patch.setattr(Journal, "add", without(FAILED, Journal.add))
        with pytest.raises(Death):
            apply(opened, plan, settle_s=60)
    run = Journal().open_run(opened.location)
    assert run is not None
    path = plan.frees["path"].to_pylist()[0]
    (table.root / path).unlink()
    before = ground.disk(table.root)
    with pytest.raises(Invalid, match=f"someone else deleted 1 of the files that this needs: {path}"):
        recovery.undo(run.id, open_table=open_table)
    assert ground.disk(table.root) == before
    resume(run.id)
    assert ground.broken(table.root) == []


FORWARD, ROLLBACK = FastForward("b"), Rollback("5", destructive=True)


@pytest.mark.parametrize("change", [ROLLBACK, FORWARD, DeleteBranches(("b",))])
def test_references_whose_files_others_deleted_as_orphans_are_not_restored(table: TableBuilder, change: Change) -> None:
    run = dies(table, change, f"journal: entry {REMOVED}")
    for path in ground.unheld(table.root):
        (table.root / path).unlink()
    before = ground.references(table.root)
    with pytest.raises(Invalid, match="someone else deleted"):
        recovery.undo(run, open_table=open_table)
    assert ground.references(table.root) == before
    resume(run)
    assert ground.broken(table.root) == []


@pytest.mark.parametrize("change", [ROLLBACK, DeleteTags(("packed", "twin"))])
def test_nothing_is_restored_into_a_table_made_again_at_the_same_place(table: TableBuilder, change: Change) -> None:
    run = dies(table, change, "journal: entry done")
    shutil.rmtree(table.root)
    again = TableBuilder(table.root)
    again._shared.random.seed(99)
    for rows in (50, 60):
        again.commit([again.file(1_000, rows=rows)])
    before = ground.references(table.root)
    with pytest.raises(SnapscopeError, match="Resume"):
        recovery.undo(run, open_table=open_table)
    assert ground.references(table.root) == before
    assert recovery.resume(run, open_table=open_table, settle_s=0).outcome == "done"
    assert ground.references(table.root) == before


def test_a_commit_cut_off_before_its_hint_is_hinted_at_by_its_resume(table: TableBuilder) -> None:
    """Engines in Java list where LATEST is one behind; the one in Python reads the older snapshot."""
    run = dies(table, Rollback("5"), "put snapshot/LATEST")
    hint = table.root / "snapshot/LATEST"
    assert ((table.root / "snapshot/snapshot-10").is_file(), hint.read_text()) == (True, "9")
    assert open_table(str(table.root)).heads().main.snapshots[-1].id == 10
    resume(run)
    assert hint.read_text() == "10"


def without(what: str, add: Callable[..., str]) -> Callable[..., str]:
    """A journal that its process can no longer write this entry to, because it is dead."""
    return lambda self, run, entry, detail: "" if entry == what else add(self, run, entry, detail)


# which run, which table --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", [recovery.resume, recovery.undo])
def test_an_unknown_run(verb: Callable[..., object]) -> None:
    with pytest.raises(NotFound, match="no run 'nobody'"):
        verb("nobody", open_table=open_table)


@pytest.mark.parametrize("verb", [recovery.resume, recovery.undo])
def test_a_finished_run(table: TableBuilder, verb: Callable[..., object]) -> None:
    opened = open_table(str(table.root))
    receipt = apply(opened, opened.preview(EXPIRE, NOW), settle_s=0)
    before = ground.disk(table.root)
    with pytest.raises(Invalid, match="finished"):
        verb(receipt.run, open_table=open_table)
    assert ground.disk(table.root) == before


# resume --------------------------------------------------------------------------------------------------------------


def test_ids_used_again_after_a_rollback_are_left_alone(table: TableBuilder) -> None:
    """Killed in the sweep; rolled back to an old tag, so that deleted ids are reused; then resumed."""
    run = dies(table, EXPIRE, "delete dt=", count=3)
    ground.gone_for_good(table)
    ground.roll_back(table, 2, tag="early")
    for size in (5_010, 5_020, 5_030):
        table.commit([table.file(size, rows=size // 10, partition=("2026-01-01",))])
    new = ground.references(table.root)
    resume(run)
    assert ground.references(table.root) == new, "no reference made since may go, of other content or of the same"
    assert ground.broken(table.root) == []
    assert open_table(str(table.root)).history().incomplete == {}


@pytest.mark.parametrize("at", ["delete snapshot/snapshot-3", "journal: entry references removed", "delete dt="])
def test_the_snapshot_rolled_back_to_is_left_alone(table: TableBuilder, at: str) -> None:
    """Rolling back to a tag writes its expired snapshot again, with the very bytes that the plan removed. It is now the
    table's only snapshot: removing it would leave an empty table, and the next commit would start from nothing."""
    run = dies(table, EXPIRE, at)
    ground.gone_for_good(table)
    ground.roll_back(table, 2, tag="early")
    resume(run)
    assert (table.root / "snapshot/snapshot-2").is_file()
    assert ground.broken(table.root) == []


def test_resume_heeds_what_was_asked_to_stay_since(table: TableBuilder) -> None:
    """Killed before the first reference was removed; a consumer created in between keeps what it still reads."""
    run = dies(table, EXPIRE, "delete snapshot/snapshot-1")
    table.consumer("slow", 3)
    resume(run)
    left = sorted(path.name for path in (table.root / "snapshot").glob("snapshot-*"))
    assert left == [f"snapshot-{number}" for number in range(3, 10)]
    assert ground.broken(table.root) == []


def test_a_tag_made_again_after_it_went_stays(table: TableBuilder) -> None:
    run = dies(table, DeleteTags(("early", "twin")), "journal: written references removed")
    table.tag("early", 2)
    resume(run)
    assert (table.root / "tag/tag-early").is_file()
    assert ground.broken(table.root) == []


@pytest.mark.parametrize("at", ["put snapshot/EARLIEST", "delete snapshot/snapshot-6"])
def test_the_hint_follows_whoever_removed_the_references(table: TableBuilder, at: str) -> None:
    """Killed after the last reference was removed, before the hint was written: resume has none left to remove."""
    resume(dies(table, EXPIRE, at))
    assert (table.root / "snapshot/EARLIEST").read_text() == "7"


def test_no_hint_names_a_changelog_that_was_taken_back(table: TableBuilder) -> None:
    """Engines trust LATEST without checking that the snapshot it names exists."""
    opened, hint = open_table(str(table.root)), table.root / "changelog/LATEST"
    for _ in range(2):
        plan = opened.preview(dataclasses.replace(EXPIRE, changelog_retain_max=100), NOW)
        receipt = apply(opened, plan, settle_s=0, cancelled=lambda: True)
        assert hint.read_text() == "6"
        recovery.undo(receipt.run, open_table=open_table)
        left = [each.id for each in opened.heads().main.changelogs]
        assert (hint.read_text() == str(left[-1])) if left else not hint.exists()
        table.keep_changelog(1)


def test_the_hint_of_changelogs_follows_whoever_left_them(table: TableBuilder) -> None:
    resume(dies(table, dataclasses.replace(EXPIRE, changelog_retain_max=100), "put changelog/LATEST"))
    assert (table.root / "changelog/LATEST").read_text() == "6"


def test_two_resumes_of_one_run(table: TableBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second process looked while the first was working, and gets the lock after it: the run is finished by
    then."""
    run = dies(table, EXPIRE, "journal: entry sweep started")
    ends_first(monkeypatch, run)
    with pytest.raises(Invalid, match="finished"):
        recovery.resume(run, open_table=open_table, settle_s=0)
    ends = [event["what"] for event in Journal().events(run)]
    assert ends.count(journals.DONE) == 1


def test_undo_is_not_late(table: TableBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo looked while a resume was waiting, and gets the lock after its sweep: it would restore references to deleted
    files."""
    run = dies(table, EXPIRE, "journal: entry sweep started")
    ends_first(monkeypatch, run)
    with pytest.raises(Invalid, match="finished"):
        recovery.undo(run, open_table=open_table)
    assert ground.broken(table.root) == []


def ends_first(monkeypatch: pytest.MonkeyPatch, run: str) -> None:
    """Between the next look at the journal and the lock, another process resumes the run."""
    locked = table_lock.locked

    def late(location: str) -> object:
        monkeypatch.setattr(recovery, "locked", locked)
        recovery.resume(run, open_table=open_table, settle_s=0)
        return locked(location)

    monkeypatch.setattr(recovery, "locked", late)


@pytest.mark.parametrize(
    ("change", "at", "count"),
    [
        (EXPIRE, "delete snapshot/snapshot-3", 1),
        (EXPIRE, "delete dt=", 3),
        (DeleteTags(("early", "twin")), "delete tag/", 2),
        (DeleteBranches(("b",)), "delete manifest", 1),
        (RenameBranch("b", "c"), f"journal: written {REMOVED}", 1),
        (CreateBranch("new", "tag:early"), f"journal: written {REMOVED}", 1),
    ],
)
def test_the_receipt_of_a_resumed_run_tells_what_all_attempts_did(
    table: TableBuilder, change: Change, at: str, count: int
) -> None:
    before = {path for path in ground.disk(table.root) if not path.endswith(("EARLIEST", "LATEST"))}
    run = dies(table, change, at, count=count)
    receipt = recovery.resume(run, open_table=open_table, settle_s=0)
    now = {path for path in ground.disk(table.root) if not path.endswith(("EARLIEST", "LATEST"))}
    assert (set(receipt.deleted), set(receipt.created)) == (before - now, now - before)
    assert receipt.kept_back == ()


# undo ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change", [ROLLBACK, FORWARD, DeleteTags(("early", "packed", "twin")), CreateBranch("new", "tag:early"), EXPIRE]
)
def test_an_undo_that_has_begun_is_finished_not_resumed(table: TableBuilder, change: Change) -> None:
    """Resumed, a run that had deleted all its references would end as done although some are there again."""
    before = ground.references(table.root)
    run = dies(table, change, f"journal: written {REMOVED}")
    life = Life(left=2, is_fault=True)
    opened = PaimonFormat.of(open_table(str(table.root)).format)
    store = MortalStore(str(table.root), life)
    with pytest.raises(Corrupt, match="503"):
        recovery.undo(run, open_table=lambda _: Table(dataclasses.replace(opened, store=store)))
    half = ground.references(table.root)
    with pytest.raises(Conflict, match=rf"has begun.*snapscope undo {run}"):
        recovery.resume(run, open_table=open_table, settle_s=0)
    assert ground.references(table.root) == half
    recovery.undo(run, open_table=open_table)
    assert ground.references(table.root) == before
    assert Journal().open_run(str(table.root)) is None


@pytest.mark.parametrize("is_known", [True, False], ids=["known", "older"])
@pytest.mark.parametrize(
    ("change", "at"),
    [
        (EXPIRE, f"journal: written {REMOVED}"),
        (EXPIRE, "delete snapshot/snapshot-3"),
        (DeleteTags(("early", "packed", "twin")), "delete tag/tag-twin"),
    ],
)
def test_an_undo_that_has_restored_nothing_does_not_keep_the_run_from_being_resumed(
    table: TableBuilder, change: Change, at: str, is_known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk nothing can be restored, and the files that a resume deletes are what makes room. What an undo
    was to restore tells what the run had deleted; journals of older versions do not have it."""
    run = dies(table, change, at)
    before = ground.references(table.root)

    def is_full(*_: object) -> None:
        raise Corrupt("No space left on device.")

    with monkeypatch.context() as patch:
        patch.setattr(Store, "create", is_full)
        if not is_known:
            add = Journal.add
            patch.setattr(Journal, "add", lambda self, id, what, _: add(self, id, what, {}))
        with pytest.raises(Corrupt, match="No space left"):
            recovery.undo(run, open_table=open_table)
    assert [event["what"] for event in Journal().events(run)][-1] == journals.UNDOING
    assert ground.references(table.root) == before
    if is_known or at == f"journal: written {REMOVED}":
        resume(run)
    else:
        with pytest.raises(Conflict, match="has begun"):
            recovery.resume(run, open_table=open_table, settle_s=0)
        recovery.undo(run, open_table=open_table)
    assert ground.broken(table.root) == []


def test_what_an_undo_restored_on_a_remote_store_is_unknown(table: TableBuilder, tmp_path: Path) -> None:
    """A request whose answer was lost may still happen, after the files were deleted."""
    url = f"memory://{tmp_path.name}/orders"
    for path in ground.disk(table.root):
        Store(url).put(path, (table.root / path).read_bytes())
    opened = open_table(url)
    run = apply(opened, opened.preview(EXPIRE, NOW), settle_s=0, cancelled=lambda: True).run
    Journal().add(run, journals.UNDOING, {"restores": ["snapshot/snapshot-6"]})
    with pytest.raises(Conflict, match="has begun"):
        recovery.resume(run, open_table=open_table, settle_s=0)
    assert "snapshot/snapshot-6" in recovery.undo(run, open_table=open_table)


def test_an_undo_that_was_never_possible_does_not_keep_the_run_from_being_resumed(
    table: TableBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it would restore does not fit into one process: nothing has begun, and the error says where it fits."""
    opened = open_table(str(table.root))
    run = apply(opened, opened.preview(EXPIRE, NOW), settle_s=0, cancelled=lambda: True).run
    events = Journal().events(run)
    with monkeypatch.context() as patch:
        patch.setattr(memory, "SMALL", 0)
        patch.setattr(memory, "available", lambda: 1)
        with pytest.raises(DoesNotFit, match=f"snapscope undo {run} --on-spark"):
            recovery.undo(run, open_table=open_table)
    assert Journal().events(run) == events
    resume(run)
    assert ground.broken(table.root) == []


def test_what_an_undo_restored_before_it_failed_is_deleted_again(table: TableBuilder) -> None:
    """If it can no longer be finished, the run is resumed: all of it, not only what follows the references."""
    run = dies(table, ROLLBACK, f"journal: written {REMOVED}")
    opened = PaimonFormat.of(open_table(str(table.root)).format)
    store = MortalStore(str(table.root), Life(left=2, is_fault=True))
    with pytest.raises(Corrupt, match="503"):
        recovery.undo(run, open_table=lambda _: Table(dataclasses.replace(opened, store=store)))
    for path in ground.unheld(table.root):
        (table.root / path).unlink()
    receipt = recovery.resume(run, open_table=open_table, settle_s=0)
    assert receipt.outcome == "done"
    assert open_table(str(table.root)).heads().main.snapshots[-1].id == 5
    assert (table.root / "snapshot/LATEST").read_text() == "5"
    assert ground.broken(table.root) == []


def test_undo_overwrites_nothing_made_since(table: TableBuilder) -> None:
    run = dies(table, EXPIRE, "journal: entry sweep started")
    ground.gone_for_good(table)
    ground.roll_back(table, 2, tag="early")
    table.commit([table.file(5_010, rows=501, partition=("2026-01-01",))])
    new = ground.references(table.root)
    with pytest.raises(Conflict, match="snapshot-3"):
        recovery.undo(run, open_table=open_table)
    assert ground.references(table.root) == new
    assert ground.broken(table.root) == []
    resume(run)
    assert {path: ground.references(table.root)[path] for path in new} == new
    assert ground.broken(table.root) == []


def test_undo_does_not_take_back_a_rollback(table: TableBuilder) -> None:
    """Snapshots restored above the rollback target would be the newest."""
    run = dies(table, EXPIRE, "journal: entry sweep started")
    ground.gone_for_good(table)
    ground.roll_back(table, 2, tag="early")
    new = ground.references(table.root)
    with pytest.raises(Conflict, match=r"snapshot-7 no longer exists either: .*nothing was restored\. .*Resume"):
        recovery.undo(run, open_table=open_table)
    assert ground.references(table.root) == new
    resume(run)
    assert open_table(str(table.root)).heads().main.snapshots[-1].id == 2
    assert ground.broken(table.root) == []


@pytest.mark.parametrize("change", [EXPIRE, Expire(changelogs_only=True, changelog_retain_max=4, older_than_ms=NOW)])
def test_undo_leaves_no_hole_where_others_have_expired_since(table: TableBuilder, change: Expire) -> None:
    """A gap makes the engine throw, and makes its next expiry free files that are still needed."""
    for number in (1, 2, 3):
        table.keep_changelog(number)
    if change.changelogs_only:
        table.expire([1, 2, 3], free=False)
        change = dataclasses.replace(change, changelog_retain_max=8, changelog_retain_min=8)
    run = dies(table, change, "journal: entry sweep started")
    (first,) = (
        sorted(table.root.glob("changelog/changelog-*"))[:1]
        if change.changelogs_only
        else [table.root / "snapshot/snapshot-7"]
    )
    first.unlink()
    new = ground.references(table.root)
    with pytest.raises(Conflict, match=f"{first.name} no longer exists either"):
        recovery.undo(run, open_table=open_table)
    assert ground.references(table.root) == new


def test_undo_leaves_a_tag_that_another_hand_replaced_again(table: TableBuilder) -> None:
    run = dies(table, ReplaceTag("early", 9), "journal: entry references removed")
    table.tag("early", 8)
    with pytest.raises(Conflict, match="tag-early"):
        recovery.undo(run, open_table=open_table)
    assert (table.root / "tag/tag-early").read_bytes() == (table.root / "snapshot/snapshot-8").read_bytes()
    receipt = recovery.resume(run, open_table=open_table, settle_s=0)
    assert (receipt.outcome, receipt.problems) == ("done", (codes.NOT_AS_MADE(path="tag/tag-early"),))
    assert (table.root / "tag/tag-early").read_bytes() == (table.root / "snapshot/snapshot-8").read_bytes()
    assert ground.broken(table.root) == []


def test_undo_after_the_sweep_began_is_refused(table: TableBuilder) -> None:
    run = dies(table, EXPIRE, "delete dt=")
    with pytest.raises(Invalid, match="it has started to delete files"):
        recovery.undo(run, open_table=open_table)
    resume(run)


def test_an_unfinished_run_blocks_the_next_change_and_says_what_to_do(table: TableBuilder) -> None:
    run = dies(table, EXPIRE, "journal: entry sweep started")
    opened = open_table(str(table.root))
    with pytest.raises(Conflict, match=f"snapscope resume {run}.*snapscope undo {run}"):
        apply(opened, opened.preview(DeleteTags(("twin",)), NOW), settle_s=0)
    recovery.undo(run, open_table=open_table)
    receipt = apply(opened, opened.preview(DeleteTags(("twin",)), NOW), settle_s=0)
    assert receipt.outcome == "done"


def test_a_run_that_was_begun_on_spark_is_resumed_on_spark(
    table: TableBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its metadata may not fit into one process: the journal tells so, whoever comes upon it."""

    class OnSpark(Table):
        on_spark = True

    first = OnSpark(open_table(str(table.root)).format)
    run = apply(first, first.preview(EXPIRE, NOW), settle_s=0, cancelled=lambda: True).run
    opened = open_table(str(table.root))
    with pytest.raises(Conflict, match=f"resume {run} --on-spark. Or undo it: snapscope undo {run} --on-spark\\."):
        apply(opened, opened.preview(DeleteTags(("twin",)), NOW), settle_s=0)
    ways = f"resume {run} --on-spark. Or undo it: snapscope undo {run} --on-spark\\."

    def fails(*_: object) -> None:
        raise Corrupt("503")

    with monkeypatch.context() as patch:
        patch.setattr(grace_period, "wait", fails)
        with pytest.raises(Corrupt, match=ways):
            recovery.resume(run, open_table=open_table, settle_s=0)
    resume(run)


def test_a_table_that_moved_away(table: TableBuilder, tmp_path: Path) -> None:
    run = dies(table, EXPIRE, "delete dt=")
    os.rename(table.root, tmp_path / "moved")
    for verb in (recovery.resume, recovery.undo):
        with pytest.raises((NotFound, Invalid)):
            verb(run, open_table=open_table)
    os.rename(tmp_path / "moved", table.root)
    resume(run)


# refused deletes ------------------------------------------------------------------------------------------------------


def test_what_the_store_never_deletes_does_not_block_the_table_for_ever(table: TableBuilder) -> None:
    """The first run can be resumed, in case the store recovers; a resume that fails the same way ends the run, and
    reports what was left behind."""

    class Stubborn(Store):
        def delete(self, relative: str, was: bytes | None = None) -> bool:
            if relative.startswith("dt="):
                raise Corrupt(f"403 for {relative}", path=relative)
            return super().delete(relative, was)

    opened = open_table(str(table.root))
    stubborn = Table(PaimonFormat(Stubborn(str(table.root)), PaimonFormat.of(opened.format).manifests))
    shown = opened.preview(EXPIRE, NOW)
    data = {path for path in shown.frees["path"].to_pylist() if path.startswith("dt=")}
    receipt = apply(stubborn, shown, settle_s=0)
    assert receipt.outcome == "incomplete"
    assert {path for path, why in receipt.kept_back if "403" in why.text} == data
    assert len(receipt.problems) == len(data)
    assert Journal().open_run(opened.location) is not None
    again = recovery.resume(receipt.run, open_table=lambda _: stubborn, settle_s=0)
    assert {path for path, why in again.kept_back if "403" in why.text} == data
    assert not again.is_exact
    assert Journal().open_run(opened.location) is None
    assert data <= ground.unheld(table.root)
    old = ground.LATE_MS
    receipt = apply(opened, opened.preview(CleanOrphans(older_than_ms=old), old), settle_s=0)
    assert data <= set(receipt.deleted)


# publishing kinds ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [CreateTag("new", 9), RenameTag("early", "new"), ReplaceTag("early", 9)])
def test_a_tag_that_was_never_published_is_no_receipt(table: TableBuilder, change: Change) -> None:
    """Crashed before the tag was written: resume writes it; nothing is reported as done that was not."""
    run = dies(table, change, "create tag/" if not isinstance(change, ReplaceTag) else "put tag/")
    resume(run)
    name = "early" if isinstance(change, ReplaceTag) else "new"
    expected = 2 if isinstance(change, RenameTag) else 9
    assert (table.root / f"tag/tag-{name}").read_bytes() == TAGGED(table, expected)
    assert (table.root / "tag/tag-early").exists() is not isinstance(change, RenameTag)
    assert ground.broken(table.root) == []


def TAGGED(table: TableBuilder, number: int) -> bytes:
    return (table.root / f"snapshot/snapshot-{number}").read_bytes()


@pytest.mark.parametrize("change", [CreateTag("new", 9), RenameTag("early", "new")])
def test_undo_leaves_what_the_same_change_did_when_it_was_asked_for_again(table: TableBuilder, change: Change) -> None:
    """Whoever was interrupted may have asked again instead of resuming: the tags have the same bytes."""
    run = dies(table, change, "create tag/")
    opened = open_table(str(table.root))
    assert apply(opened, opened.preview(change, NOW), settle_s=0).created == ("tag/tag-new",)
    now = ground.references(table.root)
    assert recovery.undo(run, open_table=open_table) == ()
    assert ground.references(table.root) == now
    assert Journal().open_run(opened.location) is None


def test_undo_takes_a_tag_away_whose_name_an_earlier_run_created(table: TableBuilder) -> None:
    opened = open_table(str(table.root))
    for change in (CreateTag("new", 9), DeleteTags(("new",))):
        apply(opened, opened.preview(change, NOW), settle_s=0)
    run = dies(table, CreateTag("new", 9), "journal: entry done")
    assert recovery.undo(run, open_table=open_table) == ("tag/tag-new",)
    assert not (table.root / "tag/tag-new").exists()


def test_a_tag_whose_source_went_meanwhile_is_not_made(table: TableBuilder) -> None:
    run = dies(table, CreateTag("new", 3), "create tag/")
    table.expire([1, 2, 3])
    with pytest.raises((Conflict, NotFound)):
        recovery.resume(run, open_table=open_table, settle_s=0)
    assert not (table.root / "tag/tag-new").exists()
    recovery.undo(run, open_table=open_table)
    assert Journal().open_run(str(table.root)) is None


def test_a_published_tag_whose_files_went_meanwhile_is_withdrawn(table: TableBuilder) -> None:
    run = dies(table, CreateTag("new", 3), "journal: entry done")
    (table.root / "tag/tag-new").unlink()
    held = (table.root / "snapshot/snapshot-3").read_bytes()
    table.expire([1, 2, 3])
    (table.root / "tag/tag-new").write_bytes(held)
    with pytest.raises(Corrupt):
        recovery.resume(run, open_table=open_table, settle_s=0)
    assert not (table.root / "tag/tag-new").exists()


@pytest.mark.parametrize("end", ["resume", "undo"])
def test_a_run_does_not_go_on_where_a_copy_of_another_table_lies_by_now(tmp_path: Path, end: str) -> None:
    """Such a copy opens read-only: its files may be those that the run was to delete, and nothing shows whose they
    are."""
    root = iceberg_ground.small_table(tmp_path / "shop.db" / "t")
    opened = open_table(str(root))
    plan = opened.preview(Expire(retain_min=1, older_than_ms=NOW), NOW)
    cut = apply(opened, plan, settle_s=0, cancelled=lambda: True)
    assert cut.outcome == "cancelled"
    iceberg_ground.commit(root, lambda document: document.update(location="/elsewhere/t"))
    files = sorted(path for path in root.rglob("*") if path.is_file())
    with pytest.raises(Unsupported, match="moved or copied"):
        getattr(recovery, end)(cut.run, open_table=open_table)
    assert sorted(path for path in root.rglob("*") if path.is_file()) == files


@pytest.mark.parametrize("how", ["resume", "undo"])
def test_who_goes_on_with_a_run_is_recorded_before_anything_else(
    table: TableBuilder, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "alice")
    opened = open_table(str(table.root))
    run = apply(opened, opened.preview(EXPIRE, NOW), settle_s=0, cancelled=lambda: True).run
    count = len(Journal().events(run))
    monkeypatch.setenv("LOGNAME", "bob")
    if how == "undo":
        recovery.undo(run, open_table=open_table)
    else:
        resume(run)
    events = Journal().events(run)
    assert {each["detail"]["who"].partition("@")[0] for each in events[:count]} == {"alice"}
    assert {each["detail"]["who"].partition("@")[0] for each in events[count:]} == {"bob"}
    assert events[count]["what"] == {"resume": journals.RESUMED, "undo": journals.UNDOING}[how]
    found = Journal().run(run)
    assert (found.who.partition("@")[0], [each.partition("@")[0] for each in found.others]) == ("alice", ["bob"])
    assert Journal().verify()
