"""Spark starts from an archive of its classes if there is a complete one for its Java and class path, else without."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from core.spark.session import class_archive, class_archiving, gateway
from core.spark.session import session as sessions

SUBMIT = "org.apache.spark.deploy.SparkSubmit"
LOCAL = {"spark.master": "local[1]", "spark.driver.memory": "1g"}


@pytest.fixture
def java(tmp_path: Path) -> Path:
    program = tmp_path / "java"
    program.write_text("")
    return program


@pytest.fixture
def jars(tmp_path: Path) -> str:
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "a.jar").write_text("a")
    return f"{tmp_path}/jars/*"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in class_archive._PASSED:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(class_archive.VARIABLE, str(tmp_path / "archives"))
    (tmp_path / "archives").mkdir()
    return tmp_path / "archives"


def kept(java: Path, class_path: str, size: int = 3) -> Path:
    stem = class_archive.stem(java, class_path)
    assert stem is not None
    archive = class_archive.complete(stem, size)
    archive.write_bytes(b"jsa")
    return archive


def test_it_is_in_the_cache_directory_unless_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SNAPSCOPE_CACHE", str(tmp_path / "cache"))
    assert class_archive.directory() == tmp_path / "archives"
    monkeypatch.delenv(class_archive.VARIABLE)
    assert class_archive.directory() == tmp_path / "cache" / "classes"
    monkeypatch.setenv(class_archive.VARIABLE, class_archive.OFF)
    assert class_archive.directory() is None


def test_one_for_each_java_and_class_path(java: Path, jars: str, tmp_path: Path) -> None:
    before = kept(java, jars)
    assert class_archive.options(java, jars, []) == [f"-XX:SharedArchiveFile={before}", class_archive.QUIET]
    (tmp_path / "b.jar").write_text("")
    assert class_archive.options(java, f"{tmp_path}/b.jar{os.pathsep}{jars}", []) == []
    (tmp_path / "jars" / "a.jar").write_text("another")
    assert class_archive.options(java, jars, []) == []
    after = kept(java, jars)
    java.write_text("a newer version")
    assert class_archive.options(java, jars, []) == []
    assert before != after


def test_a_part_that_is_missing_is_the_business_of_the_jvm(java: Path, jars: str, tmp_path: Path) -> None:
    assert class_archive.options(tmp_path / "nowhere", jars, []) == []
    assert class_archive.options(java, f"{tmp_path}/gone.jar", []) == []
    assert class_archive.options(java, f"{tmp_path}/gone/*", []) == []


def test_one_that_was_cut_off_is_not_used(java: Path, jars: str) -> None:
    kept(java, jars, size=4)
    assert class_archive.options(java, jars, []) == []


@pytest.mark.parametrize(
    "option",
    ["-Xshare:off", "-XX:SharedArchiveFile=/own.jsa", "-XX:ArchiveClassesAtExit=/own.jsa", "-XX:AOTCache=/own.aot",
     "-XX:+AutoCreateSharedArchive", "-XX:DumpLoadedClassList=/own"],
)  # fmt: skip
@pytest.mark.parametrize("variable", [None, "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"])
def test_an_option_of_the_user_wins(
    java: Path, jars: str, option: str, variable: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept(java, jars)
    assert class_archive.options(java, jars, ["-Xss4m", "-XX:+UseSerialGC"]) != []
    if variable is not None:
        monkeypatch.setenv(variable, f"-Xss4m {option}")
    assert class_archive.options(java, jars, ["-Xss4m"] if variable else ["-Xss4m", option]) == []


def test_off_uses_none(java: Path, jars: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(java, jars)
    monkeypatch.setenv(class_archive.VARIABLE, class_archive.OFF)
    assert class_archive.options(java, jars, []) == []


def test_only_our_own_archive_is_discarded(java: Path, jars: str, tmp_path: Path) -> None:
    archive, own = kept(java, jars), tmp_path / "own.jsa"
    own.write_text("")
    assert not class_archive.discard(["java", f"-XX:SharedArchiveFile={own}", SUBMIT])
    assert not class_archive.discard(["java", SUBMIT])
    assert class_archive.discard(["java", *class_archive.options(java, jars, []), SUBMIT])
    assert own.exists()
    assert not archive.exists()


def test_a_crash_discards_it_and_spark_starts_without(java: Path, tmp_path: Path) -> None:
    archive = kept(java, gateway.class_path(LOCAL))
    java.write_text(
        f"""#!/bin/sh
        case "$*" in *SharedArchiveFile*) kill -{signal.SIGABRT} $$ ;; esac
        printf '\\0\\0\\0\\7\\0\\0\\0\\2hi' >"{tmp_path}/told" && mv "{tmp_path}/told" "$_PYSPARK_DRIVER_CONN_INFO_PATH"
        exec cat
        """
    )
    java.chmod(0o755)
    archive = kept(java, gateway.class_path(LOCAL))
    found = gateway.launch(java, LOCAL, tmp_path / "work", deadline_s=300)
    try:
        assert (found.port, found.secret) == (7, "hi")
        assert not archive.exists()
    finally:
        gateway.kill(found.process)


# ------------------------------------------------------------------------------------------------------ with a real one


def started(java: Path, settings: Mapping[str, str], tmp_path: Path) -> tuple[str, str]:
    """What Spark prints about its version when started with these settings, and where the JVM took SparkSubmit from."""
    log = tmp_path / "classes.log"
    asked = settings.get("spark.driver.extraJavaOptions", "") + f" -Xlog:class+load:file={log}"
    command = gateway._command(java, {**settings, "spark.driver.extraJavaOptions": asked}, log, tmp_path, tmp_path)
    done = subprocess.run(
        [*command[: command.index(SUBMIT) + 1], "--version"],
        env=gateway._environment(LOCAL, log),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    (source,) = [line.partition("source: ")[2] for line in log.read_text().splitlines() if f" {SUBMIT} " in line]
    return re.sub(r"\d\d:\d\d:\d\d", "", done.stdout), source


@pytest.fixture(scope="module")
def made() -> Path:
    """The archive that all tests start Spark from; if another worker is making it, this one waits."""
    while (why := class_archiving.make(nice=0)) == class_archiving.BUSY:
        with Path(os.environ[class_archive.VARIABLE], ".lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
    assert why == ""
    found = class_archive.find(class_archive.stem(sessions.java_home().path, gateway.class_path(LOCAL)))
    assert found is not None
    return found


@pytest.mark.parametrize("fast", ["0", "1"])
def test_spark_starts_from_it(made: Path, fast: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With either garbage collector, and with a directory behind it, as for the driver of a cluster."""
    monkeypatch.setenv("SNAPSCOPE_SPARK_FAST_START", fast)
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    java = sessions.java_home().path
    without = started(java, LOCAL, tmp_path)
    assert "shared" not in without[1]
    monkeypatch.setenv(class_archive.VARIABLE, str(made.parent))
    for settings in (LOCAL, LOCAL | {"spark.master": "yarn"}):
        assert started(java, settings, tmp_path) == (without[0], "shared objects file (top)")
    own = LOCAL | {"spark.driver.extraJavaOptions": "-Xshare:off"}
    assert started(java, own, tmp_path) == without


@pytest.mark.parametrize("damage", ["empty", "half written", "foreign", "random"])
def test_one_that_cannot_be_used_is_ignored_in_silence(made: Path, damage: str, place: Path, tmp_path: Path) -> None:
    java = sessions.java_home().path
    without = started(java, LOCAL, tmp_path)
    data = made.read_bytes()
    data = {
        "empty": b"",
        "half written": bytes(8192) + data[8192 : len(data) // 2],  # the JVM writes the header last
        "foreign": data[:100].replace(b"OpenJDK", b"AnyJDKS") + data[100:4096].replace(b"17.", b"16.") + data[4096:],
        "random": os.urandom(100_000),
    }[damage]
    stem = class_archive.stem(java, gateway.class_path(LOCAL))
    assert stem is not None
    class_archive.complete(stem, len(data)).write_bytes(data)
    assert class_archive.options(java, gateway.class_path(LOCAL), []) != []
    assert started(java, LOCAL, tmp_path) == without
