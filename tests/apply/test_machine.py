"""A table's whole life at random, against a dictionary of sets: see `machine`. Deeper by `make proof`."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.apply.machine import TableLife

LIVES = settings(
    max_examples=20,
    stateful_step_count=30,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],  # a failing life prints its steps; making it shorter takes minutes
)


@pytest.mark.slow
def test_a_tables_whole_life() -> None:
    TableLife.seen.clear()
    run_state_machine_as_test(TableLife, settings=LIVES)
    wanted = (
        "commits overwrites compactions upgrades branches rollbacks consumers expiries crashes resumed undone "
        "refused.meanwhile their.tags our.tags tags.deleted leftovers snapshots.expired orphans.cleaned"
    )
    missing = [what for what in wanted.replace(".", "\0").split() if not TableLife.seen[what.replace("\0", " ")]]
    assert missing == [], "these never happened, so nothing was shown of them"
