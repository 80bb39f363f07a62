"""Credentials that a Paimon REST catalog lends; a server that admits nothing else is asked in tests/interop."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.credentials import masked
from core.errors import Corrupt, Unsupported
from core.formats.paimon.catalogs import lent, rest
from core.settings_file import current
from core.storage import location_options
from core.table import open_table
from tests.support.formats.paimon.rest_catalog import Server, serving

KEYS = {"fs.oss.accessKeyId": "k", "fs.oss.accessKeySecret": "marker-secret-lent", "fs.oss.securityToken": "t"}
PLACE = "oss://lake/shop.db/orders"


@pytest.fixture
def token() -> dict[str, Any]:
    """What the server answers for a token; it can be changed."""
    return {"token": dict(KEYS), "expiresAtMillis": 1 << 45}


@pytest.fixture
def server(token: dict[str, Any]) -> Iterator[Server]:
    def answer(path: str, _query: dict[str, str]) -> tuple[int, Any]:
        match path.removeprefix("/v1/").split("/"):
            case ["config"]:
                return 200, {"defaults": {"data-token.enabled": "true", "fs.oss.endpoint": "oss.example"}}
            case ["databases", "shop", "tables", "orders"]:
                return 200, {"name": "orders", "path": PLACE, "schemaId": 0}
            case ["databases", "shop", "tables", "orders", "token"]:
                return 200, token
        return 404, {}

    with serving(answer) as found:
        configure(found)
        yield found


def configure(server: Server, *more: str) -> None:
    lines = ["[catalog.meta]", "type = 'paimon-rest'", f"uri = '{server.url}'", *more]
    Path(os.environ["SNAPSCOPE_CONFIG"]).write_text("\n".join(lines))


def used() -> dict[str, Any]:
    """The options of the table's store after it was opened by name."""
    location_options.learn(PLACE, {"key": "before"})
    catalog = current().catalogs["meta"]
    lent.use(catalog, rest.Client(catalog), "shop", "orders", PLACE)
    return dict(location_options.of(PLACE))


def test_options_of_a_token_replace_those_of_the_catalog(server: Server) -> None:
    expected = {"key": "k", "secret": "marker-secret-lent", "token": "t", "endpoint": "https://oss.example"}
    assert used() == expected
    assert masked("marker-secret-lent") == "…"


def test_the_settings_file_decides_whether_tokens_are_used(server: Server) -> None:
    configure(server, "data-token-enabled = false")
    assert used() == {"key": "before"}
    assert not any("/token" in path for _, path, _ in server.asked)


def test_a_token_of_another_kind_is_refused(server: Server, token: dict[str, Any]) -> None:
    token["token"] = {"akId": "k"}
    with pytest.raises(Unsupported, match="in a form that Snapscope does not know"):
        open_table("paimon://meta/shop/orders")
    for odd in ({"token": "x"}, {"expiresAtMillis": None}):
        token |= {"token": dict(KEYS), "expiresAtMillis": 1, **odd}
        with pytest.raises(Corrupt, match="expected a token with its expiresAtMillis") as told:
            open_table("paimon://meta/shop/orders")
        assert "marker-secret" not in f"{told.value} {vars(told.value)}"


@pytest.mark.parametrize("prefix", ["fs.s3a.", "s3a.", "s3."])
def test_options_of_s3_have_many_spellings(prefix: str) -> None:
    """As `S3FileIO`, which mirrors them all to `fs.s3a.`."""
    dashed = {"access-key": "k", "secret-key": "s", "session-token": "t", "path-style-access": "true"}
    named = {f"{prefix}{name}": each for name, each in dashed.items()}
    dotted = {f"{prefix}{name.replace('-', '.')}": each for name, each in dashed.items()}
    more = {f"{prefix}endpoint": "s3.example:9000", f"{prefix}endpoint.region": "r", "fs.oss.endpoint": "x"}
    expected = {
        "key": "k",
        "secret": "s",
        "token": "t",
        "endpoint_url": "https://s3.example:9000",
        "client_kwargs": {"region_name": "r"},
        "config_kwargs": {"s3": {"addressing_style": "path"}},
    }
    assert lent.of_file_system("s3a://lake/t", {**named, **more}) == expected
    assert lent.of_file_system("s3://lake/t", {**dotted, **more}) == expected
    assert lent.of_file_system("gs://lake/t", {**named, **more}) == {}
