"""System tables, under the names that the format's engine uses. A new format is one more line here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import pyarrow as pa

from core.model.history import History
from core.model.time_travel import AsOf
from core.spark.read.iceberg import system_tables as iceberg
from core.spark.read.paimon import system_tables as paimon
from core.table import Table

_KINDS: Mapping[str, Iterable[str]] = {"paimon": paimon.KINDS, "iceberg": iceberg.KINDS}
_Rows = Callable[[str, Table, History, str, str], pa.Table]
_ROWS: Mapping[str, _Rows] = {"paimon": paimon.rows, "iceberg": iceberg.rows}


def kinds(format: str) -> tuple[str, ...]:
    """The names of the format's system tables: `files`, `snapshots` and so on."""
    return tuple(_KINDS.get(format, ()))


def named(statement: str, names: Iterable[str], format: str) -> dict[str, str]:
    """The system tables that a statement may refer to: view name (`t$files`) → name (`files`)."""
    lowered = statement.lower()
    return {f"{name}${kind}": kind for name in names for kind in kinds(format) if f"{name}${kind}".lower() in lowered}


def views(
    statement: str, names: Iterable[str], table: Table, history: History, at: AsOf
) -> Iterator[tuple[str, pa.Table]]:
    """The system tables that a statement may refer to, each with its rows at a version."""
    form = table.capabilities.format
    for view, kind in named(statement, names, form).items():
        yield view, _ROWS[form](kind, table, history, at.point, at.branch)
