"""Compare two versions of an Iceberg table by whole rows, because no engine enforces unique identifier fields.

Invariant: files that both versions have with the same deletes are not read, if both versions read them with the same
columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pyspark.sql import SparkSession

from core.errors import Unsupported
from core.formats.iceberg import types
from core.formats.iceberg.types import IcebergField
from core.model.references import Schema
from core.spark.diff.compare import IN_A_QUERY, Compared, columns_of, side_by_side
from core.spark.read.iceberg import frames as iceberg_read
from core.spark.read.iceberg.scan import IcebergScan
from core.spark.read.reader import is_by_case

_NULL = "unknown"
_NOT_COMPARED = ("variant", "time", _NULL)


def compare(spark: SparkSession, a: IcebergScan, b: IcebergScan) -> Compared:
    """As `compare.compare`; `unchanged` rows are known if metadata counts the rows of all skipped files."""
    if any(map(is_by_case, (a.schema, b.schema))):
        spark.conf.set("spark.sql.caseSensitive", "true")
    refused = {each.id: why for each in (*a.columns, *b.columns) if (why := _refusal(each)) is not None}
    columns = columns_of(_typed(a), _typed(b), refused)
    ours, theirs = _contents_by_file(a), _contents_by_file(b)
    same = {path for path, content in ours.items() if theirs.get(path) == content} if a.columns == b.columns else set()
    found = [iceberg_read.rows(spark, _without(point, same)) for point in (a, b)]
    notes = [sentence for each in found for sentence in each.differs]
    files = len({*ours, *theirs} - same), len({*ours, *theirs})
    counts = [_rows(theirs[path]) for path in same]
    rows = None if None in counts else sum(filter(None, counts))
    return side_by_side(columns, [each.frame for each in found], files, rows, tuple(dict.fromkeys(notes)))


def _refusal(column: IcebergField) -> Unsupported | None:
    """Why a column cannot be compared, or None."""
    if column.type.root != _NULL and types.has(column.type, lambda of: of.root in _NOT_COMPARED):
        return Unsupported("Values of type {of} do not compare.", of=types.spark(column.type), remedy=IN_A_QUERY)
    return column.refusal


def _typed(point: IcebergScan) -> Schema:
    """The schema without columns of type unknown, which are null as if they were missing."""
    ids = {each.id for each in point.columns if each.type.root != _NULL}
    return replace(point.schema, fields=tuple(each for each in point.schema.fields if each.id in ids))


def _contents_by_file(point: IcebergScan) -> dict[str, Any]:
    """Per file its rows, constants and deletes. A file that is live more than once equals no other."""
    found: list[tuple[str, Any]] = [(path, (rows, None, [], [], {})) for path, rows in point.native]
    for unit in point.work:
        for file in unit["files"]:
            content = (file["rows"], file["vector"], unit["positions"], unit["equality"], file["constants"])
            found.append((file["path"], content))
    times = Counter(path for path, _ in found)
    return {path: content if times[path] == 1 else object() for path, content in found}


def _rows(content: Any) -> int | None:
    rows, vector, positions, equality, _ = content
    return None if positions or equality else rows - (vector[3] if vector else 0)


def _without(point: IcebergScan, paths: set[str]) -> IcebergScan:
    def remaining(files: Iterable[Any]) -> list[Any]:
        return [file for file in files if file["path"] not in paths]

    work = ({**unit, "files": some} for unit in point.work if (some := remaining(unit["files"])))
    return replace(point, native=tuple(each for each in point.native if each[0] not in paths), work=tuple(work))
