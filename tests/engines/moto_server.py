"""Moto's server of AWS Glue on this machine, from wheels in a directory of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.engines import servers
from tests.engines.java import Missing, kept
from tests.engines.lines import last_words
from tests.support.ports import free_port

MOTO = "moto==5.2.5 flask==3.1.3 flask-cors==6.0.5 boto3==1.43.117"


@contextmanager
def running(directory: Path) -> Iterator[str]:
    """Yield the URL of a server that knows nothing yet. Raises `Missing` where it cannot be had."""

    def install(fresh: Path) -> None:
        words = ["install", "--quiet", "--disable-pip-version-check", "--target", str(fresh), *MOTO.split()]
        done = subprocess.run([sys.executable, "-m", "pip", *words], capture_output=True, text=True, check=False)
        if done.returncode:
            raise Missing(f"pip cannot install {MOTO}: {last_words(done.stderr)}")

    package = kept("moto", f"{MOTO} {sys.version}".encode(), install)
    url, log = f"http://127.0.0.1:{free_port()}", directory / "moto.log"
    command = [sys.executable, "-m", "moto.server", "--host", "127.0.0.1", "--port", url.rpartition(":")[2]]
    environment = {**os.environ, "PYTHONPATH": str(package)}
    with servers.running("moto", command, log, lambda: servers.answers(f"{url}/moto-api/"), environment):
        yield url
