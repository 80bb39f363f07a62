"""Iceberg's column types from a schema's JSON, with field ids and defaults, and their equivalents in Spark and Arrow.

Invariant: an unknown type is rejected by its name, never guessed, and only for its own column. Nanoseconds are
truncated to Spark's microseconds; geometry and geography are read as well-known binary.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from core import decimals
from core.errors import Corrupt, Unsupported
from core.messages import message
from core.model.references import Conversion, Field

UNREADABLE = "unreadable"
_SPARK = {
    "boolean": "boolean",
    "int": "int",
    "long": "bigint",
    "float": "float",
    "double": "double",
    "date": "date",
    "timestamp": "timestamp_ntz",
    "timestamptz": "timestamp",
    "string": "string",
    "uuid": "string",
    "fixed": "binary",
    "binary": "binary",
    "time": "time(6)",
    "timestamp_ns": "timestamp_ntz",
    "timestamptz_ns": "timestamp",
    "variant": "variant",
    "geometry": "binary",
    "geography": "binary",
    "unknown": "void",
    UNREADABLE: "string",
}
_ARROW = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", tz="UTC"),
    "string": pa.string(),
    "uuid": pa.string(),
    "fixed": pa.binary(),
    "binary": pa.binary(),
    "time": pa.time64("ns"),  # the only unit that Spark accepts
    "timestamp_ns": pa.timestamp("us"),
    "timestamptz_ns": pa.timestamp("us", tz="UTC"),
    "variant": pa.struct(
        [
            pa.field("value", pa.binary(), nullable=False),
            pa.field("metadata", pa.binary(), nullable=False, metadata={"variant": "true"}),
        ]
    ),
    "geometry": pa.binary(),
    "geography": pa.binary(),
    "unknown": pa.null(),
    UNREADABLE: pa.string(),
}
_WAY_OUT = message(
    "Use an engine that supports the type: Spark with Iceberg's own runtime (Spark 4.1 or older), Trino or DuckDB."
)
_EPOCH = dt.datetime.combine(dt.date(1970, 1, 1), dt.time())


@dataclass(frozen=True, slots=True)
class IcebergField:
    """A column, a struct's field, a list's element, or a map's key or value.

    `default`: the value in older rows. `refusal`: why a column of type UNREADABLE cannot be shown.
    """

    id: int
    name: str
    type: IcebergType
    default: Any = None
    refusal: Unsupported | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class IcebergType:
    """A parsed type.

    `root`: Iceberg's name. `size`, `scale`: those of a decimal; `size` also the length of fixed. `inner`: the fields of
    a struct, the element of a list, or the key and value of a map.
    """

    root: str
    size: int = 0
    scale: int = 0
    inner: tuple[IcebergField, ...] = ()


def columns(schema: Mapping[str, Any]) -> tuple[IcebergField, ...]:
    """Parse the columns of a schema's JSON; unknown types become UNREADABLE. Raises `Corrupt` for an invalid schema."""
    try:
        found = tuple(_or_unreadable(each) for each in schema["fields"])
    except (KeyError, TypeError, ValueError) as error:
        raise Corrupt(
            "Schema {schema_id} must list fields with id, name and type: {error!r}.",
            schema_id=schema.get("schema-id", 0),
            error=error,
            remedy="Restore the metadata file, or open an older one by its path.",
        ) from error
    return found


def find(schemas: Sequence[Mapping[str, Any]], id: int) -> IcebergField | None:
    """Return a field by its id, at any depth, from the first of these schemas that has it."""
    for schema in schemas:
        for each in schema.get("fields", ()):
            if found := _find(each, id):
                return found
    return None


def arrow(type_: IcebergType) -> pa.DataType:
    """Return the Arrow type in which rows are passed to Spark."""
    match type_.root:
        case "decimal":
            return pa.decimal128(type_.size, type_.scale)
        case "struct":
            return pa.struct([pa.field(each.name, arrow(each.type)) for each in type_.inner])
        case "list":
            return pa.list_(pa.field("element", arrow(type_.inner[0].type)))
        case "map":
            return pa.map_(arrow(type_.inner[0].type), pa.field("value", arrow(type_.inner[1].type)))
        case _:
            return _ARROW[type_.root]


