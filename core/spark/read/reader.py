"""What reading a version returns, in any format; `core.spark.read.readers` lists the readers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from core.model.references import Schema
from core.spark.sql.filters import Pushdown


@dataclass(frozen=True)
class Rows:
    """A frame, and its source: `merged` of `files` live data files are merged in Python.

    `bytes_read` is the total size of the `files_read`; None where it is not known which they are. `left_out` and
    `differs` are sentences: what the engine would not show either, and where it would answer differently.
    """

    frame: DataFrame
    files: int
    files_read: int
    merged: int
    left_out: tuple[str, ...]
    differs: tuple[str, ...]
    bytes_read: int | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """The columns of a version, and a function returning at least the rows that a statement asks for.

    `ddl`: the columns' Spark types, where they do not follow from the schema.
    """

    schema: Schema
    rows: Callable[[SparkSession, Pushdown], Rows]
    ddl: tuple[str, ...] | None = None


def is_by_case(schema: Schema) -> bool:
    """Whether two column names differ only in upper and lower case."""
    names = {field.name for field in schema.fields}
    return len({name.casefold() for name in names}) < len(names)
