"""Kills a writer with SIGKILL during a commit, and checks what the next writer finds.

In each case, one of our processes commits to a table and records each result; it kills itself where it creates a file
of a given kind, or a few system calls later, so at any step of a commit. Watching the disk from outside would not do:
some of these files exist for microseconds. Afterwards every snapshot must be complete, every acknowledged commit must
exist exactly once, leftover files must not be referenced, and the interrupted commit can be retried.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import uuid
from pathlib import Path
from typing import Any

from core.formats.paimon.write import commit, publish
from core.formats.paimon.write.commit import Stamp
from core.model.references import Snapshot
from core.storage.store import Store
from tests.support.execution import ground, processes, writing

KINDS = ("manifest/manifest-list-", "manifest/manifest-", "manifest/.", "snapshot/snapshot-", "snapshot/.", "dt=d1/")
LATER_CALLS = 4  # a temporary file is opened, linked to its name and removed


def once(store: Store, number: int) -> Snapshot:
    """Commit number n: an append, a compaction or an overwrite."""
    files = [writing.new_file(store, "d1"), writing.new_file(store, "d2")]
    stamp = Stamp(number, lambda: str(uuid.uuid4()), user="killed", identifier=number)
    if number % 5 == 0:
        return commit.overwrite(store, files, [{}], stamp)
    if number % 3 == 0:
        live = commit.live_entries(store, publish.read_head(store).snapshot)
        return commit.compact(store, live, files, stamp)
    return commit.append(store, files, stamp)


def prove(directory: Path, seed: int) -> dict[str, int]:
    """Kill once and return the counts."""
    chance = random.Random(seed)
    root = ground.warehouse(directory)
    store = Store(str(root))
    options = {"manifest.merge-min-count": "3"}
    publish.create_table(store, writing.COLUMNS, partition_keys=["dt"], options=options, time_ms=1)
    words = [chance.choice(KINDS), str(chance.randrange(1, 12)), str(chance.randrange(LATER_CALLS))]
    notes = directory / "notes"
    command = [sys.executable, "-m", "tests.support.execution.kill_commits", str(root), str(notes), *words]
    with processes.started(command, directory / "state") as writer:
        assert (done := writer.end()).status == -signal.SIGKILL, done
    told = dict(json.loads(line) for line in notes.read_text().splitlines(keepends=True) if line.endswith("\n"))
    found = {number: _identifier(store, number) for number in publish.snapshot_ids(store)}
    assert list(found) == list(range(1, len(found) + 1)), "no hole"
    assert len(set(found.values())) == len(found), "each once"
    assert told.items() <= found.items(), "none is lost"
    assert len(found) - len(told) in (0, 1), "at most one was made and not answered"
    assert ground.broken(root) == []
    left = ground.unheld(root)
    is_made = len(found) > len(told)
    cut_off = max(told.values()) + 1
    assert once(store, cut_off).id == len(found) + (not is_made), "it lands once"
    assert ground.broken(root) == []
    assert left <= ground.unheld(root), "nobody takes away what another made"
    return {
        "commits killed": 1,
        "made but not answered": int(is_made),
        "snapshots whole": len(found),
        "files left over": len(left),
    }


def _identifier(store: Store, number: int) -> int:
    return int(json.loads(store.read(f"snapshot/snapshot-{number}"))["commitIdentifier"])


class _Fall:
    """Kills this process `calls` audited calls after the one that creates a file of this kind, once it `may`."""

    def __init__(self, root: str, kind: str, calls: int) -> None:
        self._start, self._left = f"{root}/{kind}", calls
        self.may = self._is_falling = False

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._is_falling:
            self._left -= 1
        elif self.may:
            self._is_falling = str(_created(event, arguments)).startswith(self._start)
        if self._is_falling and self._left == 0:  # `os.kill` is audited, too
            os.kill(os.getpid(), signal.SIGKILL)


def _created(event: str, arguments: tuple[Any, ...]) -> Any:
    """Return the path that this audited call is about to create, or None."""
    if event == "open" and arguments[2] & os.O_CREAT:
        return arguments[0]
    return arguments[1] if event in ("os.link", "os.rename") else None


def _write(store: Store, notes: Path, fall: _Fall, after: int) -> None:
    """Commit until killed; write one line per result. The first `after` commits succeed."""
    sys.addaudithook(fall)
    number = 0
    with notes.open("a") as told:
        while True:
            number += 1
            told.write(json.dumps([once(store, number).id, number]) + "\n")
            told.flush()
            fall.may = number >= after


if __name__ == "__main__":
    at, into, kind_, after_, calls_ = sys.argv[1:]
    _write(Store(at), Path(into), _Fall(at, kind_, int(calls_)), int(after_))
