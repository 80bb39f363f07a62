"""A Spark Connect server of its own process on this machine, whose Python workers do not see the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark

from core.spark.session import gateway, java
from tests.support.places import ROOT
from tests.support.ports import free_port
from tests.support.spark import standalone


@contextmanager
def server(folder: Path, port: int | None = None) -> Iterator[str]:
    """Its address. `folder` gets its log and working directory."""
    folder.mkdir()
    home = Path(pyspark.__file__).parent
    port = port or free_port()
    python = standalone.packages_only(folder / "python", sysconfig.get_path("purelib"))
    settings = {
        "spark.master": "local[2]",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.local.dir": str(folder),
        "spark.sql.session.timeZone": "Europe/Oslo",  # as an operator may
        "spark.ui.enabled": "false",
    }
    opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in gateway._OPENED]
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with open(folder / "server.log", "wb") as log:
        process = subprocess.Popen(
            [
                *(str(java.java_home().path), "-cp", f"{home}/jars/*", "-Xmx512m", *standalone.FAST_START, *opened),
                *(f"-D{name}={value}" for name, value in settings.items()),
                "org.apache.spark.sql.connect.service.SparkConnectServer",
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=folder,
            env=own
            | {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": str(python)}
            | {"SPARK_ANSI_SQL_MODE": "false"},  # by which Spark chooses its default
        )
    try:
        standalone.wait_for(folder / "server.log", "Spark Connect server started")
        yield f"sc://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


DRIVER = """
import json, sys
from core.errors import SnapscopeError
from core.spark.read.removed_points import resolved
from core.spark.diff.rows import row_diff
from core.spark.query.query import query
from core.table import open_table
from tests.support.spark.planned import cleaned, planned

def diff(table, a, b):
    history = table.history()
    found = row_diff(table, history, *(resolved(table, history.heads, each, "main") for each in (a, b)))
    return {"counts": [found.added, found.removed, found.changed, found.unchanged], "engine": found.engine}

def append(table):
    from core.spark.session import session
    from core.spark.write import append
    rows = session.get().range(1)
    append.append(table.store, rows, append.stamp(0))

for line in sys.stdin:
    asked = json.loads(line)
    table = open_table(asked.pop("table"))
    try:
        if "diff" in asked:
            said = diff(table, *asked["diff"])
        elif "plan" in asked:
            said = planned(table)
        elif "clean" in asked:
            said = cleaned(table.location)
        elif "append" in asked:
            said = append(table)
        else:
            found = query(table, asked.pop("sql"), **{"timeout_s": 300, **asked})
            said = {"rows": sorted(map(repr, found.table.to_pylist())), "engine": found.engine}
            said["types"] = list(map(str, found.table.schema.types))
    except SnapscopeError as error:
        said = {"error": type(error).__name__, "message": error.message, "remedy": str(error.remedy)}
    print(json.dumps(said), flush=True)
"""


class Client:
    """A process of ours that uses a server: it answers one question after another, and exits by itself at the end."""

    def __init__(self, address: str, folder: Path, **variables: str) -> None:
        folder.mkdir()
        own = {"SPARK_REMOTE": address, "PYTHONPATH": str(ROOT), "SNAPSCOPE_STATE": str(folder / "state")}
        own |= {"SNAPSCOPE_SPARK_FAST_START": "1", **variables}
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore::UserWarning", "-c", DRIVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            env={name: value for name, value in os.environ.items() if name != "SPARK_MASTER"} | own,
        )

    def ask(self, table: Path, **asked: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"table": str(table), **asked}) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()
            try:
                assert self._process.wait(60) == 0
            finally:
                self._process.kill()
