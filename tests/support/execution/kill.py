"""Kills the real command line with SIGKILL during an expiry, and lets another process recover.

In each case, the table is copied, `snapscope expire` is started on it and killed at a moment observed on disk. The run
is then resumed, undone, or resumed after another process rolled the table back and reused the ids of removed snapshots.
"""

from __future__ import annotations

import copy
import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from core.execution.journal import REMOVED, Journal
from core.model.actions import Expire
from core.model.plan import Plan
from core.table import open_table
from tests.support import set_model
from tests.support.builders import TableBuilder
from tests.support.execution import ground, processes
from tests.support.execution.processes import Process

COMMITS, FILES_EACH, KEPT = 80, 60, 5
DAYS = tuple((f"2026-01-0{day}",) for day in range(1, 5))
TOO_LONG = "1 h"  # grace period; a process that waits this long is killed while waiting at the latest
ATTEMPTS = 20


@dataclass(frozen=True)
class Moment:
    """When to kill: at the n-th deleted reference, while waiting for writers, or at the n-th deleted file. `share` is
    the position among all of them, from 0 to 1."""

    during: str  # "references", "settling" or "sweep"
    share: float = 0.0


@dataclass(frozen=True)
class Killed:
    """The state that a killed process left."""

    root: Path
    table: TableBuilder
    state: Path
    run: str
    died: str  # the last journal entry

    @property
    def journal(self) -> Journal:
        return Journal(self.state / "journal.sqlite")


