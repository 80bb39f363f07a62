"""Compares two versions of an Iceberg table by whole rows: no engine enforces unique identifier fields.

Law: files that both versions have under the same deletes are not read, if both versions read them with the same
columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pyspark.sql import SparkSession

from core.spark.diff.compare import Compared, columns_of, side_by_side
from core.spark.read.iceberg import frames as iceberg_read
from core.spark.read.iceberg.scan import IcebergScan


def compare(spark: SparkSession, a: IcebergScan, b: IcebergScan) -> Compared:
    """As `compare`; `unchanged` rows are known where no file that stays unread has rows to be counted."""
    columns = columns_of(a.schema, b.schema)
    ours, theirs = _told(a), _told(b)
    same = {path for path, how in ours.items() if theirs.get(path) == how} if a.columns == b.columns else set()
    frames = [iceberg_read.rows(spark, _without(point, same)).frame for point in (a, b)]
    files = len({*ours, *theirs} - same), len({*ours, *theirs})
    counts = [_rows(theirs[path]) for path in same]
    return side_by_side(columns, frames, files, None if None in counts else sum(filter(None, counts)), ())


def _told(point: IcebergScan) -> dict[str, Any]:
    """Of each file its rows, constants and deletes. Files that are live more than once are like no other."""
    found: list[tuple[str, Any]] = [(path, (rows, None, [], [], {})) for path, rows in point.native]
    for unit in point.work:
        for file in unit["files"]:
            how = (file["rows"], file["vector"], unit["positions"], unit["equality"], file["constants"])
            found.append((file["path"], how))
    times = Counter(path for path, _ in found)
    return {path: how if times[path] == 1 else object() for path, how in found}


def _rows(how: Any) -> int | None:
    rows, vector, positions, equality, _ = how
    return None if positions or equality else rows - (vector[3] if vector else 0)


def _without(point: IcebergScan, paths: set[str]) -> IcebergScan:
    def left(files: Iterable[Any]) -> list[Any]:
        return [file for file in files if file["path"] not in paths]

    work = ({**unit, "files": some} for unit in point.work if (some := left(unit["files"])))
    return replace(point, native=tuple(each for each in point.native if each[0] not in paths), work=tuple(work))
