"""Manage snapshots, tags and retention of Apache Paimon and Apache Iceberg tables from Python.

    import snapscope

    table = snapscope.open("/warehouse/shop.db/orders")
    table.snapshots()                          # a pandas DataFrame
    plan = table.plan.expire(retain_max=10)    # shows what it would reclaim; changes nothing
    table.apply(plan)                          # runs the plan; returns a receipt

Conventions: ids are strings. Times are timezone-aware. Sizes are in bytes. Numeric columns carry their unit in the name
(`size_bytes`, `age_ms`). Frames are pandas DataFrames, or Arrow tables after `table.arrow()`. Every error is a
`SnapscopeError`. Names that are not listed in `snapscope.__all__` may change at any time.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from core.errors import Conflict, Corrupt, Invalid, NotFound, SnapscopeError, Unsupported

if TYPE_CHECKING:
    import pandas as pd

    from snapscope.answers import AsOf, Bisect, Diff, FileLifetime, RowDiff
    from snapscope.planner import Plans
    from snapscope.plans import Plan, Receipt
    from snapscope.table import Table
    from snapscope.timeline import Timeline

_HOMES = {
    "AsOf": "answers",
    "Bisect": "answers",
    "Diff": "answers",
    "FileLifetime": "answers",
    "Plan": "plans",
    "Plans": "planner",
    "Receipt": "plans",
    "RowDiff": "answers",
    "Table": "table",
    "Timeline": "timeline",
}

__all__ = [
    "AsOf",
    "Bisect",
    "Conflict",
    "Corrupt",
    "Diff",
    "FileLifetime",
    "Invalid",
    "NotFound",
    "Plan",
    "Plans",
    "Receipt",
    "RowDiff",
    "SnapscopeError",
    "Table",
    "Timeline",
    "Unsupported",
    "open",
    "runs",
    "tables",
]


def open(
    location: str | os.PathLike[str], *, branch: str = "main", zone: str = "UTC", read_only: bool = False
) -> Table[pd.DataFrame]:
    """Open a table.

    Args:
        location: the table's path, URL (`s3://bucket/shop.db/orders`) or name in a catalog
            (`iceberg://CATALOG/namespace/table`, `paimon://CATALOG/database/table`), or one that begins with a
            warehouse's name in the settings file (`prod/shop.db/orders`).
        branch: the branch that all queries and plans use.
        zone: the time zone for times passed as text without a zone, such as `Asia/Shanghai`. Results are always in UTC.
        read_only: reject `apply`, `resume` and `undo` on this table.

    Raises:
        NotFound: there is no table at `location`, or it has no such branch.
        Invalid: the time zone is unknown on this machine.
        Unsupported: the store for this URL needs a package that is not installed.

    Example:
        >>> orders = snapscope.open("/warehouse/shop.db/orders", read_only=True)
    """
    from snapscope.table import opened

    return opened(location, branch=branch, zone=zone, read_only=read_only)


def tables(warehouse: str | os.PathLike[str]) -> pd.DataFrame:
    """List the tables in a warehouse, a database directory, a catalog (`iceberg://CATALOG`) or a warehouse's name.

    Returns:
        One row per table: `table` (`database.name`), `database`, `name`, `format`, `location`, `problem`. A path that
        could not be listed is returned as a row with a `problem` and no name, so an unreadable directory never looks
        empty.

    Raises:
        NotFound: there is no warehouse at this location.

    Example:
        >>> for location in snapscope.tables("/warehouse")["location"]:
        ...     print(snapscope.open(location))
    """
    from snapscope.table import listed

    return listed(warehouse)


def runs() -> pd.DataFrame:
    """List the changes made from this machine, newest first, as recorded in the journal.

    Returns:
        One row per run: `run` (its id), `table` (its location), `action`, `state`, `who`, `started_at` and `ended_at`
        (UTC), `is_open` (the run can be resumed), `can_undo`, `headline`.

    Raises:
        Corrupt: the journal cannot be read.

    Example:
        >>> snapscope.runs().query("is_open")
    """
    from snapscope.table import recorded

    return recorded(None)


def __getattr__(name: str) -> Any:
    """Load classes on first use, so that `import snapscope` imports neither pandas nor Spark."""
    if name == "__version__":
        from importlib.metadata import version

        return version("snapscope")
    if name in _HOMES:
        return getattr(importlib.import_module(f"snapscope.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'snapscope' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
