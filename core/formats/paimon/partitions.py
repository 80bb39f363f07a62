"""The directory of a partition, derived from the values stored for its files. Pure text, no I/O.

Invariant: a directory name that depends on more than the stored values is rejected, never guessed.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from core import decimals
from core.errors import Invalid, Unsupported
from core.formats.paimon import binary_row
from core.formats.paimon.binary_row import Single
from core.formats.paimon.layout import escape, unescape
from core.formats.paimon.types import PaimonType, Source, parse, text
from core.formats.paimon.ways_out import CHANGE
from core.model.references import Schema

UNNAMED = "__DEFAULT_PARTITION__"

_NO_BLANKS = frozenset("\x85\xa0\u2007\u202f")  # whitespace in Python but not in Java


def directory(schema: Schema, partition: bytes) -> str:
    """Return `k1=v1/k2=v2` for a stored partition row; empty for an unpartitioned table.

    Raises `Corrupt` if the bytes are not a valid row, `Unsupported` if the name does not follow from the stored
    values.
    """
    return directories(schema, [partition])[0]


def directories(schema: Schema, partitions: Sequence[bytes]) -> list[str]:
    """Return `directory` of each, with the types parsed once."""
    return list(map(_path, specs(schema, partitions)))


def specs(schema: Schema, partitions: Sequence[bytes]) -> list[dict[str, str]]:
    """Return the names of each partition's values by key; errors as of `directory`."""
    keys = schema.partition_keys
    if not keys or not partitions:  # an unknown type hides only files that there are
        return [{} for _ in partitions]
    type_of = {field.name: field.type for field in schema.fields if field.name in keys}
    types = [parse(type_of[key]) for key in keys]
    unnamed, is_legacy = schema.options.get("partition.default-name", UNNAMED), has_legacy_names(schema)
    return [_names(keys, types, binary_row.decode(each, types), unnamed, is_legacy) for each in partitions]


def has_legacy_names(schema: Schema) -> bool:
    """Return whether partition values are named as old releases did."""
    return schema.options.get("partition.legacy-name", "true").lower() != "false"


def is_named(schema: Schema, steps: Sequence[str]) -> bool:
    """Return whether these are directories `k1=v1`, `k2=v2`, … of the schema's first keys as the engine names them."""
    types: dict[str, Source] = {field.name: field.type for field in schema.fields}
    for key, step in zip(schema.partition_keys, steps, strict=False):
        name, _, written = step.partition("=")
        text = unescape(written)
        if name != escape(key) or not text or not _may_be(parse(types[key]), text, schema):
            return False
    return True


def _may_be(type_: PaimonType, text: str, schema: Schema) -> bool:
    """Return whether a value of this type may have such a name. Checked only for types with few spellings."""
    if text == schema.options.get("partition.default-name", UNNAMED):
        return True
    match type_.root:
        case "TINYINT" | "SMALLINT" | "INT" | "BIGINT":
            return re.fullmatch(r"-?\d{1,19}", text) is not None
        case "BOOLEAN":
            return text in ("true", "false")
        case "DATE":
            return re.fullmatch(r"-?\d{1,10}|\d{4,}-\d\d-\d\d", text) is not None
        case _:
            return True


def value(source: Source, written: str) -> Any:
    """Parse a partition value as a user writes it, dates and times in ISO form. Raises `Invalid`, `Unsupported`."""
    type_ = parse(source)
    try:
        match type_.root:
            case "CHAR" | "VARCHAR":
                return written
            case "TINYINT" | "SMALLINT" | "INT" | "BIGINT":
                return int(written)
            case "BOOLEAN":
                return {"true": True, "false": False}[written.lower()]
            case "DECIMAL":
                return decimals.scaled(written, type_.scale or 0, type_.size or 0)
            case "DATE":
                return dt.date.fromisoformat(written)
            case "TIMESTAMP":
                return dt.datetime.fromisoformat(written)
            case _:
                raise Unsupported("Partitions by {of} cannot be selected by value here.", of=text(type_), remedy=CHANGE)
    except (ValueError, KeyError, ArithmeticError) as error:
        raise Invalid("not a valid value of type {of}: {written!r}.", written=written, of=text(type_)) from error


