"""Writers killed during a commit. `make proof` kills as many as you like."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.support.execution import kill_commits


@pytest.mark.slow
def test_a_commit_that_is_cut_off_leaves_orphans_alone_and_lands_once(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    for seed in range(6):
        counts += kill_commits.prove(tmp_path / str(seed), seed)
    assert counts["commits killed"] == 6
