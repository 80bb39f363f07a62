"""Time limits for calls to a store: an unmounted disk or an unresponsive server may never answer.

Invariants:
- A call that does not return cannot be ended: it keeps its thread, and the caller continues with `Corrupt`.
- Stuck threads are counted by what they wait for, such as a store. At `MOST_STUCK` no further thread waits there.
- The limit applies to one call to a store, not to the work between calls: a large table may take longer in total.
- Threads are daemons: none keeps the process from ending.
"""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Generic, ParamSpec, TypeVar

from core.errors import Corrupt, Invalid
from core.messages import message

VARIABLE = "SNAPSCOPE_READ_TIMEOUT"
CALL_S = 60.0  # limit for one call to a store if the variable is not set
TABLE_S = 10.0  # limit for one table if a reader waits for several
MOST_STUCK = 4
TOGETHER = 16
_LOOK_S = 0.25

T = TypeVar("T")
P = ParamSpec("P")


def call_s() -> float:
    """Return the limit for one call to a store in seconds: `$SNAPSCOPE_READ_TIMEOUT`, otherwise 60.

    Raises `Invalid` if the variable is not a number between 0 and 86,400.
    """
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return CALL_S
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 86_400:
        raise Invalid(
            "{variable}={text} is not a number of seconds between 0 and 86,400.",
            variable=VARIABLE,
            text=text,
            remedy=message("Write {variable}=60, or unset it.", variable=VARIABLE),
        )
    return seconds


@dataclass(slots=True, eq=False)
class Waiting(Generic[T]):
    """Work that was handed to another thread. `of` names what it waits for; `seconds` limits each call to the store."""

    of: str
    seconds: float
    work: Callable[[], T]
    done: threading.Event = field(default_factory=threading.Event)
    since: float | None = None  # when the current call to the store began
    given_up: bool = False
    result: Any = None
    error: BaseException | None = None

    def wait(self, seconds: float) -> bool:
        """Wait at most `seconds`; True once the work is done. Raises `Corrupt` if one call has exceeded its limit."""
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
        """Wait for the work and return its result or raise its error."""
        while not self.wait(3_600):
            pass
        return self.outcome()

    def outcome(self) -> T:
        """Return the result or raise the error of finished work."""
        if self.error is not None:
            raise self.error
        result: T = self.result
        return result

    def _give_up(self) -> None:
        with _lock:
            if self.done.is_set():
                return
            if not self.given_up:
                self.given_up = True
                _stuck[self.of] += 1
        raise silent(self.of, self.seconds)


_lock = threading.Lock()
_stuck: Counter[str] = Counter()
_idle: list[SimpleQueue[Waiting[Any]]] = []
_mine = threading.local()


def _alone_in_a_child() -> None:
    """Reset the state in a forked process: it has none of the threads, and no thread of its own holds the lock."""
    global _lock
    _lock, _mine.task = threading.Lock(), None
    _stuck.clear()
    _idle.clear()


os.register_at_fork(after_in_child=_alone_in_a_child)


def stuck() -> dict[str, int]:
    """Return the number of threads that exceeded their limit, by what they wait for."""
    with _lock:
        return {of: count for of, count in _stuck.items() if count}


def begin(of: str, seconds: float, work: Callable[[], T], most_stuck: int = MOST_STUCK) -> Waiting[T]:
    """Start work in a thread of its own that waits for `of`, with `seconds` for each call to the store.

    Raises `Corrupt` at once if `most_stuck` threads are already stuck waiting for `of`.
    """
    waiting = Waiting(of, seconds, work)
    with _lock:
        if _stuck[of] >= most_stuck:
            raise Corrupt(
                "The store has not yet answered an earlier request.",
                path=of,
                remedy="Check the mount or the connection, then try again.",
            )
        tasks = _idle.pop() if _idle else None
    if tasks is None:
        tasks = SimpleQueue()
        threading.Thread(target=_serve, args=(tasks,), name="snapscope-reader", daemon=True).start()
    tasks.put(waiting)
    return waiting


def within(of: str, seconds: float, work: Callable[[], T], most_stuck: int = MOST_STUCK) -> T:
    """Run `begin` and wait for the result. A nested wait counts as part of the outer call."""
    return begin(of, seconds, work, most_stuck).answer()


def limit_s() -> float:
    """Return the limit in seconds for one call to a store in this thread; infinite if no other thread waits for it."""
    task: Waiting[Any] | None = getattr(_mine, "task", None)
    return math.inf if task is None else task.seconds


@contextlib.contextmanager
def asking() -> Iterator[None]:
    """Mark one call to a store: the thread that waits for this one measures the time from here."""
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
    """Make one call to a store and return its result."""
    if getattr(_mine, "task", None) is None:
        return work(*given, **named)
    with asking():
        return work(*given, **named)


def in_own_thread(of: str, work: Callable[[], T]) -> T:
    """Make one call that may never return in a thread of its own; it may take `call_s` in total."""
    return calling(lambda: within(of, call_s(), lambda: calling(work)))


def together(of: str, calls: Sequence[Callable[[], T]], extra_call: Callable[[], object] = lambda: None) -> list[T]:
    """Make calls at the same time, at most `TOGETHER`, each in a thread of its own, and return their results in this
    order; also call `also`. Raises the first error once all have ended."""
    seconds, found = min(limit_s(), call_s()), list[T]()
    extra = begin(of, seconds, extra_call)
    errors = list[BaseException]()
    for at in range(0, len(calls), TOGETHER):
        for each in [begin(of, seconds, call) for call in calls[at : at + TOGETHER]]:
            try:
                found.append(each.answer())
            except BaseException as error:  # noqa: BLE001 - raised below
                errors.append(error)
    extra.answer()
    if errors:
        raise errors[0]
    return found


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


class Silent(Corrupt):
    """A store that did not answer in time."""

    kind = Corrupt.__name__


def silent(of: str, seconds: float) -> Silent:
    """Return the error of a store that did not answer in time."""
    return Silent(
        "The store did not answer within {seconds:g} s.",
        seconds=seconds,
        path=of,
        remedy="Check the mount or the connection, then try again.",
    )