class Stage:
    """A table whose expiry takes long enough to be interrupted, its plan, and the result of a complete run."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.table = _large_table(ground.warehouse(directory / "good"))
        self.plan: Plan = open_table(str(self.table.root)).preview(
            Expire(retain_max=KEPT, retain_min=KEPT), ground.LATE_MS
        )
        self.frees = [path for path in self.plan.frees["path"].to_pylist() if path not in dict(self.plan.removes)]
        assert len(self.frees) > 3_000, "several batches"
        self.tries = 0
        self.clean_root, self.clean = self.fresh()
        done = self.expire(self.clean_root, self.directory / "clean-state").end()
        assert (done.status, done.document["receipt"]["outcome"]) == (0, "done"), done
        assert ground.broken(self.clean_root) == []

    def fresh(self) -> tuple[Path, TableBuilder]:
        """Copy the table and its builder's state."""
        self.tries += 1
        root = ground.warehouse(self.directory / f"try{self.tries}")
        _copy(self.table.root, root)
        table = copy.deepcopy(self.table)
        table._shared.root = root
        for line in table._shared.lines:
            line.path = root / line.path.relative_to(self.table.root)
        return root, table

    def forget(self, root: Path) -> None:
        shutil.rmtree(root.parents[1])

    def words(self, root: Path, settle: str) -> list[str]:
        keep = ["--retain-max", str(KEPT), "--retain-min", str(KEPT)]
        return ["expire", str(root), *keep, "--now", str(ground.LATE_MS), "--yes", "--settle", settle]

    def expire(self, root: Path, state: Path, settle: str = "0 s") -> Process:
        return Process([*processes.CLI, *self.words(root, settle), "--json"], state)

    # killed ----------------------------------------------------------------------------------------------------------

    def kill(self, moment: Moment) -> Killed:
        """Kill an expiry at a given moment. If the process completes before, try again a little earlier."""
        share = moment.share
        for _ in range(ATTEMPTS):
            root, table = self.fresh()
            state = root.parents[1] / "state"
            process = self.expire(root, state, "0 s" if moment.during == "sweep" else TOO_LONG)
            try:
                processes.seen(self._condition(Moment(moment.during, share), root, state), process)
            finally:
                status = process.kill()
            if status == -9 and (run := Journal(state / "journal.sqlite").open_run(str(root))):
                ground.gone_for_good(table)
                return Killed(root, table, state, run.id, run.state)
            assert status in (0, -9), "it fell by itself"
            assert ground.disk(root) == ground.disk(self.clean_root), "it had ended, so it was a clean run"
            self.forget(root)
            share *= 0.7
        raise AssertionError(f"an expiry could not be caught {moment} in {ATTEMPTS} attempts")

    def _condition(self, moment: Moment, root: Path, state: Path) -> Callable[[], bool]:
        if moment.during == "settling":
            return lambda: REMOVED in _entries(state)
        paths = [path for path, _ in self.plan.removes] if moment.during == "references" else self.frees
        path = root / paths[int(moment.share * (len(paths) - 1))]
        return lambda: not path.exists()

    # afterwards ------------------------------------------------------------------------------------------------------

    def resume(self, killed: Killed) -> None:
        """Resume in a new process: the disk must be that of a complete run."""
        self._is_guarded(killed)
        _resume(killed)
        assert _disk(killed.root) == _disk(self.clean_root)
        assert _contents(killed.root) == _contents(self.clean_root)

    def kill_again(self, killed: Killed, share: float) -> bool:
        """Kill a resume as well; False if it completed before."""
        path = killed.root / self.frees[int(share * (len(self.frees) - 1))]
        words = ["resume", killed.run, "--settle", "0 s", "--json"]
        process = Process([*processes.CLI, *words], killed.state)
        try:
            processes.seen(lambda: not path.exists(), process)
        finally:
            status = process.kill()
        assert status in (0, -9), "it fell by itself"
        assert ground.broken(killed.root) == []
        is_open = killed.journal.open_run(str(killed.root)) is not None
        assert is_open or _disk(killed.root) == _disk(self.clean_root)
        return is_open

    def undo(self, killed: Killed) -> bool:
        """Undo in a new process: every reference and hint is restored byte for byte. Returns False if files
        had already been deleted; undo must then say so."""
        if not killed.journal.run(killed.run).can_undo:
            done = processes.run(killed.state, "undo", killed.run)
            assert done.status == 1
            assert "it has started to delete files" in str(done.document)
            self.resume(killed)
            return False
        self._is_guarded(killed)
        done = processes.run(killed.state, "undo", killed.run)
        assert done.status == 0, done
        assert _disk(killed.root) == _disk(self.table.root)
        assert _contents(killed.root) == _contents(self.table.root)
        assert ground.broken(killed.root) == []
        killed.journal.verify()
        assert killed.journal.open_run(str(killed.root)) is None
        return True

    def reuse(self, killed: Killed, chance: random.Random) -> None:
        """Roll back to an old tag and commit until ids of removed snapshots are reused; then resume.

        New files must stay unchanged. If all references were gone, the result is that of a complete run followed by the
        same actions; otherwise, only planned files that nothing holds may be gone.
        """
        commits = chance.randrange(KEPT, COMMITS // 3)
        _live_on(killed.table, commits)
        before, files = ground.references(killed.root), ground.files(killed.root)
        _resume(killed)
        assert processes.run(killed.state, "audit", "--verify").document["intact"] is True
        after = ground.references(killed.root)
        planned = dict(self.plan.removes)
        assert {path: after.get(path) for path in before if before[path] != planned.get(path)} == {
            path: content for path, content in before.items() if content != planned.get(path)
        }
        assert after.keys() <= before.keys()
        held = set_model.read(killed.root).paths()
        assert _without_litter(files) - ground.files(killed.root) == (set(self.frees) & files) - held
        if killed.died in ("sweep started", REMOVED):
            assert after == before, "all that went had gone, so whatever is there was made since"
            root, table = self.fresh()
            shutil.rmtree(root)
            _copy(self.clean_root, root)
            ground.gone_for_good(table)
            _live_on(table, commits)
            assert _disk(killed.root) == _disk(root)
            assert _contents(killed.root) == _contents(root)
            self.forget(root)

    def _is_guarded(self, killed: Killed) -> None:
        """Check that the killed run lost nothing, and that requesting it again is answered by "resume or undo
        first"."""
        assert ground.broken(killed.root) == []
        done = processes.run(killed.state, *self.words(killed.root, "0 s"))
        assert done.status == 1
        assert "has not finished" in str(done.document)


def _resume(killed: Killed) -> None:
    done = processes.run(killed.state, "resume", killed.run, "--settle", "0 s")
    assert (done.status, done.document["outcome"]) == (0, "done"), done
    assert done.document["problems"] == []
    assert ground.broken(killed.root) == []
    assert killed.journal.verify() == done.document["journal_head"]
    assert killed.journal.open_run(str(killed.root)) is None


def _copy(source: Path, target: Path) -> None:
    """Copy the references. The files they hold are never overwritten, only deleted, so hard links are enough."""

    def link_or_copy(path: str, to: str) -> str:
        is_held = os.path.relpath(path, source).split(os.sep)[0] not in ground.OWN
        return os.link(path, to) or to if is_held else shutil.copy2(path, to)

    shutil.copytree(source, target, copy_function=link_or_copy)


def _live_on(table: TableBuilder, commits: int) -> None:
    ground.roll_back(table, 2, tag="early")
    for number in range(commits):
        table.commit([table.file(5_000 + number, rows=500 + number, partition=DAYS[0])])


def _large_table(root: Path) -> TableBuilder:
    """Create a table in which each commit replaces the files of one of four days, with an early tag, a late one, and a
    branch."""
    table = TableBuilder(root, partition_keys=["dt"])
    for number in range(COMMITS):
        day = DAYS[number % len(DAYS)]
        old = [file for file in table.live() if file.partition == day]
        new = [table.file(1_000 + number, rows=10 + each, partition=day) for each in range(FILES_EACH)]
        table.commit(new, old, kind="OVERWRITE" if old else "APPEND")
        if number == 1:
            table.tag("early")
        if number == COMMITS // 2:
            table.tag("half")
            branch = table.branch("b", "half")
            branch.commit([branch.file(1_500, rows=150, partition=day)])
    return table


def _entries(state: Path) -> list[str]:
    """Read the journal entries written so far, as another program would."""
    path = state / "journal.sqlite"
    if not path.is_file():
        return []
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)) as connection:
            return [what for (what,) in connection.execute("select what from events order by number")]
    except sqlite3.OperationalError:
        return []  # it is being created


def _without_litter(paths: frozenset[str]) -> frozenset[str]:
    """Ignore temporary files of interrupted writes; they are harmless, and every reader skips their names."""
    return frozenset(path for path in paths if not path.endswith(".tmp"))


def _disk(root: Path) -> frozenset[str]:
    return _without_litter(ground.disk(root))


def _contents(root: Path) -> dict[str, bytes]:
    """Return the bytes of all references and hints."""
    hints = {path: (root / path).read_bytes() for path in _disk(root) if path.endswith(("/EARLIEST", "/LATEST"))}
    return {path: data for path, data in ground.references(root).items() if not path.endswith(".tmp")} | hints
