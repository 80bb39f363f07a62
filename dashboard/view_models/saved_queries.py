"""A user's queries: recent ones and those saved under a name. Pure.

Invariant: a damaged list is rejected with its file name, and never treated as empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from core.errors import Corrupt, Invalid
from dashboard import words

HISTORY, SAVED = "query-history", "saved-queries"
MOST = 200

Entry: TypeAlias = Mapping[str, Any]
_FIELDS: Mapping[str, type | tuple[type, ...]] = {"table": str, "sql": str, "point": str, "at_ms": int}


def entries(document: Any, name: str) -> list[Entry]:
    """Read a list of queries from the user state. Raises `Corrupt` if the document has another form."""
    fields = {**_FIELDS, "name": str} if name == SAVED else _FIELDS
    is_list = isinstance(document, list) and all(isinstance(each, dict) for each in document)
    if not is_list or not all(isinstance(each.get(key), kind) for each in document for key, kind in fields.items()):
        raise Corrupt(words.not_kept_queries(name), remedy=words.NOT_KEPT_NEXT)
    return list(document)


def noted(document: Any, entry: Entry) -> list[Entry]:
    """Add a query to the history, newest first; immediate repetitions are listed once."""
    before = entries(document, HISTORY)
    if before and all(before[0].get(key) == entry.get(key) for key in ("location", "sql", "point", "before")):
        before = before[1:]
    return [entry, *before][:MOST]


def saved(document: Any, entry: Entry) -> list[Entry]:
    """Add a saved query, replacing one of the same name. Raises `Invalid` if there are too many."""
    others = [each for each in entries(document, SAVED) if each["name"] != entry["name"]]
    if len(others) >= MOST:
        raise Invalid(words.too_many_saved(MOST))
    return sorted([*others, entry], key=lambda each: str(each["name"]).casefold())


def without(document: Any, name: str) -> list[Entry]:
    """Remove a saved query."""
    return [each for each in entries(document, SAVED) if each["name"] != name]


def one_line(sql: str, most: int = 160) -> str:
    """Shorten a statement to one line."""
    line = " ".join(sql.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def frame_rows(found: Sequence[Entry]) -> list[dict[str, Any]]:
    """Convert the history for display, except `at_ms`, which needs the time zone."""
    return [
        {
            "at_ms": each["at_ms"],
            "table": each["table"],
            "point": " ↔ ".join(filter(None, (each["point"], each.get("before")))),
            "sql": one_line(each["sql"]),
            "rows": each.get("rows"),
            "ms": each.get("ms"),
        }
        for each in found
    ]
