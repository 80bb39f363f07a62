"""Sorted files of a primary-key table: merged Arrow rows in, Parquet files and their manifest entries out.

Invariants: each file contains its rows in key order, no key twice; its description matches its content. Columns
(docs/paimon.md §5.1): `_KEY_…` of each key, `_SEQUENCE_NUMBER`, `_VALUE_KIND`, then all columns of the table.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as parquet

from core.errors import Invalid
from core.formats.paimon import binary_row, types
from core.formats.paimon.types import PaimonType, parse
from core.formats.paimon.write import manifest_encoding
from core.formats.paimon.write.full_compaction import TARGET, keys
from core.formats.paimon.write.manifest_encoding import STATS_LENGTH, Record
from core.model.references import Schema
from core.spark.merge.columns import java_bits, order_by, ranks
from core.spark.merge.rows import DELETE, KIND, SEQUENCE, UPDATE_BEFORE
from core.spark.write import footers
from core.units import number, parse_size_bytes

Described: TypeAlias = dict[str, Any]  # one finished file: a row of `DESCRIBED`

_OF_FILES = {
    "staged_at": (pa.string(), "string"),
    **dict.fromkeys(("partition", "min_key", "max_key", "key_least", "key_greatest", "least", "greatest"),
                    (pa.binary(), "binary")),
    **dict.fromkeys(("key_nulls", "nulls"), (pa.list_(pa.int64()), "array<bigint>")),
    **dict.fromkeys(("key_columns", "columns"), (pa.list_(pa.string()), "array<string>")),
    **dict.fromkeys(("bucket", "total_buckets", "level", "rows", "bytes", "min_sequence", "max_sequence", "deletes"),
                    (pa.int64(), "bigint")),
}  # fmt: skip
DESCRIBED = pa.schema([(name, of) for name, (of, _) in _OF_FILES.items()])
DESCRIBED_DDL = ", ".join(f"{name} {of}" for name, (_, of) in _OF_FILES.items())
_KEY_ID, _SEQUENCE_ID, _KIND_ID = 1_073_741_823, 2_147_483_646, 2_147_483_645
_GROUP_BYTES = 64 << 20  # of a row group in memory
_KEY_STATS_LENGTH = 128  # characters or bytes of a key kept in statistics, whatever `metadata.stats-mode` says
_SAMPLE = 10_000  # rows
_LEAST_ROWS = 1_000  # of a row group: the engine checks a file's size as often
_RETRACTIONS = pa.array([UPDATE_BEFORE, DELETE], pa.int8())


def stored_schema(schema: Schema) -> pa.Schema:
    """The columns of a file, with their ids."""
    ids = {field.name: field.id for field in schema.fields}
    return pa.schema(
        [
            *(_field(f"_KEY_{name}", of, _KEY_ID + ids[name]) for name, of in keys(schema)),
            _field(SEQUENCE, parse("BIGINT NOT NULL"), _SEQUENCE_ID),
            _field(KIND, parse("TINYINT NOT NULL"), _KIND_ID),
            *(_field(field.name, parse(field.type), field.id) for field in schema.fields),
        ]
    )


def _field(name: str, of: PaimonType, number: int) -> pa.Field:
    return pa.field(name, _arrow(of), of.nullable, {"PARQUET:field_id": str(number)})


def _arrow(of: PaimonType) -> pa.DataType:
    match of.root:
        case "ROW":
            return pa.struct([_field(field.name, field.type, field.id) for field in of.fields])
        case "ARRAY":
            return pa.list_(pa.field("element", _arrow(of.args[0]), of.args[0].nullable))
        case "MAP":
            return pa.map_(_arrow(of.args[0]), pa.field("value", _arrow(of.args[1]), of.args[1].nullable))
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            zone = None if of.root == "TIMESTAMP" else "UTC"
            return pa.timestamp("ms" if (of.size or 0) <= 3 else "us", tz=zone)
        case _:
            return types.arrow(of)


class Files:
    """Writes the rows of one bucket, given in key order, into files of about the table's target size.

    They are named 0, 1, 2, … in `folder`, which is created. Rows have `_SEQUENCE_NUMBER`, `_VALUE_KIND` and the table's
    columns.
    """

    def __init__(
        self, schema: Schema, folder: str, partition: bytes, bucket: int, total_buckets: int, *, level: int = 0
    ) -> None:
        self._schema, self._folder = schema, folder
        self._place = {"partition": partition, "bucket": bucket, "total_buckets": total_buckets, "level": level}
        self._shape = stored_schema(schema)
        self._target_bytes = parse_size_bytes(schema.options.get("target-file-size", TARGET))
        self._codec = schema.options.get("file.compression", "zstd").lower()
        self._level = number(schema.options, "file.compression.zstd-level", 1) if self._codec == "zstd" else None
        self._keeps_stats = schema.options.get("metadata.stats-mode", "").lower() != "none"
        self._writer: parquet.ParquetWriter | None = None
        self._found: Described = {}
        self._done: list[Described] = []
        os.makedirs(folder)

    def add(self, rows: pa.Table) -> None:
        """Add rows that sort after all earlier ones."""
        if not len(rows):
            return
        stored = self._stored(rows)
        group = max(64 << 10, min(_GROUP_BYTES, self._target_bytes))
        step = max(_LEAST_ROWS, int(group * len(stored) / max(stored.nbytes, 1)))
        for start in range(0, len(stored), step):
            self._add_group(stored.slice(start, step))

    def close(self) -> list[Described]:
        """Finish and return all files."""
        self._finish()
        return self._done

    def _stored(self, rows: pa.Table) -> pa.Table:
        columns = [rows[name.removeprefix("_KEY_")] for name in self._shape.names[: len(keys(self._schema))]]
        columns += [rows[name] for name in self._shape.names[len(columns) :]]
        made = []
        for column, field in zip(columns, self._shape, strict=True):
            if column.null_count and not field.nullable:
                raise Invalid(f"The column '{field.name}' may not be null, but {column.null_count} rows have no value.")
            try:
                made.append(column.cast(field.type))
            except pa.ArrowInvalid as error:
                raise Invalid(f"A value of the column '{field.name}' does not fit its type: {error}.") from error
        return pa.table(made, schema=self._shape)

    def _add_group(self, group: pa.Table) -> None:
        if self._writer is None:
            path = f"{self._folder}/{len(self._done)}"
            self._writer = parquet.ParquetWriter(
                path,
                self._shape,
                compression=self._codec,
                compression_level=self._level,
                use_dictionary=_worth_a_dictionary(group),
                store_decimal_as_integer=True,
                store_schema=False,
            )
            self._found = {**self._place, "staged_at": path, "first": self._key(group, 0), "floats": {},
                           "rows": 0, "deletes": 0, "min_sequence": None, "max_sequence": None}  # fmt: skip
        self._writer.write_table(group, row_group_size=len(group))
        found = self._found
        found["rows"] += len(group)
        found["last"] = self._key(group, len(group) - 1)
        found["deletes"] += pc.sum(pc.is_in(group[KIND], _RETRACTIONS)).as_py()
        least, greatest = pc.min_max(group[SEQUENCE]).as_py().values()
        found["min_sequence"] = min(least, found["min_sequence"] if found["min_sequence"] is not None else least)
        found["max_sequence"] = max(greatest, found["max_sequence"] if found["max_sequence"] is not None else greatest)
        for field in self._shape:
            if pa.types.is_floating(field.type):
                found["floats"][field.name] = _ends(group[field.name], found["floats"].get(field.name, ()))
        if os.stat(found["staged_at"]).st_size >= self._target_bytes:
            self._finish()

    def _key(self, group: pa.Table, at: int) -> bytes:
        of = keys(self._schema)
        return binary_row.encode([group[f"_KEY_{name}"][at].as_py() for name, _ in of], [type_ for _, type_ in of])

    def _finish(self) -> None:
        if self._writer is None:
            return
        self._writer.close()
        self._writer = None
        found, path = self._found, self._found["staged_at"]
        own = [(f"_KEY_{name}", of) for name, of in keys(self._schema)]
        values = [(field.name, parse(field.type)) for field in self._schema.fields]
        described = {name: found[name] for name in DESCRIBED.names if name in found}
        described |= {"bytes": os.stat(path).st_size, "min_key": found["first"], "max_key": found["last"]}
        with parquet.ParquetFile(path) as file:
            described |= self._stats(file, own, _KEY_STATS_LENGTH, "key_")
            described |= self._stats(file, values if self._keeps_stats else [], STATS_LENGTH, "")
        self._done.append(described)

    def _stats(
        self, file: parquet.ParquetFile, columns: Sequence[tuple[str, PaimonType]], length: int, prefix: str
    ) -> Described:
        """Statistics as stored rows; of the table's own columns only those that have any."""
        stats = footers.statistics(file, columns, length)
        each = []
        for (name, of), *known in zip(columns, stats.least, stats.greatest, stats.nulls, strict=True):
            if (ends := self._found["floats"].get(name)) is not None:
                known[:2] = ends or (
                    None,
                    None,
                )  # a footer has no NaN and confuses the zeros, which the engine does not
            if prefix or known != [None, None, None]:
                each.append((name, of.but_nullable(), *known))
        of_each = [of for _, of, *_ in each]
        return {
            f"{prefix}columns": [name for name, *_ in each] if len(each) < len(columns) or not columns else None,
            f"{prefix}least": binary_row.encode([low for *_, low, _, _ in each], of_each),
            f"{prefix}greatest": binary_row.encode([high for *_, high, _ in each], of_each),
            f"{prefix}nulls": [nulls for *_, nulls in each],
        }


