"""On a cluster: its settings are found, our code reaches workers without it, and its failures are explained."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TextIO, cast

import pytest

from core.errors import Corrupt, Invalid, SnapscopeError, Unsupported
from core.formats.paimon.write.commit import Stamp
from core.spark.session import cluster, refusals
from core.spark.session import session as sessions
from core.spark.session.task_errors import carried, error_text
from core.spark.write import append, upsert
from core.storage.store import Store
from core.table import open_table
from tests.support.places import ROOT, SMALL_TABLES
from tests.support.spark import standalone
from tests.support.spark.planned import CHANGE, NOW_MS

MASTER = "spark://head:7077"


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """An environment that names no Spark, except for a `spark-defaults.conf` in `tmp_path` if there is one."""
    for name in ("SPARK_MASTER", "SPARK_REMOTE", "SPARK_HOME", "SNAPSCOPE_SPARK_CONF"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    return monkeypatch


def test_which_place_names_the_cluster(variables: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert sessions._merged(None) == {}
    (tmp_path / "spark-defaults.conf").write_text(
        "# spark.ui.port 1\nspark.master  spark://usual:7077\nspark.executor.memory=4g\n"
        "spark.a : one \\\n   two\nspark.sql.session.timeZone Europe/Oslo\nspark.b\\:c d\\=e\nhadoop.x 1\n"
    )
    usual = {"spark.executor.memory": "4g", "spark.a": "one two", "spark.b\\:c": "d=e"}
    assert sessions._merged(None) == usual | {"spark.master": "spark://usual:7077"}
    variables.setenv("SPARK_MASTER", MASTER)
    assert sessions._merged(None)["spark.master"] == MASTER
    variables.setenv("SNAPSCOPE_SPARK_CONF", "spark.master=yarn")
    assert sessions._merged(None)["spark.master"] == "yarn"
    assert sessions._merged({"spark.master": "local[2]"}) == usual | {"spark.master": "local[2]"}
    variables.setenv("SNAPSCOPE_SPARK_CONF", "spark.sql.session.timeZone=Europe/Oslo")
    with pytest.raises(Invalid, match="cannot be set"):
        sessions._merged(None)
    (tmp_path / "spark-defaults.conf").write_bytes(b"\xff")
    with pytest.raises(Invalid, match="Spark's settings cannot be read"):
        sessions._merged(None)


def test_credentials_are_sent_to_a_cluster_only(variables: pytest.MonkeyPatch) -> None:
    variables.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    variables.setenv("AWS_PROFILE", "mine")
    sent = {name: value for name, value in sessions._complete({"spark.master": MASTER}).items() if "Env" in name}
    assert sent["spark.executorEnv.AWS_SECRET_ACCESS_KEY"] == "hush"
    assert "spark.executorEnv.AWS_PROFILE" not in sent
    assert not [name for name in sessions._complete({}) if "executorEnv" in name]


def test_the_code_that_is_sent_runs_alone(tmp_path: Path) -> None:
    sent: list[str] = []
    cluster.send_code(type("Context", (), {"addPyFile": staticmethod(sent.append)}), tmp_path)
    names = zipfile.ZipFile(sent[0]).namelist()
    assert "core/spark/session/task_errors.py" in names
    body = "import core.spark.read.paimon.merge_on_read as found; print(found.__file__)"
    packages = os.pathsep.join([sent[0], *(path for path in sys.path if path.endswith("-packages"))])
    run = [sys.executable, "-S", "-c", body]
    said = subprocess.run(run, env={"PYTHONPATH": packages}, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert said.stdout.startswith(sent[0])


WORKER = """[PYTHON_EXCEPTION] An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "/spark/python/lib/pyspark.zip/pyspark/serializers.py", line 460, in loads
    return cloudpickle.loads(obj, encoding=encoding)
