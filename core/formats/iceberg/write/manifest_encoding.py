"""Encode manifests and manifest lists as Iceberg writes them, format version 2. Pure: values in, bytes out.

Invariant: the same values give the same bytes. Schemas: the table specification, "Manifests" and "Manifest Lists";
every field has its id. Bounds are complete values, serialized as in "Appendix D".
"""

from __future__ import annotations

import datetime as dt
import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import fastavro

from core import decimals
from core.errors import Unsupported
from core.formats.iceberg.manifests import ADDED, DATA, DELETED, EXISTING

Json = Mapping[str, Any]
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 # for a type without zone
_AVRO = {"int": "int", "long": "long", "string": "string", "boolean": "boolean"}


@dataclass(frozen=True, slots=True)
class ColumnMetrics:
    """Statistics of one column in one file; bounds are None if it has no value."""

    size: int  # in bytes
    nulls: int
    lower: bytes | None
    upper: bytes | None


@dataclass(frozen=True, slots=True)
class NewContentFile:
    """A data or position-delete file in Parquet. `partition`: values by the names of the spec's fields."""

    path: str  # complete location
    rows: int
    size: int  # in bytes
    partition: Mapping[str, Any] = field(hash=False)
    columns: Mapping[int, ColumnMetrics] = field(repr=False, hash=False)
    content: int = DATA


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """A file in a manifest. `sequence`: None is inherited, allowed only in an ADDED entry."""

    status: int
    snapshot_id: int
    sequence: int | None
    file: NewContentFile

    def existing(self, sequence: int) -> ManifestEntry:
        """Return the entry for a later manifest; `sequence` is that of the manifest it comes from."""
        own = sequence if self.sequence is None else self.sequence
        return ManifestEntry(EXISTING, self.snapshot_id, own, self.file)

    def deleted(self, by: int, sequence: int) -> ManifestEntry:
        """Return the entry in the snapshot `by` that removes the file."""
        own = sequence if self.sequence is None else self.sequence
        return ManifestEntry(DELETED, by, own, self.file)


@dataclass(frozen=True, slots=True)
class Spec:
    """How a table is partitioned: `fields` as in the metadata, `types` of their values by name."""

    id: int
    fields: Sequence[Json]
    types: Mapping[str, str]


def manifest(path: str, entries: Sequence[ManifestEntry], schema: Json, spec: Spec) -> bytes:
    """Encode one manifest. All entries are data files, or all are delete files."""
    content = "data" if entries[0].file.content == DATA else "deletes"
    metadata = {
        "schema": json.dumps(schema),
        "schema-id": str(schema["schema-id"]),
        "partition-spec": json.dumps(list(spec.fields)),
        "partition-spec-id": str(spec.id),
        "format-version": "2",
        "content": content,
    }
    return _written(path, _entry_schema(spec), map(_record, entries), metadata)


def manifest_list(path: str, rows: Iterable[Json], snapshot_id: int, parent: int | None, sequence: int) -> bytes:
    """Encode the list of a snapshot's manifests from rows as returned by `listed`."""
    metadata = {"snapshot-id": str(snapshot_id), "parent-snapshot-id": "null" if parent is None else str(parent)}
    metadata |= {"sequence-number": str(sequence), "format-version": "2"}
    return _written(path, _LIST, rows, metadata)


def listed(path: str, size: int, entries: Sequence[ManifestEntry], spec: Spec, snapshot_id: int, sequence: int) -> Json:
    """Return a manifest's row in the lists of its own and of later snapshots."""
    counts = {status: [each for each in entries if each.status == status] for status in (ADDED, EXISTING, DELETED)}
    least = min((each.sequence or sequence for each in entries if each.status != DELETED), default=sequence)
    row: dict[str, Any] = {
        "manifest_path": path, "manifest_length": size, "partition_spec_id": spec.id,
        "content": int(entries[0].file.content != DATA), "sequence_number": sequence, "min_sequence_number": least,
        "added_snapshot_id": snapshot_id,
    }  # fmt: skip
    for status, name in ((ADDED, "added"), (EXISTING, "existing"), (DELETED, "deleted")):
        row[f"{name}_files_count"] = len(counts[status])
        row[f"{name}_rows_count"] = sum(each.file.rows for each in counts[status])
    row["partitions"] = [_summary([each.file.partition[name] for each in entries], spec.types[name])
                         for name in (part["name"] for part in spec.fields)]  # fmt: skip
    return row


def stored(value: Any, type_: str) -> bytes:
    """Encode a value as in bounds and partition summaries. Raises `Unsupported` for a type that is not written here."""
    match type_:
        case "int" | "date":
            days = (value - _EPOCH.date()).days if isinstance(value, dt.date) else int(value)
            return days.to_bytes(4, "little", signed=True)
        case "long":
            return int(value).to_bytes(8, "little", signed=True)
        case "timestamp":
            micros: int = (value - _EPOCH) // dt.timedelta(microseconds=1)
            return micros.to_bytes(8, "little", signed=True)
        case "string":
            return str(value).encode()
        case _ if type_.startswith("decimal"):
            number = decimals.unscaled(value, int(type_.rstrip(")").rpartition(",")[2]))
            return number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)
        case _:
            raise Unsupported(
                "Snapscope does not write values of type {of!r}.",
                of=type_,
                remedy="Make this change with the table's own engine.",
            )


