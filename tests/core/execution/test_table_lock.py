"""The lock of a table: if another process or thread holds it, it is rejected at once; it is free when its holder
dies."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from core.errors import Conflict, Invalid
from core.execution.table_lock import is_running, locked

TABLE = "/some/table"
_HOLDER = """
import sys
from core.execution.table_lock import locked
with locked(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_another_process_keeps_it_until_it_dies(state_dir: Path) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", _HOLDER, TABLE], stdin=pipe, stdout=pipe, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(Conflict, match="Another change"), locked(TABLE):
            pass
        with locked("/another/table"):
            pass
        holder.kill()
        holder.wait(30)
        with locked(TABLE):
            pass


@pytest.mark.parametrize("holds", ["locked", "carried_out"])
def test_whoever_asks_is_told_that_another_process_holds_it(state_dir: Path, holds: str) -> None:
    """A run holds the lock of its table, its own, or both."""
    pipe, held = subprocess.PIPE, {"locked": TABLE, "carried_out": "run"}[holds]
    assert not is_running(TABLE, "run")
    assert not (state_dir / "locks").exists(), "who only asks leaves nothing"
    holder = _HOLDER.replace("locked", holds)
    with subprocess.Popen([sys.executable, "-c", holder, held], stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        assert is_running(TABLE, "run")
        assert not is_running("/another/table", "another")
        process.kill()
        process.wait(30)
    assert not is_running(TABLE, "run")


def test_another_spelling_of_the_location_is_the_same_table(state_dir: Path) -> None:
    with locked("s3://lake/t"), pytest.raises(Conflict, match="Another change"), locked("s3a://lake/t/"):
        pass
    with locked("hdfs://name:8020/t"), pytest.raises(Conflict), locked("webhdfs://name:9870/t"):
        pass


def test_another_thread_keeps_it_until_it_is_done(state_dir: Path) -> None:
    held, over = threading.Event(), threading.Event()

    def hold() -> None:
        with locked(TABLE):
            held.set()
            over.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(60)
    with pytest.raises(Conflict), locked(TABLE):
        pass
    over.set()
    thread.join(60)
    with locked(TABLE):
        pass


def test_a_file_that_is_merely_there_holds_nothing(state_dir: Path) -> None:
    with locked(TABLE):
        pass
    assert [path.suffix for path in (state_dir / "locks").iterdir()] == [".lock"], "it stays, so that no two are made"
    with locked(TABLE):
        pass


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK])
def test_a_file_system_that_cannot_lock_is_refused(
    state_dir: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """A lock file would remain after its process was killed, and taking it over would be guesswork."""

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(Invalid, match="The state directory is not writable:"), locked(TABLE):
        pass
