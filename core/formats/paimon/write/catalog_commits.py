"""How a table's catalog has commits published: under a lock, or by its server. By the location of the table.

A catalog whose table is opened tells it here, and whoever publishes a snapshot follows it. Tags, consumers and expiries
need neither, in the engine and here.
Source: `RenamingSnapshotCommit` of Paimon 1.4, which takes the lock, checks that the file is not there, and writes it;
`CatalogSnapshotCommit`, which sends the snapshot to the server.

Invariant: what is known is in memory only. What one catalog tells of a place does not change what another one told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from core.errors import Unsupported
from core.storage.store import Store
from core.urls import plain

Lock = Callable[[], AbstractContextManager[None]]
Send = Callable[[str, str, bytes, Sequence[Mapping[str, Any]]], bytes | None]
"""Publishes the snapshot of a branch at a path: its content, and what changes in each partition.

Returns the content that the server has written; None if another commit came first. Raises `Unknown` if the outcome is
unknown; after any other error, nothing was published."""
_locks: dict[str, dict[str, Lock]] = {}  # by location, then by catalog
_servers: dict[str, dict[str, Send]] = {}


def learn(store: Store, catalog: str, lock: Lock | None = None, send: Send | None = None) -> None:
    """Follow this catalog from now on in commits to a table: take its lock, or let its server publish them."""
    where = plain(store.location)
    _locks[where] = _with(_locks.get(where, {}), catalog, lock)
    _servers[where] = _with(_servers.get(where, {}), catalog, send)


def _with(known: Mapping[str, Any], catalog: str, value: Any) -> dict[str, Any]:
    others = {name: each for name, each in known.items() if name != catalog}
    return others if value is None else {**others, catalog: value}


def is_known(store: Store) -> bool:
    """Return whether a table's other writers are kept out of a commit by its catalog."""
    return bool(_locks.get(plain(store.location)) or _servers.get(plain(store.location)))


@contextmanager
def held(store: Store) -> Iterator[None]:
    """Hold the locks of a table, if it has any. Raises `Conflict` if another writer keeps one."""
    with ExitStack() as locks:
        for _, lock in sorted(_locks.get(plain(store.location), {}).items()):
            locks.enter_context(lock())
        yield


def server(store: Store) -> Send | None:
    """Return what publishes the commits to a table; None if they are written to its directory."""
    return next(iter(_servers.get(plain(store.location), {}).values()), None)


def refuse_served(store: Store) -> None:
    """Raise `Unsupported` if the server of a catalog keeps a table's schemas and branches."""
    for catalog in _servers.get(plain(store.location), {}):
        raise Unsupported(
            "Schemas and branches of this table are changed through the catalog {name}.",
            name=catalog,
            path=store.location,
            remedy="Make this change with the table's own engine.",
        )
