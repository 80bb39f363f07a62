"""Data files of Iceberg tables as the engines write them: Parquet, ORC and Avro, with field ids.

Invariant: nothing here uses core.
"""

from __future__ import annotations

import datetime as dt
import uuid
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as parquet

_ID = b"PARQUET:field_id"
_AVRO: dict[pa.DataType, Any] = {
    pa.bool_(): "boolean", pa.int32(): "int", pa.int64(): "long", pa.float32(): "float", pa.float64(): "double",
    pa.string(): "string", pa.binary(): "bytes", pa.date32(): {"type": "int", "logicalType": "date"},
    pa.time64("us"): {"type": "long", "logicalType": "time-micros"},
    pa.timestamp("us"): {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": False},
    pa.timestamp("us", "UTC"): {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": True},
}  # fmt: skip


def write(rows: pa.Table, form: str, path: Path) -> None:
    """Write a file. An Arrow column without `PARQUET:field_id` has no field id in the file."""
    if form == "parquet":
        parquet.write_table(rows, path)
    elif form == "orc":
        orc.write_table(rows.cast(pa.schema([_for_orc(each) for each in rows.schema])), path)
    else:
        names = _Names()
        schema = {"type": "record", "name": "table", "fields": [_avro_field(each, names) for each in rows.schema]}
        plain = [
            {each.name: _plain(value, each.type) for each, value in zip(rows.schema, row.values(), strict=True)}
            for row in rows.to_pylist()
        ]
        with path.open("wb") as file:
            fastavro.writer(file, fastavro.parse_schema(schema), plain, codec="deflate")


class _Names:
    """Generates the names that Avro requires."""

    def __init__(self) -> None:
        self.count = 0

    def next(self) -> str:
        self.count += 1
        return f"n{self.count}"


def _id(field: pa.Field) -> int | None:
    own = (field.metadata or {}).get(_ID)
    return None if own is None else int(own)


def _for_orc(field: pa.Field) -> pa.Field:
    of = field.type
    if pa.types.is_struct(of):
        of = pa.struct([_for_orc(each) for each in of])
    elif pa.types.is_list(of):
        of = pa.list_(_for_orc(of.value_field))
    elif pa.types.is_map(of):
        of = pa.map_(_for_orc(of.key_field), _for_orc(of.item_field))
    elif pa.types.is_fixed_size_binary(of):
        of = pa.binary()
    elif pa.types.is_time(of):
        of = pa.int64()
    own = _id(field)
    return pa.field(field.name, of, field.nullable, None if own is None else {"iceberg.id": str(own)})


def _avro_field(field: pa.Field, names: _Names) -> dict[str, Any]:
    own = _id(field)
    made = {"name": field.name, "type": ["null", _avro(field.type, names)], "default": None}
    return made if own is None else {**made, "field-id": own}


def _avro(of: pa.DataType, names: _Names) -> Any:
    if pa.types.is_struct(of):
        return {"type": "record", "name": names.next(), "fields": [_avro_field(each, names) for each in of]}
    if pa.types.is_list(of):
        own = _id(of.value_field)
        element = {"type": "array", "items": ["null", _avro(of.value_type, names)]}
        return element if own is None else {**element, "element-id": own}
    if pa.types.is_map(of):
        return _avro_map(of, names)
    if pa.types.is_decimal(of):
        size = next(size for size in range(1, 17) if 10**of.precision <= 2 ** (8 * size - 1))
        decimal = {"logicalType": "decimal", "precision": of.precision, "scale": of.scale}
        return {"type": "fixed", "name": names.next(), "size": size, **decimal}
    if pa.types.is_fixed_size_binary(of):
        return {"type": "fixed", "name": names.next(), "size": of.byte_width}
    return _AVRO[of]


def _avro_map(of: pa.MapType, names: _Names) -> dict[str, Any]:
    """Convert a map: text keys become an Avro map, other keys an array of pairs."""
    key, value = _id(of.key_field), _id(of.item_field)
    if pa.types.is_string(of.key_type):
        ids = {} if key is None else {"key-id": key, "value-id": value}
        return {"type": "map", "values": ["null", _avro(of.item_type, names)], **ids}
    key_field = {**_avro_field(of.key_field.with_name("key"), names), "type": _avro(of.key_type, names)}
    del key_field["default"]
    pair = {"type": "record", "name": names.next(), "fields": [
        key_field, _avro_field(of.item_field.with_name("value"), names)]}  # fmt: skip
    return {"type": "array", "logicalType": "map", "items": pair}


def _plain(value: Any, of: pa.DataType) -> Any:
    """Convert a value for fastavro."""
    if value is None:
        return None
    if pa.types.is_struct(of):
        return {each.name: _plain(value[each.name], each.type) for each in of}
    if pa.types.is_list(of):
        return [_plain(each, of.value_type) for each in value]
    if pa.types.is_map(of):
        pairs = [(_plain(key, of.key_type), _plain(each, of.item_type)) for key, each in value]
        return dict(pairs) if pa.types.is_string(of.key_type) else [{"key": key, "value": each} for key, each in pairs]
    match value:
        case dt.datetime():
            return value.replace(tzinfo=dt.UTC)
        case uuid.UUID():
            return value.bytes
        case _:
            return value
