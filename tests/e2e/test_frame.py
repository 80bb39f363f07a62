"""The first line of a page in a real browser: the way here, the link to exactly this view, and nothing that jumps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from dashboard import words
from tests.support.builders import DAY_MS, TableBuilder
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
    box = page.get_by_role("combobox", name=words.ASOF_INPUT)
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
    for part, ends in (("latest~2", "point=latest~2"), ("orders", f"timeline?{at}table=shop.orders&tz=Asia%2FTokyo")):
        line.get_by_role("link", name=part, exact=True).click()
        me.settled()
        assert page.url.endswith(ends)
    line.get_by_role("link", name="shop", exact=True).click()
    expect(page.get_by_text(words.of_database("shop"))).to_be_visible()
    me.settled().check()


def test_nothing_jumps_when_a_page_is_used(warehouse: Path, reader: Callable[..., Reader]) -> None:
    """Layout shift as browsers measure it, at reruns of each page; 0.05 is what nobody notices."""
    me = reader(warehouse=warehouse)
    found = {}
    for page in ("", "timeline", "asof", "diff", "files", "retention", "tags", "query", "audit", "doctor"):
        me.open(f"{page}?table=shop.orders&point=3&a=3&b=7&keep_max=5")
        me.page.evaluate(WATCH)
        refresh = me.page.get_by_role("button", name=words.REFRESH, exact=True)
        refresh.click()  # what is drawn for the first time finds its place
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
