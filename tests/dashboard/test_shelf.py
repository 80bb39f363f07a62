"""The caches of the pages: the last few values, each computed once, whatever it is, from any thread."""

from __future__ import annotations

import random
import threading

import pytest

from dashboard.shelf import Shelf


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
