"""Ask a PostgreSQL database of a JDBC catalog, in a transaction that can only read.

Invariant: the user and the password come from keys of their own in the settings file, never from the URL.
"""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from core.errors import ErrorCode, SnapscopeError, Unsupported
from core.installation import extra_command
from core.messages import told
from core.settings_file import NamedCatalog

SCHEME = "jdbc:postgresql:"
TIMEOUT_S = 20.0
_PORT = 5432
_SAFETY: dict[str, Any] = {"disable": False, "prefer": None, "require": True, "verify-full": "checked"}
"""What the driver's `sslmode` means here; without one, as `prefer`."""


class Failed(Exception):
    """What the database or its client says."""


def rows(catalog: NamedCatalog, statement: str, values: Sequence[str]) -> list[Sequence[str]]:
    """Return what a query finds. Raises `Failed`."""
    try:
        import pg8000.dbapi as client
    except ImportError as error:
        raise Unsupported(
            "The catalog {name} is in a PostgreSQL database, whose client is missing: {error}.",
            name=catalog.name,
            error=error,
            path=catalog.location,
            remedy=told("Install it: {command}", command=extra_command("postgres")),
            code=ErrorCode.EXTRA_MISSING,
        ) from error
    try:
        with contextlib.closing(client.connect(**_address(catalog), timeout=TIMEOUT_S)) as connection:
            cursor = connection.cursor()
            cursor.execute("SET TRANSACTION READ ONLY")
            cursor.execute("SET client_encoding TO 'UTF8'")  # as Java does; the default is the database's
            cursor.execute(statement.replace("?", "%s"), tuple(values))
            return list(cursor.fetchall())
    except SnapscopeError:
        raise
    except Exception as error:  # what is no PostgreSQL server can make its client raise any type of error
        said = error.args[0] if error.args else error
        raise Failed(said.get("M", said) if isinstance(said, dict) else said) from error


def _address(catalog: NamedCatalog) -> dict[str, Any]:
    try:
        parts = urlsplit(catalog.text("uri").removeprefix("jdbc:"))
        given, port = dict(parse_qsl(parts.query, keep_blank_values=True)), parts.port
    except ValueError as error:
        raise Failed(error) from error
    mode = given.pop("sslmode", "prefer")
    database = unquote(parts.path.removeprefix("/"))
    if given or mode not in _SAFETY or not parts.hostname or not database or "," in parts.netloc:
        raise Unsupported(
            "The uri of the catalog {name} is not jdbc:postgresql://HOST:PORT/DATABASE; of its options, sslmode is "
            "known ({modes}).",
            name=catalog.name,
            modes=", ".join(_SAFETY),
            path=catalog.text("uri"),
            remedy=told("Write it without other options, and the user and the password under keys of their own."),
        )
    safety = ssl.create_default_context() if _SAFETY[mode] == "checked" else _SAFETY[mode]
    who = {"user": catalog.text("user"), "password": catalog.text("password") or None}
    return {"host": parts.hostname, "port": port or _PORT, "database": database, "ssl_context": safety, **who}
