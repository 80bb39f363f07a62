"""Which catalog commits to a table that was opened by its path."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.errors import Unsupported
from core.execution.apply import apply
from core.formats.paimon.catalogs import owners
from core.model.actions import CreateTag
from core.storage import time_limits
from core.table import open_table
from tests.support.builders import TableBuilder
from tests.support.formats.paimon import rest_catalog
from tests.support.formats.paimon.metastore import Metastore, configure, lake, names, server
from tests.support.formats.paimon.metastore import table as metastore_table
from tests.support.formats.paimon.tables import four_commits

__all__ = ["lake", "server"]  # fixtures


@pytest.mark.parametrize("how", ["path", "link"])
def test_a_table_whose_writers_lock_is_not_changed_by_its_path(
    server: Metastore, lake: TableBuilder, tmp_path: Path, how: str
) -> None:
    configure(server.uri, "lock-enabled = true")
    server.tables["shop"].pop("moved")
    (tmp_path / "link").symlink_to(lake.root)
    found = open_table(str(lake.root) if how == "path" else f"{tmp_path}/link")
    plan, before = found.preview(CreateTag("v9", 2), 0), names(lake)
    with pytest.raises(Unsupported, match=r"take the lock of the catalog meta\. Open it as paimon://meta/shop/orders"):
        apply(found, plan, settle_s=0)
    assert names(lake) == before


def test_a_database_that_cannot_be_read_may_have_the_table(server: Metastore, lake: TableBuilder) -> None:
    configure(server.uri, "lock-enabled = true")
    server.tables["shop"].clear()
    found = open_table(str(lake.root))
    with pytest.raises(Unsupported, match=r"It cannot be determined .* closed is closed"):
        apply(found, found.preview(CreateTag("v9", 2), 0), settle_s=0)
    server.closed.clear()
    apply(found, found.preview(CreateTag("v9", 2), 0), settle_s=0)


@pytest.fixture
def cloud(lake: TableBuilder, tmp_path: Path) -> Iterator[rest_catalog.Server]:
    """A REST catalog that has the table under another name than its path tells, and that another database closes."""

    def answer(path: str, query: dict[str, str]) -> tuple[int, Any]:
        match path.removeprefix("/v1/").split("/"):
            case ["config"]:
                return 200, {}
            case ["databases"]:
                return 200, {"databases": ["closed", "shop"]}
            case ["databases", "shop", "table-details"] if "pageToken" not in query:
                return 200, {"tableDetails": [{"name": "a", "path": str(tmp_path)}], "nextPageToken": "2"}
            case ["databases", "shop", "table-details"]:
                return 200, {"tableDetails": [{"name": "o/1", "path": f"file:{lake.root}"}]}
            case ["databases", "closed", "table-details"]:
                return 403, {"message": "not for you", "code": 403}
        return 404, {"resourceType": "TABLE", "message": "none", "code": 404}

    with rest_catalog.serving(answer) as found:
        Path(os.environ["SNAPSCOPE_CONFIG"]).write_text(f"[catalog.meta]\ntype = 'paimon-rest'\nuri = '{found.url}'")
        yield found


def test_a_table_of_a_rest_catalog_is_not_changed_by_its_path(cloud: rest_catalog.Server, lake: TableBuilder) -> None:
    found = open_table(str(lake.root))
    plan, before = found.preview(CreateTag("v9", 2), 0), names(lake)
    assert any("Open it as paimon://meta/shop/o%2F1" in each.text for each in plan.warnings)
    with pytest.raises(Unsupported, match=r"Open it as paimon://meta/shop/o%2F1\. Nothing was changed"):
        apply(found, plan, settle_s=0)
    assert names(lake) == before


def test_a_table_that_no_catalog_has_is_changed(cloud: rest_catalog.Server, tmp_path: Path) -> None:
    other = four_commits(tmp_path / "other")
    found = open_table(str(other.root))
    plan = found.preview(CreateTag("v9", 2), 0)
    with pytest.raises(Unsupported, match=r"It cannot be determined .* HTTP 403 not for you"):
        apply(found, plan, settle_s=0)
    told, cloud.answer = cloud.answer, lambda path, query: (200, {}) if "closed" in path else told(path, query)
    apply(found, found.preview(CreateTag("v9", 2), 0), settle_s=0)
    assert "tag/tag-v9" in names(other)


@pytest.mark.parametrize("said", [(501, {}), (200, {"tableDetails": [{"name": "a"}]}), (200, {"tableDetails": ["a"]})])
def test_a_catalog_without_details_of_its_tables_may_have_the_table(
    cloud: rest_catalog.Server, lake: TableBuilder, said: tuple[int, Any]
) -> None:
    before = cloud.answer
    cloud.answer = lambda path, query: said if "table-details" in path else before(path, query)
    found = open_table(str(lake.root))
    with pytest.raises(Unsupported, match="It cannot be determined"):
        apply(found, found.preview(CreateTag("v9", 2), 0), settle_s=0)


# previews -------------------------------------------------------------------------------------------------------------


def warned(location: object) -> list[str]:
    table = open_table(str(location))
    return [each.text for each in table.preview(CreateTag("shown", 2), 0).warnings]


def test_a_preview_uses_an_answer_again_and_a_change_asks_anew(
    server: Metastore, lake: TableBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(server.uri, "lock-enabled = true")
    asked = list[str]()
    before = server.get_table
    monkeypatch.setattr(server, "get_table", lambda *names: asked.append("table") or before(*names))
    server.tables["shop"].pop("moved")
    for _ in range(3):
        assert any("take the lock of the catalog meta" in each for each in warned(lake.root))
    assert asked == ["table"]
    server.tables["shop"].clear()
    server.closed.clear()
    assert any("take the lock of the catalog meta" in each for each in warned(lake.root))
    table = open_table(str(lake.root))
    apply(table, table.preview(CreateTag("v9", 2), 0), settle_s=0)
    assert warned(lake.root) == [], "the change has asked anew"
    monkeypatch.setattr(owners, "REMEMBERED_S", 0.0)
    server.tables["shop"]["orders"] = metastore_table("shop", "orders", str(lake.root))
    assert any("take the lock of the catalog meta" in each for each in warned(lake.root))


def test_the_table_that_the_path_is_named_after_is_asked_for_first(
    server: Metastore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(server.uri, "lock-enabled = true")
    own = four_commits(tmp_path / "shop.db" / "clicks")
    server.tables["shop"]["clicks"] = metastore_table("shop", "clicks", str(own.root))
    asked = list[str]()
    monkeypatch.setattr(server, "get_all_databases", lambda: asked.append("all") or [])
    assert any("Open it as paimon://meta/shop/clicks" in each for each in warned(own.root))
    assert asked == []


def test_catalogs_are_asked_at_the_same_time_and_a_preview_does_not_wait_for_long(
    lake: TableBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two servers are silent; the change waits for both, and is refused."""
    monkeypatch.setattr(owners, "PREVIEW_S", 0.5)
    silent = threading.Event()

    def answer(path: str, query: dict[str, str]) -> tuple[int, Any]:
        silent.wait(200)
        return 503, {}

    with rest_catalog.serving(answer) as one, rest_catalog.serving(answer) as other:
        lines = [f"[catalog.c{n}]\ntype = 'paimon-rest'\nuri = '{each.url}'" for n, each in enumerate((one, other))]
        Path(os.environ["SNAPSCOPE_CONFIG"]).write_text("\n".join(lines))
        began = time.monotonic()
        found = open_table(str(lake.root))
        plan = found.preview(CreateTag("v9", 2), 0)
        assert time.monotonic() - began < 100
        assert any("c0: It has not answered within 0.5 s" in each.text for each in plan.warnings)
        found.preview(CreateTag("v9", 2), 0)
        while not (one.asked and other.asked):
            assert time.monotonic() - began < 100
            time.sleep(0.01)
        assert len(one.asked) == len(other.asked) == 1, "they are still being asked"
        threading.Timer(0.5, silent.set).start()
        with pytest.raises(Unsupported, match=r"It cannot be determined .* HTTP 503"):
            apply(found, plan, settle_s=0)
        assert len(one.asked) == len(other.asked) == 2


