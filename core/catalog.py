"""Finds the tables of a warehouse.

Paimon's stand in `<warehouse>/<database>.db/<table>`, Iceberg's there, in `<database>/<table>` or at the top.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import TypeVar

from core.errors import NotFound, SnapscopeError
from core.formats.iceberg import references as iceberg_heads
from core.formats.iceberg.catalogs import pyiceberg_catalog as catalogs
from core.formats.paimon import references as paimon_heads
from core.messages import told
from core.model.references import Problem
from core.storage import time_limits
from core.storage.store import Store

T = TypeVar("T")
DEMO_MARKER = ".snapscope-demo"


@dataclass(frozen=True, slots=True)
class TableRef:
    """Where a table is, without having opened it."""

    database: str
    name: str
    location: str
    format: str  # "paimon", "iceberg"

    @property
    def title(self) -> str:
        return f"{self.database}.{self.name}" if self.database else self.name


@dataclass(frozen=True, slots=True)
class Warehouse:
    """The tables found under one location, by database and name, and what could not be listed."""

    location: str
    tables: tuple[TableRef, ...]
    is_demo: bool
    problems: tuple[Problem, ...]


def list_tables(location: str) -> Warehouse:
    """List a warehouse, one database directory, or a single table named by its own path or its metadata.json; or a
    catalog, a namespace of it or all catalogs (`iceberg://`): see `core.formats.iceberg.catalogs.pyiceberg_catalog`.

    `Corrupt` where its store does not answer in time; a table that does not is among the problems."""
    return time_limits.within(location, time_limits.call_s(), lambda: _listed(location))


def _listed(location: str) -> Warehouse:
    if catalogs.is_name(location):
        return _of_catalogs(location)
    if iceberg_heads.is_metadata(location.rstrip("/").rpartition("/")[2]):
        return _pinned(location)
    store = Store(location)
    base = store.location
    if of := format_of(store):
        above, _, name = base.rpartition("/")
        database = above.rsplit("/", 1)[-1].removesuffix(".db")
        return Warehouse(base, (TableRef(database, name, base, of),), is_demo(base), ())
    try:
        entries = store.ls()
    except NotFound as error:
        raise NotFound("There is no warehouse at {location}.", location=location, path=location) from error
    tables: list[TableRef] = []
    problems: list[Problem] = []
    if base.endswith(".db"):
        _list_database(store, "", base, tables, problems)
    for entry in entries:
        if entry.is_dir and entry.name.endswith(".db"):
            _list_database(store, entry.name, base, tables, problems)
        elif entry.is_dir and not entry.name.startswith((".", "_")) and not base.endswith(".db"):
            _list_iceberg(store, entry.name, base, tables, problems)
    return Warehouse(base, tuple(tables), is_demo(base), tuple(problems))


def _of_catalogs(location: str) -> Warehouse:
    """The tables of a catalog or namespace; of every catalog there is, where none is named."""
    catalog, namespace, name = catalogs.parts(location)
    base = location.rstrip("/") if catalog else catalogs.SCHEME
    if name:
        found = catalogs.CatalogTable.of(location)
        found.current()
        return Warehouse(base, (TableRef(".".join(namespace), name, found.location, "iceberg"),), False, ())
    tables: list[TableRef] = []
    problems: list[Problem] = []
    for each in [catalog] if catalog else catalogs.names():
        try:
            for table in catalogs.tables(each, namespace):
                if isinstance(table, SnapscopeError):
                    problems.append(Problem(each, told("a namespace that can be listed"), table.message))
                    continue
                database = ".".join(table[:-1] if catalog else (each, *table[:-1]))
                tables.append(TableRef(database, table[-1], catalogs.url(each, *table), "iceberg"))
        except SnapscopeError as error:
            if catalog:
                raise
            problems.append(Problem(each, told("a catalog that answers"), error.message))
    return Warehouse(base, tuple(tables), False, tuple(problems))


def format_of(store: Store) -> str | None:
    """Which format's table this directory is. A Paimon table may hold Iceberg metadata of itself."""
    if paimon_heads.is_table(store):
        return "paimon"
    return "iceberg" if iceberg_heads.is_table(store) else None


