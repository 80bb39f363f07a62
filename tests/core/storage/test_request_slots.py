"""Slots of requests: never more than the limit, shared equally, none lost, and nothing waits forever."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from core.errors import Corrupt, SnapscopeError
from core.storage import request_slots
from core.storage.request_slots import LEAST_READERS, ReadShare, Slots
from core.storage.store import Store
from tests.support import memory_s3


class Asked:
    """Counts requests in flight, and the most there were at a time."""

    def __init__(self) -> None:
        self.lock, self.now, self.most = threading.Lock(), 0, 0
        self.of: Counter[str] = Counter()

    def request(self, of: str, answered: Callable[[], object]) -> None:
        with self.lock:
            self.now += 1
            self.of[of] += 1
            self.most = max(self.most, self.now)
        answered()
        with self.lock:
            self.now -= 1


def start(read: ReadShare, asked: Asked, of: str, requests: int, threads: int, answered: Any) -> list[threading.Thread]:
    """Start the threads of a read of so many files."""
    waiting, lock = iter(range(requests)), threading.Lock()

    def several() -> None:
        while True:
            with lock:
                if next(waiting, None) is None:
                    return
            with read.slot(300):
                asked.request(of, answered)

    readers = [threading.Thread(target=several, daemon=True) for _ in range(threads)]
    for each in readers:
        each.start()
    return readers


def until(condition: Callable[[], object]) -> None:
    ends = time.monotonic() + 100
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.001)


def test_one_read_uses_every_slot_and_no_more() -> None:
    """Its requests are answered only when as many as there are slots are in flight."""
    slots, asked, all_in_flight = Slots("s3://b", 8), Asked(), threading.Barrier(8, timeout=100)
    for of, requests, threads in (("one", 200, 24), ("again", 8, 8)):
        with slots.read() as read:
            for each in start(read, asked, of, requests, threads, all_in_flight.wait):
                each.join()
        assert (asked.most, asked.of[of], asked.now) == (8, requests, 0), "every slot came back"


def test_a_short_read_is_not_queued_behind_a_long_one() -> None:
    """The store answers one request at a time, the oldest, when all threads of both reads have asked or wait."""
    slots, asked, in_flight, go_on = Slots("s3://b", 8), Asked(), deque[threading.Event](), threading.Event()

    def answered() -> None:
        in_flight.append(own := threading.Event())
        while not go_on.is_set() and not own.wait(0.1):
            pass

    with slots.read() as long, slots.read() as short:
        threads = start(long, asked, "long", 1_000, 24, answered)
        until(lambda: len(in_flight) == 8)
        before = asked.of["long"]
        threads += start(short, asked, "short", 100, 12, answered)
        while asked.of["short"] < 88:  # as long as all of its threads have another file to read
            until(lambda: long.held + len(long.queue) == 24 and short.held + len(short.queue) == 12)
            until(lambda: len(in_flight) == 8)
            in_flight.popleft().set()
        between = asked.of["long"] - before
        go_on.set()
        for each in threads:
            each.join()
    assert asked.most == 8
    assert asked.of == {"long": 1_000, "short": 100}
    assert between < 110, "about as many as the short read's own; a common queue would have left it a third"


def test_a_request_that_fails_gives_its_slot_back() -> None:
    slots = Slots("s3://b", 1)
    with slots.read() as read:
        for _ in range(3):
            with pytest.raises(OSError, match="refused"), read.slot(1):
                raise OSError("refused")


def test_a_store_that_answers_nobody_is_given_up() -> None:
    slots = Slots("s3://b", 1)
    with slots.read() as stuck, stuck.slot(1), slots.read() as read:
        began = time.monotonic()
        with pytest.raises(Corrupt, match=r"did not answer within 0\.2 s"), read.slot(0.2):
            pass
        assert time.monotonic() - began < 60
    with slots.read() as read, read.slot(0.2):
        pass


def test_a_read_that_makes_progress_is_not_given_up() -> None:
    """Its threads wait longer in total than the limit, but each slot that comes free goes to one of them."""
    slots, asked = Slots("s3://b", 1), Asked()
    waiting = iter(range(12))
    failed: list[Exception] = []

    def several() -> None:
        try:
            for _ in waiting:
                with read.slot(1.1):
                    asked.request("slow", lambda: time.sleep(0.1))
        except Corrupt as error:
            failed.append(error)

    with slots.read() as read:
        readers = [threading.Thread(target=several) for _ in range(12)]
        for each in readers:
            each.start()
        for each in readers:
            each.join()
    assert not failed
    assert asked.of["slow"] == 12


def test_threads_of_a_read_that_ended_early_end_too() -> None:
    slots = Slots("s3://b", 1)
    ended = threading.Event()

    def wait() -> None:
        try:
            with read.slot(60):
                pass
        except Corrupt:
            ended.set()

    with slots.read() as holder, holder.slot(1):
        with slots.read() as read:
            thread = threading.Thread(target=wait, daemon=True)
            thread.start()
            until(lambda: read.queue)
        assert ended.wait(50)


def test_many_reads_share_the_threads() -> None:
    slots = Slots("s3://b", 64)
    with slots.read():
        assert slots.readers(1_000) == 64
        assert slots.readers(3) == 3
        with slots.read():
            assert slots.readers(1_000) == 32
            with slots.read(), slots.read(), slots.read():
                assert slots.readers(1_000) == LEAST_READERS


# stores of which one never answers -----------------------------------------------------------------------------------


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_slots, "IN_FLIGHT", 4)
    monkeypatch.setattr(request_slots, "_by_store", {})
    monkeypatch.setattr(Slots.__init__, "__defaults__", (4,))


@contextmanager
def silent(
    monkeypatch: pytest.MonkeyPatch, names: Sequence[str], hangs: str
) -> Iterator[tuple[memory_s3.Server, Callable[[], None]]]:
    """A server that takes requests for objects whose name begins so, and answers them only when it is told to."""
    speaks = False
    held, loops = list[Callable[[], None]](), list[asyncio.AbstractEventLoop]()
    with memory_s3.serving({f"{each}": b"x" for each in names}) as server:
        server.lead(monkeypatch)
        send = memory_s3._Connection._send

        def answered(connection: memory_s3._Connection, method: str, target: str, *rest: bytes) -> None:
            if speaks or connection.server is not server or not target.startswith(f"/{memory_s3.BUCKET}/{hangs}"):
                send(connection, method, target, *rest)
            else:
                loops.append(asyncio.get_running_loop())
                held.append(partial(send, connection, method, target, *rest))

        def answer_all() -> None:
            nonlocal speaks
            speaks = True
            for each in held:
                each()

        def speak() -> None:
            loops[0].call_soon_threadsafe(answer_all)

        monkeypatch.setattr(memory_s3._Connection, "_send", answered)
        yield server, speak


def read_all(store: Store, names: Sequence[str]) -> list[bytes | SnapscopeError]:
    return list(store.read_many(names).values())


@pytest.mark.usefixtures("few")
def test_a_store_that_never_answers_holds_no_slot_of_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Buckets of one name on two servers, as in two warehouses of the settings file."""
    monkeypatch.setenv("SNAPSCOPE_READ_TIMEOUT", "60")
    names = [f"n{number}" for number in range(8)]
    with (
        silent(monkeypatch, [f"a/{each}" for each in names], "a/n") as (hangs, speak),
        memory_s3.serving({f"b/{each}": b"y" for each in names}) as answers,
    ):
        stuck, late = Store(f"s3://{memory_s3.BUCKET}/a", {"endpoint_url": hangs.url}), list[bytes | SnapscopeError]()
        reading = threading.Thread(target=lambda: late.extend(read_all(stuck, names)), daemon=True)
        reading.start()
        until(lambda: sum("/a/n" in path for _, path in hangs.seen) == 4)
        found = read_all(Store(f"s3://{memory_s3.BUCKET}/b", {"endpoint_url": answers.url}), names)
        assert found == [b"y"] * len(names)
        assert not late, "the other store still holds all of its slots"
        speak()
        reading.join(60)
        assert late == [b"x"] * len(names)


@pytest.mark.slow
@pytest.mark.usefixtures("few")
def test_requests_that_hang_give_their_slots_back_at_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """To whoever reads what is answered in the same bucket."""
    monkeypatch.setenv("SNAPSCOPE_READ_TIMEOUT", "1.5")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setattr("s3fs.S3FileSystem.retries", 1)
    names = [f"n{number}" for number in range(6)]
    with silent(monkeypatch, [f"{kind}/{each}" for kind in "ab" for each in names], "a/n"):
        store = Store(f"s3://{memory_s3.BUCKET}/a")
        store._fs.connect()  # not within the limit: on a busy machine it alone takes as long
        failed = read_all(store, names)
        assert all(isinstance(each, Corrupt) for each in failed)
        monkeypatch.setenv("SNAPSCOPE_READ_TIMEOUT", "60")  # for whom the server answers, however late it comes to it
        ends = time.monotonic() + 100
        while True:
            try:
                found = read_all(Store(f"s3://{memory_s3.BUCKET}/b"), names)
                break
            except Corrupt:
                assert time.monotonic() < ends, "the requests that hang still hold what others wait for"
                time.sleep(0.2)
        assert found == [b"x"] * len(names)
