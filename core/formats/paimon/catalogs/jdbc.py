"""Paimon's JDBC catalog: which tables it lists, and when its writers take a lock that is not taken here.

The database has names only. A table lies in `<warehouse>/<database>.db/<table>` and is opened and changed there, as in
a warehouse without a catalog: its writers commit by the same `RenamingSnapshotCommit`. With `lock.enabled`, which is
the default on object stores, they hold a row of `paimon_distributed_locks` meanwhile; such tables are not changed here.
Source: `JdbcCatalog`, `JdbcUtils`, `AbstractCatalog.lockEnabled` of Paimon 1.4.

Invariant: the database is opened for reading only.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import quote

from core import settings_file
from core.credentials import masked
from core.errors import Corrupt, NotFound, Unsupported
from core.formats import catalog_answers
from core.formats.paimon.catalogs import database_servers
from core.messages import message
from core.settings_file import NamedCatalog
from core.storage.store import Store
from core.urls import is_object_store, may_be_below

TYPE = "paimon-jdbc"
_SQLITE = re.compile(r"jdbc:sqlite:(?:file:)?(/[^?]*)(?:\?.*)?")
_BUSY_S = 5.0
_LOCKED = "lock-enabled"


def databases(catalog: NamedCatalog) -> list[str]:
    """Return the databases of a catalog, also those without tables."""
    found = _rows(
        catalog,
        "SELECT database_name FROM paimon_tables WHERE catalog_key = ? "
        "UNION SELECT database_name FROM paimon_database_properties WHERE catalog_key = ?",
        [_key(catalog)] * 2,
    )
    return sorted(name for (name,) in found)


def tables(catalog: NamedCatalog) -> list[tuple[str, str]]:
    """Return the tables of a catalog, as (database, name)."""
    query = "SELECT database_name, table_name FROM paimon_tables WHERE catalog_key = ?"
    return sorted((str(database), str(name)) for database, name in _rows(catalog, query, [_key(catalog)]))


def location(catalog: NamedCatalog, database: str, name: str) -> str:
    """Return the location of a table. Raises `Corrupt` for names that no directory can have."""
    for each in (database, name):
        if not each or each in (".", "..") or "/" in each or "\0" in each:
            raise Corrupt("The catalog has a table that no directory can be named after: {name!r}.", name=each)
    return f"{warehouse(catalog).rstrip('/')}/{database}.db/{name}"


def warehouse(catalog: NamedCatalog) -> str:
    """Return the location below which the catalog's tables lie."""
    return catalog.text("warehouse")


def why_not_here(store: Store) -> str | None:
    """Return why a table cannot be changed here: its writers take the lock of a catalog; None if none is known."""
    for catalog in settings_file.current().catalogs.values():
        if catalog.type != TYPE:
            continue
        base = warehouse(catalog)
        is_local = "://" not in base
        root = Store(base).location if is_local else base
        is_locked = catalog.options.get(_LOCKED, is_object_store(base))
        if is_locked and may_be_below(store.location, root):
            return message(
                "Writers of the catalog {name} take its lock (lock.enabled), which Snapscope does not take.",
                name=catalog.name,
            )
    return None


def _key(catalog: NamedCatalog) -> str:
    return catalog.text("catalog-key", "jdbc")


def _rows(catalog: NamedCatalog, statement: str, values: Sequence[str]) -> list[Sequence[str]]:
    return catalog_answers.ask(catalog.name, catalog.location, lambda: _answer(catalog, statement, values))


def _answer(catalog: NamedCatalog, statement: str, values: Sequence[str]) -> list[Sequence[str]]:
    try:
        if server := database_servers.of(catalog.text("uri")):
            return database_servers.rows(server, catalog, statement, values)
        with _opened(catalog) as database:
            return list(database.execute(statement, values))
    except (sqlite3.Error, database_servers.Failed) as error:
        raise Corrupt(
            "The database of the catalog {name} cannot be read: {error}.",
            name=catalog.name,
            error=masked(str(error)),
            path=catalog.text("uri"),
            remedy="Correct its uri in the settings file: it names the database that the engines' catalog uses.",
        ) from error


@contextmanager
def _opened(catalog: NamedCatalog) -> Iterator[sqlite3.Connection]:
    uri = catalog.text("uri")
    found = _SQLITE.fullmatch(uri)
    if found is None:
        raise Unsupported(
            "The catalog {name} is in a database that Snapscope cannot read; expected jdbc:sqlite:/PATH, "
            "jdbc:postgresql://HOST:PORT/DATABASE or jdbc:mysql://HOST:PORT/DATABASE.",
            name=catalog.name,
            path=uri,
            remedy=message("Open its warehouse without the catalog: {location}.", location=warehouse(catalog)),
        )
    try:
        with open(found[1], "rb"):
            pass
    except FileNotFoundError as error:
        raise NotFound(
            "There is no database of the catalog {name}.", name=catalog.name, path=found[1],
            remedy="Correct its uri in the settings file.",
        ) from error  # fmt: skip
    except OSError as error:
        raise Corrupt("The database cannot be read: {why}.", why=error.strerror, path=found[1]) from error
    with contextlib.closing(
        sqlite3.connect(f"file:{quote(found[1])}?mode=ro", uri=True, timeout=_BUSY_S)
    ) as connection:
        yield connection
