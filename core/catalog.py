"""Find the tables of a warehouse.

Tables are in `<warehouse>/<database>.db/<table>`; formats with a marker directory also in `<database>/<table>` or at
the top level.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from core import settings_file
from core.errors import NotFound, SnapscopeError
from core.formats import registry
from core.formats.table_format import TableRef
from core.messages import message
from core.model.codes import Fault
from core.model.references import Problem
from core.storage import time_limits
from core.storage.store import Store

T = TypeVar("T")
DEMO_MARKER = ".snapscope-demo"


@dataclass(frozen=True, slots=True)
class Warehouse:
    """The tables found under one location, by database and name, and what could not be listed."""

    location: str
    tables: tuple[TableRef, ...]
    is_demo: bool
    problems: tuple[Problem, ...]


def list_tables(location: str) -> Warehouse:
    """List a warehouse, a database directory or a single table.

    `location` can also be something only one format understands: a catalog, one of its namespaces, all catalogs
    (`iceberg://`), or one metadata file. Raises `Corrupt` if the store does not answer in time; a single table that
    does not is listed among the problems.
    """
    return time_limits.within(location, time_limits.call_s(), lambda: _listed(location))


def _listed(location: str) -> Warehouse:
    if own := registry.claiming(location):
        found = own.listed(location)
        is_of_demo = found.directory is not None and is_demo(found.directory)
        return Warehouse(found.location, found.tables, is_of_demo, found.problems)
    store = Store(location)
    base = store.location
    if of := registry.at(store):
        above, _, name = base.rpartition("/")
        database = above.rsplit("/", 1)[-1].removesuffix(".db")
        return Warehouse(base, (TableRef(database, name, base, of.capabilities.format),), is_demo(base), ())
    try:
        entries = store.ls()
    except NotFound as error:
        raise NotFound(
            "There is no warehouse at {location}.",
            location=location,
            path=location,
            remedy="Check the path: a warehouse is the directory that holds the databases.",
        ) from error
    tables: list[TableRef] = []
    problems: list[Problem] = []
    if base.endswith(".db"):
        _list_database(store, "", base, tables, problems)
    for entry in entries:
        if entry.is_dir and entry.name.endswith(".db"):
            _list_database(store, entry.name, base, tables, problems)
        elif entry.is_dir and not entry.name.startswith((".", "_")) and not base.endswith(".db"):
            _list_elsewhere(store, entry.name, base, tables, problems)
    return Warehouse(base, tuple(tables), is_demo(base), tuple(problems))


def _unlisted(path: str, expected: str, error: SnapscopeError) -> Problem:
    return Problem(path, expected, error.message, code=Fault.UNLISTED)


def places(named: Sequence[str]) -> tuple[str, ...]:
    """The given places and those that the settings file and formats know in addition, without duplicates."""
    known = [each.location for each in settings_file.current().warehouses.values()]
    known += [place for each in registry.FORMATS for place in each.format.places(named)]
    return tuple(dict.fromkeys([*named, *known]))


def _list_elsewhere(store: Store, directory: str, base: str, tables: list[TableRef], problems: list[Problem]) -> None:
    """Find tables of formats with a marker directory, at the top of a warehouse or in a directory without `.db`.

    One listing per directory.
    """
    try:
        found = _answer(store, directory, lambda: store.ls(directory))
        inner = [entry.name for entry in found if entry.is_dir and not entry.name.startswith((".", "_"))]
        if of := _marked(store, directory, inner):
            tables.append(TableRef("", directory, f"{base}/{directory}", of))
            return
    except SnapscopeError as error:
        problems.append(_unlisted(directory, message("a directory that can be listed"), error))
        return
    for name in inner:
        try:
            if of := _marked(store, f"{directory}/{name}"):
                tables.append(TableRef(directory, name, f"{base}/{directory}/{name}", of))
        except SnapscopeError as error:
            problems.append(_unlisted(f"{directory}/{name}", message("a directory that can be listed"), error))


def _marked(store: Store, directory: str, inner: Collection[str] | None = None) -> str | None:
    """The format, among those with a marker, of the table in a directory. `inner`: the subdirectories, if known."""
    for each in (entry.format for entry in registry.FORMATS):
        is_marked = each.mark is not None and (inner is None or each.mark in inner)
        if is_marked and _answer(store, directory, partial(each.is_table, store.at(directory))):
            return each.capabilities.format
    return None


def _answer(store: Store, directory: str, work: Callable[[], T]) -> T:
    """Query one directory with a time limit of its own."""
    return time_limits.within(store.full(directory), time_limits.TABLE_S, work, 1)


def _list_database(store: Store, directory: str, base: str, tables: list[TableRef], problems: list[Problem]) -> None:
    location = f"{base}/{directory}".rstrip("/")
    database = location.rsplit("/", 1)[-1].removesuffix(".db")
    try:
        entries = _answer(store, directory, lambda: store.ls(directory))
    except SnapscopeError as error:
        problems.append(_unlisted(directory or base, message("a database directory that can be listed"), error))
        return
    for entry in entries:
        inner = f"{directory}/{entry.name}".lstrip("/")
        try:
            if entry.is_dir and (of := _answer(store, inner, partial(registry.at, store.at(inner)))):
                tables.append(TableRef(database, entry.name, f"{location}/{entry.name}", of.capabilities.format))
        except SnapscopeError as error:
            problems.append(_unlisted(inner, message("a table directory that can be listed"), error))


def is_demo(location: str) -> bool:
    """Whether this warehouse, or the warehouse of this table or database, contains the demo's marker file.

    The resolved path counts: a symbolic link in the demo to a table elsewhere is not part of the demo. Demos are on the
    local disk: on a store, directories above a location may be closed, or on another server.
    """
    if registry.is_name(location) or not (found := Store(location)).is_local:
        return False
    path = found.location
    for _ in range(3):
        if Store(path).size(DEMO_MARKER) is not None:
            return True
        path = path.rpartition("/")[0]
        if not path or path.endswith((":", ":/")):
            return False
    return False
