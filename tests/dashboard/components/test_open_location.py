"""Before any page: a server without a secret shows none, and a URL opens nothing that is not served."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import fsspec
import pytest
from streamlit.testing.v1 import AppTest

from core.formats.iceberg.catalogs import pyiceberg_catalog
from core.storage import store
from dashboard import data as loading
from dashboard import permissions, url_state, words
from tests.support.builders import TableBuilder
from tests.support.dashboard.pages import APP, Page

ELSEWHERE = (
    "s3://bucket/lake",
    "github://someone:repository@main/",
    "http://127.0.0.1:9/lake",
    "iceberg://prod",
    "paimon://prod",
    "paimon://",
    "iceberg://",
    "file:///etc",
    "/etc",
    "/",
    "~",
    "simplecache::s3://bucket/lake",
)
PAGES = tuple(url_state.OF_PAGE)


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The location the server was started with, and a catalog that was not requested."""
    table = TableBuilder(tmp_path / "lake" / "shop.db" / "clicks")
    table.commit([table.file(10)])
    table.commit([table.file(20)])
    monkeypatch.setenv(url_state.WAREHOUSE_VARIABLE, str(tmp_path / "lake"))
    return tmp_path / "lake"


@pytest.fixture
def opened(lake: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record everything outside the lake that is opened, queried or connected to."""
    found: list[str] = []
    begin, url, connect = store.Store.__init__, fsspec.core.url_to_fs, socket.socket.connect

    def storing(self: store.Store, location: str, *rest: object) -> None:
        if not location.startswith(str(lake)) and Path(location) not in lake.parents:  # for a demo's marker
            found.append(location)
        begin(self, location, *rest)  # type: ignore[arg-type]  # with any arguments

    def by_url(location: str, **options: object) -> object:
        found.append(location)
        return url(location, **options)

    def calling(self: socket.socket, address: object) -> None:
        found.append(str(address))
        connect(self, address)  # type: ignore[arg-type]  # with any arguments

    def of_catalog(location: str) -> object:
        found.append(location)
        raise AssertionError(location)

    monkeypatch.setattr(store.Store, "__init__", storing)
    monkeypatch.setattr(fsspec.core, "url_to_fs", by_url)
    monkeypatch.setattr(socket.socket, "connect", calling)
    monkeypatch.setattr(pyiceberg_catalog, "parts", of_catalog)
    return found


def test_a_server_that_asks_for_no_secret_shows_nothing(monkeypatch: pytest.MonkeyPatch, opened: list[str]) -> None:
    monkeypatch.setattr(permissions, "is_guarded", False)
    for page in ("overview", "retention"):
        test = AppTest.from_file(str(APP), default_timeout=300)
        test.query_params["table"] = "shop.clicks"
        if page != "overview":
            test.switch_page(f"views/{page}.py")
        shown = Page(test).run()
        assert "snapscope serve PLACE" in shown.text
        assert "clicks" not in shown.text
        assert (shown.test.button.values, shown.test.text_input.values) == ([], [])
    assert opened == []


def by_address(page: str, **address: str) -> Page:
    test = AppTest.from_file(str(APP), default_timeout=300)
    for name, value in address.items():
        test.query_params[name] = value
    if page != "overview":
        test.switch_page(f"views/{page}.py")
    return Page(test).run()


@pytest.mark.parametrize("place", ELSEWHERE)
def test_an_address_opens_no_place_that_is_not_served(place: str, opened: list[str]) -> None:
    """Not even one that the settings file names."""
    Path(os.environ["SNAPSCOPE_CONFIG"]).write_text(
        "[catalog.prod]\ntype = 'paimon-rest'\nuri = 'http://127.0.0.1:9'\n"
        "[warehouse.s3]\nlocation = 's3://bucket/lake'\n"
    )
    page = by_address("timeline", warehouse=place, table="shop.clicks")
    assert opened == []
    assert words.OPEN_TITLE in page.text
    assert place in page.text
    assert words.SEARCH_TABLES not in page.text, "no tree that would list it"
    assert [each.key for each in page.test.button] == ["entering.open", "entering.stay"]


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=[pytest.mark.slow] * (each in ("files", "query"))) for each in PAGES]
)
def test_no_page_and_no_value_of_its_address_reads_anything_else(name: str, opened: list[str], lake: Path) -> None:
    """Set every URL parameter that a page reads to a location; the warehouse itself stays the served one."""
    values = ("github://a:b@main/x", "s3://bucket/x", f"{lake}/../x", "http://127.0.0.1:9/x", "/etc/passwd")
    for value in values[:2] if name != "files" else values:
        named = dict.fromkeys(url_state.OF_PAGE[name], value)
        by_address(name, table="shop.clicks", **named)
        by_address(name, table=value)
        for each in url_state.OF_PAGE[name] if name in ("files", "query") else ():
            by_address(name, table="shop.clicks", **{each: value})
    assert opened == []


@pytest.mark.parametrize("sql", ["CALL sys.create_tag(table => 's3://b/t', tag => 'v')", "select * from 's3://b/t'"])
def test_a_statement_in_an_address_is_not_carried_out(sql: str, opened: list[str]) -> None:
    by_address("query", table="shop.clicks", sql=sql)
    assert opened == []


def test_what_lies_in_a_served_place_is_opened_at_once(lake: Path, tmp_path: Path) -> None:
    assert words.OPEN_TITLE not in by_address("overview").text
    inside = by_address("timeline", warehouse=f"{lake}/shop.db/clicks")
    assert words.OPEN_TITLE not in inside.text
    (tmp_path / "lakes").mkdir()
    assert words.OPEN_TITLE in by_address("overview", warehouse=str(tmp_path / "lakes")).text


def test_a_click_that_names_it_opens_it_for_this_reader_alone(lake: Path, tmp_path: Path) -> None:
    other = TableBuilder(tmp_path / "other" / "db.db" / "orders")
    other.commit([other.file(10)])
    where = str(tmp_path / "other")
    page = by_address("timeline", warehouse=where, table="db.orders")
    assert where in [each.value for each in page.test.code]
    assert page.test.button(key="entering.open").label.replace("\\", "").removeprefix("Open ")[:40] == where[:40]
    page.test.button(key="entering.open").click()
    assert "orders" in page.run().text
    assert words.OPEN_TITLE not in page.text
    assert words.OPEN_TITLE in by_address("timeline", warehouse=where).text, "another session is asked again"


def test_who_would_rather_stay_comes_to_what_is_served(lake: Path, opened: list[str]) -> None:
    page = by_address("timeline", warehouse="s3://bucket/lake", table="shop.clicks")
    page.test.button(key="entering.stay").click()
    assert "clicks" in page.run().text
    assert opened == []


def test_warehouses_of_the_settings_file_can_be_picked_and_typed(lake: Path, tmp_path: Path) -> None:
    """They are shown by their names; what is opened, and in the URL, is the location."""
    other = TableBuilder(tmp_path / "other" / "db.db" / "orders")
    other.commit([other.file(10)])
    Path(os.environ["SNAPSCOPE_CONFIG"]).write_text(f"[warehouse.second]\nlocation = '{tmp_path}/other'\n")
    page = by_address("timeline", table="shop.clicks")
    box = page.test.selectbox(key="frame.warehouse")
    assert "second" in box.options
    assert [each.label for each in page.test.expander].count("second") == 1, "in the tree, too"
    box.options.append("second")  # like a typed one
    box.set_value("second")
    page.run()
    assert page.test.query_params["warehouse"] == str(tmp_path / "other")
    assert "orders" in page.run().text
    Path(os.environ["SNAPSCOPE_CONFIG"]).write_text("[warehuse.second]")
    loading.forget_listings()
    text = by_address("timeline", table="shop.clicks").text
    assert "There is no setting warehuse." in text
    assert os.environ["SNAPSCOPE_CONFIG"] in text


def test_what_a_reader_types_or_picks_is_opened(lake: Path, tmp_path: Path) -> None:
    other = TableBuilder(tmp_path / "other" / "db.db" / "orders")
    other.commit([other.file(10)])
    page = by_address("timeline", table="shop.clicks")
    box = page.test.selectbox(key="frame.warehouse")
    box.options.append(str(tmp_path / "other"))  # like a typed one
    box.set_value(str(tmp_path / "other"))
    assert "orders" in page.run().text
    assert page.test.session_state["snapscope.page"] == "overview", "on Home of the other warehouse"
    assert words.OPEN_TITLE not in page.text
