"""Read the footer of a Parquet file that was just written: row count, column statistics, partition.

Invariant: a statistic that the footer does not state is unknown, never guessed; a NOT NULL column with a null is
`Invalid`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet

from core.errors import Corrupt, Invalid
from core.formats.paimon import binary_row
from core.formats.paimon.types import PaimonType, parse
from core.formats.paimon.write import manifest_encoding
from core.formats.paimon.write.manifest_encoding import SimpleStats
from core.model.references import Schema


@dataclass(frozen=True, slots=True)
class Footer:
    """One file's row count, partition as a stored row, and statistics of all columns in the schema's order."""

    rows: int
    partition: bytes
    stats: SimpleStats


def read(path: str, schema: Schema) -> Footer:
    """Read one file's footer, and the partition keys of its first row."""
    with parquet.ParquetFile(path) as file:
        rows = file.metadata.num_rows
        stats = statistics(file, [(field.name, parse(field.type)) for field in schema.fields])
        partition = _partition(file, schema, path) if rows else b""
        return Footer(rows, partition, stats)


def statistics(
    file: parquet.ParquetFile, columns: Iterable[tuple[str, PaimonType]], length: int = manifest_encoding.STATS_LENGTH
) -> SimpleStats:
    """The statistics in an open file's footer for these columns, in their order; strings are truncated to `length`."""
    leaves = _leaves(file.schema_arrow)
    least, greatest, nulls = [], [], []
    for name, of in columns:
        column = leaves.get(name)
        low, high, empty = (None, None, None) if column is None else _column(file.metadata, column, of, length)
        if not of.nullable and empty:
            raise Invalid(
                "Column '{name}' may not be null, but {empty} of the rows have no value.", name=name, empty=empty
            )
        least.append(low)
        greatest.append(high)
        nulls.append(empty)
    return SimpleStats(least, greatest, nulls)


def _leaves(schema: pa.Schema) -> dict[str, int]:
    """The position of each column that is a single leaf; nested columns have several and no statistics of their own."""
    positions, at = {}, 0
    for field in schema:
        count = _leaf_count(field.type)
        if not pa.types.is_nested(field.type):
            positions[field.name] = at
        at += count
    return positions


def _leaf_count(of: pa.DataType) -> int:
    return sum(_leaf_count(field.type) for field in _children(of)) if pa.types.is_nested(of) else 1


def _children(of: pa.DataType) -> Iterable[pa.Field]:
    if pa.types.is_map(of):
        return of.key_field, of.item_field
    return tuple(of.field(at) for at in range(of.num_fields))


def _column(metadata: Any, column: int, of: PaimonType, length: int) -> tuple[Any, Any, int | None]:
    """(minimum, maximum, nulls) over all row groups; None if one of them does not state it."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    stated = [(group.num_rows, group.column(column).statistics) for group in groups if group.num_rows]
    if any(statistics is None or not statistics.has_null_count for _, statistics in stated):
        return None, None, None
    nulls = sum(statistics.null_count for _, statistics in stated)
    with_values = [statistics for rows, statistics in stated if statistics.null_count < rows]
    if not with_values or not all(statistics.has_min_max for statistics in with_values):
        return None, None, nulls
    low = min(_value(statistics.min, of) for statistics in with_values)
    high = max(_value(statistics.max, of) for statistics in with_values)
    return *manifest_encoding.shortened(low, high, length), nulls


def _value(value: Any, of: PaimonType) -> Any:
    if isinstance(value, dt.datetime):
        if of.root == "TIMESTAMP":
            return value.replace(tzinfo=None)
        return value.replace(tzinfo=dt.UTC) if value.tzinfo is None else value.astimezone(dt.UTC)
    return value


def _partition(file: Any, schema: Schema, path: str) -> bytes:
    if not schema.partition_keys:
        return binary_row.EMPTY
    types = {field.name: field.type for field in schema.fields}
    for batch in file.iter_batches(batch_size=1, columns=list(schema.partition_keys)):
        (first,) = batch.select(list(schema.partition_keys)).to_pylist()
        values = [_value(first[key], parse(types[key])) for key in schema.partition_keys]
        return binary_row.encode(values, [types[key] for key in schema.partition_keys])
    raise Corrupt("A file should contain rows but has none.", path=path)
