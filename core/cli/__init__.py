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

from core.cli import bisecting, calling, changes, inside, programs, questions, reports, running, tagging, writing
from core.cli.text import say
from core.errors import Invalid, SnapscopeError
from core.formats.paimon.retention import RULES
from core.model.references import MAIN
from core.reports import json as answers

Args = argparse.Namespace
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
    for name, add in (
        ("expire", _expire_options),
        ("delete-tag", _delete_tag_options),
        ("create-tag", _create_tag_options),
        ("replace-tag", _tag_options),
        ("rename-tag", _rename_tag_options),
    ):
        sub = kinds.add_parser(name)
        sub.set_defaults(run=changes.plan, all=None)
        if name == "expire":
            _common(sub, False)
            sub.add_argument("table", metavar="TABLE", nargs="?", help="a table's path or URL")
            sub.add_argument("--branch", default=MAIN)
            sub.add_argument("--all", metavar="WAREHOUSE", help="plan every table of a warehouse")
        else:
            _common(sub, True)
        add(sub)
        _report_option(sub)
    for name, add, _ in (*_OF_BRANCHES, *writing.COMMANDS):
        sub = kinds.add_parser(name)
        sub.set_defaults(run=changes.plan, all=None)
        _common(sub, True)
        add(sub)
        _report_option(sub)

    for name, add, help_ in (
        ("expire", _expire_options, "Expire snapshots."),
        ("delete-tag", _delete_tag_options, "Delete tags and what only they keep."),
        ("create-tag", _create_tag_options, "Name a snapshot so that it stays."),
        *_OF_BRANCHES,
        *writing.COMMANDS,
    ):
        sub = command(name, changes.change, help_)
        add(sub)
        running.confirmation(sub)

    sub = command("protect", changes.protect, "Tag a point, checked file by file, for a while.")
    sub.add_argument("point")
    sub.add_argument("--time-retained", default="7 d", metavar="DURATION", help="how long (7 d)")
    sub.add_argument("--now", metavar="TIME")
    running.confirmation(sub)
    sub = command("replace-tag", changes.change, "Let a tag name another snapshot.")
    _tag_options(sub)
    running.confirmation(sub)
    sub = command("rename-tag", changes.change, "Give a tag another name.")
    _rename_tag_options(sub)
    running.confirmation(sub)
    sub = command(
        "auto-tag", tagging.auto_tag, "Make the tags that the table's tag.* options ask for: for a scheduler."
    )
    _tagging_options(sub)
    sub = command("expire-tags", tagging.expire_tags, "Delete the tags whose time is over.")
    sub.add_argument("--older-than", metavar="TIME", help="also tags made before this")
    _tagging_options(sub)
    sub = command("orphans", changes.orphans, "Find files nothing names; delete them with --delete.")
    sub.add_argument("--older-than", metavar="TIME", help="last written before this (default: a day ago)")
    sub.add_argument("--delete", action="store_true")
    help_ = "also in the directory of a partition that no snapshot or tag mentions"
    sub.add_argument("--also", action="append", default=[], metavar="DIR", help=help_)
    sub.add_argument("--now", metavar="TIME")
    running.confirmation(sub)
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


def _expire_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--retain-max", type=int)
    sub.add_argument("--retain-min", type=int)
    sub.add_argument("--older-than", metavar="TIME")
    sub.add_argument("--time-retained", metavar="DURATION")
    sub.add_argument("--max-deletes", type=int)
    help_ = "delete this tag in the same plan; of an Iceberg table, a branch too"
    sub.add_argument("--drop-tag", "--drop-ref", action="append", default=[], metavar="NAME", help=help_)
    sub.add_argument("--snapshot", action="append", default=[], metavar="ID", help="let exactly these oldest ones go")
    sub.add_argument("--expired-tags", action="store_true", help="delete tags whose retention has passed, too")
    sub.add_argument("--tags-older-than", metavar="TIME", help="delete tags created before this, too")
    sub.add_argument("--rules", default="newest", choices=list(RULES), help="whose expiry rules count")
    sub.add_argument("--changelog", action="store_true", help="expire long-lived changelogs instead of snapshots")
    sub.add_argument("--changelog-retain-max", type=int)
    sub.add_argument("--changelog-retain-min", type=int)
    sub.add_argument("--changelog-time-retained", metavar="DURATION")
    sub.add_argument("--now", metavar="TIME", help="judge ages at this time (default: now)")


