"""A real NameNode and a DataNode on this machine: Hadoop's own test cluster, in a JVM of its own. Maven fetches it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.engines.java import JAVA_FLAGS, compiled, fetched, find_java
from tests.engines.lines import last_words

POM = Path(__file__).with_name("hdfs-pom.xml")
SOURCE = Path(__file__).with_name("Hdfs.java")
USER = "tester"
START_S = 300.0


@dataclass(frozen=True)
class Hdfs:
    """The NameNode's addresses, each `host:port`."""

    native: str
    http: str


@contextmanager
def running(directory: Path) -> Iterator[Hdfs]:
    """Yield a cluster that keeps its blocks below `directory`. Raises `Missing` where it cannot be had."""
    java, _ = find_java()
    jars = fetched("hdfs", POM, ["dependency:copy-dependencies", "-DoutputDirectory={}"])
    path = compiled("hdfs-classes", SOURCE, jars, lambda _: None, "")
    log = directory / "hdfs.log"
    with log.open("w") as errors:
        command = [java, *JAVA_FLAGS, "-cp", path, "Hdfs", str(directory / "hdfs")]
        server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=directory
        )
    try:
        yield _started(server, log)
    finally:
        server.kill()
        server.communicate()


def _started(server: subprocess.Popen[str], log: Path) -> Hdfs:
    assert server.stdout is not None
    ends = time.monotonic() + START_S
    while time.monotonic() < ends:
        said = server.stdout.readline()
        if said.startswith("hdfs "):
            native, http = said.split()[1:]
            return Hdfs(f"127.0.0.1:{native}", f"127.0.0.1:{http}")
        if not said:
            break
    raise RuntimeError(f"HDFS does not start: {last_words(log.read_text())}")
