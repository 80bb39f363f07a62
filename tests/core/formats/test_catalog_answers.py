"""A catalog that never finishes its answer: each question ends after a time, with the catalog's name and a way out."""

from __future__ import annotations

import importlib
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.errors import Corrupt, Unsupported
from core.execution.apply import apply
from core.formats import catalog_answers
from core.formats.paimon.catalogs import owners
from core.model.actions import CreateTag
from core.storage import time_limits
from core.table import open_table
from tests.support import dripping
from tests.support.formats.paimon import rest_catalog
from tests.support.formats.paimon.metastore import names
from tests.support.formats.paimon.tables import four_commits

pytestmark = pytest.mark.slow  # each waits for a limit that a busy machine does not reach before it has asked

LIMIT_S = 3
SOON_S = 60  # far below the minutes that the answers take
LATE = rf"The catalog \S+ did not answer within {LIMIT_S} s\."


@pytest.fixture(autouse=True)
def _limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(time_limits.VARIABLE, str(LIMIT_S))


@pytest.fixture(params=["headers", "body"])
def dripping_server(request: pytest.FixtureRequest) -> Iterator[dripping.Server]:
    with dripping.serving(request.param) as found:
        yield found


def configure(url: str) -> None:
    Path(os.environ["SNAPSCOPE_CONFIG"]).write_text(f"[catalog.slow]\ntype = 'paimon-rest'\nuri = '{url}'")


def test_a_change_waits_for_a_paimon_catalog_only_for_a_time(dripping_server: dripping.Server, tmp_path: Path) -> None:
    made = four_commits(tmp_path / "orders")
    found = open_table(str(made.root))
    plan, before = found.preview(CreateTag("v9", 2), 0), names(made)
    configure(dripping_server.url)
    began = time.monotonic()
    with pytest.raises(Unsupported, match=LATE) as refused:
        apply(found, plan, settle_s=0)
    assert time.monotonic() - began < SOON_S
    assert "catalog slow" in str(refused.value)
    assert "remove that catalog from the settings file" in str(refused.value)
    assert names(made) == before
    with pytest.raises(Corrupt, match=LATE) as late:
        open_table("paimon://slow/shop/orders")
    assert time_limits.VARIABLE in str(late.value)
    assert dripping_server.asked


def test_an_error_that_does_not_end_is_read_only_for_a_time() -> None:
    """Its connection ends soon after the question was given up, and with it the thread."""
    with dripping.serving("error") as server:
        configure(server.url)
        with pytest.raises(Corrupt, match=LATE):
            open_table("paimon://slow/shop/orders")
        ends = time.monotonic() + SOON_S
        while time_limits.stuck().get("paimon://slow"):
            assert time.monotonic() < ends
            time.sleep(dripping.PAUSE_S)


def test_a_catalog_is_asked_again_when_a_stuck_question_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(time_limits.VARIABLE, "0.05")
    ends = threading.Event()
    for _ in range(time_limits.MOST_STUCK):
        with pytest.raises(Corrupt, match="did not answer within"):
            catalog_answers.ask("slow", "paimon://stuck", lambda: ends.wait(SOON_S))
    monkeypatch.setenv(time_limits.VARIABLE, str(SOON_S))
    with pytest.raises(Corrupt, match="has not yet answered earlier questions") as refused:
        catalog_answers.ask("slow", "paimon://stuck", lambda: 1)
    assert "It is asked again as soon as one of them has ended" in str(refused.value.remedy)
    ends.set()
    until = time.monotonic() + SOON_S
    while time_limits.stuck().get("paimon://stuck"):
        assert time.monotonic() < until
        time.sleep(0.01)
    assert catalog_answers.ask("slow", "paimon://stuck", lambda: 1) == 1


@pytest.mark.parametrize("is_silent", [True, False])
def test_a_database_is_waited_for_only_for_a_time(is_silent: bool) -> None:
    """A server that accepts connections and never answers, and one that answers byte by byte."""
    importlib.import_module("pg8000.dbapi")
    with dripping.postgres(is_silent=is_silent) as (port, asked):
        Path(os.environ["SNAPSCOPE_CONFIG"]).write_text(
            f"[catalog.slow]\ntype = 'paimon-jdbc'\nwarehouse = '/w'\nuser = 'me'\n"
            f"uri = 'jdbc:postgresql://127.0.0.1:{port}/lake'"
        )
        began = time.monotonic()
        with pytest.raises(Corrupt, match=LATE) as late:
            open_table("paimon://slow/shop/orders")
        assert time.monotonic() - began < SOON_S / 4
        assert time_limits.VARIABLE in str(late.value)
        assert asked


def test_an_iceberg_catalog_is_waited_for_only_for_a_time(
    dripping_server: dripping.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    importlib.import_module("pyiceberg.catalog.rest")  # takes a while, which is not the catalog's
    monkeypatch.setenv("PYICEBERG_CATALOG__SLOW__URI", dripping_server.url)
    monkeypatch.setenv("PYICEBERG_CATALOG__SLOW__TYPE", "rest")
    began = time.monotonic()
    with pytest.raises(Corrupt, match=LATE) as late:
        open_table("iceberg://slow/shop/orders").heads()
    assert time.monotonic() - began < SOON_S
    assert "catalog slow" in str(late.value)
    assert time_limits.VARIABLE in str(late.value)
    assert dripping_server.asked


def test_a_metastore_is_waited_for_only_for_a_time() -> None:
    """The length of its answer, then a byte at a time."""
    importlib.import_module("hive_metastore.ThriftHiveMetastore")
    with dripping.metastore() as (port, asked):
        Path(os.environ["SNAPSCOPE_CONFIG"]).write_text(
            f"[catalog.slow]\ntype = 'paimon-hive'\nuri = 'thrift://127.0.0.1:{port}'"
        )
        began = time.monotonic()
        with pytest.raises(Corrupt, match=LATE):
            open_table("paimon://slow/shop/orders")
        assert time.monotonic() - began < SOON_S
        assert asked


def test_a_catalog_whose_pages_do_not_end_is_asked_only_for_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owners, "CALLS", 1)
    made, pages = four_commits(tmp_path / "orders"), list[str]()

    def answer(path: str, query: dict[str, str]) -> tuple[int, Any]:
        if path.endswith("/config"):
            return 200, {}
        if not path.endswith("/databases"):
            return 404, {"resourceType": "TABLE", "message": "none", "code": 404}
        time.sleep(dripping.PAUSE_S)
        pages.append(path)
        return 200, {"databases": [], "nextPageToken": str(len(pages))}

    found = open_table(str(made.root))
    plan = found.preview(CreateTag("v9", 2), 0)
    with rest_catalog.serving(answer) as server:
        configure(server.url)
        began = time.monotonic()
        with pytest.raises(Unsupported, match=rf"through the catalog slow: It has not answered within {LIMIT_S} s"):
            apply(found, plan, settle_s=0)
        assert time.monotonic() - began < SOON_S
    assert pages
