"""A catalog that takes a table over after the change was confirmed: the run is refused before its next effect."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from core.errors import Conflict, SnapscopeError
from core.execution import journal as journals
from core.execution import recovery
from core.execution.apply import apply
from core.execution.journal import Journal
from core.formats.paimon.write import manifest_encoding
from core.model.actions import (
    Change,
    CleanOrphans,
    CreateTag,
    DeleteTags,
    Expire,
    Rollback,
    Truncate,
)
from core.storage import time_limits
from core.table import Table, open_table
from tests.support.builders import TableBuilder
from tests.support.formats.paimon.metastore import Metastore, configure, lake, server
from tests.support.formats.paimon.metastore import table as metastore_table

__all__ = ["lake", "server"]  # fixtures

NOW_MS = 4_000_000_000_000
OWNED = r"take the lock of the catalog meta\. Open it as paimon://meta/shop/orders"
CHANGES: dict[str, Change] = {
    "create-tag": CreateTag("v9", 2),
    "delete-tag": DeleteTags(("v",)),
    "expire": Expire(retain_max=1, retain_min=1),
    "rollback": Rollback("tag:v", destructive=True),
    "rollback-as-latest": Rollback("2"),
    "orphans": CleanOrphans(older_than_ms=NOW_MS),
}


class Catalog:
    """A catalog whose writers lock, and that has no table at first."""

    def __init__(self, server: Metastore, lake: TableBuilder) -> None:
        self._server, self._root = server, lake.root
        server.closed.clear()
        self.let_go()
        configure(server.uri, "lock-enabled = true")

    def take(self, *_: object) -> None:
        self._server.tables["shop"]["orders"] = metastore_table("shop", "orders", f"file:{self._root}")

    def let_go(self) -> None:
        self._server.tables["shop"].clear()


class Watched(Journal):
    """Calls `act` after one of its methods."""

    def __init__(self, path: Path, method: str, act: Callable[[], None]) -> None:
        super().__init__(path)
        inner = getattr(self, method)

        def acting(*given: object, **named: object) -> object:
            found = inner(*given, **named)
            act()
            return found

        setattr(self, method, acting)


@pytest.fixture
def catalog(server: Metastore, lake: TableBuilder) -> Catalog:
    (lake.root / "bucket-0").mkdir(exist_ok=True)
    (lake.root / "bucket-0" / "data-left-behind-0.parquet").write_bytes(b"left behind")
    return Catalog(server, lake)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


def contents(lake: TableBuilder) -> dict[str, bytes]:
    return {str(each.relative_to(lake.root)): each.read_bytes() for each in lake.root.rglob("*") if each.is_file()}


def the_run(path: Path) -> journals.Run:
    (run,) = Journal(path).runs()
    Journal(path).verify()
    return run


@pytest.mark.parametrize("name", CHANGES)
def test_a_table_taken_over_after_the_confirmation_is_not_changed(
    name: str, catalog: Catalog, lake: TableBuilder, path: Path
) -> None:
    found = open_table(str(lake.root))
    plan, before = found.preview(CHANGES[name], NOW_MS), contents(lake)
    with pytest.raises(Conflict, match=OWNED) as refused:
        apply(found, plan, settle_s=0, journal=Watched(path, "start", catalog.take))
    assert "Nothing was changed" in str(refused.value)
    assert contents(lake) == before
    run = the_run(path)
    assert (run.state, run.is_open, run.receipt) == (journals.UNDONE, False, None)
    assert run.problem == str(refused.value)
    catalog.let_go()
    apply(found, plan, settle_s=0, journal=Journal(path))


def test_a_catalog_that_cannot_be_asked_any_more_may_have_taken_the_table_over(
    catalog: Catalog, lake: TableBuilder, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = open_table(str(lake.root))
    plan, before = found.preview(CHANGES["expire"], NOW_MS), contents(lake)
    gone = partial(monkeypatch.setitem, time_limits._stuck, "paimon://meta", time_limits.MOST_STUCK)
    with pytest.raises(Conflict, match=r"It cannot be determined .* the catalog meta"):
        apply(found, plan, settle_s=0, journal=Watched(path, "start", gone))
    assert contents(lake) == before
    assert the_run(path).state == journals.UNDONE


def test_files_of_a_table_taken_over_during_the_wait_are_not_deleted(
    catalog: Catalog, lake: TableBuilder, path: Path
) -> None:
    found, before = open_table(str(lake.root)), contents(lake)
    plan = found.preview(Expire(retain_max=1, retain_min=1, drop_tags=("v",)), NOW_MS)
    with pytest.raises(Conflict, match=rf"{OWNED}.* No further file was deleted") as refused:
        apply(found, plan, settle_s=0.01, waits=catalog.take, journal=Journal(path))
    deleted, frees = {path for path, _ in plan.removes}, set(plan.frees["path"].to_pylist())
    assert frees - deleted, "it deletes files, too"
    assert before.keys() - contents(lake).keys() == deleted
    run = the_run(path)
    assert (run.state, run.can_undo, run.problem) == (journals.FAILED, True, str(refused.value))
    assert run.id in str(refused.value)
    catalog.let_go()
    recovery.undo(run.id, open_table=open_table, journal=Journal(path))
    left = contents(lake)
    assert {name: left.get(name) for name in before if "EARLIEST" not in name} == {
        name: content for name, content in before.items() if "EARLIEST" not in name
    }


def test_orphans_of_a_table_taken_over_just_before_are_not_deleted(
    catalog: Catalog, lake: TableBuilder, path: Path
) -> None:
    found, before = open_table(str(lake.root)), contents(lake)
    plan = found.preview(CHANGES["orphans"], NOW_MS)
    assert len(plan.frees)
    with pytest.raises(Conflict, match=rf"{OWNED}.* Nothing was changed"):
        apply(found, plan, settle_s=0, journal=Watched(path, "add", catalog.take))
    assert contents(lake) == before
    assert the_run(path).state == journals.UNDONE


def test_a_commit_asks_directly_before_it_is_published(
    catalog: Catalog, lake: TableBuilder, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, before = open_table(str(lake.root)), contents(lake)
    plan, inner = found.preview(Truncate(), NOW_MS), manifest_encoding.manifest_list

    def taken(*given: Any) -> bytes:
        catalog.take()
        return inner(*given)

    monkeypatch.setattr(manifest_encoding, "manifest_list", taken)
    with pytest.raises(Conflict, match=rf"{OWNED}.* Nothing was committed"):
        apply(found, plan, settle_s=0, journal=Journal(path))
    assert contents(lake) == before
    assert the_run(path).state == journals.UNDONE


def interrupted(found: Table, path: Path) -> None:
    """An expiry that ended when its references were deleted."""

    def stop(_: float) -> None:
        raise KeyboardInterrupt

    plan = found.preview(Expire(retain_max=1, retain_min=1, drop_tags=("v",)), NOW_MS)
    with pytest.raises(KeyboardInterrupt):
        apply(found, plan, settle_s=0.01, waits=stop, journal=Journal(path))


@pytest.mark.parametrize("how", ["resume", "undo"])
def test_an_interrupted_run_asks_again_before_it_continues(
    how: str, catalog: Catalog, lake: TableBuilder, path: Path
) -> None:
    interrupted(open_table(str(lake.root)), path)
    before, run = contents(lake), the_run(path)

    def go_on(journal: Journal) -> object:
        if how == "resume":
            return recovery.resume(run.id, open_table=open_table, settle_s=0, journal=journal)
        return recovery.undo(run.id, open_table=open_table, journal=journal)

    with pytest.raises(Conflict, match=OWNED) as refused:
        go_on(Watched(path, "events", catalog.take))
    assert "Nothing was changed" not in str(refused.value)
    assert run.id in str(refused.value)
    assert contents(lake) == before
    assert the_run(path).can_undo
    with pytest.raises(SnapscopeError, match=OWNED):  # also where it is known from the beginning
        go_on(Journal(path))
    catalog.let_go()
    go_on(Journal(path))
    assert not the_run(path).is_open
