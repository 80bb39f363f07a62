"""Random life cycles of a table compared with a dictionary of sets; see `machine`. `make proof` goes deeper."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.support.execution.machine import TableLife

LIVES = settings(
    max_examples=10,
    stateful_step_count=30,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],  # a failing life prints its steps; shrinking it takes minutes
)


MUST_HAPPEN = {
    "commits", "overwrites", "compactions", "upgrades", "branches", "rollbacks", "consumers", "expiries", "crashes",
    "resumed", "undone", "refused meanwhile", "their tags", "our tags", "tags deleted", "leftovers",
    "snapshots expired", "orphans cleaned",
}  # fmt: skip


@pytest.mark.slow
def test_a_tables_whole_life() -> None:
    """At least two rounds of lives, and more until each kind of event has occurred, because rare ones are rare."""
    TableLife.seen.clear()
    for number in range(12):
        run_state_machine_as_test(seed(number)(TableLife), settings=LIVES)
        missing = {what for what in MUST_HAPPEN if not TableLife.seen[what]}
        if number and not missing:
            return
    raise AssertionError(f"these never happened, so nothing was shown of them: {sorted(missing)}")
