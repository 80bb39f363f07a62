"""What pages read, and what of it is kept: references are read in every run, a history is kept by its content.

Law: the key of a history is the content of every reference it was made from, so a changed table can never be answered
from an old one. Nothing here draws, and no error is caught: pages show them in one place.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

import pyarrow as pa
import streamlit as st
from cachetools import LRUCache

from core import catalog as warehouses
from core.analysis import inspection as contents
from core.analysis.expiration_dates import expiries
from core.analysis.file_health import Health
from core.catalog import Warehouse, list_tables
from core.errors import NotFound, SnapscopeError
from core.formats.table_format import TableRef
from core.messages import Reason
from core.model.actions import Change
from core.model.column_bounds import Bounds
from core.model.expiry import Expiry, Forecast
from core.model.history import History
from core.model.plan import Plan
from core.model.references import Heads
from core.model.time_travel import AsOf
from core.storage import time_limits
from core.table import Table, open_table
from dashboard import words
from dashboard.formatting import language
from dashboard.view_models.home import TableFacts, table_facts

Progress = Callable[[int, int], None]
V = TypeVar("V")

LISTING_TTL_S = 5
TOLD_S = 0.1  # how often it is told how far a history is
OTHERS_TTL_S = 60  # of places that are not the open one: a catalog may be slow, or not there at all
KEPT_TABLES = 64
KEPT_HISTORIES = 8
KEPT_PLANS = 64
KEPT_FACTS = 2_000
JUDGED_MS = 15 * 60_000  # what a policy frees is told again without reading, if it was judged so lately
KEPT_LISTS = 6  # of what may be hundreds of thousands of files


@st.cache_resource(ttl=LISTING_TTL_S, max_entries=16, show_spinner=False)
def warehouse(location: str) -> Warehouse:
    """The tables of a location; a listing a few seconds old is good enough for a list of names."""
    return list_tables(location)


def listed(location: str) -> Warehouse:
    """The tables of a place that is not the open one, as they were within the last minute."""
    found = _listed(location)
    if isinstance(found, SnapscopeError):
        raise found
    return found


@st.cache_resource(ttl=OTHERS_TTL_S, max_entries=64, show_spinner=False)
def _listed(location: str) -> Warehouse | SnapscopeError:
    try:
        return list_tables(location)
    except SnapscopeError as error:
        return error


@st.cache_resource(ttl=OTHERS_TTL_S, max_entries=64, show_spinner=False)
def places(named: tuple[str, ...]) -> tuple[str, ...]:
    """The places to show: those that are named, and pyiceberg's catalogs."""
    return warehouses.places(named)


def table(location: str) -> Table:
    """The table at a location; see `heads` for whether it is still there."""
    return _tables.get(location) or time_limits.within(location, time_limits.call_s(), lambda: _opened(location))


def _opened(location: str) -> Table:
    """An open table: its store and the immutable files it has decoded. It holds no answers."""
    return _tables.of(location, lambda: open_table(location))


def heads(ref: TableRef) -> Heads:
    """Every reference, read now. `NotFound` if the table that was there has gone, `Corrupt` if its store is silent."""
    return _there(ref, time_limits.within(ref.location, time_limits.call_s(), lambda: _opened(ref.location).heads()))


class BackgroundRead:
    """References of one table among others, being read: it may take its time without the others waiting for it."""

    def __init__(self, ref: TableRef) -> None:
        self._ref = ref
        self._waiting = time_limits.begin(ref.location, time_limits.TABLE_S, lambda: _opened(ref.location).heads(), 1)

    def wait(self, seconds: float) -> bool:
        return self._waiting.wait(seconds)

    def heads(self) -> Heads:
        return _there(self._ref, self._waiting.answer())


def _there(ref: TableRef, found: Heads) -> Heads:
    if not found.main.schemas and not any(each.kind == "schema" for each in found.main.unreadable):
        forget_listings()
        raise NotFound(words.moved(ref.title), path=ref.location, remedy=words.MOVED_NEXT)
    return found


def forget_listings() -> None:
    """List warehouses and open tables anew at the next question."""
    warehouse.clear()
    _listed.clear()
    places.clear()
    _tables.clear()


def find(listing: Warehouse, title: str) -> TableRef:
    """A listed table by `database.table` or, where only one bears it, by its bare name."""
    for ref in listing.tables:
        if ref.title == title:
            return ref
    same_name = [ref for ref in listing.tables if ref.name == title]
    if len(same_name) == 1:
        return same_name[0]
    raise NotFound(words.moved(title), path=listing.location, remedy=words.MOVED_NEXT)


