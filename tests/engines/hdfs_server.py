"""Real NameNodes and a DataNode on this machine: Hadoop's own test cluster, in a JVM of its own. Maven fetches it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.engines.java import JAVA_FLAGS, compiled, fetched, find_java
from tests.engines.lines import last_words

POM = Path(__file__).with_name("hdfs-pom.xml")
SOURCE = Path(__file__).with_name("Hdfs.java")
USER = "tester"
NAMESERVICE = "NameService1"  # names of nameservices are case-sensitive
START_S = 300.0


@dataclass(frozen=True)
class Hdfs:
    """The NameNode's addresses, each `host:port`."""

    native: str
    http: str


@dataclass(frozen=True)
class Pair:
    """Two NameNodes of one nameservice, of which the first is active at the start."""

    nodes: tuple[Hdfs, ...]
    server: subprocess.Popen[str]

    @property
    def settings(self) -> Mapping[str, str]:
        """What clients need to know."""
        found = {"dfs.nameservices": NAMESERVICE, f"dfs.ha.namenodes.{NAMESERVICE}": "nn1,nn2"}
        for number, node in enumerate(self.nodes, 1):
            found[f"dfs.namenode.rpc-address.{NAMESERVICE}.nn{number}"] = node.native
            found[f"dfs.namenode.http-address.{NAMESERVICE}.nn{number}"] = node.http
        return found

    def tell(self, command: str, node: int) -> None:
        """Have the cluster do something with a NameNode: `active`, `standby`, `stop` or `start`."""
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        self.server.stdin.write(f"{command} {node}\n")
        self.server.stdin.flush()
        while (said := self.server.stdout.readline().strip()) != "done":
            if not said:
                raise RuntimeError(f"HDFS ended at {command} {node}")

    def fail_over(self, to: int) -> None:
        """Make this NameNode the active one, and the other a standby."""
        self.tell("standby", 1 - to)
        self.tell("active", to)


@contextmanager
def running(directory: Path) -> Iterator[Hdfs]:
    """Yield a cluster that keeps its blocks below `directory`. Raises `Missing` where it cannot be had."""
    with _cluster(directory) as (_, nodes):
        yield nodes[0]


@contextmanager
def running_pair(directory: Path) -> Iterator[Pair]:
    """As `running`, with two NameNodes and no fail-over but that of `Pair.fail_over`."""
    with _cluster(directory, NAMESERVICE) as (server, nodes):
        yield Pair(nodes, server)


@dataclass(frozen=True)
class Secure:
    """A NameNode that asks for Kerberos. The settings of Kerberos, a ticket of the user, and his delegation token."""

    node: Hdfs
    kerberos: Path
    ticket: Path
    token: str


@contextmanager
def running_secure(directory: Path) -> Iterator[Secure]:
    """As `running`, with a key distribution center, and encrypted connections to both kinds of nodes."""
    with _cluster(directory, "--kerberos") as (_, nodes):
        home = directory / "hdfs"
        yield Secure(nodes[0], home / "krb5.conf", home / "ticket", (home / "token").read_text())


@contextmanager
def _cluster(directory: Path, *more: str) -> Iterator[tuple[subprocess.Popen[str], tuple[Hdfs, ...]]]:
    java, _ = find_java()
    jars = fetched("hdfs", POM, ["dependency:copy-dependencies", "-DoutputDirectory={}"])
    path = compiled("hdfs-classes", SOURCE, jars, lambda _: None, "")
    log = directory / "hdfs.log"
    with log.open("w") as errors:
        command = [java, *JAVA_FLAGS, "-cp", path, "Hdfs", str(directory / "hdfs"), *more]
        server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=directory
        )
    try:
        yield server, _started(server, log)
    finally:
        server.kill()
        server.communicate()


def _started(server: subprocess.Popen[str], log: Path) -> tuple[Hdfs, ...]:
    assert server.stdout is not None
    ends = time.monotonic() + START_S
    while time.monotonic() < ends:
        said = server.stdout.readline()
        if said.startswith("hdfs "):
            ports = [f"127.0.0.1:{port}" for port in said.split()[1:]]
            return tuple(map(Hdfs, ports[::2], ports[1::2]))
        if not said:
            break
    raise RuntimeError(f"HDFS does not start: {last_words(log.read_text())}")
