"""Benchmark the startup time of the command line, in CPU seconds and relative to Python itself.

`python benchmarks/start.py [--rounds N]` times help, version and completion, then the tags of a small table that it
creates.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUN = "import sys; from core.cli import main; sys.exit(main())"


def seconds(*words: str) -> float:
    """Return the CPU seconds of a program and its child processes."""
    before = os.times()
    subprocess.run([sys.executable, *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return (after.children_user - before.children_user) + (after.children_system - before.children_system)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    sys.path.insert(0, str(ROOT))
    from tests.support.formats.paimon.tables import four_commits

    with tempfile.TemporaryDirectory() as folder:
        table = str(four_commits(Path(folder) / "w" / "default.db" / "t").root)
        asked = {
            "python -c pass": ("-c", "pass"),
            "import click": ("-c", "import click"),
            "snapscope --help": ("-c", RUN, "--help"),
            "snapscope help plan expire": ("-c", RUN, "help", "plan", "expire"),
            "snapscope --version": ("-c", RUN, "--version"),
            "snapscope completion bash": ("-c", RUN, "completion", "bash"),
            "snapscope tags, 4 snapshots and a tag": ("-c", RUN, "tags", table),
        }
        took: dict[str, list[float]] = {name: [] for name in asked}
        for _ in range(rounds + 1):  # the first round warms up the file cache
            for name, words in asked.items():
                took[name].append(seconds(*words))
    least = statistics.median(took["python -c pass"][1:])
    print(f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}, {rounds} rounds")
    for name, each in took.items():
        middle = statistics.median(each[1:])
        print(f"{name:<40} {middle:7.3f} s  ({min(each[1:]):.3f} to {max(each[1:]):.3f})  {middle / least:5.1f} times")


if __name__ == "__main__":
    main()
