"""One change per table and machine at a time: a lock file in the state directory, freed when its process ends."""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from core.errors import Conflict, Invalid
from core.paths import private_file, state_dir


@contextmanager
def locked(table: str) -> Iterator[None]:
    """Hold the table's lock; `Conflict` at once if another process or thread holds it."""
    path = state_dir() / "locks" / f"{hashlib.sha256(table.encode()).hexdigest()[:24]}.lock"
    with _opened(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Conflict(
                "Another change of this table is running on this machine.", remedy="Wait for it to end."
            ) from error
        yield


def _opened(path: Path) -> TextIO:
    try:
        return private_file(path).open("w")
    except OSError as error:
        raise Invalid(
            "The state directory cannot be written: {strerror}. Without it nothing is changed.",
            strerror=error.strerror,
            path=str(path),
            remedy="Make it writable, or name another one: SNAPSCOPE_STATE.",
        ) from error
