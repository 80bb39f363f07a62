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
    """JSON as Spark writes it, with the types that it lacks."""

    @classmethod
    def _to_json(cls, value: bytes, metadata: bytes, pos: int, zone_id: str) -> str:
        cls._check_index(pos, len(value))
        basic, kind = cls._get_type_info(value, pos)
        if basic == cls.PRIMITIVE and kind in (cls.FLOAT, cls.DOUBLE):
            number = cls._get_double(value, pos)
            return _java(np.float32(number) if kind == cls.FLOAT else np.float64(number))
        if basic == cls.PRIMITIVE and kind == _UUID:
            cls._check_index(pos + 16, len(value))
            return json.dumps(str(uuid.UUID(bytes=bytes(value[pos + 1 : pos + 17]))))
        if basic == cls.PRIMITIVE and kind in (cls.TIMESTAMP, cls.TIMESTAMP_NTZ, _TIME, _NANOS, _NANOS_LOCAL):
            return json.dumps(_time(kind, cls._read_long(value, pos + 1, 8, True)))
        text: str = super()._to_json(value, metadata, pos, zone_id)
        return text

    @classmethod
    def alone(cls, value: bytes, metadata: bytes) -> str | None:
        """The value cast to text, as Spark casts it: JSON only for objects and arrays."""
        text: str = cls.to_json(value, metadata)
        basic, kind = cls._get_type_info(value, 0)
        if basic in (cls.OBJECT, cls.ARRAY):
            return text
        if basic == cls.PRIMITIVE and kind == cls.NULL:
            return None
        if basic == cls.PRIMITIVE and kind == cls.BINARY:
            return cls._get_binary(value, 0).decode(errors="replace")
        return str(json.loads(text)).removesuffix("+00:00") if text.startswith('"') else text


def _time(kind: int, number: int) -> str:
    """A time of day in microseconds, or a timestamp, as its parts that are not zero; with a zone, in UTC."""
    per_second = 10**9 if kind in (_NANOS, _NANOS_LOCAL) else 10**6
    seconds, rest = divmod(number, per_second)
    at = _EPOCH + dt.timedelta(seconds=seconds)
    shown = f"{at:%H:%M:%S}" if kind == _TIME else str(at)
    fraction = f".{rest:0{len(str(per_second)) - 1}}".rstrip("0") if rest else ""
    return shown + fraction + ("+00:00" if kind in (VariantUtils.TIMESTAMP, _NANOS) else "")


def _java(number: np.floating[Any]) -> str:
    """A floating-point number as Java writes it: `1.0E10` from ten million on and below a thousandth."""
    if not np.isfinite(number):
        return "NaN" if np.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    if number == 0 or 1e-3 <= abs(number) < 1e7:
        return np.format_float_positional(number, trim="0")
    mantissa, _, exponent = np.format_float_scientific(number, trim="0").partition("e")
    return f"{mantissa}E{int(exponent)}"


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
    """A column in which each variant, alone or nested in other types, is cast to text; times are in UTC."""
    return pa.chunked_array([pa.array([_told(value, kind) for value in column.to_pylist()], _arrow(kind))])


def _told(value: Any, kind: types.DataType) -> Any:
    if value is None:
        return None
    match kind:
        case types.VariantType():
            return _Text.alone(value["value"], value["metadata"])
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
