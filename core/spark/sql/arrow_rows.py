"""The first rows of a frame as an Arrow table.

Method: Spark's own incremental collect, which reads a few partitions, then more, until there are enough rows. A frame
that is sent to Python as a whole takes its limit from every partition, so it would open every file.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, types
from pyspark.sql.pandas.types import to_arrow_schema

from core.spark.session.gateway import scala_object

_BATCH_ROWS = 10_000
_BATCH_BYTES = 16 << 20  # of one message from the JVM, estimated


def first_rows(frame: DataFrame, most: int) -> pa.Table:
    """At most `most` rows as Arrow, in the frame's order if it has one, for any column types and names. Names may
    repeat.

    Types without an Arrow equivalent become Spark's text: year-month and calendar intervals, structs with repeated
    field names, arrays, maps and structs of untyped nulls, and variants, alone or nested.
    """
    names = frame.columns
    plain: Any = frame.toDF(*(f"c{position}" for position in range(len(names))))
    columns = [
        plain[field.name] if (shown := _shown(field.dataType)) == field.dataType else plain[field.name].cast(shown)
        for field in plain.schema
    ]
    sent = plain.select(*(column.alias(f"c{position}") for position, column in enumerate(columns))).limit(most)
    schema = to_arrow_schema(sent.schema, error_on_duplicated_field_names_in_struct=True)
    rows = sent._jdf.queryExecution().executedPlan().executeCollect()
    return pa.concat_tables([schema.empty_table(), *_tables(sent, rows, schema)]).rename_columns(names)


def _tables(sent: DataFrame, rows: Any, schema: pa.Schema) -> list[pa.Table]:
    """Spark's internal rows as Arrow tables of that schema."""
    jvm: Any = sent.sparkSession._jvm
    converters = scala_object(jvm.org.apache.spark.sql.execution.arrow, "ArrowConverters")
    iterator = scala_object(jvm.scala.collection.immutable, "ArraySeq").unsafeWrapArray(rows).iterator()
    zone = sent.sparkSession.conf.get("spark.sql.session.timeZone")
    batches = converters.toBatchWithSchemaIterator(
        iterator, sent._jdf.schema(), _BATCH_ROWS, _BATCH_BYTES, zone, True, False
    )
    found = []
    while batches.hasNext():
        found.append(pa.ipc.open_stream(batches.next()).read_all().cast(schema))
    return found


def _fits(kind: types.DataType, inside: bool = False) -> bool:
    match kind:
        case types.ArrayType():
            return _fits(kind.elementType, True)
        case types.MapType():
            return _fits(kind.keyType, True) and _fits(kind.valueType, True)
        case types.StructType():
            return len(set(kind.names)) == len(kind.names) and all(_fits(field.dataType, True) for field in kind)
        case types.NullType():
            return not inside
        case types.YearMonthIntervalType() | types.CalendarIntervalType():
            return False
        case _:
            return True


def _shown(kind: types.DataType) -> types.DataType:
    """The type to cast to for Arrow: text for the whole value, or for nested variants, which may hold nulls."""
    if not _fits(kind):
        return types.StringType()
    match kind:
        case types.VariantType():
            return types.StringType()
        case types.ArrayType():
            return types.ArrayType(shown := _shown(kind.elementType), kind.containsNull or shown != kind.elementType)
        case types.MapType():
            shown = _shown(kind.valueType)
            return types.MapType(kind.keyType, shown, kind.valueContainsNull or shown != kind.valueType)
        case types.StructType():
            fields = [(field, _shown(field.dataType)) for field in kind]
            return types.StructType(
                [types.StructField(each.name, shown, each.nullable or shown != each.dataType) for each, shown in fields]
            )
        case _:
            return kind
