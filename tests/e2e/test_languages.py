"""A language with longer words than English: nothing is truncated, and nothing overflows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from dashboard import words
from dashboard.formatting import language
from tests.support.builders import STATES
from tests.support.depth import sample
from tests.support.e2e.reader import PATIENCE_MS, Reader
from tests.support.e2e.server import served
from tests.support.languages import PSEUDO, write_pseudo

WIDTHS = (1440, 900)
VIEWS = {
    "timeline": "point=1",
    "asof": "point=1",
    "diff": "a=1&b=latest",
    "retention": "keep_max=1",
    "tags": "point=1",
    "query": "point=1",
}

CUT_OFF = """() => {
  const seen = e => e.getClientRects().length && getComputedStyle(e).visibility !== 'hidden'
  const own = e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())
  const told = e => e.closest('[title], [data-testid=stTooltipHoverTarget], canvas, .js-plotly-plot, pre')
  const cuts = e => e.scrollWidth > e.clientWidth + 2 && ['hidden', 'clip'].includes(getComputedStyle(e).overflowX)
  const main = document.querySelectorAll('[data-testid=stMain] *, [data-testid=stSidebar] *')
  const found = [...main].filter(e => seen(e) && own(e) && cuts(e) && !told(e)).map(e => 'cut off: ' + e.textContent)
  const groups = [...document.querySelectorAll('[data-testid=stButtonGroup] *')].filter(e => seen(e)
    && e.scrollWidth > e.clientWidth + 2 && getComputedStyle(e).overflowX !== 'visible')
  const sides = [document.documentElement, document.querySelector('[data-testid=stMain]')]
  found.push(...groups.map(e => 'buttons cut off: ' + e.textContent))
  return found.concat(sides.filter(e => e.scrollWidth > e.clientWidth + 1).map(e => 'too wide: ' + e.scrollWidth))
}"""


@pytest.fixture(scope="module")
def home(held: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with an additional language, from a folder with a single file."""
    warehouse, folder = tmp_path_factory.mktemp("long"), tmp_path_factory.mktemp("languages")
    STATES["two tags on one snapshot"].build(warehouse)
    write_pseudo(folder)
    os.environ[language.MORE] = str(folder)
    try:
        with served(warehouse, held) as address:
            yield address
    finally:
        del os.environ[language.MORE]


def cut_off(page: Page) -> list[str]:
    return page.evaluate(CUT_OFF)


def test_the_rule_sees_a_text_that_is_cut_off(browser: Browser) -> None:
    page = browser.new_page()
    narrow = "width: 30px; overflow: hidden; white-space: nowrap"
    both = f'<p style="{narrow}">a long text</p><p title="all of it" style="{narrow}">a long text</p>'
    page.set_content(
        f"<div data-testid=stMain>{both}</div><p data-testid=stButtonGroup><b "
        f'style="display: block; overflow: auto; {narrow[:12]}"><i>Unbreakable</i></b></p>'
    )
    assert cut_off(page) == ["cut off: a long text", "buttons cut off: Unbreakable"]
    page.close()


def test_longer_words_break_no_page(browser: Browser, home: str) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    me, found = Reader(page, home, None), {}
    for name in sample(words.PAGES, 6):
        me.open(f"{name if name != next(iter(words.PAGES)) else ''}?lang={PSEUDO}&{VIEWS.get(name, '')}")
        assert "⟦" in me.text()
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            me.settled().check()
            found[name, width] = cut_off(page)
    context.close()
    assert {where: what for where, what in found.items() if what} == {}
