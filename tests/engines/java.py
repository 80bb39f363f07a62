"""What a judge in Java takes: a JDK, jars that Maven fetches, and its driver, compiled once.

Invariant: what is kept in the cache of `tests.engines.lines` is there as a whole or not at all, and one process at a
time makes it: Maven's own repository does not stand two. So runs and workers side by side share it.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.engines.lines import CACHE, last_words

FROM_PYSPARK = ("hadoop-client-api", "hadoop-client-runtime", "slf4j-api", "jcl-over-slf4j", "snappy-java", "zstd-jni")
JAVA_FLAGS: tuple[str, ...] = (
    "-Xmx1g",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Xshare:auto",
    "-Dslf4j.internal.verbosity=ERROR",  # there is no logger on purpose
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.util=ALL-UNNAMED",
)


class Missing(Exception):
    """What this machine lacks for a judge, in words."""


@functools.cache
def find_java() -> tuple[str, str]:
    """`java` and `javac` of one JDK of 17 or newer: of JAVA_HOME, else of the PATH."""
    home = os.environ.get("JAVA_HOME")
    directory = str(Path(home) / "bin") if home else None
    java, javac = shutil.which("java", path=directory), shutil.which("javac", path=directory)
    if not java or not javac:
        raise Missing(f"no {'javac' if java else 'java'} in {directory or 'the PATH'}")
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', said)
    if not found or int(found[1]) < 17:
        raise Missing(f"{java} is not Java 17 or newer: {last_words(said, 1)}")
    return java, javac


def from_pyspark() -> list[Path]:
    """Hadoop's client and what logs: PySpark brings them."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise Missing("PySpark is not installed, and Hadoop's client comes with it")
    jars = Path(spec.origin).parent / "jars"
    found = [jar for name in FROM_PYSPARK for jar in sorted(jars.glob(f"{name}-[0-9]*.jar"))]
    if len(found) < len(FROM_PYSPARK):
        raise Missing(f"PySpark's jars lack one of {', '.join(FROM_PYSPARK)}")
    return found


@contextmanager
def alone(directory: Path) -> Iterator[None]:
    """One process at a time makes what is kept in a directory."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def kept(name: str, of: bytes, make: Callable[[Path], None]) -> Path:
    """A directory that `make` fills, kept under a name and what it is made of; Missing where it cannot be made."""
    place = CACHE / "engines" / f"{name}-{hashlib.sha256(of).hexdigest()[:12]}"
    if not place.is_dir():
        with alone(place.parent), tempfile.TemporaryDirectory(dir=place.parent) as own:
            if not place.is_dir():
                fresh = Path(own) / "made"
                fresh.mkdir()
                make(fresh)
                os.replace(fresh, place)
    return place


def fetched(name: str, pom: Path, words: Sequence[str]) -> list[Path]:
    """The jars that a goal of Maven puts into `{}`."""

    def fetch(fresh: Path) -> None:
        maven = shutil.which("mvn")
        if maven is None:
            raise Missing(f"no mvn on the PATH to fetch {name}")
        command = [maven, "-q", "-B", "-f", str(pom), *(word.replace("{}", str(fresh)) for word in words)]
        got = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=900, stdin=subprocess.DEVNULL
        )
        if got.returncode or not any(fresh.glob("*.jar")):
            raise Missing(f"Maven found no {name}: {last_words(got.stdout + got.stderr)}")

    return sorted(kept(f"jars-{name}", pom.read_bytes() + repr(words).encode(), fetch).glob("*.jar"))


def compiled(name: str, source: Path, jars: Sequence[Path], more: Callable[[Path], None], also_of: str) -> str:
    """The class path of a driver: its classes, to which `more` adds what it depends on (`also_of`), before the jars."""
    _, javac = find_java()
    path = os.pathsep.join(map(str, jars))

    def build(fresh: Path) -> None:
        words = ["-nowarn", "-proc:none", "-encoding", "UTF-8", "-d", str(fresh), "-cp", path, str(source)]
        made = subprocess.run([javac, *words], capture_output=True, text=True, check=False)
        if made.returncode:
            raise RuntimeError(f"{source.name} does not compile:\n{made.stderr}")
        more(fresh)

    return os.pathsep.join([str(kept(name, source.read_bytes() + repr((also_of, javac)).encode(), build)), path])
