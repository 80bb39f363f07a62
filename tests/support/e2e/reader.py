"""Somebody who reads the dashboard in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Page

from dashboard import words

PROBES = ("/_stcore/health", "/_stcore/host-config")  # Streamlit looks below a page's address for its server first


PATIENCE_MS = 120_000  # a machine busy with the rest of the tests answers, if late


class Reader:
    """Somebody in front of the dashboard."""

    def __init__(self, page: Page, home: str, warehouse: Path | None) -> None:
        self.page = page
        self.home, _, self.secret = home.partition("?")
        self.where = "" if warehouse is None else f"warehouse={quote(str(warehouse), safe='')}&"
        self.complaints: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(f"page error: {error}"))
        page.on("request", self._request)

    def _console(self, message: Any) -> None:
        if message.type == "error" and not message.location.get("url", "").endswith(PROBES):
            self.complaints.append(f"console: {message.text} {message.location}")

    def _request(self, request: Any) -> None:
        if not request.url.startswith((self.home, self.home.replace("http", "ws"), "data:", "blob:")):
            self.complaints.append(f"asked another server: {request.url}")

    def open(self, address: str = "") -> Reader:
        """An address of the reader's own warehouse: `page?table=…`."""
        page, _, asked = address.partition("?")
        secret, self.secret = self.secret, ""  # the browser keeps it in a cookie from then on
        said = "&".join(filter(None, (self.where.rstrip("&"), asked, secret)))
        self.page.goto(f"{self.home}{page}{said and '?'}{said}")
        first, opens = self.page.locator(".st-key-top"), self.page.locator(".st-key-entering-open button")
        first.or_(opens).wait_for(state="attached")
        if opens.count():
            opens.click()  # another place than the one that is served
            first.wait_for(state="attached")
        return self.settled()

    def settled(self) -> Reader:
        """Wait until the server has nothing more to say."""
        self.page.wait_for_selector('[data-testid="stMainBlockContainer"]')
        self.page.wait_for_timeout(100)  # an event on its way has not left the page yet
        self.page.evaluate(f"() => fetch('{PROBES[0]}').then(answer => answer.text())")  # a busy server comes round
        self.page.wait_for_timeout(100)  # and its word that it runs is back
        self.page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
        return self

    def go(self, label: str) -> Reader:
        """A link of the navigation or of a panel, by its words."""
        self.page.get_by_role("link", name=label, exact=True).first.click()
        return self.settled()

    def allow_changes(self, label: str = words.WRITABLE) -> Reader:
        """What a reader who wants to change something does first; `label` in the page's language."""
        self.page.get_by_test_id("stCheckbox").get_by_text(label, exact=True).click()
        return self.settled()

    def unhurried(self) -> Reader:
        """Give the queries of this page all the time it offers."""
        self.page.get_by_role("combobox", name=words.TIMEOUT).click()
        self.page.get_by_role("option", name="300", exact=True).click()
        return self.settled()

    def dots(self) -> list[tuple[str, float, float]]:
        """`(point, x, y)` of every snapshot on the chart, from left to right."""
        self.page.wait_for_selector(".js-plotly-plot .scatterlayer .point", state="attached")
        found = self.page.evaluate(
            """() => { const graph = document.querySelector('.js-plotly-plot');
            const at = graph.getBoundingClientRect(), layout = graph._fullLayout;
            return graph._fullData.filter(d => d.yaxis === 'y' && d.mode === 'markers').flatMap(d => d.x.map((x, i) =>
              [d.customdata[i][0], at.x + layout.xaxis._offset + layout.xaxis.d2p(x),
               at.y + layout.yaxis._offset + layout.yaxis.d2p(d.y[i])])); }"""
        )
        return sorted((tuple(each) for each in found), key=lambda dot: dot[1])

    def snapshots(self) -> list[str]:
        """Retained snapshots of main that can be hit with a mouse: no other dot lies within 16 pixels."""
        dots = self.dots()
        return [
            name
            for name, x, y in dots
            if name.isdigit() and not any(0 < abs(x - other) < 16 and abs(y - at) < 16 for _, other, at in dots)
        ]

    def click_dot(self, point: str) -> Reader:
        """Click the dot of a point."""
        x, y = next((x, y) for name, x, y in self.dots() if name == point)
        self.page.mouse.move(x, y)
        self.page.mouse.click(x, y)
        return self.settled()

    def choose_row(self, row: int) -> Reader:
        """Tick a row of the first grid: grids are painted, so they are hit by place."""
        grid = self.page.locator('[data-testid="stDataFrame"]').first
        grid.click(position={"x": 18, "y": 52 + 35 * row})  # waits until it stands still
        return self.settled()

    def text(self) -> str:
        return self.page.locator('[data-testid="stMainBlockContainer"]').inner_text()

    def check(self) -> None:
        """No error box of ours or Streamlit's, nothing on the console, nothing hidden beyond the right edge."""
        assert self.complaints == []
        assert self.page.locator('[data-testid="stException"], .snap-error').all_inner_texts() == []
        wider = self.page.evaluate(
            """() => [...document.querySelectorAll('.stMainBlockContainer .stHtml > *')]
              .filter(e => e.scrollWidth > e.clientWidth + 2 && getComputedStyle(e).overflowX === 'visible')
              .map(e => e.className)"""
        )
        assert wider == []
