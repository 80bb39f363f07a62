"""Metadata that Spark reads, for commands."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from core.model.actions import Change, leaves_changelogs
from core.model.history import HistorySummary
from core.table import Table

UNKNOWN = ("native", "native_codes", "next_commit")
"""What the document of a plan does not contain then: see `sentence`."""


@contextmanager
def history(table: Table, change: Change | None = None) -> Iterator[HistorySummary]:
    """The history of a table as Spark sums it up; `change` is what will be planned. Starts Spark."""
    wide = change is not None and leaves_changelogs(change) and table.capabilities.has_changelogs
    found = importlib.import_module("core.spark.metadata.history").lasting(table, changelogs=wide)
    try:
        yield found
    finally:
        found.close()


def engine() -> str:
    """Where Spark runs: `local` or the master of a cluster."""
    master: str | None = importlib.import_module("core.spark.session.session").cluster_name()
    return master or "local"


def told() -> dict[str, Any]:
    """What a document says of it."""
    return {"metadata_read_by": f"Spark ({engine()})"}


def sentence() -> str:
    return (
        f"Metadata was read by Spark ({engine()}). What the engine's own deletion and the next commit would do is not "
        "computed then, and such a plan cannot be run: run it without --on-spark, or on a machine with more memory."
    )