def _delete_tag_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(*calling.flags("delete_tag", "tag"), action="append", required=True, metavar="NAME[,NAME…]")
    sub.add_argument("--now", metavar="TIME")


def _create_tag_options(sub: argparse.ArgumentParser) -> None:
    _tag_options(sub)
    sub.add_argument("--verify", action="store_true", help="withdraw the tag if a file of its point is missing")


def _tagging_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--dry-run", action="store_true", help="say what is due, change nothing")
    sub.add_argument("--now", metavar="TIME")
    running.confirmation(sub)


def _tag_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(*calling.flags("create_tag", "tag"), required=True)
    which = sub.add_mutually_exclusive_group()
    which.add_argument(
        *calling.flags("create_tag", "snapshot"), metavar="ID", help="the snapshot to name (default: latest)"
    )
    which.add_argument("--time", metavar="TIME", help="the first snapshot at or after this")
    which.add_argument(
        "--watermark", type=int, metavar="NUMBER", help="the first snapshot whose watermark has come there"
    )
    kept = calling.flags("create_tag", "time_retained")
    sub.add_argument(*kept, metavar="DURATION", help="the engine deletes the tag after this")
    sub.add_argument("--now", metavar="TIME")


def _rename_tag_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(*calling.flags("rename_tag", "tag"), required=True)
    sub.add_argument(*calling.flags("rename_tag", "target_tag"), required=True)
    sub.add_argument("--now", metavar="TIME")


def _create_branch_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("name", metavar="NAME")
    sub.add_argument("point", nargs="?", metavar="POINT", help="where it starts (default: as the engine does)")
    _retention_options(sub)


def _replace_branch_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("name", metavar="NAME")
    sub.add_argument("point", nargs="?", metavar="POINT", help="where it is to point (default: where it does)")
    _retention_options(sub)


def _retention_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--min-snapshots-to-keep", type=int, metavar="N", help="of an Iceberg branch")
    sub.add_argument("--max-snapshot-age", metavar="DURATION", help="of an Iceberg branch: older ones may expire")
    sub.add_argument("--max-ref-age", metavar="DURATION", help="of an Iceberg branch: an expiry drops it then")
    sub.add_argument("--now", metavar="TIME")


def _delete_branch_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("name", nargs="+", metavar="NAME")
    sub.add_argument("--now", metavar="TIME")


def _rename_branch_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("name", metavar="NAME")
    sub.add_argument("to", metavar="TO")
    sub.add_argument("--now", metavar="TIME")


def _fast_forward_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("name", metavar="NAME", help="the branch that --branch (main) becomes")
    sub.add_argument("--now", metavar="TIME")


def _rollback_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("point", metavar="POINT")
    how = sub.add_mutually_exclusive_group()
    how.add_argument(
        "--destructive", action="store_true", help="Paimon: remove what came after, instead of a new commit"
    )
    how.add_argument("--set", action="store_true", help="Iceberg: also to what is no ancestor")
    sub.add_argument("--now", metavar="TIME")


def _reset_consumer_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("name", metavar="CONSUMER")
    sub.add_argument("next", nargs="?", metavar="ID", help="the snapshot it reads next (default: the consumer goes)")
    sub.add_argument("--now", metavar="TIME")


def _clear_consumers_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--including", metavar="REGEX", help="only consumers with such a name")
    sub.add_argument("--excluding", metavar="REGEX", help="none with such a name")
    sub.add_argument("--now", metavar="TIME")


_OF_BRANCHES = (
    ("create-branch", _create_branch_options, "Give a point a branch."),
    ("replace-branch", _replace_branch_options, "Let a branch point elsewhere, or keep otherwise."),
    ("delete-branch", _delete_branch_options, "Delete branches."),
    ("rename-branch", _rename_branch_options, "Give a branch another name."),
    ("fast-forward", _fast_forward_options, "Let main become what a branch is."),
    ("rollback", _rollback_options, "Set main back to a point."),
    ("reset-consumer", _reset_consumer_options, "Let a streaming reader begin elsewhere, or forget it."),
    ("clear-consumers", _clear_consumers_options, "Forget streaming readers."),
)
