"""Life cycles of tables: all kinds of commits, tags, branches, rollbacks, our changes, crashes in them, resume and
undo."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.support.execution.machine import TableLife

CLAIM = (
    "After every step of a random table history no file of any version is lost, plans reclaim exactly what a model of "
    "plain sets says, and crashes are resumed or undone"
)
LIVES = settings(
    max_examples=4,
    stateful_step_count=50,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
)


def prove(number: int) -> dict[str, int]:
    TableLife.seen.clear()
    run_state_machine_as_test(seed(number)(TableLife), settings=LIVES)
    return dict(TableLife.seen)
