"""One Spark per process, with the settings that correct answers and safety depend on.

Invariants:
- Importing this module starts nothing. `get()` starts Spark once; every later call returns the same session.
- A local Spark listens only on 127.0.0.1. The Spark of this process is classic: core/spark/sql/guard.py reads its
  parser. With Spark Connect it checks statements, and a server runs them (core/spark/session/connect.py).
- No exit of this process leaves a JVM behind (core/spark/session/gateway.py).
- `kill` makes no call to the JVM, because one that is out of memory or busy collecting garbage never answers. No call
  is made while the lock is held either, so a JVM that hangs blocks only its own caller.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from core import spark_settings
from core.errors import Conflict, Invalid, Unsupported
from core.messages import message
from core.paths import private, state_dir
from core.spark.session import cluster, connect, gateway
from core.spark.session.java import JavaFound, java_home
from core.spark.session.task_errors import error_text
from core.storage.hdfs import hadoop_settings

__all__ = [
    "LOCKED",
    "JavaFound",
    "Spark",
    "get",
    "is_local",
    "isolated",
    "java_home",
    "kill",
    "spark",
    "stop",
]

ENGINE = "plain Spark (local)"
START_DEADLINE_S = 120.0
_LOCAL = "local"

# Answers or safety depend on these; other values are refused, not silently corrected.
LOCKED: Mapping[str, str] = {
    "spark.api.mode": "classic",
    "spark.sql.runSQLOnFiles": "false",  # no file is a relation; note the capital O: the other spelling is ignored
    "spark.sql.variable.substitute": "false",  # `${env:X}` would be replaced before any parser sees it
    "spark.sql.scripting.enabled": "false",  # no BEGIN … END
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.datetime.java8API.enabled": "true",  # old classes move days of October 1582 in filters for files
    "spark.sql.optimizer.nestedPredicatePushdown.supportedFileSources": "none",  # files' statistics tell 0.0 from -0.0
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",  # values come from metadata, never from names
}

_LOG_END = 20_000  # characters
_log = logging.getLogger(__name__)
_lock = threading.RLock()
_running: Spark | None = None


@dataclass(slots=True, eq=False)
class Spark:
    """A Spark of this process: its first session, its JVM, whether `kill` ended it, and the server that it is for."""

    session: SparkSession
    process: subprocess.Popen[bytes]
    settings: Mapping[str, str]
    log: Path
    was_killed: bool = False
    server: connect.Server | None = None

    def ran_out_of_memory(self, patience_s: float) -> bool:
        """Whether its JVM ran out of memory and exits within that time: connections break slightly before."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(patience_s)
        return self.process.returncode == gateway.OUT_OF_MEMORY

    def farewell(self) -> str:
        """The end of its log."""
        with contextlib.suppress(FileNotFoundError):  # only the newest logs are kept
            return self.log.read_text(encoding="utf-8", errors="replace")[-_LOG_END:]
        return ""

    def has_stopped(self) -> bool:
        """Whether it accepts no more work although its JVM is alive. Calls the JVM."""
        try:
            context: Any = self.session.sparkContext._jsc
            return context is None or bool(context.sc().isStopped())
        except (Py4JError, OSError):
            return True


def get(settings: Mapping[str, str] | None = None) -> SparkSession:
    """The process's Spark session, from any thread; started on the first call (4 to 12 s) and restarted if it has died.

    `settings` are `spark.*` properties in addition to those in `$SNAPSCOPE_SPARK_CONF`; both override
    those of Spark's own places.
    They apply only at the start.
    Raises Invalid for settings that are not allowed, NotFound without Java 17 or newer, Unsupported if Spark does not
    start (the message names the log), Conflict if another Spark runs in this process or this one runs with other
    settings.
    """
    found = _accepting(settings)
    return found.session if found.server is None else found.server.model(found.session)


def _accepting(settings: Mapping[str, str] | None = None) -> Spark:
    while (found := spark(settings)).has_stopped():
        _forget(found, gateway.PATIENCE_S)
    return found


