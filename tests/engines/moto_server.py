"""Moto's server of AWS Glue on this machine, from wheels in a directory of its own.

Moto ignores the version that an update of a table is made on, so it is checked here as Glue's documentation says.
"""

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

CHECKED = """
import sys, threading
from moto.core.exceptions import JsonRESTError
from moto.glue.responses import GlueResponse
from moto.server import main

update, one_at_a_time = GlueResponse.update_table, threading.Lock()

def checked(self):
    with one_at_a_time:
        name = self.parameters["TableInput"]["Name"]
        found = self.glue_backend.get_table(self.parameters["DatabaseName"], name).as_dict()
        if self.parameters.get("VersionId", found["VersionId"]) != found["VersionId"]:
            raise JsonRESTError("ConcurrentModificationException", "Update table failed")
        return update(self)

GlueResponse.update_table = checked
main(sys.argv[1:])
"""
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
    directory.mkdir(parents=True, exist_ok=True)
    url, log = f"http://127.0.0.1:{free_port()}", directory / "moto.log"
    command = [sys.executable, "-c", CHECKED, "--host", "127.0.0.1", "--port", url.rpartition(":")[2]]
    environment = {**os.environ, "PYTHONPATH": str(package)}
    with servers.running("moto", command, log, lambda: servers.answers(f"{url}/moto-api/"), environment):
        yield url
