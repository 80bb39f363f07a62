"""Decide whether a file is absent. One answer is not enough, because a store may list a file that it cannot read yet.

Invariant: a file is absent if no listing shows it and no read finds it. A file that is listed but not found by reads is
unknown, because listings and reads may both be stale.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence

from core import urls
from core.errors import Corrupt, NotFound, SnapscopeError
from core.storage.size_limits import DOCUMENT
from core.storage.store import Store

PATIENCE_S = 2.0
PAUSE_S = 0.05


def read_or_none(store: Store, path: str, most_bytes: int = DOCUMENT) -> bytes | None:
    """Read a file once; None if the read does not find it. For callers to whom a wrong None does no harm."""
    try:
        return store.read(path, most_bytes)
    except NotFound:
        return None


def read_if_there(store: Store, path: str, most_bytes: int = DOCUMENT) -> bytes | None:
    """Read a file; None if it is absent. Raises `Corrupt` if it is still listed after 2 s and reads do not find it."""
    ends = time.monotonic() + PATIENCE_S
    while (content := read_or_none(store, path, most_bytes)) is None and listed(store, [path]):
        if time.monotonic() > ends:
            raise unread(path)
        time.sleep(PAUSE_S)
    return content


def sizes(store: Store, paths: Sequence[str]) -> dict[str, int | None]:
    """Return the size of each file in bytes, None if it is absent; in parallel where the store is remote.

    Raises the error of one that is unknown."""
    if store.is_local or len(paths) < 2:
        return {path: store.size(path) for path in paths}
    own = {store.full(path): path for path in paths if not urls.is_url(path)}
    found: dict[str, int | None] = {**(store.many.sizes(own) if store.many else {})}

    def ask(path: str) -> None:
        found[path] = store.size(path)

    store.each([path for path in dict.fromkeys(paths) if path not in found], ask)
    return found


def is_still_there(store: Store, path: str, content: bytes) -> bool:
    """Return whether a file that the store could not find to delete still has the same content after 2 s."""
    ends = time.monotonic() + PATIENCE_S
    while read_or_none(store, path) == content:
        if time.monotonic() > ends:
            return True
        time.sleep(PAUSE_S)
    return False


def listed(store: Store, paths: Collection[str]) -> set[str]:
    """Return those of the paths that are in the current listings of their directories."""
    found: set[str] = set()
    for directory in {path.rpartition("/")[0] for path in paths}:
        below = f"{directory}/" if directory else ""
        found |= {f"{below}{entry.name}" for entry in store.ls_if_there(directory)}
    return found.intersection(paths)


def unread(path: str) -> SnapscopeError:
    """Return the error for a file that is listed but that reads do not find."""
    return Corrupt(
        "The store lists this file, but reading it reports that it does not exist.",
        path=path,
        remedy=("If it was deleted just now, wait until the store no longer lists it; otherwise restore it."),
    )
