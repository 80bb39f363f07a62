"""Plans and deletions from metadata that Spark read; for drivers in processes of their own."""

from __future__ import annotations

import json
import sys
from typing import Any

from core.errors import SnapscopeError
from core.execution.apply import apply
from core.model.actions import CleanOrphans, Expire
from core.spark.metadata import history as on_spark
from core.spark.metadata.history import SparkHistory
from core.spark.metadata.table import open_table
from core.spark.session import session
from core.table import Table

CHANGE, NOW_MS = Expire(retain_max=1, retain_min=1), 1_790_000_000_000
_built: dict[str, SparkHistory] = {}


def planned(table: Table) -> dict[str, Any]:
    """Plan an expiry; the parts of the history are built once for each table."""
    whole = table.history()
    try:
        if table.location not in _built:
            _built[table.location] = on_spark.build(session.get(), table, whole.heads, entries=100)
        found = _built[table.location]
        plans = [table.preview(CHANGE, NOW_MS, each) for each in (found, whole)]
    except SnapscopeError as error:
        return {"error": type(error).__name__, "message": error.message, "remedy": str(error.remedy)}
    return {"parts": found.parts, "frees": len(plans[0].frees), "equal": plans[0] == plans[1]}


def cleaned(location: str) -> dict[str, Any]:
    """Delete orphans, then run the same expiry; return how each ends and what it deletes, by kind."""
    table, done = open_table(location), dict[str, Any]()
    try:
        for change in (CleanOrphans(NOW_MS - 86_400_000), CHANGE):
            plan = table.preview(change, NOW_MS, table.summary(table.heads(), change))
            receipt = apply(table, plan, settle_s=0)
            done[type(change).__name__] = [receipt.outcome, sorted(receipt.deleted)]
    except SnapscopeError as error:
        return {"error": type(error).__name__, "message": error.message, "remedy": str(error.remedy)}
    finally:
        table.close()
    return done


def expired(location: str) -> dict[str, Any]:
    """Run the same expiry. Before it deletes files, a line is printed and one is awaited."""

    def wait(_: float) -> None:
        print(json.dumps({"waiting": True}), flush=True)
        sys.stdin.readline()

    try:
        table = open_table(location)
        plan = table.preview(CHANGE, NOW_MS, table.summary(table.heads(), CHANGE))
        receipt = apply(table, plan, settle_s=0.01, waits=wait)
    except SnapscopeError as error:
        return {"error": type(error).__name__, "message": error.message, "remedy": str(error.remedy)}
    return {"outcome": receipt.outcome, "exact": receipt.is_exact, "deleted": sorted(receipt.deleted)}
