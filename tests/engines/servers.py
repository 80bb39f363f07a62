"""Start a server of the tests in a process of its own, wait until it is ready, and stop it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from tests.engines.lines import last_words

START_S = 300.0


@dataclass(frozen=True)
class Database:
    """A running database server. `uri`: of its one database, for Java and for our settings, without credentials."""

    uri: str
    user: str
    password: str = field(repr=False)


@contextmanager
def running(
    name: str,
    command: Sequence[str],
    log: Path,
    is_ready: Callable[[], bool],
    env: Mapping[str, str] | None = None,
    end: signal.Signals = signal.SIGKILL,
) -> Iterator[None]:
    """Run a server until the block ends; `log` gets what it prints, `env` is its whole environment if given."""
    with log.open("w") as out:
        own = os.environ if env is None else env
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=own)
    try:
        ends = time.monotonic() + START_S
        while not is_ready():
            if server.poll() is not None or time.monotonic() > ends:
                raise RuntimeError(f"{name} does not start: {last_words(log.read_text())}")
            time.sleep(0.1)
        yield
    finally:
        server.send_signal(end)
        server.wait(60)


def answers(url: str) -> bool:
    """Whether a server answers a request, even with an error: it may want a token or a signature."""
    try:
        urlopen(url, timeout=5).close()
    except HTTPError:
        return True
    except OSError:
        return False
    return True
