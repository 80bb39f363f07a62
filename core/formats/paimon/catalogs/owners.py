"""Which catalog commits to a table that was opened by its path.

The files of a table tell nothing about its catalog: they are the same with and without one. So the catalogs of the
settings file are asked before a change: each REST catalog, and each Hive catalog whose writers lock.

Invariant: a catalog that cannot be asked may own the table, so the table is not changed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core import settings_file, urls
from core.errors import NotFound, SnapscopeError
from core.formats.paimon.catalogs import hive, rest
from core.formats.paimon.locations import url
from core.messages import told
from core.settings_file import NamedCatalog, plain
from core.storage.store import Store


def why_not_here(store: Store) -> str | None:
    """Return why a table that was opened by its path cannot be changed here: a catalog commits to it; else None."""
    settings = settings_file.current()
    if settings.unread is not None:
        return told(
            "It cannot be determined whether a catalog of Spark's settings commits to this table: {why}",
            why=settings.unread,
        )
    for name in settings.unasked:
        return _undetermined(name, settings.left_out[name])
    for catalog in settings.catalogs.values():
        is_locked = catalog.type == hive.TYPE and hive.is_locked(catalog, store.location)
        if catalog.type != rest.TYPE and not is_locked:
            continue
        try:
            own = _owned(catalog, store)
        except SnapscopeError as error:
            return _undetermined(catalog.name, error.message)
        if own is not None and is_locked:
            return told(
                "Writers of this table take the lock of the catalog {name}. Open it as {own}.",
                name=catalog.name,
                own=own,
            )
        if own is not None:
            return f"{rest.why_not_here(catalog.name)} {told('Its name there is {own}.', own=own)}"
    return None


def _undetermined(name: str, why: str) -> str:
    return told(
        "It cannot be determined whether commits to this table go through the catalog {name}: {why} "
        "If they do not, remove that catalog from the settings file, or from Spark's settings.",
        name=name,
        why=why,
    )


def _owned(catalog: NamedCatalog, store: Store) -> str | None:
    """Return the name of the table in a catalog; None if the catalog has no table there.

    Raises an error if a database cannot be listed and no other has the table.
    """
    above, _, name = store.location.rpartition("/")
    database = above.rpartition("/")[2].removesuffix(".db")
    places = _of_server(catalog) if catalog.type == rest.TYPE else _of_metastore(catalog)
    with contextlib.suppress(NotFound):  # where the catalog itself would put it
        if _is_at(store, places.one(database, name)):
            return url(catalog.name, database, name)
    failed: SnapscopeError | None = None
    for each in places.databases():
        try:
            found = places.tables(each)
        except SnapscopeError as error:
            failed = failed or error
            continue
        for own, location in found:
            if _is_at(store, location):
                return url(catalog.name, each, own)
    if failed is not None:
        raise failed
    return None


@dataclass(frozen=True, slots=True)
class _Places:
    """What a catalog answers: its databases, the names and locations of a database's tables, and one location."""

    databases: Callable[[], Sequence[str]]
    tables: Callable[[str], Sequence[tuple[str, str | None]]]
    one: Callable[[str, str], str | None]


def _of_metastore(catalog: NamedCatalog) -> _Places:
    return _Places(
        lambda: hive.databases(catalog),
        lambda database: [(each.name, each.location) for each in hive.tables(catalog, database)],
        lambda database, name: hive.table(catalog, database, name).location,
    )


def _of_server(catalog: NamedCatalog) -> _Places:
    client = rest.Client(catalog)
    return _Places(client.databases, client.paths, lambda database, name: client.table(database, name)[0])


def _is_at(store: Store, location: str | None) -> bool:
    if not location:
        return False
    if store.is_local:
        path = urls.local_path(location)
        return path is not None and os.path.realpath(path) == store.root
    return plain(urls.spelled(location)) == plain(store.location)
