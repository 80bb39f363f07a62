"""25 random histories of Iceberg tables: times, scans, diffs, expiries, what a ref costs; ours beside the engine's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from tests.engines.iceberg_java import IcebergJudge
from tests.interop.iceberg_differential import compare
from tests.interop.iceberg_history import History, absent

SEEDS = range(25)

Counts = tuple[Counter[str], Counter[str]]
Ask = Callable[[int], Counts]


@pytest.fixture(scope="module")
def ask(iceberg_judge: IcebergJudge, history_of: Callable[[int], History]) -> Ask:
    """What occurred in a history and what was compared, each history once."""
    known: dict[int, Counts] = {}

    def counted(seed: int) -> Counts:
        if seed not in known:
            history = history_of(seed)
            known[seed] = history.counts, compare(iceberg_judge, history)
        return known[seed]

    return counted


@pytest.mark.parametrize("seed", SEEDS)
def test_our_answers_are_the_engines(ask: Ask, seed: int) -> None:
    _, compared = ask(seed)
    assert compared["times"] + compared["times before all"]


def test_every_kind_of_thing_occurred_and_was_compared(ask: Ask) -> None:
    answers = [ask(seed) for seed in SEEDS]
    occurred, compared = (sum((each[part] for each in answers), Counter()) for part in (0, 1))
    print(dict(sorted(occurred.items())), dict(compared))
    assert not absent(occurred), "a kind of thing never occurred"
    least = {"times": 1000, "times in disorder": 100, "refs": 100, "snapshots": 400, "data files": 2000, "deletes": 300}
    least |= {"diffs": 100, "expiries": 200, "expiries that free data": 150, "snapshots expired": 2000, "marginals": 50}
    least |= {"expiries that Java cleans incrementally": 5, "freed only later by Java": 1, "refused by both": 1}
    assert {name: count for name, count in least.items() if compared[name] < count} == {}
