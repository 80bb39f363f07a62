"""The data access of the pages and its caches: references are listed in every run, histories are cached by content.

Invariant: a history is cached under the content of all references it was made from, so a changed table never gets an
old answer. Nothing here draws, and no error is caught; pages show errors in one place.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar

import pandas as pd
import pyarrow as pa
import streamlit as st

from core import catalog as warehouses
from core import settings_file
from core.analysis import file_map, file_tree
from core.analysis import inspection as contents
from core.analysis.commit_changes import CommitChanges
from core.analysis.expiration_dates import expiries
from core.analysis.file_health import Health
from core.analysis.usual_commits import Attention, unusual_commits
from core.catalog import Warehouse, list_tables
from core.errors import NotFound, SnapscopeError
from core.formats.table_format import TableRef
from core.messages import Reason
from core.model.actions import Change
from core.model.column_bounds import Bounds
from core.model.expiry import Expiry, Forecast
from core.model.history import History
from core.model.plan import Plan
from core.model.references import Heads, Line
from core.model.time_travel import AsOf
from core.storage import time_limits
from core.table import Table, open_table
from dashboard import history_reads, words
from dashboard.charts import time_axis
from dashboard.charts.time_axis import Axis
from dashboard.charts.trends import Trend
from dashboard.formatting import language
from dashboard.history_reads import Progress
from dashboard.shelf import Shelf
from dashboard.view_models import commit_days, rows, version_picker
from dashboard.view_models.home import TableFacts, table_facts

T = TypeVar("T")

LISTING_TTL_S = 5
OTHERS_TTL_S = 60  # for locations other than the open one: a catalog may be slow or unavailable
KEPT_TABLES = 64
KEPT_HISTORIES = 8
KEPT_OF_ONE_TABLE = 3  # every commit makes another history
KEPT_FILES = 8_000_000  # in histories: see `_weight`
KEPT_PLANS = 64
KEPT_ANSWERS = 32  # each has a line for every snapshot
KEPT_FACTS = 2_000
JUDGED_MS = 15 * 60_000  # how long a policy's result is reused
KEPT_LISTS = 6  # each may hold hundreds of thousands of files


@st.cache_resource(ttl=LISTING_TTL_S, max_entries=16, show_spinner=False)
def warehouse(location: str) -> Warehouse:
    """List the tables of a location; the listing may be a few seconds old."""
    return list_tables(location)


def listed(location: str) -> Warehouse:
    """List the tables of a location other than the open one, at most one minute old."""
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
    """Return the locations to show: the given ones, those of the settings file and catalogs."""
    return warehouses.places(named)


def given_names() -> dict[str, str]:
    """Return the names that the settings file gives to warehouses, by location; none if it cannot be read, which
    `places` and every opening of a remote location report."""
    try:
        found = settings_file.current()
        names = {each.location: each.name for each in found.warehouses.values()}
        return names | {each.location: each.name for each in found.catalogs.values()}
    except SnapscopeError:
        return {}


def table(location: str) -> Table:
    """Return the table at a location; `heads` checks whether it still exists."""
    return _tables.get(location) or time_limits.within(location, time_limits.call_s(), lambda: _opened(location))


def _opened(location: str) -> Table:
    """Return an open table: its store and the immutable files decoded so far. It caches no results."""
    return _tables.of(location, lambda: open_table(location))


def heads(ref: TableRef, quiet_s: float, on_wait: Callable[[], None]) -> Heads:
    """Read all references now; if that takes longer than `quiet_s`, call `on_wait` meanwhile.

    Raises `NotFound` if the table no longer exists, `Corrupt` if its store does not respond.
    """
    found = _there(ref, _answer(ref, lambda table: table.heads(), quiet_s, on_wait))
    _read_before.add(ref.location)
    return found


def at_time(ref: TableRef, point: str, quiet_s: float, on_wait: Callable[[], None]) -> AsOf | None:
    """Return the snapshot of a time (`time:…`) before all references are read for the first time; None if that is as
    quick, or if only all of them decide it. If it takes longer than `quiet_s`, call `on_wait` meanwhile."""
    if ref.location in _read_before:
        return None
    return _answer(ref, lambda table: table.at_time(point), quiet_s, on_wait)


def _answer(ref: TableRef, read: Callable[[Table], T], quiet_s: float, on_wait: Callable[[], None]) -> T:
    waiting = time_limits.begin(ref.location, time_limits.call_s(), lambda: read(_opened(ref.location)))
    if not waiting.wait(quiet_s):
        on_wait()
    return waiting.answer()


class BackgroundRead:
    """A background read of one table's references, so that a slow table does not delay the others."""

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
    """Clear the cached warehouse listings and open tables."""
    warehouse.clear()
    _listed.clear()
    places.clear()
    _tables.clear()


