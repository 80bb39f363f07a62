"""Benchmark opening a large table again after one commit: its references, its history with the holders of every file,
and the plan of an expiry, in a new process; beside reading the files of that commit alone.

    python benchmarks/reopen.py [--files 1000000] [--snapshots 10000] [--tags 200] [--rounds 3] [--warehouse DIRECTORY]

In each round of each format, one after the other: a process that opens the table unchanged, one that opens it after one
commit, one that reads and decodes only what that commit wrote, and one that reads everything (no cache). All must find
the same files. Imports are not counted. Output: medians with their spread, processor seconds, and the peak of memory
for each live file. The tables take minutes to write; `--warehouse` keeps them for the next run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from support import large_tables, ratios
from support.steps import in_a_process

TABLES = {"paimon": large_tables.paimon_table, "iceberg": large_tables.iceberg_table}
ANEW = "all read anew"
STEPS = ("unchanged", "one commit", "that commit alone", ANEW)
HEAD = "{:8} {:18} {:>8} {:>16} {:>7} {:>10} {:>8} {:>6} {:>7}"


def opened(table: Path) -> dict[str, Any]:
    from core.model.actions import Expire
    from core.table import open_table

    def now() -> float:
        return time.perf_counter()

    started, busy = now(), time.process_time()
    opening = open_table(str(table))
    heads = opening.heads()
    read = now()
    history = opening.history(heads)
    held = history.holders_of(history.files["path"][len(history.files) // 2].as_py())
    built, cpu = now(), time.process_time() - busy
    quarter = heads.main.snapshots[len(heads.main.snapshots) * 3 // 4].time_ms
    plan = opening.preview(Expire(retain_min=1, older_than_ms=quarter), 4_000_000_000_000, history)
    live = history.live_now()
    return {
        "seconds": built - started, "cpu": cpu, "references": read - started, "plan": now() - built,
        "answer": [int(history.live.at(live or 0).sum()), len(history.files), len(held), len(plan.frees)],
        "live": int(history.live.at(live or 0).sum()),
    }  # fmt: skip


def alone(table: Path) -> dict[str, Any]:
    """Read the newest document, and decode the lists and the manifest that its commit wrote."""
    from core.formats.avro import decode as avro
    from core.formats.iceberg import manifests as iceberg
    from core.formats.paimon import manifests as paimon

    started, busy = time.perf_counter(), time.process_time()
    if (table / "metadata").exists():
        newest = json.loads((table / "metadata" / "v2.metadata.json").read_bytes())["snapshots"][-1]
        listed = avro.read([newest["manifest-list"]], iceberg.LIST).rows.to_pylist()
        own = [each["path"] for each in listed if each["snapshot_id"] == newest["snapshot-id"]]
        rows = avro.read(own, iceberg.ENTRY).rows
    else:
        number = int((table / "snapshot" / "LATEST").read_text()) + 1
        newest = json.loads((table / "snapshot" / f"snapshot-{number}").read_bytes())
        lists = [str(table / "manifest" / newest[f"{kind}ManifestList"]) for kind in ("base", "delta")]
        found = avro.read(lists, paimon.LIST).rows.to_pylist()
        own = [str(table / "manifest" / each["name"]) for each in found if each["file"] == 1]
        rows = avro.read(own, paimon.ENTRY).rows
    return {"seconds": time.perf_counter() - started, "cpu": time.process_time() - busy, "answer": len(rows) > 0}


def run(step: str, table: Path) -> None:
    """Do one step in this process, after one small use that imports what it needs."""
    work = alone if step == "that commit alone" else opened
    small = table.with_name(f"{table.name}_small")
    large_tables.publish(small)
    try:
        work(small)
    finally:
        large_tables.retract(small)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    done = work(table)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps(done | {"peak": (after - before) * 1024}))


def measure(kind: str, table: Path, rounds: int, cache: Path) -> None:
    timings: dict[str, dict[str, list[float]]] = {step: {} for step in STEPS}
    for _ in range(rounds):
        shutil.rmtree(cache, ignore_errors=True)
        in_a_process(__file__, "unchanged", table, cache)  # reads everything, and keeps it
        found = {"unchanged": in_a_process(__file__, "unchanged", table, cache)}
        large_tables.publish(table)
        try:
            found |= {step: in_a_process(__file__, step, table, None if step == ANEW else cache) for step in STEPS[1:]}
        finally:
            large_tables.retract(table)
        if found["one commit"]["answer"] != found["all read anew"]["answer"]:
            raise SystemExit(f"{kind}: what is kept answers otherwise than the table")
        for step, each in found.items():
            each["bytes_each"] = each["peak"] / found["unchanged"]["live"]
            for key in ("seconds", "cpu", "references", "plan", "bytes_each"):
                timings[step].setdefault(key, []).append(each.get(key, 0.0))
    one_commit = timings["one commit"]["seconds"]
    for step, each in timings.items():
        ratio = statistics.median(other / own for other, own in zip(each["seconds"], one_commit, strict=True))
        spread = f"{min(each['seconds']):.3f}..{max(each['seconds']):.3f}"
        middle = {key: statistics.median(values) for key, values in each.items()}
        print(HEAD.format(
            kind, step, f"{middle['seconds']:.3f}", spread, f"{middle['cpu']:.2f}", f"{middle['references']:.2f}",
            f"{middle['plan']:.2f}", f"{ratio:.3f}", f"{middle['bytes_each']:.0f}",
        ))  # fmt: skip
    seconds = {step: each["seconds"] for step, each in timings.items() if step != "one commit"}
    ratios.add(f"{kind}: reopened after one commit", "s", {"Snapscope": one_commit, **seconds})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1_000_000)
    parser.add_argument("--snapshots", type=int, default=10_000)
    parser.add_argument("--tags", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warehouse", type=Path, help="where the tables are, or are written")
    parser.add_argument("--step", nargs=2, metavar=("STEP", "TABLE"), help="do one step in this process")
    args = parser.parse_args()
    if args.step:
        run(args.step[0], Path(args.step[1]))
        return
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {args.files:,} live files, "
          f"{args.snapshots:,} snapshots, {args.tags} tags")  # fmt: skip
    print(HEAD.format("format", "step", "seconds", "spread", "cpu s", "references", "plan s", "ratio", "B/file"))
    with tempfile.TemporaryDirectory(prefix="snapscope-bench-") as folder:
        warehouse = args.warehouse or Path(folder)
        for kind, build in TABLES.items():
            table = warehouse / "default.db" / kind
            if not table.exists():
                build(table, args.files, args.snapshots, args.tags)
                build(table.with_name(f"{kind}_small"), 1_000, 50, 5)
            measure(kind, table, args.rounds, Path(folder) / "cache")


if __name__ == "__main__":
    main()