def spark(type_: IcebergType) -> str:
    """Return the type in Spark's DDL."""
    match type_.root:
        case "decimal":
            return f"decimal({type_.size},{type_.scale})"
        case "struct":
            return f"struct<{','.join(f'{quoted(each.name)}:{spark(each.type)}' for each in type_.inner)}>"
        case "list":
            return f"array<{spark(type_.inner[0].type)}>"
        case "map":
            return f"map<{spark(type_.inner[0].type)},{spark(type_.inner[1].type)}>"
        case _:
            return _SPARK[type_.root]


def quoted(name: str) -> str:
    """Quote a name in backticks, as SQL reads it back unchanged."""
    return "`" + name.replace("`", "``") + "`"


def leaves(column: IcebergField) -> set[int]:
    """Return the ids of the primitive fields that a file stores for a column."""
    return set().union(*map(leaves, column.type.inner)) if column.type.inner else {column.id}


def has(type_: IcebergType, what: Callable[[IcebergType], bool]) -> bool:
    """Return whether the condition holds for the type or any type inside it."""
    return what(type_) or any(has(each.type, what) for each in type_.inner)


def conversion(old: Field, new: Field) -> Conversion:
    """Return what readers do with the values of older files after a column's type was changed (docs/iceberg.md §4)."""
    have, wanted = (str(each.type).removesuffix(" NOT NULL") for each in (old, new))
    if wanted in _PROMOTED.get(have, ()) or have == "unknown":
        return Conversion.EXACT
    sizes = [re.fullmatch(r"decimal\(\s*(\d+)\s*,\s*(\d+)\s*\)", each) for each in (have, wanted)]
    if sizes[0] and sizes[1] and sizes[0][2] == sizes[1][2] and int(sizes[0][1]) <= int(sizes[1][1]):
        return Conversion.EXACT
    return Conversion.NONE


_PROMOTED = {"int": ("long",), "float": ("double",), "date": ("timestamp", "timestamp_ns")}


# parsing ----------------------------------------------------------------------------------------------------------


def _column(given: Mapping[str, Any]) -> IcebergField:
    id, name = given["id"], given["name"]
    if type(id) is not int or not isinstance(name, str):
        raise ValueError(f"the field {name!r:.40} has no id or no name")
    type_ = _type(given["type"], name)
    return IcebergField(id, name, type_, _default(given.get("initial-default"), type_, name))


def _or_unreadable(given: Mapping[str, Any]) -> IcebergField:
    try:
        return _column(given)
    except Unsupported as error:
        return IcebergField(given["id"], given["name"], IcebergType(UNREADABLE), refusal=error)


def _type(given: Any, name: str) -> IcebergType:
    """Parse the type of a column called `name` from JSON."""
    if isinstance(given, str):
        return _primitive(given, name)
    if not isinstance(given, Mapping):
        raise ValueError(f"{given!r:.60} is no type")
    match given.get("type"):
        case "struct":
            return IcebergType("struct", inner=tuple(_column(each) for each in given["fields"]))
        case "list":
            return IcebergType(
                "list", inner=(IcebergField(given["element-id"], "element", _type(given["element"], name)),)
            )
        case "map":
            key = IcebergField(given["key-id"], "key", _type(given["key"], name))
            return IcebergType(
                "map", inner=(key, IcebergField(given["value-id"], "value", _type(given["value"], name)))
            )
        case other:
            raise _unknown(name, str(other))


def _primitive(given: str, name: str) -> IcebergType:
    if match := re.fullmatch(r"decimal\(\s*(\d+)\s*,\s*(\d+)\s*\)", given):
        size, scale = int(match[1]), int(match[2])
        if not 1 <= size <= 38 or scale > size:
            raise ValueError(f"{given} of {name!r} is no decimal")
        return IcebergType("decimal", size, scale)
    if match := re.fullmatch(r"fixed\[\s*(\d+)\s*\]", given):
        return IcebergType("fixed", int(match[1]))
    root = re.sub(r"\(.*\)", "", given) if given.startswith("geo") else given
    if root not in _SPARK or root in ("fixed", UNREADABLE):
        raise _unknown(name, given)
    return IcebergType(root)


def _unknown(name: str, type_: str) -> Unsupported:
    return Unsupported(
        "Column '{name}' has type {of}, which plain Spark cannot read.",
        name=name,
        of=type_,
        remedy=_WAY_OUT,
    )


