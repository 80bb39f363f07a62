"""Benchmark the pages of a table with 2,000 snapshots, 40 tags and 200,000 files: milliseconds from a click to the
drawn page.

    python benchmarks/pages.py [--snapshots 2000] [--files 200000] [--rounds 5] [--table DIRECTORY] [--pages A,B]

Uses a real server and Chromium. Each page is opened through its navigation link, `rounds` times in turn; the first
round reads the table and is reported separately. A page counts as drawn when its script has ended and nothing has
changed for 100 ms, which are not counted.

Wall time depends on the load of the machine. Three other figures depend on it less: the CPU time of the server process
(user and system), the bytes that its socket sent to the browser, and the busy time of the page's main thread.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from core import serve
from core.formats.paimon import binary_row
from core.formats.paimon.write import commit, manifest_encoding, publish
from core.formats.paimon.write.commit import Stamp
from core.storage.store import Store

HOUR_MS = 3_600_000
PAGES = ("Home", "Timeline", "As of", "Diff", "Files", "Retention", "Tags", "Query", "Audit", "Doctor")
COMPACT_EVERY, TAG_EVERY = 20, 50
# Resolves to the time of the page's last change, once its script has ended.
DRAWN = """title => new Promise(resolve => {
  const started = performance.now();
  let last = started, ran = false;
  const watch = new MutationObserver(seen => {
    last = performance.now();
    ran ||= seen.some(each => each.attributeName === 'data-test-script-state');  // a run may end within one frame
  });
  watch.observe(document.body, {subtree: true, childList: true, attributes: true, characterData: true});
  const look = () => {
    const app = document.querySelector('[data-testid=stApp]');
    const rests = app && app.dataset.testScriptState === 'notRunning';
    ran ||= !rests;
    const still = performance.now() - last;  // a short run may begin and end within one update of the page
    if (rests && still > (ran ? 100 : 2000)) { watch.disconnect(); resolve(last - started); }
    else requestAnimationFrame(look);
  };
  [...document.querySelectorAll('[data-testid=stTopNavLink]')]
    .find(each => each.textContent.trim().endsWith(title)).click();
  look();
})"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--snapshots", type=int, default=2000)
    parser.add_argument("--files", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--table", type=Path, help="where the warehouse is kept for another run")
    parser.add_argument("--pages", default=",".join(PAGES), help="titles, in the order they are opened")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    args = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = args.table or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="snapscope-bench-")))
        if not (folder / "bench.db").exists():
            build(folder / "bench.db" / "large", args.snapshots, args.files)
        address, server = stack.enter_context(serving(folder))
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=args.chromium, args=["--no-sandbox", "--disable-gpu"])
        stack.callback(browser.close)
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        meter = Meter(page, server)
        page.goto(f"{address}&table=bench.large")
        page.wait_for_selector("[data-testid=stTopNavLink]", timeout=120_000)
        titles = args.pages.split(",")
        timings: dict[str, list[PageTiming]] = {title: [] for title in titles}
        for _ in range(args.rounds + 1):
            for title in titles:
                timings[title].append(meter.open(title))
    print(f"{args.snapshots:,} snapshots, {args.files:,} files; ms from click to drawn; load {os.getloadavg()[0]:.1f}")
    titles_of = f"{'page':10} {'first':>8} {'median':>8}  {'least..most':>15} {'server':>8} {'browser':>8}"
    print(f"{titles_of} {'kB first':>9} {'kB':>6}")
    for title, (first, *rest) in timings.items():
        walls = [each.wall_ms for each in rest]
        server_ms, browser_ms, sent = (
            statistics.median(getattr(each, name) for each in rest) for name in ("server_ms", "browser_ms", "sent")
        )
        print(
            f"{title:10} {first.wall_ms:>8.0f} {statistics.median(walls):>8.0f} "
            f" {f'{min(walls):.0f}..{max(walls):.0f}':>15} {server_ms:>8.0f} {browser_ms:>8.0f}"
            f" {first.sent / 1000:>9.0f} {sent / 1000:>6.0f}"
        )


