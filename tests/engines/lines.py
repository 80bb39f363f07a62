"""A judge is a process that answers JSON lines: one command in, one answer out, in order.

Invariant: an engine's own error is an `EngineError` and the process lives on; a silent or dead process is a
`JudgeDied`.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

CACHE = Path(os.environ.get("SNAPSCOPE_TEST_CACHE") or "~/.cache/snapscope-tests").expanduser()
"""Where engines are kept between runs: jars, classes, pypaimon's environment. Safe to remove."""


class EngineError(Exception):
    """What the engine said: its exception's class and message, and those of its causes."""

    def __init__(self, said: Mapping[str, Any]) -> None:
        self.name: str = said["class"]
        self.message: str = said["message"] or ""
        self.causes: tuple[str, ...] = tuple(said.get("causes", ()))
        self.at: tuple[str, ...] = tuple(said.get("at", ()))
        super().__init__("\n  ".join([f"{self.name}: {self.message}", *self.causes]))

    @property
    def is_unsupported(self) -> bool:
        """This release of the engine has no such operation."""
        return self.name == "java.lang.UnsupportedOperationException" and "this release" in self.message


class JudgeDied(Exception):
    """The judge's process ended or fell silent; what it last wrote to stderr is in the message."""


class Lines:
    """A process answering JSON lines. Not for several threads."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str] | None = None, timeout_s: float = 300) -> None:
        self.timeout_s = timeout_s
        self._own = tempfile.TemporaryDirectory(prefix="snapscope-judge-")
        self.directory = Path(self._own.name)
        self._stderr = (self.directory / "stderr").open("w+b")
        self._process = subprocess.Popen(
            [word.replace("{own}", self._own.name) for word in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=None if env is None else dict(env),
            bufsize=0,
        )
        self._read = b""
        self.ms = 0.0
        """How long the last command took inside the engine."""

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, **command: Any) -> Any:
        """The answer's `ok`; fields that are None are not sent."""
        line = json.dumps({key: value for key, value in command.items() if value is not None}) + "\n"
        try:
            _write_all(self._process.stdin, line.encode())
        except BrokenPipeError:
            raise self._died("ended before it was asked") from None
        answer = json.loads(self._line())
        self.ms = answer.get("ms", 0.0)
        if "error" in answer:
            raise EngineError(answer["error"])
        return answer["ok"]

    def _line(self) -> bytes:
        deadline = time.monotonic() + self.timeout_s
        fd = self._process.stdout.fileno()
        answers = select.poll()  # select() fails where the process has more than 1,024 files open
        answers.register(fd, select.POLLIN)
        while b"\n" not in self._read:
            if not answers.poll(max(0.0, deadline - time.monotonic()) * 1000):
                self._process.kill()
                raise self._died(f"did not answer in {self.timeout_s:.0f} s")
            got = os.read(fd, 1 << 20)
            if not got:
                raise self._died("ended without an answer")
            self._read += got
        line, _, self._read = self._read.partition(b"\n")
        return line

    def _died(self, how: str) -> JudgeDied:
        status = self._process.wait()
        self._stderr.seek(0)
        tail = self._stderr.read().decode(errors="replace")[-2000:]
        return JudgeDied(f"the judge {how} (exit status {status}):\n{tail}")

    def close(self) -> None:
        """Ends the process and removes what it kept."""
        self._process.stdin.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._stderr.close()
        self._own.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _write_all(pipe: Any, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[pipe.write(view) :]


def last_words(output: str, lines: int = 3) -> str:
    """The end of a tool's output without addresses, to say why it failed."""
    said = [" ".join(word for word in line.split() if "://" not in word) for line in output.splitlines()]
    wanted = [
        line for line in said if line and not line.startswith(("[ERROR] To see", "[ERROR] Re-run", "[ERROR] For more"))
    ]
    return " / ".join(wanted[:lines])[:400]
