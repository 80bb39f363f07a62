"""A JDBC catalog on PostgreSQL or MySQL, as far as no server is needed; real ones are asked in tests/interop."""

from __future__ import annotations

import os
import socket
import ssl
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from core.catalog import list_tables
from core.errors import Corrupt, SnapscopeError, Unsupported
from core.formats.paimon.catalogs import database_servers as servers
from core.settings_file import current


def configure(uri: str, *more: str) -> None:
    lines = ["[catalog.meta]", "type = 'paimon-jdbc'", "warehouse = '/w'", f"uri = '{uri}'", *more]
    Path(os.environ["SNAPSCOPE_CONFIG"]).write_text("\n".join(lines))


@pytest.mark.parametrize("kind", ["postgresql", "mysql", "mariadb"])
def test_a_server_that_is_not_there_is_an_error(kind: str) -> None:
    configure(f"jdbc:{kind}://127.0.0.1:1/lake", "user = 'me'", "password = 'marker-secret'")
    with pytest.raises(Corrupt, match="cannot be read: ") as told:
        list_tables("paimon://meta")
    assert "marker-secret" not in f"{told.value} {vars(told.value)}"


@pytest.mark.parametrize(("kind", "says"), [("postgresql", b"N\0\0\0\0\4"), ("mysql", b"\4\0\0\0\x09abc")])
def test_a_server_of_something_else_is_an_error(kind: str, says: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with listening.accept()[0] as connection:
                if kind == "postgresql":
                    connection.recv(1024)
                connection.sendall(says)
                connection.recv(1024)

        thread = threading.Thread(target=serve)
        thread.start()
        configure(f"jdbc:{kind}://127.0.0.1:{listening.getsockname()[1]}/lake", "user = 'me'")
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
        "jdbc:mysql:lake",
        "jdbc:mysql://h1,h2/lake",
        "jdbc:mysql://h/lake?allowLoadLocalInfile=true",
        "jdbc:mysql://h/lake?sslMode=none",
        "jdbc:mariadb://h/",
    ],
)
def test_other_addresses_are_refused(uri: str) -> None:
    configure(uri)
    with pytest.raises(Unsupported, match=r"jdbc:(postgresql|mysql)://HOST:PORT/DATABASE"):
        list_tables("paimon://meta")


@pytest.mark.parametrize("kind", ["postgresql", "mysql"])
def test_credentials_do_not_stand_in_the_address(kind: str) -> None:
    configure(f"jdbc:{kind}://h/lake?user=me&password=marker-secret")
    with pytest.raises(SnapscopeError, match="without credentials") as told:
        list_tables("paimon://meta")
    assert "marker-secret" not in str(told.value)


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("jdbc:postgresql://h/lake", {"host": "h", "port": 5432, "database": "lake", "ssl_context": None}),
        ("jdbc:postgresql://h:1/a%20b?sslmode=disable", {"port": 1, "database": "a b", "ssl_context": False}),
        ("jdbc:postgresql://h/lake?sslmode=require", {"ssl_context": True}),
        ("jdbc:mysql://h/lake", {"host": "h", "port": 3306, "database": "lake"}),
        ("jdbc:mariadb://h:1/lake?sslMode=disable&useUnicode=true", {"port": 1, "ssl_disabled": True}),
        ("jdbc:mysql://h/lake?sslMode=DISABLED&serverTimezone=UTC", {"ssl_disabled": True}),
    ],
)
def test_an_address_is_the_drivers(uri: str, expected: dict[str, Any]) -> None:
    configure(uri, "user = 'me'", "password = { env = 'HOME' }")
    found = address()
    assert {key: found[key] for key in expected} == expected
    assert (found["user"], found["password"]) == ("me", os.environ["HOME"])
    assert address()["host"] == "h"


def address() -> dict[str, Any]:
    catalog = current().catalogs["meta"]
    server = servers.of(catalog.text("uri"))
    assert server is not None
    return servers._address(server, catalog)


@pytest.mark.parametrize(
    ("uri", "checks", "names"),
    [
        ("jdbc:postgresql://h/lake?sslmode=verify-full", True, True),
        ("jdbc:mysql://h/lake?sslMode=REQUIRED", False, False),
        ("jdbc:mysql://h/lake?sslMode=VERIFY_CA", True, False),
        ("jdbc:mysql://h/lake?sslMode=VERIFY_IDENTITY", True, True),
        ("jdbc:mariadb://h/lake?sslMode=verify-full", True, True),
    ],
)
def test_a_server_can_be_made_to_prove_itself(uri: str, checks: bool, names: bool) -> None:
    configure(uri, "user = 'me'")
    found = address()
    context = found.get("ssl_context") or found["ssl"]
    assert (context.verify_mode == ssl.CERT_REQUIRED, context.check_hostname) == (checks, names)


@pytest.mark.parametrize(("kind", "client"), [("postgresql", "pg8000.dbapi"), ("mysql", "pymysql")])
def test_without_its_client_the_command_is_shown(kind: str, client: str, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(f"jdbc:{kind}://h/lake", "user = 'me'")
    monkeypatch.setitem(sys.modules, client, None)
    with pytest.raises(Unsupported, match="whose client is missing") as told:
        list_tables("paimon://meta")
    assert client.partition(".")[0] in str(told.value.remedy)
