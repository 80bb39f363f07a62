"""Whether the journal is still the file that a run was written to: it may be deleted, moved or replaced meanwhile.

Law: what was written stays written. A file with another inode, one that does not know the run, and one that lacks the
newest entry that was seen are another journal.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from pathlib import Path

from core.errors import Corrupt
from core.messages import told


@dataclass(frozen=True, slots=True)
class Seen:
    """The file, and its newest entry when it was last looked at."""

    device: int
    inode: int
    number: int
    hash: str


@dataclass(slots=True)
class Watch:
    """What was seen of one journal, by run."""

    path: Path
    seen: dict[str, Seen] = field(default_factory=dict)

    def see(self, connection: sqlite3.Connection, run: str) -> None:
        found = self.path.stat()
        newest = connection.execute("select number, hash from events order by number desc limit 1").fetchone()
        self.seen[run] = Seen(found.st_dev, found.st_ino, *newest)

    def refuse_another(self, run: str) -> None:
        """`Corrupt` where another file stands there, `FileNotFoundError` where none does."""
        found, seen = self.path.stat(), self.seen.get(run)
        if seen is not None and (found.st_dev, found.st_ino) != (seen.device, seen.inode):
            raise self.lost(run, told("another file stands in its place"))

    def refuse_other_entries(self, connection: sqlite3.Connection, run: str) -> None:
        """`Corrupt` where the run, or what was written of it, is not there."""
        if connection.execute("select 1 from runs where id = ?", (run,)).fetchone() is None:
            raise self.lost(run, told("it does not know the run"))
        if (seen := self.seen.get(run)) is not None:
            row = connection.execute("select hash from events where number = ?", (seen.number,)).fetchone()
            if row is None or row[0] != seen.hash:
                raise self.lost(run, told("entry {number} is no longer in it", number=seen.number))

    def lost(self, run: str, why: str) -> Corrupt:
        return Corrupt(
            "The journal is not the one that run {run} was written to: {why}. No further file was deleted.",
            run=run,
            why=why,
            path=str(self.path),
            remedy=told(
                "Put the journal back as it was, then: snapscope resume {run}. If it is lost, what went stays gone, "
                "and snapscope orphans finds what the run left.",
                run=run,
            ),
        )
