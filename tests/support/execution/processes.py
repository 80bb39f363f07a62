"""Real processes: the command line as an operator starts it, and actions triggered at an observable moment: a deleted
file, a journal entry.

Invariant: no moment is guessed by sleeping. All waiting is for a condition, and a timeout names that condition.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.places import ROOT

PATIENCE_S = 300.0
CLI = (sys.executable, "-c", "import sys; from core.cli import main; sys.exit(main())")


@dataclass(frozen=True)
class Done:
    """How a process ended, and the document it printed (None if none)."""

    status: int
    document: Any
    stderr: str


class Process:
    """A process with its own pipes; it is killed at the end of `started`, whatever happens."""

    def __init__(self, command: Sequence[str], state: Path) -> None:
        own = {"SNAPSCOPE_STATE": str(state), "SNAPSCOPE_CACHE": str(state / "cache")}
        self._popen = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **own},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def is_running(self) -> bool:
        return self._popen.poll() is None

    def say(self, line: str) -> None:
        assert self._popen.stdin is not None
        self._popen.stdin.write(line + "\n")
        self._popen.stdin.flush()

    def hear(self) -> str:
        """Return the next line of output; "" at the end."""
        assert self._popen.stdout is not None
        return self._popen.stdout.readline().strip()

    def end(self) -> Done:
        out, err = self._popen.communicate(timeout=PATIENCE_S)
        return Done(self._popen.returncode, json.loads(out) if out.strip() else None, err)

    def kill(self) -> int:
        """Send SIGKILL and return the exit status, which is not -9 if the process had already ended."""
        self._popen.kill()
        self._popen.communicate()
        return self._popen.returncode

    def stopped(self) -> None:
        """Wait until the process has stopped itself with SIGSTOP."""
        found, status = os.waitpid(self._popen.pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            self._popen.returncode = os.waitstatus_to_exitcode(status)
            out, err = self._popen.communicate()
            raise AssertionError(f"the process {found} ended ({status}) where it was to stop itself: {out} {err}")

    def go_on(self) -> None:
        os.kill(self._popen.pid, signal.SIGCONT)

    def close(self) -> None:
        self.kill()  # also works for stopped processes


@contextmanager
def started(command: Sequence[str], state: Path) -> Iterator[Process]:
    process = Process(command, state)
    try:
        yield process
    finally:
        process.close()


def run(state: Path, *words: str) -> Done:
    """Run one command of the real command line to its end."""
    with started([*CLI, *words, "--json"], state) as process:
        return process.end()


def seen(condition: Callable[[], bool], process: Process) -> bool:
    """Wait for the condition; False if the process ended first."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if not process.is_running:
            return condition()
        if time.monotonic() > deadline:
            raise AssertionError(f"it did not come about in {PATIENCE_S:.0f} s: {condition}")
        time.sleep(0.0002)
    return True
