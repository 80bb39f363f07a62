"""Formats values as the judges do."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

from core.formats.paimon import types

BLOB = types.arrow(types.parse("BLOB"), micros=True)


def shown(value: Any) -> Any:
    """Format a value as the judges do."""
    match value:
        case dt.datetime():
            fraction = f".{value.microsecond:06d}" if value.microsecond else ""
            fraction = fraction[:4] if fraction.endswith("000") else fraction
            seconds = f":{value.second:02d}{fraction}" if value.second or fraction or value.tzinfo else ""
            return f"{value.replace(tzinfo=None).isoformat(timespec='minutes')}{seconds}" + (
                "Z" if value.tzinfo else ""
            )
        case dt.date():
            return value.isoformat()
        case Decimal():
            return format(value, "f")
        case bytes():
            return value.hex()
        case list():
            return [shown(each) for each in value]
        case _:
            return value


def rows_of(found: pa.Table) -> list[list[Any]]:
    """Rows as the judges do, but entries of maps in an order of their own, and the bytes that a BLOB refers to."""
    columns = [[_plain(value, field.type) for value in found[field.name].to_pylist()] for field in found.schema]
    return [list(row) for row in zip(*columns, strict=True)]


def judged_rows(rows: list[list[Any]], schema: pa.Schema) -> list[list[Any]]:
    """A judge's rows in the form of `rows_of`: no more than six decimals of a second."""
    return [[_judged(value, field.type) for value, field in zip(row, schema, strict=True)] for row in rows]


def _plain(value: Any, of: pa.DataType) -> Any:
    if value is None:
        return None
    if of == BLOB:
        content = Path(value["uri"].removeprefix("file://")).read_bytes()[value["offset"] :]
        return content[: value["length"]].hex()
    if pa.types.is_struct(of):
        return [_plain(value[field.name], field.type) for field in of]
    if pa.types.is_map(of):
        return sorted(([_plain(key, of.key_type), _plain(each, of.item_type)] for key, each in value), key=json.dumps)
    if pa.types.is_list(of):
        return [_plain(each, of.value_type) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else shown(value)


def _judged(value: Any, of: pa.DataType) -> Any:
    if value is None:
        return None
    if pa.types.is_struct(of) and of != BLOB:
        return [_judged(each, field.type) for each, field in zip(value, of, strict=True)]
    if pa.types.is_map(of):
        pairs = zip(*value, strict=True)
        return sorted(([_judged(key, of.key_type), _judged(each, of.item_type)] for key, each in pairs), key=json.dumps)
    if pa.types.is_list(of):
        return [_judged(each, of.value_type) for each in value]
    if pa.types.is_timestamp(of):
        cut = re.sub(r"(\.\d{6})\d{3}", r"\1", value)
        try:
            return shown(dt.datetime.fromisoformat(cut))
        except ValueError:  # a year beyond those of Python
            return re.sub(r"(\.\d{3})000(?=Z|$)", r"\1", cut)
    return value
