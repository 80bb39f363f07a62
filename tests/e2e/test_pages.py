"""All pages in a real browser: both themes, both widths, tables of real engines and damaged ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from dashboard import words
from tests.support.builders import STATES, TableBuilder
from tests.support.depth import sample
from tests.support.e2e.hurdles import hurdles
from tests.support.e2e.pages import address, view
from tests.support.e2e.reader import Reader
from tests.support.places import TABLES

WIDTHS = (1440, 900)
ZOOMED = 720  # what is left of 1440 pixels at 200 %
GROUND = """() => getComputedStyle(document.querySelector('[data-testid="stApp"]')).backgroundColor"""


def too_wide(page: Page) -> list[int]:
    """The page as a whole never scrolls sideways."""
    return page.evaluate(
        """() => [document.documentElement, document.querySelector('[data-testid="stMain"]')]
          .filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.scrollWidth)"""
    )


def beyond_the_edge(page: Page) -> list[str]:
    """No button, box or link ends outside the window."""
    return page.evaluate(
        """() => [...document.querySelectorAll('.stMainBlockContainer :is(button, textarea, a, input)')].filter(e => {
          const at = e.getBoundingClientRect();
          const isFree = e.type !== 'range' && !e.closest('.snap-scroll, .snap-tree');
          return isFree && at.width && at.right > innerWidth + 1;
        }).map(e => e.innerText || e.ariaLabel || e.tagName)"""
    )


def test_everybody_can_read_every_page(reader: Callable[..., Reader]) -> None:
    """axe-core finds nothing serious, nothing complains, nothing hangs over the edge: each page as its address opens
    it, in both widths and in both themes, for the page follows the system's; some also at 200 % zoom (half the pixels)
    and in Chinese. axe-core, which takes most of the time, looks at each width and each theme once."""
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
                looks = (width, theme) in ((WIDTHS[0], "light"), (WIDTHS[1], "dark"))
                found[name, width, theme] = [*(hurdles(me.page) if looks else []), *too_wide(me.page)]
        if name not in sample(words.PAGES, 4):
            continue
        me.page.set_viewport_size({"width": ZOOMED, "height": 450})
        me.open(view(name, "sales.orders", lang="zh")).check()
        found[name, ZOOMED, "zh"] = [*hurdles(me.page), *too_wide(me.page), *beyond_the_edge(me.page)]
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
    "table without snapshots": STATES["table without snapshots"].build,
    "damaged": _damaged,
    "empty warehouse": STATES["empty warehouse"].build,
}


@pytest.mark.parametrize("name", sample([*PLACES, "a real table"], 3))
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
