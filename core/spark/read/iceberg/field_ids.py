"""Map a file's columns if it has no field ids: by the table's name mapping, else as Iceberg's own readers do.

Invariant: a file with any id is read by its ids; otherwise `schema.name-mapping.default` applies. Without it, Iceberg's
own readers map columns of ORC and Avro by their current names and those of Parquet by their position, the first being
1; so does this module.
Source: the table specification, "Column Projection"; `ApplyNameMapping` and `addFallbackIds` of Iceberg 1.11.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from core.errors import Corrupt
from core.formats.iceberg.types import IcebergField
from core.spark.read.iceberg.stored_files import StoredFile, has_ids

PROPERTY = "schema.name-mapping.default"


@dataclass(frozen=True, slots=True)
class MappedName:
    """What a name maps to: a field id, and the names of nested fields."""

    id: int | None
    inner: Mapping[str, MappedName]


def mapping(text: str | None) -> Mapping[str, MappedName] | None:
    """The name mapping in a table's property. Raises `Corrupt` if it is not one."""
    if text is None:
        return None
    try:
        return _named(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise Corrupt(
            "The table's property {name} was expected to hold a name mapping: {error!r}.",
            name=PROPERTY,
            error=error,
            remedy="Set it again by the table's own engine.",
        ) from error


def identified(file: StoredFile, wanted: Sequence[IcebergField], names: Mapping[str, MappedName] | None) -> pa.Schema:
    """The file's columns, with ids."""
    if has_ids(file.schema):
        return file.schema
    if is_by_place(file, names):
        return pa.schema([_with_id(each, number) for number, each in enumerate(file.schema, 1)])
    return pa.schema(_applied(file.schema, _of(wanted) if names is None else names))


def is_by_place(file: StoredFile, names: Mapping[str, MappedName] | None) -> bool:
    """Whether the file's columns are matched by their place. A partition's value then comes before a file's column,
    which is another one if the file was written without those that partition it."""
    return names is None and file.form == "parquet" and not has_ids(file.schema)


def _named(given: Any) -> dict[str, MappedName]:
    found: dict[str, MappedName] = {}
    for each in given:
        own = each.get("field-id")
        if own is not None and type(own) is not int:
            raise ValueError(own)
        inner = _named(each.get("fields") or ())
        found |= {str(name): MappedName(own, inner) for name in each["names"]}
    return found


def _of(fields: Sequence[IcebergField]) -> dict[str, MappedName]:
    return {each.name: MappedName(each.id, _of(each.type.inner)) for each in fields}


def _applied(fields: Any, names: Mapping[str, MappedName]) -> list[pa.Field]:
    return [_apply(each, names.get(each.name)) for each in fields]


def _apply(field: pa.Field, named: MappedName | None) -> pa.Field:
    if named is None:
        return field
    of, inner = field.type, named.inner
    if pa.types.is_struct(of):
        field = field.with_type(pa.struct(_applied(of, inner)))
    elif pa.types.is_list(of) or pa.types.is_large_list(of):
        field = field.with_type(pa.list_(_apply(of.value_field, inner.get("element"))))
    elif pa.types.is_map(of):
        key, value = _apply(of.key_field, inner.get("key")), _apply(of.item_field, inner.get("value"))
        field = field.with_type(pa.map_(key, value))
    return field if named.id is None else _with_id(field, named.id)


def _with_id(field: pa.Field, id: int) -> pa.Field:
    return field.with_metadata({"PARQUET:field_id": str(id)})
