"""A JDBC catalog on PostgreSQL, as far as no server is needed; a real one is asked in tests/interop."""

from __future__ import annotations

import os
import socket
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from core.catalog import list_tables
from core.errors import Corrupt, SnapscopeError, Unsupported
from core.formats.paimon.catalogs import postgres
from core.settings_file import current


def configure(uri: str, *more: str) -> None:
    lines = ["[catalog.meta]", "type = 'paimon-jdbc'", "warehouse = '/w'", f"uri = '{uri}'", *more]
    Path(os.environ["SNAPSCOPE_CONFIG"]).write_text("\n".join(lines))


def test_a_server_that_is_not_there_is_an_error() -> None:
    configure("jdbc:postgresql://127.0.0.1:1/lake", "user = 'me'", "password = 'marker-secret'")
    with pytest.raises(Corrupt, match="cannot be read: ") as told:
        list_tables("paimon://meta")
    assert "marker-secret" not in f"{told.value} {vars(told.value)}"


def test_a_server_of_something_else_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with listening.accept()[0] as connection:
                connection.recv(1024)
                connection.sendall(b"N\0\0\0\0\4")
                connection.recv(1024)

        thread = threading.Thread(target=serve)
        thread.start()
        configure(f"jdbc:postgresql://127.0.0.1:{listening.getsockname()[1]}/lake", "user = 'me'")
        with pytest.raises(Corrupt, match="The database of the catalog meta cannot be read: "):
            list_tables("paimon://meta")
        thread.join()


@pytest.mark.parametrize(
    "uri",
    [
        "jdbc:postgresql:lake",
        "jdbc:postgresql://h",
        "jdbc:postgresql://h1,h2/lake",
        "jdbc:postgresql://h/lake?currentSchema=x",
        "jdbc:postgresql://h/lake?sslmode=allow",
    ],
)
def test_other_addresses_are_refused(uri: str) -> None:
    configure(uri)
    with pytest.raises(Unsupported, match="jdbc:postgresql://HOST:PORT/DATABASE"):
        list_tables("paimon://meta")


def test_credentials_do_not_stand_in_the_address() -> None:
    configure("jdbc:postgresql://h/lake?user=me&password=marker-secret")
    with pytest.raises(SnapscopeError, match="without credentials") as told:
        list_tables("paimon://meta")
    assert "marker-secret" not in str(told.value)


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("jdbc:postgresql://h/lake", {"host": "h", "port": 5432, "database": "lake", "ssl_context": None}),
        ("jdbc:postgresql://h:1/a%20b?sslmode=disable", {"port": 1, "database": "a b", "ssl_context": False}),
        ("jdbc:postgresql://h/lake?sslmode=require", {"ssl_context": True}),
    ],
)
def test_an_address_is_the_drivers(uri: str, expected: dict[str, Any]) -> None:
    configure(uri, "user = 'me'", "password = { env = 'HOME' }")
    found = postgres._address(current().catalogs["meta"])
    assert {key: found[key] for key in expected} == expected
    assert (found["user"], found["password"]) == ("me", os.environ["HOME"])
    assert postgres._address(current().catalogs["meta"])["host"] == "h"


def test_a_server_can_be_made_to_prove_itself() -> None:
    configure("jdbc:postgresql://h/lake?sslmode=verify-full", "user = 'me'")
    assert postgres._address(current().catalogs["meta"])["ssl_context"].check_hostname


def test_without_its_client_the_command_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    configure("jdbc:postgresql://h/lake", "user = 'me'")
    monkeypatch.setitem(sys.modules, "pg8000.dbapi", None)
    with pytest.raises(Unsupported, match="whose client is missing") as told:
        list_tables("paimon://meta")
    assert "pip install" in str(told.value.remedy) or "install" in str(told.value)
