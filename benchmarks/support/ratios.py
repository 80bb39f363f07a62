"""The table at the end of `make bench`: every question and candidate, and its ratio to Snapscope in one direction.

    python benchmarks/support/ratios.py start FILE    notes the time and the load
    python benchmarks/support/ratios.py table FILE    prints the table of the rows that scripts added to FILE

Only the standard library, because scripts also run with the Python of another project.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Mapping, Sequence

FILE = "SNAPSCOPE_BENCH_ROWS"
PACKAGES = ("pyarrow", "numpy", "datafusion", "pyiceberg", "pyspark")
LINE = "{:52} {:18} {:>12} {:>18} {:>6}"


def add(question: str, unit: str, timings: Mapping[str, Sequence[float]]) -> None:
    """Add the rounds of a question for the table. The first candidate is Snapscope; round i ran all of them in turn."""
    if path := os.environ.get(FILE):
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps({"question": question, "unit": unit, "taken": {**timings}}) + "\n")


def started() -> str:
    return f"{time.strftime('%Y-%m-%d %H:%M')}, load {os.getloadavg()[0]:.1f}"


def table(start: str, rows: Sequence[Mapping[str, object]]) -> list[str]:
    """Return the lines of the table."""
    versions = [f"{name} {found}" for name in PACKAGES if (found := _version(name))]
    lines = [
        f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}, {', '.join(versions)}",
        f"from {start} to {started()}",
        "ratio: what the candidate takes, divided by what Snapscope (the first of each question) takes in the same",
        "round; the median of all rounds. Above 1, Snapscope takes less.",
        LINE.format("question", "candidate", "median", "spread", "ratio"),
    ]
    for row in rows:
        timings: Mapping[str, Sequence[float]] = row["taken"]  # type: ignore[assignment]  # as `add` wrote it
        base_timings = next(iter(timings.values()))
        for name, each in timings.items():
            ratio = statistics.median(own / base for own, base in zip(each, base_timings, strict=True))
            middle = f"{_shown(statistics.median(each))} {row['unit']}"
            spread = f"{_shown(min(each))} to {_shown(max(each))}"
            lines.append(LINE.format(str(row["question"]), name, middle, spread, f"{ratio:.2f}"))
    return lines


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def main(step: str, path: str) -> None:
    if step == "start":
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(started()) + "\n")
        return
    with open(path, encoding="utf-8") as file:
        start, *rows = map(json.loads, file)
    print("\n".join(table(start, rows)))


if __name__ == "__main__":
    main(*sys.argv[1:])
