"""Spark Connect: rows are read, merged and computed on a server; statements are checked here.

Invariants:
- A client of Spark Connect cannot look at a plan before it runs. So a Spark of this process, of the same version,
  parses and analyzes each statement over empty stand-ins of the views (core/spark/sql/guard.py), and only a text that
  passed is sent. The server's session has the settings of the one that checked: what the server's operator set for SQL
  is unset.
- A session of the server is used by one query and released after it. Its tasks get our code, and the variables by which
  stores' clients find credentials, as one file of the session; nothing has to be installed there but other packages.
- The address may contain a token. Only `shown` is for people.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import tempfile
import threading
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import pyspark
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from core.errors import Invalid, SnapscopeError, Unsupported
from core.installation import extra_command
from core.messages import message
from core.spark.session import cluster
from core.spark.session.task_errors import error_text

VARIABLE = "SPARK_REMOTE"
ADDRESS, MASTER = "spark.remote", "spark.master"
CASE = "spark.sql.caseSensitive"
_ENABLED = "SPARK_CONNECT_MODE_ENABLED"  # by which pyspark.sql.functions know whose columns to make
_OF_START = ("spark.sql.catalogImplementation", "spark.sql.warehouse.dir")
_OF_MACHINE = ("spark.sql.shuffle.partitions", "spark.sql.limit.initialNumPartitions")  # numbers of its cores
_KEPT = (  # the operator's, which decide how fast answers come, and not what they are
    "spark.sql.shuffle.partitions",
    "spark.sql.adaptive.",
    "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.files.maxPartitionBytes",
)
_CATALOG = "spark.sql.catalog."  # no statement that is checked names one, and some contain credentials
_ANSI, _OF_CLONES = "spark.sql.ansi.enabled", "spark.sql.legacy.sessionInitWithConfigDefaults"
_FORM = re.compile(
    r"sc://(?P<server>(?:\[[0-9A-Fa-f:.]+\]|[^\s/;:@?#\[\]]+)(?::\d{1,5})?)(?:/(?P<parameters>(?:;[^;]*)*))?"
)
_RELEASE_S = 2.0
_RETRIES = 3  # pyspark's own policy waits for ten minutes
_ROWS = 1 << 16  # enough that every partition has some


class Server:
    """A Connect server: a session that has our code and settings, and is cloned for each query."""

    def __init__(self, address: str, settings: Mapping[str, str], requested: Mapping[str, str]) -> None:
        """`settings`: all settings of the Spark that checks statements; `asked`: those that the user set."""
        left = {*_OF_START, *(name for name in _OF_MACHINE if name not in requested)}
        self.address = address
        self._settings = {
            name: value
            for name, value in settings.items()
            if name.startswith("spark.sql.") and not name.startswith(_CATALOG) and name not in left
        }
        self._lock = threading.Lock()
        self._model: Any = None
        self._cores = 0

    def model(self, checker: SparkSession) -> Any:
        """The session that others are clones of; opened on the first call, and again if the server has ended it.

        Raises Unsupported if the server cannot be used, Invalid if it does not answer.
        """
        with self._lock:
            if self._model is not None and not _is_there(self._model):
                _disconnect(self._model)
                self._model, self._cores = None, 0
            if self._model is None:
                self._model = self._opened(checker)
            _paired[self._model] = checker, self
            return self._model

    def session(self, checker: SparkSession) -> Any:
        """A session for one query; `checker` checks its statements. A server that was restarted is connected anew."""
        model = self.model(checker)
        try:
            made = model.cloneSession()
        except Exception:  # noqa: BLE001 - pyspark's and gRPC's; the second time it is told
            self._drop(model)
            model = self.model(checker)
            try:
                made = model.cloneSession()
            except Exception as error:
                raise self._refused(error) from error
        _ready(made)
        _paired[made] = checker, self
        return made

    def _drop(self, model: Any) -> None:
        """Forget a session that cannot be cloned, unless another thread has replaced it already."""
        with self._lock:
            if self._model is model:
                _disconnect(model)
                self._model, self._cores = None, 0

    def cores(self, session: Any) -> int:
        """How many tasks the server runs at a time, judged by the number of partitions that it makes of a range."""
        if not self._cores:
            from pyspark.sql import functions as F

            parts = session.range(_ROWS).select(F.spark_partition_id().alias("p")).agg(F.max("p").alias("p"))
            self._cores = int(parts.toArrow()["p"][0].as_py()) + 1
        return self._cores

    def close(self) -> None:
        """Release the session on the server, if it still answers."""
        model, self._model, self._cores = self._model, None, 0
        if model is not None:
            release(model)

    def _opened(self, checker: SparkSession) -> Any:
        where = shown(self.address)
        try:
            from pyspark.sql.connect.session import SparkSession as Remote
        except ImportError as error:
            raise Unsupported(
                "Spark Connect needs packages that are not installed: {said}",
                said=error_text(error),
                remedy=message("Install them: {command}", command=extra_command("connect")),
            ) from error
        session: Any = None
        try:
            session = Remote.builder.remote(self.address).create()
            _ready(session)
            theirs = str(session.version)
            if theirs.split(".")[:2] != pyspark.__version__.split(".")[:2]:
                raise Unsupported(
                    "{where} runs Spark {theirs}, and statements are checked with Spark {ours}.",
                    where=where,
                    theirs=theirs,
                    ours=pyspark.__version__,
                    remedy=message("Use a server of Spark {ours}.", ours=".".join(pyspark.__version__.split(".")[:2])),
                )
            if str(session.conf.get(_OF_CLONES, "false")) == "true":
                raise Unsupported(
                    "{where} was started with {setting}=true, so its settings would replace ours.",
                    where=where,
                    setting=_OF_CLONES,
                    remedy="Start it without this setting.",
                )
            # The default of ANSI follows a variable of each JVM's environment.
            _settle(session, {_ANSI: str(checker.conf.get(_ANSI)), **self._settings}, where)
            with tempfile.TemporaryDirectory(prefix="snapscope-") as private:  # readable only by us
                session.addArtifacts(str(cluster.zipped(Path(private), cluster.sent())), pyfile=True)
        except Exception as error:  # pyspark and gRPC raise anything
            if session is not None:
                release(session)
            raise (error if isinstance(error, SnapscopeError) else self._refused(error)) from error
        os.environ[_ENABLED] = "1"
        return session

    def _refused(self, error: Exception) -> SnapscopeError:
        where = shown(self.address)
        text = str(error).replace(self.address, where)
        return cluster.failure(text, where) or Invalid(
            "{where} did not open a session. {said}", where=where, said=error_text(RuntimeError(text)),
            remedy=cluster.ASK_SERVER,
        )  # fmt: skip


_paired: WeakKeyDictionary[Any, tuple[SparkSession, Server]] = WeakKeyDictionary()


def placed(usual: Mapping[str, str], chosen: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """The settings of all places, of which later ones win; also over the cluster or server that an earlier one names.

    `$SPARK_REMOTE` comes before all of them. `usual`: of Spark's own places, which are not meant for us. Raises
    Unsupported for a chosen setting that a server takes at its own start only.
    """
    address = os.environ.get(VARIABLE, "").strip()
    found = {ADDRESS: address} if address else dict[str, str]()
    for place in (usual, chosen, own):
        if MASTER in place:
            found.pop(ADDRESS, None)
        if ADDRESS in place:
            found.pop(MASTER, None)
        found |= place
    if ADDRESS not in found:
        return found
    if MASTER in found:
        raise Invalid(
            "`{remote}` and `{master}` both name where Spark runs.",
            remote=ADDRESS,
            master=MASTER,
            remedy="Set one of them.",
        )
    _check(found[ADDRESS])
    for name in {**chosen, **own}:
        if name.startswith("spark.") and name != ADDRESS and not name.startswith(("spark.sql.", "spark.driver.")):
            raise Unsupported(
                "`{name}` cannot be set for a session of {where}.",
                name=name,
                where=shown(found[ADDRESS]),
                remedy="Set it where the Connect server is started, or leave it out here.",
            )
    ours = {*chosen, *own, ADDRESS}
    return {name: value for name, value in found.items() if name in ours}


def is_remote(session: Any) -> bool:
    """Whether a session is one of a Connect server."""
    return session in _paired


def checker(session: SparkSession) -> SparkSession:
    """The session that checks the statements of this one, and resolves names as it does; itself if it is classic."""
    if (pair := _paired.get(session)) is None:
        return session
    pair[0].conf.set(CASE, str(session.conf.get(CASE)))
    return pair[0]


def cores(session: SparkSession) -> int:
    """How many tasks run at a time."""
    if (pair := _paired.get(session)) is None:
        return session.sparkContext.defaultParallelism
    return pair[1].cores(session)


def release(session: Any) -> None:
    """End a session on the server, and its connection. A server that does not answer soon is left alone: it ends the
    session by itself, an hour later."""

    def end() -> None:
        with contextlib.suppress(Exception):
            session.client.release_session()

    ending = threading.Thread(target=end, name="releasing a Connect session", daemon=True)
    with contextlib.suppress(RuntimeError):  # this process ends, and no thread can be started
        ending.start()
        ending.join(_RELEASE_S)
    _disconnect(session)


def _disconnect(session: Any) -> None:
    """Close a session's connection, which ends its calls too. Connections to one server share the pause after a
    refusal, so one that is left open would make a restarted server seem dead."""
    with contextlib.suppress(Exception):
        session.client._channel.close()  # the `close` of a client ends what all sessions share


def forget() -> None:
    """Let pyspark's functions make columns of a Spark of this process again."""
    os.environ.pop(_ENABLED, None)