ModuleNotFoundError: No module named '{module}'
"""


@pytest.mark.parametrize(
    ("text", "says", "remedy"),
    [
        (WORKER.format(module="fastavro.schema"), "has no package fastavro.", "pip install fastavro=="),
        (WORKER.format(module="backports.zstd"), "has no package backports.zstd.", "pip install backports.zstd=="),
        ("[PACKAGE_NOT_INSTALLED] PyArrow >= 15.0.0 must be installed", "no package pyarrow.", "pip install pyarrow=="),
        (
            'java.io.IOException: Cannot run program "/opt/py/bin/python": error=2, No such file or directory',
            "have no Python at /opt/py/bin/python.",
            "spark.pyspark.python=PATH",
        ),
        (
            "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.9 than that in driver: 3.11, PySpark "
            "cannot run with different minor versions.",
            "run Python 3.9; this one is 3.11.",
            "Name a Python 3.11",
        ),
        (
            "Job aborted due to stage failure: Task 0 in stage 4.0 failed 1 times, most recent failure: Lost task 0.0 "
            "in stage 4.0 (TID 4) (127.0.0.1 executor 0): ExecutorLostFailure (executor 0 exited caused by one of the "
            "running tasks) Reason: Command exited with code 137\nDriver stacktrace:\n\tat org.apache.spark",
            "lost an executor while the query ran: Command exited with code 137.",
            "Run it again",
        ),
        (
            "26/11/25 15:18:31 ERROR StandaloneSchedulerBackend: Application has been killed. Reason: Master removed "
            "our application: FAILED\n26/11/25 ERROR Inbox: Ignoring error",
            "ended this session: Master removed our application: FAILED.",
            "Check that the cluster is running",
        ),
        (
            "ERROR StandaloneSchedulerBackend: Application has been killed. Reason: All masters are unresponsive! "
            "Giving up.\n",
            "ended this session: All masters are unresponsive! Giving up.",
            "Check that the cluster is running",
        ),
        ("Job 3 cancelled because SparkContext was shut down", "ended this session: the session was stopped.", "Check"),
    ],
)  # fmt: skip
def test_what_a_failure_means(monkeypatch: pytest.MonkeyPatch, text: str, says: str, remedy: str) -> None:
    found = cluster.failure(text, MASTER)
    assert found is not None
    assert MASTER in found.message
    assert found.message.endswith(says)
    assert remedy in str(found.remedy)
    monkeypatch.setattr(refusals, "cluster_name", lambda: MASTER)
    assert refusals.refusal(RuntimeError(text)).message == found.message


def test_an_exception_in_a_python_worker_is_named() -> None:
    said = error_text(RuntimeError(WORKER.format(module="x")))
    assert said == "ModuleNotFoundError: No module named 'x'."


def test_a_file_that_only_this_machine_has(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(refusals, "cluster_name", lambda: MASTER)
    here = tmp_path / "a.parquet"
    missing = Corrupt("There is no file a.parquet.", path=str(here))
    by_jvm = (
        f"[FAILED_READ_FILE.FILE_NOT_EXIST] Encountered error while reading file file://{here}. File does not exist."
    )
    for text in (carried(missing), by_jvm):
        assert isinstance(refusals.refusal(RuntimeError(text)), Corrupt)
    here.touch()
    for text in (carried(missing), by_jvm):
        found = refusals.refusal(RuntimeError(text))
        assert isinstance(found, Unsupported)
        assert f"workers of {MASTER} do not have this file" in found.message


# ------------------------------------------------------------------------------------------------- real processes

MERGED = "54"  # a snapshot whose files share keys, which Python merges
DRIVER = """
import json, sys, threading, time
from core.table import open_table
from core.spark.query.query import query
from core.spark.session import session as sessions
from core import spark_settings
from core.errors import SnapscopeError
from tests.support.spark.planned import expired, planned

table = open_table(sys.argv[1])

def ask(sql, **more):
    try:
        found = query(table, sql, timeout_s=more.pop("timeout_s", 300), **more)
        said = {"rows": found.table.to_pylist(), "engine": found.engine}
    except SnapscopeError as error:
        said = {"error": type(error).__name__, "message": error.message, "remedy": error.remedy}
    print(json.dumps(said), flush=True)

for line in sys.stdin:
    asked = json.loads(line)
    if "settings" in asked:
        sessions.stop()
        spark_settings.of_environment = lambda chosen=asked["settings"]: chosen
    elif "plan" in asked:
        print(json.dumps(planned(table)), flush=True)
    elif "expire" in asked:
        print(json.dumps(expired(asked["expire"])), flush=True)
    else:
        ask(**asked)
