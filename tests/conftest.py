"""Fixtures and rules for all tests: no test touches the home directory, and every run reports what it left out.

Invariant: what is required is never skipped. `SNAPSCOPE_REQUIRE=engines,browser` turns a skip of such a test into a
failure, and also fails a whole run that had no such tests.
"""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import coverage
import hypothesis
import pytest

from tests.engines.lines import CACHE
from tests.support.depth import IS_DEEP, IS_SHALLOW, sample, tries
from tests.support.e2e.chromium import browser
from tests.support.places import ROOT, SMALL_TABLES, TABLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KINDS = (
    "spark",
    "engines",
    "browser",
    "azurite",
    "fake_gcs",
    "hdfs",
    "postgres",
    "mysql",
    "moto",
    "seaweedfs",
    "nessie",
)
"""Tests that need more than Python. The kind is the test's marker, or the prefix of a skip's reason ("browser:")."""

KIND_OF_DIRECTORY = {"core/spark": "spark", "engines": "engines", "interop": "engines", "e2e": "browser"}

hypothesis.settings.register_profile(
    "repeatable", tries(100), deadline=None, print_blob=True, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("repeatable")


# --- fixtures --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def shared_tables() -> Path:
    """Real tables, read-only: see `tests.support.places.find_tables`."""
    return TABLES


@pytest.fixture(scope="session")
def state_dirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("snapscope")


@pytest.fixture(autouse=True)
def state_dir(state_dirs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A separate directory for what Snapscope keeps between runs; the cache and the settings file are empty, too."""
    own = Path(tempfile.mkdtemp(dir=state_dirs))  # `mktemp` would list thousands of other directories each time
    monkeypatch.setenv("SNAPSCOPE_STATE", str(own / "state"))
    monkeypatch.setenv("SNAPSCOPE_CACHE", str(own / "cache"))
    (own / "config.toml").touch(0o600)
    monkeypatch.setenv("SNAPSCOPE_CONFIG", str(own / "config.toml"))
    return own / "state"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Damage that sends the Avro decoder into an endless loop times out sooner, and the next test starts fresh."""
    from core.formats.avro import decode as avro

    monkeypatch.setattr(avro, "PATIENCE_S", 5.0)
    monkeypatch.setattr(avro, "_gave_up", False)


@pytest.fixture(autouse=True)
def lent_to_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a catalog lends to one test is not used by the next one, for a bucket of the same name."""
    from core.storage import location_options

    monkeypatch.setattr(location_options, "_known", dict(location_options._known))


@pytest.fixture(scope="session", autouse=True)
def descriptions_are_read_once() -> Iterator[None]:
    """Each new client of S3 would parse botocore's descriptions of services again, for 0.1 s of CPU."""
    from botocore.loaders import JSONFileLoader

    load, known = JSONFileLoader.load_file, dict[str, Any]()

    def load_once(self: Any, path: str) -> Any:
        if path not in known:
            known[path] = load(self, path)
        return known[path]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JSONFileLoader, "load_file", load_once)
        yield


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The only Spark of the process, started on first use, because that takes seconds. Its log and warehouse are in a
    separate directory. Tests must not stop it, except in a separate process."""
    from core.spark.session import session

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SNAPSCOPE_STATE", str(tmp_path_factory.mktemp("state")))
        yield session.get()
        session.stop()


@cache
def archive_classes() -> None:
    """Make the archive from which Spark starts faster, once for all runs on this machine. One worker makes
    it, the others go on without. The log says why there is none."""
    from core.spark.session import class_archiving

    class_archiving.make(nice=0)


@pytest.fixture(scope="session")
def demo(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo warehouse, built once."""
    from core.demo import build as making

    directory = tmp_path_factory.mktemp("demo") / "demo"
    making.build(str(directory), progress=None, now_ms=time.time_ns() // 1_000_000)
    return directory


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser to use."""
    found = browser()
    if found is None:
        pytest.skip("browser: no Chromium on the PATH")
    return found


# --- several workers -------------------------------------------------------------------------------------------------

TOGETHER = {
    "tests/e2e/": "the demo",
    "tests/test_doc_examples": "the demo",
    "tests/interop/test_iceberg": "histories of Iceberg tables",
    "tests/interop/test_catalogs": "Paimon's catalogs",
    "tests/interop/test_paimon_catalog_contract": "Paimon's catalogs",
}
"""Tests that run on the same worker, by file name prefix, because they share expensive fixtures."""


def together(nodeid: str) -> str:
    """Return the group of a test; tests of a group (a file, or several files) run on the same worker, in order."""
    file = nodeid.partition("::")[0]
    return next((shared for start, shared in TOGETHER.items() if file.startswith(start)), file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Make `--dist loadfile` keep groups together; None leaves any other mode unchanged."""
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return together(nodeid)

    return Together(config, log) if config.option.dist == "loadfile" else None


# --- the event loop --------------------------------------------------------------------------------------------------


@contextmanager
def own_event_loop(item: pytest.Item) -> Generator[None, None, None]:
    """Hide the browser's event loop from tests that use no browser. Once started, Playwright leaves its loop marked as
    running in the main thread until the process ends, and `asyncio.run` refuses to start there."""
    running = None if "browser" in getattr(item, "fixturenames", ()) else asyncio._get_running_loop()
    if running is None:
        yield
        return
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(running)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    if "spark" in getattr(item, "fixturenames", ()) or item.get_closest_marker("spark") is not None:
        archive_classes()
    with own_event_loop(item):
        yield


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    with own_event_loop(item):
        yield


# --- coverage --------------------------------------------------------------------------------------------------------


def is_long(item: pytest.Item) -> bool:
    """Deselect what `make check` leaves out."""
    return not {"slow", *KINDS}.isdisjoint(item.keywords)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, bool | None, bool | None]:
    """Measure coverage of fast tests only: tracing makes Python a quarter slower, and the long tests take most of a
    run."""
    measuring = coverage.Coverage.current() if is_long(item) else None
    if measuring is None:
        return (yield)
    measuring.stop()
    try:
        return (yield)
    finally:
        measuring.start()


# --- what a run left out ---------------------------------------------------------------------------------------------

Collected = pytest.CollectReport
PRIVATE = pytest.StashKey[str]()


def required() -> frozenset[str]:
    """Return the kinds in `SNAPSCOPE_REQUIRE`; an unknown name is an error, because it would require nothing."""
    named = frozenset(filter(None, (kind.strip() for kind in os.environ.get("SNAPSCOPE_REQUIRE", "").split(","))))
    if unknown := sorted(named.difference(KINDS)):
        raise pytest.UsageError(f"SNAPSCOPE_REQUIRE names {', '.join(unknown)}; it knows {', '.join(KINDS)}")
    return named


@cache
def kind_of(path: Path) -> str | None:
    """Return the kind of tests in a directory that holds only one kind."""
    if not path.is_relative_to(ROOT / "tests"):
        return None
    below = path.relative_to(ROOT / "tests")
    return next((kind for place, kind in KIND_OF_DIRECTORY.items() if below.is_relative_to(place)), None)


def pytest_configure(config: pytest.Config) -> None:
    required()
    # A directory for what outlives a single test (a server, Spark), outside the home directory.
    private = config.stash[PRIVATE] = tempfile.mkdtemp(prefix="snapscope-tests-")
    os.environ["SNAPSCOPE_STATE"] = os.path.join(private, "state")
    os.environ["SNAPSCOPE_CACHE"] = os.path.join(private, "cache")
    # The first test that uses Spark starts it for all later tests of the process, so it must always start the same way.
    os.environ["SNAPSCOPE_SPARK_FAST_START"] = "1"
    os.environ.pop("SNAPSCOPE_SPARK_CONF", None)
    os.environ.setdefault("SNAPSCOPE_SPARK_CLASS_ARCHIVE", str(CACHE / "spark"))
    # Without compiled files every worker rewrites all tests (17 s), and every process that a test starts compiles core.
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(config.stash.get(PRIVATE, ""), ignore_errors=True)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among modules and tests: all of them are kept until the process ends."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None, None, None]:
    for item in items:
        if kind := kind_of(item.path):
            item.add_marker(kind)
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")
    yield  # here pytest selects by markers and names
    run = chosen(items)
    if rest := [item for item in items if item not in run]:
        items[:] = [item for item in items if item in run]
        config.hook.pytest_deselected(items=rest)
    if hasattr(config, "workerinput"):  # start long tests first, so that no worker is left with them at the end
        long = Counter(together(item.nodeid) for item in items if is_long(item))
        items.sort(key=lambda item: -long[together(item.nodeid)])


def chosen(items: list[pytest.Item]) -> set[pytest.Item]:
    """Return the tests that run: deep ones only in a deep run, and in a shallow run three cases of each."""
    cases = defaultdict[str, list[pytest.Item]](list)
    for item in items:
        if IS_DEEP or not item.get_closest_marker("deep"):
            cases[item.nodeid.partition("[")[0]].append(item)
    return {item for each in cases.values() for item in (sample(each, 3) if IS_SHALLOW else each)}


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return a skip's reason on one line."""
    said = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return " ".join(said.split()).removeprefix("Skipped: ")


def _refuse(report: pytest.TestReport | pytest.CollectReport, kinds: set[str]) -> None:
    """Turn a skip into a failure if the kind that its reason begins with is required, or one of its markers."""
    reason = _reason(report)
    lacking = reason.partition(":")[0]
    if missed := sorted(required() & ({lacking} if lacking in KINDS else kinds)):
        report.outcome = "failed"
        report.longrepr = f"{', '.join(missed)} required by SNAPSCOPE_REQUIRE, but skipped: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    kinds = {mark.name for mark in item.iter_markers()}
    if report.skipped and not hasattr(report, "wasxfail"):
        _refuse(report, kinds)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, Collected, Collected]:
    report = yield
    if report.skipped:
        _refuse(report, {kind_of(collector.path) or ""})
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, None, None]:
    """Print one line below pytest's own last line."""
    yield
    config = session.config
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or config.option.collectonly:
        return
    option = config.option
    ran = {key for outcome in ("passed", "failed") for each in reporter.stats.get(outcome, []) for key in each.keywords}
    is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS and not (option.keyword or option.markexpr)
    if is_whole and (idle := sorted(kind for kind in required() if kind not in ran)):
        reporter.write_line(f"{', '.join(idle)} required by SNAPSCOPE_REQUIRE, but no such test ran", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    reporter.write_line("left out: " + ("; ".join(left_out(reporter.stats)) or "nothing"))


def left_out(stats: dict[str, list[object]]) -> list[str]:
    """List what did not run, with the reasons and the number of tests."""
    reasons = Counter(_reason(report) for report in stats.get("skipped", []))  # type: ignore[arg-type]
    reasons["known to fail"] = len(stats.get("xfailed", []))
    reasons["not selected"] = len(stats.get("deselected", []))
    said = [f"{n} test{'s' if n > 1 else ''} ({reason})" for reason, n in reasons.most_common() if n]
    if TABLES == SMALL_TABLES:
        said.append("tables beyond tests/tables (no SNAPSCOPE_SHARED, no ../shared/tables)")
    if beyond := os.environ.get("SNAPSCOPE_LEFT_OUT"):
        said.append(beyond)
    return said
