"""The caches of the pages: the last few values, each computed once, whatever it is, from any thread."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from core.model.history import History
from core.model.references import Heads
from core.table import Table, open_table
from dashboard import data
from dashboard.data import Shelf
from tests.support.builders import TableBuilder


def test_the_least_recently_used_answer_leaves_first() -> None:
    shelf: Shelf[int] = Shelf(2)
    assert [shelf.of(key, lambda: len(key)) for key in ("a", "bb")] == [1, 2]  # noqa: B023 - it is asked at once
    assert shelf.get("a") == 1
    shelf.put("ccc", 3)
    assert [shelf.get(key) for key in ("a", "bb", "ccc")] == [1, None, 3]
    assert shelf.put("a", 4) == shelf.get("a") == 4
    shelf.clear()
    assert shelf.get("a") is None


@pytest.mark.parametrize("answer", [None, 0, ()])
def test_an_answer_of_nothing_is_kept_too(answer: object) -> None:
    shelf: Shelf[object] = Shelf(2)
    made: list[object] = []
    for _ in range(3):
        assert shelf.of("key", lambda: made.append(1) or answer) is answer
    assert len(made) == 1


def test_what_cannot_be_answered_is_asked_again() -> None:
    shelf: Shelf[float] = Shelf(2)
    with pytest.raises(ZeroDivisionError):
        shelf.of("key", lambda: 1 / 0)
    assert shelf.of("key", lambda: 1.0) == 1.0


def test_many_threads_get_the_answers_to_their_own_questions() -> None:
    shelf: Shelf[int] = Shelf(8)
    wrong: list[object] = []

    def ask(seed: int) -> None:
        chance = random.Random(seed)
        try:
            for _ in range(3000):
                key = chance.randrange(20)
                found = shelf.of(key, lambda: key * 7)  # noqa: B023 - it is asked at once
                if found != key * 7 or shelf.get(key) not in (None, key * 7):
                    wrong.append((key, found))
        except Exception as error:  # noqa: BLE001 - a cache whose order broke raises what it likes
            wrong.append(error)

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
    assert wrong == []
    assert sum(shelf.get(key) is not None for key in range(20)) == 8


def test_heavy_values_leave_room_for_fewer() -> None:
    shelf: Shelf[int] = Shelf(10, lambda value: value)
    for value in (4, 5, 3):
        shelf.put(value, value)
    assert [shelf.get(value) for value in (4, 5, 3)] == [None, 5, 3]
    assert shelf.put("too heavy", 99) == shelf.get("too heavy") == 99
    assert shelf.get(5) is None


class Slow:
    """Reads histories that wait to be told that they may go on; counts how many were begun."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.ended = threading.Semaphore(0), threading.Event()
        self.count, self.errors = 0, list[BaseException]()
        read = Table.history

        def history(table: Table, heads: Heads, progress: Callable[[int, int], None]) -> History:
            self.count += 1
            self.begun.release()
            try:
                while not self.ended.wait(0.01):
                    progress(1, 2)
            except BaseException as error:
                self.errors.append(error)
                raise
            return read(table, heads)

        monkeypatch.setattr(Table, "history", history)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    return Slow(monkeypatch)


@pytest.fixture
def heads(tmp_path: Path) -> Heads:
    table = TableBuilder(tmp_path / "orders")
    table.commit([table.file(1_000, rows=10)])
    return open_table(str(table.path)).heads()


class Leaves(Exception):
    """The user has opened another page."""


def leave(done: int, total: int) -> None:
    raise Leaves


def test_a_history_is_read_once_for_all_who_wait(slow: Slow, heads: Heads) -> None:
    found, seen, waiting = list[History](), set[int](), threading.Semaphore(0)

    def ask(number: int) -> None:
        def progress(done: int, total: int) -> None:
            seen.add(number)
            waiting.release()

        found.append(data.history(heads, progress))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    assert slow.begun.acquire(timeout=60)
    with pytest.raises(Leaves):  # one of them leaves: the others wait on
        data.history(heads, leave)
    while len(seen) < 5:
        assert waiting.acquire(timeout=60)
    slow.ended.set()
    for thread in threads:
        thread.join(60)
    assert slow.count == 1
    assert len(found) == 5
    assert all(each is found[0] for each in found)
    assert data.history(heads) is found[0]


def test_a_read_that_nobody_waits_for_ends(slow: Slow, heads: Heads) -> None:
    for count in (1, 2):  # and the next one begins anew
        with pytest.raises(Leaves):
            data.history(heads, leave)
        assert slow.begun.acquire(timeout=60)
        for _ in range(6_000):
            if len(slow.errors) == count:
                break
            slow.ended.wait(0.01)
        assert [type(error) for error in slow.errors] == [InterruptedError] * count
    slow.ended.set()
    assert data.history(heads).heads is heads
    assert slow.count == 3


def test_an_error_is_told_to_all_and_not_kept(slow: Slow, heads: Heads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "table", lambda location: Broken())
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            data.history(heads)
    assert data.kept_history(heads) is None


class Broken:
    def history(self, *_: object) -> None:
        raise ZeroDivisionError
