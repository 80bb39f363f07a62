"""Which catalog commits to a table that was opened by its path.

The files of a table tell nothing about its catalog: they are the same with and without one. So the catalogs of the
settings file are asked, all at the same time: each REST catalog, and each Hive catalog whose writers lock. A catalog is
asked first for the table that the path is named after, then for all its tables. A preview uses an answer again for a
minute, and does not wait for long. A change waits for each request, and for all of a catalog's, for a limited time.

Invariants: a catalog that cannot be asked may own the table, so the table is not changed. Each catalog is asked anew
before a change.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core import settings_file
from core.errors import NotFound, SnapscopeError
from core.formats.paimon.catalogs import hive, rest
from core.formats.paimon.locations import is_at, url
from core.messages import both, message
from core.settings_file import NamedCatalog
from core.storage.store import Store
from core.storage.time_limits import Silent, Waiting, begin, call_s, calling

PREVIEW_S = 3.0  # the longest wait of a preview
REMEMBERED_S = 60.0  # how long a preview uses an answer again
FAILED_S = 10.0  # and an error
CALLS = 10  # the longest wait of a change for one catalog, in limits of a call
_LOOK_S = 0.02


@dataclass(frozen=True, slots=True)
class _Request:
    """A catalog that was asked for the table at a location, and its answer: its name there, or None."""

    catalog: NamedCatalog
    began: float
    answer: Waiting[str | None]

    def is_fresh(self, catalog: NamedCatalog) -> bool:
        if self.answer.given_up:  # also if it arrived late
            return False
        most_s = FAILED_S if self.answer.error is not None else REMEMBERED_S
        is_recent = not self.answer.done.is_set() or time.monotonic() - self.began < most_s
        return self.catalog == catalog and is_recent


_remembered: dict[tuple[str, str], _Request] = {}


def why_not_here(store: Store, *, refresh: bool) -> str | None:
    """Return why a table that was opened by its path cannot be changed here: a catalog commits to it; else None.

    A preview takes answers that are a minute old, and waits for others for a few seconds. `refresh` asks all catalogs,
    and waits for each."""
    settings = settings_file.current()
    if settings.unread is not None:
        return message(
            "It cannot be determined whether a catalog of Spark's settings commits to this table: {why}",
            why=settings.unread,
        )
    for name in settings.unasked:
        return _undetermined(name, settings.left_out[name])
    requests = list[_Request]()
    for catalog in settings.catalogs.values():
        try:
            requests += [_request(catalog, store, refresh)] if _may_own(catalog, store) else []
        except SnapscopeError as error:  # requests to it are stuck
            return _undetermined(catalog.name, error.message)
    if (found := _first_owner(requests, refresh)) is not None:
        return _commits_there(*found)
    for each in requests:
        if not each.answer.done.is_set():
            return _undetermined(each.catalog.name, _late(each))
        try:
            own = each.answer.outcome()
        except SnapscopeError as error:
            return _undetermined(each.catalog.name, error.message)
        if own is not None:  # it answered at the last moment
            return _commits_there(each.catalog, own)
    return None


def _late(request: _Request) -> str:
    if request.answer.given_up:
        return message("It has not answered within {seconds:g} s.", seconds=request.answer.seconds)
    return message("It has not answered within {seconds:g} s; it is asked again before a change.", seconds=PREVIEW_S)


def _commits_there(catalog: NamedCatalog, own: str) -> str:
    if catalog.type == rest.TYPE:
        why = message("Commits to this table go through the catalog {name}.", name=catalog.name)
    else:
        why = message("Writers of this table take the lock of the catalog {name}.", name=catalog.name)
    return both(why, message("Open it as {own}.", own=own))


def _may_own(catalog: NamedCatalog, store: Store) -> bool:
    return catalog.type == rest.TYPE or (catalog.type == hive.TYPE and hive.is_locked(catalog, store.location))


def _request(catalog: NamedCatalog, store: Store, refresh: bool) -> _Request:
    """Start to ask a catalog, unless that is under way or was done a short time ago."""
    key = (catalog.name, store.location)
    found = _remembered.get(key)
    if found is None or refresh or not found.is_fresh(catalog):
        found = _Request(catalog, time.monotonic(), _begin_request(catalog, store))
        for old in [name for name, each in list(_remembered.items()) if not each.is_fresh(each.catalog)]:
            _remembered.pop(old, None)
        _remembered[key] = found
    return found


def _begin_request(catalog: NamedCatalog, store: Store) -> Waiting[str | None]:
    return begin(catalog.location, CALLS * call_s(), lambda: calling(lambda: _owned(catalog, store)))


def _first_owner(requests: Sequence[_Request], refresh: bool) -> tuple[NamedCatalog, str] | None:
    """Wait until one of the catalogs has the table, all have answered, or a preview has waited long enough."""
    waiting = list(requests)
    while waiting:
        for each in list(waiting):
            try:
                if not each.answer.wait(0):
                    continue
            except Silent:
                waiting.remove(each)
                continue
            waiting.remove(each)
            if each.answer.error is None and (own := each.answer.outcome()) is not None:
                return each.catalog, own
        if not refresh:
            waiting = [each for each in waiting if time.monotonic() - each.began < PREVIEW_S]
        if waiting:
            waiting[0].answer.done.wait(_LOOK_S)
    return None


def _undetermined(name: str, why: str) -> str:
    return message(
        "It cannot be determined whether commits to this table go through the catalog {name}: {why} "
        "If they do not, remove that catalog from the settings file, or from Spark's settings.",
        name=name,
        why=why,
    )


def _owned(catalog: NamedCatalog, store: Store) -> str | None:
    """Return the name of the table in a catalog; None if the catalog has no table there.

    Raises an error if a database cannot be listed and no other has the table.
    """
    above, _, name = store.location.rpartition("/")
    database = above.rpartition("/")[2].removesuffix(".db")
    places = _of_server(catalog) if catalog.type == rest.TYPE else _of_metastore(catalog)
    with contextlib.suppress(NotFound):  # where the catalog itself would put it
        if is_at(store, places.one(database, name)):
            return url(catalog.name, database, name)
    failed: SnapscopeError | None = None
    for each in places.databases():
        try:
            found = places.tables(each)
        except SnapscopeError as error:
            failed = failed or error
            continue
        for own, location in found:
            if is_at(store, location):
                return url(catalog.name, each, own)
    if failed is not None:
        raise failed
    return None


@dataclass(frozen=True, slots=True)
class _Places:
    """What a catalog answers: its databases, the names and locations of a database's tables, and one location."""

    databases: Callable[[], Sequence[str]]
    tables: Callable[[str], Sequence[tuple[str, str | None]]]
    one: Callable[[str, str], str | None]


def _of_metastore(catalog: NamedCatalog) -> _Places:
    return _Places(
        lambda: hive.databases(catalog),
        lambda database: [(each.name, each.location) for each in hive.tables(catalog, database)],
        lambda database, name: hive.table(catalog, database, name).location,
    )


def _location(table: rest.ServedTable) -> str | None:
    return None if table.is_external else table.path


def _of_server(catalog: NamedCatalog) -> _Places:
    client = rest.Client(catalog)
    return _Places(client.databases, client.paths, lambda database, name: _location(client.table(database, name)))
