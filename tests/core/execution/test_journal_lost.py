"""A journal that disappears or is replaced during a run stops it: nothing more is deleted, and nobody is told
"done"."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from core.errors import Corrupt
from core.execution import delete_files, journal_watch, recovery
from core.execution import journal as journals
from core.execution.apply import apply
from core.execution.journal import Journal
from core.model.actions import CreateTag, Expire
from core.table import Table, open_table
from tests.support.depth import first_fast
from tests.support.execution import ground
from tests.support.execution.journal_attacks import ATTACKS, PLAN, Ground

CHANGE = Expire(retain_max=2, retain_min=1)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    monkeypatch.setattr(delete_files, "BATCH", 4)
    root = ground.warehouse(tmp_path / "w")
    ground.small_table(root)
    return open_table(str(root))


@pytest.fixture
def attacked(tmp_path: Path) -> Ground:
    made = Ground(tmp_path / "state" / "journal.sqlite")
    made.begin()
    return made


def left(table: Table) -> frozenset[str]:
    return ground.files(Path(table.location))


def finish(table: Table, attacked: Ground) -> None:
    attacked.put_back()
    journal = Journal(attacked.path)
    run = journal.open_run(table.location)
    assert run is not None
    receipt = recovery.resume(run.id, open_table=lambda _: table, settle_s=0, journal=journal)
    assert receipt.outcome == "done"
    assert len(receipt.deleted) + len(receipt.kept_back) >= receipt.planned_files
    assert ground.broken(Path(table.location)) == []
    assert ground.unheld(Path(table.location)) == frozenset()
    journal.verify()


@pytest.mark.parametrize("how", ATTACKS)
def test_before_the_sweep(how: str, table: Table, attacked: Ground) -> None:
    before, plan = left(table), table.preview(CHANGE, ground.LATE_MS)
    journal = Journal(attacked.path)
    with (
        ground.while_settling(lambda: attacked.attack(how)),
        pytest.raises(Corrupt, match="This is not the journal that run") as said,
    ):
        apply(table, plan, settle_s=0, journal=journal)
    assert said.value.path == str(attacked.path)
    assert "snapscope resume" in str(said.value)
    assert left(table) == before
    finish(table, attacked)


@pytest.mark.parametrize("batch", first_fast([1, 2]))
@pytest.mark.parametrize("how", ATTACKS)
def test_between_two_batches(how: str, batch: int, table: Table, attacked: Ground) -> None:
    plan, states = table.preview(CHANGE, ground.LATE_MS), list[frozenset[str]]()

    def progress(done: int, total: int) -> None:
        states.append(left(table))
        if len(states) == batch:
            attacked.attack(how)

    with pytest.raises(Corrupt, match="This is not the journal that run"):
        apply(table, plan, settle_s=0, progress=progress, journal=Journal(attacked.path))
    assert len(states) == batch
    assert left(table) == states[-1], "files went after the journal had"
    finish(table, attacked)


@pytest.mark.parametrize("how", first_fast(ATTACKS))
def test_after_the_last_batch(how: str, table: Table, attacked: Ground) -> None:
    """All planned files are gone: the receipt is the last journal entry, and without the journal there is none."""
    plan = table.preview(CHANGE, ground.LATE_MS)

    def progress(done: int, total: int) -> None:
        if done == total:
            attacked.attack(how)

    with pytest.raises(Corrupt, match="This is not the journal that run"):
        apply(table, plan, settle_s=0, progress=progress, journal=Journal(attacked.path))
    finish(table, attacked)


@pytest.mark.parametrize("how", first_fast(ATTACKS))
def test_while_a_tag_is_made(how: str, table: Table, attacked: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, journal = table.preview(CreateTag("new"), ground.LATE_MS), Journal(attacked.path)
    create = table.store.create

    def creating(path: str, data: bytes) -> None:
        create(path, data)
        attacked.attack(how)

    monkeypatch.setattr(table.store, "create", creating)
    with pytest.raises(Corrupt, match="This is not the journal that run"):
        apply(table, plan, settle_s=0, journal=journal)


def test_a_write_ahead_log_that_is_lost(table: Table, attacked: Ground) -> None:
    """While another process has the journal open, its newest entries are only in the write-ahead log next to it."""
    plan, journal = table.preview(CHANGE, ground.LATE_MS), Journal(attacked.path)
    reader = sqlite3.connect(attacked.path)
    reader.execute("begin")
    reader.execute("select count(*) from events").fetchone()

    def lose() -> None:
        for end in ("-wal", "-shm"):
            attacked.path.with_name(attacked.path.name + end).unlink()

    before = left(table)
    with ground.while_settling(lose), pytest.raises(Corrupt, match="This is not the journal that run"):
        apply(table, plan, settle_s=0, journal=journal)
    reader.close()
    assert left(table) == before


@pytest.mark.parametrize("how", first_fast(ATTACKS))
def test_a_resume_goes_on_in_the_journal_that_it_read(how: str, table: Table, attacked: Ground) -> None:
    plan = table.preview(CHANGE, ground.LATE_MS)
    stop = iter([False] * 3 + [True] * 1_000)
    receipt = apply(table, plan, settle_s=0, cancelled=lambda: next(stop), journal=Journal(attacked.path))
    assert receipt.outcome == "cancelled"
    before, again = left(table), Journal(attacked.path)
    settled = ground.while_settling(lambda: attacked.attack(how))
    with settled, pytest.raises(Corrupt, match="This is not the journal that run"):
        recovery.resume(receipt.run, open_table=lambda _: table, settle_s=0, journal=again)
    assert left(table) == before
    finish(table, attacked)


def test_an_event_of_a_run_nobody_started_is_refused(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite")
    run = journal.start("/w/t", "DeleteTags", PLAN, (), ())
    with pytest.raises(Corrupt, match="it does not contain the run"):
        journal.add("0123456789ab", journals.DONE, {})
    assert [each["what"] for each in journal.events()] == [journals.STARTED]
    journal.add(run, journals.DONE, {})
    journal.verify()


def test_an_event_that_was_written_of_an_unknown_run_is_no_intact_journal(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite")
    journal.start("/w/t", "DeleteTags", PLAN, (), ())
    with sqlite3.connect(journal.path) as connection:
        journal_watch.append(connection, "0123456789ab", 1, journals.DONE, {})
    with pytest.raises(Corrupt, match=", but no earlier entry starts that run"):
        journal.verify()


def test_an_event_makes_no_journal(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "state" / "journal.sqlite")
    run = journal.start("/w/t", "DeleteTags", PLAN, (), ())
    shutil.rmtree(tmp_path / "state")
    with pytest.raises(Corrupt, match="it no longer exists"):
        journal.add(run, journals.DONE, {})
    assert not (tmp_path / "state").exists()


def test_a_journal_that_is_busy_is_not_called_another(
    table: Table, attacked: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was reported not to be the journal that the run was written to."""
    monkeypatch.setattr(journals, "BUSY_S", 0.05)
    other = sqlite3.connect(attacked.path, isolation_level=None)
    before, plan = left(table), table.preview(CHANGE, ground.LATE_MS)
    other.execute("begin immediate")
    with pytest.raises(Corrupt, match=r"held it for 0\.05 s\. Nothing is changed without it\..*Try again") as said:
        apply(table, plan, settle_s=0, journal=Journal(attacked.path))
    assert "Make it readable" not in str(said.value)
    other.execute("rollback")
    assert left(table) == before

    def hold() -> None:
        other.execute("begin immediate")

    with (
        ground.while_settling(hold),
        pytest.raises(Corrupt, match="cannot be used: another process has held it for") as said,
    ):
        apply(table, plan, settle_s=0, journal=Journal(attacked.path))
    other.execute("rollback")
    other.close()
    assert "This is not the journal that run" not in str(said.value)
    assert "Nothing is changed" not in str(said.value), "a reference has gone already"
    assert "Make it readable" not in str(said.value)
    assert {path for path in before - left(table) if "snapshot" not in path} == set()
    journal = Journal(attacked.path)
    run = journal.open_run(table.location)
    assert run is not None
    assert f"When that has ended, resume the run: snapscope resume {run.id}." in str(said.value)
    assert recovery.resume(run.id, open_table=lambda _: table, settle_s=0, journal=journal).outcome == "done"