def test_a_catalog_that_has_the_table_ends_the_search(
    server: Metastore, lake: TableBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = threading.Event()
    server.tables["shop"].pop("moved")

    def answer(path: str, query: dict[str, str]) -> tuple[int, Any]:
        silent.wait(200)
        return 503, {}

    with rest_catalog.serving(answer) as other:
        configure(server.uri, "lock-enabled = true")
        config = Path(os.environ["SNAPSCOPE_CONFIG"])
        config.write_text(f"[catalog.first]\ntype = 'paimon-rest'\nuri = '{other.url}'\n{config.read_text()}")
        found = open_table(str(lake.root))
        with pytest.raises(Unsupported, match="take the lock of the catalog meta"):
            apply(found, found.preview(CreateTag("v9", 2), 0), settle_s=0)
        silent.set()


def test_a_catalog_whose_earlier_requests_are_stuck_may_have_the_table(
    server: Metastore, lake: TableBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(server.uri, "lock-enabled = true")
    monkeypatch.setitem(time_limits._stuck, "paimon://meta", time_limits.MOST_STUCK)
    assert any("It cannot be determined" in each and "not yet answered" in each for each in warned(lake.root))


@pytest.mark.parametrize("arrives", [True, False])
def test_an_answer_that_was_given_up_is_not_used_again(
    lake: TableBuilder, monkeypatch: pytest.MonkeyPatch, arrives: bool
) -> None:
    """Whether it is still awaited or arrived late: what it tells may have changed long ago, so a preview asks again."""
    Path(os.environ["SNAPSCOPE_CONFIG"]).write_text("[catalog.cloud]\ntype = 'paimon-rest'\nuri = 'http://h'")
    monkeypatch.setattr(owners, "CALLS", 1)
    monkeypatch.setenv(time_limits.VARIABLE, "0.1")
    ends, answers = threading.Event(), list[int]()

    def owned(*_: object) -> str | None:
        answers.append(len(answers))
        if len(answers) == 1:
            ends.wait(60)
            return None
        return "paimon://cloud/shop/orders"

    monkeypatch.setattr(owners, "_owned", owned)
    store = open_table(str(lake.root)).store
    assert "It has not answered within 0.1 s." in str(owners.why_not_here(store, refresh=False))
    monkeypatch.setenv(time_limits.VARIABLE, "60")
    if arrives:
        ends.set()
        until = time.monotonic() + 60
        while time_limits.stuck().get("paimon://cloud"):
            assert time.monotonic() < until
            time.sleep(0.01)
    assert "paimon://cloud/shop/orders" in str(owners.why_not_here(store, refresh=False))
    ends.set()
    assert len(answers) == 2