def shown(address: str) -> str:
    """An address without its parameters, of which one is a token; nothing of one that is not understood."""
    found = _FORM.fullmatch(address)
    return f"sc://{found['server']}" if found else "sc://…"


def _check(address: str) -> None:
    """Raise Invalid or Unsupported for an address that cannot be used, without showing what may be its token."""
    found = _FORM.fullmatch(address)
    parameters = [each for each in (found["parameters"] or "").split(";") if each] if found else []
    if found is None or any(each.count("=") != 1 for each in parameters):
        raise Invalid(
            "The address of the Spark Connect server is not of the form sc://HOST:PORT/;name=value;name=value.",
            remedy="Correct it. In a value, write = as %3D and ; as %3B.",
        )
    if any(each.startswith("session_id=") for each in parameters):
        raise Unsupported(
            "The address of the Spark Connect server names a session that may be another program's.",
            remedy="Leave session_id out.",
        )


def _is_there(session: Any) -> bool:
    """Whether the server answers in this session."""
    try:
        return bool(session.version)
    except Exception:  # noqa: BLE001 - pyspark's and gRPC's
        return False


def _ready(session: Any) -> None:
    """Make a session's calls fail soon if nothing answers, and the end of this process make none."""
    from pyspark.sql.connect.client.retries import DefaultPolicy

    warnings.filterwarnings("ignore", r"\[RETRIES_EXCEEDED\]")  # it is raised, too
    session.client.set_retry_policies([DefaultPolicy(max_retries=_RETRIES)])
    atexit.unregister(session.client._cleanup_ml_cache)  # of machine learning, which is not used here


def _settle(session: Any, settings: Mapping[str, str], where: str) -> None:
    """Give a session of the server our settings for SQL, and no other that can be changed."""
    for name in session.conf.getAll:
        is_open = name.startswith("spark.sql.") and name not in settings and not name.startswith(_KEPT)
        if is_open and session.conf.isModifiable(name):
            session.conf.unset(name)
    for name, value in settings.items():
        try:
            session.conf.set(name, value)
        except PySparkException as error:
            if (lost := cluster.failure(str(error), where)) is not None:
                raise lost from error
            raise Unsupported(
                "{where} does not let a session set `{name}` as it is set here.",
                where=where,
                name=name,
                remedy="Set it where the server is started, or leave it out here.",
            ) from error
