"""Real catalogs of Java Paimon: their tables are listed and opened, and changed only where that is safe."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from core import settings_file
from core.catalog import list_tables
from core.errors import Conflict, Corrupt, NotFound, Unsupported
from core.execution.apply import apply
from core.formats.paimon.catalogs import hive, rest
from core.model.actions import CreateTag, Expire, Truncate
from core.table import open_table
from tests.engines import paimon_catalogs as engine
from tests.engines import postgres_server, s3_server
from tests.engines.java import Missing
from tests.engines.metastore import Metastore
from tests.engines.postgres_server import Postgres
from tests.support import command_line

if TYPE_CHECKING:
    from core.table import Table


@pytest.fixture(scope="module", autouse=True)
def catalogs() -> None:
    try:
        engine._class_path()
    except Missing as lack:
        pytest.skip(f"engines: {lack}")


def configure(*lines: str) -> None:
    Path(os.environ["SNAPSCOPE_CONFIG"]).write_text("\n".join(["[catalog.meta]", *lines]))


def test_a_jdbc_catalog_is_listed_and_its_tables_are_changed(tmp_path: Path) -> None:
    """Its writers commit as those of a warehouse without a catalog, so what holds for those holds here."""
    database, warehouse = tmp_path / "catalog.db", tmp_path / "w"
    options = engine.jdbc(database, warehouse)
    engine.create_databases(options, "empty")
    location, how, lock = engine.write(options, "shop.orders", 3)
    _, by_path, without = engine.write(f"metastore=filesystem,warehouse={tmp_path}/plain", "shop.orders", 1)
    assert (how, lock) == (by_path, without) == ("RenamingSnapshotCommit", "no lock")
    configure("type = 'paimon-jdbc'", f"uri = 'jdbc:sqlite:{database}'", f"warehouse = '{warehouse}'")
    found = list_tables("paimon://meta")
    assert [(each.title, each.location) for each in found.tables] == [("shop.orders", location)]
    assert list_tables("paimon://meta/empty").tables == ()
    table = open_table("paimon://meta/shop/orders")
    apply(table, table.preview(CreateTag("v1", 2), 0), settle_s=0)
    apply(table, table.preview(Expire(retain_max=1, retain_min=1), 1 << 50), settle_s=0)
    engine.write(options, "shop.orders", 1)
    assert engine.rows(options, "shop.orders") == [0, 0, 1, 2]
    heads = open_table("paimon://meta/shop/orders").heads()
    assert [each.id for each in heads.main.snapshots] == [3, 4]
    assert [each.name for each in heads.main.tags] == ["v1"]


@pytest.fixture(scope="module")
def postgres(catalogs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    try:
        with postgres_server.running(tmp_path_factory.mktemp("postgres") / "server", "marker-secret") as running:
            yield running
    except Missing as lack:
        pytest.skip(f"postgres: {lack}")


@pytest.mark.postgres
def test_a_jdbc_catalog_on_postgresql(tmp_path: Path, postgres: Postgres) -> None:
    """The same tables as on SQLite, over the network and with a password."""
    options = engine.jdbc_on_server(postgres.uri, postgres.user, postgres.password, tmp_path / "w")
    engine.create_databases(options, "empty")
    location, how, lock = engine.write(options, "shop.orders", 3)
    assert (how, lock) == ("RenamingSnapshotCommit", "no lock")
    lines = ("type = 'paimon-jdbc'", f"uri = '{postgres.uri}'", f"warehouse = '{tmp_path}/w'", "user = 'lake'")
    configure(*lines, "password = 'marker-secret'")
    assert [each.location for each in list_tables("paimon://meta").tables] == [location]
    assert list_tables("paimon://meta/empty").tables == ()
    table = open_table("paimon://meta/shop/orders")
    apply(table, table.preview(CreateTag("v1", 2), 0), settle_s=0)
    assert engine.tags(options, "shop.orders") == ["v1"]
    configure(*lines, "password = 'wrong-secret'")
    with pytest.raises(Corrupt, match="password authentication failed") as told:
        list_tables("paimon://meta")
    assert "secret" not in f"{told.value} {vars(told.value)}"


def test_a_rest_catalog_is_listed_and_its_tables_are_read_only(tmp_path: Path) -> None:
    """On the server of Paimon's own tests, which decides about commits."""
    (tmp_path / "w").mkdir()
    lent, until = {"fs.s3a.access-key": "k", "fs.s3a.secret-key": "marker-lent"}, 1 << 45
    words = ",".join(f"{key}={value}" for key, value in lent.items())
    with engine.rest_server(tmp_path / "w", "marker-secret", "shop.orders", words, str(until)) as url:
        options = engine.rest(url, "marker-secret")
        engine.create_databases(options, "empty", "a b")
        location, how, _ = engine.write(options, "shop.orders", 3)
        assert how == "CatalogSnapshotCommit"
        assert engine.write(options, "shop.clicks", 1)[0] != location
        configure("type = 'paimon-rest'", f"uri = '{url}'", "warehouse = 'main'", "token = 'marker-secret'")
        names = [each.location for each in list_tables("paimon://meta").tables]
        assert names == ["paimon://meta/shop/clicks", "paimon://meta/shop/orders"]
        assert list_tables("paimon://meta/a%20b").tables == ()
        assert [each.name for each in list_tables("paimon://meta/shop/orders").tables] == ["orders"]
        table = open_table("paimon://meta/shop/orders")
        heads = table.heads()
        assert (table.location, heads.location) == ("paimon://meta/shop/orders",) * 2
        assert table.store.location == location
        assert [each.id for each in heads.main.snapshots] == [1, 2, 3]
        assert not table.history(heads).incomplete
        plan = table.preview(CreateTag("v1", 2), 0)
        assert any("through the catalog meta" in each.text for each in plan.warnings)
        with pytest.raises(Unsupported, match="through the catalog meta, which Snapscope only reads"):
            apply(table, plan, settle_s=0)
        assert not (Path(location) / "tag").exists()
        by_path = open_table(location)
        said = "through the catalog meta, which Snapscope only reads. Its name there is paimon://meta/shop/orders"
        with pytest.raises(Unsupported, match=re.escape(said)):
            apply(by_path, by_path.preview(CreateTag("v1", 2), 0), settle_s=0)
        elsewhere, _, _ = engine.write(f"metastore=filesystem,warehouse={tmp_path}/plain", "shop.orders", 1)
        free = open_table(elsewhere)
        apply(free, free.preview(CreateTag("v1", 1), 0), settle_s=0)
        assert rest.Client(settings_file.current().catalogs["meta"]).token("shop", "orders") == (lent, until)
        _, answer = command_line.run("query", "paimon://meta/shop/orders", "select id from t order by id", "--json")
        assert [each["id"] for each in answer["rows"]] == engine.rows(options, "shop.orders") == [0, 1, 2]
        for missing in ("paimon://meta/none/t", "paimon://meta/shop/none", "paimon://meta/shop"):
            with pytest.raises(NotFound):
                open_table(missing)
        configure("type = 'paimon-rest'", f"uri = '{url}'", "warehouse = 'main'", "token = 'wrong-secret'")
        with pytest.raises(Corrupt, match="HTTP 401") as told:
            list_tables("paimon://meta")
        assert "wrong-secret" not in f"{told.value} {vars(told.value)}"


