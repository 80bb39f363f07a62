"""One change per table at a time: a lock on a file in the state directory, freed by the system when its process ends.

Law: it is the system's own lock (`flock`), never a file that is merely there. It holds between the processes and
threads of this machine that have one state directory: `SNAPSCOPE_STATE`, else this user's. Other users, other machines
and the engines do not see it; against them every effect checks the table itself. Linux and macOS are supported, and
file systems that can lock: every local one. On a network file system it holds only as far as that one's locks do, so
the state directory belongs on a local disk; where the system says that it cannot lock, nothing is changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from core.errors import Conflict, Invalid
from core.paths import private_file, state_dir


@contextmanager
def locked(table: str) -> Iterator[None]:
    """Hold the table's lock; `Conflict` at once if another process or thread holds it."""
    from filelock import FileLock, Timeout  # slow, and only changes need it

    path = state_dir() / "locks" / f"{hashlib.sha256(table.encode()).hexdigest()[:24]}.lock"
    try:
        held = FileLock(private_file(path), blocking=False, fallback_to_soft=False).acquire()
    except Timeout as error:
        raise Conflict(
            "Another change of this table is running on this machine.", remedy="Wait for it to end."
        ) from error
    except OSError as error:
        raise Invalid(
            "The state directory cannot be written: {strerror}. Without it nothing is changed.",
            strerror=error.strerror,
            path=str(path),
            remedy="Make it writable, or name another one: SNAPSCOPE_STATE.",
        ) from error
    with held:
        yield
