"""Reports as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.analysis.diff import diff
from core.cli import running
from core.cli.arguments import Args
from core.cli.output import UNREAD
from core.errors import Invalid
from core.model.history import History
from core.model.time_travel import AsOf
from core.reports import html as reporting
from core.reports import json as answers
from core.spark.read.removed_points import resolved
from core.table import Table, open_table

Answer = tuple[Any, str]


def report(args: Args) -> Answer:
    """Write the report of a table's state or of a difference."""
    table = open_table(args.table)
    history = table.history()
    if args.diff is not None:
        a, b = (resolved(table, history.heads, point, args.branch) for point in args.diff)
        made = reporting.of_diff(diff(history, a, b), history, table.name, zone=args.zone)
    else:
        point = _point(table, history, args)
        made = reporting.of_table(history, point, table.name, zone=args.zone, now_ms=running.now_ms(args))
    path = written(args.out, made)
    args.partly = UNREAD if history.incomplete else ""
    return {"report": path, "bytes": len(made.encode()), **answers.problems(history)}, f"Written to {path}."


def _point(table: Table, history: History, args: Args) -> AsOf | None:
    """The point asked for; a table without any commit has none, and is no error unless one was named."""
    line = history.heads.line(args.branch)
    if args.at is None and line is not None and line.latest is None:
        return None
    return resolved(table, history.heads, args.at or "latest", args.branch)


def written(name: str, text: str) -> str:
    """Where the text was written, as a full path. `Invalid` where it cannot be."""
    path = Path(name).expanduser().absolute()
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Invalid(
            f"The report could not be written: {error.strerror}.", path=str(path), remedy="Name another file."
        ) from error
    return str(path)
