"""The JSON documents of a writer: schemas, snapshots and tags, formatted as Paimon formats them. Pure.

Invariant: a copied document keeps its bytes. A document derived from another one (the next schema, a tag with a
retention) keeps every field that it does not have to change, known or not.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.errors import Corrupt, Invalid, Unsupported
from core.formats.paimon.types import PaimonType, RowField, Source, parse, text, to_json
from core.formats.paimon.write.bucket_hash import HASHED
from core.formats.paimon.write.harmless_options import is_harmless
from core.messages import message
from core.model.references import Schema

VERSION = 3
BATCH = 9223372036854775807  # the commit identifier of batch writers
WRITER = "snapscope"

# Options that decide how rows are written, with the supported values (empty: any). An option that is neither listed
# here or below nor known to be harmless is rejected, because it might affect rows too.
_HONOURED: Mapping[str, Sequence[str]] = {
    "bucket": ("-1",),
    "file.format": ("parquet",),
    "type": ("table",),
    "manifest.format": ("avro",),
    "file.compression": ("zstd", "snappy", "gzip", "none"),
    "metadata.stats-mode": ("none", "truncate(16)"),
    "partition.legacy-name": ("true", "false"),
    "data-file.prefix": (),
    "changelog-producer": ("none",),
    **dict.fromkeys(("deletion-vectors.enabled", "row-tracking.enabled", "data-evolution.enabled"), ("false",)),
}
_SYSTEM = re.compile(r"_KEY_.*|_SEQUENCE_NUMBER|_VALUE_KIND|_LEVEL|_ROW_ID|rowkind", re.IGNORECASE)
_BOOLEAN = ("true", "false")
_HONOURED_KEYED: Mapping[str, Sequence[str]] = {
    "bucket": (),  # checked separately
    "bucket-function.type": ("default",),
    "merge-engine": ("deduplicate", "partial-update", "aggregation", "first-row"),
    "force-lookup": ("false",),
    "sequence.snapshot-ordering": ("false",),
    "sequence.field.sort-order": ("ascending", "descending"),
    "ignore-update-before": ("false",),
    **dict.fromkeys(
        ("ignore-delete", "first-row.ignore-delete", "deduplicate.ignore-delete", "partial-update.ignore-delete",
         "partial-update.remove-record-on-delete", "aggregation.remove-record-on-delete"),
        _BOOLEAN,
    ),
}  # fmt: skip
_ANY_KEYED = ("bucket-key", "sequence.field", "rowkind.field", "partial-update.remove-record-on-sequence-group")
_OF_FIELDS = (".aggregate-function", ".ignore-retract", ".list-agg-delimiter", ".distinct", ".sequence-group")
_HARMLESS_KEYED = ("local-merge-buffer-size",)
_HONOURED_PARTITION_KEYS = ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "CHAR", "VARCHAR", "DATE", "DECIMAL")


def refuse_unwritable(schema: Schema) -> None:
    """Raise `Unsupported`, with the reason, for tables whose rows this writer would not write as their engine does."""
    if schema.primary_keys:
        raise _unsupported(
            message("Plain rows cannot be written to a table with a primary key; its rows are merged by key."),
            message("Write to it with core.spark.write.upsert, and compact it with core.spark.write.compact."),
        )
    refuse_others(schema, _HONOURED)


def refuse_unwritable_keyed(schema: Schema) -> None:
    """Like `refuse_unwritable`, for tables with a primary key, whose rows are merged by key."""
    options = schema.options
    if not schema.primary_keys:
        raise _unsupported(
            message("The table has no primary key."), message("Write to it with `append` of core.spark.write.append.")
        )
    bucket = options.get("bucket", "-1").strip()
    if not bucket.isdigit() or int(bucket) < 1:
        raise _unsupported(
            message(
                "The option 'bucket' = '{bucket}' is not supported: only a fixed number of buckets is.", bucket=bucket
            )
        )
    refuse_others(schema, {**_HONOURED, **_HONOURED_KEYED}, is_known=_is_keyed_option, coarsest=0)
    fields = {field.name: parse(field.type) for field in schema.fields}
    for name in bucket_keys(schema):
        if name not in schema.primary_keys:
            raise _unsupported(
                message("The option 'bucket-key' contains '{name}', which is not part of the primary key.", name=name)
            )
    for name in schema.primary_keys:
        if fields[name].root not in HASHED:
            raise _unsupported(
                message("Key '{name}' of type {fields} cannot be written.", name=name, fields=text(fields[name]))
            )
    if options.get("merge-engine", "").lower() == "first-row" and options.get("sequence.field"):
        raise _unsupported(message("The option 'sequence.field' is not supported with the merge engine 'first-row'."))


def bucket_keys(schema: Schema) -> tuple[str, ...]:
    """Return the columns whose hash determines the bucket: the option's, else the primary key less partition keys."""
    named = tuple(name.strip() for name in schema.options.get("bucket-key", "").split(",") if name.strip())
    return named or tuple(name for name in schema.primary_keys if name not in schema.partition_keys)


