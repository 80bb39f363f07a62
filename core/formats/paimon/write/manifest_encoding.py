"""Encode manifest entries, manifests and manifest lists as Paimon writes them. Pure: values in, bytes out.

Invariant: a record that was read is written back unchanged, field by field; a file with unknown fields is rejected,
because writing it back would lose them. Schemas: Paimon's newest (docs/paimon.md §4.2, §4.3), which all releases since
0.9 can read (fields are matched by name, missing ones are null, additional ones are ignored)."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import fastavro

from core.errors import Corrupt, Unsupported
from core.formats.avro import container
from core.formats.paimon import binary_row
from core.formats.paimon.manifests import ADD, DELETE
from core.formats.paimon.types import PaimonType, Source, parse
from core.formats.paimon.ways_out import CHANGE

Record: TypeAlias = dict[str, Any]  # one decoded Avro record with all fields

VERSION = 2  # of manifests and manifest lists
STATS_LENGTH = 16  # characters or bytes of a text in statistics: `metadata.stats-mode` truncate(16)
_NAMESPACE = "org.apache.paimon.avro.generated"


def _nullable(type_: Any) -> list[Any]:
    return ["null", type_]


def _optional(name: str, type_: Any) -> Record:
    return {"name": name, "type": _nullable(type_), "default": None}


def _stats(name: str) -> Record:
    counts = {"type": "array", "items": _nullable("long")}
    fields = [
        {"name": "_MIN_VALUES", "type": "bytes"},
        {"name": "_MAX_VALUES", "type": "bytes"},
        _optional("_NULL_COUNTS", counts),
    ]
    return {"type": "record", "name": name, "fields": fields}


_TEXTS = {"type": "array", "items": "string"}
_FILE_FIELDS: list[Record] = [
    {"name": "_FILE_NAME", "type": "string"},
    {"name": "_FILE_SIZE", "type": "long"},
    {"name": "_ROW_COUNT", "type": "long"},
    {"name": "_MIN_KEY", "type": "bytes"},
    {"name": "_MAX_KEY", "type": "bytes"},
    {"name": "_KEY_STATS", "type": _stats("record__FILE__KEY_STATS")},
    {"name": "_VALUE_STATS", "type": _stats("record__FILE__VALUE_STATS")},
    {"name": "_MIN_SEQUENCE_NUMBER", "type": "long"},
    {"name": "_MAX_SEQUENCE_NUMBER", "type": "long"},
    {"name": "_SCHEMA_ID", "type": "long"},
    {"name": "_LEVEL", "type": "int"},
    {"name": "_EXTRA_FILES", "type": _TEXTS},
    _optional("_CREATION_TIME", {"type": "long", "logicalType": "timestamp-millis"}),
    _optional("_DELETE_ROW_COUNT", "long"),
    _optional("_EMBEDDED_FILE_INDEX", "bytes"),
    _optional("_FILE_SOURCE", "int"),
    _optional("_VALUE_STATS_COLS", _TEXTS),
    _optional("_EXTERNAL_PATH", "string"),
    _optional("_FIRST_ROW_ID", "long"),
    _optional("_WRITE_COLS", _TEXTS),
    _optional("_WRITE_COLS_SEQUENCES", {"type": "array", "items": "long"}),
]
_ENTRY_FIELDS: list[Record] = [
    {"name": "_VERSION", "type": "int"},
    {"name": "_KIND", "type": "int"},
    {"name": "_PARTITION", "type": "bytes"},
    {"name": "_BUCKET", "type": "int"},
    {"name": "_TOTAL_BUCKETS", "type": "int"},
    {"name": "_FILE", "type": {"type": "record", "name": "record__FILE", "fields": _FILE_FIELDS}},
]
_LIST_FIELDS: list[Record] = [
    {"name": "_VERSION", "type": "int"},
    {"name": "_FILE_NAME", "type": "string"},
    {"name": "_FILE_SIZE", "type": "long"},
    {"name": "_NUM_ADDED_FILES", "type": "long"},
    {"name": "_NUM_DELETED_FILES", "type": "long"},
    {"name": "_PARTITION_STATS", "type": _stats("record__PARTITION_STATS")},
    {"name": "_SCHEMA_ID", "type": "long"},
    _optional("_MIN_BUCKET", "int"),
    _optional("_MAX_BUCKET", "int"),
    _optional("_MIN_LEVEL", "int"),
    _optional("_MAX_LEVEL", "int"),
    _optional("_MIN_ROW_ID", "long"),
    _optional("_MAX_ROW_ID", "long"),
    _optional("_TOTAL_BUCKETS", "int"),
    _optional("_EXTRA_FILES", _TEXTS),
]


def _record(fields: list[Any]) -> Any:
    return fastavro.parse_schema({"type": "record", "name": "record", "namespace": _NAMESPACE, "fields": fields})


_ENTRY = _record(_ENTRY_FIELDS)
_LIST = _record(_LIST_FIELDS)


@dataclass(frozen=True, slots=True)
class SimpleStats:
    """Statistics of some columns of one file: minimum, maximum (None = unknown) and nulls (None = not counted)."""

    least: Sequence[Any]
    greatest: Sequence[Any]
    nulls: Sequence[int | None]


@dataclass(frozen=True, slots=True)
class NewDataFile:
    """A data file that is complete and waits to be committed."""

    partition: bytes  # stored BinaryRow
    path: str  # relative to the table; the last part is the name
    size_bytes: int
    rows: int
    schema_id: int
    stats: SimpleStats | None  # of all columns of that schema, in order; None = not stored
    source: int  # manifests.SOURCE_APPEND or SOURCE_COMPACT
    created_ms: int  # the writer's wall clock as if it were UTC, as in the format
    bucket: int = 0
    total_buckets: int = -1
    own: Mapping[str, Any] = dataclasses.field(
        default_factory=dict
    )  # fields of its record that differ from an append table's
    is_new: bool = True  # False if it was in the table before and only changes its level

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]


def added(file: NewDataFile, types: Sequence[Source]) -> Record:
    """Return the ADD entry of a file; `types` are the column types of its schema."""
    stats = _row_stats(file.stats, types)
    return {
        "_VERSION": VERSION,
        "_KIND": ADD,
        "_PARTITION": file.partition,
        "_BUCKET": file.bucket,
        "_TOTAL_BUCKETS": file.total_buckets,
        "_FILE": {
            "_FILE_NAME": file.name,
            "_FILE_SIZE": file.size_bytes,
            "_ROW_COUNT": file.rows,
            "_MIN_KEY": binary_row.EMPTY,
            "_MAX_KEY": binary_row.EMPTY,
            "_KEY_STATS": _NO_STATS,
            "_VALUE_STATS": stats,
            "_MIN_SEQUENCE_NUMBER": 0,
            "_MAX_SEQUENCE_NUMBER": max(file.rows - 1, 0),
            "_SCHEMA_ID": file.schema_id,
            "_LEVEL": 0,
            "_EXTRA_FILES": [],
            "_CREATION_TIME": file.created_ms,
            "_DELETE_ROW_COUNT": 0,
            "_EMBEDDED_FILE_INDEX": None,
            "_FILE_SOURCE": file.source,
            "_VALUE_STATS_COLS": None if file.stats else [],
            "_EXTERNAL_PATH": None,
            "_FIRST_ROW_ID": None,
            "_WRITE_COLS": None,
            "_WRITE_COLS_SEQUENCES": None,
            **(file.own or {}),
        },
    }


def deleted(entry: Record) -> Record:
    """Return the DELETE entry that removes a live file."""
    return {**entry, "_KIND": DELETE}


def identity(entry: Record) -> tuple[Any, ...]:
    """Return the identity of an entry's file: equal for entries of the same file (docs/paimon.md §4.5)."""
    file = entry["_FILE"]
    return (
        entry["_PARTITION"],
        entry["_BUCKET"],
        file["_LEVEL"],
        file["_FILE_NAME"],
        tuple(file["_EXTRA_FILES"]),
        file.get("_EMBEDDED_FILE_INDEX"),
        file.get("_EXTERNAL_PATH"),
    )


