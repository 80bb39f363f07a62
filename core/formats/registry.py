"""The table formats, and which of them a location or a table's references belong to. Nothing below imports this."""

from __future__ import annotations

from core.errors import Invalid, NotFound
from core.formats.iceberg.format import IcebergFormat
from core.formats.paimon.format import PaimonFormat
from core.formats.table_format import TableFormat
from core.messages import listed, told
from core.model.references import Heads
from core.storage.store import Store

FORMATS: tuple[type[TableFormat], ...] = (PaimonFormat, IcebergFormat)
"""In the order they are asked: a Paimon table may hold Iceberg metadata of itself. A new format is one more here."""


def of(heads: Heads) -> type[TableFormat]:
    """The format of these references."""
    return named(heads.format)


def named(format: str) -> type[TableFormat]:
    """The format that is written so in answers and addresses."""
    return {each.capabilities.format: each for each in FORMATS}[format]


def at(store: Store) -> type[TableFormat] | None:
    """The format of the table that this directory is, None where it is none."""
    return next((each for each in FORMATS if each.is_table(store)), None)


def claiming(location: str) -> type[TableFormat] | None:
    """The format that alone understands this location, such as a name in a catalog."""
    return next((each for each in FORMATS if each.claims(location)), None)


def is_name(location: str) -> bool:
    """Is this a name in a catalog, and no place in a store?"""
    return any(each.is_name(location) for each in FORMATS)


def opened(location: str) -> TableFormat:
    """The table at a path or URL, or by a name that one format understands. `NotFound` if nothing is there."""
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
            remedy="Check the path; `snapscope tables WAREHOUSE` lists.",
        ) from error
    if any(name.endswith(".db") for name in names):
        raise Invalid(
            "{location} is a warehouse, not a table.",
            location=location,
            remedy=told("Name a table, such as {location}/<db>.db/<table>.", location=location),
        )
    raise NotFound(
        "{location} holds no table: neither {some} nor {last}.",
        location=location,
        some=listed([each.sign for each in FORMATS[:-1]]),
        last=FORMATS[-1].sign,
        path=location,
    )
