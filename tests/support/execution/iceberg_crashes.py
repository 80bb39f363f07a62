"""Runs on a Hadoop table that died before a given effect."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.execution.apply import apply
from core.execution.journal import Journal
from core.model.actions import Change
from core.storage.store import Store
from core.table import Table
from tests.support.execution import iceberg_ground as ground
from tests.support.execution.dying import Death, Life, MortalJournal, MortalStore
from tests.support.execution.iceberg_ground import LATE_MS


def cut_off(root: Path, change: Change, at: str) -> str:
    """Start a run that dies just before its first effect whose name starts with `at`."""

    class Watched(Life):
        def effect(self, what: str) -> None:
            if what.startswith(at):
                self.left = len(self.log)
            super().effect(what)

    life = Watched()
    plan = ground.opened(Store(str(root))).preview(change, LATE_MS)
    with pytest.raises(Death):
        apply(
            ground.opened(MortalStore(str(root), life)), plan, settle_s=0, journal=MortalJournal(Journal().path, life)
        )
    run = Journal().open_run(str(root))
    assert run is not None
    return run.id


def reopened(location: str) -> Table:
    return ground.opened(Store(location))


AFTER_THE_COMMIT, BEFORE_IT = "journal: entry references removed", "create metadata"
