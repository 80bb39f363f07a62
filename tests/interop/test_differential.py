"""25 random histories of the newest engine, and some of older ones: our plan beside what the engine deletes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.engines.paimon_java import PaimonJudge
from tests.interop import differential
from tests.interop.random_history import absent, make

SEEDS = range(25)
SEEDS_OF_OLD = range(7)


def _run(judge: PaimonJudge, directory: Path, seeds: range) -> tuple[Counter[str], Counter[str]]:
    occurred: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for seed in seeds:
        history = make(judge, directory / "default.db" / f"h{seed}", seed)
        occurred += history.counts
        for change in differential.changes(history, differential.RULES[judge.version]):
            differential.compare(judge, history, change, counts)
    return occurred, counts


def test_plans_equal_what_the_engine_deletes_or_the_engine_is_wrong(java_judge: PaimonJudge, tmp_path: Path) -> None:
    occurred, counts = _run(java_judge, tmp_path, SEEDS)
    print(dict(sorted(occurred.items())), dict(counts))
    assert not absent(occurred, java_judge.version), "a kind of history never occurred"
    assert counts["same"] > 100
    assert counts["points read after our apply"] > 2000
    assert counts["engine committed on"] > 100
    assert counts["native predicted"] > 0.95 * (counts["native predicted"] + counts["native not predicted"])


@pytest.mark.parametrize("release", ["java_1x_judge", "java_09_judge"])
def test_rules_of_older_releases(release: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    judge: PaimonJudge = request.getfixturevalue(release)
    _, counts = _run(judge, tmp_path, SEEDS_OF_OLD)
    print(dict(counts))
    assert counts["same"] > 30
    assert counts["points read after our apply"] > 300
