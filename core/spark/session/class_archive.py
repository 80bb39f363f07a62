"""Archives of Spark's classes, from which the JVM starts faster (class data sharing).

The JVM checks that an archive was made by the same Java for the same class path, and ignores any other one. But it
reads only the header: if a file was cut off later, it crashes. So the name of a file ends with its size, and an archive
is deleted if a JVM crashes that starts from it.

Invariant: an archive that is missing, foreign or cut off costs time, never a start, and nothing is printed about it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyspark

from core.paths import cache_dir

VARIABLE = "SNAPSCOPE_SPARK_CLASS_ARCHIVE"
OFF = "off"
SUFFIX = ".jsa"
QUIET = "-Xlog:cds*=off"  # else the JVM warns of an archive that it ignores
_USED = "-XX:SharedArchiveFile="

# Options of the user's that ours would contradict: the JVM would not start with some of the pairs.
_OWN = re.compile(r"-Xshare|-XX:[+-]?\w*(SharedArchive|SharedClass|SharedSpaces|ArchiveClasses|LoadedClassList|AOT)")
_PASSED = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")


def directory() -> Path | None:
    """Where archives are kept: `$SNAPSCOPE_SPARK_CLASS_ARCHIVE`, else in the cache directory; None if it is `off`."""
    named = os.environ.get(VARIABLE, "")
    if named == OFF:
        return None
    return Path(named).expanduser().absolute() if named else cache_dir() / "classes"


def stem(java: Path, class_path: str) -> Path | None:
    """What the path of the archive for this Java and class path begins with, whether it is there or not.

    None if archives are switched off, or if the Java or a part of the class path is missing. There is one archive for
    each program and class path; the sizes and times of their files are a part of the name.
    """
    folder = directory()
    if folder is None:
        return None
    try:
        entries = class_path.split(os.pathsep)
        parts = [*_state(java.resolve(strict=True)), *(each for entry in entries for each in _states(entry))]
    except OSError:  # the JVM says what is missing
        return None
    return folder / f"spark-{pyspark.__version__}-{hashlib.sha256(repr(parts).encode()).hexdigest()[:16]}"


def complete(stem: Path, size: int) -> Path:
    """The path of an archive of this size."""
    return stem.with_name(f"{stem.name}-{size}{SUFFIX}")


def find(stem: Path | None) -> Path | None:
    """The complete archive of which this is the stem, if there is one."""
    if stem is None:
        return None
    for each in stem.parent.glob(f"{stem.name}-*{SUFFIX}"):
        with contextlib.suppress(FileNotFoundError):  # another process has just deleted it
            if each == complete(stem, each.stat().st_size):
                return each
    return None


def options(java: Path, class_path: str, given: Sequence[str]) -> list[str]:
    """The JVM's options to start from the archive; [] if there is none, or if options asked for by the user choose one.

    `class_path` is what the JVM's class path begins with: the archive is used whatever follows.
    """
    passed = [word for name in _PASSED for word in os.environ.get(name, "").split()]
    if any(_OWN.match(word) for word in (*given, *passed)):
        return []
    archive = find(stem(java, class_path))
    return [] if archive is None else [f"{_USED}{archive}", QUIET]


def discard(command: Sequence[str]) -> bool:
    """Delete the archive that a command with these options starts from, after a crash; False if there is none."""
    found = [Path(word.removeprefix(_USED)) for word in command if word.startswith(_USED)]
    ours = [each for each in found if each.parent == directory()]
    for each in ours:
        each.unlink(missing_ok=True)
    return bool(ours)


def _states(entry: str) -> Iterator[object]:
    """Names, sizes and times of the files of one entry of the class path."""
    if entry.endswith("*"):
        with os.scandir(entry[:-1] or ".") as found:
            for each in sorted(found, key=lambda each: each.name):
                yield from _state(Path(each.path))
    else:
        yield from _state(Path(entry))


def _state(file: Path) -> tuple[object, ...]:
    found = file.stat()
    return str(file), found.st_size, found.st_mtime_ns
