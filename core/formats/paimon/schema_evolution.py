"""Which column of an old file provides the values of a current column. Pure.

Invariant: a column is identified by its field id. A renamed column keeps its values. A column dropped and added again
with the same name is another one, and old files have no value for it (docs/paimon.md §5.2). A type may have been
widened; any other change of type is a cast. Readers cast what Paimon casts, even if digits are lost; writers reject it
by name.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.errors import SnapscopeError, Unsupported
from core.formats.paimon.types import PaimonType, RowField, parse, text
from core.formats.paimon.ways_out import CHANGE
from core.model.references import Conversion, Field, Schema

_WHOLE = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 19}  # with the decimal digits they need
_ORDER = list(_WHOLE)


@dataclass(frozen=True, slots=True)
class Origin:
    """The source of `field`'s values: partition value number `partition`, a column of the file, or none."""

    field: Field
    source: Field | None
    partition: int | None


def origins(written: Schema, wanted: Schema, *, casts: bool = False) -> tuple[Origin, ...]:
    """For each column of `wanted`, in order, return its origin in files written with `written`.

    Raises `Unsupported`, naming the column, if a type changed other than by widening, or if names differ only in case,
    which the JVM's readers cannot tell apart. With `casts`, as readers in Python take it: only if Paimon does not cast
    to the type.
    """
    for schema in () if casts else (written, wanted):
        names = Counter(field.name.casefold() for field in schema.fields)
        for field in schema.fields:
            if names[field.name.casefold()] > 1:
                raise Unsupported(
                    "Column '{name}' differs from another column only in case.", name=field.name, remedy=CHANGE
                )
    by_id = {field.id: field for field in written.fields}
    found = []
    for field in wanted.fields:
        if field.name in wanted.partition_keys:
            found.append(Origin(field, None, wanted.partition_keys.index(field.name)))
            continue
        source = by_id.get(field.id)
        if source is not None:
            have, kept = parse(source.type), parse(field.type)
            source = source if remains(have, kept) else None
            if source is not None:
                check(field.name, have, kept, casts=casts)
        found.append(Origin(field, source, None))
    return tuple(found)


def check(name: str, have: PaimonType, wanted: PaimonType, *, casts: bool = False) -> None:
    """Raise `Unsupported` unless every value of `have` is a value of `wanted`, or with `casts` can be cast to one."""
    if same(have, wanted) or widens(have, wanted) or (casts and is_cast(have, wanted)):
        return
    if have.root == wanted.root == "ROW":
        inner = {field.id: field for field in have.fields}
        for field in wanted.fields:
            if field.id in inner:
                check(f"{name}.{field.name}", inner[field.id].type, field.type, casts=casts)
        return
    if casts and have.root == wanted.root and have.root in ("ARRAY", "MAP", "MULTISET"):
        *keys, (old, new) = zip(have.args, wanted.args, strict=True)
        if all(same(*key) for key in keys):
            check(f"{name}.{'value' if keys else 'element'}", old, new, casts=True)
            return
    raise Unsupported(
        ("Column '{name}' was changed from {have} to {wanted}; older files cannot be read as {wanted}."),
        name=name,
        have=text(have),
        wanted=text(wanted),
        remedy="Read a version from before the change, or use the table's own engine.",
    )


def conversion(old: Field, new: Field) -> Conversion:
    """Return what Paimon does with the values of older files after a column's type was changed."""
    try:
        have, wanted = parse(old.type), parse(new.type)
    except SnapscopeError:
        return Conversion.UNKNOWN  # a type that this program does not know
    for casts, found in ((False, Conversion.EXACT), (True, Conversion.CAST)):
        with contextlib.suppress(Unsupported):
            check(new.name, have, wanted, casts=casts)
            return found
    return Conversion.NONE


def refuse_casts(schema: Schema, schemas: Mapping[int, Schema], used: Iterable[int]) -> None:
    """Raise `Unsupported` if files of these schemas need a cast: rewriting rows must not lose a digit."""
    for number in used:
        if number in schemas:
            origins(schemas[number], schema)


def widens_all(written: Schema, wanted: Schema) -> bool:
    """Return whether no column of `wanted` needs a cast to read files written with `written`."""
    try:
        origins(written, wanted)
    except Unsupported:
        return False
    return True


def same(have: PaimonType, wanted: PaimonType) -> bool:
    """Return whether types are equal but for nullability and descriptions; nested rows must agree in ids and names."""
    return (
        have.root == wanted.root
        and (have.size, have.scale) == (wanted.size, wanted.scale)
        and len(have.args) == len(wanted.args)
        and all(same(a, b) for a, b in zip(have.args, wanted.args, strict=True))
        and [(a.id, a.name) for a in have.fields] == [(b.id, b.name) for b in wanted.fields]
        and all(same(a.type, b.type) for a, b in zip(have.fields, wanted.fields, strict=True))
    )


def remains(have: PaimonType, wanted: PaimonType) -> bool:
    """Return whether anything of `have` is read as `wanted`. The engine reads a row whose fields are all gone as NULL,
    and so is an array or a map of such rows (`FormatReaderMapping.pruneDataType`)."""
    if have.root != wanted.root or same(have, wanted):
        return True
    if have.root == "ROW":
        return bool(inner(have, wanted))
    if have.root in ("ARRAY", "MAP"):
        return all(remains(old, new) for old, new in zip(have.args, wanted.args, strict=True))
    return True


def inner(have: PaimonType, wanted: PaimonType) -> dict[int, RowField]:
    """Return the fields of the row type `have` that provide values of `wanted`, by id."""
    kept = {field.id: field.type for field in wanted.fields}
    return {field.id: field for field in have.fields if field.id in kept and remains(field.type, kept[field.id])}


def widens(have: PaimonType, wanted: PaimonType) -> bool:
    """Return whether every value of `have` is exactly a value of `wanted`, in every engine."""
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


def is_cast(have: PaimonType, wanted: PaimonType) -> bool:
    """Return whether Paimon casts values of one type to the other after a column's type was changed."""
    return _FAMILY.get(wanted.root, "") in _CASTS.get(_FAMILY.get(have.root, ""), ()) and not (
        (_FAMILY[wanted.root] == "time" and have.root in ("TINYINT", "SMALLINT"))
        or (_FAMILY[have.root] == "time" and wanted.root in ("TINYINT", "SMALLINT"))
    )


_FAMILY = {
    **dict.fromkeys(("CHAR", "VARCHAR"), "text"),
    **dict.fromkeys(("BINARY", "VARBINARY"), "bytes"),
    **dict.fromkeys(_WHOLE, "whole"),
    **dict.fromkeys(("FLOAT", "DOUBLE"), "real"),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_LTZ"), "time"),
    "BOOLEAN": "bool",
    "DECIMAL": "decimal",
    "DATE": "date",
}
_CASTS = {
    "text": ("text", "bytes", "whole", "real", "time", "bool", "decimal", "date"),
    "bytes": ("text", "bytes"),
    "whole": ("text", "whole", "real", "time", "bool", "decimal"),
    "real": ("text", "whole", "real", "decimal"),
    "decimal": ("text", "whole", "real", "decimal"),
    "bool": ("text", "whole", "real", "decimal"),
    "date": ("text", "time"),
    "time": ("text", "whole", "date", "time"),
}
