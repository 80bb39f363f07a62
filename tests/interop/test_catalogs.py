"""Real catalogs of Java Paimon: their tables are listed and opened, and changed only where that is safe."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.catalog import list_tables
from core.errors import Corrupt, NotFound, Unsupported
from core.execution.apply import apply
from core.model.actions import CreateTag, Expire
from core.table import open_table
from tests.engines import paimon_catalogs as engine
from tests.engines.java import Missing
from tests.support import command_line


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


def test_a_rest_catalog_is_listed_and_its_tables_are_read_only(tmp_path: Path) -> None:
    """On the server of Paimon's own tests, which decides about commits."""
    (tmp_path / "w").mkdir()
    with engine.rest_server(tmp_path / "w", "marker-secret") as url:
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
        _, answer = command_line.run("query", "paimon://meta/shop/orders", "select id from t order by id", "--json")
        assert [each["id"] for each in answer["rows"]] == engine.rows(options, "shop.orders") == [0, 1, 2]
        for missing in ("paimon://meta/none/t", "paimon://meta/shop/none", "paimon://meta/shop"):
            with pytest.raises(NotFound):
                open_table(missing)
        configure("type = 'paimon-rest'", f"uri = '{url}'", "warehouse = 'main'", "token = 'wrong-secret'")
        with pytest.raises(Corrupt, match="HTTP 401") as told:
            list_tables("paimon://meta")
        assert "wrong-secret" not in f"{told.value} {vars(told.value)}"
