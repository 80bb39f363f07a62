"""A REST catalog lends credentials for a store that admits nothing else, and the store stops admitting them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from core.errors import SnapscopeError
from core.execution.apply import apply
from core.model.actions import CreateTag, Expire
from core.table import Table, open_table
from tests.engines import s3_server
from tests.engines.java import Missing
from tests.support import command_line
from tests.support.execution.iceberg_rest import Server, serving
from tests.support.faulty_http import between
from tests.support.formats.paimon.rest_catalog import serving as rest_serving
from tests.support.formats.paimon.tables import four_commits

NAME = "iceberg://lent/shop/orders"
LASTS_S = 6.0


@dataclass
class Lender:
    """The catalog, and the number of the session token that the store admits now. Each lasts `LASTS_S`."""

    server: Server
    number: int = 1

    @property
    def token(self) -> str:
        return f"marker-token-{self.number}"

    def admits(self, headers: Mapping[str, str]) -> bool:
        return headers.get("x-amz-security-token") == self.token

    def expire(self) -> None:
        """Wait until a client must ask for other credentials, and admit only those."""
        self.number += 1
        time.sleep(LASTS_S)


@pytest.fixture
def lender(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lender]:
    """A table of three commits on an S3 server that checks signatures, behind a proxy that checks session tokens."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("PYICEBERG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    try:
        with s3_server.running(tmp_path / "s3") as url, between(url) as proxy:
            backing = f"sqlite:///{tmp_path}/catalog.db"
            keys = {"s3.access-key-id": s3_server.KEY, "s3.secret-access-key": s3_server.SECRET}
            direct = {**keys, "s3.endpoint": url, "s3.region": "us-east-1"}
            with SqlCatalog("lake", uri=backing, warehouse=f"s3://{s3_server.BUCKET}/wh", **direct) as catalog:
                catalog.create_namespace("shop")
                rows = pa.table({"id": pa.array([1, 2], pa.int64())})
                table = catalog.create_table("shop.orders", rows.schema)
                for _ in range(3):
                    table.append(rows)
            with serving(backing) as server:
                found = Lender(server)
                server.properties = direct
                server.files = lambda location: tmp_path / "s3" / location.removeprefix("s3://")
                server.lends = lambda: {
                    **keys,
                    "s3.endpoint": proxy.url,
                    "s3.region": "us-east-1",
                    "s3.session-token": found.token,
                    "s3.session-token-expires-at-ms": str(int((time.time() + LASTS_S) * 1000)),
                }
                proxy.guard = found.admits
                Path(".pyiceberg.yaml").write_text(f"catalog:\n  lent:\n    type: rest\n    uri: {server.uri}\n")
                yield found
    except Missing as lack:
        pytest.skip(f"engines: {lack}")


def kept() -> str:
    """All that Snapscope has written down."""
    places = [Path(os.environ[each]) for each in ("SNAPSCOPE_STATE", "SNAPSCOPE_CACHE")]
    files = [path for place in places for path in place.rglob("*") if path.is_file()]
    return "".join(path.read_bytes().decode(errors="replace") for path in files)


def snapshots(table: Table) -> int:
    return len(table.heads().main.snapshots)


def test_credentials_are_renewed_while_a_table_is_open(lender: Lender) -> None:
    table = open_table(NAME)
    assert snapshots(table) == 3
    assert not table.history().incomplete
    lender.expire()
    assert snapshots(table) == 3
    assert not table.reread().history().incomplete
    apply(table, table.preview(CreateTag("v1"), 0), settle_s=0)
    lender.expire()
    plan = table.preview(Expire(retain_min=1, older_than_ms=1 << 60), 1 << 60)
    assert len(plan.frees)
    receipt = apply(table, plan, settle_s=0)
    assert receipt.is_exact
    assert snapshots(open_table(NAME)) == 1
    assert "marker-token" not in kept()


def test_workers_of_a_query_read_with_lent_credentials(lender: Lender) -> None:
    _, answer = command_line.run("query", NAME, "select count(*) as n from t", "--json", "--timeout", "5 min")
    assert answer.get("rows") == [{"n": 6}], answer


