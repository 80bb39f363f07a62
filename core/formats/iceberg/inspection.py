"""The contents of one snapshot's metadata: its list, manifests, entries, and column statistics.

Invariant: nothing is read again that was decoded before. An unreadable file is an error that names it, never an empty
list.
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core import decimals
from core.errors import Corrupt
from core.formats.avro import decode as avro
from core.formats.iceberg import types
from core.formats.iceberg.file_paths import TableLocation
from core.formats.iceberg.history.outline import inherited, inline_rows
from core.formats.iceberg.manifests import CONTENTS, DATA, DELETED, ENTRY, LIST, IcebergManifests, needed
from core.formats.iceberg.metadata import Metadata
from core.formats.iceberg.partition_texts import partitions
from core.formats.iceberg.types import IcebergType
from core.model.column_bounds import Bounds, Column, FileBounds, cut_length, merged
from core.model.references import Schema
from core.storage.decoded_files import Loaded

_COUNTS = pa.list_(pa.struct([("key", pa.int32()), ("value", pa.int64())]))
_BOUNDS = pa.list_(pa.struct([("key", pa.int32()), ("value", pa.binary())]))
STATS = (
    *ENTRY,
    avro.AvroColumn("nulls", (2, 110), _COUNTS, required=False),
    avro.AvroColumn("lower", (2, 125), _BOUNDS, required=False),
    avro.AvroColumn("upper", (2, 128), _BOUNDS, required=False),
)
_STATUS = ("existing", "added", "removed")
_NO_BOUNDS = ("geometry", "geography", "variant")  # theirs are boxes and objects, not a minimum and a maximum
_NUMBERS = {"float": "<f", "double": "<d", "int": "<i", "long": "<q"}


def manifests(decoded: IcebergManifests, place: TableLocation, found: Metadata, snapshot: int) -> pa.Table:
    """Return every manifest of a snapshot.

    Columns: list (data or deletes), list_path, list_bytes, path, bytes, added, deleted, existing, schema_id (null in
    Iceberg). Version 1 may name manifests in the metadata itself.
    """
    listed, path = _listed(decoded, place, found, snapshot)
    count = len(listed)
    content = pc.fill_null(listed["content"], DATA)
    size = None if path is None else place.sizes([path]).get(path)
    columns = {
        "list": pa.array(np.where(content.to_numpy() == DATA, "data", "deletes").tolist(), pa.string()),
        "list_path": pa.array([path or found.path] * count, pa.string()),
        "list_bytes": pa.array([size] * count, pa.int64()),
        "path": place.paths(listed["path"].combine_chunks()) if count else listed["path"],
        **{each: listed[each] for each in ("bytes", "added", "deleted", "existing")},
        "schema_id": pa.nulls(count, pa.int64()),
    }
    return pa.table(columns)


def entries(decoded: IcebergManifests, place: TableLocation, found: Metadata, snapshot: int, path: str) -> pa.Table:
    """Return the entries of one manifest of a snapshot, in order.

    Columns: change (added, existing or removed), kind, path, bytes, rows, partition, bucket and level (null in
    Iceberg), min_sequence and max_sequence (both the data sequence number), schema_id (null), source (null),
    delete_rows.
    """
    listed, _ = _listed(decoded, place, found, snapshot)
    names = place.paths(listed["path"].combine_chunks())
    row = listed.filter(pc.equal(names, path)).slice(0, 1)
    loaded = inherited(_whole(decoded.load(place, [path], ENTRY, place.sizes([path]))), row)
    rows = loaded.rows
    count, nothing = len(rows), pa.nulls(len(rows), pa.int64())
    content = pc.fill_null(rows["content"], DATA)
    is_data = pc.equal(content, DATA)
    return pa.table(
        {
            "change": pa.array(_STATUS, pa.string()).take(rows["status"].combine_chunks()),
            "kind": pa.array(CONTENTS, pa.string()).take(content.combine_chunks()),
            "path": place.paths(rows["path"].combine_chunks()) if count else rows["path"],
            "bytes": pc.coalesce(rows["size"], rows["bytes"]),
            "rows": pc.if_else(is_data, rows["rows"], 0),
            "partition": partitions(found, rows["partition"]),
            "bucket": nothing,
            "level": nothing,
            "min_sequence": rows["sequence"],
            "max_sequence": rows["sequence"],
            "schema_id": nothing,
            "source": pa.nulls(count, pa.string()),
            "delete_rows": pc.if_else(is_data, 0, rows["rows"]),
        }
    )


def statistics(
    decoded: IcebergManifests, place: TableLocation, found: Metadata, snapshot: int, files: pa.Table, schema: Schema
) -> tuple[Bounds, ...]:
    """Return the manifests' statistics of the columns of `schema` in these live data files. Raises `Corrupt`."""
    listed, _ = _listed(decoded, place, found, snapshot)
    listed = listed.filter(pc.equal(pc.fill_null(listed["content"], DATA), DATA))
    names = place.paths(listed["path"].combine_chunks()).to_pylist() if len(listed) else []
    loaded = decoded.load(place, names, ENTRY, sizes := place.sizes(names))
    loaded = _whole(Loaded(loaded.rows, loaded.start, needed(loaded.errors, names, listed)))
    wanted = files["path"]
    has = _live_and_in(place, loaded.rows, wanted).to_numpy(zero_copy_only=False)
    manifest_of = np.repeat(np.arange(len(names), dtype=np.int64), np.diff(loaded.start))
    chosen = [names[number] for number in np.unique(manifest_of[has])]
    rows = _whole(IcebergManifests().load(place, chosen, STATS, sizes)).rows
    rows = rows.filter(_live_and_in(place, rows, wanted))
    own = next((each for each in _schemas(found) if (each.get("schema-id") or 0) == schema.id), None)
    if own is None:
        raise Corrupt("Schema {id} is missing in the metadata.", id=schema.id, path=found.path)
    known = {each.id: each for each in types.columns(own)}
    columns = [Column(each.id, each.name, _spelled(each.type)) for each in known.values()]
    bounds_of_files = [
        (row["rows"], _file_bounds(row, known)) for row in rows.select(["rows", "nulls", "lower", "upper"]).to_pylist()
    ]
    default = found.properties.get("write.metadata.metrics.default")
    prefix = "write.metadata.metrics.column."
    cuts = {each.id: cut_length(found.properties.get(prefix + each.name, default)) for each in known.values()}
    return merged(columns, bounds_of_files, cuts)


