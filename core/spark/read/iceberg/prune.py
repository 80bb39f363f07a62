"""Which data files of an Iceberg version a condition can match, by the bounds in their manifests.

Invariant: a file is skipped only if every row of it fails the condition, whatever is unknown. Deletes only remove rows,
so bounds stay valid; a column that a file lacks has no bounds and may contain anything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from core import decimals
from core.formats.iceberg.types import IcebergType
from core.spark.read.iceberg.scan import IcebergScan
from core.spark.read.paimon.prune import ComparableBounds, may
from core.spark.sql.filters import EVERYTHING, Check, Condition

_LENGTHS = {"int": (4,), "long": (4, 8), "date": (4,), "timestamp": (8,), "timestamptz": (8,)}


def only(of: IcebergScan, condition: Condition) -> IcebergScan:
    """The version without files in which no row passes the condition."""
    if condition == EVERYTHING:
        return of
    known = {number: _bounds(of, number) for number in _columns(condition)}
    left = {
        path
        for row, path in enumerate(of.data["file"].to_pylist())
        if may(condition, lambda number, row=row: known[number](row))  # type: ignore[misc]
    }
    work = ({**unit, "files": some} for unit in of.work if (some := [f for f in unit["files"] if f["path"] in left]))
    return replace(of, native=tuple(each for each in of.native if each[0] in left), work=tuple(work))


def _columns(condition: Condition) -> set[int]:
    if isinstance(condition, Check):
        return {condition.column}
    return set().union(*map(_columns, condition.parts))


def _bounds(of: IcebergScan, number: int) -> Callable[[int], ComparableBounds | None]:
    """The known bounds of a column per data file, by the file's row."""
    column = of.columns[number]
    low, high, nulls = (_told(of.data[name], column.id) for name in ("lower", "upper", "nulls"))
    rows = of.data["rows"].to_pylist()

    def bounds(row: int) -> ComparableBounds | None:
        least, most = (value(side[row], column.type) if row in side else None for side in (low, high))
        count = nulls.get(row)
        return ComparableBounds(least, most, count, rows[row]) if (least, most, count) != (None, None, None) else None

    return bounds


def _told(listed: pa.ChunkedArray, id: int) -> dict[int, Any]:
    """The entries of a map column for one key, by row."""
    flat = listed.combine_chunks()
    pairs = pc.list_flatten(flat)
    chosen = pc.equal(pc.struct_field(pairs, "key"), id)
    row = pc.list_parent_indices(flat).filter(chosen)
    return dict(zip(row.to_pylist(), pc.struct_field(pairs, "value").filter(chosen).to_pylist(), strict=True))


def value(stored: bytes, of: IcebergType) -> Any:
    """A bound in the form of conditions; None if its type has changed since or is not compared."""
    match of.root:
        case "string":
            return stored
        case "boolean" if len(stored) == 1:
            return stored != b"\0"
        case "decimal" if 0 < len(stored) <= 16:
            return decimals.number(int.from_bytes(stored, "big", signed=True), of.scale)
        case root if len(stored) in _LENGTHS.get(root, ()):
            return int.from_bytes(stored, "little", signed=True)
        case _:
            return None