def live(entries: Iterable[Record]) -> list[Record]:
    """Return the live files of base and delta together: every ADD without a DELETE, in any order."""
    kept = list(entries)
    ended = {identity(entry) for entry in kept if entry["_KIND"] == DELETE}
    return [entry for entry in kept if entry["_KIND"] == ADD and identity(entry) not in ended]


def merged(entries: Iterable[Record]) -> list[Record]:
    """Merge the entries of adjacent manifests in order, cancelling each ADD with its later DELETE.

    A DELETE whose ADD is elsewhere is kept. Raises `Corrupt` for a second ADD of a live file."""
    kept: dict[tuple[Any, ...], Record] = {}
    for entry in entries:
        key = identity(entry)
        if entry["_KIND"] == ADD:
            if key in kept and kept[key]["_KIND"] == ADD:
                raise Corrupt("File {name} is added twice and never deleted.", name=entry["_FILE"]["_FILE_NAME"])
            kept[key] = entry
        elif key in kept and kept[key]["_KIND"] == ADD:
            del kept[key]
        else:
            kept[key] = entry
    return list(kept.values())


def manifest(name: str, entries: Sequence[Record]) -> bytes:
    """Return the Avro file of a manifest; the same name and entries give the same bytes."""
    return _file(name, _ENTRY, entries)


