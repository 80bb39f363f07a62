"""Ask the database server of a JDBC catalog, PostgreSQL or MySQL, in a transaction that can only read.

Invariant: the user and the password come from keys of their own in the settings file, never from the URL. An option of
the URL that is not known here is refused, because it may be about safety.
"""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from core.errors import ErrorCode, SnapscopeError, Unsupported
from core.installation import extra_command
from core.messages import message
from core.settings_file import NamedCatalog

TIMEOUT_S = 20.0
Options = dict[str, Any]


class Failed(Exception):
    """What the database or its client says."""


@dataclass(frozen=True, slots=True)
class DatabaseServer:
    """A kind of server.

    `mode`: the option of its driver that says how connections are encrypted; `modes`: its values in lower letters, and
    what they mean for the client here, None without one. `ignored`: options that do not matter here.
    """

    title: str
    schemes: tuple[str, ...]
    port: int
    extra: str
    mode: str
    modes: Mapping[str | None, Callable[[], Options]]
    connect: Callable[..., Any]
    begin: tuple[str, ...]
    ignored: frozenset[str] = frozenset()


def of(uri: str) -> DatabaseServer | None:
    """Return the kind of server that a URL names, if any."""
    return next((each for each in SERVERS if uri.startswith(each.schemes)), None)


def rows(server: DatabaseServer, catalog: NamedCatalog, statement: str, values: Sequence[str]) -> list[Sequence[str]]:
    """Return what a query finds. Raises `Failed`."""
    address = _address(server, catalog)
    try:
        with contextlib.closing(server.connect(**address)) as connection:
            cursor = connection.cursor()
            for each in server.begin:
                cursor.execute(each)
            cursor.execute(statement.replace("?", "%s"), tuple(values))
            return list(cursor.fetchall())
    except ImportError as error:
        raise Unsupported(
            "The catalog {name} is in a database on {server}, whose client is missing: {error}.",
            name=catalog.name,
            server=server.title,
            error=error,
            path=catalog.location,
            remedy=message("Install it: {command}", command=extra_command(server.extra)),
            code=ErrorCode.EXTRA_MISSING,
        ) from error
    except SnapscopeError:
        raise
    except Exception as error:  # what is no such server can make its client raise any type of error
        raise Failed(_answer(error)) from error


def _answer(error: Exception) -> object:
    """Return the message of a client's error: PostgreSQL's has fields, MySQL's a number before it."""
    answer = error.args[-1] if error.args else error
    return answer.get("M", answer) if isinstance(answer, dict) else answer


def _address(server: DatabaseServer, catalog: NamedCatalog) -> Options:
    try:
        parts = urlsplit(catalog.text("uri").removeprefix("jdbc:"))
        given, port = dict(parse_qsl(parts.query, keep_blank_values=True)), parts.port
    except ValueError as error:
        raise Failed(error) from error
    given = {key: value for key, value in given.items() if key not in server.ignored}
    mode = given.pop(server.mode, None)
    mode = mode if mode is None else mode.lower()
    database = unquote(parts.path.removeprefix("/"))
    if given or mode not in server.modes or not parts.hostname or not database or "," in parts.netloc:
        raise Unsupported(
            "The uri of the catalog {name} is not {scheme}//HOST:PORT/DATABASE; of its options, {mode} is known "
            "({modes}).",
            name=catalog.name,
            scheme=server.schemes[0],
            mode=server.mode,
            modes=", ".join(filter(None, server.modes)),
            path=catalog.text("uri"),
            remedy=message("Write it without other options, and the user and the password under keys of their own."),
        )
    who = {"user": catalog.text("user"), "password": catalog.text("password")}
    return {"host": parts.hostname, "port": port or server.port, "database": database, **server.modes[mode](), **who}


def _context(*, checks: bool, names: bool) -> ssl.SSLContext:
    """Return how to encrypt: whether the server's certificate is checked, and whether its name is."""
    made = ssl.create_default_context()
    made.check_hostname = names
    made.verify_mode = ssl.CERT_REQUIRED if checks else ssl.CERT_NONE
    return made


# PostgreSQL ----------------------------------------------------------------------------------------------------------


def _postgresql(password: str, **options: Any) -> Any:
    import pg8000.dbapi as client

    return client.connect(password=password or None, timeout=TIMEOUT_S, **options)


_OF_POSTGRESQL: Mapping[str | None, Callable[[], Options]] = {
    "disable": lambda: {"ssl_context": False},
    "prefer": lambda: {"ssl_context": None},
    "require": lambda: {"ssl_context": True},
    "verify-full": lambda: {"ssl_context": _context(checks=True, names=True)},
}
POSTGRESQL = DatabaseServer(
    "PostgreSQL",
    ("jdbc:postgresql:",),
    5432,
    "postgres",
    "sslmode",
    {**_OF_POSTGRESQL, None: _OF_POSTGRESQL["prefer"]},
    _postgresql,
    ("SET TRANSACTION READ ONLY", "SET client_encoding TO 'UTF8'"),  # as Java does; the default is the database's
)


# MySQL and MariaDB ---------------------------------------------------------------------------------------------------


def _mysql(**options: Any) -> Any:
    import pymysql as client

    limits = dict.fromkeys(("connect_timeout", "read_timeout", "write_timeout"), TIMEOUT_S)
    return client.connect(charset="utf8mb4", **limits, **options)


_OF_MYSQL: Mapping[str | None, Callable[[], Options]] = {
    "disabled": lambda: {"ssl_disabled": True},
    "preferred": dict,
    "required": lambda: {"ssl": _context(checks=False, names=False)},
    "verify_ca": lambda: {"ssl": _context(checks=True, names=False)},
    "verify_identity": lambda: {"ssl": _context(checks=True, names=True)},
}
_AS_MARIADB = {"disable": "disabled", "trust": "required", "verify-ca": "verify_ca", "verify-full": "verify_identity"}
MYSQL = DatabaseServer(
    "MySQL",
    ("jdbc:mysql:", "jdbc:mariadb:"),
    3306,
    "mysql",
    "sslMode",
    {
        **_OF_MYSQL,
        **{name: _OF_MYSQL[same] for name, same in _AS_MARIADB.items()},
        None: _OF_MYSQL["preferred"],
    },
    _mysql,
    ("SET SESSION TRANSACTION READ ONLY",),
    frozenset({"useUnicode", "characterEncoding", "serverTimezone", "connectionTimeZone", "allowPublicKeyRetrieval"}),
)

SERVERS = (POSTGRESQL, MYSQL)