@pytest.fixture
def paimon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """A table of a Paimon REST catalog on the same kind of server; the number of the session token that it admits."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    number = [1]
    root = tmp_path / "s3" / s3_server.BUCKET / "shop.db" / "orders"

    def answer(path: str, _query: dict[str, str]) -> tuple[int, Any]:
        match path.removeprefix("/v1/").split("/"):
            case ["config"]:
                return 200, {"defaults": {"data-token.enabled": "true", "s3.endpoint": proxy.url}, "overrides": {}}
            case ["databases", "shop", "tables", "orders"]:
                path = f"s3://{s3_server.BUCKET}/shop.db/orders"
                return 200, {"id": "id-1", "name": "orders", "path": path, "schemaId": 0}
            case ["databases", "shop", "tables", "orders", "token"]:
                token = {
                    "fs.s3a.access-key": s3_server.KEY,
                    "fs.s3a.secret-key": s3_server.SECRET,
                    "fs.s3a.session.token": f"marker-token-{number[0]}",
                }
                return 200, {"token": token, "expiresAtMillis": int((time.time() + LASTS_S) * 1000)}
            case ["databases", "shop", "tables", "orders", "snapshot"]:
                newest = json.loads((root / "snapshot" / "snapshot-4").read_bytes())
                return 200, {"snapshot": {"snapshot": newest, "recordCount": 1}}
        return 404, {}

    try:
        with s3_server.running(tmp_path / "s3") as url, between(url) as proxy, rest_serving(answer) as catalog:
            proxy.guard = lambda headers: headers.get("x-amz-security-token") == f"marker-token-{number[0]}"
            four_commits(root)
            Path(os.environ["SNAPSCOPE_CONFIG"]).write_text(
                f"[catalog.meta]\ntype = 'paimon-rest'\nuri = '{catalog.url}'"
            )
            yield number
    except Missing as lack:
        pytest.skip(f"engines: {lack}")


def test_tokens_of_a_paimon_catalog_are_renewed_while_a_table_is_open(paimon: list[int]) -> None:
    table = open_table("paimon://meta/shop/orders")
    assert snapshots(table) == 4
    paimon[0] += 1
    time.sleep(LASTS_S)
    assert snapshots(table) == 4
    assert [each.name for each in table.store.ls("snapshot")]
    plan = table.preview(CreateTag("v1", 2), 0)
    paimon[0] += 1
    time.sleep(LASTS_S)
    assert apply(table, plan, settle_s=0).is_exact
    tags = open_table("paimon://meta/shop/orders").heads().main.tags
    assert {each.name for each in tags} == {"v", "v1"}
    assert "marker-token" not in kept()


def test_without_its_tokens_the_table_is_not_read(paimon: list[int]) -> None:
    config = Path(os.environ["SNAPSCOPE_CONFIG"])
    config.write_text(config.read_text() + "\ndata-token-enabled = false")
    with pytest.raises(SnapscopeError) as told:
        open_table("paimon://meta/shop/orders").heads()
    assert "marker-token" not in f"{told.value} {vars(told.value)}"


def test_other_credentials_are_rejected_and_shown_nowhere(lender: Lender) -> None:
    admitted = lender.server.lends
    lender.server.lends = lambda: {**admitted(), "s3.session-token": "marker-token-0"}
    with pytest.raises(SnapscopeError) as told:
        open_table(NAME).history()
    assert "marker-token" not in f"{told.value} {vars(told.value)}"
    lender.server.lends = dict
    with pytest.raises(SnapscopeError):
        open_table(NAME).heads()


def test_a_catalog_that_is_gone_is_named_when_credentials_expire(lender: Lender) -> None:
    table = open_table(NAME)
    assert snapshots(table) == 3
    config = Path(".pyiceberg.yaml")
    config.write_text(config.read_text().replace(lender.server.uri, "http://127.0.0.1:1"))
    lender.expire()
    with pytest.raises(SnapscopeError, match="did not answer") as told:
        table.history()
    assert "marker-token" not in f"{told.value} {vars(told.value)}"