def places(named: Sequence[str]) -> tuple[str, ...]:
    """The places that are named, and every catalog of pyiceberg's configuration beside them, each once."""
    known = []
    if catalogs.SCHEME not in named and find_spec("pyiceberg"):
        known = [catalogs.url(name) for name in catalogs.names()]
    return tuple(dict.fromkeys([*named, *known]))


def _pinned(location: str) -> Warehouse:
    """The table of one metadata file, named by the directory above `metadata`."""
    above, _, name = location.rstrip("/").rpartition("/")
    store = Store(above or ("/" if location.startswith("/") else "."))
    if name not in {entry.name for entry in store.ls()}:
        raise NotFound("There is no file {location}.", location=location, path=location)
    parts = store.location.removesuffix(f"/{iceberg_heads.DIRECTORY}").rsplit("/", 2)
    own = f"{store.location}/{name}"
    return Warehouse(
        own, (TableRef(parts[-2].removesuffix(".db"), parts[-1], own, "iceberg"),), is_demo(store.location), ()
    )


def _list_iceberg(store: Store, directory: str, base: str, tables: list[TableRef], problems: list[Problem]) -> None:
    """Iceberg tables at the top of a warehouse, or in a database directory without `.db`. One listing a directory."""
    try:
        found = _answer(store, directory, lambda: store.ls(directory))
        inner = [entry.name for entry in found if entry.is_dir and not entry.name.startswith((".", "_"))]
        if iceberg_heads.DIRECTORY in inner and _is_iceberg(store, directory):
            tables.append(TableRef("", directory, f"{base}/{directory}", "iceberg"))
            return
    except SnapscopeError as error:
        problems.append(Problem(directory, told("a directory that can be listed"), error.message))
        return
    for name in inner:
        try:
            if _is_iceberg(store, f"{directory}/{name}"):
                tables.append(TableRef(directory, name, f"{base}/{directory}/{name}", "iceberg"))
        except SnapscopeError as error:
            problems.append(Problem(f"{directory}/{name}", told("a directory that can be listed"), error.message))


def _is_iceberg(store: Store, directory: str) -> bool:
    return _answer(store, directory, lambda: iceberg_heads.is_table(store.at(directory)))


def _answer(store: Store, directory: str, work: Callable[[], T]) -> T:
    """What is asked of one directory among others, in its own time."""
    return time_limits.within(store.full(directory), time_limits.TABLE_S, work, 1)


def _list_database(store: Store, directory: str, base: str, tables: list[TableRef], problems: list[Problem]) -> None:
    location = f"{base}/{directory}".rstrip("/")
    database = location.rsplit("/", 1)[-1].removesuffix(".db")
    try:
        entries = _answer(store, directory, lambda: store.ls(directory))
    except SnapscopeError as error:
        problems.append(Problem(directory or base, told("a database directory that can be listed"), error.message))
        return
    for entry in entries:
        inner = f"{directory}/{entry.name}".lstrip("/")
        try:
            if entry.is_dir and (of := _answer(store, inner, partial(format_of, store.at(inner)))):
                tables.append(TableRef(database, entry.name, f"{location}/{entry.name}", of))
        except SnapscopeError as error:
            problems.append(Problem(inner, told("a table directory that can be listed"), error.message))


def is_demo(location: str) -> bool:
    """Does this warehouse, or the warehouse of this table or database, bear the demo's marker file?

    What counts is where it really is: a link in the demo to a table elsewhere makes that no demo.
    """
    if catalogs.is_name(location):
        return False
    path = Store(location).location
    for _ in range(3):
        if Store(path).size(DEMO_MARKER) is not None:
            return True
        path = path.rpartition("/")[0]
        if not path or path.endswith((":", ":/")):
            return False
    return False
