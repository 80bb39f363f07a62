"""Variant values as JSON text where Spark's own conversion does not know one of their types.

Source: the Variant encoding of the Parquet format, "Encoding types". Its types 17 to 20 (times, timestamps with
nanoseconds, UUIDs) are written by Trino and Iceberg, but Spark 4.1 reads only those up to 16.
"""

from __future__ import annotations

import datetime as dt
import json
import uuid
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import types
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.variant_utils import VariantUtils

_TIME, _NANOS, _NANOS_LOCAL, _UUID = 17, 18, 19, 20
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001  # of timestamps without a zone, too


class _Text(VariantUtils):
    @classmethod
    def _to_json(cls, value: bytes, metadata: bytes, pos: int, zone_id: str) -> str:
        cls._check_index(pos, len(value))
        basic, kind = cls._get_type_info(value, pos)
        if basic == cls.PRIMITIVE and kind == cls.FLOAT:
            return str(np.float32(cls._get_double(value, pos)))  # as short as Spark writes it
        if basic != cls.PRIMITIVE or kind not in (_TIME, _NANOS, _NANOS_LOCAL, _UUID):
            text: str = super()._to_json(value, metadata, pos, zone_id)
            return text
        if kind == _UUID:
            cls._check_index(pos + 16, len(value))
            return json.dumps(str(uuid.UUID(bytes=bytes(value[pos + 1 : pos + 17]))))
        number = cls._read_long(value, pos + 1, 8, True)
        if kind == _TIME:
            return json.dumps(str((_EPOCH + dt.timedelta(microseconds=number)).time()))
        seconds, nanos = divmod(number, 1_000_000_000)
        zone = "+00:00" if kind == _NANOS else ""
        return json.dumps(f"{_EPOCH + dt.timedelta(seconds=seconds)}.{nanos:09}{zone}")


def has_variants(kind: types.DataType) -> bool:
    match kind:
        case types.ArrayType():
            return has_variants(kind.elementType)
        case types.MapType():
            return has_variants(kind.valueType)
        case types.StructType():
            return any(has_variants(field.dataType) for field in kind)
        case _:
            return isinstance(kind, types.VariantType)


def texts(column: pa.ChunkedArray, kind: types.DataType) -> pa.ChunkedArray:
    """A column in which each variant, alone or nested, is its JSON text; times are in UTC."""
    return pa.chunked_array([pa.array([_told(value, kind) for value in column.to_pylist()], _arrow(kind))])


def _told(value: Any, kind: types.DataType) -> Any:
    if value is None:
        return None
    match kind:
        case types.VariantType():
            return _Text.to_json(value["value"], value["metadata"])
        case types.ArrayType():
            return [_told(each, kind.elementType) for each in value]
        case types.MapType():
            return [(key, _told(each, kind.valueType)) for key, each in value]
        case types.StructType():
            return {field.name: _told(value[field.name], field.dataType) for field in kind}
        case _:
            return value


def _arrow(kind: types.DataType) -> pa.DataType:
    match kind:
        case types.VariantType():
            return pa.string()
        case types.ArrayType():
            return pa.list_(_arrow(kind.elementType))
        case types.MapType():
            return pa.map_(_arrow(kind.keyType), _arrow(kind.valueType))
        case types.StructType():
            return pa.struct([(field.name, _arrow(field.dataType)) for field in kind])
        case _:
            return to_arrow_type(kind)
