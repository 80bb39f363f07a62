"""Benchmark analyses of one million files, in milliseconds each, on a synthetic in-memory history of 2,000 snapshots
and 40 tags.

    python benchmarks/questions.py [--files 1000000] [--rounds 5] [--together 20] [--table LOCATION]

With `--table`, the questions are asked of a real table instead, and plans of it are made too. Each analysis is timed
`rounds` times in turn. Output: minimum, median and maximum, and as a reference for the speed of the machine, one numpy
pass over the same column.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import pyarrow as pa

from core.analysis.storage_cost import best_drops, by_holders, exclusive, retention_curve
from core.formats.paimon.capabilities import PAIMON
from core.model.actions import Change, DeleteTags, Expire
from core.model.history import History
from core.model.intervals import Intervals, freed
from core.model.references import MAIN, Heads, Holder, HolderKind, Line, Snapshot
from core.table import open_table
from support import ratios

SNAPSHOTS, TAGS = 2000, 40


def history(files: int, group_size: int) -> History:
    """Create files that are added uniformly over time and live for 200 snapshots on average. `together` of them are
    written by one commit and replaced by another; every fiftieth snapshot is tagged."""
    random = np.random.default_rng(7)
    holders = []
    for number in range(SNAPSHOTS):
        snapshot = Snapshot(number, number, "APPEND", 0, "bench", number, None, None, None, {}, b"")
        holders.append(Holder(HolderKind.SNAPSHOT, MAIN, str(number), snapshot, f"snapshot/snapshot-{number}"))
        if number % (SNAPSHOTS // TAGS) == 0:
            holders.append(Holder(HolderKind.TAG, MAIN, f"t{number}", snapshot, f"tag/tag-t{number}"))
    positions = len(holders)
    groups = -(-files // group_size)
    first = np.repeat(np.sort(random.integers(0, positions, groups)), group_size)[:files]
    last = np.minimum(first + np.repeat(random.geometric(1 / 200, groups), group_size)[:files], positions - 1)
    runs = Intervals(np.arange(files, dtype=np.int64), first, last, files, positions)
    sizes = random.integers(1_000, 1_000_000, files)
    objects = pa.table({"path": pa.nulls(files, pa.string()), "bytes": sizes, "ours": np.ones(files, dtype=np.bool_)})
    snapshots = tuple(holder.snapshot for holder in holders if holder.kind is HolderKind.SNAPSHOT and holder.snapshot)
    line = Line(MAIN, snapshots, (), (), (), {})
    table = pa.table({"bytes": sizes, "rows": sizes})
    heads = Heads("bench", PAIMON, (line,), {})
    return History(heads, tuple(holders), {}, (), objects=objects, held=runs, files=table, live=runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--together", type=int, default=20, help="files written and replaced at once; 1 is the worst")
    parser.add_argument("--table", metavar="LOCATION", help="a table with snapshots and tags, which is only read")
    args = parser.parse_args()
    if args.table:
        started = time.perf_counter()
        table = open_table(args.table)
        table_history = table.history()
        print(f"{args.table}: history read in {time.perf_counter() - started:.1f} s")
        snapshots = table_history.heads.main.snapshots
        changes: dict[str, Change] = {
            "plan: keep a quarter": Expire(retain_max=len(snapshots) // 4, retain_min=1),
            "plan: delete all tags": DeleteTags(tuple(tag.name for tag in table_history.heads.main.tags)),
        }
        now_ms = time.time_ns() // 1_000_000
        plans = {name: partial(table.preview, change, now_ms, table_history) for name, change in changes.items()}
        measure(table_history, args.rounds, "as it is", plans)
        return
    for together in sorted({args.together, 1}, reverse=True):
        measure(history(args.files, together), args.rounds, f"{together} at once", {})


def measure(history: History, rounds: int, how: str, plans: Mapping[str, Callable[[], object]]) -> None:
    files = len(history.files)
    started = time.perf_counter()
    shapes = history.shapes
    once_ms = (time.perf_counter() - started) * 1000
    print(f"{files:,} files, {how}: {len(shapes.count):,} shapes, found in {once_ms:.0f} ms")
    kept = history.existing
    newest = kept.copy()
    newest[: len(kept) // 2] = [holder.kind is HolderKind.TAG for holder in history.holders[: len(kept) // 2]]
    middle = len(kept) // 2
    questions: dict[str, Callable[[], object]] = {
        "numpy, one pass": lambda: history.held.first + history.held.last,
        "files at a point": lambda: history.live.at(middle),
        "reclaimed by an expiry": lambda: freed(history.held, kept, newest),
        "who holds a file": lambda: history.held.positions_of(files // 2),
        "exclusive, all tags": lambda: exclusive(history, kept),
        "retention, every N": lambda: retention_curve(history),
        "bytes by holders": lambda: by_holders(history),
        "best tags to drop": lambda: best_drops(history, newest),
        **plans,
    }
    timings: dict[str, list[float]] = {name: [] for name in questions}
    for _ in range(rounds):
        for name, ask in questions.items():
            started = time.perf_counter()
            ask()
            timings[name].append((time.perf_counter() - started) * 1000)
    base = statistics.median(timings["numpy, one pass"])
    for name in list(questions)[1:]:
        both = {"Snapscope": timings[name], "numpy, one pass": timings["numpy, one pass"]}
        ratios.add(f"{name}: {files:,} files, {how}", "ms", both)
    for name, times in timings.items():
        middle_ms = statistics.median(times)
        print(f"{name:22} {min(times):8.1f} {middle_ms:8.1f} {max(times):8.1f} ms  {middle_ms / base:7.1f} x one pass")


if __name__ == "__main__":
    main()
