"""What the tree of the sidebar shows: places, their databases, their tables.

Law: what is searched for is found in whatever is listed, by any part of `database.table`; nothing is left out without
being counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.formats.table_format import TableRef

MOST = 60
TABLE = ":material/table:"
ICONS = {"paimon": ":material/table_rows:", "iceberg": ":material/ac_unit:"}
CATALOG, DIRECTORY, DATABASE = ":material/menu_book:", ":material/warehouse:", ":material/folder_open:"


@dataclass(frozen=True, slots=True)
class Branch:
    """A database with the tables that are shown of it, and how many more there are."""

    database: str
    tables: tuple[TableRef, ...]
    more: int


def branches(tables: Sequence[TableRef], text: str = "", chosen: str | None = None) -> list[Branch]:
    """The databases that hold a table with `text` in its title; of each the first `MOST`, and the chosen one."""
    found: dict[str, list[TableRef]] = {}
    for each in tables:
        if text.strip().casefold() in each.title.casefold():
            found.setdefault(each.database, []).append(each)
    shown = []
    for database, own in found.items():
        kept = [each for place, each in enumerate(own) if place < MOST or each.title == chosen]
        shown.append(Branch(database, tuple(kept), len(own) - len(kept)))
    return shown


def names(places: Sequence[str]) -> list[str]:
    """Of each place its last part, with as many of those before as it takes to tell them apart."""
    parts = {place: [each for each in re.split(r"/+", place) if each] or [place] for place in places}

    def name(place: str) -> str:
        if place.endswith("://"):
            return place
        own, length = parts[place], 1
        while length < len(own) and any(of[-length:] == own[-length:] for at, of in parts.items() if at != place):
            length += 1
        return "/".join(own[-length:])

    return [name(place) for place in places]


def icon(place: str) -> str:
    return CATALOG if place.startswith("iceberg://") else DIRECTORY


def label(text: str) -> str:
    """Text as it is, where markdown is read."""
    return re.sub(r"([\\`*_{}\[\]()#+.!~:$|<>-])", r"\\\1", text)


_MARKS = re.compile(r"[\\`*\[\]$<>~&!]|(?<!\w)_|_(?!\w)|:(?=[\w+/-]+:)|^[-+#]|(?<=\d)[.)](?= )")


def inline(text: str) -> str:
    """The same of a name within a label or a sentence: as it is but for what markdown would read there."""
    return _MARKS.sub(r"\\\g<0>", " ".join(text.split()))
