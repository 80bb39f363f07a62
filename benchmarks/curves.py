"""Benchmark how the cost of opening and planning grows with live files, with snapshots and with tags.

    python benchmarks/curves.py [--rounds 3] [--formats paimon,iceberg] [--draw docs/images/cost.svg]

Tables of both formats are written for each size. In processes of their own, Snapscope opens each one with empty caches
and again with what the first opening kept, plans the expiry of three quarters of the snapshots, and computes what each
tag costs; beside it, the limit: decoding each manifest once and nothing else. Output: processor seconds, medians of all
rounds. `--draw` draws them in headless Chromium (`--chromium`).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support import large_tables, ratios
from support.steps import in_a_process

TABLES = {"paimon": large_tables.paimon_table, "iceberg": large_tables.iceberg_table}
FILES, SNAPSHOTS, TAGS = 100_000, 1_000, 50  # where they do not vary
SIZES: dict[str, list[tuple[int, int, int]]] = {
    "live files": [(files, SNAPSHOTS, TAGS) for files in (10_000, 30_000, FILES, 300_000, 1_000_000)],
    "snapshots": [(FILES, snapshots, TAGS) for snapshots in (100, 300, SNAPSHOTS, 3_000, 10_000)],
    "tags": [(FILES, SNAPSHOTS, tags) for tags in (10, TAGS, 100, 300, 1_000)],
}
ANEW, AGAIN, LIMIT = "open, empty caches", "open again", "decode each manifest once"
PLAN, COST = "plan an expiry", "cost of each tag"
COLORS = {ANEW: "#3f7fbf", AGAIN: "#2a9d8f", LIMIT: "#6b7280", PLAN: "#c2622d", COST: "#8e5ea2"}
NOW_MS = 4_000_000_000_000


def opened(table: Path) -> dict[str, float]:
    """Open the table, plan, and compute what tags cost; processor seconds of each."""
    from core.analysis.storage_cost import exclusive
    from core.model.actions import Expire
    from core.table import open_table

    began = time.process_time()
    opening = open_table(str(table))
    heads = opening.heads()
    history = opening.history(heads)
    built = time.process_time()
    kept = heads.main.snapshots[len(heads.main.snapshots) * 3 // 4].time_ms
    opening.preview(Expire(retain_min=1, older_than_ms=kept), NOW_MS, history)
    planned = time.process_time()
    exclusive(history, history.existing)
    return {"open": built - began, PLAN: planned - built, COST: time.process_time() - planned}


def decoded(table: Path) -> dict[str, float]:
    """Decode the manifests and nothing else."""
    from core.formats.avro import decode
    from core.formats.iceberg import manifests as iceberg
    from core.formats.paimon import manifests as paimon

    is_paimon = (table / "manifest").exists()
    folder, lists = (table / "manifest", "manifest-list") if is_paimon else (table / "metadata", "snap-")
    chosen = [
        str(each) for each in folder.iterdir() if not each.name.startswith(lists) and not each.name.endswith(".json")
        and each.name != "version-hint.text"
    ]  # fmt: skip
    began = time.process_time()
    found = decode.read(chosen, paimon.ENTRY if is_paimon else iceberg.ENTRY)
    assert not found.errors
    return {LIMIT: time.process_time() - began}


STEPS: dict[str, Callable[[Path], dict[str, float]]] = {ANEW: opened, AGAIN: opened, LIMIT: decoded}


def measured(table: Path, rounds: int, cache: Path) -> dict[str, list[float]]:
    """Return the rounds of each cost."""
    timings: dict[str, list[float]] = {name: [] for name in COLORS}
    in_a_process(__file__, AGAIN, table, cache)  # keeps what it read
    for _ in range(rounds):
        uncached, cached = in_a_process(__file__, ANEW, table, None), in_a_process(__file__, AGAIN, table, cache)
        for name, seconds in (
            (ANEW, uncached["open"]),
            (AGAIN, cached["open"]),
            (PLAN, cached[PLAN]),
            (COST, cached[COST]),
        ):
            timings[name].append(seconds)
        timings[LIMIT].append(in_a_process(__file__, LIMIT, table, None)[LIMIT])
    return timings


def draw(found: dict[str, dict[str, list[dict[str, Any]]]], path: Path, chromium: str) -> None:
    """Draw the curves: one panel for each of `SIZES`; lines for Paimon, dashes for Iceberg."""
    import plotly.graph_objects as go
    from playwright.sync_api import sync_playwright
    from plotly.subplots import make_subplots

    figure = make_subplots(1, len(SIZES), shared_yaxes=True, horizontal_spacing=0.03)
    for column, (axis, formats) in enumerate(found.items(), 1):
        for kind, points in formats.items():
            for name, color in COLORS.items():
                line = {"color": color, "dash": "solid" if kind == "paimon" else "dot", "width": 2}
                x, y = [each["size"] for each in points], [each[name] for each in points]
                figure.add_trace(
                    go.Scatter(x=x, y=y, name=f"{name} ({kind.title()})", line=line, showlegend=column == 1),
                    row=1, col=column,
                )  # fmt: skip
        figure.update_xaxes(type="log", dtick=1, title=axis, row=1, col=column)
    figure.update_yaxes(type="log", dtick=1, ticksuffix=" s")
    figure.update_layout(
        width=1000, height=440, template="plotly_white", font={"family": "system-ui, sans-serif", "size": 12},
        margin={"l": 60, "r": 15, "t": 15, "b": 45}, legend={"orientation": "h", "y": -0.22},
    )  # fmt: skip
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_content(figure.to_html(include_plotlyjs=True, full_html=True))
        svg: str = page.evaluate(
            "async () => { const it = document.querySelector('.js-plotly-plot');"
            " return Plotly.toImage(it, {format: 'svg', width: it._fullLayout.width, height: it._fullLayout.height,"
            " imageDataOnly: true}) }"
        )
        browser.close()
    path.write_text(f"{svg}\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--formats", default=",".join(TABLES))
    parser.add_argument("--draw", type=Path, help="the SVG to write")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--step", nargs=2, metavar=("STEP", "TABLE"), help="do one step in this process")
    args = parser.parse_args()
    if args.step:
        step, table = STEPS[args.step[0]], Path(args.step[1])
        step(table.with_name("small"))  # imports what it needs
        print(json.dumps(step(table)))
        return
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {args.rounds} rounds; "
          f"where they do not vary: {FILES:,} live files, {SNAPSHOTS:,} snapshots, {TAGS} tags")  # fmt: skip
    print(f"{'format':8} {'size':>20} " + " ".join(f"{name:>26}" for name in COLORS))
    found: dict[str, dict[str, list[dict[str, Any]]]] = {axis: {} for axis in SIZES}
    for kind in args.formats.split(","):
        done: dict[tuple[int, int, int], dict[str, list[float]]] = {}
        for at, (axis, sizes) in enumerate(SIZES.items()):
            for size in sizes:
                if size not in done:
                    with tempfile.TemporaryDirectory(prefix="snapscope-bench-") as folder:
                        TABLES[kind](Path(folder) / "small", 1_000, 50, 5)
                        TABLES[kind](Path(folder) / "table", *size)
                        done[size] = measured(Path(folder) / "table", args.rounds, Path(folder) / "cache")
                middle = {name: statistics.median(each) for name, each in done[size].items()}
                found[axis].setdefault(kind, []).append({"size": size[at], **middle})
                numbers = " ".join(f"{middle[name]:>26.3f}" for name in COLORS)
                print(f"{kind:8} {f'{size[at]:,} {axis}':>20} {numbers}", flush=True)
                if axis == "live files":
                    both = {"Snapscope": done[size][ANEW], LIMIT: done[size][LIMIT]}
                    ratios.add(f"{kind}: history anew, {size[at]:,} files", "CPU s", both)
    if args.draw:
        draw(found, args.draw, args.chromium)


if __name__ == "__main__":
    main()
