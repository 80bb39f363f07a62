"""Commands with `--on-spark`: open tables whose metadata Spark reads, and decide whether that is needed."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from core.cli.arguments import Args
from core.cli.output import say
from core.errors import DoesNotFit
from core.model.actions import Change
from core.model.history import History, HistorySummary
from core.table import Table

_UNKNOWN = ("native", "native_codes", "next_commit")  # what the document of a plan does not contain then


@contextmanager
def opener() -> Iterator[Callable[[str], Table]]:
    """Yield a function that opens a table whose history Spark sums up; at the end, close all of these tables."""
    spark_tables = importlib.import_module("core.spark.metadata.table")
    tables: list[Any] = []

    def open_table(location: str) -> Table:
        tables.append(spark_tables.open_table(location))
        table: Table = tables[-1]
        return table

    try:
        yield open_table
    finally:
        for table in tables:
            table.close()


@contextmanager
def table(location: str) -> Iterator[Table]:
    """A table whose history Spark sums up."""
    with opener() as open_table:
        yield open_table(location)


def history_unless_spark(args: Args, table: Table) -> History | None:
    """Return the history, read by this process; None if Spark is requested, or needed because memory is too small.

    Raises `DoesNotFit` for a command that cannot use Spark, whose `args.on_spark` is None.
    """
    if args.on_spark:
        return None
    try:
        return table.history()
    except DoesNotFit as error:
        if args.on_spark is None:
            raise
        say(f"{error.message} Spark reads it instead, as with --on-spark.", sys.stderr)
        args.on_spark = True
        return None


def history(table: Table, change: Change | None = None) -> HistorySummary:
    """Its history now; `change` is what will be planned. Starts Spark."""
    return table.until_unchanged(table.heads(), lambda heads: table.summary(heads, change))


def known_fields(document: Mapping[str, Any]) -> dict[str, Any]:
    """What a document of a plan contains then."""
    return {**{name: value for name, value in document.items() if name not in _UNKNOWN}, **metadata_reader()}


def _engine() -> str:
    """Where Spark runs: `local` or the master of a cluster."""
    master: str | None = importlib.import_module("core.spark.session.session").cluster_name()
    return master or "local"


def metadata_reader() -> dict[str, Any]:
    """What a document says of it."""
    return {"metadata_read_by": f"Spark ({_engine()})"}


def sentence() -> str:
    return (
        f"Metadata was read by Spark ({_engine()}). What the engine's own deletion and the next commit would do is not "
        "computed then."
    )
