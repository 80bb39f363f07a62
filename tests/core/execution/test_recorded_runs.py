"""Runs that an earlier version left open are carried on and taken back as that version did, from every effect."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.execution import recorded_runs
from tests.support.execution.recorded_runs import CASES, Json, OpenRun, picture

QUICK = {"paimon-create-tag", "paimon-replace-tag", "paimon-reset-consumer", "iceberg-rename-tag"}


MARKED = [pytest.param(case, marks=[] if case in QUICK else [pytest.mark.slow]) for case in CASES]


@pytest.mark.parametrize("case", MARKED)
def test_runs_of_an_earlier_version_end_as_they_would_have_ended(case: str, tmp_path: Path) -> None:
    seen = 0
    for first, second in recorded_runs.recorded(case, tmp_path):
        assert_same(first, recorded_runs.resumed, first.resumed)
        assert_same(second, recorded_runs.undone, second.undone)
        seen += 1
    assert seen > 2


def assert_same(run: OpenRun, act: Callable[[OpenRun], Json], expected: Json) -> None:
    before = picture(run.root)
    found = act(run)
    assert found == expected, run.died
    if "error" in found and found["picture"] == before:
        return  # refused, and nothing was changed
    run.journal.verify()
    if "error" not in found:
        assert not any(each.is_open for each in run.journal.runs()), run.died
