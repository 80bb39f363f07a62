"""Every command with its arguments and options, by name.

Importing this module imports only click: the functions that commands run, and the tables of actions, are imported on
demand.
"""

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
from core.cli.question_commands import QUESTIONS

SHELLS = ("bash", "zsh", "fish")
KEPT = "7 d"  # how long `protect` keeps a tag
SECTIONS: Sections = (
    (
        "Inspect tables",
        ("tables", "snapshots", "tags", "branches", "files", "manifests", "columns", "schemas", "health"),
    ),
    ("Time travel", ("as-of", "diff", "query", "bisect", "report")),
    ("Plan", ("plan", "cost", "holders", "orphans")),
    (
        "Expire and protect (each shows its plan and asks for confirmation)",
        ("expire", "expire-tags", "protect", "auto-tag"),
    ),
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

# changes -------------------------------------------------------------------------------------------------------------


def _protect() -> Command:
    own = [
        argument("point", has.POINT_HELP, of.POINT),
        option("--time-retained", help="how long to keep it", default=KEPT, metavar=of.DURATION),
        has.now(),
        *has.confirmation(),
    ]
    help = "Create a temporary tag, after checking that all files of the snapshot exist."
    return Command("protect", "changes:protect", help, [*has.of_table(), *own])


def _auto_tag() -> Command:
    help = "Create the tags that the table's tag.* options ask for; for a scheduler."
    return Command(
        "auto-tag", "tagging:auto_tag", help, [*has.of_table(), has.dry_run(), has.now(), *has.confirmation()]
    )


def _expire_tags() -> Command:
    older = option("--older-than", help="also delete tags created before this", metavar=of.TIME)
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
        option("--export", help="the whole journal, unchanged", type=Choice(("json", "csv")), group="which",
               example="csv"),
        flag("--verify", help="verify the journal's hash chain", group="which"),
        *has.output(),
    ]  # fmt: skip
    return Command("audit", "changes:audit", "List the changes made with Snapscope, newest first.", own)


def _resume() -> Command:
    own = [
        has.run_id(),
        has.settle(),
        has.outside(),
        has.on_spark(),
        *has.output(),
    ]
    return Command("resume", "changes:resume", "Finish an interrupted change.", own)


def _undo() -> Command:
    own = [has.run_id(), has.on_spark(), *has.output()]
    return Command("undo", "changes:undo", "Undo a change that has deleted no file yet.", own)


# programs ------------------------------------------------------------------------------------------------------------


def _demo() -> Command:
    own = [argument("directory", "directory to create; must be empty or not exist", "DIRECTORY"), *has.output()]
    return Command("demo", "programs:demo", "Create a warehouse of example tables with Spark.", own)


def _serve() -> Command:
    own = [
        argument("warehouse", "warehouses, tables, catalogs or names of the settings file", "PLACE",
                 required=False, many=True),
        option("--port", help="port on 127.0.0.1; fails if it is in use", default=8501, type=int, metavar="PORT",
               example="9000"),
        option("--demo", help="create the example tables there in the background, if missing, and open them",
               metavar="DIRECTORY", example="demo"),
        flag("--write", help="let users switch on changes"),
        option("--allow-host", help="also answer to this name and port in the browser's address bar, where the port is "
               "forwarded", metavar="NAME:PORT", multiple=True, example="localhost:9000"),
        has.connector(),
        *has.output(),
    ]  # fmt: skip
    help = "Open the dashboard on warehouses, tables and catalogs."
    return Command("serve", "programs:serve", help, own, epilog=has.PROTECTION)


def _doctor() -> Command:
    own = [
        argument("places", "warehouses, tables or catalogs to check", "PLACE", required=False, many=True),
        flag("--spark", help="also start Spark and load the configured connectors"),
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
    **QUESTIONS,
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
    """The tables of actions, imported only here."""
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
        *([has.on_spark()] if name in actions.ON_SPARK else []),
        report,
    ]
    given = {"command": "plan", "change": name, "all": None, **_unless_on_spark(name)}
    return Command(name, "changes:plan", actions.help_of(name), own, rows="frees", set=given)


def _change(name: str) -> Command:
    actions = _actions()
    run = "changes:orphans" if name == "orphans" else "changes:change"
    also = [has.on_spark()] if name in actions.ON_SPARK else []
    own = [*has.of_table(), *actions.options(name), has.now(), *also, *has.confirmation()]
    return Command(name, run, actions.help_of(name), own, rows="frees", set={"command": name, **_unless_on_spark(name)})


def _unless_on_spark(name: str) -> dict[str, Any]:
    """What commands without `--on-spark` set in its place."""
    return {} if name in _actions().ON_SPARK else {"on_spark": None}


def _engine_action(name: str) -> Command:
    """An action under the engine's own name: a CALL whose arguments are options."""
    own: has.Params = [argument("place", "a table's path or URL", of.TABLE, required=False), *has.output()]
    for each, example in (("warehouse", "/data/warehouse"), ("database", "shop"), ("table", "orders"),
                          ("path", "/data/warehouse/shop.db/orders")):  # fmt: skip
        help = f"the {each}, as the engine's action takes it"
        kind = {"warehouse": "WAREHOUSE", "path": of.TABLE}.get(each, each)  # a table's name is no location
        own.append(option(f"--{each}", help=help, metavar=each.upper(), example=example, kind=kind))
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
    """Paimon's own names of actions."""
    found: Sequence[str] = _actions().engine_names()
    return found


@cache
def group() -> CommandGroup:
    """The complete tree of commands."""
    help = "Shows what lakehouse tables held and hold, what changed, and what a clean-up would delete."
    found = CommandGroup("snapscope", help, SECTIONS, _found, _names, has.EXAMPLES)
    found.params.append(flag("--version", help="print the version"))
    return found
