"""Lists of tables, snapshots and tags. They import only what reads references, because scripts call them often."""

from __future__ import annotations

import time
from typing import Any

from core.catalog import list_tables
from core.cli.arguments import Args
from core.cli.output import UNREAD, grid, number
from core.errors import SnapscopeError
from core.model.references import MAIN, Heads, Line
from core.model.time_travel import in_words
from core.reports import references_json as answers
from core.table import Table, open_table

Answer = tuple[Any, str]


def tables(args: Args) -> Answer:
    document: list[dict[str, Any]] = []
    lines: list[str] = []
    troubles: list[str] = []
    for place in args.warehouse:
        try:
            found = list_tables(place)
        except SnapscopeError as error:
            if len(args.warehouse) == 1:
                raise
            document.append({"location": place, **answers.error(error)})
            troubles.append(f"{place}: {error}")
            continue
        for each in found.tables:
            document.append(
                {"database": each.database, "name": each.name, "format": each.format, "location": each.location}
            )
            lines.append(f"{each.title:<40} {each.format:<8} {each.location}")
        document += [{"location": each.path, **answers.problem(each)} for each in found.problems]
        troubles += [problem.sentence() for problem in found.problems]
    return _whole(args, document), "\n".join([*(lines or ["No tables."]), *troubles])


def _whole(args: Args, document: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The list; if something could not be read, it is still printed, but with a nonzero exit status."""
    args.partly = UNREAD if any("error" in each for each in document) else ""
    return document


def line_of(table: Table, branch: str) -> tuple[Heads, Line]:
    """The table's references and the branch. Raises `NotFound`, listing the existing branches, if there is none."""
    heads = table.heads()
    return heads, heads.require(branch)


def snapshots(args: Args) -> Answer:
    heads, line = line_of(open_table(args.table), args.branch)
    if not heads.capabilities.branches_are_directories:
        return _snapshots_of_all(heads, line)
    rows = [
        (
            str(each.id),
            in_words(each.time_ms),
            each.kind,
            number(each.total_rows),
            number(each.delta_rows),
            each.commit_user,
        )
        for each in line.snapshots
    ]
    text = grid(("id", "committed", "kind", "rows", "± rows", "user"), rows)
    return _whole(args, answers.snapshots(line)), _with_notes(text, line)


def _snapshots_of_all(heads: Heads, line: Line) -> Answer:
    """Snapshots of all branches and of none, for a format whose snapshots belong to the table."""
    lines = heads.listed_with(line)
    rows = [
        (
            str(each.id),
            own.branch,
            in_words(each.time_ms),
            each.kind,
            number(each.total_rows),
            number(each.delta_rows),
            each.note,
        )
        for own in lines
        for each in own.snapshots
    ]
    document = [{**answers.snapshot(each), "branch": own.branch} for own in lines for each in own.snapshots]
    head = ("id", "branch", "committed", "operation", "rows", "± rows", "note")
    return document, _with_notes(grid(head, rows), heads.main)


def tags(args: Args) -> Answer:
    table = open_table(args.table)
    heads, line = line_of(table, args.branch)
    retained, ends = heads.retained(line), table.format.expiries(heads, time.time_ns() // 1_000_000)
    before = "" if line.branch == MAIN else f"branch:{line.branch}/"
    rows = [
        (
            tag.name,
            str(tag.snapshot.id),
            in_words(tag.snapshot.time_ms),
            "yes" if tag.snapshot.id in retained else "expired: kept only by tags",
            ends[f"{before}tag:{tag.name}"].words,
        )
        for tag in line.tags
    ]
    return _whole(args, answers.tags(line)), _with_notes(
        grid(("tag", "snapshot", "committed", "snapshot there", "expires"), rows), line
    )


def branches(args: Args) -> Answer:
    heads = open_table(args.table).heads()
    document = answers.branches(heads)
    rows = [
        (
            each["branch"],
            "" if each["snapshot"] is None else str(each["snapshot"]),
            "" if each["committed_ms"] is None else in_words(each["committed_ms"]),
            number(each["snapshots"]),
        )
        for each in document
    ]
    return document, _with_notes(grid(("branch", "newest snapshot", "committed", "snapshots"), rows), heads.main)


def _with_notes(text: str, line: Line) -> str:
    notes = [f"Unreadable: {each.problem.sentence()}" for each in line.unreadable]
    notes += [f"Note: {problem.sentence()}" for problem in line.warnings]
    return "\n".join([text, *notes])
