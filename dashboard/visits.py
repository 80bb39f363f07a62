"""The reader's state between visits: watched tables, recently opened tables, and what each looked like.

Invariant: a visit begins after 30 minutes of absence. News is relative to the marks of the previous visit until the
next visit begins, so reloading does not clear the news. Marks are small, and only the newest ones are kept.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core import user_state
from core.errors import Corrupt
from dashboard import words

AWAY_MS = 30 * 60_000
TOUCHED_MS = 60_000  # looks within a minute of the last one are not recorded
MOST = 1_000
MOST_RECENT = 6
_VISITS, _WATCHED, _RECENT = "visits", "watched", "recent"

Json = dict[str, Any]


@dataclass(frozen=True)
class Visit:
    """A visit. `before_ms` is when the reader last looked before it (None: never); `marks` are the table states at that
    time."""

    before_ms: int | None
    marks: Mapping[str, Json]


def begin(now_ms: int | None = None) -> Visit:
    """Return the current visit, or begin a new one."""
    now_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    kept = _visits(user_state.read(_VISITS, {}))
    if now_ms - int(kept.get("at_ms", 0)) > TOUCHED_MS:
        kept = user_state.change(_VISITS, lambda document: touched(_visits(document), now_ms), {})
    return Visit(kept.get("before_ms"), kept.get("base", {}))


def touched(document: Json, now_ms: int) -> Json:
    """Return the document to store after a look at this time."""
    last = document.get("at_ms")
    if last is None or now_ms - int(last) > AWAY_MS:
        document = {**document, "before_ms": last, "base": document.get("seen", {})}
    return {**document, "at_ms": now_ms}


def remember(marks: Mapping[str, Json]) -> None:
    """Store what tables look like now, for the next visit."""
    seen = _visits(user_state.read(_VISITS, {})).get("seen", {})
    if any(_is_news(seen.get(location), mark) for location, mark in marks.items()):
        user_state.change(_VISITS, lambda document: with_marks(_visits(document), marks), {})


def _is_news(before: Json | None, mark: Json) -> bool:
    if before is None or mark["at_ms"] - before["at_ms"] > TOUCHED_MS:
        return True
    return {**before, "at_ms": None} != {**mark, "at_ms": None}


def with_marks(document: Json, marks: Mapping[str, Json]) -> Json:
    seen = {**document.get("seen", {}), **marks}
    newest = sorted(seen, key=lambda location: seen[location]["at_ms"], reverse=True)[:MOST]
    return {**document, "seen": {location: seen[location] for location in newest}}


def watched() -> tuple[str, ...]:
    """Return the locations of the starred tables."""
    return tuple(_stars(user_state.read(_WATCHED, [])))


def watch(location: str, is_on: bool) -> None:
    """Star or unstar a table."""

    def changed(document: Any) -> list[str]:
        rest = [each for each in _stars(document) if each != location]
        return [*rest, location][-MOST:] if is_on else rest

    user_state.change(_WATCHED, changed, [])


def recent() -> list[tuple[str, str]]:
    """Return the recently opened tables, newest first, as (warehouse, `database.table`)."""
    return [(warehouse, table) for warehouse, table in _opened(user_state.read(_RECENT, []))]


def opened(warehouse: str, table: str) -> None:
    """This table is the one opened last."""
    own = [warehouse, table]
    if _opened(user_state.read(_RECENT, []))[:1] != [own]:
        user_state.change(
            _RECENT, lambda kept: [own, *(each for each in _opened(kept) if each != own)][:MOST_RECENT], []
        )  # fmt: skip


# unknown is not empty -------------------------------------------------------------------------------------------------


def _visits(document: Any) -> Json:
    """What is kept of visits; `Corrupt` where it has another form."""
    found = document if isinstance(document, dict) else {"seen": None}
    seen, base = found.get("seen", {}), found.get("base", {})
    moments = [found.get("at_ms", 0), found.get("before_ms") or 0]
    if isinstance(seen, dict) and isinstance(base, dict):
        moments += [each.get("at_ms") if isinstance(each, dict) else None for each in seen.values()]
        if all(isinstance(each, int) for each in moments):
            return found
    raise _other_form(_VISITS)


def _stars(document: Any) -> list[str]:
    """Locations of tables; `Corrupt` where it has another form."""
    if isinstance(document, list) and all(isinstance(each, str) for each in document):
        return document
    raise _other_form(_WATCHED)


def _opened(document: Any) -> list[list[str]]:
    """Warehouse and table, again and again; `Corrupt` where it has another form."""
    if isinstance(document, list) and all(
        isinstance(each, list) and len(each) == 2 and all(isinstance(name, str) for name in each) for each in document
    ):
        return document
    raise _other_form(_RECENT)


def _other_form(name: str) -> Corrupt:
    return Corrupt(words.not_kept(name), remedy=words.NOT_KEPT_NEXT)
