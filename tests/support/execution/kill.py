"""`kill -9` of the real command line in the middle of an expiry, and what another process makes of it afterwards.

A case: the table is copied, `snapscope expire` is started on it and killed at a moment that is seen on disk; then it is
resumed, taken back, or resumed after another hand rolled the table back and used the ids of removed snapshots again.
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
TOO_LONG = "1 h"  # to settle: whoever waits that long is killed while waiting, at the latest
ATTEMPTS = 20


@dataclass(frozen=True)
class Moment:
    """When to kill: at the n-th reference that goes, while writers are waited for, or at the n-th file of the sweep.
    `share` is where among all of them, from 0 to 1."""

    during: str  # "references", "settling" or "sweep"
    share: float = 0.0


@dataclass(frozen=True)
class Killed:
    """What a killed process left."""

    root: Path
    table: TableBuilder
    state: Path
    run: str
    died: str  # what the journal said last

    @property
    def journal(self) -> Journal:
        return Journal(self.state / "journal.sqlite")


class Stage:
    """A table whose expiry takes long enough to be caught, its plan, and the end of a clean run."""

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
        """A copy of the table, and of what its builder knows."""
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
        """Kill an expiry at a moment. A process that got to its end before is tried again, a little earlier."""
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
        """Carried on by a new process: the disk is that of a clean run."""
        self._is_guarded(killed)
        _resume(killed)
        assert _disk(killed.root) == _disk(self.clean_root)
        assert _contents(killed.root) == _contents(self.clean_root)

    def kill_again(self, killed: Killed, share: float) -> bool:
        """Kill a resume, too; False where it got to its end before."""
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
        """Taken back by a new process: every reference and hint is there again, byte for byte; False, and told, where
        files had begun to go."""
        if not killed.journal.run(killed.run).can_undo:
            done = processes.run(killed.state, "undo", killed.run)
            assert done.status == 1
            assert "sweep has started" in str(done.document)
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
        """Rolled back to an old tag and committed on until ids of removed snapshots name something new; then resumed.

        What is new stays as it is. Where all references had gone, the end is that of a clean run to which the same
        was done; else at least nothing went but what was planned and nobody holds.
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
        """What was killed lost nothing, and whoever asks for the same again is told to finish it, or take it back."""
        assert ground.broken(killed.root) == []
        done = processes.run(killed.state, *self.words(killed.root, "0 s"))
        assert done.status == 1
        assert "unfinished" in str(done.document)


def _resume(killed: Killed) -> None:
    done = processes.run(killed.state, "resume", killed.run, "--settle", "0 s")
    assert (done.status, done.document["outcome"]) == (0, "done"), done
    assert done.document["problems"] == []
    assert ground.broken(killed.root) == []
    assert killed.journal.verify() == done.document["journal_head"]
    assert killed.journal.open_run(str(killed.root)) is None


def _copy(source: Path, target: Path) -> None:
    """References are copied. What they hold is never written again, only deleted: a second link will do."""

    def link_or_copy(path: str, to: str) -> str:
        is_held = os.path.relpath(path, source).split(os.sep)[0] not in ground.OWN
        return os.link(path, to) or to if is_held else shutil.copy2(path, to)

    shutil.copytree(source, target, copy_function=link_or_copy)


def _live_on(table: TableBuilder, commits: int) -> None:
    ground.roll_back(table, 2, tag="early")
    for number in range(commits):
        table.commit([table.file(5_000 + number, rows=500 + number, partition=DAYS[0])])


def _large_table(root: Path) -> TableBuilder:
    """Each commit replaces the files of one of four days; an early tag, a late one, and a branch."""
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
    """What the journal says so far, read as any other program reads a file."""
    path = state / "journal.sqlite"
    if not path.is_file():
        return []
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)) as connection:
            return [what for (what,) in connection.execute("select what from events order by number")]
    except sqlite3.OperationalError:
        return []  # it is being made


def _without_litter(paths: frozenset[str]) -> frozenset[str]:
    """A temporary file of a write that was cut off harms nothing, and every reader passes over its name."""
    return frozenset(path for path in paths if not path.endswith(".tmp"))


def _disk(root: Path) -> frozenset[str]:
    return _without_litter(ground.disk(root))


def _contents(root: Path) -> dict[str, bytes]:
    """The bytes of all references and hints."""
    hints = {path: (root / path).read_bytes() for path in _disk(root) if path.endswith(("/EARLIEST", "/LATEST"))}
    return {path: data for path, data in ground.references(root).items() if not path.endswith(".tmp")} | hints