def _find(given: Any, id: int) -> IcebergField | None:
    """Find a field by id in the JSON of a field or type; other fields may have unknown types."""
    if not isinstance(given, Mapping):
        return None
    if given.get("id") == id and "type" in given:
        return _column(given)
    for key in ("type", "element", "key", "value"):
        if found := _find(given.get(key), id):
            return found
    return next((found for each in given.get("fields", ()) if (found := _find(each, id))), None)


# single values ----------------------------------------------------------------------------------------------------


def _default(given: Any, type_: IcebergType, name: str) -> Any:
    """Return an initial-default (a single value in JSON) as a value for Arrow."""
    if given is None:
        return None
    if type_.inner:
        raise Unsupported(
            "Column '{name}' of type {root} has an initial-default, which Snapscope cannot fill in.",
            name=name,
            root=type_.root,
            remedy=_WAY_OUT,
        )
    try:
        return value(given, type_)
    except (ValueError, TypeError, ArithmeticError) as error:
        raise Corrupt(
            "The initial-default {given!r:.60} of column '{name}' is not a valid {root}: {error}.",
            given=given,
            name=name,
            root=type_.root,
            error=error,
        ) from error


def value(given: Any, type_: IcebergType) -> Any:
    """Return a single value in metadata's JSON form as a value for Arrow. Raises ValueError or TypeError if invalid."""
    match type_.root:
        case "boolean" if isinstance(given, bool):
            return given
        case "int" | "long" if type(given) is int:
            return given
        case "float" | "double" if isinstance(given, int | float) and not isinstance(given, bool):
            return float(given)
        case "decimal" if isinstance(given, str):
            return decimals.scaled(given, type_.scale, type_.size)
        case "date" if isinstance(given, str):
            return dt.date.fromisoformat(given)
        case "timestamp" | "timestamp_ns" if isinstance(given, str):
            return dt.datetime.fromisoformat(given)
        case "timestamptz" | "timestamptz_ns" if isinstance(given, str):
            return dt.datetime.fromisoformat(given).astimezone(dt.UTC)
        case "time" if isinstance(given, str):
            return dt.time.fromisoformat(given)
        case "string" | "uuid" if isinstance(given, str):
            return given
        case "fixed" | "binary" if isinstance(given, str):
            return bytes.fromhex(given)
        case _:
            raise TypeError(f"{type(given).__name__} was not expected")


def spelled(text: str, type_: IcebergType) -> Any:
    """Return a partition value, spelled by the Avro decoder, as a value for Arrow.

    Writers differ in whether a day or time is a number or has a logical type. Raises ValueError if it is invalid.
    """
    match type_.root:
        case "boolean":
            return {"true": True, "false": False}[text]
        case "int" | "long":
            return int(text)
        case "float" | "double":
            return float(text)
        case "decimal":
            return decimals.scaled(text, type_.scale, type_.size)
        case "date":
            return _EPOCH.date() + dt.timedelta(days=int(text)) if _is_number(text) else dt.date.fromisoformat(text)
        case "timestamp" | "timestamptz" | "timestamp_ns" | "timestamptz_ns":
            if _is_number(text):
                found = _EPOCH + dt.timedelta(microseconds=int(text) // (1000 if type_.root.endswith("_ns") else 1))
            else:
                found = dt.datetime.fromisoformat(text)
                found = found if found.tzinfo is None else found.astimezone(dt.UTC).replace(tzinfo=None)
            return found.replace(tzinfo=dt.UTC) if type_.root.startswith("timestamptz") else found
        case "time":
            return (
                (_EPOCH + dt.timedelta(microseconds=int(text))).time()
                if _is_number(text)
                else dt.time.fromisoformat(text)
            )
        case "uuid":
            hexed = text.replace("-", "")
            return f"{hexed[:8]}-{hexed[8:12]}-{hexed[12:16]}-{hexed[16:20]}-{hexed[20:]}"
        case "fixed" | "binary":
            return bytes.fromhex(text)
        case _:
            return text


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?\d+", text) is not None


__all__ = [
    "IcebergField",
    "IcebergType",
    "arrow",
    "columns",
    "find",
    "has",
    "leaves",
    "quoted",
    "spark",
    "spelled",
    "value",
]
