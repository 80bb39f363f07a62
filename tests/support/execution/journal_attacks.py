"""What can happen to a journal while a run writes to it."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from core.execution.journal import DONE, Journal

PLAN = {"change": {"names": ["v"]}, "fingerprint": "f"}


@dataclass
class Ground:
    """A journal and copies of it: `older` from before the run, `kept` from the time of the attack."""

    path: Path
    older: bytes = b""
    kept: bytes = b""
    held: list[sqlite3.Connection] = field(default_factory=list)

    def begin(self) -> None:
        """Record earlier runs and keep a copy of them as the older journal."""
        journal = Journal(self.path)
        journal.add(journal.start("/another/table", "DeleteTags", PLAN, (), ()), DONE, {})
        self.older = self.path.read_bytes()

    def attack(self, how: str) -> None:
        if not self.held:
            self.kept = self.path.read_bytes()
        ATTACKS[how](self)

    def put_back(self) -> None:
        while self.held:
            self.held.pop().close()
        shutil.rmtree(self.path.parent, ignore_errors=True)
        self.path.parent.mkdir(parents=True)
        self.path.write_bytes(self.kept)


def deleted(ground: Ground) -> None:
    ground.path.unlink()


def replaced(ground: Ground) -> None:
    """Replace the journal with someone else's valid journal."""
    other = ground.path.with_name("other.sqlite")
    Journal(other).start("/another/table", "DeleteTags", PLAN, (), ())
    os.replace(other, ground.path)


def replaced_by_an_older_copy(ground: Ground) -> None:
    copy = ground.path.with_name("copy.sqlite")
    copy.write_bytes(ground.older)
    os.replace(copy, ground.path)


def replaced_by_a_copy_of_now(ground: Ground) -> None:
    """Replace the journal with a copy of itself; later entries may go to either file."""
    copy = ground.path.with_name("copy.sqlite")
    copy.write_bytes(ground.path.read_bytes())
    os.replace(copy, ground.path)


def written_over_by_an_older_copy(ground: Ground) -> None:
    with ground.path.open("r+b") as file:  # keeps the inode
        file.write(ground.older)
        file.truncate()


def directory_moved(ground: Ground) -> None:
    ground.path.parent.rename(ground.path.parent.with_name(f"{ground.path.parent.name}-moved"))


def emptied(ground: Ground) -> None:
    os.truncate(ground.path, 0)


def cut(ground: Ground) -> None:
    os.truncate(ground.path, 8_192)


ATTACKS: dict[str, Callable[[Ground], None]] = {
    each.__name__: each
    for each in (
        deleted,
        replaced,
        replaced_by_an_older_copy,
        replaced_by_a_copy_of_now,
        written_over_by_an_older_copy,
        directory_moved,
        emptied,
        cut,
    )
}
