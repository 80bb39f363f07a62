"""Every command with its arguments and options, by name. Importing this imports click alone: what a command runs, and
the tables of actions, are imported when they are asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import click

from core.cli import arguments as of
from core.cli import parameters as has
from core.cli.arguments import Choice, argument, flag, option
from core.cli.command import Command, CommandGroup, Sections

SHELLS = ("bash", "zsh", "fish")
KEPT = "7 d"  # of a protection
SECTIONS: Sections = (
    ("See what is there", ("tables", "snapshots", "tags", "files", "manifests", "columns", "health")),
    ("Travel in time", ("as-of", "diff", "query", "bisect", "report")),
    ("Plan before changing", ("plan", "cost", "holders", "orphans")),
    ("Expire and protect (each shows its plan and asks first)", ("expire", "expire-tags", "protect", "auto-tag")),
    (
        "Tags and branches",
        (
            *("create-tag", "replace-tag", "rename-tag", "delete-tag"),
            *("create-branch", "replace-branch", "rename-branch", "delete-branch", "fast-forward", "rollback"),
        ),
    ),
    (
        "Rows, files and consumers",
        (*("compact", "analyze", "drop-partition", "truncate", "reset-consumer", "clear-consumers", "call"),),
    ),
    ("Follow up", ("audit", "resume", "undo")),
    ("Programs", ("serve", "demo", "doctor", "completion", "help")),
)

# questions -----------------------------------------------------------------------------------------------------------


def _tables() -> Command:
    places = argument("warehouse", "a path, a URL, or iceberg://CATALOG", "PLACE", many=True)
    return Command("tables", "listings:tables", "List the tables of warehouses and catalogs.", [places, *has.output()])


def _snapshots() -> Command:
    return Command("snapshots", "listings:snapshots", "List the retained snapshots.", has.of_table())


def _tags() -> Command:
    return Command("tags", "listings:tags", "List the tags and the snapshots they keep.", has.of_table())


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
        argument("b", "the later one", "TO", kind=of.POINT),
        flag("--rows", help="also compare the rows, with Spark"),
        has.limit("show at most so many differing rows"),
        has.timeout("5 min", "give up comparing rows after this"),
    ]
    help = "Compare two snapshots: files, rows, size, schema, options."
    return Command("diff", "questions:diff", help, [*has.of_table(), *own], rows="partitions")


def _report() -> Command:
    """`-o` has always been the file here."""
    own = [
        option("--at", help="report the table's state at this snapshot (default: latest)", metavar=of.POINT,
               group="which"),
        option("--diff", help="report the difference of two snapshots", nargs=2, metavar="FROM TO", example="3 latest",
               group="which", kind=of.POINT),
        option("--zone", help="the time zone of the times in it", default="UTC", metavar="ZONE",
               example="Asia/Shanghai"),
        has.now(),
        option("-o", "--out", help="the file to write", required=True, metavar="FILE"),
        flag("--json", help="print one JSON document"),
    ]  # fmt: skip
    help = "Write one HTML file about a table's state or a difference."
    table = argument("table", "a table's path or URL", of.TABLE)
    return Command("report", "reports:report", help, [table, has.branch(), *own])


def _manifests() -> Command:
    own = option("--manifest", help="list the entries of this manifest", metavar="PATH", example="manifest-1.avro")
    help = "List the manifests of a snapshot, or the entries of one."
    return Command("manifests", "inside:manifests", help, [*has.of_table(), *has.of_point(), own])


def _columns() -> Command:
    own = [
        option("--file", help="only of this file", metavar="PATH", group="which"),
        option("--folder", help="only of this partition, or bucket of one", metavar="PARTITION",
               example="dt=2026-11-01", group="which"),
    ]  # fmt: skip
    help = "Show min, max and nulls of each column, as the manifests record them."
    return Command("columns", "inside:columns", help, [*has.of_table(), *has.of_point(), *own])


def _health() -> Command:
    help = "Report small files, skew and deleted rows."
    return Command("health", "inside:health", help, [*has.of_table(), *has.of_point()], rows="partitions")


def _holders() -> Command:
    path = argument("path", "a path below the table, an absolute path, or a URL", "PATH")
    help = "Show which snapshots and tags keep a file, and until when."
    return Command("holders", "questions:holders", help, [*has.of_table(), path, has.now()])


def _cost() -> Command:
    help = "Show what each tag and each retention costs in storage."
    return Command("cost", "questions:cost", help, [*has.of_table(), has.now()], rows="tags")


def _query() -> Command:
    own = [
        argument("sql", "a SELECT over the view named like the table, or t; or a CALL", "SQL"),
        option("--now", help="of a CALL: judge ages as of this time (default: now)", metavar=of.TIME),
        *has.confirmation(),
        option("--at", help="read this snapshot, tag or time", default="latest", metavar=of.POINT),
        option("--before", help="also read this one, as the view TABLE_before", metavar=of.POINT),
        option("--since", help="also read what changed after this one, as the view TABLE_changes", metavar=of.POINT),
        option("--hold", help="tag the snapshot for so long, so that no expiry removes it meanwhile",
               metavar=of.DURATION, example="'1 h'"),
        has.limit("show at most so many rows"),
        has.timeout("60 s", "give up after this"),
        option("--engine", help="who reads the rows: plain, or the name of an engine's connector", default="plain",
               metavar="ENGINE", example="paimon"),
        has.connector(),
    ]  # fmt: skip
    help = "Run SQL on a table as of any snapshot, tag or time; or a CALL."
    return Command("query", "calling:query", help, [*has.of_table(), *own], rows="rows")


def _bisect() -> Command:
    own = [
        argument("condition", "true or false of the whole table t, such as 'count(*) > 1000'", "CONDITION"),
        option("--from", "start", help="begin at this snapshot (default: the oldest retained)", metavar=of.POINT),
        option("--to", "end", help="end at this snapshot (default: the newest)", metavar=of.POINT),
        flag("--every", help="check every snapshot instead of half and half again"),
        has.timeout("60 s", "give up on one snapshot after this"),
    ]
    help = "Find the first snapshot where a condition became true."
    return Command("bisect", "bisecting:bisect", help, [*has.of_table(), *own], rows="probes")


# changes -------------------------------------------------------------------------------------------------------------


def _protect() -> Command:
    own = [
        argument("point", has.POINT_HELP, of.POINT),
        option("--time-retained", help="how long it is kept", default=KEPT, metavar=of.DURATION),
        has.now(),
        *has.confirmation(),
    ]
    help = "Tag a snapshot for a while, after checking that all its files are there."
    return Command("protect", "changes:protect", help, [*has.of_table(), *own])


def _auto_tag() -> Command:
    help = "Create the tags that the table's tag.* options ask for; for a scheduler."
    return Command(
        "auto-tag", "tagging:auto_tag", help, [*has.of_table(), has.dry_run(), has.now(), *has.confirmation()]
    )


def _expire_tags() -> Command:
    older = option("--older-than", help="also tags created before this", metavar=of.TIME)
    help = "Delete the tags whose retention has passed."
    return Command(
        "expire-tags",
        "tagging:expire_tags",
        help,
        [*has.of_table(), older, has.dry_run(), has.now(), *has.confirmation()],
    )


def _call() -> Command:
    own = [
        argument("table", "a warehouse, or the table that the CALL names", "PLACE"),
        argument("sql", "the statement, such as \"CALL sys.create_tag(table => 'shop.orders', tag => 'v1')\"", "CALL"),
        has.now(),
        *has.confirmation(),
        *has.output(),
    ]
    help = "Plan and run what an engine's CALL sys.NAME(…) asks for."
    return Command("call", "calling:call", help, own, rows="plans")


def _audit() -> Command:
    own = [
        argument("table", "only changes of this table", of.TABLE, required=False),
        option("--run", "run_id", help="one run, with every path it deleted", metavar="RUN", group="which"),
        option("--export", help="the whole journal as it is", type=Choice(("json", "csv")), group="which",
               example="csv"),
        flag("--verify", help="check the journal's chain of hashes", group="which"),
        *has.output(),
    ]  # fmt: skip
    return Command("audit", "changes:audit", "List the changes made with Snapscope, newest first.", own)


def _resume() -> Command:
    own = [
        has.run_id(),
        has.settle(),
        has.outside(),
        *has.output(),
    ]
    return Command("resume", "changes:resume", "Finish an interrupted change.", own)


def _undo() -> Command:
    own = [has.run_id(), *has.output()]
    return Command("undo", "changes:undo", "Undo a change that has deleted no file yet.", own)


# programs ------------------------------------------------------------------------------------------------------------


def _demo() -> Command:
    own = [argument("directory", "where to make it; must not exist or be empty", "DIRECTORY"), *has.output()]
    return Command("demo", "programs:demo", "Make a warehouse of example tables with Spark.", own)


def _serve() -> Command:
    own = [
        argument("warehouse", "warehouses, tables or iceberg://CATALOG", "PLACE", required=False, many=True),
        option("--port", help="the port on 127.0.0.1; one in use is an error", default=8501, type=int, metavar="PORT",
               example="9000"),
        flag("--write", help="let readers switch changes on"),
        option("--allow-host", help="also answer to this name and port in the browser's address bar, where the port is "
               "forwarded", metavar="NAME:PORT", multiple=True, example="localhost:9000"),
        has.connector(),
        *has.output(),
    ]  # fmt: skip
    help = "Open the dashboard on warehouses, tables and catalogs."
    return Command("serve", "programs:serve", help, own, epilog=has.PROTECTION)


def _doctor() -> Command:
    own = [
        argument("places", "warehouses, tables or catalogs that must be reached", "PLACE", required=False, many=True),
        flag("--spark", help="also start Spark and load the connectors that are set"),
        *has.output(),
    ]
    return Command("doctor", "programs:doctor", "Check Java, Spark, libraries, stores and catalogs.", own)


def _completion() -> Command:
    shell = argument("shell", "bash, zsh or fish", "SHELL")
    shell.type = Choice(SHELLS)
    help = "Print the script that completes commands and options in your shell."
    epilog = 'Add it to your shell: eval "$(snapscope completion bash)" in ~/.bashrc, the same with zsh in ~/.zshrc, '
    epilog += "or snapscope completion fish > ~/.config/fish/completions/snapscope.fish."
    return Command("completion", "dispatch:completion", help, [shell], epilog=epilog)


def _help() -> Command:
    names = argument("command", "the command", "COMMAND", required=False, many=True)
    return Command("help", "dispatch:completion", "Show the help of a command.", [names])


_OWN: dict[str, Callable[[], click.Command]] = {
    "tables": _tables,
    "snapshots": _snapshots,
    "tags": _tags,
    "files": _files,
    "as-of": _as_of,
    "diff": _diff,
    "report": _report,
    "manifests": _manifests,
    "columns": _columns,
    "health": _health,
    "holders": _holders,
    "cost": _cost,
    "query": _query,
    "bisect": _bisect,
    "protect": _protect,
    "auto-tag": _auto_tag,
    "expire-tags": _expire_tags,
    "call": _call,
    "audit": _audit,
    "resume": _resume,
    "undo": _undo,
    "demo": _demo,
    "serve": _serve,
    "doctor": _doctor,
    "completion": _completion,
    "help": _help,
}


# actions -------------------------------------------------------------------------------------------------------------


def _actions() -> Any:
    """The tables of actions, imported here alone."""
    return importlib.import_module("core.cli.action_options")


def _plan() -> CommandGroup:
    actions = _actions()
    help = "Show what a change would do and reclaim. Changes nothing."
    return CommandGroup("plan", help, (("Changes", actions.plan_names()),), _planned, actions.plan_names)


@cache
def _planned(name: str) -> Command | None:
    actions = _actions()
    if name not in actions.plan_names():
        return None
    is_expiry = name == "expire"
    table = argument("table", "a table's path or URL", of.TABLE,
                     required=not is_expiry)  # fmt: skip
    report = option("--report", help="also write the plan as one HTML file, for approval", metavar="FILE")
    every = option("--all", help="plan every table of this warehouse instead", metavar="WAREHOUSE")
    own = [
        table,
        has.branch(),
        *has.output(),
        *([every] if is_expiry else []),
        *actions.options(name),
        has.now(),
        report,
    ]
    given = {"command": "plan", "change": name, "all": None}
    return Command(name, "changes:plan", actions.help_of(name), own, rows="frees", set=given)


def _change(name: str) -> Command:
    actions = _actions()
    run = "changes:orphans" if name == "orphans" else "changes:change"
    own = [*has.of_table(), *actions.options(name), has.now(), *has.confirmation()]
    return Command(name, run, actions.help_of(name), own, rows="frees", set={"command": name})


def _engine_action(name: str) -> Command:
    """An action under the engine's own name: a CALL whose arguments are options."""
    own: has.Params = [argument("place", "a table's path or URL", of.TABLE, required=False), *has.output()]
    for each, example in (("warehouse", "/data/warehouse"), ("database", "shop"), ("table", "orders"),
                          ("path", "/data/warehouse/shop.db/orders")):  # fmt: skip
        help = f"the {each}, as the engine's action takes it"
        own.append(option(f"--{each}", help=help, metavar=each.upper(), example=example))
    own += [*_actions().engine_options(name), has.now(), *has.confirmation()]
    about = f"Do what CALL sys.{name}(…) does."
    return Command(name, "calling:action", about, own, rows="plans", set={"command": name}, hidden=True)


@cache
def _found(name: str) -> click.Command | None:
    if name in _OWN:
        return _OWN[name]()
    if name == "plan":
        return _plan()
    actions = _actions()
    if name in actions.names():
        return _change(name)
    return _engine_action(name) if name in actions.engine_names() else None


def _names() -> Sequence[str]:
    shown = [name for _, names in SECTIONS for name in names]
    return [*shown, *_actions().engine_names()]


def engine_names() -> Sequence[str]:
    """Actions by the names that Paimon has for them."""
    found: Sequence[str] = _actions().engine_names()
    return found


@cache
def group() -> CommandGroup:
    """The whole tree."""
    help = "Shows what lakehouse tables held and hold, what changed, and what a clean-up would delete."
    found = CommandGroup("snapscope", help, SECTIONS, _found, _names, has.EXAMPLES)
    found.params.append(flag("--version", help="print the version"))
    return found