def find(listing: Warehouse, title: str) -> TableRef:
    """Find a listed table by `database.table` or, if it is unique, by its name alone."""
    for ref in listing.tables:
        if ref.title == title:
            return ref
    same_name = [ref for ref in listing.tables if ref.name == title]
    if len(same_name) == 1:
        return same_name[0]
    raise NotFound(words.moved(title), path=listing.location, remedy=words.MOVED_NEXT)


def fingerprint(heads: Heads) -> str:
    """Compute SHA-256 over the location and the content of all references, once for each reading of them."""
    kept = _fingerprints.get(id(heads))
    if kept is None or kept[0] is not heads:  # while it is kept, no other object has its id
        kept = _fingerprints.put(id(heads), (heads, _digest(heads)))
    return kept[1]


def _digest(heads: Heads) -> str:
    digest = hashlib.sha256(heads.location.encode())
    for path, content in sorted(heads.references.items()):
        digest.update(f"\0{path}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _weight(history: History) -> int:
    """Estimate the memory of a history, in files. A reference counts as 100 files. Even the smallest history counts as
    1/64 of the limit, so that at most `KEPT_TABLES` are kept."""
    return max(KEPT_FILES // KEPT_TABLES, len(history.files) + 100 * len(history.heads.references))


_tables: Shelf[Table] = Shelf(KEPT_TABLES)
_fingerprints: Shelf[tuple[Heads, str]] = Shelf(KEPT_HISTORIES)
_read_before: set[str] = set()  # locations whose references the local disk keeps
_histories: Shelf[History] = Shelf(KEPT_FILES, _weight)
_recent: Shelf[tuple[str, ...]] = Shelf(KEPT_TABLES)  # fingerprints of a location's histories, the newest last
_plans: Shelf[Plan] = Shelf(KEPT_PLANS)
_forecasts: Shelf[Forecast | None] = Shelf(KEPT_ANSWERS)
_ends: Shelf[Mapping[str, Expiry]] = Shelf(KEPT_ANSWERS)
_natives: Shelf[tuple[Reason, ...]] = Shelf(KEPT_PLANS)
_files: Shelf[pa.Table] = Shelf(KEPT_LISTS)
_below: Shelf[pa.Table] = Shelf(KEPT_LISTS)
_levels: Shelf[pa.Table] = Shelf(KEPT_LISTS)
_entries: Shelf[pa.Table] = Shelf(KEPT_LISTS)
_bounds: Shelf[tuple[Bounds, ...]] = Shelf(KEPT_PLANS)
_healths: Shelf[Health] = Shelf(KEPT_PLANS)
_changes: Shelf[CommitChanges] = Shelf(KEPT_HISTORIES)  # each holds its history
_unusual: Shelf[tuple[Attention, ...]] = Shelf(KEPT_ANSWERS)
_facts: Shelf[TableFacts] = Shelf(KEPT_FACTS)
_decisions: Shelf[pd.DataFrame] = Shelf(KEPT_PLANS)
_shades: Shelf[file_map.Values] = Shelf(KEPT_PLANS)
_offered: Shelf[Mapping[str, str]] = Shelf(KEPT_ANSWERS)
_axes: Shelf[Axis] = Shelf(KEPT_HISTORIES)
_trends: Shelf[Trend] = Shelf(KEPT_HISTORIES)
_figures: Shelf[Any] = Shelf(KEPT_ANSWERS)
_days: Shelf[Mapping[str, int]] = Shelf(KEPT_ANSWERS)
_tag_rows: Shelf[pd.DataFrame] = Shelf(KEPT_ANSWERS)


def kept_history(heads: Heads) -> History | None:
    """Return the cached history of exactly these references, if any."""
    return _histories.get(fingerprint(heads))


def history(heads: Heads, progress: Progress | None = None) -> History:
    """Return the history of exactly these references, reading it if needed."""
    key = fingerprint(heads)
    found = _histories.of(key, lambda: history_reads.read(key, table(heads.location), heads, progress))
    earlier = _recent.get(heads.location) or ()
    if key not in earlier:
        recent = _recent.put(heads.location, (*earlier, key)[-KEPT_OF_ONE_TABLE:])
        for old in set(earlier).difference(recent):
            _histories.drop(old)
    return found


def has_moved_on(read: History) -> bool:
    """Return whether what could not be read in a history has disappeared because another process expired snapshots."""
    return bool(read.incomplete) and table(read.heads.location).newer(read) is not None


def kept_facts(heads: Heads, now_ms: int) -> TableFacts | None:
    """Return the cached Home row for exactly these references, this language and about this time, if any."""
    found = _facts.get((fingerprint(heads), language.chosen()))
    return found if found and found.judged_ms is not None and abs(now_ms - found.judged_ms) <= JUDGED_MS else None


def facts(heads: Heads, now_ms: int, progress: Progress | None = None) -> TableFacts:
    """Return the Home row of a table, reading its manifests if needed."""
    kept = kept_facts(heads, now_ms)
    return kept or _facts.put(
        (fingerprint(heads), language.chosen()), table_facts(heads, history(heads, progress), now_ms)
    )


def changes(known: History, branch: str) -> CommitChanges:
    """What each commit of a branch changed; answered once."""
    return _changes.of((fingerprint(known.heads), branch), lambda: CommitChanges(known, branch))


def unusual(known: History, branch: str) -> tuple[Attention, ...]:
    """Which of the last commits of a branch need attention, and why, the newest first; answered once."""
    key = (fingerprint(known.heads), branch)
    return _unusual.of(key, lambda: unusual_commits(changes(known, branch)))


def plan(known: History, change: Change, now_ms: int) -> Plan:
    """Return the plan of a change at a given time, cached."""
    key = (fingerprint(known.heads), change, now_ms)
    return _plans.of(key, lambda: table(known.heads.location).preview(change, now_ms, known))


def decisions(plan: Plan, heads: Heads, zone: str) -> pd.DataFrame:
    """Return the rows of a plan's decisions; not to be changed."""
    key = (plan.fingerprint, plan.now_ms, zone, language.chosen())
    return _decisions.of(key, lambda: rows.verdicts(plan, heads, zone))


def shades(
    known: History, point: AsOf, files: pa.Table, level: pa.Table, folder: str, by: str, now_ms: int
) -> file_map.Values:
    """Return what the map of a version's files below a folder is coloured by, cached."""
    key = (fingerprint(known.heads), point.point, folder, by, now_ms)
    return _shades.of(key, lambda: file_map.values(known, files, level, folder, by, now_ms))


def offered(heads: Heads, zone: str, now_ms: int, line: Line | None = None) -> Mapping[str, str]:
    """Return the versions to choose from with their labels, cached."""
    key = (fingerprint(heads), zone, now_ms, line and line.branch, language.chosen())
    return _offered.of(key, lambda: version_picker.offered(heads, zone, now_ms, line))


def days(heads: Heads, zone: str, line: Line | None = None) -> Mapping[str, int]:
    """Return the number of commits of each day that has any, cached."""
    return _days.of((fingerprint(heads), zone, line and line.branch), lambda: commit_days.days(heads, zone, line))


def axis(heads: Heads) -> Axis:
    """Return the timeline's layout of all snapshots and refs, cached."""
    return _axes.of(fingerprint(heads), lambda: time_axis.axis(heads))


def trend(heads: Heads, known: History | None) -> Trend:
    """Return how main grows, with files and bytes if the history is known; cached."""
    key = (fingerprint(heads), None if known is None else tuple(known.incomplete))
    return _trends.of(key, lambda: rows.trend(heads, known))


def figure(heads: Heads, known: History | None, look: Hashable, draw: Callable[[], T]) -> T:
    """Return a chart of these references, cached by whatever else it depends on; not to be changed."""
    read = None if known is None else tuple(known.incomplete)
    found: T = _figures.of((fingerprint(heads), read, language.chosen(), look), draw)
    return found


def tag_rows(line: Line, known: History | None, heads: Heads, zone: str, now_ms: int) -> pd.DataFrame:
    """Return the rows of a branch's tags, with their costs if the history is known; not to be changed."""
    read = None if known is None else tuple(known.incomplete)
    key = (fingerprint(heads), line.branch, read, zone, now_ms, language.chosen())
    return _tag_rows.of(key, lambda: rows.tags(line, known, ends(heads, now_ms), zone, now_ms))


def forecast(known: History, now_ms: int, branch: str) -> Forecast | None:
    """Return what the next commit to a branch expires automatically, and what that breaks; cached."""
    key = (fingerprint(known.heads), now_ms, branch)
    return _forecasts.of(key, lambda: table(known.heads.location).next_commit(known, now_ms, branch))


def ends(heads: Heads, now_ms: int) -> Mapping[str, Expiry]:
    """Return when each snapshot and tag expires automatically. Raises `SnapscopeError` if the table options are
    invalid."""
    return _ends.of((fingerprint(heads), now_ms), lambda: expiries(heads, now_ms))


def native(known: History, shown: Plan) -> tuple[Reason, ...]:
    """Return where the engine's own deletion differs from a plan; cached."""
    return _natives.of(shown.fingerprint, lambda: table(known.heads.location).native(shown, known))


def files(known: History, point: AsOf) -> pa.Table:
    """Return the current files of a version, largest first. Raises `Corrupt` if it cannot be read completely."""
    key = (fingerprint(known.heads), point.point)
    order = [("bytes", "descending"), ("path", "ascending")]
    return _files.of(key, lambda: known.files_at(known.require(point.point)).sort_by(order))


def below(known: History, point: AsOf, folder: str) -> pa.Table:
    """Return the current files of a version in a folder and below it, cached."""
    key = (fingerprint(known.heads), point.point, folder)
    return _below.of(key, lambda: file_tree.below(files(known, point), folder))


def level(known: History, point: AsOf, folder: str) -> pa.Table:
    """Return the direct contents of a folder in a version, with their sums; cached."""
    key = (fingerprint(known.heads), point.point, folder)
    return _levels.of(key, lambda: file_tree.level(below(known, point, folder), folder))


def manifests(known: History, point: AsOf) -> pa.Table:
    """Return the manifests of a version, by manifest list."""
    at = table(known.heads.location)
    return _entries.of((fingerprint(known.heads), point.point, None), lambda: contents.manifests(at, known, point))


def entries(known: History, point: AsOf, manifest: str) -> pa.Table:
    """Return the entries of one manifest of a version."""
    at = table(known.heads.location)
    key = (fingerprint(known.heads), point.point, manifest)
    return _entries.of(key, lambda: contents.entries(at, known, point, manifest))


def statistics(known: History, point: AsOf, chosen: pa.Table, what: str) -> tuple[Bounds, ...]:
    """Return the column statistics of some files of a version; `what` identifies this set of files."""
    key = (fingerprint(known.heads), point.point, point.schema.id, what)
    at = table(known.heads.location)
    return _bounds.of(key, lambda: contents.statistics(at, known, point, chosen))


def health(known: History, point: AsOf) -> Health:
    """Return the health figures of a version's files."""
    key = (fingerprint(known.heads), point.point, point.schema.id)
    at = table(known.heads.location)
    return _healths.of(key, lambda: contents.health(at, known, point))
