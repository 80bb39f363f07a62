"""Chain the journal's entries by hashes, and detect that the journal of a run was deleted, moved or replaced.

Invariant: what was written stays written. A file with another inode, without the run, or without the newest entry seen
is a different journal. Each hash covers its entry and the hash before it; the first entry of a run also covers what is
stored of it in other tables.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import sqlite3
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.errors import Corrupt
from core.messages import Message, message

BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_AGAIN_S = 0.01
ON_SPARK = "on_spark"  # in a run's document, if Spark read the metadata: it may not fit into one process


STARTED_BY = message("Resume or undo it with the version that started it.")


def resuming(run: str, *, on_spark: bool) -> str:
    """Return the command line that resumes a run."""
    return f"snapscope resume {run}{' --on-spark' if on_spark else ''}"


def undoing(run: str, *, on_spark: bool) -> str:
    """Return the command line that undoes a run."""
    return f"snapscope undo {run}{' --on-spark' if on_spark else ''}"


def how_to_end(run: str, *, on_spark: bool, can_undo: bool) -> Message:
    """Say that a run is unfinished, and how to end it."""
    resume = resuming(run, on_spark=on_spark)
    if can_undo:
        return message(
            "Run {run} is unfinished. Resume it: {resume}. Or undo it: {undo}.",
            run=run, resume=resume, undo=undoing(run, on_spark=on_spark),
        )  # fmt: skip
    return message("Run {run} is unfinished. Resume it: {resume}.", run=run, resume=resume)


@dataclass(frozen=True, slots=True)
class Seen:
    """The journal file and its newest entry when last seen."""

    device: int
    inode: int
    number: int
    hash: str


@dataclass(slots=True)
class Watch:
    """What was last seen of one journal, by run; and which runs were begun on Spark."""

    path: Path
    seen: dict[str, Seen] = field(default_factory=dict)
    on_spark: set[str] = field(default_factory=set)

    def see(self, connection: sqlite3.Connection, run: str) -> None:
        found = self.path.stat()
        if run not in self.seen:
            (plan,) = connection.execute("select plan from runs where id = ?", (run,)).fetchone()
            self.on_spark.update([run] if json.loads(plan).get(ON_SPARK) is True else [])
        newest = connection.execute("select number, hash from events order by number desc limit 1").fetchone()
        self.seen[run] = Seen(found.st_dev, found.st_ino, *newest)

    def refuse_another(self, run: str) -> None:
        """Raise `Corrupt` if the file was replaced, `FileNotFoundError` if it is missing."""
        found, seen = self.path.stat(), self.seen.get(run)
        if seen is not None and (found.st_dev, found.st_ino) != (seen.device, seen.inode):
            raise self.lost(run, message("another file has replaced it"))

    def refuse_other_entries(self, connection: sqlite3.Connection, run: str) -> None:
        """Raise `Corrupt` if the run or its entries are missing."""
        if connection.execute("select 1 from runs where id = ?", (run,)).fetchone() is None:
            raise self.lost(run, message("it does not contain the run"))
        if (seen := self.seen.get(run)) is not None:
            row = connection.execute("select hash from events where number = ?", (seen.number,)).fetchone()
            if row is None or row[0] != seen.hash:
                raise self.lost(run, message("entry {number} is missing", number=seen.number))

    def unusable(self, error: Exception, run: str | None, busy_s: float | None, *, is_full: bool) -> Corrupt:
        """The error for a journal that cannot be opened, read or written, of a run in progress or before any change.

        `busy_s`: how many seconds another process has held it, if that is the reason."""
        why = error if busy_s is None else message("another process has held it for {seconds:g} s", seconds=busy_s)
        if run is not None:
            on_spark = run in self.on_spark
            ways = {"resume": resuming(run, on_spark=on_spark), "undo": undoing(run, on_spark=on_spark)}
            return Corrupt(
                "The journal cannot be used: {why}. No further file was deleted.",
                why=why,
                path=str(self.path),
                remedy=message(
                    "When that has ended, resume the run: {resume}. Or, if it has deleted no file yet, undo it: "
                    "{undo}.",
                    **ways,
                )
                if busy_s is not None
                else message(
                    "Free space on its disk, then resume the run: {resume}. Or, if it has deleted no file yet, undo "
                    "it: {undo}.",
                    **ways,
                ),
            )
        if busy_s is not None:
            remedy = message("Try again when that has ended.")
        elif is_full:
            remedy = message(
                "Free space on its disk, or choose another state directory with SNAPSCOPE_STATE. Runs in this "
                "journal can only be resumed or undone with it."
            )
        else:
            remedy = message(
                "Make it readable, or choose another state directory with SNAPSCOPE_STATE. If you move "
                "it away, a new journal is started, but runs in the old one can only be resumed or "
                "undone with the old one."
            )
        return Corrupt(
            "The journal cannot be used: {why}. Nothing is changed without it.",
            why=why,
            path=str(self.path),
            remedy=remedy,
        )

    def lost(self, run: str, why: str) -> Corrupt:
        return Corrupt(
            ("This is not the journal that run {run} was written to: {why}. No further file was deleted."),
            run=run,
            why=why,
            path=str(self.path),
            remedy=message(
                "Restore the journal, then run: {resume}. If it is lost, deleted references stay deleted, and "
                "snapscope orphans finds the files the run left behind.",
                resume=resuming(run, on_spark=run in self.on_spark),
            ),
        )


def digests(plan: str, removes: Sequence[tuple[str, bytes]], frees: Sequence[tuple[str, str, int]]) -> dict[str, str]:
    """Digests, for a run's first entry, of what is stored in other tables."""
    references = hashlib.sha256()
    for path, content in removes:
        references.update(path.encode() + b"\0" + content)
    files = json.dumps([list(each) for each in frees])
    return {
        "references_sha256": references.hexdigest(),
        "frees_sha256": _hashed(files),
        "plan_sha256": _hashed(plan),
    }


def _hashed(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def unknown_in(name: str, kind: type | None, given: Collection[str]) -> str | None:
    """Name what the journal has of a value by that name and this version does not know: all of it, or fields.

    None if it is known. A later version may have added a condition, so nothing is left out."""
    if kind is None:
        return name
    known = {each.name for each in dataclasses.fields(kind)}
    return f"{name} ({', '.join(more)})" if (more := sorted(set(given) - known)) else None


def write_ahead(connection: sqlite3.Connection, busy_s: float) -> None:
    """Have the journal write ahead. Where it does not yet, SQLite does not wait for whoever writes it at that moment,
    such as another process that has just created it."""
    ends = time.monotonic() + busy_s
    while True:
        try:
            connection.execute("pragma journal_mode = wal")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in BUSY or time.monotonic() > ends:
                raise
        time.sleep(_AGAIN_S)


def append(connection: sqlite3.Connection, run: str, at_ms: int, what: str, detail: Mapping[str, Any]) -> str:
    row = connection.execute("select hash from events order by number desc limit 1").fetchone()
    text = json.dumps(detail, sort_keys=True)
    head = hash_of(row[0] if row else "", run, at_ms, what, text)
    connection.execute(
        "insert into events (run, at_ms, what, detail, hash) values (?, ?, ?, ?, ?)", (run, at_ms, what, text, head)
    )
    return head


def hash_of(before: str, run: str, at_ms: int, what: str, detail: str) -> str:
    return _hashed(before, run, str(at_ms), what, detail)
