"""Whether a file is absent. One answer is not enough, because a store may list what it does not let read.

Law: a file that no listing shows and no read finds is absent. One that is listed and that reads do not find is unknown:
listings may be late, and so may reads.
"""

from __future__ import annotations

import time
from collections.abc import Collection

from core.errors import Corrupt, NotFound, SnapscopeError
from core.storage.size_limits import DOCUMENT
from core.storage.store import Store

PATIENCE_S = 2.0
PAUSE_S = 0.05


def read_or_none(store: Store, path: str, most_bytes: int = DOCUMENT) -> bytes | None:
    """A file, None where one read does not find it: for those who do no harm where that is not so."""
    try:
        return store.read(path, most_bytes)
    except NotFound:
        return None


def read_if_there(store: Store, path: str, most_bytes: int = DOCUMENT) -> bytes | None:
    """A file, None where it is not there; `Corrupt` where it stays listed and reads do not find it."""
    ends = time.monotonic() + PATIENCE_S
    while (content := read_or_none(store, path, most_bytes)) is None and listed(store, [path]):
        if time.monotonic() > ends:
            raise unread(path)
        time.sleep(PAUSE_S)
    return content


def stays(store: Store, path: str, content: bytes) -> bool:
    """Does a file that the store says it could not find to delete still read as before, for as long as one waits?"""
    ends = time.monotonic() + PATIENCE_S
    while read_or_none(store, path) == content:
        if time.monotonic() > ends:
            return True
        time.sleep(PAUSE_S)
    return False


def listed(store: Store, paths: Collection[str]) -> set[str]:
    """Those of the paths that their directories list now."""
    found: set[str] = set()
    for directory in {path.rpartition("/")[0] for path in paths}:
        below = f"{directory}/" if directory else ""
        found |= {f"{below}{entry.name}" for entry in store.ls_if_there(directory)}
    return found.intersection(paths)


def unread(path: str) -> SnapscopeError:
    """What is said of a file that is listed, and that reads do not find."""
    return Corrupt(
        "The store lists this file, and reading it says that there is none.",
        path=path,
        remedy="If it was deleted just now, wait until the store no longer lists it; else restore it.",
    )
