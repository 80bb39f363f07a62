"""A plan from metadata that Spark read, beside that of one process; for drivers in processes of their own."""

from __future__ import annotations

from typing import Any

from core.errors import SnapscopeError
from core.model.actions import Expire
from core.spark.metadata import history as on_spark
from core.spark.metadata.history import SparkHistory
from core.spark.session import session
from core.table import Table

_built: dict[str, SparkHistory] = {}


def planned(table: Table) -> dict[str, Any]:
    """Plan an expiry; the parts of the history are built once for each table."""
    whole = table.history()
    change, now_ms = Expire(retain_max=1, retain_min=1), 1_790_000_000_000
    try:
        if table.location not in _built:
            _built[table.location] = on_spark.build(session.get(), table, whole.heads, entries=100)
        found = _built[table.location]
        plans = [table.preview_deletion(change, now_ms, each) for each in (found, whole)]
    except SnapscopeError as error:
        return {"error": type(error).__name__, "message": error.message, "remedy": str(error.remedy)}
    return {"parts": found.parts, "frees": len(plans[0].frees), "equal": plans[0] == plans[1]}
