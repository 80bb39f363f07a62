"""Benchmark the startup time of the command line, in CPU seconds and relative to Python itself.

`python benchmarks/start.py [--rounds N]` times help, version and completion, then the tags of a small table that it
creates. `--page DEMO` also times the dashboard, in wall seconds from `snapscope serve --demo` to its first page in
Chromium: on an empty directory, then on a copy of DEMO.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from support import ratios

ROOT = Path(__file__).resolve().parents[1]
RUN = "import sys; from core.cli import main; sys.exit(main())"


def seconds(*words: str) -> float:
    """Return the CPU seconds of a program and its child processes."""
    before = os.times()
    subprocess.run([sys.executable, *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return (after.children_user - before.children_user) + (after.children_system - before.children_system)


def page(demo: Path) -> float:
    """Return the wall seconds from the start of the program to the first page with its tables."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        window = browser.new_page()
        started = time.perf_counter()
        command = [sys.executable, "-c", RUN, "serve", "--demo", str(demo), "--port", "0"]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
            assert server.stdout is not None
            address = next(word for line in server.stdout for word in line.split() if word.startswith("http://"))
            window.goto(address)
            window.locator(".snap-tiles, [data-testid=stProgress]").first.wait_for(timeout=300_000)
            timings = time.perf_counter() - started
            server.terminate()
        browser.close()
    return timings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--page", type=Path, metavar="DEMO", help="a complete demo, to time the first page too")
    args = parser.parse_args()
    rounds = args.rounds
    sys.path.insert(0, str(ROOT))
    from tests.support.formats.paimon.tables import four_commits

    with tempfile.TemporaryDirectory() as folder:
        table = str(four_commits(Path(folder) / "w" / "default.db" / "t").root)
        programs = {
            "python -c pass": ("-c", "pass"),
            "import click": ("-c", "import click"),
            "snapscope --help": ("-c", RUN, "--help"),
            "snapscope help plan expire": ("-c", RUN, "help", "plan", "expire"),
            "snapscope --version": ("-c", RUN, "--version"),
            "snapscope completion bash": ("-c", RUN, "completion", "bash"),
            "snapscope tags, 4 snapshots and a tag": ("-c", RUN, "tags", table),
        }
        timings: dict[str, list[float]] = {name: [] for name in programs}
        for _ in range(rounds + 1):  # the first round warms up the file cache
            for name, words in programs.items():
                timings[name].append(seconds(*words))
    least = statistics.median(timings["python -c pass"][1:])
    print(f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}, {rounds} rounds")
    for name, each in timings.items():
        middle = statistics.median(each[1:])
        print(f"{name:<40} {middle:7.3f} s  ({min(each[1:]):.3f} to {max(each[1:]):.3f})  {middle / least:5.1f} times")
        if name.startswith("snapscope"):
            both = {"Snapscope": each[1:], "python -c pass": timings["python -c pass"][1:]}
            ratios.add(name, "CPU s", both)
    if args.page is not None:
        with tempfile.TemporaryDirectory() as folder:
            ready = Path(folder) / "ready"
            shutil.copytree(args.page, ready, ignore=shutil.ignore_patterns("orders_iceberg"))
            for name, demo in (
                ("first page, nothing built", Path(folder) / "empty"),
                ("first page, demo ready", ready),
            ):
                print(f"{name:<40} {page(demo):7.1f} s  (load {os.getloadavg()[0]:.1f})")


if __name__ == "__main__":
    main()
