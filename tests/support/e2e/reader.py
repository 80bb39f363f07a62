"""A user of the dashboard in a real browser."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Page, TimeoutError
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from dashboard import words

PROBES = ("/_stcore/health", "/_stcore/host-config")  # Streamlit first looks for its server below the page's path


PATIENCE_MS = 120_000  # a machine that is busy with other tests responds late

FOLLOWED_MS = 20_000  # Streamlit may leave a request without a run of its own

HOVER_MS = 2_000

HOVERED = """point => (document.querySelector('.js-plotly-plot')._hoverdata || [])
  .some(mark => mark.customdata && mark.customdata[0] === point)"""
"""Whether the chart shows the hover text of this point; plotly ignores a click before it has looked what is there."""

RUNS = """(() => {
  const has = (data, wanted) => {  // whether a message of protobuf has this field
    const bytes = new Uint8Array(data);
    let at = 0;
    const number = () => {
      let found = 0, unit = 1, byte;
      do { byte = bytes[at++]; found += (byte & 127) * unit; unit *= 128; } while (byte > 127);
      return found;
    };
    while (at < bytes.length) {
      const key = number();
      if (Math.floor(key / 8) === wanted) return true;
      const size = {0: () => number() * 0, 1: () => 8, 2: number, 5: () => 4}[key % 8]();
      at += size;
    }
    return false;
  };
  window.run = 'done';
  window.WebSocket = class extends window.WebSocket {
    constructor(...given) {
      super(...given);
      this.addEventListener('message', ({data}) => {
        if (!(data instanceof ArrayBuffer)) return;
        if (window.run === 'asked for' && has(data, BEGINS)) window.run = 'going on';
        else if (window.run === 'going on' && has(data, ENDS)) window.run = 'done';
      });
    }
    send(data) {
      if (ArrayBuffer.isView(data) && has(data, ASKS)) window.run = 'asked for';
      super.send(data);
    }
  };
})()"""
"""Follows the newest run of the script that the page asks for, in the messages between the page and its server."""
for _name, _number in {
    "ASKS": BackMsg.RERUN_SCRIPT_FIELD_NUMBER,
    "BEGINS": ForwardMsg.NEW_SESSION_FIELD_NUMBER,
    "ENDS": ForwardMsg.SCRIPT_FINISHED_FIELD_NUMBER,
}.items():
    RUNS = RUNS.replace(_name, str(_number))


class Reader:
    """A user in front of the dashboard."""

    def __init__(self, page: Page, home: str, warehouse: Path | None) -> None:
        self.page = page
        self.home, _, self.secret = home.partition("?")
        self.where = "" if warehouse is None else f"warehouse={quote(str(warehouse), safe='')}&"
        self.complaints: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(f"page error: {error}"))
        page.on("request", self._request)
        page.add_init_script(RUNS)

    def _console(self, message: Any) -> None:
        if message.type == "error" and not message.location.get("url", "").endswith(PROBES):
            self.complaints.append(f"console: {message.text} {message.location}")

    def _request(self, request: Any) -> None:
        if not request.url.startswith((self.home, self.home.replace("http", "ws"), "data:", "blob:")):
            self.complaints.append(f"asked another server: {request.url}")

    def open(self, address: str = "") -> Reader:
        """Open a URL in the user's own warehouse: `page?table=…`."""
        page, _, asked = address.partition("?")
        secret, self.secret = self.secret, ""  # from now on the browser keeps it in a cookie
        said = "&".join(filter(None, (self.where.rstrip("&"), asked, secret)))
        self.page.goto(f"{self.home}{page}{said and '?'}{said}")
        first, opens = self.page.locator(".st-key-top"), self.page.locator(".st-key-entering-open button")
        first.or_(opens).wait_for(state="attached")
        if opens.count():
            opens.click()  # the location is not the one that is served
            first.wait_for(state="attached")
        return self.settled()

    def settled(self) -> Reader:
        """Wait until the server has finished the current run."""
        self.page.wait_for_selector('[data-testid="stMainBlockContainer"]')
        self.page.wait_for_timeout(100)  # an event may not have been sent yet
        self.page.evaluate(f"() => fetch('{PROBES[0]}').then(answer => answer.text())")  # waits for a busy server
        with contextlib.suppress(TimeoutError):
            self.page.wait_for_function("() => window.run === 'done'", timeout=FOLLOWED_MS)
        self.page.wait_for_timeout(100)  # by then the page has heard of it
        self.page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
        return self

    def go(self, label: str) -> Reader:
        """Click a link in the navigation or a panel, by its text."""
        self.page.get_by_role("link", name=label, exact=True).first.click()
        return self.settled()

    def allow_changes(self, label: str = words.WRITABLE) -> Reader:
        """Turn on changes, as a user must do first; `label` is in the page's language."""
        self.page.get_by_test_id("stCheckbox").get_by_text(label, exact=True).click()
        return self.settled()

    def unhurried(self) -> Reader:
        """Set the longest time limit that this page offers for queries."""
        longest = self.page.get_by_role("option", name="300", exact=True)
        self.page.get_by_role("combobox", name=words.TIMEOUT).click()
        self.page.wait_for_timeout(500)
        if not longest.is_visible():  # the page was redrawn just then, which closes the list
            self.settled().page.get_by_role("combobox", name=words.TIMEOUT).click()
        longest.click()
        return self.settled()

    def dots(self) -> list[tuple[str, float, float]]:
        """Return `(point, x, y)` for every snapshot on the chart with a mark of its own, from left to right."""
        return self._marks("markers")

    def clusters(self) -> list[tuple[str, float, float]]:
        """Return `(window, x, y)` for every mark that stands for several commits, from left to right."""
        return self._marks("markers+text")

    def _marks(self, mode: str) -> list[tuple[str, float, float]]:
        self.page.wait_for_selector(".js-plotly-plot .scatterlayer .point", state="attached")
        before, found = None, self._places(mode)
        for _ in range(PATIENCE_MS // 200):
            if found is not None and found == before:  # the chart stands still
                return sorted((tuple(each) for each in found), key=lambda dot: dot[1])
            before, found = found, self._places(mode)
        raise AssertionError("The chart does not stand still.")

    def _places(self, mode: str) -> list[Any] | None:
        """Where the marks are after 200 ms; None while the chart is drawn for another width than it has."""
        self.page.wait_for_timeout(200)
        return self.page.evaluate(
            """mode => { const graph = document.querySelector('.js-plotly-plot');
            const at = graph.getBoundingClientRect(), layout = graph._fullLayout;
            if (Math.abs(at.width - layout.width) > 1) return null;
            const marks = graph._fullData.filter(d => d.yaxis === 'y' && d.mode === mode && d.customdata);
            return marks.flatMap(d => d.x.map((x, i) => [
               d.customdata[i][0], at.x + layout.xaxis._offset + layout.xaxis.d2p(x),
               at.y + layout.yaxis._offset + layout.yaxis.d2p(d.y[i])])); }""",
            mode,
        )

    def snapshots(self) -> list[str]:
        """Return main's retained snapshots that can be clicked: no other dot is within 16 pixels."""
        dots = self.dots()
        return [
            name
            for name, x, y in dots
            if name.isdigit() and not any(0 < abs(x - other) < 16 and abs(y - at) < 16 for _, other, at in dots)
        ]

    def click_dot(self, point: str) -> Reader:
        """Click the dot of a snapshot as soon as the chart says that the mouse is over it."""
        for _ in range(PATIENCE_MS // HOVER_MS):
            x, y = next((x, y) for name, x, y in self.dots() if name == point)
            self.page.mouse.move(x, y)
            with contextlib.suppress(TimeoutError):
                self.page.wait_for_function(HOVERED, arg=point, timeout=HOVER_MS)
                self.page.mouse.click(x, y)
                return self.settled()
        raise AssertionError(f"The chart never names {point} under the mouse.")

    def choose_row(self, row: int) -> Reader:
        """Select a row of the first grid. Grids are drawn on a canvas, so rows are clicked by position."""
        grid = self.page.locator('[data-testid="stDataFrame"]').first
        grid.click(position={"x": 18, "y": 52 + 35 * row})  # waits until it stops moving
        return self.settled()

    def text(self) -> str:
        return self.page.locator('[data-testid="stMainBlockContainer"]').inner_text()

    def check(self) -> None:
        """Check that there are no error boxes (ours or Streamlit's), no console messages, and nothing beyond the right
        edge."""
        assert self.complaints == []
        assert self.page.locator('[data-testid="stException"], .snap-error').all_inner_texts() == []
        wider = self.page.evaluate(
            """() => [...document.querySelectorAll('.stMainBlockContainer .stHtml > *')]
              .filter(e => e.scrollWidth > e.clientWidth + 2 && getComputedStyle(e).overflowX === 'visible')
              .map(e => e.className)"""
        )
        assert wider == []
