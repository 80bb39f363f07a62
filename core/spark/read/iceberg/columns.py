"""The columns of an Iceberg table at a version, and those of its other schemas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.errors import Corrupt, Unsupported
from core.formats.iceberg import types
from core.formats.iceberg.metadata import Metadata
from core.formats.iceberg.types import IcebergField, IcebergType
from core.formats.paimon import types as words
from core.messages import message
from core.model.references import Field, Schema

NO_COLUMNS = message("Add a column with the table's own engine, or choose another version.")
WAY_OUT = message("Read it with Iceberg's own runtime in Spark 4.1 or older, with Trino or with DuckDB.")


class Columns:
    """The version's columns, and those of the table's other schemas."""

    def __init__(self, found: Metadata, id: int) -> None:
        listed = found.document.get("schemas") or [found.document["schema"]]
        newest = sorted(listed, key=lambda each: -(each.get("schema-id") or 0))
        own = next(each for each in newest if (each.get("schema-id") or 0) == id)
        self.columns = types.columns(own)
        self.others = [own, *newest]
        if not self.columns:
            raise Unsupported("The table has no columns, so there is nothing to read.", remedy=NO_COLUMNS)
        self.is_hard = any(types.has(each.type, _is_hard) for each in self.columns)
        """Whether some column must be converted in Python."""

    def any(self, id: int) -> IcebergField | None:
        """A field by its id, from the version's or else the newest schema; None if it, or its type, is unknown."""
        try:
            return types.find(self.others, id)
        except (Unsupported, Corrupt):
            return None

    def key(self, id: int) -> IcebergField:
        found = types.find(self.others, id)
        if found is None:
            raise Unsupported(
                ("Equality deletes compare by the column with id {id}, which no schema in the metadata has."),
                id=id,
                remedy="Open an older metadata.json, which still has that schema.",
            )
        if found.refusal is not None:
            raise found.refusal
        if found.type.inner:
            raise Corrupt(
                "Equality deletes compare by column '{name}', which is a {root}.",
                name=found.name,
                root=found.type.root,
            )
        return found


def _is_hard(of: IcebergType) -> bool:
    return of.root in _HARD or (of.root == "struct" and any(each.default is not None for each in of.inner))


def differs(columns: Sequence[IcebergField]) -> tuple[str, ...]:
    """Sentences naming columns of which Spark shows less than is stored."""
    names = [each.name for each in columns if types.has(each.type, lambda of: of.root.endswith("_ns"))]
    if not names:
        return ()
    return (message("Spark has no nanoseconds: {names} are truncated to microseconds", names=", ".join(names)),)


def in_words(schema: Schema, columns: Sequence[IcebergField]) -> Schema:
    """The columns as Spark has them, in the types that core/spark compares and filters by."""
    fields = tuple(Field(each.id, each.name, words.to_json(_word(each.type))) for each in columns)
    return replace(schema, fields=fields, partition_keys=(), primary_keys=())


def _word(of: IcebergType) -> words.PaimonType:
    match of.root:
        case "decimal":
            return words.PaimonType("DECIMAL", size=of.size, scale=of.scale)
        case "struct":
            return words.PaimonType("ROW", fields=tuple(words.RowField(e.id, e.name, _word(e.type)) for e in of.inner))
        case "list":
            return words.PaimonType("ARRAY", args=(_word(of.inner[0].type),))
        case "map":
            return words.PaimonType("MAP", args=tuple(_word(each.type) for each in of.inner))
        case _:
            return words.parse(_WORDS.get(of.root, of.root.upper()))


_HARD = ("uuid", "time", "timestamp_ns", "timestamptz_ns", "geometry", "geography", "unknown")
_WORDS = {
    "long": "BIGINT",
    "string": "STRING",
    "uuid": "STRING",
    "fixed": "BYTES",
    "binary": "BYTES",
    "timestamp": "TIMESTAMP(6)",
    "timestamptz": "TIMESTAMP(6) WITH LOCAL TIME ZONE",
    "timestamp_ns": "TIMESTAMP(6)",
    "timestamptz_ns": "TIMESTAMP(6) WITH LOCAL TIME ZONE",
    "time": "TIME(6)",
    "geometry": "BYTES",
    "geography": "BYTES",
    "unknown": "STRING",
    types.UNREADABLE: "STRING",
}
