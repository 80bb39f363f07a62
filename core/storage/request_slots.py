"""A limit of requests in flight to one store, shared fairly by all reads of this process.

Invariant: a free slot goes to the read that holds fewest, so a short read is never queued behind a long one. Waiting
for a slot is not a call to the store and does not count towards its time limit; it ends with `Corrupt` if the store has
not answered anything for this read for as long.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from core.errors import Corrupt
from core.storage import time_limits

IN_FLIGHT = 256  # requests at a time to one store
LEAST_READERS = 16  # threads of one read, however many others there are


class Slots:
    """The slots of one store; `of` is its name in errors."""

    def __init__(self, of: str, total: int = IN_FLIGHT) -> None:
        self.of, self._total, self._free = of, total, total
        self._lock = threading.Lock()
        self._reads: list[ReadShare] = []

    @contextlib.contextmanager
    def read(self) -> Iterator[ReadShare]:
        """Take part in the sharing of slots for the duration of one read of many files."""
        read = ReadShare(self)
        with self._lock:
            self._reads.append(read)
        try:
            yield read
        finally:
            with self._lock:
                self._reads.remove(read)
                read.is_over = True
                for turn in read.queue:  # threads of a read that ended early
                    turn.set()
                read.queue.clear()

    def readers(self, files: int) -> int:
        """Return how many threads a read of so many files should use: its share, while that many others read."""
        with self._lock:
            return min(files, max(LEAST_READERS, self._total // max(1, len(self._reads))))

    def take(self, read: ReadShare, seconds: float) -> None:
        """Wait for a slot. Raises `Corrupt` if this read has been given none for so many seconds."""
        with self._lock:
            if self._free:
                self._free -= 1
                read.given()
                return
            turn = threading.Event()
            read.queue.append(turn)
        began = time.monotonic()
        while not turn.wait(max(0.0, max(began, read.last_given) + seconds - time.monotonic())):
            with self._lock:
                if not turn.is_set() and time.monotonic() - max(began, read.last_given) >= seconds:
                    read.queue.remove(turn)
                    raise time_limits.silent(self.of, seconds)
        if read.is_over:
            raise time_limits.silent(self.of, seconds)

    def give_back(self, read: ReadShare) -> None:
        with self._lock:
            read.held -= 1
            nxt = min((each for each in self._reads if each.queue), key=lambda each: each.held, default=None)
            if nxt is None:
                self._free += 1
                return
            nxt.given()
            nxt.queue.popleft().set()


class ReadShare:
    """One read of many files, with the slots that it holds and its threads that wait for one."""

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self.held, self.last_given = 0, time.monotonic()
        self.is_over = False
        self.queue: deque[threading.Event] = deque()

    def given(self) -> None:
        self.held += 1
        self.last_given = time.monotonic()

    @contextlib.contextmanager
    def slot(self, seconds: float) -> Iterator[None]:
        """Hold one slot for one request. Raises `Corrupt` if none was free for so many seconds."""
        self._slots.take(self, seconds)
        try:
            yield
        finally:
            self._slots.give_back(self)


_lock = threading.Lock()
_by_store: dict[str, Slots] = {}


def _none_in_a_child() -> None:
    """Reset the state in a forked process: none of the threads that hold slots are in it."""
    global _lock
    _lock = threading.Lock()
    _by_store.clear()


os.register_at_fork(after_in_child=_none_in_a_child)


def slots_of(store: str) -> Slots:
    """Return the slots of a store, by its protocol and bucket or host."""
    with _lock:
        return _by_store.setdefault(store, Slots(store))


def read_each(
    paths: Iterable[str],
    read_one: Callable[[str], None],
    slots: Slots,
    seconds: float,
    most_readers: int,
    unanswered: Callable[[str, Corrupt], None] | None = None,
) -> None:
    """Call `read_one` for each path, in threads and each with a slot; `seconds` limits each of its calls to the store
    and the wait for a slot.

    `unanswered` receives each path that is not answered in time, with the error. Without it, the error is raised and
    the rest is dropped."""
    waiting = iter(paths)

    def read_waiting(current_paths: list[str]) -> None:
        for path in waiting:  # all threads share one iterator
            current_paths[0] = path
            with share.slot(min(seconds, time_limits.call_s())):
                read_one(path)

    with slots.read() as share:
        current_paths = [[""] for _ in range(slots.readers(most_readers))]
        readers = [
            time_limits.begin(slots.of, seconds, partial(read_waiting, each), sys.maxsize) for each in current_paths
        ]
        try:
            for reader, current_path in zip(readers, current_paths, strict=True):
                try:
                    reader.answer()
                except Corrupt as error:
                    if unanswered is None:
                        raise
                    unanswered(current_path[0], error)
        finally:
            deque(waiting, 0)