def _is_keyed_option(name: str) -> bool:
    if name.startswith("fields."):
        return name == "fields.default-aggregate-function" or name.endswith(_OF_FIELDS)
    return name in _ANY_KEYED or name.startswith(_HARMLESS_KEYED)


def refuse_others(
    schema: Schema,
    honoured: Mapping[str, Sequence[str]],
    *,
    is_known: Callable[[str], bool] = lambda name: False,
    coarsest: int = 4,
) -> None:
    """Raise `Unsupported` for options with other values than these, for unknown options, and for unsupported types.

    `coarsest`: the minimum precision of a TIMESTAMP, in digits of a second.
    """
    for name, value in schema.options.items():
        if name in honoured:
            if value.strip().lower() not in honoured[name] and honoured[name]:
                raise _unsupported(
                    message(
                        "Snapscope cannot write to tables with the option '{name}' = '{value}'.", name=name, value=value
                    )
                )
        elif not is_harmless(name) and not is_known(name):
            raise _unsupported(
                message(
                    "Snapscope does not know the table option '{name}', so it does not write to this table.", name=name
                )
            )
    types = {field.name: parse(field.type) for field in schema.fields}
    for name, type_ in types.items():
        _refuse_type(name, type_, coarsest)
    for key in schema.partition_keys:
        if types[key].root not in (*_HONOURED_PARTITION_KEYS, "TIMESTAMP"):
            raise _unsupported(
                message("Partition key '{key}' of type {types} cannot be written.", key=key, types=text(types[key]))
            )


def _refuse_type(name: str, type_: PaimonType, coarsest: int) -> None:
    for inner in (*type_.args, *(field.type for field in type_.fields)):
        _refuse_type(name, inner, coarsest)
    known = type_.root not in ("TIME", "VARIANT", "BLOB", "VECTOR", "MULTISET")
    if not known or (type_.root in ("TIMESTAMP", "TIMESTAMP_LTZ") and not coarsest <= (type_.size or 0) <= 6):
        raise _unsupported(
            message(
                "Column '{name}' of type {of} cannot be written: Spark's Parquet files store times in "
                "microseconds (TIMESTAMP(6)), and cannot store TIME, VARIANT, BLOB, VECTOR or MULTISET.",
                name=name,
                of=text(type_),
            )
        )


def _unsupported(why: str, remedy: str = message("Write to this table with its own engine.")) -> Unsupported:
    return Unsupported(why, remedy=remedy)


# schemas --------------------------------------------------------------------------------------------------------


def first_schema(
    columns: Sequence[tuple[str, Source]],
    partition_keys: Sequence[str],
    options: Mapping[str, str],
    time_ms: int,
    comment: str | None = None,
    primary_keys: Sequence[str] = (),
) -> dict[str, Any]:
    """Return `schema-0` of a new table.

    Column ids count from 0, nested fields directly after their column; keys are NOT NULL. Raises `Invalid` for missing
    or contradictory columns and keys.
    """
    names = [name for name, _ in columns]
    if not names or len({name.casefold() for name in names}) != len(names):
        raise Invalid("A table needs columns, and their names must differ in more than case.")
    for name in names:
        refuse_name(name)
    if len(set(partition_keys)) != len(partition_keys) or not set(partition_keys) <= set(names):
        raise Invalid("Partition keys must be different columns of the table.")
    keys = set(primary_keys)
    if len(keys) != len(primary_keys) or not keys <= set(names) or (keys and not keys >= set(partition_keys)):
        raise Invalid("A primary key must consist of different columns of the table and include all partition keys.")
    if keys and keys == set(partition_keys):
        raise Invalid("A primary key must have a column that is not a partition key.")
    ids = iter(range(1 << 30))
    parsed = (
        (name, replace(parse(type_), nullable=parse(type_).nullable and name not in keys)) for name, type_ in columns
    )
    fields = [
        # the column's id precedes its nested ids
        {"id": next(ids), "name": name, "type": to_json(_with_ids(type_, ids))}
        for name, type_ in parsed
    ]
    document: dict[str, Any] = {
        "version": VERSION,
        "id": 0,
        "fields": fields,
        "highestFieldId": next(ids) - 1,
        "partitionKeys": list(partition_keys),
        "primaryKeys": list(primary_keys),
        "options": {"bucket": "-1", **options},
    }
    return document | ({} if comment is None else {"comment": comment}) | {"timeMillis": time_ms}


