"""A standalone Spark cluster of real processes on this machine, whose Python workers do not see the checkout."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pyspark

from core.spark.session import gateway, java
from tests.support.ports import free_port

START_S = 300.0  # on a busy machine
FAST_START = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


@dataclass(frozen=True, slots=True)
class Cluster:
    """`python` is a program that sees our third-party packages only."""

    url: str
    workers: tuple[subprocess.Popen[bytes], ...]
    python: Path

    def executors(self) -> list[int]:
        """The processes that run tasks."""
        found = list[int]()
        for worker in self.workers:
            for thread in Path(f"/proc/{worker.pid}/task").glob("*/children"):
                with suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended
                    found += map(int, thread.read_text().split())
        return found

    def end_workers(self) -> None:
        """Kill every worker and its executors; a stopped worker starts none while they are looked for."""
        for worker in self.workers:
            worker.send_signal(signal.SIGSTOP)
        kill(self.executors())
        for worker in self.workers:
            worker.kill()
            worker.wait()


def kill(processes: list[int]) -> None:
    for process in processes:
        with suppress(ProcessLookupError):  # it has ended already
            os.kill(process, signal.SIGKILL)


@contextmanager
def cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    port, started = free_port(), list[subprocess.Popen[bytes]]()
    try:
        started.append(_start(folder, "master.Master", "--port", str(port)))
        wait_for(folder / "master.Master-1.log", "I have been elected leader")
        for number in range(workers):
            work = ("--work-dir", str(folder / f"work-{number}"))
            started.append(
                _start(folder, "worker.Worker", "--cores", "1", "--memory", "1g", *work, f"spark://127.0.0.1:{port}",
                       number=number)
            )  # fmt: skip
        for number in range(workers):
            wait_for(folder / f"worker.Worker-{number}.log", "Successfully registered with master")
        packages = sysconfig.get_path("purelib")
        yield Cluster(f"spark://127.0.0.1:{port}", tuple(started[1:]), packages_only(folder / "python", packages))
    finally:
        for process in reversed(started):
            process.send_signal(signal.SIGKILL)
            process.wait()


def _start(folder: Path, name: str, *options: str, number: int = 1) -> subprocess.Popen[bytes]:
    home = Path(pyspark.__file__).parent
    opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in gateway._OPENED]
    program = [str(java.java_home().path), "-cp", f"{home}/jars/*", "-Xmx256m", *FAST_START, *opened]
    where = ["--host", "127.0.0.1", "--webui-port", "0"]
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with open(folder / f"{name}-{number}.log", "wb") as log:
        return subprocess.Popen(
            [*program, f"org.apache.spark.deploy.{name}", *where, *options],
            stdout=log,
            stderr=log,
            cwd=folder,
            env=own | {"SPARK_HOME": str(home), "SPARK_SCALA_VERSION": "2.13", "SPARK_LOCAL_IP": "127.0.0.1"},
        )


def wait_for(log: Path, words: str) -> None:
    deadline = time.monotonic() + START_S
    while words not in log.read_text(errors="replace"):
        assert time.monotonic() < deadline, log.read_text(errors="replace")[-2_000:]
        time.sleep(0.1)


def packages_only(path: Path, packages: str) -> Path:
    """A program that runs this Python without its site: no installed package but those of a directory."""
    path.write_text(f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{packages}" exec {sys.executable} -S "$@"\n')
    path.chmod(0o755)
    return path
