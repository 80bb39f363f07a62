"""One run per table at a time, and one process per run: locks on files in the state directory, released by the system
when the process ends.

Invariant: it is the system's own lock (`flock`), never the mere existence of a file. It works between the processes and
threads of this machine that share a state directory: `SNAPSCOPE_STATE`, else this user's. Other users, other machines
and the engines do not see it; against them, every effect checks the table itself. Supported are Linux and macOS, and
file systems with locks: every local one. On a network file system the lock is only as good as that file system's, so
the state directory belongs on a local disk. If the system reports that it cannot lock, nothing is changed.
"""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import Conflict, ErrorCode, Invalid
from core.messages import message
from core.paths import private_file, state_dir
from core.urls import place

_ASKED_S = 0.2  # longer than `is_running` holds a lock to ask for it


@contextmanager
def locked(table: str) -> Iterator[None]:
    """Hold the table's lock, however its location is spelled. Raises `Conflict` at once if it is held elsewhere."""
    with _held(_name(table), message("Another change to this table is running on this machine.")):
        yield


@contextmanager
def carried_out(run: str) -> Iterator[None]:
    """Hold the lock of one run. Raises `Conflict` at once if it is held elsewhere.

    Some runs do not lock their table, and nobody may resume or undo one that is still running."""
    with _held(run, message("Run {run} on this table is still running on this machine.", run=run)) as path:
        try:
            yield
        finally:
            path.unlink(missing_ok=True)  # nobody waits for it, and no other run has its id


def is_running(table: str, run: str) -> bool:
    """Whether anyone on this machine changes the table or carries out the run. False if the system does not say."""
    return any(map(_is_held, (_path(_name(table)), _path(run))))


def _is_held(path: Path) -> bool:
    try:
        with path.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared: those who ask do not see each other
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _name(table: str) -> str:
    return hashlib.sha256(place(table).encode()).hexdigest()[:24]


def _path(name: str) -> Path:
    return state_dir() / "locks" / f"{name}.lock"


@contextmanager
def _held(name: str, busy: str) -> Iterator[Path]:
    from filelock import FileLock, Timeout  # slow to import, and only changes need it

    path = _path(name)
    try:
        held = FileLock(private_file(path), timeout=_ASKED_S, fallback_to_soft=False).acquire(poll_interval=0.01)
    except Timeout as error:
        raise Conflict(busy, remedy="Wait until it has finished.", code=ErrorCode.TABLE_LOCKED) from error
    except OSError as error:
        raise Invalid(
            "The state directory is not writable: {strerror}. Nothing is changed without it.",
            strerror=error.strerror,
            path=str(path),
            remedy="Make it writable, or choose another one with SNAPSCOPE_STATE.",
        ) from error
    with held:
        yield path
