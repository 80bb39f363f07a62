"""The statistics file that a planner reads: rows and bytes of a table, and what is known of its columns. Pure."""

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
"""Of these no least and greatest values are kept, but lengths."""


@dataclass(frozen=True, slots=True)
class ColumnStatistics:
    """Of one column: `distinct` values (about), nulls, the least and the greatest value (None for texts and where all
    are null), and lengths in characters or bytes."""

    distinct: int
    nulls: int
    least: Any
    greatest: Any
    average_length: int
    greatest_length: int


def is_analyzable(of: Any) -> bool:
    """Whether columns of this type have statistics in the engine."""
    root = parse(of).root
    return root in SIZES or root in TEXTS or root == "DECIMAL"


def document(
    snapshot_id: int, schema: Schema, rows: int, size_bytes: int, columns: Mapping[str, ColumnStatistics]
) -> bytes:
    """The content of a statistics file; `columns` by their names in `schema`."""
    fields = {field.name: field for field in schema.fields}
    told = {name: _column(fields[name].id, parse(fields[name].type).size or 0, of) for name, of in columns.items()}
    return documents.pretty(
        {
            "snapshotId": snapshot_id,
            "schemaId": schema.id,
            "mergedRecordCount": rows,
            "mergedRecordSize": size_bytes,
            "colStats": told,
        }
    )


def _column(number: int, digits: int, of: ColumnStatistics) -> dict[str, Any]:
    told = {
        "colId": number,
        "distinctCount": of.distinct,
        "min": _text(of.least, digits),
        "max": _text(of.greatest, digits),
        "nullCount": of.nulls,
        "avgLen": of.average_length,
        "maxLen": of.greatest_length,
    }
    return {name: value for name, value in told.items() if value is not None}


def _text(value: Any, digits: int) -> str | None:
    """A value as Java's own text of what it stores: dates are days, numbers are as they print."""
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
