"""Find Paimon tables by the catalogs of the settings file: `paimon://CATALOG/DATABASE/TABLE`."""

from __future__ import annotations

from collections.abc import Sequence

from core import settings_file
from core.errors import ErrorCode, NotFound, SnapscopeError
from core.formats.paimon.capabilities import PAIMON
from core.formats.paimon.catalogs import jdbc
from core.formats.paimon.locations import SCHEME, parts, url
from core.formats.table_format import Listing, TableRef
from core.messages import told
from core.model.codes import Fault
from core.model.references import Problem
from core.settings_file import NamedCatalog


def named(name: str) -> NamedCatalog:
    """Return a catalog of the settings file. Raises `NotFound`."""
    found = settings_file.current()
    if name not in found.catalogs:
        raise NotFound(
            "The settings file has no catalog {name!r}.",
            name=name,
            path=found.path,
            remedy=told("Catalogs there: {known}.", known=", ".join(found.catalogs) or told("none")),
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
    found = named(catalog)
    tables, problems = _tables(found, database)
    if name:
        tables = [each for each in tables if each.name == name]
    if (name and not tables) or (database and not tables and not problems and database not in jdbc.databases(found)):
        raise missing(location)
    return Listing(location.rstrip("/"), tuple(tables), tuple(problems))


def directory(location: str) -> str:
    """Return where the table of this name lies. Raises `NotFound` if its catalog does not have it."""
    catalog, database, name = parts(location)
    found = named(catalog)
    if not name or (database, name) not in jdbc.tables(found):
        raise missing(location)
    return jdbc.location(found, database, name)


def missing(location: str) -> NotFound:
    catalog, database, name = parts(location)
    if not name and not database:
        remedy = told("Add the table: {scheme}{catalog}/DATABASE/TABLE.", scheme=SCHEME, catalog=catalog)
    else:
        remedy = told("`snapscope tables {place}` lists the tables.", place=url(catalog))
    return NotFound(
        "There is no table at {location}.", location=location, path=location, remedy=remedy, code=ErrorCode.NO_TABLE
    )


def _of_all() -> Listing:
    tables: list[TableRef] = []
    problems: list[Problem] = []
    for catalog in settings_file.current().catalogs.values():
        try:
            found, own = _tables(catalog, "")
        except SnapscopeError as error:
            problems.append(Problem(catalog.name, told("a catalog that answers"), error.message, code=Fault.UNLISTED))
            continue
        tables += [TableRef(f"{catalog.name}.{each.database}", each.name, each.location, each.format) for each in found]
        problems += own
    return Listing(SCHEME, tuple(tables), tuple(problems))


def _tables(catalog: NamedCatalog, only: str) -> tuple[list[TableRef], list[Problem]]:
    """List the tables of one catalog, in one database if it is given. A name that cannot be used is a problem."""
    tables: list[TableRef] = []
    problems: list[Problem] = []
    for database, name in jdbc.tables(catalog):
        if only in ("", database):
            try:
                tables.append(TableRef(database, name, jdbc.location(catalog, database, name), PAIMON.format))
            except SnapscopeError as error:
                expected = told("a name that a directory can have")
                problems.append(Problem(f"{database}.{name}", expected, error.message, code=Fault.UNLISTED))
    return tables, problems
