"""The content of the sidebar tree: locations, their databases and tables.

Invariant: a search matches any part of `database.table` among all listed tables. Everything left out is counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.formats.table_format import TableRef
from core.safe_text import escape_direction_marks

MOST = 60
CATALOGS = ("iceberg://", "paimon://")
TABLE = ":material/table:"
ICONS = {"paimon": ":material/table_rows:", "iceberg": ":material/ac_unit:"}
CATALOG, DIRECTORY, DATABASE = ":material/menu_book:", ":material/warehouse:", ":material/folder_open:"


@dataclass(frozen=True, slots=True)
class Branch:
    """A database with its visible tables, and the number of hidden ones."""

    database: str
    tables: tuple[TableRef, ...]
    more: int


def branches(tables: Sequence[TableRef], text: str = "", chosen: str | None = None) -> list[Branch]:
    """List the databases that have a table matching `text`, each with the first `MOST` tables and the chosen one."""
    found: dict[str, list[TableRef]] = {}
    for each in tables:
        if text.strip().casefold() in each.title.casefold():
            found.setdefault(each.database, []).append(each)
    shown = []
    for database, own in found.items():
        kept = [each for place, each in enumerate(own) if place < MOST or each.title == chosen]
        shown.append(Branch(database, tuple(kept), len(own) - len(kept)))
    return shown


def names(places: Sequence[str], given: Mapping[str, str] | None = None) -> list[str]:
    """Shorten each location to its last component, plus as many before it as needed to make it unique.

    `given`: the names of locations in the settings file, which come first.
    """
    parts = {place: [each for each in re.split(r"/+", place) if each] or [place] for place in places}

    def name(place: str) -> str:
        if given and place in given:
            return given[place]
        if place.endswith("://"):
            return place
        own, length = parts[place], 1
        while length < len(own) and any(of[-length:] == own[-length:] for at, of in parts.items() if at != place):
            length += 1
        return "/".join(own[-length:])

    return [name(place) for place in places]


def icon(place: str) -> str:
    return CATALOG if place.startswith(CATALOGS) else DIRECTORY


def label(text: str) -> str:
    """Escape text for a widget label, which is rendered as Markdown."""
    return re.sub(r"([\\`*_{}\[\]()#+.!~:$|<>&-])", r"\\\1", text)


_MARKS = re.compile(r"[\\`*\[\]$<>~&!]|(?<!\w)_|_(?!\w)|:(?=[\w+/-]+:)|^[-+#]|(?<=\d)[.)](?= )")


def inline(text: str) -> str:
    """Escape a name inside a label or sentence, only where Markdown would interpret it."""
    return _MARKS.sub(r"\\\g<0>", escape_direction_marks(" ".join(text.split())))
