"""Benchmark many users at once: how long their pages take beside those of one user, whether anybody gets another's
answer, and whether memory stays flat.

    python benchmarks/users.py [--users 20] [--minutes 3] [--think 5] [--warehouse DIRECTORY]

A real server; each user is a websocket session like a browser's, without the browser, opens a page, reads it for
`--think` seconds on average (an exponential distribution), opens the next one, and leaves for a new session after a
dozen pages. Every other page is of one large table that all share (2,000 snapshots, 200,000 files), the others are of a
small table of their own, whose tag no other page may show. First one user alone, then all. Output: time from the
request to the end of the page's script (median, 95th percentile, maximum), the ratio of the percentiles, the medians
of the slowest and of the fastest user, the server's processor time for a page, and its memory at each tenth.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pages import build, serving

from core.storage.store import Store
from dashboard import words
from tests.support.dashboard.user import session

PAGES = ("", "timeline", "asof", "diff", "files", "retention", "tags", "query", "audit", "doctor")
SHOW_TAGS = ("timeline", "retention", "tags")
STAY = 12
LARGE = "bench.large"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--think", type=float, default=5, help="seconds")
    parser.add_argument("--snapshots", type=int, default=2_000)
    parser.add_argument("--files", type=int, default=200_000)
    parser.add_argument("--warehouse", type=Path, help="kept for another run")
    args = parser.parse_args()
    os.environ["SNAPSCOPE_SPARK_CLASS_ARCHIVE"] = "off"  # making one takes a core for a minute
    with contextlib.ExitStack() as stack:
        folder = args.warehouse or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="snapscope-bench-")))
        if not (folder / "bench.db" / "large").exists():
            build(folder / "bench.db" / "large", args.snapshots, args.files)
        for number in range(args.users):
            if not (folder / "bench.db" / f"own{number}").exists():
                build(folder / "bench.db" / f"own{number}", 20, 200)
                store = Store(str(folder / "bench.db" / f"own{number}"))
                store.create(f"tag/tag-{mark(number)}", store.read("snapshot/snapshot-7"))
        address, server = stack.enter_context(serving(folder))
        with session(address) as first:
            for page in PAGES:
                first.open(page, table=LARGE)
        time.sleep(30)  # Spark has warmed up behind the page of queries
        alone = together(address, 1, 60, 0.5)
        began, busy = time.monotonic(), cpu_s(server)
        memory = [megabytes(server)]
        ends = threading.Event()

        def watch() -> None:
            while not ends.wait(args.minutes * 6):
                memory.append(megabytes(server))

        watching = threading.Thread(target=watch)
        watching.start()
        all_of = together(address, args.users, args.minutes * 60, args.think)
        ends.set()
        watching.join()
        pages = sum(map(len, all_of))
        each_ms, share = 1000 * (cpu_s(server) - busy) / pages, (cpu_s(server) - busy) / (time.monotonic() - began)
    print(f"{args.users} users, {args.think:g} s of reading, {args.minutes:g} minutes; load {os.getloadavg()[0]:.1f}")
    print(f"{'':12} {'pages':>7} {'median':>9} {'95 %':>9} {'maximum':>9}")
    for name, timings in (("one user", alone), (f"{args.users} users", all_of)):
        seconds = sorted(second for user in timings for second in user)
        print(f"{name:12} {len(seconds):>7,} " + " ".join(f"{1000 * of:>6,.0f} ms" for of in shown(seconds)))
    ratio = shown(sorted(second for user in all_of for second in user))[1] / shown(sorted(alone[0]))[1]
    medians = sorted(map(statistics.median, all_of))
    print(f"95th percentile: {ratio:.1f} times that of one user")
    print(f"medians of users: {1000 * medians[0]:,.0f} ms to {1000 * medians[-1]:,.0f} ms")
    print(f"server: {each_ms:,.0f} ms of processor time for a page, {100 * share:.0f} % of a core")
    print("memory of the server at each tenth: " + ", ".join(f"{of:,.0f}" for of in memory) + " MB")


def mark(user: int) -> str:
    return f"tag-of-user-{user}-alone"


def together(address: str, users: int, seconds: float, think_s: float) -> list[list[float]]:
    """Return the seconds of every page, for each user. Raises AssertionError if anybody got a wrong answer."""
    end = time.monotonic() + seconds
    timings: list[list[float]] = [[] for _ in range(users)]
    failed: list[BaseException] = []

    def use(number: int) -> None:
        try:
            while time.monotonic() < end and not failed:
                stay(address, number, users, end, think_s, timings[number])
        except BaseException as error:  # noqa: BLE001 - it is raised again below
            failed.append(error)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(users)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    return timings


def stay(address: str, number: int, users: int, end: float, think_s: float, timings: list[float]) -> None:
    """One session of a user."""
    chance = random.Random(f"{number} {len(timings)}")
    with session(address) as user:
        for turn in range(STAY):
            time.sleep(min(chance.expovariate(1 / think_s), max(0, end - time.monotonic())))
            if time.monotonic() >= end:
                return
            page, table = chance.choice(PAGES), LARGE if turn % 2 else f"bench.own{number}"
            drawn = user.open(page, table=table)
            timings.append(drawn.seconds)
            expected = {number} if page in SHOW_TAGS and table != LARGE else set()
            seen = {other for other in range(users) if drawn.shows(mark(other))}
            assert expected <= seen <= {number}, f"user {number}: tags of {sorted(seen)} on {page} of {table}"
            assert not drawn.shows(words.UNEXPECTED), f"user {number}: an error on {page} of {table}"


def shown(seconds: Sequence[float]) -> tuple[float, float, float]:
    return statistics.median(seconds), seconds[int(len(seconds) * 0.95)], seconds[-1]


def cpu_s(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def megabytes(process: int) -> float:
    """Memory of its own: what it maps from files is shared, and the system takes it back."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("RssAnon:")[2].split()[0]) / 1024


if __name__ == "__main__":
    main()
