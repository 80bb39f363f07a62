"""The command line: the same questions, plans and changes as the dashboard, for terminals and scripts.

`--json` prints exactly one JSON document, errors included; the exit status is 0 only on success.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from core.cli import (
    action_options,
    bisecting,
    calling,
    changes,
    inside,
    programs,
    questions,
    reports,
    running,
    tagging,
)
from core.cli.text import say
from core.errors import Invalid, SnapscopeError
from core.execution import protect
from core.model.references import MAIN
from core.procedures.registry import BY_COMMAND
from core.reports import json as answers
from core.units import whole

Args = argparse.Namespace
KEPT = whole(protect.DAYS_MS)
Run = Callable[[Args], tuple[Any, str]]  # the JSON document and the text of an answer


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    given = list(sys.argv[1:] if argv is None else argv)
    wants_json = "--json" in given
    try:
        status = _run([word for word in given if word != "--json"], wants_json)
        sys.stdout.flush()  # a reader that has left is told here, not while the interpreter ends
        return status
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output has left
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def _run(given: Sequence[str], wants_json: bool) -> int:
    try:
        args = _parser().parse_args(calling.as_action(given))
        args.json = wants_json
        args.partly = ""  # what is answered or done in part says so: it is no success
        document, text = args.run(args)
    except SnapscopeError as error:
        return _fail(error, wants_json)
    except _Usage as error:
        return _fail(Invalid(f"{error}.", remedy="`snapscope COMMAND --help` shows what fits."), wants_json, 2)
    if wants_json:
        _print(document)
    elif text:
        say(text)
    if args.partly and not wants_json:
        say(args.partly, sys.stderr)
    return int(bool(args.partly))


def _fail(error: SnapscopeError, wants_json: bool, status: int = 1) -> int:
    if wants_json:
        _print(answers.error(error))
    else:
        say(f"{error.kind}: {error}", sys.stderr)
    return status


def _print(document: Any) -> None:
    """One document on one line, in ASCII where the terminal takes no Unicode."""
    is_ascii = "utf" not in (sys.stdout.encoding or "").lower()
    try:
        line = json.dumps(document, ensure_ascii=is_ascii, default=str, allow_nan=False)
    except ValueError:
        line = json.dumps(_finite(document), ensure_ascii=is_ascii, default=str, allow_nan=False)
    say(line, is_json=True)


def _finite(value: Any) -> Any:
    """JSON knows no NaN and no infinity: they become their names."""
    match value:
        case float() if not math.isfinite(value):
            return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
        case dict():
            return {key: _finite(each) for key, each in value.items()}
        case list() | tuple():
            return [_finite(each) for each in value]
        case _:
            return value


class _Usage(Exception):
    """The command line itself was not understood."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise _Usage(f"{self.prog}: {message}")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="snapscope", description="The history of lakehouse tables: what was, what changed, what a clean-up frees."
    )
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser, metavar="COMMAND")

    def command(name: str, run: Run, help_: str, *, table: bool = True) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=help_, description=help_)
        sub.set_defaults(run=run)
        _common(sub, table)
        return sub

    sub = command("tables", questions.tables, "List the tables of warehouses and catalogs.", table=False)
    sub.add_argument("warehouse", nargs="+", metavar="PLACE", help="a path, a URL, or iceberg://CATALOG")
    command("snapshots", questions.snapshots, "List retained snapshots.")
    command("tags", questions.tags, "List tags with what they keep.")
    sub = command("files", questions.files, "List the live data files of a point.")
    sub.add_argument("point", nargs="?", default=None)
    sub.add_argument("--at", default=None, metavar="POINT", help="the point (default: latest)")
    sub = command("as-of", questions.as_of, "Say which snapshot a point or time names, and why.")
    sub.add_argument("point", nargs="?", default=None)
    sub.add_argument("--at", default=None, metavar="POINT")
    sub = command("diff", questions.diff, "Compare two points: files, rows, bytes, schema, options.")
    sub.add_argument("a", metavar="FROM")
    sub.add_argument("b", metavar="TO")
    sub.add_argument("--rows", action="store_true", help="compare the rows too, through Spark")
    sub.add_argument("--limit", type=int, default=1000, help="differing rows shown at the most (1000)")
    sub.add_argument("--timeout", default="5 min", metavar="DURATION")

    sub = command("report", reports.report, "Write one HTML file of a table's state, or of a difference.")
    which = sub.add_mutually_exclusive_group()
    which.add_argument("--at", default=None, metavar="POINT", help="the state at this point (default: latest)")
    which.add_argument("--diff", nargs=2, default=None, metavar=("FROM", "TO"), help="the difference of two points")
    sub.add_argument("--zone", default="UTC", metavar="ZONE", help="of the times in it, such as Asia/Shanghai (UTC)")
    sub.add_argument("--now", metavar="TIME")
    sub.add_argument("-o", "--out", required=True, metavar="FILE")

    plan = commands.add_parser("plan", help="Show what a change would free, changing nothing.")
    kinds = plan.add_subparsers(dest="change", required=True, parser_class=_Parser)
    for name, of in BY_COMMAND.items():
        if name == "orphans":
            continue  # it shows what it finds unless it is told to delete it
        sub = kinds.add_parser(name)
        sub.set_defaults(run=changes.plan, all=None)
        _common(sub, name != "expire")
        if name == "expire":
            sub.add_argument("table", metavar="TABLE", nargs="?", help="a table's path or URL")
            sub.add_argument("--branch", default=MAIN)
            sub.add_argument("--all", metavar="WAREHOUSE", help="plan every table of a warehouse")
        action_options.add(sub, of)
        _report_option(sub)
    for name, of in BY_COMMAND.items():
        sub = command(name, changes.orphans if name == "orphans" else changes.change, of.help)
        action_options.add(sub, of)
        running.confirmation(sub)

    sub = command("protect", changes.protect, "Tag a point, checked file by file, for a while.")
    sub.add_argument("point")
    sub.add_argument("--time-retained", default=KEPT, metavar="DURATION", help=f"how long ({KEPT})")
    sub.add_argument("--now", metavar="TIME")
    running.confirmation(sub)
    sub = command(
        "auto-tag", tagging.auto_tag, "Make the tags that the table's tag.* options ask for: for a scheduler."
    )
    _tagging_options(sub)
    sub = command("expire-tags", tagging.expire_tags, "Delete the tags whose time is over.")
    sub.add_argument("--older-than", metavar="TIME", help="also tags made before this")
    _tagging_options(sub)
    inside.add(command)
    sub = command("holders", questions.holders, "Say who keeps a file and when it may go.")
    sub.add_argument("path", help="relative to the table, absolute, or a URL")
    sub.add_argument("--now", metavar="TIME")
    sub = command("cost", questions.cost, "Say what each tag and each retention costs.")
    sub.add_argument("--now", metavar="TIME")
    sub = command("audit", changes.audit, "List changes made from here, newest first.", table=False)
    sub.add_argument("table", nargs="?", default=None, help="only this table's")
    one = sub.add_mutually_exclusive_group()
    one.add_argument("--run", default=None, dest="run_id", metavar="RUN", help="one run with every path it deleted")
    one.add_argument("--export", choices=("json", "csv"), help="the whole journal as it is")
    one.add_argument("--verify", action="store_true", help="check the journal's chain of hashes")
    for name, run, help_ in (
        ("resume", changes.resume, "Carry on an unfinished change."),
        ("undo", changes.undo, "Take back a change whose sweep has not started."),
    ):
        sub = command(name, run, help_, table=False)
        sub.add_argument("run_id", metavar="RUN")
        if name == "resume":
            sub.add_argument("--settle", default="30 s", metavar="DURATION", help="wait for writers (30 s)")
            running.outside(sub)
    sub = command("call", calling.call, "Plan and carry out what CALL sys.NAME(…) asks for.", table=False)
    sub.add_argument("table", metavar="PLACE", help="a warehouse, or the table that the CALL names")
    sub.add_argument("sql", metavar="CALL")
    sub.add_argument("--now", metavar="TIME")
    running.confirmation(sub)
    calling.add_actions(commands, running.confirmation)
    sub = command("query", calling.or_query(programs.query), "Run SQL over the table as of a point, or a CALL.")
    sub.add_argument("sql")
    sub.add_argument("--now", metavar="TIME", help="of a CALL")
    running.confirmation(sub)
    sub.add_argument("--at", default="latest", metavar="POINT")
    sub.add_argument("--before", default=None, metavar="POINT", help="a second point, as the view <table>_before")
    sub.add_argument(
        "--since", default=None, metavar="POINT", help="what changed after it, as the view <table>_changes"
    )
    sub.add_argument("--hold", metavar="DURATION", help="tag the point for so long, so that no expiry takes it away")
    sub.add_argument("--limit", type=int, default=1000, help="rows shown at the most (1000)")
    sub.add_argument("--timeout", default="60 s", metavar="DURATION")
    sub.add_argument("--engine", default="plain", help="who reads the rows: plain Spark, or the engine's own connector")
    _connector(sub)
    bisecting.options(command("bisect", bisecting.bisect, "Find the first snapshot where a condition turned true."))
    sub = command("demo", programs.demo, "Make the demo warehouse with our own Spark pipeline.", table=False)
    sub.add_argument("directory")
    sub = command("serve", programs.serve, "Open the dashboard on warehouses, tables and catalogs.", table=False)
    programs.serve_options(sub)
    _connector(sub)
    sub = command("doctor", programs.doctor, "Check Java, Spark, libraries, stores and catalogs.", table=False)
    sub.add_argument("places", nargs="*", metavar="PLACE", help="a warehouse, table or catalog that must be reached")
    sub.add_argument("--spark", action="store_true", help="also start Spark, and load the connectors configured")
    return parser


def _common(sub: argparse.ArgumentParser, table: bool) -> None:
    sub.add_argument("--json", action="store_true", help="print one JSON document")
    if table:
        sub.add_argument("table", metavar="TABLE", help="a table's path or URL")
        sub.add_argument("--branch", default=MAIN)


def _connector(sub: argparse.ArgumentParser) -> None:
    help_ = "a jar or Maven coordinates of an engine's own Spark connector, in place of $SNAPSCOPE_CONNECTORS"
    sub.add_argument("--connector", action="append", default=[], metavar="JAR|COORDINATES", help=help_)


def _report_option(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "--report", default=None, metavar="FILE", help="also write the plan as one HTML file, for approval"
    )


def _tagging_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--dry-run", action="store_true", help="say what is due, change nothing")
    sub.add_argument("--now", metavar="TIME")
    running.confirmation(sub)
