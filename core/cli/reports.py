"""Reports: written as HTML files, or printed in any format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from core.analysis.diff import diff, spelled
from core.cli import parameters, questions, running
from core.cli.arguments import Args
from core.cli.output import HTML, UNREAD, grid, number
from core.errors import Invalid
from core.model import time_input
from core.model.history import History
from core.model.time_travel import AsOf
from core.reports import html as reporting
from core.reports import json as answers
from core.reports import state_json
from core.spark.read.removed_points import resolved
from core.table import Table, open_table
from core.units import several, size

Answer = tuple[Any, str]


def report(args: Args) -> Answer:
    """Write or print the report of a table's state or of a difference."""
    is_printed = args.out in parameters.REPORTED or (args.out is None and args.json)
    if args.out is None and not is_printed:
        raise click.UsageError("-o needs a file to write or a format to print: -o orders.html, -o json.")
    time_input.zone_of(args.zone)  # some formats state no time in it
    table = open_table(args.table)
    history = table.history()
    make = _state if args.diff is None else _difference
    document, text = make(args, table, history, is_html=not is_printed or args.output == HTML)
    args.partly = UNREAD if history.incomplete else ""
    if is_printed:
        return document, text
    path = written(args.out, text)
    return {"report": path, "bytes": len(text.encode()), **answers.problems(history)}, f"Written to {path}."


def _difference(args: Args, table: Table, history: History, *, is_html: bool) -> Answer:
    a, b = (resolved(table, history.heads, point, args.branch) for point in args.diff)
    found = diff(history, a, b)
    if is_html:
        return {}, reporting.of_diff(found, history, table.name, zone=args.zone)
    document, text = questions.compared(found)
    return {"table": table.location, **document, **answers.problems(history)}, text


def _state(args: Args, table: Table, history: History, *, is_html: bool) -> Answer:
    point, now_ms = _point(table, history, args), running.now_ms(args)
    if is_html:
        return {}, reporting.of_table(history, point, table.name, zone=args.zone, now_ms=now_ms)
    document = state_json.of_table(history, point, now_ms)
    return document, _in_words(document, history, point, args.zone)


def _in_words(document: Mapping[str, Any], history: History, point: AsOf | None, zone: str) -> str:
    """The state of a table as text."""
    least = "At least " if history.incomplete else ""
    at = "No snapshot was ever committed."
    if point is not None:
        then = document["at"]
        rows = "" if then["rows"] is None else f"{several(then['rows'], 'row')} in "
        at = f"At {point.point}, committed {time_input.in_zone(point.snapshot.time_ms, zone)}: {rows}"
        at += f"{several(then['files'], 'file')}, {size(then['bytes'])}."
    columns = [(each["column"], spelled(each["type"]), _keys(each)) for each in document["columns"]]
    partitions = [
        (each["partition"] or "—", number(each["files"]), number(each["rows"]), size(each["bytes"]))
        for each in document["partitions"]
    ]
    branches = [
        (each["branch"], "" if each["head"] is None else str(each["head"]), number(each["snapshots"]))
        for each in document["branches"]
    ]
    tags = [(each["point"], str(each["snapshot"]), each["expires"] or "—") for each in document["tags"]]
    holders = [(each["holders"], number(each["files"]), size(each["bytes"])) for each in document["by_holders"]]
    sections: list[tuple[tuple[str, ...], Sequence[tuple[str, ...]]]] = [
        (("column", "type", "key"), columns),
        (("partition", "files", "rows", "bytes"), partitions),
        (("branch", "head", "snapshots"), branches),
        (("tag", "snapshot", "expires"), tags),
        (("holders", "files", "bytes"), holders),
    ]
    unread = [f"Unreadable: {each.sentence()}" for each in history.problems]
    parts = [*unread, at, f"{least}{size(document['held_bytes'])} are held."]
    return "\n\n".join(["\n".join(parts), *(grid(heads, rows) for heads, rows in sections if rows)])


def _keys(column: Mapping[str, Any]) -> str:
    kinds = (("primary", column["is_primary_key"]), ("partition", column["is_partition_key"]))
    return ", ".join(name for name, is_one in kinds if is_one)


def _point(table: Table, history: History, args: Args) -> AsOf | None:
    """The requested version. A table without any commit has none, which is an error only if one was requested."""
    line = history.heads.line(args.branch)
    if args.at is None and line is not None and line.latest is None:
        return None
    return resolved(table, history.heads, "latest" if args.at is None else args.at, args.branch)


def written(name: str, text: str) -> str:
    """Write the text and return its full path. Raises `Invalid` if that fails."""
    path = Path(name).expanduser().absolute()
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Invalid(
            f"The report could not be written: {error.strerror}.", path=str(path), remedy="Name another file."
        ) from error
    return str(path)