"""


@pytest.mark.slow
def test_workers_without_the_checkout_and_their_deaths(tmp_path: Path) -> None:
    table = SMALL_TABLES / "paimon" / "default.db" / "pk_tags_expired"
    own = {"PYTHONPATH": str(ROOT), "SNAPSCOPE_STATE": str(tmp_path / "state"), "SNAPSCOPE_SPARK_FAST_START": "1"}
    command = [sys.executable, "-c", DRIVER, str(table)]
    pipe: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    (tmp_path / "work").mkdir()
    with (
        standalone.cluster(tmp_path) as found,
        subprocess.Popen(command, cwd=tmp_path / "work", env=os.environ | own, **pipe) as driver,
    ):

        def say(what: Mapping[str, Any]) -> None:
            driver.stdin.write(json.dumps(what) + "\n")
            driver.stdin.flush()

        def ask(sql: str, **more: Any) -> Any:
            say({"sql": sql, **more})
            return json.loads(driver.stdout.readline())

        settings = {
            "spark.master": found.url,
            "spark.driver.host": "127.0.0.1",
            "spark.executor.memory": "512m",
            "spark.executor.extraJavaOptions": " ".join(standalone.FAST_START),
            "spark.task.maxFailures": "1",
            "spark.pyspark.python": str(found.python),
        }
        try:
            say({"settings": settings})
            answer = ask("select count(*) as n, count(distinct id) as ids from t", at=MERGED)
            assert answer["engine"] == f"plain Spark on {found.url}"
            assert answer["rows"] == [{"n": 300, "ids": 300}]

            say({"plan": True})
            planned = json.loads(driver.stdout.readline())
            assert planned["equal"], planned
            assert planned["parts"] > 1
            assert planned["frees"] > 20
            kept_parts = set(found.executors())
            standalone.kill(list(kept_parts))
            while len(set(found.executors()) - kept_parts) < len(found.workers):
                time.sleep(0.2)
            say({"plan": True})  # the parts were on the executors' disks, and are built again
            assert json.loads(driver.stdout.readline()) == planned

            copy = shutil.copytree(table, tmp_path / "default.db" / "t")
            frees = set(open_table(str(copy)).preview(CHANGE, NOW_MS).frees["path"].to_pylist())
            say({"expire": str(copy)})
            assert json.loads(driver.stdout.readline()) == {"waiting": True}
            standalone.kill(found.executors())  # with the parts by which it was confirmed
            say({})
            done = json.loads(driver.stdout.readline())
            assert (done["outcome"], done["exact"]) == ("done", True), done
            assert frees == {path for path in done["deleted"] if not (copy / path).exists()}

            say({"sql": "select count(*) from t a, t b, t c, t d, t e, t f, t g, t h, t i, t j, t k where a.id < b.id"})
            pause, answers = 3.0, cast(TextIO, driver.stdout)
            while not select.select([answers], [], [], pause)[0]:  # its last tasks run for hours
                standalone.kill(found.executors())
                pause *= 2  # if they had no task yet, they are replaced and the query goes on
                assert pause < 100
            lost = json.loads(driver.stdout.readline())
            assert lost["error"] == "Invalid", lost
            assert f"{found.url} lost an executor" in lost["message"]

            found.end_workers()
            starved = ask("select count(*) from t", timeout_s=8)
            assert "stopped after 8 s" in starved["message"]
            assert f"{found.url} has no free workers" in starved["remedy"]
        finally:
            driver.stdin.close()
            driver.wait(120)


def test_a_refusal_is_no_failure_of_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "cluster_name", lambda: MASTER)
    said: SnapscopeError = Invalid("no")
    assert refusals.refusal(said) is said
    assert cluster.failure("[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012", MASTER) is None


def test_a_cluster_does_not_write_to_this_disk(tmp_path: Path) -> None:
    """Its files would be on the workers' disks, and a commit would find none of them."""
    of_cluster: Any = SimpleNamespace(sparkContext=SimpleNamespace(master=MASTER))
    rows: Any = SimpleNamespace(sparkSession=of_cluster)
    store, at = Store(str(tmp_path)), Stamp(0, lambda: "x")
    for writes in (append.stage(store, rows, at), upsert._stage(store, rows, at, None, {})):
        with pytest.raises(Unsupported, match="cannot write to the disk of this machine") as refused, writes:
            raise AssertionError
        assert "SPARK_MASTER=local[*]" in str(refused.value.remedy)