def path(
    keys: Sequence[str],
    types: Sequence[Source],
    values: Sequence[Any],
    *,
    unnamed: str = UNNAMED,
    is_legacy: bool = True,
) -> str:
    """Return the directory of values as decoded by `binary_row.decode`; null and blank text become `unnamed`."""
    return _path(_names(keys, [parse(each) for each in types], values, unnamed, is_legacy))


def _path(names: Mapping[str, str]) -> str:
    return "/".join(f"{escape(key)}={escape(name)}" for key, name in names.items())


def _names(
    keys: Sequence[str], types: Sequence[PaimonType], values: Sequence[Any], unnamed: str, is_legacy: bool
) -> dict[str, str]:
    return {key: _name(type_, value, unnamed, is_legacy) for key, type_, value in zip(keys, types, values, strict=True)}


def _name(type_: PaimonType, value: Any, unnamed: str, is_legacy: bool) -> str:
    if value is None:
        return unnamed
    name = _legacy(type_, value) if is_legacy else _sql(type_, value)
    return name if name.strip() or _NO_BLANKS.intersection(name) else unnamed


def _legacy(type_: PaimonType, value: Any) -> str:
    """Return the text of the engine's internal Java object (its `toString`)."""
    match type_.root:
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            shown = value.replace(tzinfo=None).isoformat("T", "minutes")
            nanos = _nanos(value)
            return f"{shown}:{value.second:02d}{_in_groups(nanos)}" if value.second or nanos else shown
        case "DATE":
            return str((value - dt.date(1970, 1, 1)).days)
        case "TIME":
            return str(((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000)
        case "BINARY" | "VARBINARY":
            raise _unrecorded(type_, "after the address of an object in the memory of whoever wrote it")
        case _:
            return _same(value)


def _sql(type_: PaimonType, value: Any) -> str:
    """Return the value cast to text as by SQL."""
    size = type_.size or 0
    match type_.root:
        case "TIMESTAMP":
            fraction = f".{_nanos(value):09d}"[: size + 1] if size else ""
            return f"{value.isoformat(' ', 'seconds')}{fraction}"
        case "TIMESTAMP_LTZ":
            raise _unrecorded(type_, "in the time zone of whoever wrote it")
        case "DATE":
            return str(value.isoformat())
        case "TIME":
            millis = f"{value.microsecond // 1000:03d}"[:size].rstrip("0") or "0"
            return f"{value.isoformat('seconds')}.{millis}" if size else str(value.isoformat("seconds"))
        case _:
            return _same(value)


def _same(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case Decimal():
            return format(value, "f")
        case float():
            return _double(value)
        case bytes():
            return value.decode("utf-8", "replace")
        case _:
            return str(value)


def _unrecorded(type_: PaimonType, how: str) -> Unsupported:
    return Unsupported(
        ("Directories of partitions by {of} are named {how}, and the metadata does not record that."),
        of=text(type_),
        how=how,
        remedy="Read such a table with the engine that wrote it.",
    )


def _nanos(value: dt.datetime) -> int:
    return value.microsecond * 1000 + getattr(value, "nanosecond", 0)


def _in_groups(nanos: int) -> str:
    """Return the fraction of a second as Java prints it, in groups of three digits."""
    digits = f"{nanos:09d}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f".{digits}" if digits else ""


def _double(value: float) -> str:
    """Format like `Double.toString` and `Float.toString`: plain from 1e-3 to 1e7, otherwise in scientific notation."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    shortest = str(np.float32(value)) if isinstance(value, Single) else repr(value)
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        plain = format(Decimal(shortest), "f")
        return plain if "." in plain else f"{plain}.0"
    sign, digits, _ = Decimal(shortest).as_tuple()
    exponent = Decimal(shortest).adjusted()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    return f"{'-' if sign else ''}{text[0]}.{text[1:] or '0'}E{exponent}"
