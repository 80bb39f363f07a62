"""Tables of a catalog, by pyiceberg's configuration: listed, read through the file that the catalog names, changed by
the catalog's own commit. Judge: pyiceberg, as another client."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.catalog.sql import SqlCatalog

from core.catalog import list_tables
from core.cli import main
from core.errors import Conflict, Corrupt, Invalid, NotFound, SnapscopeError, Unsupported
from core.execution import recovery
from core.execution.apply import apply
from core.execution.journal import Journal
from core.formats.iceberg.catalogs import pyiceberg_catalog as catalogs
from core.formats.iceberg.format import IcebergFormat
from core.installation import extra_command
from core.model.actions import CreateTag, DeleteTags, Expire, RenameTag, ReplaceTag
from core.model.codes import Fault
from core.storage.store import Store
from core.table import open_table
from tests.support.execution.ground import while_settling
from tests.support.execution.iceberg_ground import LATE_MS, Json
from tests.support.formats.iceberg.sql_catalog import NAME, Lake, home, lake
from tests.support.iceberg_tables import PYICEBERG, moved

__all__ = ["home", "lake"]  # fixtures


# names ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("identifier", "name"),
    [
        (("shop", "orders"), "iceberg://lake/shop/orders"),
        (("a", "b", "t"), "iceberg://lake/a.b/t"),
        (("a.b", "t/u"), "iceberg://lake/a%2Eb/t%2Fu"),
        (("ü", "x y"), "iceberg://lake/%C3%BC/x%20y"),
    ],
)
def test_names_go_there_and_back(identifier: tuple[str, ...], name: str) -> None:
    assert catalogs.url("lake", *identifier) == name
    assert catalogs.CatalogTable.of(name) == catalogs.CatalogTable("lake", identifier)


@pytest.mark.parametrize(
    "name", ["iceberg://", "iceberg://lake", "iceberg://lake/shop", "iceberg://a/b/c/d", "iceberg://a//c"]
)
def test_what_names_no_table(name: str) -> None:
    with pytest.raises(Invalid):
        open_table(name)


@pytest.mark.slow
def test_tables_are_listed_by_catalog_and_by_namespace(lake: Lake) -> None:
    with lake.client() as client:
        client.create_namespace("other.inner")
        client.register_table("other.inner.again", lake.location())
    assert [(each.title, each.location) for each in list_tables("iceberg://lake").tables] == [
        ("shop.orders", NAME),
        ("other.inner.again", "iceberg://lake/other.inner/again"),
    ]
    assert [each.location for each in list_tables("iceberg://lake/other").tables] == [
        "iceberg://lake/other.inner/again"
    ]
    assert [each.title for each in list_tables("iceberg://").tables] == ["lake.shop.orders", "lake.other.inner.again"]
    assert [each.location for each in list_tables(NAME).tables] == [NAME]
    assert not list_tables("iceberg://lake").is_demo


@pytest.mark.slow
def test_a_catalog_that_does_not_answer_hides_no_other(lake: Lake, tmp_path: Path) -> None:
    config = tmp_path / ".pyiceberg.yaml"
    config.write_text(config.read_text() + f"  gone:\n    type: sql\n    uri: sqlite:///{tmp_path}/no/such.db\n")
    found = list_tables("iceberg://")
    assert [each.title for each in found.tables] == ["lake.shop.orders"]
    assert [(each.path, each.code) for each in found.problems] == [("gone", Fault.UNLISTED)]
    with pytest.raises(Corrupt, match="did not answer"):
        list_tables("iceberg://gone")


def test_what_cannot_be_listed_has_one_code(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """A namespace that does not answer, and a catalog that does not."""
    refused = Corrupt("{what} does not answer.", what="gone")
    monkeypatch.setattr(catalogs, "tables", lambda *_: iter([refused]))
    assert [(each.path, each.code) for each in list_tables("iceberg://").problems] == [("lake", Fault.UNLISTED)]

    def fails(*_: object) -> object:
        raise refused

    monkeypatch.setattr(catalogs, "tables", fails)
    assert [(each.path, each.code) for each in list_tables("iceberg://").problems] == [("lake", Fault.UNLISTED)]


@pytest.mark.slow
def test_catalogs_by_environment(lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".pyiceberg.yaml").unlink()
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__TYPE", "sql")
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", lake.uri)
    assert catalogs.names() == ["lake"]
    assert open_table(NAME).heads().refs


def test_what_is_not_configured_or_not_there(lake: Lake) -> None:
    with pytest.raises(NotFound, match="no catalog 'nobody'"):
        open_table("iceberg://nobody/shop/orders")
    with pytest.raises(NotFound, match="has no"):
        open_table("iceberg://lake/shop/nothing")


def test_secrets_are_not_told(tmp_path: Path) -> None:
    (tmp_path / ".pyiceberg.yaml").write_text(
        "catalog:\n  lake:\n    type: sql\n    uri: nosuch+driver://me:hunter2@host/db\n    token: s3cr3t\n"
    )
    with pytest.raises(SnapscopeError) as caught:
        list_tables("iceberg://lake")
    assert "hunter2" not in str(caught.value)
    assert "s3cr3t" not in str(caught.value)


# reading -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_catalog_says_which_metadata_is_current(lake: Lake) -> None:
    """A newer file that the catalog does not name is nothing."""
    newest = Path(lake.location().removeprefix("file://"))
    (newest.parent / "00099-0dc6a7ce-8a30-48f2-9899-8db525fd9713.metadata.json").write_bytes(b"{}")
    table = open_table(NAME)
    assert table.location == NAME
    assert not [each for each in table.heads().main.warnings if "catalog" in each.remedy]
    before = table.heads().refs
    lake.tag("fresh", lake.ids()[0])
    assert {ref.name for ref in table.heads().refs} - {ref.name for ref in before} == {"fresh"}


HOSTILE = """
from pathlib import Path
Path({mark!r}).touch()
"""


@pytest.mark.parametrize("key", ["py-io-impl", "write.py-location-provider.impl"])
def test_nothing_that_metadata_names_is_imported(tmp_path: Path, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = tmp_path / "imported"
    (tmp_path / "hostile_module.py").write_text(HOSTILE.format(mark=str(mark)))
    monkeypatch.syspath_prepend(str(tmp_path))
    Lake(tmp_path, change=lambda own: own["properties"].update({key: "hostile_module.Evil"}))
    table = open_table(NAME)
    table.history()
    apply(table, table.preview(CreateTag("new"), LATE_MS), settle_s=0)
    assert not mark.exists()
    assert "hostile_module" not in sys.modules
    assert "new" in {ref.name for ref in table.heads().refs}


# changing ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_table_has_the_name_of_its_catalog(lake: Lake) -> None:
    """Its directory keeps the old name when it is renamed, and many servers append something random."""
    with lake.client() as client:
        client.rename_table("shop.orders", "shop.new orders")
    assert open_table("iceberg://lake/shop/new%20orders").name == "new orders"
    assert lake.root.name == "orders"


def test_tags_through_the_catalog(lake: Lake) -> None:
    table = open_table(NAME)
    old = lake.ids()
    for change in (CreateTag("new", old[0], retained_ms=1 << 60), ReplaceTag("new", old[1]), RenameTag("new", "newer")):
        receipt = apply(table, table.preview(change, LATE_MS), settle_s=0)
        assert receipt.outcome == "done"
        assert lake.location().endswith(receipt.created[0])
    with lake.client() as client:
        ref = client.load_table("shop.orders").refs()["newer"]
    assert (ref.snapshot_id, ref.max_ref_age_ms) == (old[1], 1 << 60)
    apply(table, table.preview(DeleteTags(("newer",)), LATE_MS), settle_s=0)
    assert "newer" not in lake.document()["refs"]
    assert lake.ids() == old


def test_expire_through_the_catalog(lake: Lake) -> None:
    table = open_table(NAME)
    before = lake.document()
    others = tuple(name for name in before["refs"] if name != "main")
    plan = table.preview(Expire(drop_tags=others), LATE_MS)
    there = lake.files()
    receipt = apply(table, plan, settle_s=0)
    assert receipt.is_exact
    assert there - lake.files() == set(plan.frees["path"].to_pylist())
    assert lake.broken() == []
    after = lake.document()
    assert set(after["refs"]) == {"main"}
    assert lake.ids() == [before["current-snapshot-id"]]
    (left,) = after["snapshots"]
    assert left in before["snapshots"], "its parent is as it was"
    assert {each["snapshot-id"] for each in after["snapshot-log"]} == {left["snapshot-id"]}
    assert after["metadata-log"][-1]["metadata-file"].endswith(".metadata.json")
    with lake.client() as client:  # and another client reads and writes on
        found = client.load_table("shop.orders")
        assert [each.snapshot_id for each in found.snapshots()] == lake.ids()
        found.manage_snapshots().create_tag(lake.ids()[0], "theirs").commit()
    assert "theirs" in {ref.name for ref in table.heads().refs}


@pytest.mark.slow
def test_unknown_fields_and_version_3_survive(tmp_path: Path) -> None:
    def change(own: Json) -> None:
        own.update({"format-version": 3, "next-row-id": 0, "x-unknown": {"a": [1]}})
        own["snapshots"][0]["x-own"] = True
        own["refs"]["main"]["x-own"] = "kept"

    lake = Lake(tmp_path, change=change)
    table = open_table(NAME)
    apply(table, table.preview(CreateTag("new"), LATE_MS), settle_s=0)
    after = lake.document()
    assert after["x-unknown"] == {"a": [1]}
    assert after["snapshots"][0]["x-own"] is True
    assert after["refs"]["main"]["x-own"] == "kept"
    assert after["format-version"] == 3


@pytest.mark.slow
def test_a_tag_between_preview_and_apply_survives(lake: Lake) -> None:
    table = open_table(NAME)
    others = tuple(name for name in lake.document()["refs"] if name != "main")
    plan = table.preview(Expire(drop_tags=others), LATE_MS)
    there, old = lake.files(), lake.ids()
    lake.tag("theirs", old[0])
    with pytest.raises(Conflict, match="can no longer be deleted:"):
        apply(table, plan, settle_s=0)
    assert "theirs" in lake.document()["refs"]
    assert (lake.files(), lake.ids()) == (there, old)
    assert Journal().open_run(NAME) is None


@pytest.fixture
def during(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Something happens inside of the catalog's commit: before the catalog is asked, or instead of its answer."""
    act: dict[str, Any] = {}
    commit = SqlCatalog.commit_table

    def commit_table(self: SqlCatalog, *args: Any) -> Any:
        if before := act.pop("before", None):
            before()
        answer = commit(self, *args)
        if after := act.pop("after", None):
            after()
        return answer

    monkeypatch.setattr(SqlCatalog, "commit_table", commit_table)
    return act


