"""Perform the tasks that people open Snapscope for, in a real browser, and count clicks, texts typed and seconds.

    python benchmarks/tasks.py [--demo DIRECTORY] [--tasks WORD,WORD]

Each task starts on Home of the demo and ends when its answer can be seen, a run when it is done; typing one text counts
once, however long it is, and so does a key that stands for a click. Keys that only move (Tab, arrows) count apart. The
demo is copied; without --demo it is built first, which takes minutes. Seconds are the server's and the browser's alone:
nobody has to think, read or aim. The tasks of one tag follow each other.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Page, expect, sync_playwright

from core import serve
from core.demo import build as making
from core.table import open_table
from dashboard import words

TABLE = "sales.orders"
TAG = "before-cleanup"
ELSEWHERE, ORDERS = "SNAPSCOPE_BENCH_ELSEWHERE", "SNAPSCOPE_BENCH_ORDERS"  # where these tables are
QUIET = """() => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'
  && !document.querySelector('[data-testid=stSkeleton]')"""
NEWEST = """() => { const graph = document.querySelector('.js-plotly-plot'), at = graph.getBoundingClientRect();
  const { xaxis, yaxis } = graph._fullLayout;
  const marks = graph._fullData.filter(d => d.yaxis === 'y' && d.mode === 'markers' && d.customdata);
  const all = marks.flatMap(d => d.x.map((x, i) => [at.x + xaxis._offset + xaxis.d2p(x),
    at.y + yaxis._offset + yaxis.d2p(d.y[i]), d.customdata[i][0]])).filter(d => /^\\d+$/.test(d[2]));
  return all.sort((a, b) => b[2] - a[2]); }"""


class Hand:
    """A reader whose every action is counted."""

    def __init__(self, page: Page) -> None:
        self.page, self.clicks, self.texts, self.moves = page, 0, 0, 0

    def click(self, at: Locator) -> None:
        self.clicks += 1
        at.click()
        self.rest()

    def row(self, number: int) -> None:
        """Click a row of the first grid, which is drawn on a canvas."""
        self.clicks += 1
        self.page.locator('[data-testid="stDataFrame"]').first.click(position={"x": 18, "y": 52 + 35 * number})
        self.rest()

    def mark(self, x: float, y: float, _point: str, *, shift: bool = False) -> None:
        self.clicks += 1
        self.page.mouse.move(x, y)
        if shift:
            self.page.keyboard.down("Shift")
        self.page.mouse.click(x, y)
        if shift:
            self.page.keyboard.up("Shift")
        self.rest()

    def marks(self) -> list[tuple[float, float, str]]:
        self.page.wait_for_selector(".js-plotly-plot .scatterlayer .point", state="attached")
        found: list[tuple[float, float, str]] = self.page.evaluate(NEWEST)
        return found

    def write(self, text: str) -> None:
        self.texts += 1
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")
        self.rest()

    def press(self, key: str) -> None:
        self.clicks += 1
        self.page.keyboard.press(key)
        self.rest()

    def move(self, key: str) -> None:
        self.moves += 1
        self.page.keyboard.press(key)

    def tab_to(self, at: Locator) -> None:
        """Reach a part of the page by Tab alone."""
        expect(at).to_be_visible()
        while not at.evaluate("it => it.contains(document.activeElement)"):
            self.move("Tab")
            if self.moves > 300:
                raise AssertionError(f"the keyboard does not reach {at}")

    def palette(self, text: str, to: str) -> None:
        """Go somewhere by name, without a pointer; `to` is a part of the address there."""
        expect(self.page.get_by_role("button", name=words.PALETTE)).to_be_visible()  # from then on it hears its keys
        self.press("Control+k")
        expect(self.page.get_by_role("combobox", name=words.PALETTE)).to_be_focused()
        self.write(text)
        expect(self.page).to_have_url(re.compile(to))
        self.rest()

    def rest(self) -> None:
        """Wait until the page that the last action leads to is drawn."""
        self.page.wait_for_timeout(60)
        self.page.wait_for_function(QUIET)

    def table(self) -> None:
        self.click(self.page.locator(".st-key-overview_table").get_by_role("link", name=TABLE, exact=True))

    def open(self, page: str) -> None:
        self.click(self.page.get_by_test_id("stTopNavLink").filter(has_text=words.PAGES[page][0]).first)

    def see(self, at: Locator, text: str | re.Pattern[str]) -> None:
        expect(at.first).to_contain_text(text, timeout=300_000)


def as_of_tuesday(me: Hand) -> None:
    """What did the table look like on Tuesday at 08:00?"""
    me.table()
    me.click(me.page.get_by_role("combobox", name=words.VERSION))
    me.write("tuesday 08:00")
    me.see(me.page.locator(".snap-picked"), re.compile(r"→ Snapshot \d+"))
    me.see(me.page.locator(".snap-panel-title"), "Snapshot")


def last_night(me: Hand) -> None:
    """What did the newest load change, and is that usual?"""
    me.table()
    me.see(me.page.locator(".stMainBlockContainer"), re.compile(r"added [\d,]+ rows in \d+ files?.* Usual"))


def tag_reclaims(me: Hand) -> None:
    """What does deleting a tag reclaim?"""
    me.table()
    me.open("tags")
    me.row(2)
    _reclaimed(me)


def _reclaimed(me: Hand) -> None:
    me.see(me.page.locator(".stExpander summary").filter(has_text="Delete"), re.compile(r": reclaims \d"))


def expire_month(me: Hand) -> None:
    """What would expiring everything older than 30 days reclaim?"""
    me.table()
    me.open("retention")
    me.click(me.page.get_by_text(words.PRESET["older"], exact=True))
    me.see(me.page.locator(".st-key-plan_footer"), re.compile(r"\d"))


def newest_five(me: Hand) -> None:
    """What would keeping the newest 5 reclaim?"""
    me.table()
    me.open("retention")
    me.click(me.page.get_by_text(words.PRESET["newest"], exact=True))
    me.see(me.page.locator(".st-key-plan_footer"), "Reclaims")


def compare_loads(me: Hand) -> None:
    """What differs between two versions?"""
    me.table()
    me.mark(*me.marks()[0])
    me.page.wait_for_timeout(500)  # the chart gives way to the panel beside it
    me.mark(*me.marks()[-1], shift=True)
    me.see(me.page.locator(".snap-stat"), "Net")


def side_by_side(me: Hand) -> None:
    """What does one SQL statement answer at two versions?"""
    me.table()
    me.open("query")
    me.click(me.page.get_by_role("combobox", name=words.QUERY_BEFORE))
    me.write("latest~3")
    me.click(me.page.get_by_role("button", name=words.RUN))
    me.see(me.page.locator(".st-key-query_answer .snap-stat"), re.compile(r"Rows matched"))


def named_table(me: Hand) -> None:
    """Open a table by a part of its name."""
    me.palette("clicks", "table=events.clicks")
    me.see(me.page.locator(".snap-head"), "clicks")


def unfamiliar_table(me: Hand) -> None:
    """Open a table from elsewhere by its path."""
    me.click(me.page.get_by_role("combobox", name=words.WAREHOUSE))
    me.write(os.environ[ELSEWHERE])
    me.see(me.page.locator(".snap-head"), "customers")
    me.marks()


def create_tag(me: Hand) -> None:
    """Create a tag of a snapshot on the timeline."""
    me.table()
    me.mark(*me.marks()[0])
    me.click(me.page.get_by_role("link", name=words.TAG_HERE, exact=True))
    _make(me)


def delete_tag(me: Hand) -> None:
    """Delete that tag, to its receipt."""
    me.table()
    me.open("tags")
    tags = open_table(os.environ[ORDERS]).heads().main.tags
    me.row([tag.name for tag in reversed(tags)].index(TAG))
    me.click(me.page.locator(".stExpander summary").filter(has_text=f"Delete {TAG}"))
    _allow(me)
    me.click(me.page.get_by_role("textbox", name=re.compile("to confirm")))
    me.write(TAG)
    me.click(me.page.get_by_role("button", name=words.CARRY_OUT))
    me.see(me.page.get_by_text(re.compile("^Done: ")), "deleted")


def restore_tag(me: Hand) -> None:
    """Restore that tag: create it again."""
    me.table()
    me.open("tags")
    _make(me)


def _allow(me: Hand) -> None:
    """Allow changes, where they are not yet."""
    me.click(me.page.get_by_test_id("stCheckbox").get_by_text(words.WRITABLE, exact=True))


def _make(me: Hand) -> None:
    """Fill in the form for a tag of the version shown, and press its button."""
    _allow(me)
    me.click(me.page.get_by_role("textbox", name=words.TAG_NAME))
    me.write(TAG)
    me.click(me.page.get_by_role("button", name=words.CREATE))
    me.see(me.page.get_by_text(re.compile(f"Created tag/tag-{TAG}")), TAG)


def keyboard_last_night(me: Hand) -> None:
    """By keyboard: what did the newest load change?"""
    me.palette(TABLE, "timeline")
    me.see(me.page.locator(".stMainBlockContainer"), re.compile(r"added [\d,]+ rows in \d+ files?"))


def keyboard_newest_five(me: Hand) -> None:
    """By keyboard: what would keeping the newest 5 reclaim?"""
    me.palette(TABLE, "timeline")
    me.palette(words.PAGES["retention"][0], "retention")
    presets = me.page.get_by_role("radiogroup").filter(has_text=words.PRESET["newest"])
    me.tab_to(presets)
    me.move("ArrowRight")
    me.press("Space")
    me.see(me.page.locator(".st-key-plan_footer"), "Reclaims")


def keyboard_tag_reclaims(me: Hand) -> None:
    """By keyboard: what does deleting a tag reclaim?"""
    me.palette(TABLE, "timeline")
    me.palette(words.PAGES["tags"][0], "tags")
    me.tab_to(me.page.locator('[data-testid="stDataFrame"] canvas').first)
    me.press("Shift+Space")
    _reclaimed(me)


def keyboard_compare(me: Hand) -> None:
    """By keyboard: what differs between two versions?"""
    me.palette(TABLE, "timeline")
    me.palette(words.PAGES["diff"][0], "diff")
    me.tab_to(me.page.get_by_role("combobox", name=words.POINT_A))
    me.write("latest~3")
    me.see(me.page.locator(".snap-stat"), "Net")


TASKS: dict[str, Callable[[Hand], None]] = {
    each.__name__: each
    for each in (
        as_of_tuesday, last_night, tag_reclaims, expire_month, newest_five, compare_loads, side_by_side,
        create_tag, delete_tag, restore_tag, named_table, unfamiliar_table,
        keyboard_last_night, keyboard_newest_five, keyboard_tag_reclaims, keyboard_compare,
    )
}  # fmt: skip


def start_spark(page: Page, home: str) -> None:
    """Run a query, so that no task waits for Spark to start."""
    page.goto(f"{home}query?table={TABLE}&seconds=300")
    page.get_by_role("button", name=words.RUN).click()
    expect(page.get_by_text(re.compile(r"^\d+ rows as of"))).to_be_visible(timeout=300_000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--demo", type=Path, help="a demo warehouse that is there already")
    parser.add_argument("--tasks", default=",".join(TASKS), help="names of tasks, in their order")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    args = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="snapscope-tasks-")))
        os.environ["SNAPSCOPE_STATE"] = str(folder / "state")
        own = folder / "demo"
        if args.demo:
            shutil.copytree(args.demo, own, ignore=shutil.ignore_patterns("orders_iceberg"))  # its paths are absolute
        else:
            making.build(str(own), now_ms=time.time_ns() // 1_000_000)
        os.environ[ORDERS] = str(own / "sales.db" / "orders")
        os.environ[ELSEWHERE] = str(
            shutil.copytree(own / "crm.db" / "customers", folder / "else" / "where" / "customers")
        )
        found = serve.start([str(own)], 0)  # pages may change a demo
        stack.callback(found.process.terminate)
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=args.chromium, args=["--no-sandbox", "--disable-gpu"])
        stack.callback(browser.close)
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        page.set_default_timeout(120_000)
        page.goto(found.address)
        home = f"{found.address.partition('?')[0]}"
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; clicks and keys that stand for one, texts typed")
        print(f"{'task':64} {'clicks':>7} {'texts':>6} {'moves':>6} {'seconds':>8}")
        if "side_by_side" in args.tasks:
            start_spark(page, home)
        for name in args.tasks.split(","):
            page.goto(home)
            page.wait_for_selector(".st-key-overview_table a")
            me = Hand(page)
            me.rest()
            expect(page.get_by_role("button", name=words.PALETTE)).to_be_visible()
            started = time.perf_counter()
            TASKS[name](me)
            took = time.perf_counter() - started
            counts = f"{me.clicks:>7} {me.texts:>6} {me.moves:>6} {took:>8.1f}"
            print(f"{(TASKS[name].__doc__ or name).strip():64} {counts}", flush=True)


if __name__ == "__main__":
    main()
