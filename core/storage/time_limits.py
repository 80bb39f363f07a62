"""Time limits for calls to a store: an unmounted disk or a silent server never answers.

Laws:
- A call that does not return cannot be ended: it keeps its thread, and the caller continues with `Corrupt`.
- Stuck threads are counted by whom they wait for, such as a store. From `MOST_STUCK` on nobody else waits there.
- What is limited is one call to a store, not the work between calls: large tables may take their time.
- Threads are daemons: none keeps the process from ending.
"""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Generic, ParamSpec, TypeVar

from core.errors import Corrupt, Invalid
from core.messages import told

VARIABLE = "SNAPSCOPE_READ_TIMEOUT"
CALL_S = 60.0  # that one call of a store may take, where the variable says nothing
TABLE_S = 10.0  # that one table among others may keep its readers waiting
MOST_STUCK = 4
_LOOK_S = 0.25

T = TypeVar("T")
P = ParamSpec("P")


def call_s() -> float:
    """Seconds that one call of a store may take: `$SNAPSCOPE_READ_TIMEOUT`, else 60."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return CALL_S
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 86_400:
        raise Invalid(
            "{variable}={text} is no number of seconds between 0 and 86,400.",
            variable=VARIABLE,
            text=text,
            remedy=told("Write {variable}=60, or unset it.", variable=VARIABLE),
        )
    return seconds


@dataclass(slots=True, eq=False)
class Waiting(Generic[T]):
    """Work that was handed to another thread."""

    of: str
    seconds: float
    work: Callable[[], T]
    done: threading.Event = field(default_factory=threading.Event)
    since: float | None = None  # when the call of a store began in which it is
    given_up: bool = False
    result: Any = None
    error: BaseException | None = None

    def wait(self, seconds: float) -> bool:
        """True once it is done. `Corrupt` once one call has taken longer than it may."""
        ends = time.monotonic() + seconds
        while not self.done.is_set():
            now = time.monotonic()
            since = self.since
            if since is not None and now - since > self.seconds:
                self._give_up()
                break
            if now >= ends:
                return False
            self.done.wait(min(_LOOK_S, ends - now, max(0.0, (since or now) + self.seconds - now) + 0.001))
        return True

    def answer(self) -> T:
        """What it came to, waited for."""
        while not self.wait(3_600):
            pass
        return self.outcome()

    def outcome(self) -> T:
        """What it came to, once it is done."""
        if self.error is not None:
            raise self.error
        result: T = self.result
        return result

    def _give_up(self) -> None:
        with _lock:
            if self.done.is_set():
                return
            self.given_up = True
            _stuck[self.of] += 1
        raise _silent(self.of, self.seconds)


_lock = threading.Lock()
_stuck: Counter[str] = Counter()
_idle: list[SimpleQueue[Waiting[Any]]] = []
_mine = threading.local()


def _alone_in_a_child() -> None:
    """A process that was forked has none of the threads, and whoever held the lock is none of its own."""
    global _lock
    _lock, _mine.task = threading.Lock(), None
    _stuck.clear()
    _idle.clear()


os.register_at_fork(after_in_child=_alone_in_a_child)


def stuck() -> dict[str, int]:
    """How many threads wait for whom beyond their time."""
    with _lock:
        return {of: count for of, count in _stuck.items() if count}


def begin(of: str, seconds: float, work: Callable[[], T], most_stuck: int = MOST_STUCK) -> Waiting[T]:
    """Start work in a thread of its own, in which one call of a store may take so long. `of` is whom it waits for.

    `Corrupt` at once where as many as may be are waiting there already.
    """
    handed = Waiting(of, seconds, work)
    with _lock:
        if _stuck[of] >= most_stuck:
            raise Corrupt(
                "The store has not answered an earlier reader yet.",
                path=of,
                remedy="Check the mount or the connection, then try again; nothing was changed.",
            )
        tasks = _idle.pop() if _idle else None
    if tasks is None:
        tasks = SimpleQueue()
        threading.Thread(target=_serve, args=(tasks,), name="snapscope-reader", daemon=True).start()
    tasks.put(handed)
    return handed


def within(of: str, seconds: float, work: Callable[[], T], most_stuck: int = MOST_STUCK) -> T:
    """`begin`, and the answer. One wait inside another is one: the outer one knows of both."""
    return begin(of, seconds, work, most_stuck).answer()


def limit_s() -> float:
    """Seconds that one call of a store may take, as whoever waits for this thread has it; else no limit."""
    task: Waiting[Any] | None = getattr(_mine, "task", None)
    return math.inf if task is None else task.seconds


@contextlib.contextmanager
def asking() -> Iterator[None]:
    """One call of a store: whoever waits for this thread counts the time from here."""
    task: Waiting[Any] | None = getattr(_mine, "task", None)
    if task is None or task.since is not None:
        yield
        return
    task.since = time.monotonic()
    try:
        yield
    finally:
        task.since = None


def calling(work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """What one call of a store comes to."""
    if getattr(_mine, "task", None) is None:
        return work(*given, **named)
    with asking():
        return work(*given, **named)


def alone(of: str, work: Callable[[], T]) -> T:
    """One call that may never come back, in a thread of its own; it may take `call_s` in all."""
    return calling(lambda: within(of, call_s(), lambda: calling(work)))


def _serve(tasks: SimpleQueue[Waiting[Any]]) -> None:
    while True:
        task = tasks.get()
        _mine.task = task
        try:
            task.result = task.work()
        except BaseException as error:  # noqa: BLE001 - raised by whoever waits
            task.error = error
        _mine.task = None
        with _lock:
            task.done.set()
            if task.given_up:
                _stuck[task.of] -= 1
            _idle.append(tasks)
        del task


def _silent(of: str, seconds: float) -> Corrupt:
    return Corrupt(
        "The store did not answer within {seconds:g} s.",
        seconds=seconds,
        path=of,
        remedy="Check the mount or the connection, then try again; nothing was changed.",
    )
