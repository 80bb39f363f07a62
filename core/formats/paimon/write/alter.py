"""Schema changes: columns added, renamed, dropped or widened; options that do not affect rows. Pure.

Invariants: a column is identified by its id, and an id is never reused. What the engine rejects is rejected here, with
the reason, and so is a change after which older files could not be read correctly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, TypeAlias

from core.errors import Invalid, NotFound, Unsupported
from core.formats.paimon import schema_evolution
from core.formats.paimon.types import Source, parse, text, to_json
from core.formats.paimon.write import documents
from core.formats.paimon.write import harmless_options as options
from core.units import is_true

Document: TypeAlias = Mapping[str, Any]

_OF_COLUMNS = ("aggregate-function", "ignore-retract", "distinct", "list-agg-delimiter")
_EXPLICIT = (
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INT",
    "BIGINT",
    "DATE",
)  # to a text or time type only by an explicit cast


@dataclass(frozen=True, slots=True)
class AddColumn:
    """Add a nullable column at the end."""

    name: str
    of: Source


@dataclass(frozen=True, slots=True)
class RenameColumn:
    """Rename a column; its values are kept."""

    name: str
    to: str


@dataclass(frozen=True, slots=True)
class DropColumn:
    """Drop a column; files keep its values, but they are no longer read."""

    name: str


@dataclass(frozen=True, slots=True)
class WidenColumn:
    """Widen a column to a type that represents every value of the old one; nullability does not change."""

    name: str
    of: Source


@dataclass(frozen=True, slots=True)
class SetOption:
    """Set an option that does not affect rows; None removes it."""

    name: str
    value: str | None


SchemaChange: TypeAlias = AddColumn | RenameColumn | DropColumn | WidenColumn | SetOption


def altered(previous: Document, changes: Sequence[SchemaChange], time_ms: int) -> dict[str, Any]:
    """Return the schema after `previous` with all changes applied; unknown fields are kept.

    Raises `Invalid`, `NotFound` or `Unsupported` for a change that is not possible.
    """
    if not changes:
        raise Invalid("No schema change was given.")
    changed: Document = reduce(lambda found, change: _one(found, change, time_ms), changes, previous)
    _refuse_retention(changed.get("options", {}))
    return {**changed, "id": previous["id"] + 1, "timeMillis": time_ms}


def _one(previous: Document, change: SchemaChange, time_ms: int) -> dict[str, Any]:
    match change:
        case AddColumn(name, of):
            _refuse_name(previous, name)
            return documents.with_column(previous, name, of, time_ms)
        case RenameColumn(name, to):
            _refuse_key(previous, name, "renamed", ("partitionKeys", "primaryKeys"))
            _refuse_name(previous, to)
            renamed = {**previous, "options": _speaking_of(previous.get("options", {}), name, to)}
            _refuse_named(renamed, name, "renamed")
            return _with(renamed, name, lambda field: {**field, "name": to})
        case DropColumn(name):
            _refuse_key(previous, name, "dropped", ("partitionKeys", "primaryKeys"))
            _refuse_named(previous, name, "dropped")
            if len(previous["fields"]) == 1:
                raise Invalid(f"'{name}' is the only column; a table needs one.")
            return _with(previous, name, lambda _: None)
        case WidenColumn(name, of):
            _refuse_key(previous, name, "given another type", ("partitionKeys", "primaryKeys"))
            return _with(previous, name, lambda field: {**field, "type": _widened(previous, field, of)})
        case SetOption(name, value):
            if not options.is_changeable(name):
                raise Unsupported(
                    f"The option '{name}' may decide how rows are stored, and is not changed here.",
                    remedy="Change it with the table's own engine.",
                )
            kept = {key: had for key, had in previous.get("options", {}).items() if key != name}
            return {**previous, "options": kept if value is None else {**kept, name: value}}


def _with(previous: Document, name: str, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> dict[str, Any]:
    """Return the schema with one column changed or removed. Raises `NotFound` if there is no column with that name."""
    if not any(field["name"] == name for field in previous["fields"]):
        names = ", ".join(field["name"] for field in previous["fields"])
        raise NotFound(f"There is no column '{name}'; the table has {names}.")
    fields = [change(field) if field["name"] == name else field for field in previous["fields"]]
    return {**previous, "fields": [field for field in fields if field is not None]}


def _speaking_of(options: Mapping[str, str], name: str, to: str) -> dict[str, str]:
    """Put a column's new name into the options that refer to it: in their names, in their values, or in both."""

    def listed(names: str) -> str:
        return ",".join(to if each == name else each for each in names.split(","))

    found = {}
    for option, value in options.items():
        columns, _, about = option.removeprefix("fields.").rpartition(".")
        if option in ("bucket-key", "sequence.field"):
            value = listed(value)
        elif option.startswith("fields.") and about in ("sequence-group", "nested-key"):
            option, value = f"fields.{listed(columns)}.{about}", listed(value)
        elif option.startswith("fields.") and about in _OF_COLUMNS and columns == name:
            option = f"fields.{to}.{about}"
        found[option] = value
    return found


