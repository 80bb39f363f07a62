"""Real catalogs of Java Paimon, beyond their contract: locks, passwords, and tables that are opened by their path."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from core import settings_file
from core.catalog import list_tables
from core.errors import Conflict, Corrupt, Unsupported
from core.execution.apply import apply
from core.formats.paimon.catalogs import hive, rest
from core.model.actions import CreateTag, Rollback, Truncate
from core.table import open_table
from tests.engines import paimon_catalogs as of
from tests.engines import postgres_server, s3_server
from tests.engines.java import Missing
from tests.engines.lines import EngineError
from tests.engines.metastore import Metastore
from tests.engines.paimon_catalogs import Catalogs

if TYPE_CHECKING:
    from core.table import Table


@pytest.fixture
def engine(paimon_engine: Catalogs) -> Catalogs:
    return paimon_engine


RETRIES = "table-default.commit.max-retries=0"


def configure(*lines: str) -> None:
    Path(os.environ["SNAPSCOPE_CONFIG"]).write_text("\n".join(["[catalog.meta]", *lines]))


@pytest.mark.postgres
def test_a_password_that_is_wrong_is_not_shown(tmp_path: Path) -> None:
    try:
        with postgres_server.running(tmp_path / "server", "marker-secret") as server:
            lines = ("type = 'paimon-jdbc'", f"uri = '{server.uri}'", f"warehouse = '{tmp_path}/w'", "user = 'lake'")
            configure(*lines, "password = 'wrong-secret'")
            with pytest.raises(Corrupt, match="password authentication failed") as told:
                list_tables("paimon://meta")
    except Missing as lack:
        pytest.skip(f"postgres: {lack}")
    assert "secret" not in f"{told.value} {vars(told.value)}"


def test_a_table_of_a_rest_catalog_is_not_changed_by_its_path(engine: Catalogs, tmp_path: Path) -> None:
    """On the server of Paimon's own tests, which decides about commits."""
    (tmp_path / "w").mkdir()
    lent, until = {"fs.s3a.access-key": "k", "fs.s3a.secret-key": "marker-lent"}, 1 << 45
    words = ",".join(f"{key}={value}" for key, value in lent.items())
    url = engine.serve(tmp_path / "w", "marker-secret", "shop.orders", words, str(until))
    location, _, _ = engine.write(of.rest(url, "marker-secret"), "shop.orders", 3)
    configure("type = 'paimon-rest'", f"uri = '{url}'", "warehouse = 'main'", "token = 'marker-secret'")
    table = open_table("paimon://meta/shop/orders")
    assert (table.location, table.store.location) == ("paimon://meta/shop/orders", location)
    by_path = open_table(location)
    said = "Commits to this table go through the catalog meta. Open it as paimon://meta/shop/orders"
    with pytest.raises(Unsupported, match=re.escape(said)):
        apply(by_path, by_path.preview(CreateTag("v1", 2), 0), settle_s=0)
    assert not (Path(location) / "tag").exists()
    elsewhere, _, _ = engine.write(f"metastore=filesystem,warehouse={tmp_path}/plain", "shop.orders", 1)
    free = open_table(elsewhere)
    apply(free, free.preview(CreateTag("v1", 1), 0), settle_s=0)
    assert rest.Client(settings_file.current().catalogs["meta"]).token("shop", "orders") == (lent, until)
    configure("type = 'paimon-rest'", f"uri = '{url}'", "warehouse = 'main'", "token = 'wrong-secret'")
    with pytest.raises(Corrupt, match="HTTP 401") as told:
        list_tables("paimon://meta")
    assert "wrong-secret" not in f"{told.value} {vars(told.value)}"