def spark(settings: Mapping[str, str] | None = None) -> Spark:
    """As `get`, without asking the JVM whether it accepts work."""
    global _running
    with _lock:
        if _running is not None and (status := _running.process.poll()) is not None:
            if not _running.was_killed:
                _log.warning("Spark exited unexpectedly (status %s) and is restarted", status)
            _forget(_running, 0)
        if _running is None:
            _running = _start(_merged(settings))
        elif settings is not None and _merged(settings) != _running.settings:
            raise Conflict(
                "Spark is already running in this process with other settings.",
                remedy="Stop it first, or give these settings when Spark is first used.",
            )
        return _running


def isolated() -> SparkSession:
    """A private session on the shared Spark: no other session sees its views and settings. `release` it after use."""
    found = _accepting()
    own = found.session.newSession()
    return own if found.server is None else found.server.session(own)


def release(session: SparkSession) -> None:
    """Give a private session back."""
    if connect.is_remote(session):
        connect.release(session)


def stop() -> None:
    """End Spark and its JVM; do nothing if none runs. `get()` starts a new one afterwards."""
    with _lock:
        if _running is not None:
            _forget(_running, gateway.PATIENCE_S)


def kill(ended: Spark) -> None:
    """End a Spark immediately, from outside; `get()` starts a new one afterwards."""
    ended.was_killed = True
    ended.process.kill()
    _forget(ended, 0)


def _forget(ended: Spark, patience_s: float) -> None:
    """End this Spark if it is the current one. The JVM gets `patience_s` seconds to exit on its own."""
    global _running
    with _lock:
        if _running is ended:
            _running = None
            connect.forget()
            gateway.end(ended.process, patience_s)
    if ended.server is not None:
        ended.server.close()


def is_local(session: SparkSession) -> bool:
    """Whether its tasks run in a JVM of ours."""
    return not connect.is_remote(session) and str(session.sparkContext.master).startswith(_LOCAL)


def refuse_to_write(session: SparkSession, location: str, *, on_this_disk: bool) -> None:
    """Raise Unsupported unless tasks can write a table's files: only those on this machine can reach its disk."""
    if not on_this_disk:
        raise Unsupported(
            "Spark can only write to the local disk here.",
            path=location,
            remedy="Write it with the table's own engine, or write a copy on this disk.",
        )
    if not is_local(session):
        raise Unsupported(
            "Workers of a cluster cannot write to the disk of this machine.",
            path=location,
            remedy=message("Use Spark on this machine: {variable}=local[*].", variable=spark_settings.MASTER),
        )


def cluster_name() -> str | None:
    """The cluster that Spark runs on, or would be started on; None on this machine. Asks no JVM."""
    running = _running
    settings = running.settings if running is not None else _merged(None)
    if address := settings.get(connect.ADDRESS):
        return connect.shown(address)
    master = settings.get("spark.master", _LOCAL)
    return None if master.startswith(_LOCAL) else master


def is_connect() -> bool:
    """Whether Spark is, or would be, one of a Connect server. Asks no JVM."""
    running = _running
    return connect.ADDRESS in (running.settings if running is not None else _merged(None))


def engine_name(reader: str = "") -> str:
    """What reads: plain Spark or the named reader, and on which cluster."""
    if master := cluster_name():
        return f"{reader or 'plain Spark'} on {master}"
    return reader or ENGINE


# ---------------------------------------------------------------------------------------------------------- settings


def _merged(settings: Mapping[str, str] | None) -> dict[str, str]:
    """The requested settings, checked; the argument takes precedence over the environment."""
    locked = {name.lower(): name for name in LOCKED}
    own = {name: spark_settings.as_text(value) for name, value in (settings or {}).items()}
    configured = {name: value for name, value in spark_settings.of_spark().items() if name.lower() not in locked}
    requested = connect.placed(configured, spark_settings.of_environment(), own)
    for name, value in requested.items():
        if not name.startswith("spark."):
            raise Invalid("`{name}` is not a Spark setting: their names begin with `spark.`.", name=name)
        if name == "spark.api.mode" and value != "classic":
            raise Unsupported(
                "`{name}={value}` asks for Spark Connect without a server.",
                name=name,
                value=value,
                remedy=message("Name one: {setting}=sc://HOST.", setting=connect.ADDRESS),
            )
        right = locked.get(name.lower(), name)
        if right in LOCKED and (name, value.lower()) != (right, LOCKED[right].lower()):
            raise Invalid(
                "`{name}={value}` cannot be set: correct answers need {right}={locked}.",
                name=name,
                value=value,
                right=right,
                locked=LOCKED[right],
            )
    return requested


