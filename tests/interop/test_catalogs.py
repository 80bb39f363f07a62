"""Real catalogs of Java Paimon: their tables are listed and opened, and changed only where that is safe."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.catalog import list_tables
from core.execution.apply import apply
from core.model.actions import CreateTag, Expire
from core.table import open_table
from tests.engines import paimon_catalogs as engine
from tests.engines.java import Missing


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
