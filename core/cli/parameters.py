"""The arguments and options that several commands share."""

from __future__ import annotations

import click

from core.cli import arguments as of
from core.cli.arguments import Choice, argument, flag, option

FORMS = ("table", "json", "csv", "jsonl")
POINT_HELP = "the snapshot or tag: 12, tag:v1, latest~3, or a time"

Params = list[click.Parameter]


def output() -> Params:
    form = option("-o", "--output", help="how to print the answer", default="table", type=Choice(FORMS))
    return [form, flag("--json", help="print one JSON document, as -o json does")]


def of_table() -> Params:
    return [argument("table", "a table's path or URL", of.TABLE), branch(), *output()]


def branch() -> click.Parameter:
    return option("--branch", help="the branch that is meant", default="main", metavar="BRANCH", example="dev")


def of_point() -> Params:
    at = option("--at", help="the same, as an option (default: latest)", metavar=of.POINT)
    return [argument("point", POINT_HELP, of.POINT, required=False), at]


def now() -> click.Parameter:
    return option("--now", help="judge ages as of this time (default: now)", metavar=of.TIME)


def outside() -> click.Parameter:
    help = "also delete files under this root outside the table: you know that no other table or copy needs them"
    return option("--outside", help=help, metavar="ROOT", multiple=True)


def settle() -> click.Parameter:
    return option("--settle", help="how long running writers get before files are deleted", default="30 s",
                  metavar=of.DURATION, example="'2 min'")  # fmt: skip


def confirmation() -> Params:
    plan = option("--plan", help="run only if this is the plan: its fingerprint, with the --now it was made at",
                  metavar="FINGERPRINT")  # fmt: skip
    return [flag("--yes", help="do not ask"), plan, settle(), outside()]


def timeout(default: str, help: str) -> click.Parameter:
    return option("--timeout", help=help, default=default, metavar=of.DURATION, example="'2 min'")


def connector() -> click.Parameter:
    help = "an engine's own Spark connector, instead of $SNAPSCOPE_CONNECTORS"
    return option("--connector", help=help, metavar="JAR|COORDINATES", multiple=True,
                  example="org.apache.paimon:paimon-spark-4.0:1.3.0")  # fmt: skip


def limit(help: str) -> click.Parameter:
    return option("--limit", help=help, default=1000, type=int, metavar="N", example="50")


def dry_run() -> click.Parameter:
    return flag("--dry-run", help="show what is due and change nothing")


def run_id() -> click.Parameter:
    return argument("run_id", "the run, as `snapscope audit` lists it", "RUN")
