"""Query: SQL at a point, its progress and its result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboard.present import units

if TYPE_CHECKING:
    from core.spark.query import QueryAnswer

SQL = "SQL"
QUERY_POINT = "At"
QUERY_BEFORE = "Compare with"
QUERY_OPTIONAL = "optional: a second point"
ROW_CAP = "Rows at most"
TIMEOUT = "Seconds at most"
HOLD = "Hold the point for an hour"
HOLD_HELP = (
    "Makes a tag of the point before the query runs, so that no expiry takes it away meanwhile. An engine that commits "
    "deletes the tag after the hour. Needs “Allow changes”."
)
QUERY_ENGINE = "Read by"
QUERY_ENGINE_HELP = (
    "Who reads the rows of the points: Snapscope through plain Spark, or the engine's own Spark connector, which this "
    "server was started with. Both read the very point that is chosen, and the answer says who gave it."
)
QUERY_ENGINES = {"plain": "plain Spark", "connector": "the engine's connector"}
RUN = "Run"
RESULT_NAME = "result"
DOWNLOAD_CSV = "Download CSV"
NO_ROWS = "The query ran and returned no rows."
QUERY_CANCELLED = "The query was cancelled."


def sql_help(name: str, *, has_before: bool) -> str:
    text = f"One SELECT, or a CALL of the engine's procedures. The table at the chosen point is {name}, or t for short."
    if not has_before:
        return text
    return f"{text} The second point is {name}_before, or t_before; what changed from it to the first is t_changes."


def running(elapsed_s: float, done: int, total: int) -> str:
    seconds = f"Running for {elapsed_s:.0f} s"
    return (
        f"{seconds}: {units.count(done)} of {units.plural(total, 'task')} done"
        if total
        else f"{seconds}: waiting for Spark"
    )


def query_note(answer: QueryAnswer) -> str:
    rows = units.plural(answer.table.num_rows, "row")
    live = units.plural(answer.files_live, "live file")
    read = f"{live}, read" if answer.files_read is None else f"read {units.count(answer.files_read)} of {live}"
    points = answer.point.point + (f" and {answer.before.point}" if answer.before else "")
    return f"{rows} as of {points}; {read} in {answer.seconds:.1f} s by {answer.engine}."


def left_out(what: str) -> str:
    return f"Left out: {what}."


def cut_off(shown: int) -> str:
    return f"Only the first {units.plural(shown, 'row')} are here: the query has more. Filter, or raise the cap."
