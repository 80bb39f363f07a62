"""Plans and runs on a store that returns wrong results, with a table that is restored each time."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from core.errors import SnapscopeError
from core.execution import recovery, replanned
from core.execution.apply import apply
from core.execution.delete_files import Receipt
from core.execution.journal import Journal
from core.model.actions import (
    Change,
    CleanOrphans,
    DeleteTags,
    Expire,
)
from core.paths import cache_dir
from core.table import Table
from tests.support.builders import TableBuilder
from tests.support.execution import ground
from tests.support.execution.lying import Lies, lying_table

NOW = ground.LATE_MS


CHANGES: dict[str, Change] = {
    "expire": Expire(retain_max=2, retain_min=1, drop_tags=("early",)),
    "delete-tag": DeleteTags(("early",)),
    "orphans": CleanOrphans(older_than_ms=NOW),
}


@dataclasses.dataclass
class Stage:
    """A table that is restored again and again in the same place. Only decoded content is forgotten."""

    good: Path
    root: Path
    journals: Path
    tries: int = 0
    may_go: frozenset[str] = frozenset()  # references, according to the plan of a clean run

    def fresh(self) -> Journal:
        ground.copied(self.good, self.root)
        shutil.rmtree(cache_dir(), ignore_errors=True)
        self.tries += 1
        return Journal(self.journals / f"{self.tries}.sqlite")


def _table(good: Path) -> TableBuilder:
    """Create five commits with an overwrite, an index and a changelog; tags on an expired snapshot and on the third; a
    branch with its own commit; and an orphan file."""
    table = TableBuilder(good)
    table.commit([table.file(extra=[".index"]), table.file()], index=[table.index_file()])
    table.tag("early", 1)
    table.commit([table.file()], table.live()[:1], kind="OVERWRITE", changelog=[table.file(prefix="changelog-")])
    table.commit([table.file(source=1)], table.live(), kind="COMPACT", index=[table.index_file(), table.index_file()])
    table.tag("kept", 3)
    branch = table.branch("b", "kept")
    branch.commit([branch.file()])
    table.commit([table.file()], index=[table.index_file()])
    table.commit([table.file()], statistics=True)
    table.expire([1])
    (good / "bucket-0/data-00000000-0000-4000-8000-000000000001-0.parquet").write_bytes(b"left behind")
    return table


def made(directory: Path) -> Stage:
    good = ground.warehouse(directory / "good")
    _table(good)
    return Stage(good, ground.warehouse(directory / "stage"), directory)


def go(table: Table, change: Change, journal: Journal) -> Receipt:
    return apply(table, table.preview(change, NOW), settle_s=0, journal=journal)


def finish(root: Path, change: Change, journal: Journal) -> None:
    """Do what a user does once the store works again: resume the open run, repeat the request, clean orphans."""
    table = lying_table(root, Lies())
    for run in journal.runs():
        if run.is_open:
            receipt = recovery.resume(run.id, open_table=lambda _: table, settle_s=0, journal=journal)
            assert receipt.outcome == "done"
    left = replanned.of_what_is_left(change, table.heads())
    if not isinstance(left, DeleteTags) or left.names:
        go(table, left, journal)
    receipt = go(table, CleanOrphans(older_than_ms=NOW), journal)
    assert receipt.outcome == "done", receipt


def end_of_a_clean_run(stage: Stage, change: Change) -> tuple[frozenset[str], dict[str, bytes], int]:
    """Return the files on disk, the references, and the number of calls of a clean run."""
    journal, lies = stage.fresh(), Lies()
    table = lying_table(stage.root, lies)
    plan = table.preview(change, NOW)
    stage.may_go = frozenset(path for path, _ in plan.removes)
    receipt = apply(table, plan, settle_s=0, journal=journal)
    assert receipt.is_exact
    assert receipt.deleted
    finish(stage.root, change, journal)
    assert ground.broken(stage.root) == []
    return ground.disk(stage.root), ground.references(stage.root), len(lies.calls)


def attempt(stage: Stage, change: Change, lies: Lies) -> tuple[Journal, Receipt | None]:
    """Plan and apply with these faults: whatever happens, no version that stays may lose a file."""
    journal = stage.fresh()
    receipt = None
    with contextlib.suppress(SnapscopeError):
        receipt = go(lying_table(stage.root, lies), change, journal)
    assert ground.broken(stage.root) == [], lies
    before, after = ground.references(stage.good), ground.references(stage.root)
    assert before.keys() - after.keys() <= stage.may_go, lies
    return journal, receipt


def hidden(*paths: str) -> Callable[[str, frozenset[str]], frozenset[str]]:
    """Hide these paths from listings."""
    return lambda directory, names: (
        names - {os.path.basename(each) for each in paths if os.path.dirname(each) == directory}
    )
