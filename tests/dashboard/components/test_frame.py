"""The frame around every page: breadcrumb, read-only state, zone, recently opened tables."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from core.paths import state_dir
from core.table import Table
from dashboard import data, visits, words
from dashboard.components import frame
from tests.support.builders import START_MS, TableBuilder
from tests.support.dashboard.pages import Page


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    root = tmp_path / "lake"
    for title in ("shop/orders", "shop/other", "crm/people"):
        database, name = title.split("/")
        table = TableBuilder(root / f"{database}.db" / name)
        table.commit([table.file(10)], time_ms=START_MS)
        table.branch("dev").commit([], time_ms=START_MS)
    return root


def way(page: Page) -> list[str]:
    """Return the labels of the links in the first line."""
    links = [each.proto.label.replace("\\", "") for each in page.test.main.get("page_link")]
    return links[: next((at for at, each in enumerate(links) if not each), len(links))]


def test_every_page_says_the_way_to_it(open_page: Callable[..., Page], warehouse: Path) -> None:
    assert way(open_page("overview", warehouse))[:1] == ["lake"]
    assert way(open_page("audit", warehouse, table="shop.orders")) == ["lake"]
    assert way(open_page("asof", warehouse, table="shop.orders"))[:3] == ["lake", "shop", "orders"]
    assert "1" not in way(open_page("tags", warehouse, table="shop.orders", point="1")), "it stands in the heading"
    page = open_page("overview", warehouse, database="crm")
    assert way(page)[:2] == ["lake", "crm"]
    assert words.of_database("crm") in page.text
    assert {each for each in way(page) if "." in each} == {"crm.people"}
    next(each for each in page.test.button if each.label == words.ALL_TABLES).click()
    assert "shop.orders" in way(page.run())


def test_it_is_said_at_the_top_whether_anything_can_be_changed(
    open_page: Callable[..., Page], warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("retention", warehouse, table="shop.orders")
    assert words.READ_ONLY in page.text
    assert not page.test.toggle
    monkeypatch.setenv("SNAPSCOPE_WRITE", "1")
    assert words.READ_ONLY not in page.run().text
    assert (page.test.toggle[0].label, page.test.toggle[0].value) == (words.WRITABLE, False)
    page.test.toggle[0].set_value(True)
    assert page.run().test.toggle[0].value
    assert words.READ_ONLY in open_page("overview", warehouse / "nowhere").text


def test_any_zone_of_this_world_can_be_typed(open_page: Callable[..., Page], warehouse: Path) -> None:
    page = open_page("asof", warehouse, table="shop.orders", point="1")
    for name, shown, said in (
        ("Asia/Kolkata", "2026-01-01 05:30:00", ""),
        ("kolkata", "2026-01-01 05:30:00", ""),
        ("Mars/Olympus", "2026-01-01 05:30:00", words.zone_unknown("Mars/Olympus")),
        ("UTC", "2026-01-01 00:00:00 UTC", ""),
    ):
        box = page.test.selectbox(key="frame.zone")
        box.options.append(name)  # like a typed one
        box.set_value(name)
        page.run()
        assert shown in page.text
        assert said in page.text
    assert "tz" not in page.test.query_params
    assert "is not a known time zone" not in page.text


def test_tables_opened_last_are_a_click_away(open_page: Callable[..., Page], warehouse: Path) -> None:
    page = open_page("timeline", warehouse, table="shop.orders")
    page.test.button(key=f"tree.table.{warehouse}.crm.people").click()
    page.run()
    page.test.session_state["tree.recent"] = True
    page.run()
    page.test.button(key=f"tree.recent.{warehouse}.shop.orders").click()
    assert "shop. orders" in page.run().text
    assert visits.recent() == [(str(warehouse), "shop.orders"), (str(warehouse), "crm.people")]
    later = open_page("timeline", warehouse, table="nobody.knows")
    later.test.session_state["tree.recent"] = True
    later.run()
    assert later.test.button(key=f"tree.recent.{warehouse}.crm.people"), "another session, another day"
    assert len(visits.recent()) == 2, "what is not there was not opened"
    (state_dir() / "desk" / "recent.json").write_text("{}")
    assert words.not_kept("recent") in later.run().text
    assert (state_dir() / "desk" / "recent.json").read_text() == "{}"


def test_what_stands_in_no_address_of_a_page_is_not_read_by_it(open_page: Callable[..., Page], warehouse: Path) -> None:
    """A branch selected on the Tags page does not affect what `1` means on another page: its link omits the branch."""
    page = open_page("tags", warehouse, table="shop.orders", branch="dev")
    page.test.query_params.clear()  # like a click on the navigation
    page.test.switch_page("views/asof.py")
    page.run()
    page.test.selectbox(key="pick.point").set_value("latest")
    assert "Snapshot 1 · Append" in page.run().text


def test_a_table_that_is_slow_to_open_is_named_meanwhile(
    open_page: Callable[..., Page], warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said, is_told, opened = list[str](), threading.Event(), data._opened

    def slow(location: str) -> Table:
        assert is_told.wait(60), "nothing was said while the references were read"
        return opened(location)

    def opening(table: str) -> str:
        said.append(table)
        is_told.set()
        return f"opening {table}"

    monkeypatch.setattr(words, "opening", opening)
    monkeypatch.setattr(data, "_opened", slow)
    page = open_page("tags", warehouse, table="shop.orders")
    assert said == ["shop.orders"]
    assert "opening shop.orders" not in page.text, "the table is open now"
    monkeypatch.setattr(data, "_opened", opened)
    monkeypatch.setattr(frame, "QUIET_S", 60.0)
    page.run()
    assert said == ["shop.orders"], "a quick read says nothing"
