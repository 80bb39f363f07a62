"""Paimon's JDBC catalog on SQLite, in the tables that Java Paimon 1.4 creates (checked in tests/interop)."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest

from core.catalog import list_tables
from core.cli import main
from core.doctor import examine
from core.errors import Corrupt, Invalid, NotFound, SnapscopeError, Unsupported
from core.execution.apply import apply
from core.formats.paimon.catalogs import jdbc
from core.model.actions import CreateTag
from core.storage.store import Store
from core.table import open_table
from tests.support.builders import TableBuilder
from tests.support.formats.paimon.tables import four_commits

TABLES = (
    "CREATE TABLE paimon_tables(catalog_key VARCHAR(255) NOT NULL,database_name VARCHAR(255) NOT NULL,"
    "table_name VARCHAR(255) NOT NULL, PRIMARY KEY (catalog_key, database_name, table_name))",
    "CREATE TABLE paimon_database_properties(catalog_key VARCHAR(255) NOT NULL,database_name VARCHAR(255) NOT NULL,"
    "property_key VARCHAR(255),property_value VARCHAR(1000),"
    "PRIMARY KEY (catalog_key, database_name, property_key))",
)
ROWS = [("jdbc", "shop", "orders"), ("jdbc", "shop", "gone"), ("other", "shop", "hidden"), ("jdbc", "shop", "../x")]


@pytest.fixture
def lake(tmp_path: Path) -> TableBuilder:
    """A table in a warehouse whose catalog also lists one that is not there, and one of another catalog."""
    table = four_commits(tmp_path / "w" / "shop.db" / "orders")
    four_commits(tmp_path / "w" / "shop.db" / "unlisted")
    with sqlite3.connect(tmp_path / "catalog.db") as database:
        for statement in TABLES:
            database.execute(statement)
        database.executemany("INSERT INTO paimon_tables VALUES (?, ?, ?)", ROWS)
        database.execute("INSERT INTO paimon_database_properties VALUES ('jdbc', 'empty', 'exists', 'true')")
    database.close()
    configure(tmp_path)
    return table


def configure(tmp_path: Path, *more: str, uri: str | None = None) -> None:
    Path(os.environ["SNAPSCOPE_CONFIG"]).write_text(
        "\n".join(
            [
                "[warehouse.lake]",
                f"location = '{tmp_path}/w'",
                "[catalog.meta]",
                "type = 'paimon-jdbc'",
                f"uri = '{uri or f'jdbc:sqlite:{tmp_path}/catalog.db'}'",
                "warehouse = 'lake'",
                *more,
            ]
        )
    )


def test_the_tables_of_a_catalog_are_listed(lake: TableBuilder) -> None:
    found = list_tables("paimon://meta")
    root = str(lake.root.parent)
    assert [(each.title, each.location) for each in found.tables] == [
        ("shop.gone", f"{root}/gone"),
        ("shop.orders", f"{root}/orders"),
    ]
    assert [each.path for each in found.problems] == ["shop.../x"], "a name that leads elsewhere"
    assert [each.title for each in list_tables("paimon://").tables] == ["meta.shop.gone", "meta.shop.orders"]
    assert [each.title for each in list_tables("paimon://meta/shop/orders").tables] == ["shop.orders"]
    assert list_tables("paimon://meta/empty").tables == ()
    for missing in ("paimon://meta/none", "paimon://meta/shop/none", "paimon://none"):
        with pytest.raises(NotFound):
            list_tables(missing)
    with pytest.raises(Invalid):
        list_tables("paimon://meta/a/b/c")


def test_another_key_is_another_catalog(lake: TableBuilder, tmp_path: Path) -> None:
    configure(tmp_path, "catalog-key = 'other'")
    assert [each.title for each in list_tables("paimon://meta").tables] == ["shop.hidden"]


def test_a_table_opens_by_its_name(lake: TableBuilder) -> None:
    table = open_table("paimon://meta/shop/orders")
    assert table.location == str(lake.root), "one key for locks and the journal, however it was opened"
    assert len(table.heads().main.snapshots) == 4
    for missing in ("paimon://meta/shop/gone", "paimon://meta/shop/unlisted", "paimon://meta/shop", "paimon://meta"):
        with pytest.raises(NotFound):
            open_table(missing)


def test_names_of_catalogs_are_taken_as_locations(
    lake: TableBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["snapshots", "meta/shop/orders", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 4
    assert main(["tables", "meta"]) == 1, "one name is no table"
    assert "shop.orders" in capsys.readouterr().out
    assert [each.found for each in examine(["paimon://meta"]) if each.name == "paimon://meta"] != []


def test_a_table_without_a_lock_is_changed_as_without_a_catalog(lake: TableBuilder) -> None:
    table = open_table("paimon://meta/shop/orders")
    apply(table, table.preview(CreateTag("v9", 2), 0), settle_s=0)
    assert "v9" in {tag.name for tag in open_table(str(lake.root)).heads().main.tags}


@pytest.mark.parametrize("how", ["name", "path", "link"])
def test_a_table_whose_writers_lock_is_not_changed(lake: TableBuilder, tmp_path: Path, how: str) -> None:
    """However it was opened: what it is called here tells nothing about its writers."""
    configure(tmp_path, "lock-enabled = true")
    (tmp_path / "link").symlink_to(tmp_path / "w")
    places = {"name": "paimon://meta/shop/orders", "path": str(lake.root), "link": f"{tmp_path}/link/shop.db/orders"}
    table = open_table(places[how])
    plan = table.preview(CreateTag("v9", 2), 0)
    assert any("lock.enabled" in each.text for each in plan.warnings)
    before = sorted(map(str, lake.root.rglob("*")))
    with pytest.raises(Unsupported, match=r"take its lock .* Nothing was changed"):
        apply(table, plan, settle_s=0)
    assert sorted(map(str, lake.root.rglob("*"))) == before


def test_on_a_store_writers_lock_unless_they_are_told_not_to(lake: TableBuilder, tmp_path: Path) -> None:
    """As `AbstractCatalog.lockEnabled`, which asks whether the file system is an object store."""
    text = Path(os.environ["SNAPSCOPE_CONFIG"]).read_text().replace(f"{tmp_path}/w", "memory://lake")
    for more, is_refused in (("", True), ("\nlock-enabled = false", False), ("\nlock-enabled = true", True)):
        Path(os.environ["SNAPSCOPE_CONFIG"]).write_text(text + more)
        assert (jdbc.why_not_here(Store("memory://lake/shop.db/t")) is not None) == is_refused
        assert jdbc.why_not_here(Store("memory://lakes/shop.db/t")) is None


@pytest.mark.parametrize(
    ("uri", "kind"),
    [
        ("jdbc:sqlite:{}/none.db", NotFound),
        ("jdbc:sqlite:{}/w", Corrupt),
        ("jdbc:sqlite:{}/text.db", Corrupt),
        ("jdbc:sqlite:{}/empty.db", Corrupt),
        ("jdbc:oracle:thin:@host:1521:db", Unsupported),
    ],
)
def test_a_database_that_cannot_be_read_is_an_error(
    lake: TableBuilder, tmp_path: Path, uri: str, kind: type[SnapscopeError]
) -> None:
    (tmp_path / "text.db").write_text("not a database, but long enough to look for one" * 99)
    (tmp_path / "empty.db").touch()
    configure(tmp_path, uri=uri.format(tmp_path))
    with pytest.raises(kind) as told:
        list_tables("paimon://meta")
    assert told.value.remedy or kind is Corrupt
    assert [each.path for each in list_tables("paimon://").problems] == ["meta"], "others are still listed"


def test_the_database_is_not_written(lake: TableBuilder, tmp_path: Path) -> None:
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    list_tables("paimon://meta")
    open_table("paimon://meta/shop/orders").heads()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
