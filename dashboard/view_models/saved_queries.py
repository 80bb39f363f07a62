"""The queries one person keeps: those that were answered lately, and those saved by a name. Pure.

Law: a list that is not as it was written is refused with the file's name, and never taken for an empty one.
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
    """What the desk holds under a name, as a list of queries. `Corrupt` where it is something else."""
    fields = {**_FIELDS, "name": str} if name == SAVED else _FIELDS
    is_list = isinstance(document, list) and all(isinstance(each, dict) for each in document)
    if not is_list or not all(isinstance(each.get(key), kind) for each in document for key, kind in fields.items()):
        raise Corrupt(words.not_kept_queries(name), remedy=words.NOT_KEPT_NEXT)
    return list(document)


def noted(document: Any, entry: Entry) -> list[Entry]:
    """The history with one more, newest first; what is asked again at once stands once."""
    before = entries(document, HISTORY)
    if before and all(before[0].get(key) == entry.get(key) for key in ("location", "sql", "point", "before")):
        before = before[1:]
    return [entry, *before][:MOST]


def saved(document: Any, entry: Entry) -> list[Entry]:
    """The saved ones with one more; one of the same name is replaced. `Invalid` where there are too many."""
    others = [each for each in entries(document, SAVED) if each["name"] != entry["name"]]
    if len(others) >= MOST:
        raise Invalid(words.too_many_saved(MOST))
    return sorted([*others, entry], key=lambda each: str(each["name"]).casefold())


def without(document: Any, name: str) -> list[Entry]:
    """The saved ones but for one."""
    return [each for each in entries(document, SAVED) if each["name"] != name]


def one_line(sql: str, most: int = 160) -> str:
    """A statement as a line of a list."""
    line = " ".join(sql.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def frame_rows(found: Sequence[Entry]) -> list[dict[str, Any]]:
    """Lines of the list of history, as a table shows them; `at_ms` is left to who knows the zone."""
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