def _summary(values: Sequence[Any], type_: str) -> Json:
    known = [value for value in values if value is not None]
    return {
        "contains_null": len(known) < len(values),
        "contains_nan": False,
        "lower_bound": stored(min(known), type_) if known else None,
        "upper_bound": stored(max(known), type_) if known else None,
    }


def _record(entry: ManifestEntry) -> Json:
    file, columns = entry.file, sorted(entry.file.columns.items())
    own = {
        "content": file.content, "file_path": file.path, "file_format": "PARQUET", "partition": dict(file.partition),
        "record_count": file.rows, "file_size_in_bytes": file.size,
        "column_sizes": [{"key": id, "value": metrics.size} for id, metrics in columns],
        "value_counts": [{"key": id, "value": file.rows} for id, _ in columns],
        "null_value_counts": [{"key": id, "value": metrics.nulls} for id, metrics in columns],
        "lower_bounds": [{"key": id, "value": metrics.lower} for id, metrics in columns if metrics.lower is not None],
        "upper_bounds": [{"key": id, "value": metrics.upper} for id, metrics in columns if metrics.upper is not None],
    }  # fmt: skip
    return {
        "status": entry.status, "snapshot_id": entry.snapshot_id, "sequence_number": entry.sequence,
        "file_sequence_number": entry.sequence, "data_file": own,
    }  # fmt: skip


# Avro ----------------------------------------------------------------------------------------------------------------


def _written(path: str, schema: Json, records: Iterable[Json], metadata: Mapping[str, str]) -> bytes:
    out, marker = io.BytesIO(), hashlib.md5(path.encode(), usedforsecurity=False).digest()
    fastavro.writer(
        out, fastavro.parse_schema(dict(schema)), records, codec="deflate", metadata=dict(metadata), sync_marker=marker
    )
    return out.getvalue()


def _field(id: int, name: str, type_: Any, *, maybe: bool = False) -> Json:
    return {"name": name, "type": ["null", type_] if maybe else type_, "field-id": id} | (
        {"default": None} if maybe else {}
    )


def _map(id: int, name: str, key: int, value: int, type_: str) -> Json:
    fields = [_field(key, "key", "int"), _field(value, "value", type_)]
    items = {"type": "record", "name": f"k{key}_v{value}", "fields": fields}
    return _field(id, name, {"type": "array", "logicalType": "map", "items": items}, maybe=True)


def _entry_schema(spec: Spec) -> Json:
    parts = [_field(each["field-id"], each["name"], _AVRO[spec.types[each["name"]]], maybe=True)
             for each in spec.fields]  # fmt: skip
    file = [
        _field(134, "content", "int"),
        _field(100, "file_path", "string"),
        _field(101, "file_format", "string"),
        _field(102, "partition", {"type": "record", "name": "r102", "fields": parts}),
        _field(103, "record_count", "long"),
        _field(104, "file_size_in_bytes", "long"),
        _map(108, "column_sizes", 117, 118, "long"),
        _map(109, "value_counts", 119, 120, "long"),
        _map(110, "null_value_counts", 121, 122, "long"),
        _map(125, "lower_bounds", 126, 127, "bytes"),
        _map(128, "upper_bounds", 129, 130, "bytes"),
    ]
    fields = [
        _field(0, "status", "int"),
        _field(1, "snapshot_id", "long", maybe=True),
        _field(3, "sequence_number", "long", maybe=True),
        _field(4, "file_sequence_number", "long", maybe=True),
        _field(2, "data_file", {"type": "record", "name": "r2", "fields": file}),
    ]
    return {"type": "record", "name": "manifest_entry", "fields": fields}


_PARTS = {
    "type": "record",
    "name": "r508",
    "fields": [
        _field(509, "contains_null", "boolean"),
        _field(518, "contains_nan", "boolean", maybe=True),
        _field(510, "lower_bound", "bytes", maybe=True),
        _field(511, "upper_bound", "bytes", maybe=True),
    ],
}
_LIST: Json = {
    "type": "record",
    "name": "manifest_file",
    "fields": [
        _field(500, "manifest_path", "string"),
        _field(501, "manifest_length", "long"),
        _field(502, "partition_spec_id", "int"),
        _field(517, "content", "int"),
        _field(515, "sequence_number", "long"),
        _field(516, "min_sequence_number", "long"),
        _field(503, "added_snapshot_id", "long"),
        _field(504, "added_files_count", "int"),
        _field(505, "existing_files_count", "int"),
        _field(506, "deleted_files_count", "int"),
        _field(512, "added_rows_count", "long"),
        _field(513, "existing_rows_count", "long"),
        _field(514, "deleted_rows_count", "long"),
        _field(507, "partitions", {"type": "array", "element-id": 508, "items": _PARTS}, maybe=True),
    ],
}
