"""Random histories of the newest engine, and some of older ones: our plan compared with what the engine deletes.

`make proof` tries other seeds for as long as there is time. Those here are few, and each kind of history occurs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from tests.engines.paimon_java import PaimonJudge
from tests.support.depth import IS_DEEP
from tests.support.interop import differential, engine_deleted
from tests.support.interop.random_history import absent, make

SEEDS = (0, 1, 2, 5, 6, 7, 8, 9, 12, 16, 21, *((14, 15, 72) if IS_DEEP else ()))
SEEDS_OF_OLD = range(4 if IS_DEEP else 2)

Counts = tuple[Counter[str], Counter[str]]
Ask = Callable[[PaimonJudge, int], Counts]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """What occurred in a history of a release and how it was answered, each history judged once."""
    directory = tmp_path_factory.mktemp("histories")
    known: dict[tuple[str, int], Counts] = {}

    def counted(judge: PaimonJudge, seed: int) -> Counts:
        if (judge.version, seed) not in known:
            history = make(judge, directory / judge.version / "default.db" / f"h{seed}", seed)
            if not history.may_dangle:
                assert engine_deleted.dangling(judge, history.table) == {}, f"seed {seed}: {history.log}"
            counts: Counter[str] = Counter()
            before = differential.Before(judge, history)
            for change in differential.changes(history, differential.RULES[judge.version]):
                differential.compare(judge, history, change, before, counts)
            known[judge.version, seed] = history.counts, counts
        return known[judge.version, seed]

    return counted


@pytest.mark.parametrize("seed", SEEDS)
def test_plans_equal_what_the_engine_deletes_or_the_engine_is_wrong(
    java_judge: PaimonJudge, ask: Ask, seed: int
) -> None:
    _, counts = ask(java_judge, seed)
    assert counts["versions as before after our run"]


def test_every_kind_of_history_occurred(java_judge: PaimonJudge, ask: Ask) -> None:
    answers = [ask(java_judge, seed) for seed in SEEDS]
    occurred, counts = (sum((each[part] for each in answers), Counter()) for part in (0, 1))
    print(dict(sorted(occurred.items())), dict(counts))
    assert not absent(occurred, java_judge.version), "a kind of history never occurred"
    assert counts["same"] > 70
    assert counts["versions as before after our run"] > 2000
    assert counts["commits of the engine afterwards"] > 70
    assert counts["deletions of the engine predicted"] > 0.95 * (
        counts["deletions of the engine predicted"] + counts["deletions of the engine not predicted"]
    )


@pytest.mark.parametrize("release", ["java_1x_judge", "java_09_judge"])
def test_rules_of_older_releases(release: str, request: pytest.FixtureRequest, ask: Ask) -> None:
    judge: PaimonJudge = request.getfixturevalue(release)
    counts = sum((ask(judge, seed)[1] for seed in SEEDS_OF_OLD), Counter())
    print(dict(counts))
    assert counts["same"] > 5
    assert counts["versions as before after our run"] > 70
