"""One change per table and machine at a time: a lock file in the state directory, freed when its process ends."""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from core.errors import Conflict
from core.places import state_dir


@contextmanager
def locked(table: str) -> Iterator[None]:
    """Hold the table's lock; `Conflict` at once if another process or thread holds it."""
    folder = state_dir() / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{hashlib.sha256(table.encode()).hexdigest()[:24]}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Conflict(
                "Another change of this table is running on this machine.", remedy="Wait for it to end."
            ) from error
        yield
