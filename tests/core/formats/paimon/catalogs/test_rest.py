"""Paimon's REST catalog, as a server of a few lines answers; a real one is asked in tests/interop."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.catalog import list_tables
from core.errors import Corrupt, NotFound, SnapscopeError
from core.formats.paimon.catalogs import rest
from core.model.actions import CreateTag
from core.table import open_table
from tests.support.formats.paimon.rest_catalog import Server, serving
from tests.support.formats.paimon.tables import four_commits

TOKEN = "marker-secret"


def missing(kind: str) -> tuple[int, Any]:
    return 404, {"resourceType": kind, "message": f"{kind} does not exist.", "code": 404}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """Two databases, one of them closed; the names of the other come in two pages."""
    root = four_commits(tmp_path / "any" / "where").root

    def answer(path: str, query: dict[str, str]) -> tuple[int, Any]:
        match path.removeprefix("/v1/").split("/"):
            case ["config"]:
                return 200, {"defaults": {"prefix": "no", "header.X-Own": "1"}, "overrides": {"prefix": "a/b"}}
            case ["a%2Fb", "databases"]:
                return 200, {"databases": ["shop", "closed"], "nextPageToken": None}
            case ["a%2Fb", "databases", "shop", "tables"]:
                first = "pageToken" not in query
                return 200, {"tables": ["orders"] if first else ["clicks/x"], "nextPageToken": "2" if first else None}
            case ["a%2Fb", "databases", "closed", "tables"]:
                return 403, {"message": f"not for {TOKEN}", "code": 403}
            case ["a%2Fb", "databases", "shop", "tables", "orders"]:
                return 200, {"name": "orders", "path": str(root), "schemaId": 0, "schema": {}}
            case ["a%2Fb", "databases", "shop", "tables", "clicks%2Fx"]:
                return 200, {"name": "clicks/x", "path": str(tmp_path), "schemaId": 0}
            case ["a%2Fb", "databases", "shop", "tables", "newer"]:
                return 200, {"name": "newer", "path": str(root), "schemaId": 9}
            case ["a%2Fb", "databases", "shop", _, _]:
                return missing("TABLE")
        return missing("DATABASE")

    with serving(answer) as found:
        configure(found.url)
        yield found


def configure(url: str, *more: str) -> None:
    Path(os.environ["SNAPSCOPE_CONFIG"]).write_text(
        "\n".join(["[catalog.meta]", "type = 'paimon-rest'", f"uri = '{url}/'", f"token = '{TOKEN}'", *more])
    )


def test_tables_are_listed_page_by_page(server: Server) -> None:
    configure(server.url, "warehouse = 'a&b'")
    found = list_tables("paimon://meta")
    assert [each.location for each in found.tables] == ["paimon://meta/shop/clicks%2Fx", "paimon://meta/shop/orders"]
    assert [each.path for each in found.problems] == ["closed"]
    assert "HTTP 403 not for …" in found.problems[0].sentence()
    assert server.asked[0][1] == "/v1/config?warehouse=a%26b"
    assert {headers["Authorization"] for _, _, headers in server.asked} == {f"Bearer {TOKEN}"}
    assert {headers.get("X-Own") for _, _, headers in server.asked[1:]} == {"1"}
    assert not any(TOKEN in path for _, path, _ in server.asked)


def test_a_table_is_opened_by_its_path(server: Server) -> None:
    table = open_table("paimon://meta/shop/orders")
    assert table.location == table.heads().location == "paimon://meta/shop/orders"
    assert len(table.heads().main.snapshots) == 4
    table.preview(CreateTag("v9", 2), 0)
    assert {method for method, _, _ in server.asked} == {"GET"}
    assert len(server.asked) == 2, "one opening asks for the configuration and the table"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("shop/none", "TABLE does not exist"),
        ("none/none", "DATABASE does not exist"),
        ("shop/clicks%2Fx", "its directory has no schema/schema-0"),
        ("shop/newer", "its directory has no schema/schema-9"),
        ("shop", "There is no table"),
    ],
)
def test_what_is_not_there_is_not_found(server: Server, name: str, said: str) -> None:
    with pytest.raises(NotFound, match=said):
        open_table(f"paimon://meta/{name}")


@pytest.mark.parametrize(
    ("status", "found", "said"),
    [
        (200, b"<html>", "expected a JSON object"),
        (200, [], "expected a JSON object"),
        (200, b"[" * 100_000, "expected a JSON object"),
        (200, {"databases": "x"}, "expected a list of names"),
        (200, {"databases": [], "nextPageToken": "again"}, "expected another page of names"),
        (200, {"databases": [], "nextPageToken": 1}, "expected another page of names"),
        (500, b"", "HTTP 500"),
        (404, b"", "HTTP 404"),
        (307, "http://127.0.0.1:1/", "HTTP 307"),
    ],
)
def test_an_answer_of_another_form_is_an_error(server: Server, status: int, found: object, said: str) -> None:
    server.answer = lambda path, _: (200, {}) if path == "/v1/config" else (status, found)
    with pytest.raises(Corrupt, match=said) as told:
        list_tables("paimon://meta")
    assert TOKEN not in f"{told.value} {vars(told.value)}"
    assert told.value.path == f"{server.url}/v1/databases" or "pageToken" in str(told.value.path)
    assert [each.path for each in list_tables("paimon://").problems] == ["meta"]


def test_a_server_that_is_not_there_is_an_error() -> None:
    configure("http://127.0.0.1:1")
    with pytest.raises(Corrupt, match="did not answer"):
        list_tables("paimon://meta")


@pytest.mark.parametrize("uri", ["ftp://host", "/etc", "file:///etc"])
def test_other_schemes_are_refused(uri: str) -> None:
    configure(uri)
    with pytest.raises(SnapscopeError, match="http"):
        list_tables("paimon://meta")


def test_too_large_an_answer_is_an_error(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "MOST_BYTES", 10)
    with pytest.raises(Corrupt, match="expected a JSON object"):
        list_tables("paimon://meta")


def test_of_a_refusal_only_a_message_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[int]()

    def within(answer: Any, seconds: float, most: int) -> bytes:
        found = whole(answer, seconds, most)
        read.append(len(found))
        return found

    whole = rest._within
    monkeypatch.setattr(rest, "_within", within)
    with serving(lambda *_: (500, b'{"message": "' + b"x" * (8 << 20) + b'"}')) as found:
        configure(found.url)
        with pytest.raises(Corrupt, match="rejected the request: HTTP 500"):
            list_tables("paimon://meta")
    assert len(read) == 1
    assert read[0] < 2 << 20
