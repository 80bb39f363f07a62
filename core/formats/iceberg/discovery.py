"""Find Iceberg tables by more than a directory: by one metadata.json, or by a name in a catalog (`iceberg://`)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from core.errors import NotFound, SnapscopeError
from core.formats.iceberg.capabilities import ICEBERG
from core.formats.iceberg.catalogs import pyiceberg_catalog as catalogs
from core.formats.iceberg.file_paths import DIRECTORY
from core.formats.iceberg.locations import SCHEME, is_name
from core.formats.table_format import Listing, TableRef
from core.messages import message
from core.model.codes import Fault
from core.model.references import Problem
from core.storage.store import Store


def pinned(location: str) -> tuple[Store, str]:
    """Return the table root of a metadata file, the directory above `metadata`, and the file's path in it."""
    store, path = Store(_above(location)), _name(location)
    if store.location.rpartition("/")[2] == DIRECTORY:
        store, path = Store(store.location.rpartition("/")[0] or "/"), f"{DIRECTORY}/{path}"
    return store, path


def listed(location: str) -> Listing:
    return _of_catalogs(location) if is_name(location) else _of_file(location)


def places(named: Sequence[str]) -> tuple[str, ...]:
    """Return every catalog in pyiceberg's configuration, unless `iceberg://`, which means all of them, is given."""
    if SCHEME in named or not find_spec("pyiceberg"):
        return ()
    return tuple(catalogs.url(name) for name in catalogs.names())


def _of_catalogs(location: str) -> Listing:
    """List the tables of a catalog or namespace; of every catalog if none is named."""
    catalog, namespace, name = catalogs.parts(location)
    base = location.rstrip("/") if catalog else SCHEME
    if name:
        found = catalogs.CatalogTable.of(location)
        found.current()
        return Listing(base, (TableRef(".".join(namespace), name, found.location, ICEBERG.format),))
    tables: list[TableRef] = []
    problems: list[Problem] = []
    for each in [catalog] if catalog else catalogs.names():
        try:
            for table in catalogs.tables(each, namespace):
                if isinstance(table, SnapscopeError):
                    problems.append(
                        Problem(each, message("a namespace that can be listed"), table.message, code=Fault.UNLISTED)
                    )
                    continue
                database = ".".join(table[:-1] if catalog else (each, *table[:-1]))
                tables.append(TableRef(database, table[-1], catalogs.url(each, *table), ICEBERG.format))
        except SnapscopeError as error:
            if catalog:
                raise
            problems.append(Problem(each, message("a catalog that answers"), error.message, code=Fault.UNLISTED))
    return Listing(base, tuple(tables), tuple(problems))


def _of_file(location: str) -> Listing:
    """List the table of one metadata file, named after the directory above `metadata`."""
    store, name = Store(_above(location)), _name(location)
    if name not in {entry.name for entry in store.ls()}:
        raise NotFound("There is no file {location}.", location=location, path=location)
    parts = store.location.removesuffix(f"/{DIRECTORY}").rsplit("/", 2)
    own = f"{store.location}/{name}"
    ref = TableRef(parts[-2].removesuffix(".db"), parts[-1], own, ICEBERG.format)
    return Listing(own, (ref,), directory=store.location)


def _name(location: str) -> str:
    return location.rstrip("/").rpartition("/")[2]


def _above(location: str) -> str:
    return location.rstrip("/").rpartition("/")[0] or ("/" if location.startswith("/") else ".")
