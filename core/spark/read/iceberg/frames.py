"""The rows of an Iceberg table at a version as one Spark frame: files read by the JVM, and units read by Python tasks.

Invariant: columns are matched by field id at every level. For the JVM they are also named by their ids: Spark 4.1
pushes filters down to a file, and chooses how to decode it, by name, and a file's column of that name may be another
one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from core.formats.iceberg import types
from core.formats.iceberg.types import IcebergField, IcebergType
from core.spark.read import relations
from core.spark.read.iceberg import files as iceberg_files
from core.spark.read.iceberg import footers
from core.spark.read.iceberg.columns import differs
from core.spark.read.iceberg.scan import IcebergScan
from core.spark.read.paimon.merge_on_read import bytes_of
from core.spark.read.reader import Rows
from core.spark.session.divided import divided
from core.spark.session.task_errors import carried, forwarding_errors

_NAME = "#{}"  # no column of a file has such a name


def rows(spark: SparkSession, of: IcebergScan, columns: Collection[int] | None = None) -> Rows:
    """The rows of an opened version.

    Lists the files assigned to the JVM and reads their footers where these decide who reads them; reads nothing else
    until the frame is used. With `columns`, the numbers of the columns that will be used, tasks leave all others null
    (the JVM skips them anyway).
    """
    of, guessed = footers.guessed(footers.settled(of, columns))
    parts = []
    if of.native:
        parts.append(_native(spark, of))
    if of.work:
        parts.append(_in_tasks(spark, of, columns))
    if not parts:
        parts.append(spark.createDataFrame([], ", ".join(map(_ddl, of.columns))))
    shown = of.columns if columns is None else [of.columns[number] for number in columns]
    native = of.data.filter(pc.is_in(of.data["file"], pa.array([path for path, _ in of.native], pa.string())))
    return Rows(
        frame=reduce(DataFrame.unionAll, parts),
        files=of.files,
        files_read=len(of.native) + sum(len(unit["files"]) for unit in of.work),
        merged=sum(len(unit["files"]) for unit in of.work),
        left_out=(),
        differs=(*guessed, *differs(shown)),
        bytes_read=(pc.sum(native["bytes"]).as_py() or 0) + bytes_of(of.work),
    )


def _in_tasks(spark: SparkSession, of: IcebergScan, columns: Collection[int] | None) -> DataFrame:
    numbers = range(len(of.columns)) if columns is None else sorted(columns)
    chosen = [each for number in numbers if (each := of.columns[number]).refusal is None] or [_cheapest(of.columns)]
    sizes = [sum(file["bytes"] for file in unit["files"]) for unit in of.work]
    units = divided(spark, pa.table({"work": [json.dumps(each) for each in of.work]}), sizes)
    frame = units.mapInArrow(_task(of, chosen), ", ".join(map(_ddl, chosen)))
    return frame.select(
        *(
            _refused(each) if each.refusal is not None
            else F.col(types.quoted(each.name)) if each in chosen
            else F.lit(None).cast(types.spark(each.type)).alias(each.name)
            for each in of.columns
        )
    )  # fmt: skip


def _ddl(column: IcebergField) -> str:
    return f"{types.quoted(column.name)} {types.spark(column.type)}"


def _refused(column: IcebergField) -> Column:
    """A column that raises the reason why it cannot be shown, if it is used."""
    assert column.refusal is not None
    return F.raise_error(F.lit(carried(column.refusal))).cast(types.spark(column.type)).alias(column.name)


def _cheapest(columns: Sequence[IcebergField]) -> IcebergField:
    """A column to count rows by: preferably not nested; if none can be shown, one that no file has."""
    shown = [each for each in columns if each.refusal is None]
    return min(shown, key=lambda each: bool(each.type.inner), default=IcebergField(-1, _NAME, IcebergType("boolean")))


def _task(
    of: IcebergScan, columns: Sequence[IcebergField]
) -> Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]:
    place, keys, names = of.place, of.keys, of.names
    out = pa.schema([(each.name, types.arrow(each.type)) for each in columns])

    def run(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        for batch in batches:
            for text in batch.column(0).to_pylist():
                with forwarding_errors():
                    for found in iceberg_files.rows(place, columns, keys, json.loads(text), names):
                        yield from found.cast(out).to_batches()

    return run


def _native(spark: SparkSession, of: IcebergScan) -> DataFrame:
    shown = [each for each in of.columns if each.refusal is None]
    schema = json.dumps({"type": "struct", "fields": [_field(each) for each in shown]})
    spark.conf.set("spark.sql.parquet.fieldId.read.enabled", "true")
    frame = relations.over(spark, "parquet", schema, [iceberg_files.local(of.place, path) for path, _ in of.native])
    return frame.select(
        *(
            F.col(_NAME.format(each.id)).cast(types.spark(each.type)).alias(each.name) if each.refusal is None
            else _refused(each)
            for each in of.columns
        )
    )  # fmt: skip


def _field(column: IcebergField) -> dict[str, Any]:
    metadata = {"parquet.field.id": column.id}
    return {"name": _NAME.format(column.id), "type": _json(column.type), "nullable": True, "metadata": metadata}


def _json(of: IcebergType) -> Any:
    """The type in Spark's JSON, with field ids; elements, keys and values are matched by position."""
    match of.root:
        case "struct":
            return {"type": "struct", "fields": [_field(each) for each in of.inner]}
        case "list":
            return {"type": "array", "elementType": _json(of.inner[0].type), "containsNull": True}
        case "map":
            key, value = (_json(each.type) for each in of.inner)
            return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": True}
        case "int":
            return "integer"
        case "long":
            return "long"
        case _:
            return types.spark(of)
