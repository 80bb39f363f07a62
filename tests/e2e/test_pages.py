"""Every page that there is, in a real browser: both themes, both widths, tables of real engines and damaged ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from dashboard.present import words
from tests.e2e.conftest import Reader, Serve

WIDTHS = (1440, 900)
VIEWS = {
    "timeline": "point=12",
    "asof": "point=12",
    "diff": "a=11&b=12",
    "retention": "keep_max=12",
    "tags": "point=12",
    "query": "point=12&before=11",
}
"""What of each page is looked at: as much as one address opens. A page that is not named here opens as it is."""

GRAVE = ("serious", "critical")
AXE = {"resultTypes": ["violations"]}


def address(page: str, **more: str) -> str:
    """The address of a page; the first one is served at the root."""
    return f"{page if page != next(iter(words.PAGES)) else ''}?" + "&".join(f"{k}={v}" for k, v in more.items())


def view(page: str, table: str, **more: str) -> str:
    return f"{address(page, table=table, **more)}&{VIEWS.get(page, '')}"


def hurdles(page: Page) -> list[str]:
    """What axe-core finds on the page as it stands that keeps readers out."""
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


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everybody_can_read_every_page(demo: Path, serve: Serve, reader: Callable[..., Reader], theme: str) -> None:
    """axe-core finds nothing serious, nothing complains, nothing hangs over the edge."""
    me = reader(serve(demo), theme=theme)
    found = {}
    for name in words.PAGES:
        me.open(view(name, "sales.orders"))
        for width in WIDTHS:
            me.page.set_viewport_size({"width": width, "height": 900})
            me.settled().check()
            found[name, width] = hurdles(me.page) + too_wide(me.page)
    assert {where: what for where, what in found.items() if what} == {}