def test_a_tag_in_the_very_moment_of_the_commit_survives(lake: Lake, during: dict[str, Any]) -> None:
    table = open_table(NAME)
    others = tuple(name for name in lake.document()["refs"] if name != "main")
    plan = table.preview(Expire(drop_tags=others), LATE_MS)
    there, old = lake.files(), lake.ids()
    during["before"] = lambda: lake.tag("theirs", old[0])
    with pytest.raises(Conflict, match="can no longer be deleted:"):
        apply(table, plan, settle_s=0)
    assert "theirs" in lake.document()["refs"]
    assert (lake.files(), lake.ids()) == (there, old)
    named = {Path(each["metadata-file"]).name for each in lake.document()["metadata-log"]} | {
        Path(lake.location()).name
    }
    assert {path.name for path in lake.root.glob("metadata/*.metadata.json")} == named, "what lost left nothing behind"


@pytest.mark.slow
def test_a_commit_that_touches_nothing_of_the_plan_is_built_upon(lake: Lake, during: dict[str, Any]) -> None:
    table = open_table(NAME)
    plan = table.preview(CreateTag("mine"), LATE_MS)
    during["before"] = lambda: lake.tag("theirs", lake.ids()[0])
    apply(table, plan, settle_s=0)
    assert {"mine", "theirs"} <= set(lake.document()["refs"])


