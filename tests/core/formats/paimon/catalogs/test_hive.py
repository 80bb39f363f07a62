"""Paimon's Hive catalog, as a Metastore of a few lines answers; a real one is asked in tests/interop."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from core import settings_file
from core.catalog import list_tables
from core.errors import Corrupt, NotFound, Unsupported
from core.formats.paimon.catalogs import hive
from core.storage import time_limits
from core.table import open_table
from tests.support.builders import TableBuilder
from tests.support.formats.paimon.metastore import Metastore, configure, lake, server
from tests.support.places import ROOT

__all__ = ["lake", "server"]  # fixtures


def test_paimon_tables_are_listed_by_name(server: Metastore) -> None:
    found = list_tables("paimon://meta")
    assert [each.location for each in found.tables] == [f"paimon://meta/shop/{t}" for t in ("gone", "moved", "orders")]
    assert [each.path for each in found.problems] == ["closed"]
    assert "closed is closed" in found.problems[0].sentence()
    with pytest.raises(Corrupt):
        list_tables("paimon://meta/closed")
    with pytest.raises(NotFound):
        list_tables("paimon://meta/none")


@pytest.mark.parametrize("name", ["orders", "moved"])
def test_a_table_opens_where_the_metastore_says(server: Metastore, lake: TableBuilder, name: str) -> None:
    found = open_table(f"paimon://meta/shop/{name}")
    assert found.location == str(lake.root)
    assert len(found.heads().main.snapshots) == 4


@pytest.mark.parametrize("name", ["shop/none", "shop/other", "shop/gone", "none/t", "shop"])
def test_what_is_not_there_is_not_found(server: Metastore, name: str) -> None:
    with pytest.raises(NotFound):
        open_table(f"paimon://meta/{name}")


@pytest.mark.parametrize("uri", ["http://host:1", "thrift://host", "thrift://host:x"])
def test_other_addresses_are_refused(uri: str) -> None:
    configure(uri)
    with pytest.raises(Unsupported, match="thrift://HOST:PORT"):
        list_tables("paimon://meta")


def test_the_next_server_is_asked(server: Metastore) -> None:
    configure(f"thrift://127.0.0.1:1,{server.uri}")
    assert len(list_tables("paimon://meta").tables) == 3


@pytest.mark.parametrize(
    ("warehouse", "more", "is_locked"),
    [
        ("/w", "", False),
        ("hdfs://node/w", "", False),
        ("s3://lake/w", "", True),
        ("memory://lake", "", True),
        ("s3://lake/w", "lock-enabled = false", False),
        ("/w", "lock-enabled = true", True),
    ],
)
def test_writers_lock_on_object_stores_unless_told_otherwise(warehouse: str, more: str, is_locked: bool) -> None:
    """As `AbstractCatalog.lockEnabled`."""
    configure("thrift://h:1", f"warehouse = '{warehouse}'", more)
    assert hive.is_locked(settings_file.current().catalogs["meta"], f"{warehouse}/shop.db/t") == is_locked


def test_a_lock_that_is_granted_too_late_is_released(server: Metastore, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would keep other writers out until it expires."""
    catalog = settings_file.current().catalogs["meta"]
    monkeypatch.setattr(hive, "TIMEOUT_S", 0.5)  # without a byte
    monkeypatch.setenv(time_limits.VARIABLE, "1")
    server.answers.clear()
    with (
        pytest.raises(Corrupt, match="did not answer within 1 s"),
        hive.locked(catalog, hive.table(catalog, "shop", "orders")),
    ):
        pass
    assert server.held
    server.answers.set()
    ends = time.monotonic() + 60
    while server.held:
        assert time.monotonic() < ends
        time.sleep(0.01)
    assert server.asked == ["lock", "unlock"]


def test_an_unknown_host_is_one_error_and_no_stack() -> None:
    """thrift logs the exception too, which Python prints to stderr where a program has set up no logging."""
    configure("thrift://nowhere.invalid:9083")
    program = "from core.cli import main; raise SystemExit(main(['tables', 'paimon://meta']))"
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode
    assert "nowhere.invalid" in ended.stderr
    assert "Traceback" not in ended.stderr