def bound(stored: bytes, type_: IcebergType) -> Any:
    """Decode a bound in the single-value serialization (specification, "Appendix D").

    Nanoseconds are truncated to microseconds. None for a type without a minimum and a maximum. Raises ValueError,
    OverflowError or struct.error for bytes that are not of this type. Bytes of a type that was widened since are
    accepted.
    """
    match type_.root:
        case "boolean":
            return stored != b"\0"
        case "int" | "long" | "float" | "double":
            narrow = {"long": "int", "double": "float"}.get(type_.root, type_.root)
            return struct.unpack(_NUMBERS[narrow if len(stored) == 4 else type_.root], stored)[0]
        case "date":
            return types.spelled(str(struct.unpack("<i", stored)[0]), type_)
        case "time" | "timestamp" | "timestamptz" | "timestamp_ns" | "timestamptz_ns":
            return types.spelled(str(struct.unpack("<q", stored)[0]), type_)
        case "decimal":
            return decimals.number(int.from_bytes(stored, "big", signed=True), type_.scale)
        case "uuid":
            return uuid.UUID(bytes=stored)
        case "string":
            return stored.decode("utf-8", "replace")  # truncation may split a character
        case root if root in _NO_BOUNDS:
            return None
        case _:
            return stored


def _file_bounds(row: Mapping[str, Any], known: Mapping[int, types.IcebergField]) -> dict[int, FileBounds]:
    maps = {name: {each["key"]: each["value"] for each in row[name] or ()} for name in ("nulls", "lower", "upper")}
    found = {}
    for id, column in known.items():
        if column.type.inner or all(id not in each for each in maps.values()):
            continue
        unreadable = False
        try:
            low, high = (
                None if maps[side].get(id) is None else bound(maps[side][id], column.type)
                for side in ("lower", "upper")
            )
        except (ValueError, struct.error, OverflowError):  # of a type that the column no longer has
            low, high, unreadable = None, None, True
        found[id] = FileBounds(low, high, maps["nulls"].get(id), unreadable)
    return found


def _spelled(type_: IcebergType) -> str:
    match type_.root:
        case "decimal":
            return f"decimal({type_.size}, {type_.scale})"
        case "fixed":
            return f"fixed[{type_.size}]"
        case _:
            return type_.root


def _schemas(found: Metadata) -> list[Mapping[str, Any]]:
    return list(found.document.get("schemas") or [found.document["schema"]])


def _live_and_in(place: TableLocation, rows: pa.Table, wanted: pa.ChunkedArray) -> pa.Array:
    paths = place.paths(rows["path"].combine_chunks()) if len(rows) else rows["path"].combine_chunks()
    is_live = pc.not_equal(rows["status"].combine_chunks(), DELETED)
    return pc.and_(pc.is_in(paths, value_set=wanted.combine_chunks()), is_live)


def _listed(
    decoded: IcebergManifests, place: TableLocation, found: Metadata, snapshot: int
) -> tuple[pa.Table, str | None]:
    """Return the rows of a snapshot's list, and the list's path."""
    member = found.snapshots[snapshot]
    if member.manifest_list is None:
        return inline_rows([(0, path, snapshot) for path in member.manifests]), None
    path = place.path(member.manifest_list)
    rows = _whole(decoded.load(place, [path], LIST, place.sizes([path]))).rows
    return rows.drop_columns(["key"]), path


def _whole(loaded: Loaded) -> Loaded:
    for error in loaded.errors.values():
        raise error
    return loaded
