"""A real MariaDB server on this machine, which speaks MySQL's protocol: Debian's. It checks passwords."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.engines import servers
from tests.engines.java import Missing
from tests.engines.lines import last_words
from tests.engines.servers import Database
from tests.support.ports import free_port


@contextmanager
def running(directory: Path, password: str) -> Iterator[Database]:
    """Yield a server that keeps its data in a directory. Raises `Missing` where it is not installed."""
    place = os.environ["PATH"] + os.pathsep + "/usr/sbin"
    server, install = shutil.which("mariadbd", path=place), shutil.which("mariadb-install-db", path=place)
    if server is None or install is None:
        raise Missing("no mariadbd or no mariadb-install-db on the PATH")
    directory.mkdir(parents=True)
    data, log, first = directory / "data", directory / "out.log", directory / "first.sql"
    first.write_text(
        "CREATE DATABASE lake CHARACTER SET utf8mb3;\n"  # with utf8mb4, the keys of Paimon's tables are too long
        f"CREATE USER 'lake'@'127.0.0.1' IDENTIFIED BY '{password}';\nGRANT ALL ON lake.* TO 'lake'@'127.0.0.1';\n"
    )
    as_root = [] if os.geteuid() else ["--user=root"]
    words = [f"--datadir={data}", "--skip-test-db", "--auth-root-authentication-method=normal", *as_root]
    done = subprocess.run([install, "--no-defaults", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Missing(f"mariadb-install-db fails: {last_words(done.stderr or done.stdout)}")
    port = free_port()
    address = [f"--port={port}", "--bind-address=127.0.0.1", f"--socket={directory}/socket", "--skip-name-resolve"]
    command = [server, "--no-defaults", f"--datadir={data}", *address, f"--init-file={first}", *as_root]

    def ready() -> bool:
        return "ready for connections" in log.read_text()

    with servers.running("MariaDB", command, log, ready):
        yield Database(f"jdbc:mysql://127.0.0.1:{port}/lake", "lake", password)
