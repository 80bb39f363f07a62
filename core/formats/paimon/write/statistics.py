"""The statistics file for query planners: row count and size of a table, and statistics of its columns. Pure."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.formats.paimon.types import parse
from core.formats.paimon.write import documents
from core.model.references import Schema

SIZES = {"BOOLEAN": 1, "TINYINT": 1, "SMALLINT": 2, "INT": 4, "BIGINT": 8, "FLOAT": 4, "DOUBLE": 8, "DATE": 4,
         "TIMESTAMP": 8, "TIMESTAMP_LTZ": 8}  # fmt: skip
TEXTS = ("CHAR", "VARCHAR", "BINARY", "VARBINARY")
"""For these types lengths are stored instead of minimum and maximum."""


@dataclass(frozen=True, slots=True)
class ColumnStatistics:
    """Statistics of one column.

    `distinct`: approximate number of values. `least`, `greatest`: None for texts and if all values are null. Lengths
    are in characters or bytes.
    """

    distinct: int
    nulls: int
    least: Any
    greatest: Any
    average_length: int
    greatest_length: int


def is_analyzable(type_: Any) -> bool:
    """Return whether the engine has statistics for columns of this type."""
    root = parse(type_).root
    return root in SIZES or root in TEXTS or root == "DECIMAL"


def document(
    snapshot_id: int, schema: Schema, rows: int, size_bytes: int, columns: Mapping[str, ColumnStatistics]
) -> bytes:
    """Return the content of a statistics file; `columns` by their names in `schema`."""
    fields = {field.name: field for field in schema.fields}
    column_documents = {
        name: _column(fields[name].id, parse(fields[name].type).size or 0, column) for name, column in columns.items()
    }
    return documents.pretty(
        {
            "snapshotId": snapshot_id,
            "schemaId": schema.id,
            "mergedRecordCount": rows,
            "mergedRecordSize": size_bytes,
            "colStats": column_documents,
        }
    )


def _column(number: int, digits: int, column: ColumnStatistics) -> dict[str, Any]:
    document = {
        "colId": number,
        "distinctCount": column.distinct,
        "min": _text(column.least, digits),
        "max": _text(column.greatest, digits),
        "nullCount": column.nulls,
        "avgLen": column.average_length,
        "maxLen": column.greatest_length,
    }
    return {name: value for name, value in document.items() if value is not None}


def _text(value: Any, digits: int) -> str | None:
    """Format a value as Java formats its stored form: dates as days, numbers as printed."""
    match value:
        case None:
            return None
        case bool():
            return str(value).lower()
        case dt.datetime():
            moment = value.astimezone(dt.UTC) if value.tzinfo else value
            return f"{moment:%Y-%m-%d %H:%M:%S}" + (f".{moment.microsecond:06d}"[: digits + 1] if digits else "")
        case dt.date():
            return str((value - dt.date(1970, 1, 1)).days)
        case float() if value != value:
            return "NaN"
        case float() if value in (float("inf"), float("-inf")):
            return "Infinity" if value > 0 else "-Infinity"
        case _:
            return str(value)
