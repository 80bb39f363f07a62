"""Find Paimon tables by the catalogs of the settings file: `paimon://CATALOG/DATABASE/TABLE`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from core import settings_file, spark_catalogs
from core.errors import ErrorCode, NotFound, SnapscopeError
from core.formats.paimon import layout
from core.formats.paimon.capabilities import PAIMON
from core.formats.paimon.catalogs import hive, jdbc, lent, owners, rest, served_tables
from core.formats.paimon.locations import SCHEME, parts, url
from core.formats.paimon.write import catalog_commits
from core.formats.table_format import Listing, TableRef
from core.messages import message
from core.model.actions import Change
from core.model.codes import Fault
from core.model.references import Problem
from core.settings_file import NamedCatalog
from core.storage.store import Store


def named(name: str) -> NamedCatalog:
    """Return a catalog of the settings file. Raises `NotFound`."""
    found = settings_file.current()
    if name in found.left_out:
        raise spark_catalogs.unusable(name, found.left_out[name])
    if name not in found.catalogs:
        raise NotFound(
            "The settings file has no catalog {name!r}.",
            name=name,
            path=found.path,
            remedy=message("Catalogs there: {known}.", known=", ".join(found.catalogs) or message("none")),
        )
    return found.catalogs[name]


def places(given: Sequence[str]) -> tuple[str, ...]:
    """Return every catalog of the settings file, unless `paimon://`, which means all of them, is given."""
    return () if SCHEME in given else tuple(url(name) for name in settings_file.current().catalogs)


def listed(location: str) -> Listing:
    """List the tables of a catalog or database, or one table; those of every catalog if none is named."""
    catalog, database, name = parts(location)
    if not catalog:
        return _of_all()
    tables: list[TableRef] = []
    problems: list[Problem] = []
    for each in _tables(named(catalog), database):
        if isinstance(each, Problem):
            problems.append(each)
        elif name in ("", each.name):
            tables.append(each)
    if name and not tables:
        raise missing(location)
    return Listing(location.rstrip("/"), tuple(tables), tuple(problems))


def opened(location: str) -> tuple[Store, str | None]:
    """Return the store of the table of this name, and the name if only its catalog may change it.

    Raises `NotFound` if the catalog does not have it, or if it is not in its directory.
    """
    catalog, database, name = parts(location)
    found, schema = named(catalog), None
    own: str | None
    if not name:
        raise missing(location)
    if found.type == rest.TYPE:
        client = rest.Client(found)
        table = client.table(database, name)
        lent.use(found, client, database, name, table.path)
        store, schema = Store.named(table.path), table.schema_id
        own = None if table.is_external else url(catalog, database, name)
        send = partial(served_tables.publish, found, (database, name), store) if own else None
        catalog_commits.learn(store, catalog, send=send)
    elif found.type == hive.TYPE:
        store, own = _in_metastore(found, hive.table(found, database, name))
    elif (database, name) in jdbc.tables(found):
        store, own = Store.named(jdbc.location(found, database, name)), None
    else:
        raise missing(location)
    known = {entry.name for entry in store.ls_if_there(layout.SCHEMA)}
    if not known or (schema is not None and f"{layout.SCHEMA}-{schema}" not in known):
        raise NotFound(
            "The catalog has the table {location}, but its directory has no {schema}.",
            location=location,
            schema=f"{layout.SCHEMA}/{layout.SCHEMA}-{'<N>' if schema is None else schema}",
            path=store.location,
            remedy="Only tables whose files are Paimon's can be read; if they are, repair the catalog.",
            code=ErrorCode.NO_TABLE,
        )
    return store, own


def why_not_here(store: Store, name: str | None, *, refresh: bool) -> str | None:
    """Return why nothing of a table can be changed here: another catalog commits to it, or the server of the REST
    catalog in which it is `name` knows other snapshots; else None.

    `refresh`: ask servers, also those that were asked a short time ago."""
    if not name:
        return jdbc.why_not_here(store) or owners.why_not_here(store, refresh=refresh)
    catalog, database, table = parts(name)
    if (found := named(catalog)).type != rest.TYPE or not refresh:
        return None
    return served_tables.why_unlike(found, database, table, store)


def why_elsewhere(name: str, change: Change) -> str | None:
    """Return why only an engine can make this change of a table, through its catalog; None if it is made here."""
    found = named(parts(name)[0])
    return served_tables.why_elsewhere(found.name, change) if found.type == rest.TYPE else None


def _in_metastore(catalog: NamedCatalog, entry: hive.HiveTable) -> tuple[Store, str | None]:
    """Return the store of a table, and its name if commits take the lock of its catalog."""
    assert entry.location is not None
    store, is_locked = Store.named(entry.location), hive.is_locked(catalog, entry.location)
    catalog_commits.learn(store, catalog.name, partial(hive.locked, catalog, entry) if is_locked else None)
    return store, url(catalog.name, entry.database, entry.name) if is_locked else None


def missing(location: str) -> NotFound:
    catalog, database, _ = parts(location)
    if not database:
        remedy = message("Add the table: {scheme}{catalog}/DATABASE/TABLE.", scheme=SCHEME, catalog=catalog)
    else:
        remedy = message("`snapscope tables {place}` lists the tables.", place=url(catalog))
    return NotFound(
        "There is no table at {location}.", location=location, path=location, remedy=remedy, code=ErrorCode.NO_TABLE
    )


def _of_all() -> Listing:
    tables: list[TableRef] = []
    problems: list[Problem] = []
    for catalog in settings_file.current().catalogs.values():
        try:
            for each in _tables(catalog, ""):
                if isinstance(each, Problem):
                    problems.append(each)
                else:
                    database = f"{catalog.name}.{each.database}"
                    tables.append(TableRef(database, each.name, each.location, each.format))
        except SnapscopeError as error:
            problems.append(
                Problem(catalog.name, message("a catalog that answers"), error.message, code=Fault.UNLISTED)
            )
    return Listing(SCHEME, tuple(tables), tuple(problems))


def _tables(catalog: NamedCatalog, only: str) -> Iterator[TableRef | Problem]:
    """Yield the tables of one catalog, in one database if it is given, and what cannot be listed or used."""
    kinds = {rest.TYPE: _of_server, hive.TYPE: _of_metastore, jdbc.TYPE: _of_database}
    return kinds[catalog.type](catalog, only)


def _of_server(catalog: NamedCatalog, only: str) -> Iterator[TableRef | Problem]:
    client = rest.Client(catalog)
    for database in [only] if only else client.databases():
        try:
            names = client.tables(database)
        except SnapscopeError as error:
            if only:
                raise
            yield Problem(database, message("a database that can be listed"), error.message, code=Fault.UNLISTED)
            continue
        for name in names:
            yield TableRef(database, name, url(catalog.name, database, name), PAIMON.format)


def _of_metastore(catalog: NamedCatalog, only: str) -> Iterator[TableRef | Problem]:
    for database in [only] if only else hive.databases(catalog):
        try:
            tables = hive.tables(catalog, database)
        except SnapscopeError as error:
            if only:
                raise
            yield Problem(database, message("a database that can be listed"), error.message, code=Fault.UNLISTED)
            continue
        for each in tables:
            yield TableRef(each.database, each.name, url(catalog.name, each.database, each.name), PAIMON.format)


def _of_database(catalog: NamedCatalog, only: str) -> Iterator[TableRef | Problem]:
    if only and only not in jdbc.databases(catalog):
        raise missing(url(catalog.name, only))
    for database, name in jdbc.tables(catalog):
        if only in ("", database):
            try:
                yield TableRef(database, name, jdbc.location(catalog, database, name), PAIMON.format)
            except SnapscopeError as error:
                expected = message("a name that a directory can have")
                yield Problem(f"{database}.{name}", expected, error.message, code=Fault.UNLISTED)
