"""Many users who open the same table: its history is read once, for as long as one of them waits for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import Corrupt
from core.model.history import History
from core.model.references import Heads
from core.table import Table, open_table
from dashboard import data
from tests.support.builders import TableBuilder


class Slow:
    """Reads histories that wait to be told that they may go on; counts how many were begun."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.ended = threading.Semaphore(0), threading.Event()
        self.count, self.errors = 0, list[BaseException]()
        self.fails: Corrupt | None = None
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
            if self.fails is not None:
                raise self.fails
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


def test_an_error_is_told_to_all_and_not_kept(slow: Slow, heads: Heads) -> None:
    told, waiting = list[str](), threading.Semaphore(0)

    def ask() -> None:
        try:
            data.history(heads, lambda done, total: waiting.release())
        except Corrupt as error:
            told.append(error.message)

    slow.fails = Corrupt("A manifest is damaged.")
    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        assert waiting.acquire(timeout=60)
    slow.ended.set()
    for thread in threads:
        thread.join(60)
    assert told == ["A manifest is damaged."] * 3
    assert slow.count == 1
    assert data.kept_history(heads) is None
    slow.fails = None
    assert data.history(heads).heads is heads
