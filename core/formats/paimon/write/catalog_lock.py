"""The locks that writers of a catalog take while they publish a snapshot, by the location of the table.

A catalog whose table is opened tells its lock here; whoever publishes a snapshot takes it. Tags, branches, consumers
and expiries take none, in the engine and here.
Source: `RenamingSnapshotCommit` of Paimon 1.4: it takes the lock, checks that the file is not there, and writes it.

Invariant: a lock is in memory only, and each table has at most one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from core.settings_file import plain
from core.storage.store import Store

Lock = Callable[[], AbstractContextManager[None]]
_known: dict[str, Lock] = {}


def learn(store: Store, lock: Lock | None) -> None:
    """Take this lock, or none, for commits to a table from now on."""
    if lock is None:
        _known.pop(plain(store.location), None)
    else:
        _known[plain(store.location)] = lock


def is_known(store: Store) -> bool:
    """Return whether commits to a table take the lock that its other writers take."""
    return plain(store.location) in _known


def held(store: Store) -> AbstractContextManager[None]:
    """Hold the lock of a table, if it has one. Raises `Conflict` if another writer keeps it."""
    lock = _known.get(plain(store.location))
    return nullcontext() if lock is None else lock()