class Dropped(Exception):
    """The connection ended before the answer came."""


@pytest.mark.slow
def test_an_answer_that_never_came_is_decided_by_content(lake: Lake, during: dict[str, Any]) -> None:
    def drop() -> None:
        raise Dropped("connection reset")

    table = open_table(NAME)
    others = tuple(name for name in lake.document()["refs"] if name != "main")
    plan = table.preview(Expire(drop_tags=others), LATE_MS)
    during["after"] = drop  # it was done
    assert apply(table, plan, settle_s=0).is_exact
    there = lake.files()
    plan = table.preview(CreateTag("mine"), LATE_MS)
    during["before"] = drop  # it was not
    with pytest.raises(Conflict, match="cannot be determined whether"):
        apply(table, plan, settle_s=0)
    assert lake.files() == there
    run = Journal().open_run(NAME)
    assert run is not None
    assert recovery.resume(run.id, open_table=open_table, settle_s=0).outcome == "done"
    assert "mine" in lake.document()["refs"]


@pytest.mark.slow
def test_one_version_has_one_winner(lake: Lake) -> None:
    """Everybody commits on the same metadata at once: one of them wins, and nothing of the others stays."""
    opened = [open_table(NAME) for _ in range(3)]
    heads = opened[0].heads()
    barrier, won = threading.Barrier(len(opened)), dict[int, str | None]()

    def race(number: int) -> None:
        own = IcebergFormat.of(opened[number].format)
        edit = own.edit(opened[number].preview(CreateTag(f"by-{number}"), LATE_MS), heads)
        barrier.wait(600)
        won[number] = own.commit(heads, edit)

    threads = [threading.Thread(target=race, args=(number,)) for number in range(len(opened))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = (number for number, path in won.items() if path)
    assert len(won) == len(opened)
    assert [name for name in lake.document()["refs"] if name.startswith("by-")] == [f"by-{winner}"]
    assert lake.location().endswith(str(won[winner]))
    assert len(list(lake.root.glob("metadata/00015-*.metadata.json"))) == 1


def test_without_pyiceberg_it_is_said_what_to_install(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in sys.modules if each.partition(".")[0] == "pyiceberg"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        Unsupported, match="Snapscope reaches catalogs through pyiceberg, and a dependency is missing:"
    ) as caught:
        list_tables("iceberg://lake")
    assert extra_command("iceberg") in str(caught.value)


@pytest.mark.slow
def test_a_commit_that_another_follows_at_once_counts(lake: Lake, during: dict[str, Any]) -> None:
    """With an answer and without: what the newest metadata's log names was committed."""
    table = open_table(NAME)
    during["after"] = lambda: lake.tag("followed", lake.ids()[0])
    assert apply(table, table.preview(CreateTag("one"), LATE_MS), settle_s=0).outcome == "done"

    def followed_and_dropped() -> None:
        lake.tag("again", lake.ids()[0])
        raise Dropped("connection reset")

    during["after"] = followed_and_dropped
    assert apply(table, table.preview(CreateTag("two"), LATE_MS), settle_s=0).outcome == "done"
    assert {"one", "two", "followed", "again"} <= set(lake.document()["refs"])


@pytest.mark.slow
def test_what_pyiceberg_cannot_read_is_refused_by_name(tmp_path: Path) -> None:
    def change(own: Json) -> None:
        own["statistics"] = [
            {
                "snapshot-id": own["snapshots"][0]["snapshot-id"],
                "statistics-path": f"{own['location']}/metadata/s.puffin",
                "file-size-in-bytes": 1,
                "file-footer-size-in-bytes": 1,
                "blob-metadata": [{"type": "of-tomorrow", "snapshot-id": 1, "sequence-number": 1, "fields": [1]}],
            }
        ]

    lake = Lake(tmp_path, change=change)
    table, there = open_table(NAME), sorted(lake.root.rglob("*"))
    with pytest.raises(Unsupported, match="cannot read this metadata"):
        apply(table, table.preview(CreateTag("one"), LATE_MS), settle_s=0)
    assert sorted(lake.root.rglob("*")) == there
    assert Journal().open_run(NAME) is None


@pytest.mark.slow
def test_undo_through_the_catalog(lake: Lake) -> None:
    before, there = lake.document(), lake.files()
    table = open_table(NAME)
    others = tuple(name for name in before["refs"] if name != "main")
    plan = table.preview(Expire(drop_tags=others), LATE_MS)

    class Cut(BaseException):
        """The process ends."""

    def cut() -> None:
        raise Cut

    with while_settling(cut), pytest.raises(Cut):
        apply(table, plan, settle_s=0)
    assert len(lake.ids()) == 1
    run = Journal().open_run(NAME)
    assert run is not None
    recovery.undo(run.id, open_table=open_table)
    after = lake.document()
    for own in (before, after):
        for key in ("metadata-log", "last-updated-ms"):
            own.pop(key)
    assert after == before
    assert lake.files() == there


@pytest.mark.slow
def test_a_table_that_moved_since_it_was_opened_is_refused(lake: Lake, tmp_path: Path) -> None:
    table = open_table(NAME)
    with lake.client() as client:
        other = moved(PYICEBERG / "rollback", tmp_path / "wh" / "elsewhere")
        newest = max(other.glob("metadata/*.metadata.json"))
        client.drop_table("shop.orders")
        client.register_table("shop.orders", f"file://{newest}")
    with pytest.raises(Unsupported, match="moved or copied"):
        table.history()


@pytest.mark.slow
def test_a_metadata_location_that_is_gone(lake: Lake) -> None:
    table = open_table(NAME)
    Path(lake.location().removeprefix("file://")).unlink()
    with pytest.raises(NotFound):
        table.heads()
    with pytest.raises(NotFound):
        open_table(NAME)


@pytest.mark.slow
def test_a_kind_of_catalog_that_is_not_committed_to(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogs, "WRITES", ())
    table = open_table(NAME)
    with pytest.raises(Unsupported, match="Snapscope can only read tables of a"):
        apply(table, table.preview(CreateTag("x"), LATE_MS), settle_s=0)


@pytest.mark.slow
def test_the_command_line(lake: Lake, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*words: str) -> Any:
        status = main([*words, "--json"])
        return status, json.loads(capsys.readouterr().out)

    assert run("tables", "iceberg://lake")[0] == 0
    status, document = run("create-tag", NAME, "--name", "mine", "--yes")
    assert status == 0
    assert document["receipt"]["outcome"] == "done"
    assert "mine" in lake.document()["refs"]
    others = [word for name in lake.document()["refs"] if name != "main" for word in ("--drop-tag", name)]
    status, document = run("expire", NAME, *others, "--now", "2090-01-01T00:00:00Z", "--settle", "0 s", "--yes")
    assert status == 0
    assert len(lake.ids()) == 1
    assert lake.broken() == []
    assert [each["change_kind"] for each in run("audit", NAME)[1]] == ["Expire", "CreateTag"]
    assert Store(str(lake.root)).ls("metadata")
