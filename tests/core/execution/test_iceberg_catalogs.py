"""Changes through catalogs, cut off and contended: SQL, where the catalog swaps a pointer to the file we wrote; REST,
where a server writes it."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import ForbiddenError

from core.catalog import list_tables
from core.errors import Conflict, Invalid, SnapscopeError, Unsupported
from core.execution import recovery
from core.execution.apply import apply
from core.execution.journal import Journal
from core.formats.iceberg.catalogs.pyiceberg_catalog import CatalogTable
from core.formats.iceberg.format import IcebergFormat
from core.formats.iceberg.write import commit as commits
from core.model.actions import Change, CreateTag, DeleteTags, Expire, RenameTag, ReplaceTag, Rollback
from core.storage.store import Store
from core.table import Table, open_table
from tests.support.depth import moments
from tests.support.execution.dying import Death, Life, MortalJournal, MortalStore
from tests.support.execution.ground import while_settling
from tests.support.execution.iceberg_ground import LATE_MS
from tests.support.execution.iceberg_rest import Server, serving
from tests.support.formats.iceberg.sql_catalog import NAME, Lake, home, lake

__all__ = ["home", "lake"]  # fixtures

pytestmark = pytest.mark.slow


def expiry(lake: Lake) -> Expire:
    return Expire(drop_tags=tuple(name for name in lake.document()["refs"] if name != "main"))


# a process that dies ---------------------------------------------------------------------------------------------


class Stage:
    """A lake that is restored in place."""

    def __init__(self, lake: Lake) -> None:
        self.lake, self.good, self.tries = lake, lake.directory / "good", 0
        shutil.copytree(lake.root, self.good / "table")
        shutil.copy(lake.directory / "catalog.db", self.good)

    def fresh(self, life: Life) -> tuple[Table, MortalJournal]:
        shutil.rmtree(self.lake.root)
        shutil.copytree(self.good / "table", self.lake.root)
        shutil.copy(self.good / "catalog.db", self.lake.directory)
        self.tries += 1
        store = MortalStore(str(self.lake.root), life)
        table = Table(IcebergFormat(store, catalog=CatalogTable.of(NAME)))
        return table, MortalJournal(self.good / f"journal-{self.tries}.sqlite", life)


@pytest.mark.parametrize("name", ["expire", "create-tag"])
def test_cut_off_before_every_effect(lake: Lake, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyiceberg.catalog.sql import SqlCatalog

    change: Change = expiry(lake) if name == "expire" else CreateTag("new")
    before, there = told(lake), lake.files()
    stage = Stage(lake)
    commit_table = SqlCatalog.commit_table
    lives: list[Life] = []

    def mortal(self: SqlCatalog, *args: Any) -> Any:
        lives[-1].effect("catalog: before")
        answer = commit_table(self, *args)
        lives[-1].effect("catalog: after")
        return answer

    monkeypatch.setattr(SqlCatalog, "commit_table", mortal)
    table, journal = stage.fresh(Life())
    lives.append(Life())
    apply(table, table.preview(change, LATE_MS), settle_s=0, journal=journal)
    end = told(lake), lake.files()
    for left in moments():
        life = Life()
        lives.append(life)
        table, journal = stage.fresh(life)
        plan = table.preview(change, LATE_MS)
        life.left = left
        try:
            apply(table, plan, settle_s=0, journal=journal)
        except Death:
            assert life.is_over
        lives.append(Life())
        assert lake.broken() == [], life.log
        if not life.is_over:
            break
        journal = Journal(journal.path)
        runs = journal.runs()
        if not runs:
            assert (told(lake), lake.files()) == (before, there)
            continue
        if runs[0].is_open:
            if runs[0].can_undo and left % 2:
                recovery.undo(runs[0].id, open_table=open_table, journal=journal)
                assert (told(lake), lake.files()) == (before, there), life.log
                continue
            receipt = recovery.resume(runs[0].id, open_table=open_table, settle_s=0, journal=journal)
            assert receipt.outcome == "done", life.log
        assert (told(lake), lake.files()) == end, life.log
    assert left > 5


def told(lake: Lake) -> dict[str, Any]:
    own = lake.document()
    return {key: value for key, value in own.items() if key not in ("metadata-log", "last-updated-ms")}


# a server that writes metadata itself ------------------------------------------------------------------------------


@pytest.fixture
def rest(lake: Lake) -> Iterator[Server]:
    with serving(lake.uri) as server:
        config = lake.directory / ".pyiceberg.yaml"
        config.write_text(f"catalog:\n  lake:\n    type: rest\n    uri: {server.uri}\n")
        yield server


def test_rest_lists_and_reads(lake: Lake, rest: Server) -> None:
    assert [each.location for each in list_tables("iceberg://lake").tables] == [NAME]
    assert {ref.name for ref in open_table(NAME).heads().refs} == set(lake.document()["refs"])


def test_rest_tags(lake: Lake, rest: Server) -> None:
    table, old = open_table(NAME), lake.ids()
    for change in (CreateTag("new", old[0], retained_ms=1 << 60), ReplaceTag("new", old[1]), RenameTag("new", "newer")):
        apply(table, table.preview(change, LATE_MS), settle_s=0)
    assert lake.document()["refs"]["newer"] == {"snapshot-id": old[1], "type": "tag", "max-ref-age-ms": 1 << 60}
    apply(table, table.preview(DeleteTags(("newer",)), LATE_MS), settle_s=0)
    assert "newer" not in lake.document()["refs"]
    asked = {each["ref"] for each in rest.commits[-1]["requirements"] if each["type"] == "assert-ref-snapshot-id"}
    assert asked == {*lake.document()["refs"], "newer"}, "every known ref is asserted"
    assert {"type": "assert-table-uuid", "uuid": lake.document()["table-uuid"]} in rest.commits[-1]["requirements"]


def test_rest_expiry(lake: Lake, rest: Server) -> None:
    table = open_table(NAME)
    plan, there = table.preview(expiry(lake), LATE_MS), lake.files()
    receipt = apply(table, plan, settle_s=0)
    assert receipt.is_exact
    assert there - lake.files() == set(plan.frees["path"].to_pylist())
    assert len(lake.ids()) == 1
    assert lake.broken() == []


def test_rest_drops_the_answer(lake: Lake, rest: Server) -> None:
    """What was committed counts as done; nothing is deleted before that is known."""
    table = open_table(NAME)
    plan = table.preview(expiry(lake), LATE_MS)
    rest.drops = 1
    assert apply(table, plan, settle_s=0).is_exact
    assert lake.broken() == []


def test_rest_is_gone_in_the_middle(lake: Lake, rest: Server) -> None:
    table = open_table(NAME)
    plan, there = table.preview(expiry(lake), LATE_MS), lake.files()
    config = lake.directory / ".pyiceberg.yaml"
    kept = config.read_text()

    def ends() -> None:
        config.write_text(kept.replace(rest.uri, "http://127.0.0.1:1"))

    with while_settling(ends), pytest.raises(SnapscopeError, match="did not answer"):
        apply(table, plan, settle_s=0)
    assert lake.files() == there
    config.write_text(kept)
    run = Journal().open_run(NAME)
    assert run is not None
    assert recovery.resume(run.id, open_table=open_table, settle_s=0).is_exact


def test_rest_a_tag_that_moves_in_the_moment_of_the_commit(lake: Lake, rest: Server) -> None:
    """The commit requires the known state of a ref: whoever moves it first wins, and the plan is checked again."""
    table, old = open_table(NAME), lake.ids()
    tag = next(name for name, ref in lake.document()["refs"].items() if ref["type"] == "tag")
    plan, there = table.preview(Expire(drop_tags=(tag,)), LATE_MS), lake.files()
    other = next(each for each in old if each != lake.document()["refs"][tag]["snapshot-id"])
    rest.before = lambda: lake.tag(tag, other)
    with pytest.raises(Conflict, match="rewritten"):
        apply(table, plan, settle_s=0)
    assert lake.ids() == old
    assert lake.files() == there
    assert Journal().open_run(NAME) is None


def test_rest_a_new_tag_in_the_moment_of_the_commit(lake: Lake, rest: Server) -> None:
    """A server has no requirement against new refs. The replaced metadata reveals them, and no file is deleted."""
    table, old = open_table(NAME), lake.ids()
    plan, there = table.preview(expiry(lake), LATE_MS), lake.files()
    goes = next(int(path.rpartition("/")[2]) for path, _ in plan.removes if "#snapshots/" in path)
    rest.before = lambda: lake.tag("theirs", goes)
    with pytest.raises(
        Conflict,
        match=("theirs was created while the commit ran and points to a snapshot that expires; no file was deleted"),
    ):
        apply(table, plan, settle_s=0)
    assert lake.files() == there
    run = Journal().open_run(NAME)
    assert run is not None
    with pytest.raises(
        Conflict,
        match=("theirs was created while the commit ran and points to a snapshot that expires; no file was deleted"),
    ):
        recovery.resume(run.id, open_table=open_table, settle_s=0)
    with pytest.raises(
        Invalid, match=r"This run cannot be undone: a REST catalog does not accept a removed snapshot again \("
    ):
        recovery.undo(run.id, open_table=open_table)
    assert lake.files() == there
    assert len(old) > len(lake.ids())


def test_rest_would_lose_what_it_does_not_know(lake: Lake, rest: Server) -> None:
    newest = Path(lake.location().removeprefix("file://"))
    tag = next(name for name, ref in lake.document()["refs"].items() if ref["type"] == "tag")
    newest.write_text(newest.read_text().replace(f'"{tag}":{{', f'"{tag}":{{"x-owner":"me",'))
    assert "x-owner" in newest.read_text()
    table = open_table(NAME)
    with pytest.raises(Unsupported, match="x-owner"):
        apply(table, table.preview(ReplaceTag(tag), LATE_MS), settle_s=0)


@pytest.mark.parametrize("kind", [CreateTag, DeleteTags, Rollback])
def test_rest_ignores_the_change(lake: Lake, rest: Server, kind: type[Change]) -> None:
    """Some servers leave out updates and answer that all was well: that is told, and the run ends."""
    rest.ignores = ("set-snapshot-ref", "remove-snapshot-ref")
    table, before = open_table(NAME), told(lake)
    tag = next(name for name, ref in before["refs"].items() if ref["type"] == "tag")
    older = next(each for each in lake.ids() if each != before["current-snapshot-id"])
    changes = [CreateTag("mine"), DeleteTags((tag,)), Rollback(str(older), any_line=True)]
    change = next(each for each in changes if isinstance(each, kind))
    with pytest.raises(Invalid, match=r"answered that it made the change, but it did not. Nothing was changed"):
        apply(table, table.preview(change, LATE_MS), settle_s=0)
    assert told(lake) == before
    assert Journal().open_run(NAME) is None


@pytest.mark.parametrize("ignores", [("remove-snapshots",), ("remove-snapshots", "remove-snapshot-ref")], ids=repr)
def test_rest_ignores_that_snapshots_expire(lake: Lake, rest: Server, ignores: tuple[str, ...]) -> None:
    """Nothing is deleted that the snapshots still need; what was half made can be undone."""
    rest.ignores = ignores
    table, before, there = open_table(NAME), told(lake), lake.files()
    with pytest.raises(SnapscopeError, match=r"but it did not|but the table's metadata lacks the change"):
        apply(table, table.preview(expiry(lake), LATE_MS), settle_s=0)
    assert lake.files() == there
    assert lake.broken() == []
    run = Journal().open_run(NAME)
    assert (run is None) == (len(ignores) == 2)
    if run is not None:
        recovery.undo(run.id, open_table=open_table)
        assert told(lake) == before
        assert Journal().open_run(NAME) is None


def test_a_table_that_cannot_be_read_after_a_commit_leaves_the_run_open(
    lake: Lake, rest: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the reason: the server has made the change."""
    table, read = open_table(NAME), commits.read_at
    plan, there = table.preview(expiry(lake), LATE_MS), lake.files()

    def fails(store: Store, path: str) -> bytes:
        if rest.commits:
            raise Invalid("This location cannot be read.")
        return read(store, path)

    with monkeypatch.context() as patch:
        patch.setattr(commits, "read_at", fails)
        with pytest.raises(Conflict, match="cannot be determined whether the catalog accepted"):
            apply(table, plan, settle_s=0)
    assert lake.files() == there
    run = Journal().open_run(NAME)
    assert run is not None
    assert recovery.resume(run.id, open_table=open_table, settle_s=0).outcome == "done"
    assert lake.broken() == []