@pytest.fixture(scope="module")
def metastore(catalogs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Metastore]:
    with Metastore(tmp_path_factory.mktemp("hive") / "metastore") as running:
        yield running


def files(table: Table) -> set[str]:
    return {str(path) for path in Path(table.store.location).rglob("*") if path.is_file()}


def test_a_hive_catalog_is_listed_and_its_tables_are_changed(tmp_path: Path, metastore: Metastore) -> None:
    """Without a lock, its writers commit as those of a warehouse without a catalog."""
    options = engine.hive(metastore.uri, tmp_path / "w")
    engine.create_databases(options, "empty")
    location, how, lock = engine.write(options, "shop.orders", 3)
    assert (how, lock) == ("RenamingSnapshotCommit", "no lock")
    engine.refer(options, "shop.orders", "theirs", 2, "dev")
    configure("type = 'paimon-hive'", f"uri = '{metastore.uri}'")
    found = list_tables("paimon://meta")
    assert [(each.title, each.location) for each in found.tables] == [("shop.orders", "paimon://meta/shop/orders")]
    assert list_tables("paimon://meta/empty").tables == ()
    table = open_table("paimon://meta/shop/orders")
    assert table.location == location.removeprefix("file:"), "one key for locks and the journal, however it was opened"
    heads = table.heads()
    assert [each.name for each in heads.main.tags] == ["theirs"]
    assert [each.branch for each in heads.lines] == ["main", "dev"]
    apply(table, table.preview(CreateTag("v1", 3), 0), settle_s=0)
    apply(table, table.preview(Expire(retain_max=1, retain_min=1), 1 << 50), settle_s=0)
    engine.write(options, "shop.orders", 1)
    assert engine.tags(options, "shop.orders") == ["theirs", "v1"]
    assert engine.rows(options, "shop.orders") == [0, 0, 1, 2]
    assert engine.rows(options, "shop.orders$branch_dev") == [0, 1]
    for missing in ("paimon://meta/none/t", "paimon://meta/shop/none", "paimon://meta/shop"):
        with pytest.raises(NotFound):
            open_table(missing)
    with pytest.raises(NotFound):
        list_tables("paimon://meta/none")


