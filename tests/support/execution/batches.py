"""Changes that delete references in batches, in any order within one, and that die before any of their effects."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from core.execution import recovery
from core.execution.apply import apply
from core.execution.journal import Journal
from core.formats.paimon.format import PaimonFormat
from core.formats.paimon.manifests import PaimonManifests
from core.model.actions import Change
from core.model.effects import DeleteIfEqual
from core.storage.store import Store
from core.table import Table
from tests.support.builders import TableBuilder
from tests.support.depth import moments
from tests.support.execution import ground
from tests.support.execution.dying import Death, Life, ManyStore, MortalJournal

NOW = ground.LATE_MS


def opened(root: Path, life: Life | None = None, seed: int = 0) -> Table:
    return Table(PaimonFormat(ManyStore(str(root), life or Life(), seed), PaimonManifests(Store(str(root)))))


class Watched(Life):
    """Calls `act` before the n-th effect whose name starts with `at`."""

    def __init__(self, at: str, act: Callable[[], object], count: int = 1) -> None:
        super().__init__()
        self.at, self.act, self.count = at, act, count

    def effect(self, what: str) -> None:
        if what.startswith(self.at):
            self.count -= 1
            if self.count == 0:
                self.act()
        super().effect(what)


def crashed(root: Path, change: Change, left: int, seed: int) -> str | None:
    """Run a change up to this many effects; return the run, or None if it came to its end."""
    life = Life()
    mortal = opened(root, life, seed)
    plan = mortal.preview(change, NOW)
    life.left, life.log = left, []
    try:
        apply(mortal, plan, settle_s=0, journal=MortalJournal(Journal().path, life))
    except Death:
        run = Journal().open_run(mortal.location)
        return run.id if run else ""
    return None


def crashed_at(root: Path, change: Change, at: str, count: int = 1, seed: int = 0) -> str:
    """Run a change up to its n-th effect whose name starts with `at`; return the run."""

    def die() -> None:
        life.is_over = True

    life = Watched(at, die, count)
    mortal = opened(root, life, seed)
    with pytest.raises(Death):
        apply(mortal, mortal.preview(change, NOW), settle_s=0, journal=MortalJournal(Journal().path, life))
    run = Journal().open_run(mortal.location)
    assert run is not None
    return run.id


def every_crash(
    table: TableBuilder, change: Change, seed: int, is_safe: Callable[[Path], bool] = lambda _: True
) -> Iterator[tuple[Path, str]]:
    """Crash the change before one of its effects, at all `moments`, each on a new copy; yield the copy and the run."""
    root = table.root.parent / "again"
    for left in moments():
        ground.copied(table.root, root)
        run = crashed(root, change, left, seed)
        if run is None:
            return
        assert is_safe(root), left
        if run:
            yield root, run


def resume(run: str, root: Path) -> None:
    receipt = recovery.resume(run, open_table=lambda _: opened(root, seed=9), settle_s=0)
    assert receipt.outcome == "done"


def shuffling(seed: int) -> Callable[[Store, Callable[[DeleteIfEqual], None], Sequence[DeleteIfEqual]], None]:
    """Return a replacement of `expired_references.each_of` that acts in another order."""
    chance = random.Random(seed)

    def shuffled(store: Store, act: Callable[[DeleteIfEqual], None], batch: Sequence[DeleteIfEqual]) -> None:
        for each in chance.sample(batch, len(batch)):
            act(each)

    return shuffled
