"""A writer of ours as a process: it commits to an append table until it is told to stop, or as often as it is told.

    python -m tests.support.execution.writing TABLE USER COUNT EVERY_MS      COUNT 0: until a line comes, appends alone

It says "ready", waits for a line, and ends with one document: `commits`, [id, kind, names of the new files] of each,
and `lost`, the message of each commit that was known, or feared, to be another's.
"""

from __future__ import annotations

import json
import select
import sys
import time
import uuid
from pathlib import Path
from typing import Any

from core.errors import Conflict
from core.formats.paimon import binary_row
from core.formats.paimon.write import commit, documents
from core.formats.paimon.write.commit import Stamp
from core.formats.paimon.write.manifest_encoding import NewDataFile, SimpleStats
from core.storage.store import Store
from tests.support.execution.processes import Process

COLUMNS = (("id", "BIGINT NOT NULL"), ("amount", "DOUBLE"), ("dt", "STRING"))  # as tests.support.builders
OVERWRITES = 3  # every third commit replaces the writer's own partition


def command(table: Path, user: str, count: int = 0, every_ms: int = 0) -> list[str]:
    return [sys.executable, "-m", "tests.support.execution.writing", str(table), user, str(count), str(every_ms)]


def live(process_said: Any) -> set[str]:
    """Names of the files that a writer's own partition has in the end."""
    kept: set[str] = set()
    for _, kind, names in process_said["commits"]:
        kept = set(names) if kind == "OVERWRITE" else kept | set(names)
    return kept


def begin(*writers: Process) -> None:
    """All at once, as soon as the last is ready."""
    for writer in writers:
        assert writer.hear() == "ready"
    for writer in writers:
        writer.say("go")


def new_file(store: Store, day: str, rows: int = 10) -> NewDataFile:
    """A data file of the promised size: nobody reads rows from it."""
    path = f"dt={day}/bucket-0/data-{uuid.uuid4()}-0.parquet"
    store.create(path, b"x" * rows)
    stats = SimpleStats([1, 0.5, day], [9, 1.5, day], [0, 0, 0])
    return NewDataFile(binary_row.encode((day,), ("STRING",)), path, rows, rows, 0, stats, source=0, created_ms=0)


def write(table: str, user: str, count: int, every_ms: int) -> dict[str, Any]:
    store = Store(table)
    commits, lost = [], []
    number = 0
    while number < count or not count:
        number += 1
        files = [new_file(store, user)]
        stamp = Stamp(time.time_ns() // 1_000_000, lambda: str(uuid.uuid4()), user=user, identifier=documents.BATCH)
        try:
            if number % OVERWRITES or not count:
                made = commit.append(store, files, stamp)
            else:
                made = commit.overwrite(store, files, [{"dt": user}], stamp)
        except Conflict as error:
            lost.append(str(error))
        else:
            commits.append([made.id, made.kind, [each.path.rsplit("/", 1)[-1] for each in files]])
        if count:
            time.sleep(every_ms / 1000)  # so that others come between, however few cores there are
        elif select.select([sys.stdin], [], [], every_ms / 1000)[0]:
            break
    return {"commits": commits, "lost": lost}


if __name__ == "__main__":
    print("ready", flush=True)
    sys.stdin.readline()
    place, name, often, every = sys.argv[1:]
    print(json.dumps(write(place, name, int(often), int(every))))