def test_commits_to_a_table_of_a_hive_catalog_take_its_lock(
    tmp_path: Path, metastore: Metastore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock that Java Paimon takes, which keeps its writers out as they keep us out."""
    options = engine.hive(metastore.uri, tmp_path / "w", "lock.enabled=true", "lock-acquire-timeout=2s")
    location, how, lock = engine.write(options, "shop.locked", 3)
    assert (how, lock) == ("RenamingSnapshotCommit", "lock")
    configure("type = 'paimon-hive'", f"uri = '{metastore.uri}'", "lock-enabled = true")
    by_path = open_table(location.removeprefix("file:"))
    with pytest.raises(Unsupported, match=r"take the lock of the catalog meta\. Open it as paimon://meta/shop/locked"):
        apply(by_path, by_path.preview(Truncate(), 0), settle_s=0)
    table = open_table("paimon://meta/shop/locked")
    assert table.location == table.heads().location == "paimon://meta/shop/locked"
    plan = table.preview(Truncate(), 0)
    assert not any("lock" in each.text for each in plan.warnings)
    before = files(table)
    catalog = settings_file.current().catalogs["meta"]
    monkeypatch.setattr(hive, "LOCK_S", 1.0)
    with hive.locked(catalog, hive.table(catalog, "shop", "locked")):
        with pytest.raises(Conflict, match=r"Another writer holds the lock of shop\.locked"):
            apply(table, plan, settle_s=0)
        with pytest.raises(RuntimeError, match="Acquire lock failed"):
            engine.write(options, "shop.locked", 1)
    assert {path for path in files(table) - before if "/snapshot/" in path} == set()
    assert engine.rows(options, "shop.locked") == [0, 1, 2]
    apply(table, table.preview(CreateTag("v1", 3), 0), settle_s=0)
    apply(table, table.preview(Truncate(), 0), settle_s=0)
    assert engine.rows(options, "shop.locked") == []
    engine.write(options, "shop.locked", 1)
    assert engine.rows(options, "shop.locked") == [0]
    assert engine.tags(options, "shop.locked") == ["v1"]


def test_commits_to_an_object_store_take_turns_with_the_engine(tmp_path: Path, metastore: Metastore) -> None:
    """There, writers lock by default: only the lock makes them wait for each other."""
    with s3_server.running(tmp_path / "s3") as url:
        place = f"s3://{s3_server.BUCKET}/w"
        options = engine.hive(metastore.uri, place, "location-in-properties=true", *engine.s3(url))
        location, how, lock = engine.write(options, "remote.orders", 3)
        assert (location, how, lock) == (f"{place}/remote.db/orders", "RenamingSnapshotCommit", "lock")
        lines = ["[warehouse.lake]", f"location = '{place}'", f"endpoint = '{url}'", "region = 'us-east-1'"]
        lines += [f"access-key = '{s3_server.KEY}'", f"secret-key = '{s3_server.SECRET}'"]
        configure("type = 'paimon-hive'", f"uri = '{metastore.uri}'", "warehouse = 'lake'", *lines)
        table = open_table("paimon://meta/remote/orders")
        assert table.location == "paimon://meta/remote/orders"
        apply(table, table.preview(CreateTag("v1", 3), 0), settle_s=0)
        apply(table, table.preview(Truncate(), 0), settle_s=0)
        assert engine.rows(options, "remote.orders") == []
        engine.write(options, "remote.orders", 1)
        assert engine.rows(options, "remote.orders") == [0]
        assert engine.tags(options, "remote.orders") == ["v1"]
        by_path = open_table(location)
        with pytest.raises(Unsupported, match="take the lock of the catalog meta"):
            apply(by_path, by_path.preview(CreateTag("v2", 3), 0), settle_s=0)


def test_a_metastore_that_does_not_answer_changes_nothing(tmp_path: Path) -> None:
    location, _, _ = engine.write(f"metastore=filesystem,warehouse={tmp_path}/plain", "shop.orders", 1)
    configure("type = 'paimon-hive'", "uri = 'thrift://127.0.0.1:1'", "lock-enabled = true")
    with pytest.raises(Corrupt, match="did not answer"):
        list_tables("paimon://meta")
    table = open_table(location)
    with pytest.raises(Unsupported, match=r"It cannot be determined .* did not answer.* Nothing was changed"):
        apply(table, table.preview(CreateTag("v1", 1), 0), settle_s=0)
