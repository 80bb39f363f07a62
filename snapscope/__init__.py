"""Snapshots, tags and retention of Apache Paimon and Apache Iceberg tables, from Python.

    import snapscope

    table = snapscope.open("/warehouse/shop.db/orders")
    table.snapshots()                          # a pandas DataFrame
    plan = table.plan.expire(retain_max=10)    # shows what it reclaims; changes nothing
    table.apply(plan)                          # runs it, with a journal and a receipt

What holds everywhere: ids are text; times carry a zone; a column of numbers names its unit (`size_bytes`, `age_ms`);
sizes are bytes. Frames are pandas DataFrames, or Arrow tables after `table.arrow()`. Every error is a `SnapscopeError`.
Names that are not listed in `snapscope.__all__` may change at any time.
"""

from __future__ import annotations

import importlib
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


def open(location: str, *, branch: str = "main", zone: str = "UTC", read_only: bool = False) -> Table[pd.DataFrame]:
    """Open one table.

    Args:
        location: its path, its URL (`s3://bucket/shop.db/orders`), or its name in a catalog
            (`iceberg://CATALOG/namespace/table`).
        branch: the branch that every question and every plan is about.
        zone: in which times are read that are given as text without one, such as `Asia/Shanghai`. Answers are in UTC.
        read_only: refuse `apply`, `resume` and `undo` on this table.

    Raises:
        NotFound: no table is there, or it has no such branch.
        Invalid: this machine knows no such zone.
        Unsupported: the store of this URL needs a package that is not installed.

    Example:
        >>> orders = snapscope.open("/warehouse/shop.db/orders", read_only=True)
    """
    from snapscope.table import opened

    return opened(location, branch=branch, zone=zone, read_only=read_only)


def tables(warehouse: str) -> pd.DataFrame:
    """The tables of a warehouse, a database directory or a catalog (`iceberg://CATALOG`).

    Returns:
        One row a table: `table` (`database.name`), `database`, `name`, `format`, `location`, `problem`. What could not
        be listed is a row with a `problem` and no name, so an unreadable directory never looks empty.

    Raises:
        NotFound: no warehouse is there.

    Example:
        >>> for location in snapscope.tables("/warehouse")["location"]:
        ...     print(snapscope.open(location))
    """
    from snapscope.table import listed

    return listed(warehouse)


def runs() -> pd.DataFrame:
    """Every change made from this machine, the newest first, as the journal knows it.

    Returns:
        One row a run: `run`, `table` (its location), `action`, `state`, `who`, `started_at`, `ended_at` (UTC),
        `is_open` (it can be resumed), `can_undo`, `headline`.

    Raises:
        Corrupt: the journal cannot be read.

    Example:
        >>> snapscope.runs().query("is_open")
    """
    from snapscope.table import recorded

    return recorded(None)


def __getattr__(name: str) -> Any:
    """Classes are loaded when they are first used: `import snapscope` loads neither pandas nor Spark."""
    if name == "__version__":
        from importlib.metadata import version

        return version("snapscope")
    if name in _HOMES:
        return getattr(importlib.import_module(f"snapscope.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'snapscope' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
