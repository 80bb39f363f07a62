"""Programs: query, demo, dashboard, doctor. Their imports happen only when they run, because Spark is slow to load."""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from typing import Any

from core import doctor as checks
from core.catalog import is_demo, list_tables
from core.cli.arguments import Args
from core.cli.output import grid, value_text
from core.demo.progress import begin
from core.execution.protect import hold
from core.serve import serve as run_dashboard
from core.table import open_table, resolve
from core.units import parse_user_duration_ms, several

Answer = tuple[Any, str]


def query(args: Args) -> Answer:
    from core.spark.query.query import query as run

    _configure(args)
    table = open_table(args.table)
    at, history, held = args.at, None, None  # the tag of --hold is not asked, it only protects what is read
    if args.hold is not None:
        history = table.history()
        at = resolve(history.heads, at, args.branch)
        held = hold(table, at, parse_user_duration_ms(args.hold), time.time_ns() // 1_000_000)
    if not args.json:
        print("Starting Spark…", file=sys.stderr)
    answer = run(
        table,
        args.sql,
        at=at,
        history=history,
        before=args.before,
        since=args.since,
        branch=args.branch,
        row_cap=args.limit,
        timeout_s=parse_user_duration_ms(args.timeout) / 1000,
        engine=args.engine,
    )
    columns_apart = answer.named_apart
    rows = columns_apart.to_pylist()
    cells = [[value_text(value) for value in row.values()] for row in rows]
    text = grid(tuple(columns_apart.column_names), cells)
    note = f"{several(len(rows), 'row')}{' (more were cut off)' if answer.truncated else ''}, {answer.note}"
    note += "" if held is None else f" Held by {held}."
    document = {
        "columns": columns_apart.column_names,
        "rows": rows,
        "truncated": answer.truncated,
        "seconds": round(answer.seconds, 3),
        "files_read": answer.files_read,
        "files_live": answer.files_live,
        "bytes_read": answer.bytes_read,
        "snapshot": answer.point.snapshot.id,
        "engine": answer.engine,
        "note": answer.note,
        "held": held,
    }
    return document, f"{text}\n{note}"


def _configure(args: Args) -> None:
    """Set the environment variable of `--connector`, where everything started from here on finds it."""
    if args.connector:
        named = [os.path.abspath(each) if each.endswith(".jar") else each for each in args.connector]
        os.environ["SNAPSCOPE_CONNECTORS"] = ",".join(named)


def demo(args: Args) -> Answer:
    from core.demo.build import build

    started = time.monotonic()
    show = None if args.json else (lambda text: print(text, file=sys.stderr))
    build(args.directory, progress=show, now_ms=time.time_ns() // 1_000_000)
    found = list_tables(args.directory)
    seconds = time.monotonic() - started
    document = {
        "warehouse": found.location,
        "tables": [each.title for each in found.tables],
        "seconds": round(seconds, 1),
    }
    return document, f"Created {several(len(found.tables), 'table')} in {found.location} in {seconds:.0f} s."


def serve(args: Args) -> Answer:
    _configure(args)
    places, programs = list(args.warehouse), []
    if args.demo is not None:
        places.insert(0, args.demo)
        if not is_demo(args.demo):
            begin(os.path.realpath(args.demo), time.time_ns() // 1_000_000)
            programs.append(("-m", "core.demo.background", os.path.realpath(args.demo)))
            print("The demo is being built; the page shows its tables as they come.", file=sys.stderr)
    status = run_dashboard(places, args.port, is_writing=args.write, hosts=args.allow_host, extra_programs=programs)
    return {"exit_status": status}, ""


def doctor(args: Args) -> Answer:
    found = [*checks.examine(args.places), *(checks.spark() if args.spark else ())]
    lines = [
        f"{each.level.upper() if each.level != checks.OK else 'ok':<8} {each.name:<20} {each.found}"
        + (f"  → {each.remedy}" if each.remedy else "")
        for each in found
    ]
    document = [{**dataclasses.asdict(each), "ok": each.ok} for each in found]
    if not all(each.ok for each in found):
        args.partly = "Something Snapscope needs is missing or does not respond: see above."
    return document, "\n".join(lines)
