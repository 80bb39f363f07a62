"""A change that dies before each of its effects in turn, on a table that is restored each time, whatever its format."""

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
from tests.support.execution.dying import Death, Life, MortalJournal, MortalStore

Check = Callable[[Life], None]
"""Looks at what a death left; what it is compared with was taken before."""


@dataclass
class Stage:
    """A table to be restored (`copied`) again and again at one place, and `opened` with all kept that was decoded."""

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
        """The table as the next process sees it."""
        return self.opened(Store(str(self.root)))

    def run_clean(self, change: Change) -> Receipt:
        """The change without any death."""
        table, journal = self.fresh(Life())
        receipt = apply(table, table.preview(change, self.now_ms), settle_s=0, journal=journal)
        assert receipt.outcome == "done"
        return receipt

    def deaths(
        self, change: Change, watch: Callable[[Plan], Check], *, is_fault: bool = False
    ) -> Iterator[tuple[Life, Journal, Table]]:
        """The change, dead before each of its effects in turn; what stays of it is looked at after every death."""
        for left in range(1_000):
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
        raise AssertionError("no end was reached")


def open_run(journal: Journal) -> str | None:
    found = [run for run in journal.runs() if run.is_open]
    assert len(found) <= 1
    return found[0].id if found else None
