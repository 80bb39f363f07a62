"""The journal of runs: written and synced before the first effect, append-only, each entry chained to the last by hash.

One SQLite file (WAL, full sync) in the state directory keeps for every run: who, when, the plan, the exact bytes of
every deleted reference, the files planned to be freed, every deleted path, the receipt. Resume and undo work from it,
and auditors read it. Invariant: nothing in it is ever updated or deleted; triggers reject that.
"""

from __future__ import annotations

import csv
import errno
import io
import json
import shutil
import socket
import sqlite3
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.credentials import masked
from core.errors import Corrupt, NotFound, SnapscopeError
from core.execution.journal_watch import BUSY, STARTED_BY, Watch, append, digests, hash_of, unknown_in, write_ahead
from core.messages import message
from core.model.actions import KINDS, Change
from core.paths import JOURNAL, private_file, state_dir, user_name
from core.safe_text import harmless
from core.urls import is_text, place

# Event types; a run is open until one of ENDS.
STARTED, SENT, REMOVED, SWEEPING, SWEPT = "started", "commit sent", "references removed", "sweep started", "swept"
FAILED, CANCELLED, DONE, UNDONE = "failed", "cancelled", "done", "undone"
RESUMED, UNDOING = "resumed", "undo started"  # written before anything else that an attempt does
ENDS = (DONE, UNDONE)

_TABLES = """
create table if not exists runs (
  id text primary key, who text not null, table_location text not null, change_kind text not null,
  plan text not null, fingerprint text not null, started_ms integer not null);
create table if not exists removed (run text not null, number integer not null, path text not null,
  content blob not null, primary key (run, number));
create table if not exists frees (run text not null, path text not null, kind text not null, bytes integer not null,
  primary key (run, path));
create table if not exists events (number integer primary key, run text not null, at_ms integer not null,
  what text not null, detail text not null, hash text not null);
create index if not exists events_of_run on events (run, number);
"""
_EVENTS = "select number, run, at_ms, what, detail, hash from events"
_GUARDS = "".join(
    f"create trigger if not exists {table}_{verb} before {verb} on {table} "
    "begin select raise(abort, 'the journal is append-only'); end;\n"
    for table in ("runs", "removed", "frees", "events")
    for verb in ("update", "delete")
)


BUSY_S = 30.0  # how many seconds to wait for another writer of the journal
_NEEDED = 1 << 16  # bytes; SQLite begins with 32 KiB beside the journal


@dataclass(frozen=True)
class Run:
    """One run as the journal records it. `frees` are (path, kind, bytes), `removed` (path, exact bytes)."""

    id: str
    who: str
    table: str
    change_kind: str
    plan: Mapping[str, Any] = field(repr=False)
    fingerprint: str
    started_ms: int
    state: str  # its last event; `SWEEPING` from the sweep's start to the run's end, unless it was cancelled
    is_swept: bool  # files may have been deleted, in this attempt or an earlier one
    ended_ms: int | None
    receipt: Mapping[str, Any] | None = field(repr=False)
    problem: str | None
    others: tuple[str, ...] = ()  # who else resumed, cancelled or undid it; older journals do not say

    @property
    def is_open(self) -> bool:
        return self.state not in ENDS

    @property
    def change(self) -> Change:
        """The action as requested. Raises `Corrupt` if this version does not know it."""
        given = self.plan["change"]
        if (unknown := unknown_in(self.change_kind, KINDS.get(self.change_kind), given)) is not None:
            said = message("Run {run} is a change that this version of Snapscope does not know: {change}.",
                        run=self.id, change=unknown)  # fmt: skip
            raise Corrupt(said, path=self.table, remedy=STARTED_BY)
        kept: dict[str, Any] = {name: tuple(each) if isinstance(each, list) else each for name, each in given.items()}
        return KINDS[self.change_kind](**kept)

    @property
    def can_undo(self) -> bool:
        """Whether the run can be undone: until the sweep starts, every reference can be written back."""
        return self.is_open and not self.is_swept


