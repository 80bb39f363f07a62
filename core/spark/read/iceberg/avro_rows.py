"""Avro data files as Arrow columns, with the field ids of their schema. Runs inside tasks."""

from __future__ import annotations

import datetime as dt
import io
import json
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any, TypeAlias

import fastavro
import pyarrow as pa

from core.messages import message

_SIMPLE = {
    "null": pa.null(), "boolean": pa.bool_(), "int": pa.int32(), "long": pa.int64(), "float": pa.float32(),
    "double": pa.float64(), "bytes": pa.binary(), "string": pa.string(), "enum": pa.string(),
}  # fmt: skip
_LOGICAL = {
    "date": pa.date32(), "time-millis": pa.time32("ms"), "time-micros": pa.time64("us"),
    "local-timestamp-millis": pa.timestamp("ms"), "local-timestamp-micros": pa.timestamp("us"),
}  # fmt: skip
_UNITS = {"timestamp-millis": "ms", "timestamp-micros": "us", "timestamp-nanos": "ns"}
Plain: TypeAlias = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class AvroRows:
    """The rows of one file; `batches` as in `stored_files.StoredFile`."""

    schema: pa.Schema
    batches: Callable[[Sequence[int]], Iterator[tuple[int, list[pa.Array]]]]


def opened(source: str | pa.Buffer, batch_rows: int) -> AvroRows:
    """Open a file by its local path or its content. Raises `ValueError` if its schema or a record is not a table's."""
    with _reading(source) as file:
        written: Any = fastavro.reader(file).metadata["avro.schema"]
    record = json.loads(written)
    if not isinstance(record, dict) or record.get("type") != "record":
        raise ValueError(message("its records are no rows"))
    named: dict[str, Any] = {}
    fields = [_field(each, named) for each in record["fields"]]
    names = [each["name"] for each in record["fields"]]

    def batches(columns: Sequence[int]) -> Iterator[tuple[int, list[pa.Array]]]:
        with _reading(source) as file:
            try:
                rows: Any = iter(fastavro.reader(file))
                while some := list(islice(rows, batch_rows)):
                    yield len(some), [_array(some, names[number], *fields[number]) for number in columns]
            except (EOFError, IndexError, KeyError, TypeError, OverflowError) as error:
                raise ValueError(message("a record cannot be decoded ({error})", error=repr(error)[:80])) from error

    return AvroRows(pa.schema([field for field, _ in fields]), batches)


def _reading(source: str | pa.Buffer) -> IO[bytes]:
    return open(source, "rb") if isinstance(source, str) else io.BytesIO(source.to_pybytes())


def _array(rows: Sequence[Mapping[str, Any]], name: str, field: pa.Field, plain: Plain) -> pa.Array:
    values = (row[name] for row in rows)
    return pa.array([None if value is None else plain(value) for value in values], field.type)


def _field(given: Mapping[str, Any], named: dict[str, Any]) -> tuple[pa.Field, Plain]:
    of, plain = _type(given["type"], named)
    return _identified(given["name"], of, given.get("field-id")), plain


def _identified(name: str, of: pa.DataType, id: Any) -> pa.Field:
    return pa.field(name, of, metadata=None if id is None else {"PARQUET:field_id": str(id)})


def _type(given: Any, named: dict[str, Any]) -> tuple[pa.DataType, Plain]:
    """The Arrow type of an Avro type, and a function that converts its values for Arrow."""
    if isinstance(given, list):
        parts = [each for each in given if each != "null"]
        if len(parts) > 1:
            raise ValueError(message("a column has several types"))
        return _type(parts[0], named) if parts else (pa.null(), _same)
    if isinstance(given, str):
        if given in named:
            return _type(named[given], named)
        return _SIMPLE[given], _same
    if "name" in given:
        named[given["name"]] = {key: value for key, value in given.items() if key != "name"}
    match given["type"]:
        case "record":
            return _record(given, named)
        case "array" if given.get("logicalType") == "map":
            pair = given["items"]
            (key, own), (value, inner) = (_field(each, named) for each in pair["fields"])
            names = [each["name"] for each in pair["fields"]]
            return pa.map_(key.with_nullable(False), value), lambda pairs: [
                (own(each[names[0]]), _maybe(inner, each[names[1]])) for each in pairs
            ]
        case "array":
            of, inner = _type(given["items"], named)
            element = _identified("element", of, given.get("element-id"))
            return pa.list_(element), lambda values: [_maybe(inner, each) for each in values]
        case "map":
            of, inner = _type(given["values"], named)
            key = _identified("key", pa.string(), given.get("key-id")).with_nullable(False)
            value = _identified("value", of, given.get("value-id"))
            return pa.map_(key, value), lambda pairs: [(each, _maybe(inner, of_)) for each, of_ in pairs.items()]
        case _:
            return _primitive(given)


def _record(given: Mapping[str, Any], named: dict[str, Any]) -> tuple[pa.DataType, Plain]:
    made = [(each["name"], *_field(each, named)) for each in given["fields"]]

    def plain(value: Mapping[str, Any]) -> dict[str, Any]:
        return {name: _maybe(inner, value[name]) for name, _, inner in made}

    return pa.struct([field for _, field, _ in made]), plain


def _primitive(given: Mapping[str, Any]) -> tuple[pa.DataType, Plain]:
    logical, base = given.get("logicalType"), given["type"]
    if logical == "decimal":
        return pa.decimal128(given["precision"], given.get("scale", 0)), _same
    if logical == "uuid":
        return pa.binary(16), _uuid
    if logical in _UNITS:
        return pa.timestamp(_UNITS[logical], None if given.get("adjust-to-utc") is False else "UTC"), _moment
    if logical in _LOGICAL:
        return _LOGICAL[logical], _same
    if base == "fixed":
        return pa.binary(given["size"]), _same
    return _SIMPLE[base], _same


def _maybe(plain: Plain, value: Any) -> Any:
    return None if value is None else plain(value)


def _same(value: Any) -> Any:
    return value


def _uuid(value: Any) -> bytes:
    return value if isinstance(value, bytes) else uuid.UUID(str(value)).bytes


def _moment(value: Any) -> Any:
    """Avro marks every time as UTC; a column without a zone has none."""
    return value.astimezone(dt.UTC) if isinstance(value, dt.datetime) else value
