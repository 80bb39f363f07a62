"""Data files that the JVM cannot read, read in Python: Avro anywhere, every format on stores other than the local disk.

Law: the columns and rows that the JVM's readers would give. Each file is one row of work; it is read whole by one task.
"""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from core.errors import Corrupt, NotFound, Unsupported
from core.formats import footer_limits
from core.formats.paimon import binary_row, types
from core.formats.paimon.types import PaimonType, parse
from core.model.references import Field
from core.spark.read import int96, timestamps
from core.spark.session.task_errors import forwarding_errors
from core.storage.size_limits import DATA_FILE
from core.storage.store import Store

FORMATS = ("avro", "parquet", "orc")
_ROW = "__row"  # always there, so that rows without any wanted column are still counted
_BATCH_ROWS = 16_384


def frame(
    spark: SparkSession,
    store: Store,
    form: str,
    fields: Sequence[Field],
    keys: Sequence[PaimonType],
    files: pa.Table,
    partition_name: str,
) -> DataFrame:
    """Data columns by their name in the file and partition columns by number, as the native reader gives them."""
    wanted = [(field.name, parse(field.type)) for field in fields]
    columns = [pa.field(name, types.arrow(of, micros=True)) for name, of in wanted]
    decoded = {stored: binary_row.decode(stored, keys) for stored in files["partition_bytes"].unique().to_pylist()}
    values = [decoded[stored] for stored in files["partition_bytes"].to_pylist()]
    parts = list(zip(*values, strict=True))
    work = {"__path": files["path"]}
    for at, of in enumerate(keys):
        columns.append(pa.field(partition_name.format(at), types.arrow(of, micros=True)))
        work[partition_name.format(at)] = pa.array(parts[at], types.arrow(of, micros=True))
    schema = pa.schema([*columns, (_ROW, pa.bool_())])
    ddl = [f"{types.quoted(name)} {types.spark(of)}" for name, of in wanted]
    ddl += [f"{partition_name.format(at)} {types.spark(of)}" for at, of in enumerate(keys)]
    tasks = max(1, min(len(files), 4 * spark.sparkContext.defaultParallelism))
    paths = spark.createDataFrame(pa.table(work)).repartition(tasks)
    return paths.mapInArrow(_reader(store, form, wanted, schema), ", ".join([*ddl, f"{_ROW} boolean"]))


def _reader(
    store: Store, form: str, wanted: Sequence[tuple[str, PaimonType]], schema: pa.Schema
) -> Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]:
    def read(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        for batch in batches:
            for row in batch.to_pylist():
                path = row.pop("__path")
                with forwarding_errors():
                    table, rows = decode(store.read(path, DATA_FILE), form, wanted, path)
                columns = {_ROW: pa.array([True] * rows)} | {name: table[name] for name, _ in wanted}
                for name, value in row.items():
                    columns[name] = pa.array([value] * rows, schema.field(name).type)
                made = [timestamps.cast(columns[each.name], each.type) for each in schema]
                yield from pa.table(made, schema=schema).to_batches(_BATCH_ROWS)

    return read


def decode(
    source: bytes | str, form: str, wanted: Sequence[tuple[str, PaimonType]], path: str, *, micros: bool = True
) -> tuple[pa.Table, int]:
    """The wanted columns of one file (its content, or a local path) and its rows.

    A column that the file lacks is `Corrupt`. Times come as the file has them, those of 96 bits as bytes: see
    `timestamps.cast`; of Avro in nanoseconds only without `micros`, because Arrow's span only 584 years then.
    """
    names = [name for name, _ in wanted]
    try:
        if form == "avro":
            if isinstance(source, str):
                with open(source, "rb") as file:
                    return _avro(file, wanted, micros)
            return _avro(io.BytesIO(source), wanted, micros)
        footer_limits.refuse_large(source, form)
        opened = source if isinstance(source, str) else pa.BufferReader(source)
        if form == "parquet":
            import pyarrow.parquet as parquet

            with parquet.ParquetFile(opened, coerce_int96_timestamp_unit="us", pre_buffer=False) as found:
                if not int96.has(found.schema, names):
                    return found.read(names).select(names), found.metadata.num_rows
            content = Path(source).read_bytes() if isinstance(source, str) else source
            with parquet.ParquetFile(pa.BufferReader(int96.as_bytes(content))) as found:
                return found.read(names).select(names), found.metadata.num_rows
        if form == "orc":
            import pyarrow.orc as orc

            read = orc.ORCFile(opened)
            return read.read(names).select(names), read.nrows
    except FileNotFoundError as error:
        raise NotFound(
            "A data file that the table names is not there.",
            path=path,
            remedy="The point cannot be read in full; choose another one.",
        ) from error
    except (pa.ArrowException, KeyError, ValueError, EOFError, OSError) as error:
        raise Corrupt(
            "The data file could not be read: {error}.", error=f"{type(error).__name__}: {error}", path=path
        ) from error
    raise Unsupported("Data files of the format {form!r} cannot be read.", form=form, path=path)


def _avro(file: IO[bytes], wanted: Sequence[tuple[str, PaimonType]], micros: bool) -> tuple[pa.Table, int]:
    import fastavro

    columns: dict[str, list[Any]] = {name: [] for name, _ in wanted}
    rows = 0
    for record in fastavro.reader(file):
        if not isinstance(record, dict):
            raise ValueError("its records are no rows")
        rows += 1
        for name, values in columns.items():
            values.append(record[name])
    arrays = {
        name: pa.array([_plain(value, of) for value in columns[name]], types.arrow(of, micros=micros))
        for name, of in wanted
    }
    return pa.table(arrays), rows


def _plain(value: Any, of: PaimonType) -> Any:
    """Avro marks every timestamp as UTC, where a TIMESTAMP of Paimon has no zone; its maps are Arrow's pairs."""
    if value is None:
        return None
    match of.root:
        case "ARRAY":
            return [_plain(each, of.args[0]) for each in value]
        case "MAP" | "MULTISET":
            pairs = value.items() if isinstance(value, dict) else ((each["key"], each["value"]) for each in value)
            inner = of.args[1] if of.root == "MAP" else PaimonType("INT")
            return [(_plain(key, of.args[0]), _plain(each, inner)) for key, each in pairs]
        case "ROW":
            return {field.name: _plain(value[field.name], field.type) for field in of.fields}
        case _:
            pass
    if isinstance(value, dt.datetime):
        return value.replace(tzinfo=None if of.root == "TIMESTAMP" else dt.UTC)
    return value
