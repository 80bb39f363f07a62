"""A full disk: what fails before it changes anything leaves nothing open, and an undo needs no space of its own."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import Corrupt
from core.execution import recovery
from core.execution.apply import apply
from core.execution.journal import FAILED, UNDONE, Journal
from core.model.actions import Change, Expire, Rollback
from core.storage import local_disk
from core.storage.store import Store
from core.table import open_table
from tests.support.builders import TableBuilder
from tests.support.execution import ground
from tests.support.execution.dying import Death

NOW = ground.LATE_MS
EXPIRE = Expire(retain_max=3, retain_min=3)


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

    def second(store: Store, relative: str) -> bool:
        if relative == "snapshot/snapshot-2":
            raise Corrupt("Access denied.")
        return delete(store, relative)

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
    with pytest.raises(Corrupt, match="Free space on its disk"):
        journal.add(run, FAILED, {}) if is_started else journal.events()
    if code != sqlite3.SQLITE_FULL:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: full._replace(free=1 << 30))
        with pytest.raises(Corrupt, match="not the journal" if is_started else "Make it readable"):
            journal.add(run, FAILED, {}) if is_started else journal.events()
