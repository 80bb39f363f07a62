"""Arguments and options shared by several commands, and the longer help texts."""

from __future__ import annotations

import click

from core.cli import arguments as of
from core.cli.arguments import Choice, argument, flag, option

FORMS = ("table", "json", "csv", "jsonl")
REPORTED = ("html", *FORMS)  # what `report` prints in
POINT_HELP = "snapshot or tag: 12, tag:v1, latest~3, or a time"

PROTECTION = (
    "Who can open it: whoever has the address that is printed once, at the start. It holds a secret that the browser "
    "keeps in a cookie until it is closed or the server stops. The server listens on loopback: other machines cannot "
    "reach it. Other users and programs of this machine, websites open in your browser, and whoever a port or an SSH "
    "tunnel is forwarded to can reach it, and get nothing without the secret. It does not protect from programs that "
    "run as you, nor from another server on this machine that you open under the same host name: browsers send it the "
    "cookie, too. With a port forwarded to another number, name what the address bar shows: "
    "--allow-host localhost:9000."
)
EXAMPLES = """\
Examples:
  snapscope demo ./warehouse                             create a warehouse to try Snapscope on
  snapscope serve ./warehouse                            open the dashboard
  snapscope snapshots ./warehouse/shop.db/orders         list the snapshots of a table
  snapscope as-of ./warehouse/shop.db/orders 'yesterday 08:00'
  snapscope plan expire ./warehouse/shop.db/orders --retain-max 10
  snapscope query ./warehouse/shop.db/orders 'select count(*) from t' --at latest~1

`snapscope help COMMAND` describes a command; `snapscope completion bash` prints completion for your shell.
"""

Params = list[click.Parameter]


def output() -> Params:
    form = option("-o", "--output", help="output format", default="table", type=Choice(FORMS))
    return [form, flag("--json", help="print one JSON document, as -o json does")]


def of_table() -> Params:
    return [argument("table", "a table's path or URL", of.TABLE), branch(), *output()]


def branch() -> click.Parameter:
    return option("--branch", help="the branch to use", default="main", metavar="BRANCH", example="dev")


def of_point() -> Params:
    at = option("--at", help="the same, as an option (default: latest)", metavar=of.POINT)
    return [argument("point", POINT_HELP, of.POINT, required=False), at]


def now() -> click.Parameter:
    return option("--now", help="compute ages as of this time (default: now)", metavar=of.TIME)


def outside() -> click.Parameter:
    help = "also delete files under this root outside the table: you know that no other table or copy needs them"
    return option("--outside", help=help, metavar="ROOT", multiple=True)


def settle() -> click.Parameter:
    return option("--settle", help="how long to wait for running writers before files are deleted", default="30 s",
                  metavar=of.DURATION, example="'2 min'")  # fmt: skip


def confirmation() -> Params:
    plan = option("--plan", help="run only if the plan has this fingerprint; give the --now it was made with",
                  metavar="FINGERPRINT")  # fmt: skip
    return [flag("--yes", help="do not ask for confirmation"), plan, settle(), outside()]


def timeout(default: str, help: str) -> click.Parameter:
    return option("--timeout", help=help, default=default, metavar=of.DURATION, example="'2 min'")


def connector() -> click.Parameter:
    help = "an engine's own Spark connector, instead of $SNAPSCOPE_CONNECTORS"
    return option("--connector", help=help, metavar="JAR|COORDINATES", multiple=True,
                  example="org.apache.paimon:paimon-spark-4.0:1.3.0")  # fmt: skip


def limit(help: str) -> click.Parameter:
    return option("--limit", help=help, default=1000, type=int, metavar="N", example="50")


def on_spark() -> click.Parameter:
    return flag("--on-spark", help="read metadata with Spark, as is done for a table that does not fit into memory")


def dry_run() -> click.Parameter:
    return flag("--dry-run", help="show what is due, change nothing")


def run_id() -> click.Parameter:
    return argument("run_id", "the run, as `snapscope audit` lists it", "RUN")