def fingerprint(seen: Heads) -> str:
    """SHA-256 over the place and the content of every reference."""
    digest = hashlib.sha256(seen.location.encode())
    for path, content in sorted(seen.references.items()):
        digest.update(f"\0{path}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


class Shelf(Generic[V]):
    """The last few answers by key, for all readers of this process; the least recently used one leaves first."""

    def __init__(self, most: int) -> None:
        self._kept: LRUCache[object, V] = LRUCache(most)
        self._lock = threading.Lock()

    def get(self, key: object) -> V | None:
        with self._lock:
            return self._kept.get(key)

    def of(self, key: object, make: Callable[[], V]) -> V:
        """What is kept under the key; else what is made now, while others may ask."""
        with self._lock:
            if key in self._kept:
                return self._kept[key]
        return self.put(key, make())

    def put(self, key: object, value: V) -> V:
        with self._lock:
            self._kept[key] = value
        return value

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()


_tables: Shelf[Table] = Shelf(KEPT_TABLES)
_histories: Shelf[History] = Shelf(KEPT_HISTORIES)
_plans: Shelf[Plan] = Shelf(KEPT_PLANS)
_forecasts: Shelf[Forecast | None] = Shelf(KEPT_HISTORIES)
_ends: Shelf[Mapping[str, Expiry]] = Shelf(KEPT_HISTORIES)
_natives: Shelf[tuple[Reason, ...]] = Shelf(KEPT_PLANS)
_files: Shelf[pa.Table] = Shelf(KEPT_LISTS)
_entries: Shelf[pa.Table] = Shelf(KEPT_LISTS)
_bounds: Shelf[tuple[Bounds, ...]] = Shelf(KEPT_PLANS)
_healths: Shelf[Health] = Shelf(KEPT_PLANS)
_facts: Shelf[TableFacts] = Shelf(KEPT_FACTS)


def kept_history(seen: Heads) -> History | None:
    """The history of exactly these references, if it was built before."""
    return _histories.get(fingerprint(seen))


def history(seen: Heads, progress: Progress | None = None) -> History:
    """The history of exactly these references, built if need be."""
    return _histories.of(fingerprint(seen), lambda: _read(seen, progress))


def _read(seen: Heads, progress: Progress | None) -> History:
    """Read in a thread that may be left behind; `progress` draws, so it is told in this one, and may end it all."""
    opened, told, ended = table(seen.location), list[tuple[int, int]](), threading.Event()

    def tell(done: int, total: int) -> None:
        told[:] = [(done, total)]
        if ended.is_set():
            raise InterruptedError

    waiting = time_limits.begin(seen.location, time_limits.call_s(), lambda: opened.history(seen, tell))
    try:
        while not waiting.wait(TOLD_S):
            if progress is not None and told:
                progress(*told[-1])
    finally:
        ended.set()
    return waiting.outcome()


def has_moved_on(read: History) -> bool:
    """Has what could not be read of a history gone meanwhile, because others expire?"""
    return bool(read.incomplete) and table(read.heads.location).newer(read) is not None


def kept_facts(seen: Heads, now_ms: int) -> TableFacts | None:
    """What Home says of exactly these references, if it was read before, in this language, and judged about now."""
    found = _facts.get((fingerprint(seen), language.chosen()))
    return found if found and found.judged_ms is not None and abs(now_ms - found.judged_ms) <= JUDGED_MS else None


def facts(seen: Heads, now_ms: int, progress: Progress | None = None) -> TableFacts:
    """What Home says of a table, its manifests read if need be."""
    kept = kept_facts(seen, now_ms)
    return kept or _facts.put(
        (fingerprint(seen), language.chosen()), table_facts(seen, history(seen, progress), now_ms)
    )


def plan(known: History, change: Change, now_ms: int) -> Plan:
    """The plan of a change at a moment; the same question is answered once."""
    key = (fingerprint(known.heads), change, now_ms)
    return _plans.of(key, lambda: table(known.heads.location).preview(change, now_ms, known))


def forecast(known: History, now_ms: int, branch: str) -> Forecast | None:
    """What the next commit to a branch expires by itself, and what that breaks; answered once."""
    key = (fingerprint(known.heads), now_ms, branch)
    return _forecasts.of(key, lambda: table(known.heads.location).next_commit(known, now_ms, branch))


def ends(seen: Heads, now_ms: int) -> Mapping[str, Expiry]:
    """When each snapshot and tag goes by itself; `SnapscopeError` where the table's own options make no sense."""
    return _ends.of((fingerprint(seen), now_ms), lambda: expiries(seen, now_ms))


def native(known: History, shown: Plan) -> tuple[Reason, ...]:
    """Where the engine's own deletion differs from a plan; answered once."""
    return _natives.of(shown.fingerprint, lambda: table(known.heads.location).native(shown, known))


def files(known: History, point: AsOf) -> pa.Table:
    """The live files of a point, largest first; `Corrupt` where it cannot be read in full."""
    key = (fingerprint(known.heads), point.point)
    order = [("bytes", "descending"), ("path", "ascending")]
    return _files.of(key, lambda: known.files_at(known.require(point.point)).sort_by(order))


def manifests(known: History, point: AsOf) -> pa.Table:
    """A point's manifests, by list."""
    at = table(known.heads.location)
    return _entries.of((fingerprint(known.heads), point.point, None), lambda: contents.manifests(at, known, point))


def entries(known: History, point: AsOf, manifest: str) -> pa.Table:
    """The entries of one of a point's manifests."""
    at = table(known.heads.location)
    key = (fingerprint(known.heads), point.point, manifest)
    return _entries.of(key, lambda: contents.entries(at, known, point, manifest))


def statistics(known: History, point: AsOf, chosen: pa.Table, what: str) -> tuple[Bounds, ...]:
    """What manifests say of columns in some files of a point; `what` tells these files apart from others of it."""
    key = (fingerprint(known.heads), point.point, what)
    at = table(known.heads.location)
    return _bounds.of(key, lambda: contents.statistics(at, known, point, chosen))


def health(known: History, point: AsOf) -> Health:
    """Figures of a point's files."""
    key = (fingerprint(known.heads), point.point)
    at = table(known.heads.location)
    return _healths.of(key, lambda: contents.health(at, known, point))