def manifest_list(name: str, listed: Sequence[Record]) -> bytes:
    """Return the Avro file of a manifest list."""
    return _file(name, _LIST, listed)


def listed(
    name: str, size_bytes: int, entries: Sequence[Record], schema_id: int, partition_types: Sequence[Source]
) -> Record:
    """Return the record of one manifest in a manifest list; counts and ranges cover ADD and DELETE entries."""
    buckets = [entry["_BUCKET"] for entry in entries]
    levels = [entry["_FILE"]["_LEVEL"] for entry in entries]
    return {
        "_VERSION": VERSION,
        "_FILE_NAME": name,
        "_FILE_SIZE": size_bytes,
        "_NUM_ADDED_FILES": sum(entry["_KIND"] == ADD for entry in entries),
        "_NUM_DELETED_FILES": sum(entry["_KIND"] == DELETE for entry in entries),
        "_PARTITION_STATS": _partition_stats([entry["_PARTITION"] for entry in entries], partition_types),
        "_SCHEMA_ID": schema_id,
        "_MIN_BUCKET": min(buckets, default=None),
        "_MAX_BUCKET": max(buckets, default=None),
        "_MIN_LEVEL": min(levels, default=None),
        "_MAX_LEVEL": max(levels, default=None),
        "_MIN_ROW_ID": None,
        "_MAX_ROW_ID": None,
        "_TOTAL_BUCKETS": None,
        "_EXTRA_FILES": None,
    }


def read_manifest(data: bytes, path: str) -> list[Record]:
    """Return all entries of a manifest with every field. Raises `Corrupt` or `Unsupported`."""
    return _read(data, path, _ENTRY_FIELDS)


def read_list(data: bytes, path: str) -> list[Record]:
    """Return all records of a manifest list with every field. Raises `Corrupt` or `Unsupported`."""
    return _read(data, path, _LIST_FIELDS)


def shortened(least: Any, greatest: Any, length: int = STATS_LENGTH) -> tuple[Any, Any]:
    """Shorten statistics of long texts as the engine does: cut the minimum, cut and round up the maximum.

    If no text of that length is greater, both are unknown (None)."""
    if isinstance(greatest, str):
        if len(greatest) > length:
            greatest = _next_text(greatest[:length])
    elif isinstance(greatest, bytes) and len(greatest) > length:
        greatest = _next_bytes(greatest[:length])
    if greatest is None:
        return None, None
    return least[:length] if isinstance(least, str | bytes) else least, greatest


# ----------------------------------------------------------------------------------------------------------------

_NO_STATS: Record = {"_MIN_VALUES": binary_row.EMPTY, "_MAX_VALUES": binary_row.EMPTY, "_NULL_COUNTS": []}


def _row_stats(stats: SimpleStats | None, types: Sequence[Source]) -> Record:
    if stats is None:
        return _NO_STATS
    parsed = [parse(type_).but_nullable() for type_ in types]
    return {
        "_MIN_VALUES": binary_row.encode(stats.least, parsed),
        "_MAX_VALUES": binary_row.encode(stats.greatest, parsed),
        "_NULL_COUNTS": list(stats.nulls),
    }


