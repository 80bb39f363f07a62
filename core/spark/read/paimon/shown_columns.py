"""Which columns of a version can be shown, and which of them a statement takes.

Invariant: a column that cannot be shown takes nothing away from the others. Until it is used, it is a text under an id
that no file has, from which nothing is concluded; then it raises the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from core.errors import SnapscopeError, Unsupported
from core.formats.paimon import types
from core.formats.paimon.types import parse
from core.formats.paimon.ways_out import LEAVE_OUT
from core.messages import message
from core.model.references import Field, Schema
from core.spark.merge.rules import deciding
from core.spark.session.task_errors import carried


def refusals(schema: Schema, schemas: Iterable[Schema]) -> dict[str, SnapscopeError]:
    """Columns that cannot be shown, each with the reason. Raises it if the rows depend on the column.

    `schemas`: all that files may be written with.
    """
    needed = deciding(schema) | set(schema.partition_keys)
    schemas = tuple(schemas)
    found: dict[str, SnapscopeError] = {}
    views = {field.id for each in (schema, *schemas) for field in each.fields if field.name in _views(each)}
    for field in schema.fields:
        try:
            types.spark(parse(field.type), reads=True)
        except SnapscopeError as error:
            if field.name in needed:
                raise
            found[field.name] = _of_column(field.name, error)
        if field.id in views:
            why = message("Its values are in rows of other tables ('blob-view-field'), which are not looked up here.")
            found[field.name] = _of_column(field.name, Unsupported(why, remedy=LEAVE_OUT))
    return found


def _views(schema: Schema) -> set[str]:
    return {name.strip() for name in schema.options.get("blob-view-field", "").split(",")}


def _of_column(name: str, error: SnapscopeError) -> SnapscopeError:
    return type(error)(
        message("Column '{name}' cannot be shown: {message}", name=name, message=error.message),
        path=error.path,
        remedy=LEAVE_OUT,
    )


def readable(schema: Schema, refused: Collection[str]) -> Schema:
    """The schema with texts in place of columns that cannot be shown."""
    if not refused:
        return schema
    fields = (Field(-2 - each.id, each.name, "STRING") if each.name in refused else each for each in schema.fields)
    return replace(schema, fields=tuple(fields))


def is_refused(field: Field) -> bool:
    """Whether a field of a readable schema stands for a column that cannot be shown."""
    return field.id < -1


def stored_id(field: Field) -> int:
    """The field's id in the table, also of one that stands for a column that cannot be shown."""
    return -2 - field.id if is_refused(field) else field.id


def narrowed(schema: Schema, columns: Collection[int] | None) -> Schema:
    """The schema with these columns and those that decide which rows there are."""
    if columns is None:
        return schema
    kept = {schema.fields[number].name for number in columns} | set(schema.partition_keys) | deciding(schema)
    if len(kept) == len(schema.fields):
        return schema
    fields = tuple(field for field in schema.fields if field.name in kept)
    return replace(schema, fields=fields or (Field(-1, "#", "BOOLEAN"),))  # one that no file has, to count rows by


def widened(
    frame: DataFrame, narrow: Schema, schema: Schema, refused: Mapping[str, SnapscopeError], kinds: str | None
) -> DataFrame:
    """The frame with all columns of the schema: those that were not read are null, or say why they cannot be."""
    if narrow is schema and not refused:
        return frame
    names = {field.name for field in narrow.fields}
    first = [] if kinds is None else [F.col(types.quoted(kinds))]
    return frame.select(
        *first,
        *(
            raising(refused[field.name], "string").alias(field.name) if field.name in refused
            else F.col(types.quoted(field.name)) if field.name in names
            else F.lit(None).cast(ddl).alias(field.name)
            for field, ddl in zip(schema.fields, ddls(schema), strict=True)
        ),
    )  # fmt: skip


def raising(error: SnapscopeError, ddl: str) -> Column:
    """A column of this type that raises the error, if it is used."""
    return F.raise_error(F.lit(carried(error))).cast(ddl)


def ddls(schema: Schema) -> tuple[str, ...]:
    """The columns' types in Spark."""
    return tuple(types.spark(parse(field.type), reads=True) for field in schema.fields)