def _worth_a_dictionary(group: pa.Table) -> bool | list[str]:
    """Return the columns to write with a dictionary, or whether all are.

    Where nearly all of 10,000 values differ, a dictionary outgrows its megabyte: the writer would build it, give it up,
    and write a larger file in twice the time.
    """
    if any(pa.types.is_nested(field.type) for field in group.schema):
        return True
    step = max(1, len(group) // _SAMPLE)
    sample = group.take(pa.array(np.arange(0, len(group), step)))
    most = 0.95 * len(sample)
    return [name for name in group.column_names if pc.count_distinct(sample[name], mode="all").as_py() <= most]


def _ends(column: pa.ChunkedArray, before: tuple[float, ...]) -> tuple[float, ...]:
    """The minimum and maximum in Java's order, including those found before; () if there are none."""
    values = column.drop_null().to_numpy()
    if not len(values):
        return before
    bits = java_bits(values)
    found = (*before, float(values[bits.argmin()]), float(values[bits.argmax()]))
    return min(found, key=manifest_encoding.ordered), max(found, key=manifest_encoding.ordered)


def by_key(schema: Schema, rows: pa.Table) -> pa.Table:
    """Sort rows by their keys."""
    order = order_by(*(ranks(rows[name]) for name, _ in keys(schema)))
    return rows.take(pa.array(order))


def table(described: Sequence[Described]) -> pa.Table:
    return pa.Table.from_pylist(list(described), schema=DESCRIBED)


def own_fields(file: Mapping[str, Any]) -> Record:
    """The manifest fields of such a file that files of append tables do not have."""
    return {
        "_MIN_KEY": file["min_key"],
        "_MAX_KEY": file["max_key"],
        "_KEY_STATS": _stats(file, "key_"),
        "_VALUE_STATS": _stats(file, ""),
        "_VALUE_STATS_COLS": file["columns"],
        "_MIN_SEQUENCE_NUMBER": file["min_sequence"],
        "_MAX_SEQUENCE_NUMBER": file["max_sequence"],
        "_LEVEL": file["level"],
        "_DELETE_ROW_COUNT": file["deletes"],
    }


def _stats(file: Mapping[str, Any], prefix: str) -> Record:
    return {
        "_MIN_VALUES": file[f"{prefix}least"],
        "_MAX_VALUES": file[f"{prefix}greatest"],
        "_NULL_COUNTS": file[f"{prefix}nulls"],
    }