def _partition_stats(partitions: Sequence[bytes], types: Sequence[Source]) -> Record:
    parsed = [parse(type_).but_nullable() for type_ in types]
    if not parsed:
        return _NO_STATS
    rows = {stored: binary_row.decode(stored, parsed) for stored in set(partitions)}
    columns = list(zip(*(rows[stored] for stored in partitions), strict=True)) or [()] * len(parsed)
    bounds = [_bounds(column, type_) for column, type_ in zip(columns, parsed, strict=True)]
    nulls = [sum(value is None for value in column) for column in columns]
    return _row_stats(SimpleStats([a for a, _ in bounds], [b for _, b in bounds], nulls), parsed)


def _bounds(values: Iterable[Any], type_: PaimonType) -> tuple[Any, Any]:
    known = [value for value in values if value is not None]
    if not known or type_.root in ("BINARY", "VARBINARY") or type_.is_nested:
        return None, None
    return min(known, key=ordered), max(known, key=ordered)


def ordered(value: Any) -> Any:
    """Return a sort key in Java's order: NaN above all, -0.0 below 0.0; texts by their UTF-8 bytes."""
    if isinstance(value, float):
        return (True, 0.0, 1.0) if math.isnan(value) else (False, value, math.copysign(1.0, value))
    return value.encode() if isinstance(value, str) else value


def _next_text(cut: str) -> str | None:
    for end in range(len(cut), 0, -1):
        code = ord(cut[end - 1]) + 1
        code = 0xE000 if 0xD800 <= code < 0xE000 else code  # surrogates are not characters
        if code <= 0x10FFFF:
            return cut[: end - 1] + chr(code)
    return None


def _next_bytes(cut: bytes) -> bytes | None:
    for end in range(len(cut), 0, -1):
        if cut[end - 1] < 0xFF:
            return cut[: end - 1] + bytes([cut[end - 1] + 1])
    return None


def _file(name: str, schema: Any, records: Sequence[Record]) -> bytes:
    out = io.BytesIO()
    marker = hashlib.blake2b(name.encode(), digest_size=16).digest()  # any 16 bytes; names are unique
    fastavro.writer(out, schema, records, codec="zstandard", sync_marker=marker)
    return out.getvalue()


def _read(data: bytes, path: str, fields: Sequence[Mapping[str, Any]]) -> list[Record]:
    container.split_container(data, path)  # rejects files made to exhaust the reader
    try:
        reader = fastavro.reader(io.BytesIO(data))
        records: list[Any] = list(reader)
        schema: Any = reader.writer_schema
    except Exception as error:  # the decoder raises any type of error
        raise Corrupt(
            "Expected a complete Avro file, but decoding failed: {error}.",
            error=f"{type(error).__name__}: {error}",
            path=path,
            remedy="The file is damaged; nothing was committed.",
        ) from error
    _check_known(schema, fields, path)
    for record in records:
        if (found := record.get("_VERSION")) != VERSION:
            raise Unsupported(
                "Expected format version {known}, found {found}.", known=VERSION, found=found, path=path, remedy=CHANGE
            )
    return [_with_all(record, fields) for record in records]


def _check_known(schema: Any, fields: Sequence[Mapping[str, Any]], path: str) -> None:
    if isinstance(schema, list):
        schema = next(branch for branch in schema if branch != "null")
    known = {field["name"]: field["type"] for field in fields}
    for field in schema["fields"]:
        if field["name"] not in known:
            raise Unsupported(
                "Snapscope does not know the field {name!r}, and rewriting this file would lose it.",
                name=field["name"],
                path=path,
                remedy="The table was written by a newer Paimon; make this change with that version.",
            )
        inner = known[field["name"]]
        if isinstance(inner, dict) and inner.get("type") == "record" and not isinstance(field["type"], str):
            _check_known(field["type"], inner["fields"], path)


def _with_all(record: Record, fields: Sequence[Mapping[str, Any]]) -> Record:
    """Return the record with null for fields that its writer did not know, as the format specifies."""
    full: Record = {}
    for field in fields:
        name, type_ = field["name"], field["type"]
        if name in record:
            value = record[name]
            nested = isinstance(type_, dict) and type_.get("type") == "record" and isinstance(value, dict)
            full[name] = _with_all(value, type_["fields"]) if nested else value
        elif "default" in field:
            full[name] = None
        else:
            raise Corrupt("A manifest record lacks the field {name!r}.", name=name)
    return full
