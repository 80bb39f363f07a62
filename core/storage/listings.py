"""List many directories, in parallel where the store is remote."""

from __future__ import annotations

import os
import threading
from collections.abc import Collection

from core.storage.file_systems import DirectoryEntry
from core.storage.store import Store


def of(store: Store, directories: Collection[str]) -> dict[str, list[DirectoryEntry]]:
    """Return what is in each directory, as `Store.ls_if_there`, in the order given. Raises the first error."""
    found: dict[str, list[DirectoryEntry]] = {directory: [] for directory in directories}
    failed = threading.Event()

    def one(directory: str) -> None:
        if failed.is_set():  # the error of another is about to be raised
            return
        try:
            found[directory] = store.ls_if_there(directory)
        except BaseException:
            failed.set()
            raise

    if store.is_local or len(found) < 2:
        for directory in found:
            one(directory)
    else:
        store.each(list(found), one)
    return found


def links(store: Store, directories: Collection[str]) -> list[str]:
    """Return those of these directories inside the store's root that are symbolic links."""
    inner = [directory for directory in directories if directory] if store.is_local else []
    return [directory for directory in inner if os.path.islink(store.full(directory))]
