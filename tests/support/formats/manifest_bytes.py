"""Manifests as written by each of Paimon's writers: current Avro, Avro up to 0.9, ORC and Parquet."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as parquet

FORMS = ("avro", "union", "orc", "parquet")
"""`union`: Avro files whose records are a union of null and a record."""

_TYPES = {"int": pa.int32(), "long": pa.int64(), "string": pa.string(), "bytes": pa.binary()}


def encoded(form: str, schema: Any, records: Sequence[Mapping[str, Any]], codec: str = "null") -> bytes:
    """Encode records of an Avro schema as a file."""
    out = io.BytesIO()
    match form:
        case "avro":
            fastavro.writer(out, schema, records, codec=codec, sync_marker=bytes(16))
        case "union":
            union = fastavro.parse_schema(["null", schema])
            fastavro.writer(out, union, records, codec=codec, sync_marker=bytes(16))
        case "orc":
            orc.write_table(_table(schema, records), out, compression="zstd")
        case "parquet":
            parquet.write_table(_table(schema, records), out, compression="zstd")
        case _:
            raise ValueError(form)
    return out.getvalue()


def records(data: bytes) -> list[dict[str, Any]]:
    """Decode the records of a file in any of these forms."""
    source = io.BytesIO(data)
    if data.startswith(b"ORC"):
        found: list[Any] = orc.ORCFile(source).read().to_pylist()
    elif data.startswith(b"PAR1"):
        found = parquet.ParquetFile(source).read().to_pylist()
    else:
        found = list(fastavro.reader(source))
    return found


def _table(schema: Any, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    arrow = _arrow(schema)
    return pa.Table.from_pylist([dict(row) for row in rows], pa.schema(list(arrow)))


def _arrow(type_: Any) -> pa.DataType:
    if isinstance(type_, list):
        type_ = next(each for each in type_ if each != "null")
    if isinstance(type_, str):
        return _TYPES[type_]
    if type_["type"] == "record":
        return pa.struct([(each["name"], _field(each)) for each in type_["fields"]])
    if type_["type"] == "array":
        return pa.list_(_arrow(type_["items"]))
    return pa.timestamp("ms") if type_.get("logicalType") == "timestamp-millis" else _arrow(type_["type"])


def _field(field: Mapping[str, Any]) -> pa.DataType:
    """Convert a field; two fields are bytes in Paimon's rows, for which Avro has no type."""
    return pa.int8() if field["name"] in ("_KIND", "_FILE_SOURCE") else _arrow(field["type"])