@dataclass(frozen=True, slots=True)
class PageTiming:
    """One opening of a page: time until drawn, CPU time of the server, busy time of the main thread, bytes to the
    browser."""

    wall_ms: float
    server_ms: float
    browser_ms: float
    sent: int


class Meter:
    """Opens pages through their links and measures the cost."""

    def __init__(self, page: Page, server: int) -> None:
        self._page, self._server, self._sent = page, server, 0
        self._devtools = page.context.new_cdp_session(page)
        self._devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
        self._devtools.send("Network.enable")
        self._devtools.on("Network.webSocketFrameReceived", self._received)

    def open(self, title: str) -> PageTiming:
        before = self._sent, self._server_ms(), self._browser_ms()
        wall_ms = self._page.evaluate(DRAWN, title)
        return PageTiming(
            wall_ms, self._server_ms() - before[1], self._browser_ms() - before[2], self._sent - before[0]
        )

    def _received(self, event: dict[str, Any]) -> None:
        self._sent += len(event["response"]["payloadData"]) * 3 // 4  # base64, like every binary frame

    def _server_ms(self) -> float:
        fields = Path(f"/proc/{self._server}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")

    def _browser_ms(self) -> float:
        metrics = self._devtools.send("Performance.getMetrics")["metrics"]
        return next(float(each["value"]) for each in metrics if each["name"] == "TaskDuration") * 1000


@contextlib.contextmanager
def serving(warehouse: Path) -> Iterator[tuple[str, int]]:
    """Start a server; yield its address, including the secret, and its process id."""
    found = serve.start([str(warehouse)], 0)
    try:
        yield found.address, found.process.pid
    finally:
        found.process.terminate()
        found.process.wait()


def build(table: Path, snapshots: int, files: int) -> None:
    """Write appends of equal size; every twentieth commit compacts those since the last compaction, every fiftieth is
    tagged.

    There are no data files, because pages only read metadata.
    """
    table.mkdir(parents=True)
    store = Store(str(table))
    columns = [("id", "BIGINT"), ("dt", "STRING")]
    start_ms = time.time_ns() // 1_000_000 - snapshots * HOUR_MS
    publish.create_table(store, columns, time_ms=start_ms, partition_keys=["dt"], options={"bucket": "-1"})
    appends = snapshots - snapshots // COMPACT_EVERY
    each = files // appends
    fresh: list[manifest_encoding.NewDataFile] = []
    for number in range(1, snapshots + 1):
        at = Stamp(start_ms + number * HOUR_MS, lambda: str(uuid.uuid4()), "bench")
        if number % COMPACT_EVERY:
            added = [_file(number * each + count) for count in range(each)]
            commit.append(store, added, at)
            fresh += added
        else:
            names = {file.name for file in fresh}
            live = commit.live_entries(store, publish.read_head(store).snapshot)
            compacted = [entry for entry in live if entry["_FILE"]["_FILE_NAME"] in names]
            commit.compact(store, compacted, [_file(number * each + count) for count in range(12)], at)
            fresh = []
        if number % TAG_EVERY == 0:
            store.create(f"tag/tag-t{number}", store.read(f"snapshot/snapshot-{number}"))


def _file(number: int) -> manifest_encoding.NewDataFile:
    day = f"2026-{number % 12 + 1:02d}-01"
    return manifest_encoding.NewDataFile(
        partition=binary_row.encode([day], ["STRING"]),
        path=f"dt={day}/bucket-0/data-{uuid.uuid4()}-0.parquet",
        size_bytes=100_000 + number,
        rows=10,
        schema_id=0,
        stats=manifest_encoding.SimpleStats([number, day], [number + 9, day], [0, 0]),
        source=0,
        created_ms=0,
    )


if __name__ == "__main__":
    main()