class Journal:
    """The journal at one path. Each call opens its own connection, so threads and processes may share it.

    Invariant: a run continues only in the file in which it was started, with all its entries intact: see `check`.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or state_dir() / JOURNAL
        self._watch = Watch(self.path)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(private_file(self.path), timeout=BUSY_S, isolation_level=None)) as connection:
                write_ahead(connection, BUSY_S)
                connection.execute("pragma synchronous = full")
                connection.executescript(_TABLES + _GUARDS)
                yield connection
        except (sqlite3.DatabaseError, OSError) as error:
            raise self._unusable(error) from error

    @contextmanager
    def _open_checked(self, run: str) -> Iterator[sqlite3.Connection]:
        """Open the journal of a run in progress: never create it, and require the same file before and after."""
        try:
            self._watch.refuse_another(run)
            uri = f"{self.path.absolute().as_uri()}?mode=rw"
            with closing(sqlite3.connect(uri, timeout=BUSY_S, isolation_level=None, uri=True)) as connection:
                connection.execute("pragma synchronous = full")
                connection.execute("begin immediate")
                self._watch.refuse_other_entries(connection, run)
                yield connection
                connection.execute("commit")
                self._watch.refuse_another(run)
                self._watch.see(connection, run)
        except FileNotFoundError as error:
            raise self._watch.lost(run, message("it no longer exists")) from error
        except (sqlite3.DatabaseError, OSError) as error:
            if _code(error) in BUSY or self._is_full(error):
                raise self._unusable(error, run) from error
            raise self._watch.lost(run, str(error)) from error

    def _is_there(self) -> bool:
        """Whether anything was ever written; only a missing file means no."""
        try:
            self.path.stat()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise self._unusable(error) from error
        return True

    def _is_full(self, error: Exception) -> bool:
        """Whether the disk has no space left. SQLite calls some of these failures an input or output error."""
        code = _code(error)
        if code == sqlite3.SQLITE_FULL or getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
            return True
        return code == sqlite3.SQLITE_IOERR and shutil.disk_usage(self.path.parent).free < _NEEDED

    def _unusable(self, error: Exception, run: str | None = None) -> Corrupt:
        """The error for a journal that fails. `run`: the run in progress, which continues if it is full or busy."""
        busy_s = BUSY_S if _code(error) in BUSY else None
        return self._watch.unusable(error, run, busy_s, is_full=self._is_full(error))

    # writing --------------------------------------------------------------------------------------------------------

    def start(
        self,
        table: str,
        change_kind: str,
        plan: Mapping[str, Any],
        removes: Sequence[tuple[str, bytes]],
        frees: Sequence[tuple[str, str, int]],
        run: str = "",
    ) -> str:
        """Start a run and return its id, which may be given. Everything is on disk when this returns."""
        run = run or new_id()
        who = _who()
        now = _now_ms()
        with self._open() as connection:
            connection.execute("begin immediate")
            text = json.dumps(plan)
            row = (run, who, table, change_kind, text, str(plan["fingerprint"]), now)
            connection.execute("insert into runs values (?, ?, ?, ?, ?, ?, ?)", row)
            connection.executemany(
                "insert into removed values (?, ?, ?, ?)",
                [(run, number, path, content) for number, (path, content) in enumerate(removes)],
            )
            connection.executemany("insert into frees values (?, ?, ?, ?)", [(run, *each) for each in frees])
            detail = {"who": who, "table": table, "change": plan["change"], "fingerprint": plan["fingerprint"]}
            append(connection, run, now, STARTED, {**detail, **digests(text, removes, frees)})
            connection.execute("commit")
            self._watch.see(connection, run)
        return run

    def add(self, run: str, what: str, detail: Mapping[str, Any]) -> str:
        """Append an event, with who caused it, and return the new head hash. Raises `Corrupt` as `check` does."""
        with self._open_checked(run) as connection:
            return append(connection, run, _now_ms(), what, {**detail, "who": _who()})

    def failed(self, run: str, what: str, error: BaseException) -> None:
        """Append that a run failed or was undone. If even that fails, add a note to the error."""
        problem = str(error) if isinstance(error, SnapscopeError) else masked(f"{type(error).__name__}: {error}")
        try:
            self.add(run, what, {"problem": problem})
        except SnapscopeError as failure:
            if str(failure) != problem:
                error.add_note(str(failure))

    def check(self, run: str) -> None:
        """Raise `Corrupt` if this is no longer the file in which the run was started, or if entries are missing."""
        with self._open_checked(run):
            pass

    # reading --------------------------------------------------------------------------------------------------------

    def runs(self, table: str | None = None) -> list[Run]:
        """All runs, newest first, of one table, however its location was spelled, or of all."""
        if not self._is_there() or not is_text(table or ""):  # nothing is recorded of a location that is no text
            return []
        with self._open() as connection:
            connection.create_function("place", 1, place, deterministic=True)
            rows = connection.execute(
                "select id, who, table_location, change_kind, plan, fingerprint, started_ms from runs "
                "where ? is null or place(table_location) = ? order by started_ms desc, rowid desc",
                (table, table and place(table)),
            ).fetchall()
            return [_run(connection, row) for row in rows]

    def run(self, run_id: str) -> Run:
        """One run by its id. Raises `NotFound` if there is none.

        From here on the run must continue in this very file.
        """
        found = next((each for each in self.runs() if each.id == run_id), None)
        if found is None:
            raise NotFound(
                "The journal has no run {run_id!r}.",
                run_id=run_id,
                path=str(self.path),
                remedy="`snapscope audit` lists runs.",
            )
        with self._open() as connection:
            self._watch.see(connection, run_id)
        return found

    def open_run(self, table: str) -> Run | None:
        """The unfinished run of a table, or None."""
        return next((each for each in self.runs(table) if each.is_open), None)

    def removed(self, run_id: str) -> list[tuple[str, bytes]]:
        """The references that a run deletes with their exact bytes, in order of deletion."""
        with self._open() as connection:
            rows = connection.execute("select path, content from removed where run = ? order by number", (run_id,))
            return [(path, bytes(content)) for path, content in rows]

    def frees(self, run_id: str) -> list[tuple[str, str, int]]:
        """The files that a run planned to free: (path, kind, bytes)."""
        with self._open() as connection:
            rows = connection.execute("select path, kind, bytes from frees where run = ? order by rowid", (run_id,))
            return [tuple(row) for row in rows]

    def events(self, run_id: str | None = None) -> list[dict[str, Any]]:
        """Events in order, of one run or of all: number, run, at_ms, what, detail, hash."""
        if not self._is_there():
            return []
        with self._open() as connection:
            rows = connection.execute(
                f"{_EVENTS} where ? is null or run = ? order by number", (run_id, run_id)
            ).fetchall()
        names = ("number", "run", "at_ms", "what", "detail", "hash")
        return [{**dict(zip(names, row, strict=True)), "detail": json.loads(row[4])} for row in rows]

    def entries(self) -> int:
        """The number of events in the journal."""
        if not self._is_there():
            return 0
        with self._open() as connection:
            return int(connection.execute("select count(*) from events").fetchone()[0])

    def deleted(self, run_id: str, after: int = 0) -> list[str]:
        """Every path that a run deleted, in order, by its entries after the one of this number."""
        return [
            path
            for event in self.events(run_id)
            if event["what"] in (REMOVED, SWEPT) and event["number"] > after
            for path in event["detail"].get("deleted", [])
        ]

    def verify(self) -> str:
        """Verify the whole chain and return its head hash. Raises `Corrupt` at the first altered entry or run."""
        if not self._is_there():
            return ""
        with self._open() as connection:
            connection.execute("begin")  # a consistent read, even if others write meanwhile
            events = connection.execute(f"{_EVENTS} order by number").fetchall()
            runs = connection.execute("select id, who, table_location, fingerprint, plan from runs").fetchall()
            removed: dict[str, list[tuple[str, bytes]]] = {}
            for run, path, content in connection.execute("select run, path, content from removed order by run, number"):
                removed.setdefault(run, []).append((path, bytes(content)))
            frees: dict[str, list[tuple[str, str, int]]] = {}
            for run, *row in connection.execute("select run, path, kind, bytes from frees order by rowid"):
                frees.setdefault(run, []).append((row[0], row[1], row[2]))
        kept = {run: (who, table, fingerprint) for run, who, table, fingerprint, _ in runs}
        plans = {run: plan for run, *_, plan in runs}
        head, started = "", set[str]()
        for number, run, at_ms, what, text, found in events:
            if hash_of(head, run, at_ms, what, text) != found:
                raise Corrupt(
                    "Journal entry {number} was altered: its hash does not match.",
                    number=number,
                    path=str(self.path),
                )
            head = found
            if what != STARTED and run not in started:
                raise Corrupt(
                    "Journal entry {number} belongs to run {run}, but no earlier entry starts that run.",
                    number=number,
                    run=run,
                    path=str(self.path),
                )
            started.add(run)
            if what == STARTED:
                detail = json.loads(text)
                written = (detail["who"], detail["table"], detail["fingerprint"])
                now = digests(plans.get(run, ""), removed.get(run, ()), frees.get(run, ()))
                same = all(detail.get(each, digest) == digest for each, digest in now.items())  # older ones lack some
                if kept.pop(run, None) != written or not same:
                    raise Corrupt(
                        "Run {run} was altered: the journal no longer has what it was started with.",
                        run=run,
                        path=str(self.path),
                    )
        for run in kept:
            raise Corrupt("The journal has no entry that starts run {run}.", run=run, path=str(self.path))
        return head

    def export(self, style: str) -> str:
        """All events as JSON, or as CSV with one line per event."""
        events = self.events()
        if style == "json":
            return json.dumps(events, indent=1)
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")  # a carriage return would be escaped on its way to a terminal
        writer.writerow(["number", "run", "at_ms", "what", "detail", "hash"])
        for event in events:
            writer.writerow(map(harmless, [*list(event.values())[:4], json.dumps(event["detail"]), event["hash"]]))
        return out.getvalue()


def new_id() -> str:
    """Return an id for a run."""
    return uuid.uuid4().hex[:12]


def _run(connection: sqlite3.Connection, row: tuple[Any, ...]) -> Run:
    query = "select what, at_ms, detail from events where run = ? and what <> ? order by number"
    found = connection.execute(query, (row[0], SWEPT)).fetchall()
    people = [json.loads(each[2]).get("who", row[1]) for each in found]
    events = [each for each in found if each[0] not in (SENT, RESUMED, UNDOING)]
    what, at_ms, detail = events[-1]
    last = json.loads(detail)
    last.pop("who", None)
    is_swept = any(event[0] == SWEEPING for event in events)
    return Run(
        id=row[0],
        who=row[1],
        table=row[2],
        change_kind=row[3],
        plan=json.loads(row[4]),
        fingerprint=row[5],
        started_ms=row[6],
        state=SWEEPING if is_swept and what in (REMOVED, FAILED) else what,
        is_swept=is_swept,
        ended_ms=at_ms if what in ENDS else None,
        receipt=last if what == DONE else None,
        problem=last.get("problem"),
        others=tuple(dict.fromkeys(who for who in people if who != row[1])),
    )


def _code(error: Exception) -> int:
    """The primary result code of SQLite; 0 if the error is another's."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _who() -> str:
    return f"{user_name()}@{socket.gethostname()}"


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
