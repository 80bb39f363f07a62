"""The first rows of a frame as an Arrow table.

Method: Spark's own incremental collect, which reads a few partitions, then more, until there are enough rows. A frame
that is sent to Python as a whole takes its limit from every partition, so it would open every file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.serializers import NoOpSerializer
from pyspark.sql import DataFrame, types
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.util import local_connect_and_auth

from core.errors import Corrupt, Invalid
from core.spark.session import compiled, connect
from core.spark.sql import variant_texts

_UNKNOWN = "UNKNOWN_PRIMITIVE_TYPE_IN_VARIANT"  # types that Spark cannot turn into text yet
_DAY_US = 86_400_000_000
_BOUNDS = (
    (pa.types.is_date32, (-719_162, 2_932_896)),  # days from 1970 to 0001-01-01 and 9999-12-31
    (pa.types.is_timestamp, (-719_162 * _DAY_US, 2_932_897 * _DAY_US - 1)),
)
_BATCH_ROWS = 10_000
_BATCH_BYTES = 16 << 20  # of one message from the JVM, estimated
_SOURCE = """
import org.apache.spark.api.python.PythonRDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.arrow.ArrowConverters$;

public final class SnapscopeRows {
  public Object[] served(Dataset sent, String zone, int rows, int bytes) {
    SparkSession.setActiveSession(sent.sparkSession());
    InternalRow[] found = sent.queryExecution().executedPlan().executeCollect();
    scala.collection.Iterator all = scala.collection.immutable.ArraySeq.unsafeWrapArray(found).iterator();
    Object[] served = PythonRDD.serveIterator(
      ArrowConverters$.MODULE$.toBatchWithSchemaIterator(all, sent.schema(), rows, bytes, zone, true, false),
      "rows of a query");
    return new Object[] {Integer.valueOf(found.length), served[0], served[1], served[2]};
  }
}
"""


def first_rows(frame: DataFrame, most: int) -> pa.Table:
    """At most `most` rows as Arrow, in the frame's order if it has one, for any column types and names. Names may
    repeat.

    Types without an Arrow equivalent become Spark's text: year-month and calendar intervals, structs with repeated
    field names, arrays, maps and structs of untyped nulls, and variants, alone or nested. So do columns with dates or
    timestamps outside of the years 1 to 9999, which Python does not have.

    Raises `Invalid` for a frame without columns.
    """
    if not frame.columns:
        raise Invalid(
            "The statement selects no columns, so there is nothing to show.",
            remedy="Select at least one column, or count(*).",
        )
    keeps_variants = False
    try:
        table = _rows(frame, most, _shown)
    except Exception as error:
        if _UNKNOWN not in str(error):
            raise
        keeps_variants = True
        table = _rows(frame, most, lambda kind: _shown(kind, keeps_variants=True))
    as_text = {at for at, column in enumerate(table.columns) if not _is_in_python(column)}
    if not as_text:
        return table
    return _rows(frame, most, lambda kind: _shown(kind, keeps_variants=keeps_variants), as_text)


def _is_in_python(column: pa.ChunkedArray) -> bool:
    """Whether Python has all dates and timestamps in a column."""
    for values in (leaf for chunk in column.chunks for leaf in _leaves(chunk)):
        bounds = next((each for is_kind, each in _BOUNDS if is_kind(values.type)), None)
        if bounds is not None and len(values) > values.null_count:
            found = pc.min_max(values.cast(pa.int32() if pa.types.is_date32(values.type) else pa.int64())).as_py()
            if found["min"] < bounds[0] or found["max"] > bounds[1]:
                return False
    return True


def _leaves(values: pa.Array) -> Iterator[pa.Array]:
    """The values that are not nested, of an array and of all that is nested in it."""
    if pa.types.is_map(values.type):
        yield from (leaf for part in (values.keys, values.items) for leaf in _leaves(part))
    elif pa.types.is_list(values.type) or pa.types.is_large_list(values.type):
        yield from _leaves(values.flatten())
    elif pa.types.is_struct(values.type):
        yield from (leaf for part in values.flatten() for leaf in _leaves(part))
    else:
        yield values


def _rows(
    frame: DataFrame,
    most: int,
    shown: Callable[[types.DataType], types.DataType],
    as_text: Collection[int] = (),
) -> pa.Table:
    names = frame.columns
    plain: Any = frame.toDF(*(f"c{position}" for position in range(len(names))))
    kinds = [types.StringType() if at in as_text else shown(field.dataType) for at, field in enumerate(plain.schema)]
    if kinds != [field.dataType for field in plain.schema]:
        plain = plain.select(
            *(plain[name].cast(kind).alias(name) for name, kind in zip(plain.columns, kinds, strict=True))
        )
    sent = plain.limit(most)
    schema = to_arrow_schema(sent.schema, error_on_duplicated_field_names_in_struct=True)
    table = pa.concat_tables([schema.empty_table(), *_collected(sent, schema)])
    for position, field in enumerate(sent.schema):
        if variant_texts.has_variants(field.dataType):
            table = table.set_column(position, field.name, variant_texts.texts(table.column(position), field.dataType))
    return table.rename_columns(names)


def _collected(sent: DataFrame, schema: pa.Schema) -> list[pa.Table]:
    """The rows as Arrow tables of that schema."""
    if connect.is_remote(sent.sparkSession):
        return [_typed(sent.toArrow(), schema)]
    # filters are made for files only now, by the settings of the thread's session: without one, by Spark's defaults
    made: Any = sent
    zone = sent.sparkSession.conf.get("spark.sql.session.timeZone")
    server = compiled.instance(sent.sparkSession, "SnapscopeRows", _SOURCE)
    known, address, secret, handler = server.served(made._jdf, zone, _BATCH_ROWS, _BATCH_BYTES)
    found = [_typed(pa.ipc.open_stream(each).read_all(), schema) for each in _received(address, secret, handler)]
    if (read := sum(each.num_rows for each in found)) != known:
        raise Corrupt(
            "Spark sent {read} of {known} rows of its answer.", read=read, known=known, remedy="Run it again."
        )
    return found


def _received(address: Any, secret: str, server: Any) -> list[bytes]:
    """The batches that the JVM serves at a socket: Py4J takes 60 ns for each byte that it returns."""
    try:
        file, socket = local_connect_and_auth(address, secret)
    except Exception:
        server.secret()  # raises that the JVM has ended, if it has
        raise
    try:
        socket.settimeout(None)  # nobody knows how long the JVM takes for a batch
        found = list(NoOpSerializer().load_stream(file))
    finally:  # else the JVM would wait for a reader that gave up
        file.close()
        socket.close()
    server.getResult()  # raises what went wrong in the JVM
    return found


def _typed(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    columns = [
        column if column.type == field.type else column.cast(field.type)
        for column, field in zip(rows.columns, schema, strict=True)
    ]
    return pa.table(columns, schema=schema)


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


def _shown(kind: types.DataType, *, keeps_variants: bool = False) -> types.DataType:
    """The type to cast to for Arrow: text for the whole value, or for nested variants, which may hold nulls. With
    `keeps_variants` these stay as they are."""
    if not _fits(kind):
        return types.StringType()
    match kind:
        case types.VariantType():
            return kind if keeps_variants else types.StringType()
        case types.ArrayType():
            shown = _shown(kind.elementType, keeps_variants=keeps_variants)
            return types.ArrayType(shown, kind.containsNull or shown != kind.elementType)
        case types.MapType():
            shown = _shown(kind.valueType, keeps_variants=keeps_variants)
            return types.MapType(kind.keyType, shown, kind.valueContainsNull or shown != kind.valueType)
        case types.StructType():
            fields = [(field, _shown(field.dataType, keeps_variants=keeps_variants)) for field in kind]
            return types.StructType(
                [types.StructField(each.name, shown, each.nullable or shown != each.dataType) for each, shown in fields]
            )
        case _:
            return kind
