"""All pages in a real browser: both themes, both widths, tables of real engines and damaged ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from dashboard import words
from tests.support.builders import STATES, TableBuilder
from tests.support.e2e.pages import address, view
from tests.support.e2e.reader import Reader
from tests.support.places import TABLES

WIDTHS = (1440, 900)
GRAVE = ("serious", "critical")
GROUND = """() => getComputedStyle(document.querySelector('[data-testid="stApp"]')).backgroundColor"""
AXE = {"resultTypes": ["violations"]}


def hurdles(page: Page) -> list[str]:
    """Return the accessibility violations that axe-core finds on the page in its current state."""
    page.wait_for_function("() => !document.querySelector('[data-testid=stSkeleton]')")
    page.add_style_tag(content="*, *::before, *::after { transition: none !important; animation: none !important }")
    found = Axe().run(page, options=AXE).response["violations"]
    return [
        f"{each['id']}: {node['target']} {node['html'][:200]} {[why['message'] for why in node['any']][:1]}"
        for each in found
        if each["impact"] in GRAVE
        for node in each["nodes"]
    ]


def too_wide(page: Page) -> list[int]:
    """The page as a whole never scrolls sideways."""
    return page.evaluate(
        """() => [document.documentElement, document.querySelector('[data-testid="stMain"]')]
          .filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.scrollWidth)"""
    )


def test_everybody_can_read_every_page(reader: Callable[..., Reader]) -> None:
    """axe-core finds nothing serious, nothing complains, nothing hangs over the edge: each page as its address opens
    it, in both widths, and in both themes, for the page follows the system's."""
    me = reader()
    found, grounds = {}, set()
    for name in words.PAGES:
        me.page.emulate_media(color_scheme="light")
        me.open(view(name, "sales.orders"))
        for theme in ("light", "dark"):
            if theme == "dark":
                me.page.emulate_media(color_scheme=theme)
                me.page.get_by_role("button", name=words.REFRESH, exact=True).click()  # charts are drawn in it, too
                me.settled()
            grounds.add((theme, me.page.evaluate(GROUND)))
            for width in WIDTHS:
                me.page.set_viewport_size({"width": width, "height": 900})
                me.settled().check()
                found[name, width, theme] = hurdles(me.page) + too_wide(me.page)
    assert {where: what for where, what in found.items() if what} == {}
    assert len(grounds) == len(dict(grounds)) == 2, "each theme has a ground of its own, on every page"


LONG = "a-name-without-end_" * 8 + "<b>&amp;'\""


def _huge_names(warehouse: Path) -> None:
    table = TableBuilder(warehouse / f"{LONG}.db" / LONG, partition_keys=["dt"])
    for number in range(3):
        table.commit([table.file(10**12, rows=10**10, partition=(f"{LONG}{number}",))])
    table.tag(LONG)
    table.branch(LONG, LONG)


def _damaged(warehouse: Path) -> None:
    """A manifest list is missing, and a tag cannot be read."""
    table = TableBuilder(warehouse / "default.db" / "orders")
    for _ in range(4):
        table.commit([table.file(1_000, rows=10)])
    table.tag("v1")
    (table.path / "manifest" / table.commits[2].document["deltaManifestList"]).unlink()
    (table.path / "tag" / "tag-v1").write_bytes(b"\xff{")


PLACES: dict[str, Callable[[Path], None]] = {
    "huge names": _huge_names,
    "damaged": _damaged,
    **{name: STATES[name].build for name in ("empty warehouse", "table without snapshots")},
}


@pytest.mark.parametrize("name", [*PLACES, "a real table"])
def test_every_page_of_any_table(name: str, tmp_path: Path, reader: Callable[..., Reader]) -> None:
    """At 900 pixels in the dark: nothing fails unforeseen, nothing complains, nothing lies beyond the edge."""
    warehouse = tmp_path
    if name in PLACES:
        PLACES[name](warehouse)
    else:
        warehouse = TABLES / "paimon"
    me = reader(900, "dark")
    found: dict[str, list[object]] = {}
    me.open(address("overview", warehouse=str(warehouse)))
    for page, (title, _) in words.PAGES.items():
        me.go(title)
        failed = me.page.get_by_text(words.UNEXPECTED).or_(me.page.get_by_test_id("stException"))
        found[page] = [*me.complaints, *failed.all_inner_texts(), *too_wide(me.page)]
        me.complaints.clear()
    found["at last"] = [*hurdles(me.page)]
    assert {where: what for where, what in found.items() if what} == {}
