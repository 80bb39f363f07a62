"""A table has one identity, however its path is written and wherever the next process starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import Conflict, Invalid, Unsupported
from core.execution import recovery
from core.execution.apply import apply
from core.execution.journal import Journal
from core.execution.table_lock import locked
from core.formats.paimon.format import PaimonFormat
from core.model.actions import CleanOrphans, Expire
from core.table import Table, open_table
from tests.support.builders import TableBuilder
from tests.support.execution import ground
from tests.support.execution.dying import Death, Life, MortalJournal, MortalStore, dies

NOW = ground.LATE_MS
EXPIRE = Expire(retain_max=3, retain_min=3)


@pytest.fixture
def table(tmp_path: Path) -> TableBuilder:
    return ground.small_table(ground.warehouse(tmp_path))


def test_a_run_is_known_by_every_way_to_write_its_tables_place(
    table: TableBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative path, a link and a URL name the same table: its unfinished run blocks there, too."""
    run = dies(table, EXPIRE, "journal: entry sweep started")
    (tmp_path / "link").symlink_to(tmp_path / "default.db")
    monkeypatch.chdir(tmp_path / "default.db")
    for name in ("orders", "./orders/", "../link/orders", f"file://{table.root}", str(tmp_path / "link" / "orders")):
        opened = open_table(name)
        with pytest.raises(Conflict, match=run):
            apply(opened, opened.preview(CleanOrphans(older_than_ms=1), NOW), settle_s=0)


def test_a_run_is_resumed_from_another_directory(
    table: TableBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative path in the journal would name another table there: a copy would be swept instead."""
    monkeypatch.chdir(tmp_path)
    relative = open_table("default.db/orders")
    life = Life()
    shown = relative.preview(EXPIRE, NOW)
    life.left = 8
    with pytest.raises(Death):
        apply(
            Table(PaimonFormat(MortalStore("default.db/orders", life), PaimonFormat.of(relative.format).manifests)),
            shown,
            settle_s=0,
            journal=MortalJournal(Journal().path, life),
        )
    elsewhere = tmp_path / "elsewhere"
    ground.copied(table.root, ground.warehouse(elsewhere))
    untouched = ground.disk(elsewhere)
    monkeypatch.chdir(elsewhere)
    recovery.resume(Journal().runs()[0].id, open_table=open_table, settle_s=0)
    assert ground.disk(elsewhere) == untouched
    assert ground.broken(table.root) == []
    assert not (table.root / "snapshot/snapshot-6").exists()


def test_a_plan_is_carried_out_on_its_own_table_only(table: TableBuilder, tmp_path: Path) -> None:
    """A copy of the table has the same references: only the location shows that the plan was not made for it."""
    shown = open_table(str(table.root)).preview(EXPIRE, NOW)
    copy = ground.copied(table.root, ground.warehouse(tmp_path / "copy"))
    before = ground.disk(copy)
    with pytest.raises(Invalid, match="This plan is for"):
        apply(open_table(str(copy)), shown, settle_s=0)
    assert ground.disk(copy) == before


def test_the_lock_is_the_tables(table: TableBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with (
        locked(open_table(str(table.root)).location),
        pytest.raises(Conflict),
        locked(open_table("default.db/orders").location),
    ):
        pass


@pytest.mark.parametrize("location", ["", " ", "nothing\0here", "no-such-protocol://x/y"])
def test_a_place_that_is_none(location: str) -> None:
    with pytest.raises((Invalid, Unsupported)):
        open_table(location)
