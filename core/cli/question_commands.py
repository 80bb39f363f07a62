"""The commands that ask and change nothing, by name."""

from __future__ import annotations

from collections.abc import Callable

import click

from core.cli import arguments as of
from core.cli import parameters as has
from core.cli.arguments import argument, flag, option
from core.cli.command import Command


def _tables() -> Command:
    places = argument("warehouse", "a path, a URL, a catalog, or a name of the settings file", "PLACE", many=True)
    return Command("tables", "listings:tables", "List the tables of warehouses and catalogs.", [places, *has.output()])


def _snapshots() -> Command:
    return Command("snapshots", "listings:snapshots", "List the retained snapshots.", has.of_table())


def _tags() -> Command:
    return Command("tags", "listings:tags", "List the tags and the snapshots they keep.", has.of_table())


def _branches() -> Command:
    table = argument("table", "a table's path or URL", of.TABLE)
    help = "List the branches and their newest snapshots."
    return Command("branches", "listings:branches", help, [table, *has.output()])


def _files() -> Command:
    return Command(
        "files", "questions:files", "List the data files of a snapshot or tag.", [*has.of_table(), *has.of_point()]
    )


def _as_of() -> Command:
    help = "Show which snapshot a time or name means, and why."
    return Command("as-of", "questions:as_of", help, [*has.of_table(), *has.of_point()])


def _diff() -> Command:
    own = [
        argument("a", "the earlier snapshot, tag or time", "FROM", kind=of.POINT),
        argument("b", "the later snapshot, tag or time", "TO", kind=of.POINT),
        flag("--rows", help="also compare the rows, with Spark"),
        has.limit("maximum number of differing rows to show"),
        has.timeout("5 min", "time limit for comparing rows"),
    ]
    help = "Compare two snapshots: files, rows, size, schema, options."
    return Command("diff", "questions:diff", help, [*has.of_table(), *own], rows="partitions")


def _report() -> Command:
    own = [
        option("--at", help="report the table's state at this snapshot (default: latest)", metavar=of.POINT,
               group="which"),
        option("--diff", help="report the difference between two snapshots", nargs=2, metavar="FROM TO",
               example="3 latest", group="which", kind=of.POINT),
        option("--zone", help="time zone of the times in the report", default="UTC", metavar="ZONE",
               example="Asia/Shanghai"),
        has.now(),
        option("-o", "--out", "--output", help="the HTML file to write; or a format to print the report in: html, "
               "table, json, csv, jsonl", metavar="FILE|FORMAT", example="report.html"),
        flag("--json", help="print one JSON document; the report itself, unless a file is written"),
    ]  # fmt: skip
    help = "Report a table's state or a difference, as one HTML file or in other formats."
    table = argument("table", "a table's path or URL", of.TABLE)
    return Command("report", "reports:report", help, [table, has.branch(), *own], rows="partitions")


def _manifests() -> Command:
    own = option("--manifest", help="list the entries of this manifest", metavar="PATH", example="manifest-1.avro")
    help = "List the manifests of a snapshot, or the entries of one."
    return Command("manifests", "inside:manifests", help, [*has.of_table(), *has.of_point(), own])


def _columns() -> Command:
    own = [
        option("--file", help="only this file", metavar="PATH", group="which"),
        option("--folder", help="only this partition, or one bucket of it", metavar="PARTITION",
               example="dt=2026-11-01", group="which"),
    ]  # fmt: skip
    help = "Show min, max and nulls of each column, as the manifests record them."
    return Command("columns", "inside:columns", help, [*has.of_table(), *has.of_point(), *own])


def _schemas() -> Command:
    help = "Show how columns changed across schemas, and what that means for readers."
    return Command("schemas", "inside:schemas", help, has.of_table(), rows="changes")


def _health() -> Command:
    help = "Report small files, skew and deleted rows."
    return Command("health", "inside:health", help, [*has.of_table(), *has.of_point()], rows="partitions")


def _holders() -> Command:
    path = argument("path", "a path below the table, an absolute path, or a URL", "PATH")
    help = "Show which snapshots and tags keep a file, and until when."
    return Command("holders", "questions:holders", help, [*has.of_table(), path, has.now()])


def _cost() -> Command:
    help = "Show what each tag and each retention costs in storage."
    return Command("cost", "questions:cost", help, [*has.of_table(), has.now(), has.on_spark()], rows="tags")


def _query() -> Command:
    own = [
        argument("sql", "a SELECT over the view named like the table, or t; or a CALL", "SQL"),
        option("--now", help="for a CALL: compute ages as of this time (default: now)", metavar=of.TIME),
        *has.confirmation(),
        option("--at", help="read this snapshot, tag or time", default="latest", metavar=of.POINT),
        option("--before", help="also read this one, as the view TABLE_before", metavar=of.POINT),
        option("--since", help="also read what changed after this one, as the view TABLE_changes", metavar=of.POINT),
        option("--hold", help="tag the snapshot for this long, so that no expiry removes it during the query",
               metavar=of.DURATION, example="'1 h'"),
        has.limit("maximum number of rows to show"),
        has.timeout("60 s", "time limit of the query"),
        option("--engine", help="plain (Snapscope through Spark) or an engine's connector", default="plain",
               metavar="ENGINE", example="paimon"),
        has.connector(),
    ]  # fmt: skip
    help = "Run SQL on a table as of any snapshot, tag or time; or a CALL."
    return Command("query", "calling:query", help, [*has.of_table(), *own], rows="rows")


def _bisect() -> Command:
    own = [
        argument("condition", "true or false of the whole table t, such as 'count(*) > 1000'", "CONDITION"),
        option("--from", "start", help="start at this snapshot (default: the oldest retained)", metavar=of.POINT),
        option("--to", "end", help="end at this snapshot (default: the newest)", metavar=of.POINT),
        flag("--every", help="check every snapshot instead of a binary search"),
        has.timeout("60 s", "time limit per snapshot"),
    ]
    help = "Find the first snapshot where a condition became true."
    return Command("bisect", "bisecting:bisect", help, [*has.of_table(), *own], rows="probes")


QUESTIONS: dict[str, Callable[[], click.Command]] = {
    "tables": _tables,
    "snapshots": _snapshots,
    "tags": _tags,
    "branches": _branches,
    "files": _files,
    "as-of": _as_of,
    "diff": _diff,
    "report": _report,
    "manifests": _manifests,
    "columns": _columns,
    "schemas": _schemas,
    "health": _health,
    "holders": _holders,
    "cost": _cost,
    "query": _query,
    "bisect": _bisect,
}