def with_column(previous: Mapping[str, Any], name: str, type_: Source, time_ms: int) -> dict[str, Any]:
    """Return the schema after `previous` with a nullable column added at the end. Raises `Invalid` if not possible."""
    parsed = parse(type_)
    if not parsed.nullable:
        raise Invalid("The new column '{name}' must be nullable: existing rows have no value for it.", name=name)
    if not name.strip() or any(field["name"] == name for field in previous["fields"]):
        raise Invalid("A column named '{name}' cannot be added: the name is blank or taken.", name=name)
    ids = iter(range(int(previous["highestFieldId"]) + 1, 1 << 30))
    field = {"id": next(ids), "name": name, "type": to_json(_with_ids(parsed, ids))}
    return {
        **previous,
        "id": previous["id"] + 1,
        "fields": [*previous["fields"], field],
        "highestFieldId": next(ids) - 1,
        "timeMillis": time_ms,
    }


def refuse_name(name: str) -> None:
    """Raise `Invalid` for a column name that engines reject too."""
    if not name.strip() or _SYSTEM.fullmatch(name):
        raise Invalid("A column cannot be named '{name}'.", name=name)


def _with_ids(type_: PaimonType, ids: Iterator[int]) -> PaimonType:
    """Number nested fields as Paimon does: each before its own inner fields."""
    args = tuple(_with_ids(arg, ids) for arg in type_.args)
    fields = []
    for field in type_.fields:
        number = next(ids)
        fields.append(RowField(number, field.name, _with_ids(field.type, ids), field.description))
    return PaimonType(type_.root, type_.nullable, type_.size, type_.scale, args, tuple(fields))


# tags -----------------------------------------------------------------------------------------------------------


def tag(snapshot: bytes, created: dt.datetime | None = None, retained_ms: int | None = None) -> bytes:
    """Return a tag's content: the snapshot's bytes and, with a retention, two more fields at the end.

    `created` is the writer's wall clock without a zone, as in the format. It is used only with a retention, because old
    readers know no additional fields.
    """
    if retained_ms is None:
        return snapshot
    if created is None or created.tzinfo is not None:
        raise Invalid("A tag with a retention needs its creation time as local time without a zone.")
    body = snapshot.rstrip()
    if not body.endswith(b"}") or body[:-1].rstrip().endswith(b"{"):
        raise Corrupt("Expected a snapshot document to tag, found something else.")
    parts = [created.year, created.month, created.day, created.hour, created.minute]
    if created.second or created.microsecond:
        parts.append(created.second)
    if created.microsecond:
        parts.append(created.microsecond * 1000)
    seconds = f"{retained_ms // 1000}.{retained_ms % 1000:03d}000000" if retained_ms else "0.0"
    more = f',\n  "tagCreateTime" : {_printed(parts, "")},\n  "tagTimeRetained" : {seconds}\n}}'
    return body[:-1].rstrip() + more.encode()


def untagged(content: bytes) -> bytes:
    """Return the snapshot document inside a tag: the same bytes if the tag has no fields of its own."""
    fields = json.loads(content)
    own = ("tagCreateTime", "tagTimeRetained")
    if not any(name in fields for name in own):
        return content
    return pretty({name: value for name, value in fields.items() if name not in own})


# printing -------------------------------------------------------------------------------------------------------


def pretty(document: Mapping[str, Any]) -> bytes:
    """Format JSON as Paimon's own writer does: `"key" : value`, two spaces, objects of an array on one line."""
    return _printed(document, "").encode()


def _printed(value: Any, indent: str) -> str:
    inner = indent + "  "
    match value:
        case Mapping():
            if not value:
                return "{ }"
            lines = (f"{inner}{json.dumps(key, ensure_ascii=False)} : {_printed(v, inner)}" for key, v in value.items())
            return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
        case list() | tuple():
            return f"[ {', '.join(_printed(item, indent) for item in value)} ]" if value else "[ ]"
        case _:
            return json.dumps(value, ensure_ascii=False)
