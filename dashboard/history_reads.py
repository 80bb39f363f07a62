"""Histories that are being read: each once, for all users who wait for it. A read that nobody waits for ends."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from core.model.history import History
from core.model.references import Heads
from core.storage import time_limits
from core.table import Table

Progress = Callable[[int, int], None]

PROGRESS_S = 0.1  # interval of progress updates while a history is read


@dataclass(slots=True)
class _SharedRead:
    """A history that is being read, once for all who wait for it."""

    waiting: time_limits.Waiting[History]
    latest_progress: list[tuple[int, int]]
    left: threading.Event  # nobody waits for it any more
    readers: int = 0


_shared_reads: dict[str, _SharedRead] = {}
_shared_reads_lock = threading.Lock()


def read(key: str, opened: Table, seen: Heads, progress: Progress | None) -> History:
    """Read the history of these references, whose fingerprint is `key`, in a thread that can be abandoned, or wait for
    the one that reads it already. `progress` draws, so it runs in the calling thread, and may abort the wait."""
    with _shared_reads_lock:
        shared = _shared_reads.get(key)
        if shared is None or (shared.waiting.done.is_set() and shared.waiting.error is not None):
            shared = _shared_reads[key] = _begin(opened, seen)
        shared.readers += 1
    try:
        while not shared.waiting.wait(PROGRESS_S):
            if progress is not None and shared.latest_progress:
                progress(*shared.latest_progress[-1])
    finally:
        with _shared_reads_lock:
            shared.readers -= 1
            if not shared.readers:
                shared.left.set()
                if _shared_reads.get(key) is shared:
                    del _shared_reads[key]
    return shared.waiting.outcome()


def _begin(opened: Table, seen: Heads) -> _SharedRead:
    latest_progress, left = list[tuple[int, int]](), threading.Event()

    def report(done: int, total: int) -> None:
        latest_progress[:] = [(done, total)]
        if left.is_set():
            raise InterruptedError

    waiting = time_limits.begin(seen.location, time_limits.call_s(), lambda: opened.history(seen, report))
    return _SharedRead(waiting, latest_progress, left)
