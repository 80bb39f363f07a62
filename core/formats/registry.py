"""The table formats, and which of them a location or a table's references belong to. No format imports this module.

A format is imported when the first location might be its own: a Paimon table is opened without Iceberg's modules.
"""

from __future__ import annotations

import importlib
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass

from core.errors import ErrorCode, Invalid, NotFound
from core.formats.iceberg import locations as iceberg
from core.formats.paimon import locations as paimon
from core.formats.table_format import TableFormat
from core.messages import listed, message
from core.model.references import Heads
from core.storage.store import Store

CHECK_THE_PATH = message("Check the path; `snapscope tables WAREHOUSE` lists the tables.")


def _never(_location: str) -> bool:
    return False


@dataclass(frozen=True)
class Entry:
    """A format that can be imported: its name in reports and URLs, and which locations only it understands."""

    name: str
    module: str
    class_name: str
    claims: Callable[[str], bool] = _never  # such as a table name in a catalog
    is_name: Callable[[str], bool] = _never  # a name in a catalog rather than a path in a store

    @property
    def format(self) -> type[TableFormat]:
        found: type[TableFormat] = getattr(importlib.import_module(self.module), self.class_name)
        return found


FORMATS: tuple[Entry, ...] = (
    Entry("paimon", "core.formats.paimon.format", "PaimonFormat", paimon.is_name, paimon.is_name),
    Entry("iceberg", "core.formats.iceberg.format", "IcebergFormat", iceberg.claims, iceberg.is_name),
)
"""In the order of detection: a Paimon table may contain Iceberg metadata of itself. A new format is added here."""


def of(heads: Heads) -> type[TableFormat]:
    """Return the format of these references."""
    return named(heads.format)


def named(name: str) -> type[TableFormat]:
    """Return the format with this name, as reports and URLs spell it."""
    return {each.name: each for each in FORMATS}[name].format


def at(store: Store) -> type[TableFormat] | None:
    """Return the format of the table in this directory, or None if it is not a table. Raises `Invalid` for a file."""
    if store.is_local:
        refuse_file(store.location)
    return next((each.format for each in FORMATS if each.format.is_table(store)), None)


def claiming(location: str) -> type[TableFormat] | None:
    """Return the only format that understands this location, such as a table name in a catalog; else None."""
    return next((each.format for each in FORMATS if each.claims(location)), None)


def refuse_file(path: str) -> None:
    """Raise `Invalid` for a local file that no format understands: tables and warehouses are directories."""
    try:
        is_file = stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return  # it is reported where the path is read
    if is_file and claiming(path) is None:
        raise Invalid(
            "{file} is a file; tables and warehouses are directories.", file=path, remedy="Give the directory."
        )


def is_name(location: str) -> bool:
    """Return whether this is a name in a catalog rather than a path in a store."""
    return any(each.is_name(location) for each in FORMATS)


def opened(location: str) -> TableFormat:
    """Open the table at a path or URL, or by a name that one format understands. Raises `NotFound` if there is none."""
    if own := claiming(location):
        return own.opened(location)
    store = Store(location)
    if own := at(store):
        return own.at(store)
    try:
        names = {entry.name for entry in store.ls()}
    except NotFound as error:
        raise NotFound(
            "There is no table at {location}.",
            location=location,
            path=location,
            remedy=CHECK_THE_PATH,
            code=ErrorCode.NO_TABLE,
        ) from error
    if any(name.endswith(".db") for name in names):
        raise Invalid(
            "{location} is a warehouse, not a table.",
            location=location,
            remedy=message("Give a table, such as {location}/<db>.db/<table>.", location=location),
        )
    raise NotFound(
        "There is no table at {location}: neither {some} nor {last} exists.",
        location=location,
        some=listed([each.format.sign for each in FORMATS[:-1]]),
        last=FORMATS[-1].format.sign,
        path=location,
        remedy=CHECK_THE_PATH,
        code=ErrorCode.NO_TABLE,
    )
