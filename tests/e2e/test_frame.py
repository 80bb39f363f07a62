"""The first line of a page in a real browser: the breadcrumb, the link to exactly this view, and a stable layout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from dashboard import words
from tests.support.builders import DAY_MS, TableBuilder
from tests.support.depth import sample
from tests.support.e2e.reader import Reader
from tests.support.languages import SaidIn

ZH = SaidIn("zh")
pytestmark = pytest.mark.slow

WATCH = """() => { window.shifted = 0; window.moved = []; window.last = performance.now();
  new PerformanceObserver(list => { for (const each of list.getEntries()) {
    window.shifted += each.value; window.last = performance.now();
    window.moved.push(...each.sources.map(of => (of.node && (of.node.className || of.node.nodeName)) + '')); } })
  .observe({type: 'layout-shift'}); }"""
QUIET = """() => performance.now() - window.last > 1500
  && !document.querySelector('[data-testid=stSkeleton]')"""


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("frame") / "lake"
    table = TableBuilder(root / "shop.db" / "orders", step_ms=DAY_MS)
    for number in range(12):
        table.commit([table.file(1_000 + number, rows=10)])
        if number in (3, 7):
            table.tag(f"t{number}")
    return root


@pytest.mark.parametrize("width", [1440, 900])
def test_the_way_here_and_the_link(
    warehouse: Path, reader: Callable[..., Reader], browser: Browser, width: int
) -> None:
    me = reader(width, warehouse=warehouse).open("asof?table=shop.orders&tz=Asia%2FTokyo")
    page, at = me.page, me.where
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    box = page.get_by_role("combobox", name=words.VERSION)
    box.click()
    box.type("latest~2")
    box.press("Enter")
    expect(page.locator(".snap-picked")).to_contain_text("Snapshot 10 · Append")
    expect(page.locator(".snap-picked")).to_contain_text("JST")
    copy = page.get_by_role("button", name=words.COPY_LINK)
    copy.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name=words.COPIED)).to_be_visible()
    assert page.evaluate("() => navigator.clipboard.readText()") == page.url
    assert page.url.endswith(f"asof?{at}table=shop.orders&tz=Asia%2FTokyo&point=latest~2")
    line = page.locator(".st-key-top")
    line.get_by_role("link", name="orders", exact=True).focus()
    assert page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle") == "solid"
    box_of_line, head = line.bounding_box(), page.locator(".snap-head").bounding_box()
    assert box_of_line
    assert head
    assert box_of_line["y"] + box_of_line["height"] <= head["y"]
    assert box_of_line["x"] + box_of_line["width"] <= width
    line.get_by_role("link", name="orders", exact=True).click()
    me.settled()
    assert page.url.endswith(f"timeline?{at}table=shop.orders&tz=Asia%2FTokyo&point=latest~2")
    line.get_by_role("link", name="shop", exact=True).click()
    expect(page.get_by_text(words.of_database("shop"))).to_be_visible()
    me.settled().check()


@pytest.mark.parametrize("width", [1440, 900])
def test_the_name_stands_beside_its_mark_at_the_top_left(
    warehouse: Path, reader: Callable[..., Reader], width: int
) -> None:
    me = reader(width, warehouse=warehouse).open("timeline?table=shop.orders")
    name = me.page.get_by_test_id("stSidebar").get_by_role("link", name=words.PRODUCT, exact=True)
    mark = me.page.get_by_test_id("stSidebarLogo")
    expect(mark).to_be_visible()
    left, right = mark.bounding_box(), name.bounding_box()
    assert left
    assert right
    assert left["x"] + left["width"] <= right["x"] <= left["x"] + 60
    assert abs((left["y"] + left["height"] / 2) - (right["y"] + right["height"] / 2)) <= 3
    first = me.page.get_by_test_id("stSidebarUserContent").get_by_text(words.WAREHOUSE, exact=True).bounding_box()
    assert first
    assert right["y"] + right["height"] <= first["y"] <= 75, "the line of the closing button holds it"
    me.page.get_by_test_id("stSidebar").hover()
    me.page.get_by_role("button", name="Collapse sidebar").click()
    expect(me.page.get_by_test_id("stHeaderLogo")).to_be_visible()
    expect(me.page.get_by_test_id("stSidebar")).not_to_be_in_viewport()  # until then the button below moves with it
    me.page.get_by_role("button", name="Expand sidebar").or_(me.page.get_by_test_id("stExpandSidebarButton")).click()
    name.click()
    me.settled().check()
    assert me.page.url.rstrip("/").endswith(f"?{me.where}table=shop.orders")


@pytest.mark.parametrize("width", [1440, 900])
def test_the_palette_goes_anywhere_by_keyboard(warehouse: Path, reader: Callable[..., Reader], width: int) -> None:
    me = reader(width, warehouse=warehouse).open("asof?table=shop.orders&tz=Asia%2FTokyo")
    page, at = me.page, me.where
    box = page.get_by_role("combobox", name=words.PALETTE)

    def go(text: str, *, first: str) -> str:
        expect(page.get_by_role("button", name=words.PALETTE)).to_be_visible()  # before, nothing hears the key
        page.keyboard.press("Control+k")
        expect(box).to_be_focused()
        page.keyboard.type(text)
        expect(page.get_by_role("option", selected=True)).to_contain_text(first)
        page.keyboard.press("Enter")
        expect(box).to_be_hidden()
        me.settled().check()
        return page.url.partition(at)[0].rpartition("/")[2] + page.url.partition(at)[2]

    table = "table=shop.orders&tz=Asia%2FTokyo"
    assert go("t3", first="t3") == f"asof?{table}&point=tag:t3".replace(":", "%3A")
    expect(page.locator(".snap-picked")).to_contain_text("Snapshot 4 · Append")
    assert go("2026-01-02 09:00", first="2 · Append").startswith(f"asof?{table}&point=2"), "in the zone of the page"
    assert go("reten", first=words.PAGES["retention"][0]) == f"retention?{table}&point=2"
    page.keyboard.press("Control+k")
    page.keyboard.type("latest~3 ")  # no page key of its own is heard meanwhile: r runs again, c clears a cache
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    typed = page.get_by_role("option", selected=True)
    expect(typed).to_have_text(f"{words.palette_version('latest~3')}{words.PALETTE_VERSION}")
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()
    opens = page.get_by_role("button", name=words.PALETTE)
    size = opens.bounding_box()
    assert size
    assert size["width"] <= 40
    opens.focus()
    page.keyboard.press("Enter")
    page.keyboard.type("nothing like this on Home")
    page.keyboard.press("Escape")
    expect(opens).to_be_focused()
    assert go("home", first=words.PAGES["overview"][0]) == f"?{table}"
    assert go("ord", first="shop.orders") == f"timeline?{table}"


def test_nothing_jumps_when_a_page_is_used(warehouse: Path, reader: Callable[..., Reader]) -> None:
    """Layout shift as browsers measure it, during reruns of a page; up to 0.05 is not noticeable."""
    me = reader(warehouse=warehouse)
    found = {}
    pages = ("", "timeline", "asof", "diff", "files", "retention", "tags", "query", "audit", "doctor")
    for page in sample(pages, 6):
        me.open(f"{page}?table=shop.orders&point=3&a=3&b=7&keep_max=5")
        me.page.evaluate(WATCH)
        refresh = me.page.get_by_role("button", name=words.REFRESH, exact=True)
        refresh.click()  # the first draw may move things
        me.settled().page.wait_for_function(QUIET)
        me.page.evaluate("() => { window.shifted = 0; window.moved = []; }")
        refresh.click()
        me.settled()
        shifted, moved = me.page.evaluate("() => [window.shifted, window.moved]")
        if shifted > 0.05:
            found[page] = (shifted, moved)
    assert found == {}


def test_the_address_of_home_keeps_what_it_says(reader: Callable[..., Reader]) -> None:
    page = reader().open("overview?lang=zh&tz=Asia%2FTokyo").page
    expect(page.locator(".snap-label").get_by_text(ZH.TILE_POLICY)).to_be_visible()
    assert page.url.endswith("/?lang=zh&tz=Asia%2FTokyo")


def test_an_open_tab_is_in_the_address(warehouse: Path, reader: Callable[..., Reader]) -> None:
    me = reader(warehouse=warehouse).open("diff?table=shop.orders&a=3&b=7")
    tab = me.page.get_by_role("tab", name=words.COMMITS)
    tab.click()
    assert me.settled().page.url.endswith("&part=commits")
    me.open("diff?table=shop.orders&a=3&b=7&part=commits")
    expect(tab).to_have_attribute("aria-selected", "true")
    me.page.get_by_role("tab", name=words.BY_PARTITION).click()
    assert "part=" not in me.settled().page.url
    me.page.go_back()
    me.settled()
    expect(tab).to_have_attribute("aria-selected", "true")
    me.check()
