"""One of our writers as a process: it commits to an append table until told to stop, or a given number of times.

    python -m tests.support.execution.writing TABLE USER COUNT EVERY_MS      COUNT 0: append until a line arrives

It prints "ready", waits for a line, and at the end prints one document: `commits`, with [id, kind, names of the new
files] of each, and `lost`, with the message of each commit that was, or may have been, another writer's.
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

COLUMNS = (("id", "BIGINT NOT NULL"), ("amount", "DOUBLE"), ("dt", "STRING"))  # as in tests.support.builders
OVERWRITES = 3  # every third commit replaces the writer's own partition


def command(table: Path, user: str, count: int = 0, every_ms: int = 0) -> list[str]:
    return [sys.executable, "-m", "tests.support.execution.writing", str(table), user, str(count), str(every_ms)]


def live(process_said: Any) -> set[str]:
    """Return the names of the files in a writer's own partition at the end."""
    kept: set[str] = set()
    for _, kind, names in process_said["commits"]:
        kept = set(names) if kind == "OVERWRITE" else kept | set(names)
    return kept


def begin(*writers: Process) -> None:
    """Start all writers at once, as soon as the last one is ready."""
    for writer in writers:
        assert writer.hear() == "ready"
    for writer in writers:
        writer.say("go")


def new_file(store: Store, day: str, rows: int = 10) -> NewDataFile:
    """Create a data file of the declared size; no rows are read from it."""
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
            time.sleep(every_ms / 1000)  # let other writers commit in between, even with few cores
        elif select.select([sys.stdin], [], [], every_ms / 1000)[0]:
            break
    return {"commits": commits, "lost": lost}


if __name__ == "__main__":
    print("ready", flush=True)
    sys.stdin.readline()
    place, name, often, every = sys.argv[1:]
    print(json.dumps(write(place, name, int(often), int(every))))
