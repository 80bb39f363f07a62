"""What reads the rows of a point, whatever the table's format; `core.spark.read.readers` lists who does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from core.model.references import Schema
from core.spark.sql.filters import Pushdown


@dataclass(frozen=True)
class Rows:
    """A frame, and what it is made from: `merged` of `files` live data files go through a merge in Python.

    `bytes_read` are those of the `files_read`, whole; None where it is not told which they are.
    `left_out` and `differs` are sentences: what the engine would not show either, and where it would answer otherwise.
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
    """The columns of a point, and the rows of it that a statement asks for (and maybe others).

    `ddl`: the columns' types in Spark, where they are not those of the schema's words."""

    schema: Schema
    rows: Callable[[SparkSession, Pushdown], Rows]
    ddl: tuple[str, ...] | None = None


def is_by_case(schema: Schema) -> bool:
    """Whether only upper and lower case tell two columns apart."""
    names = {field.name for field in schema.fields}
    return len({name.casefold() for name in names}) < len(names)