def _complete(requested: Mapping[str, str]) -> dict[str, str]:
    """The properties that Spark starts with: defaults, then the requested ones, then the locked ones."""
    cores = os.cpu_count() or 1
    defaults = {
        "spark.app.name": "Snapscope",
        "spark.master": f"local[{cores}]",
        "spark.driver.memory": "2g",
        "spark.driver.maxResultSize": "512m",
        "spark.executor.killOnFatalError.depth": "0",  # a result that Spark finds too large ends only its own query
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": (work_dir() / "warehouse").as_uri(),
        "spark.sql.cteRecursionLevelLimit": "100",
        "spark.sql.timeType.enabled": "true",  # Spark 4.1 has TIME, disabled by default
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.shuffle.partitions": str(max(4, 2 * cores)),
        "spark.sql.limit.initialNumPartitions": str(cores),  # read at a time until there are enough rows
        # Listing files as a Spark job takes up to 10,000 tasks: 34 s for 10,000 files, 2 s without.
        "spark.sql.sources.parallelPartitionDiscovery.threshold": "1000000",
    }
    defaults |= hadoop_settings.for_spark()
    requested = {name: value for name, value in requested.items() if name != connect.ADDRESS}
    if gateway.is_local(defaults | requested):
        defaults |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
        defaults |= {"spark.python.daemon.module": "core.spark.session.python_daemon"}
    else:
        defaults |= cluster.sent_variables()
    return defaults | requested | dict(LOCKED)


# ---------------------------------------------------------------------------------------------------------- starting


def work_dir() -> Path:
    """Where logs and the warehouse of Spark are."""
    return state_dir() / "spark"


def _start(requested: Mapping[str, str], deadline_s: float = START_DEADLINE_S) -> Spark:
    from pyspark.core.context import SparkContext

    if getattr(SparkContext, "_gateway", None) is not None:
        raise Conflict(
            ("Another part of this process has started Spark without the settings that Snapscope needs."),
            remedy="Run Snapscope in a process of its own, or let it start Spark first.",
        )
    settings = _complete(requested)
    # Workers run this very Python unless told otherwise, not whatever `python3` is on the PATH.
    os.environ["PYSPARK_PYTHON"] = settings.get(cluster.PYTHON, sys.executable)
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    link = gateway.launch(java_home().path, settings, private(work_dir()), deadline_s)
    late = threading.Timer(deadline_s, link.process.kill)  # anything blocked by a hanging JVM ends with it
    late.daemon = True
    late.start()
    try:
        session = gateway.connect(link)
        if not gateway.is_local(settings):
            cluster.send_code(session.sparkContext, link.scratch)
        address = requested.get(connect.ADDRESS)
        server = None if address is None else connect.Server(address, settings, requested)
        return Spark(session, link.process, dict(requested), link.log, server=server)
    except BaseException as error:
        gateway.end(link.process, 0)
        if not isinstance(error, Exception):
            raise
        where = settings["spark.master"]
        if not gateway.is_local(settings):
            log = link.log.read_text(encoding="utf-8", errors="replace")
            if (ended := cluster.ended(log, where)) is not None:
                raise ended from error
        raise Unsupported(
            "Spark could not open a session on {where}. {said}",
            where=where,
            said=error_text(error),
            path=str(link.log),
            remedy=gateway.READ_LOG,
        ) from error
    finally:
        late.cancel()


def _at_exit() -> None:
    # If another thread is starting Spark right now, the broken pipe ends its JVM as soon as this process is gone.
    if _lock.acquire(timeout=0.5):
        try:
            stop()
        finally:
            _lock.release()


atexit.register(_at_exit)
