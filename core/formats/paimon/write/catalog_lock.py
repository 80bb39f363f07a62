"""The locks that writers of a catalog take while they publish a snapshot, by the location of the table.

A catalog whose table is opened tells its lock here; whoever publishes a snapshot takes it. Tags, branches, consumers
and expiries take none, in the engine and here.
Source: `RenamingSnapshotCommit` of Paimon 1.4: it takes the lock, checks that the file is not there, and writes it.

Invariant: a lock is in memory only. What is known of one catalog's lock does not depend on what another catalog tells
of the same place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

from core.storage.store import Store
from core.urls import plain

Lock = Callable[[], AbstractContextManager[None]]
_known: dict[str, dict[str, Lock]] = {}  # by location, then by catalog


def learn(store: Store, catalog: str, lock: Lock | None) -> None:
    """Take this lock of a catalog, or none, for commits to a table from now on."""
    known = {**_known.get(plain(store.location), {})}
    known.pop(catalog, None)
    _known[plain(store.location)] = known if lock is None else {**known, catalog: lock}


def is_known(store: Store) -> bool:
    """Return whether commits to a table take the lock that its other writers take."""
    return bool(_known.get(plain(store.location)))


@contextmanager
def held(store: Store) -> Iterator[None]:
    """Hold the locks of a table, if it has any. Raises `Conflict` if another writer keeps one."""
    with ExitStack() as locks:
        for _, lock in sorted(_known.get(plain(store.location), {}).items()):
            locks.enter_context(lock())
        yield
