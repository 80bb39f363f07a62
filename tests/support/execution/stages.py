"""Changes that crash before each of their effects in turn, on a table of any format that is restored each time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from core.errors import SnapscopeError
from core.execution.apply import apply
from core.execution.delete_files import Receipt
from core.execution.journal import Journal
from core.model.actions import Change
from core.model.plan import Plan
from core.storage.store import Store
from core.table import Table
from tests.support.depth import moments
from tests.support.execution.dying import Death, Life, MortalJournal, MortalStore

Check = Callable[[Life], None]
"""A check to run after a crash; the values it compares with were taken before."""


@dataclass
class Stage:
    """A table that is restored from `copied` each time, and `opened` with everything decoded so far."""

    good: Path
    root: Path
    journals: Path
    now_ms: int
    copied: Callable[[Path, Path], object]
    opened: Callable[[Store], Table]
    tries: int = 0

    def fresh(self, life: Life) -> tuple[Table, MortalJournal]:
        self.copied(self.good, self.root)
        self.tries += 1
        journal = MortalJournal(self.journals / f"{self.tries}.sqlite", life)
        return self.opened(MortalStore(str(self.root), life)), journal

    def again(self) -> Table:
        """Open the table as the next process would."""
        return self.opened(Store(str(self.root)))

    def run_clean(self, change: Change) -> Receipt:
        """Run the change without a crash."""
        table, journal = self.fresh(Life())
        receipt = apply(table, table.preview(change, self.now_ms), settle_s=0, journal=journal)
        assert receipt.outcome == "done"
        return receipt

    def deaths(
        self, change: Change, watch: Callable[[Plan], Check], *, is_fault: bool = False
    ) -> Iterator[tuple[Life, Journal, Table]]:
        """Run the change and crash before an effect, once for each of `moments`; check the result after each crash."""
        for left in moments():
            life = Life()
            table, journal = self.fresh(life)
            plan = table.preview(change, self.now_ms)
            life.left, life.is_fault = left, is_fault
            check = watch(plan)
            try:
                apply(table, plan, settle_s=0, journal=journal)
            except (Death, SnapscopeError):
                assert life.is_over
            if not life.is_over:
                assert left > 0, "the change does something"
                return
            check(life)
            yield life, Journal(journal.path), self.again()


def open_run(journal: Journal) -> str | None:
    found = [run for run in journal.runs() if run.is_open]
    assert len(found) <= 1
    return found[0].id if found else None