def test_a_catalog_of_nessie_is_read_only(lake: Lake, rest: Server) -> None:
    rest.overrides = {"nessie.is-nessie-catalog": "true"}
    table = open_table(NAME)
    with pytest.raises(Unsupported, match="Nessie keeps history in its own commits"):
        apply(table, table.preview(CreateTag("mine"), LATE_MS), settle_s=0)
    assert rest.commits == []


def test_rest_undo_takes_a_tag_away_again(lake: Lake, rest: Server) -> None:
    """A tag of an interrupted run is removed again through the server."""
    table = open_table(NAME)
    life = Life()
    journal = MortalJournal(Journal().path, life)
    plan = table.preview(CreateTag("mine"), LATE_MS)
    life.left = 4  # the start of the journal and the entry before the commit take two effects each; the end is missing
    with pytest.raises(Death):
        apply(table, plan, settle_s=0, journal=journal)
    run = Journal().open_run(NAME)
    assert run is not None
    assert "mine" in lake.document()["refs"]
    recovery.undo(run.id, open_table=open_table)
    assert "mine" not in lake.document()["refs"]
    assert Store(str(lake.root)).ls("metadata")


# refusals ------------------------------------------------------------------------------------------------------------


def refused(lake: Lake, says: str) -> None:
    table = open_table(NAME)
    plan, before = table.preview(CreateTag("mine"), LATE_MS), lake.files()
    with pytest.raises(Invalid, match=rf"The catalog refused the change: [^\n]*{says}\. Nothing was changed"):
        apply(table, plan, settle_s=0)
    assert lake.files() == before
    assert Journal().open_run(table.location) is None


def test_a_database_that_refuses_leaves_nothing_behind(lake: Lake) -> None:
    with contextlib.closing(sqlite3.connect(lake.directory / "catalog.db")) as database, database:
        database.execute(
            "create trigger no before update on iceberg_tables begin select raise(abort, 'permission denied'); end"
        )
    refused(lake, "permission denied")


def test_a_server_that_refuses_ends_the_run(lake: Lake, rest: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> None:
        raise ForbiddenError("I am not authorized.")

    monkeypatch.setattr(RestCatalog, "commit_table", forbidden)
    refused(lake, "I am not authorized")