def test_requests_signed_for_dlf_are_those_of_the_engine(engine: Catalogs, tmp_path: Path) -> None:
    """Paimon's signer computes the signature of each request that its server receives."""
    (tmp_path / "w").mkdir()
    url = engine.serve(tmp_path / "w", "marker-secret", region="cn-hangzhou")
    key = (f"uri = '{url}'", "warehouse = 'main'", "access-key = 'key-id'", "session-token = 'session'")
    configure("type = 'paimon-rest'", *key, "secret-key = 'marker-secret'", "region = 'cn-hangzhou'")
    assert list_tables("paimon://meta").tables == ()
    options = f"metastore=rest,uri={url},warehouse=main,token.provider=dlf,dlf.region=cn-hangzhou"
    options += ",dlf.access-key-id=key-id,dlf.access-key-secret=marker-secret,dlf.security-token=session"
    location, _, _ = engine.write(options, "shop.orders", 3)
    assert [each.location for each in list_tables("paimon://meta").tables] == ["paimon://meta/shop/orders"]
    table = open_table("paimon://meta/shop/orders")
    assert (table.store.location, len(table.heads().main.snapshots)) == (location, 3)
    apply(table, table.preview(Rollback("1"), 1 << 41), settle_s=0)
    assert engine.rows(options, "shop.orders") == [0]
    for secret, region in (("other-secret", "cn-hangzhou"), ("marker-secret", "eu-central-1")):
        configure("type = 'paimon-rest'", *key, f"secret-key = '{secret}'", f"region = '{region}'")
        with pytest.raises(Corrupt, match="HTTP 401") as refused:
            list_tables("paimon://meta")
        assert secret not in f"{refused.value} {vars(refused.value)}"


def files(table: Table) -> set[str]:
    return {str(path) for path in Path(table.store.location).rglob("*") if path.is_file()}


def test_a_lock_of_the_metastore_keeps_writers_out(
    engine: Catalogs, tmp_path: Path, metastore: Metastore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock that Java Paimon takes, which keeps its writers out as they keep us out."""
    options = of.hive(metastore.uri, tmp_path / "w", "lock.enabled=true", "lock-acquire-timeout=2s", RETRIES)
    location, how, lock = engine.write(options, "stalls.locked", 3)
    assert (how, lock) == ("RenamingSnapshotCommit", "lock")
    configure("type = 'paimon-hive'", f"uri = '{metastore.uri}'", "lock-enabled = true")
    by_path = open_table(location.removeprefix("file:"))
    with pytest.raises(
        Unsupported, match=r"take the lock of the catalog meta\. Open it as paimon://meta/stalls/locked"
    ):
        apply(by_path, by_path.preview(Truncate(), 0), settle_s=0)
    table = open_table("paimon://meta/stalls/locked")
    assert table.location == table.heads().location == "paimon://meta/stalls/locked"
    plan = table.preview(Truncate(), 0)
    assert not any("lock" in each.text for each in plan.warnings)
    before = files(table)
    catalog = settings_file.current().catalogs["meta"]
    with hive.locked(catalog, hive.table(catalog, "stalls", "locked")):
        with monkeypatch.context() as patch:
            patch.setattr(hive, "LOCK_S", 1.0)
            with pytest.raises(Conflict, match=r"Another writer holds the lock of stalls\.locked"):
                apply(table, plan, settle_s=0)
        with pytest.raises(EngineError, match="Acquire lock failed"):
            engine.write(options, "stalls.locked", 1)
    assert {path for path in files(table) - before if "/snapshot/" in path} == set()
    assert engine.rows(options, "stalls.locked") == [0, 1, 2]
    apply(table, table.preview(CreateTag("v1", 3), 0), settle_s=0)
    apply(table, table.preview(Truncate(), 0), settle_s=0)
    assert engine.rows(options, "stalls.locked") == []
    engine.write(options, "stalls.locked", 1)
    assert engine.rows(options, "stalls.locked") == [0]
    assert engine.tags(options, "stalls.locked") == ["v1"]


def test_commits_to_an_object_store_take_turns_with_the_engine(
    engine: Catalogs, tmp_path: Path, metastore: Metastore
) -> None:
    """There, writers lock by default: only the lock makes them wait for each other."""
    with s3_server.running(tmp_path / "s3") as url:
        place = f"s3://{s3_server.BUCKET}/w"
        options = of.hive(metastore.uri, place, "location-in-properties=true", *of.s3(url))
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


def test_a_metastore_that_does_not_answer_changes_nothing(engine: Catalogs, tmp_path: Path) -> None:
    location, _, _ = engine.write(f"metastore=filesystem,warehouse={tmp_path}/plain", "shop.orders", 1)
    configure("type = 'paimon-hive'", "uri = 'thrift://127.0.0.1:1'", "lock-enabled = true")
    table = open_table(location)
    with pytest.raises(Unsupported, match=r"It cannot be determined .* did not answer.* Nothing was changed"):
        apply(table, table.preview(CreateTag("v1", 1), 0), settle_s=0)
