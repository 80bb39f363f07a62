"""Which column of an old file answers for a column of today. Pure.

Law: a column is its field id. A renamed column keeps its values; a column dropped and added again under the same
name is another one, and old files have no value for it (docs/paimon.md §5.2). A type may have been widened since; any
other change of type is refused by name, because its conversion differs between engines.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from core.errors import Unsupported
from core.formats.paimon.types import PaimonType, parse, text
from core.model.references import Field, Schema

_WHOLE = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 19}  # with the decimal digits they need
_ORDER = list(_WHOLE)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the values of `field` come from: partition value number `partition`, a column of the file, or nowhere."""

    field: Field
    source: Field | None
    partition: int | None


def origins(written: Schema, wanted: Schema) -> tuple[Origin, ...]:
    """For each column of `wanted`, in order, its origin in files written with `written`.

    Raises `Unsupported` naming the column where a type changed in a way that is not a widening, or where names
    differ in their case alone, which the readers of files cannot tell apart.
    """
    for schema in (written, wanted):
        names = Counter(field.name.casefold() for field in schema.fields)
        for field in schema.fields:
            if names[field.name.casefold()] > 1:
                raise Unsupported(
                    "The column '{name}' differs from another one only in upper and lower case.", name=field.name
                )
    by_id = {field.id: field for field in written.fields}
    found = []
    for field in wanted.fields:
        if field.name in wanted.partition_keys:
            found.append(Origin(field, None, wanted.partition_keys.index(field.name)))
            continue
        source = by_id.get(field.id)
        if source is not None:
            check(field.name, parse(source.type), parse(field.type))
        found.append(Origin(field, source, None))
    return tuple(found)


def check(name: str, have: PaimonType, wanted: PaimonType) -> None:
    """`Unsupported` unless every value of `have` is a value of `wanted`."""
    if same(have, wanted) or widens(have, wanted):
        return
    if have.root == wanted.root == "ROW":
        inner = {field.id: field for field in have.fields}
        for field in wanted.fields:
            if field.id in inner:
                check(f"{name}.{field.name}", inner[field.id].type, field.type)
        return
    raise Unsupported(
        "The column '{name}' was changed from {have} to {wanted}; older files cannot be read as that.",
        name=name,
        have=text(have),
        wanted=text(wanted),
        remedy="Read a point before the change, or use the table's own engine.",
    )


def same(have: PaimonType, wanted: PaimonType) -> bool:
    """Equal but for nullability and descriptions; nested rows must agree in ids and names."""
    return (
        have.root == wanted.root
        and (have.size, have.scale) == (wanted.size, wanted.scale)
        and len(have.args) == len(wanted.args)
        and all(same(a, b) for a, b in zip(have.args, wanted.args, strict=True))
        and [(a.id, a.name) for a in have.fields] == [(b.id, b.name) for b in wanted.fields]
        and all(same(a.type, b.type) for a, b in zip(have.fields, wanted.fields, strict=True))
    )


def widens(have: PaimonType, wanted: PaimonType) -> bool:
    """True where every value of the one is exactly a value of the other, in every engine."""
    match have.root, wanted.root:
        case (("TINYINT" | "SMALLINT" | "INT" | "BIGINT"), ("TINYINT" | "SMALLINT" | "INT" | "BIGINT")):
            return _ORDER.index(have.root) <= _ORDER.index(wanted.root)
        case (("TINYINT" | "SMALLINT" | "INT" | "BIGINT"), "DECIMAL"):
            return (wanted.size or 0) - (wanted.scale or 0) >= _WHOLE[have.root]
        case (("TINYINT" | "SMALLINT"), ("FLOAT" | "DOUBLE")):
            return True
        case ("INT", "DOUBLE") | ("FLOAT", "DOUBLE"):
            return True
        case "DECIMAL", "DECIMAL":
            scale, more = have.scale or 0, wanted.scale or 0
            return scale <= more and (have.size or 0) - scale <= (wanted.size or 0) - more
        case (("CHAR" | "VARCHAR"), "VARCHAR"):
            return (have.size or 0) <= (wanted.size or 0)
        case (("BINARY" | "VARBINARY"), "VARBINARY"):
            return (have.size or 0) <= (wanted.size or 0)
        case ("TIMESTAMP", "TIMESTAMP") | ("TIMESTAMP_LTZ", "TIMESTAMP_LTZ"):
            return (have.size or 0) <= (wanted.size or 0)
        case ("DATE", "TIMESTAMP") | ("BOOLEAN" | "TINYINT" | "SMALLINT" | "INT" | "BIGINT" | "DATE", "VARCHAR"):
            return wanted.root == "TIMESTAMP" or wanted.size == 2147483647
        case _:
            return False
