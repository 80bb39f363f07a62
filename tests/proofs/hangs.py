"""Tables in which one file is a pipe, a socket or a device: opening it may block forever, reading it may never end."""

from __future__ import annotations

import os
import random
import socket
import tempfile
import time
from contextlib import closing
from pathlib import Path

from core.catalog import list_tables
from core.errors import Corrupt, SnapscopeError
from core.model.actions import Expire
from core.storage import time_limits
from core.table import open_table
from tests.support.builders import TableBuilder

CLAIM = (
    "If a file of a table is a pipe, a socket or a device, the error names it, nothing hangs, and nothing it may hold "
    "is deleted"
)
CASES = 12
PATIENCE_S = 20.0


def prove(seed: int) -> dict[str, int]:
    chance = random.Random(seed)
    counts = {"tables": 0, "named": 0, "plans refused": 0, "plans made": 0}
    for _ in range(CASES):
        with tempfile.TemporaryDirectory() as directory:
            _case(chance, Path(directory), counts)
    return counts


def _case(chance: random.Random, directory: Path, counts: dict[str, int]) -> None:
    made = TableBuilder(directory / "w" / "db.db" / "t")
    for _ in range(chance.randint(2, 4)):
        made.commit([made.file(chance.randint(1, 9_000)) for _ in range(chance.randint(1, 3))])
    root = made.root
    whole = open_table(str(root))
    change, now = Expire(retain_max=1, retain_min=1), 2**42
    right = set(whole.preview(change, now).frees["path"].to_pylist())
    files = sorted(path for path in root.rglob("*") if path.is_file() and "bucket-" not in str(path))
    odd = chance.choice(files)
    kind = _replace(chance, odd)

    def look() -> None:
        began = time.monotonic()
        list_tables(str(directory / "w"))
        table = open_table(str(root))
        heads = table.heads()
        history = table.history(heads)
        said = [each.problem.sentence() for line in heads.lines for each in line.unreadable]
        said += [each.sentence() for line in heads.lines for each in line.warnings]
        said += [each.sentence() for each in history.problems]
        counts["named"] += any(kind in each for each in said)
        try:
            freed = set(table.preview(change, now, history).frees["path"].to_pylist())
        except SnapscopeError:
            counts["plans refused"] += 1
        else:
            counts["plans made"] += 1
            own = odd.relative_to(root).as_posix()
            assert freed <= right | {own}, (odd, freed - right)
        assert time.monotonic() - began < PATIENCE_S

    try:
        time_limits.within(str(odd), PATIENCE_S, look)
    except Corrupt as error:
        assert kind in str(error), (odd, error)
        counts["named"] += 1
    counts["tables"] += 1


def _replace(chance: random.Random, path: Path) -> str:
    path.unlink()
    match chance.randrange(3):
        case 0:
            os.mkfifo(path)
            return "a named pipe"
        case 1:
            path.symlink_to("/dev/zero")
            return "a device"
        case _:
            before = Path.cwd()
            os.chdir(path.parent)  # the path of a socket must be short
            try:
                with closing(socket.socket(socket.AF_UNIX)) as own:
                    own.bind(path.name)
            finally:
                os.chdir(before)
            return "a socket"