def _widened(previous: Document, field: Document, of: Source) -> Any:
    have, wanted = parse(field["type"]), parse(of)
    wanted = replace(wanted, nullable=have.nullable)
    if have.is_nested or not schema_evolution.widens(have, wanted):
        raise Unsupported(
            f"The column '{field['name']}' of type {text(have)} cannot become {text(wanted)}: only types that hold "
            "every value of the old one are set.",
            remedy="Add a column of the new type, and fill it.",
        )
    if wanted.root == "VARCHAR" and have.root not in ("CHAR", "VARCHAR"):  # as text, 10 sorts before 9 and has no sum
        _refuse_named(previous, field["name"], "given another order")
    is_explicit = have.root in _EXPLICIT and wanted.root in ("VARCHAR", "TIMESTAMP")
    if is_explicit and is_true(previous.get("options", {}).get("disable-explicit-type-casting")):
        raise Unsupported(
            f"{text(have)} becomes {text(wanted)} by an explicit cast alone, and the table's option "
            "'disable-explicit-type-casting' is true.",
            remedy="Add a column of the new type, and fill it.",
        )
    return to_json(wanted)


def _refuse_retention(options: Mapping[str, str]) -> None:
    """Check the retention options as the engine does: the minimum is at least 1 and at most the maximum."""
    least, most = (options.get(f"snapshot.num-retained.{which}") for which in ("min", "max"))
    try:
        low, high = int(least or 10), int(most or 2**31 - 1)
    except ValueError as error:
        raise Invalid(f"A whole number of snapshots was expected: {error}.") from error
    if not 1 <= low <= high:
        raise Invalid(f"At least {low} and at most {high} snapshots cannot be retained (the least is 10 unless set).")


def _refuse_name(previous: Document, name: str) -> None:
    """Raise `Invalid` for a forbidden column name, or one that differs from another column's only in case."""
    documents.refuse_name(name)
    if any(field["name"].casefold() == name.casefold() for field in previous["fields"]):
        raise Invalid(f"There is a column '{name}' already.")


def _refuse_key(previous: Document, name: str, what: str, keys: Sequence[str]) -> None:
    if any(name in previous.get(key, ()) for key in keys):
        raise Invalid(f"'{name}' is a key of the table, and cannot be {what}.")


def _refuse_named(previous: Document, name: str, what: str) -> None:
    """Raise `Unsupported` if the name or value of an option refers to the column."""
    for option, value in previous.get("options", {}).items():
        if name in re.split(r"[.,;\s]+", value) or name in re.split(r"[.,]", option):
            raise Unsupported(
                f"The column '{name}' cannot be {what}: the option '{option}' = '{value}' names it.",
                remedy="Change the option, or make this change, with the table's own engine.",
            )
