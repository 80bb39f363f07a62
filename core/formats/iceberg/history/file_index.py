"""The index of an Iceberg table's files: what its manifest lists and manifests say, numbered. See `FileIndex`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.formats.file_index import FileIndex, do_agree
from core.formats.iceberg.file_identity import identities
from core.formats.iceberg.file_paths import TableLocation
from core.formats.iceberg.manifests import ADDED, CONTENTS, DATA, DELETED, ENTRY, EXISTING, LIST, IcebergManifests
from core.formats.iceberg.metadata import Metadata
from core.formats.iceberg.partition_texts import partitions
from core.model.intervals import Ints
from core.storage.decoded_files import Loaded, first_rows, flat

VERSION = 2  # to be raised with each change of what is decoded, derived or numbered
LIVE = (EXISTING, ADDED)
_SAID = ("bytes", "spec_id", "content", "sequence", "snapshot_id", "added", "existing", "deleted")
_LIST_TYPES = {column.name: column.type for column in LIST}
SAID = pa.schema([("name", pa.string()), *((name, _LIST_TYPES[name]) for name in _SAID)])
_TYPES = {column.name: column.type for column in ENTRY}
_SHOWN = {
    "path": pa.string(), "bytes": pa.int64(), "rows": pa.int64(), "partition": pa.string(), "format": pa.string(),
    "content": pa.string(), "offset": pa.int64(), "referenced": pa.string(), "sequence": pa.int64(),
    "deletes": pa.int64(), "spec_id": pa.int32(), "spelled": pa.string(),
}  # fmt: skip
_KEPT = {"code": pa.int32(), "whole": pa.int64(), "snapshot_id": pa.int64()}
"""Beyond what is shown: the content as a number, the size of the whole file, and the snapshot that added it."""
_REMOVED = pa.schema([("manifest", pa.int64()), ("path", pa.string()), ("snapshot_id", pa.int64())])
_AGREED = ("bytes", "rows", "size", "snapshot_id", "partition", "spec_id")
_SAME = ("bytes", "rows", "whole", "snapshot_id", "partition", "spec_id")
"""What entries of one file agree on, as it is decoded and as it is kept."""


def empty(place: TableLocation, found: Metadata) -> FileIndex:
    """Return an index without files; its key contains everything that paths and partitions depend on."""
    schemas = [[(column.id, str(column.type)) for column in schema.fields] for schema in found.schemas.values()]
    known = [place.store.location, place.prefix, schemas, list(found.specs.items())]
    key = f"iceberg {VERSION} {hashlib.sha256(json.dumps(known).encode()).hexdigest()}"
    return FileIndex.empty(key, SAID, pa.schema([*_SHOWN.items(), *_KEPT.items()]), _REMOVED)


def with_lists(
    index: FileIndex, place: TableLocation, names: list[str], counts: Ints, rows: pa.Table, marks: Mapping[str, str]
) -> FileIndex:
    paths = place.paths(flat(rows["path"])) if len(rows) else flat(rows["path"])
    return index.with_lists(names, marks, counts, rows.select(_SAID).add_column(0, "name", paths))


def with_entries(
    index: FileIndex,
    place: TableLocation,
    found: Metadata,
    manifests: Ints,
    names: list[str],
    loaded: Loaded,
    marks: Mapping[str, str],
) -> FileIndex:
    """Add the entries of these manifests, which have inherited what their lists say."""
    manifest = np.repeat(manifests, np.diff(loaded.start))
    status = loaded.rows["status"].to_numpy().astype(np.int64)
    rows_of_removed = np.flatnonzero(status == DELETED)
    removed = loaded.rows.take(pa.array(rows_of_removed)).select(["path", "snapshot_id"]).combine_chunks()
    if len(rows_of_removed):
        removed = removed.set_column(0, "path", place.paths(flat(removed["path"])))
    removed = removed.add_column(0, "manifest", pa.array(manifest[rows_of_removed]))
    live = np.flatnonzero(status != DELETED)
    table = _rows(loaded.rows.select(["path", "content", "offset", "sequence"]), live)
    path = place.paths(flat(table["path"])) if len(table) else flat(table["path"])
    identity, count, distinct = identities(path, table)
    del table
    first = first_rows(identity, count)
    agree = do_agree(loaded.rows, _AGREED, live, live[first][identity])
    path = path if count == len(path) else path.take(pa.array(first))
    own = _described(place, found, _rows(loaded.rows, live[first]), path)
    number, still, same = _numbered(index, own)
    new = np.flatnonzero(number >= len(index.files))
    whole = np.array([name not in loaded.errors for name in names], dtype=np.bool_)
    grown = index.with_entries(manifests[whole], marks, manifest[live], status[live], number[identity], _rows(own, new))
    counts = grown.counts.copy()
    counts[:, DELETED] += np.bincount(manifest[rows_of_removed], minlength=len(counts))
    return replace(
        grown,
        counts=counts,
        removed=pa.concat_tables([index.removed, removed]).combine_chunks(),
        is_distinct=index.is_distinct and distinct and still,
        is_sound=grown.is_sound and agree and same,
    )


def removed(manifests: IcebergManifests, place: TableLocation, sizes: dict[str, int]) -> pa.Table:
    """Return the path and the snapshot of all DELETED entries of these manifests."""
    known, names = _REMOVED.empty_table(), list(sizes)
    if manifests.index is not None:
        known, names = manifests.index.removed_by(names)
    rows = manifests.load(place, names, ENTRY, sizes).rows
    rows = rows.filter(pc.equal(rows["status"], DELETED)).select(["path", "snapshot_id"])
    if len(rows):
        rows = rows.set_column(0, "path", place.paths(flat(rows["path"])))
    return pa.concat_tables([known.select(rows.column_names), rows]).combine_chunks()


def _numbered(index: FileIndex, own: pa.Table) -> tuple[Ints, bool, bool]:
    """Return the number of each file in the index, new ones after the known; whether paths are still distinct; whether
    what is said of known ones agrees."""
    known, count = index.rows_of(flat(own["path"])), len(index.files)
    if not len(known):
        return count + np.arange(len(own), dtype=np.int64), True, True
    before = index.files.take(pa.array(known))
    both = pa.concat_tables([before, own]).combine_chunks()
    keys = pa.table({"content": both["code"], "offset": both["offset"], "sequence": both["sequence"]})
    identity, identified, distinct = identities(flat(both["path"]), keys)
    number = np.full(identified, -1, dtype=np.int64)
    number[identity[: len(known)]] = known
    own_identity = identity[len(known) :]
    rest = np.flatnonzero(number[own_identity] < 0)
    number[own_identity[rest]] = count + np.arange(len(rest))
    is_known = number[own_identity] < count
    at = first_rows(identity[: len(known)], identified)[own_identity[is_known]]
    agree = own.filter(pa.array(is_known)).select(_SAME).equals(before.take(pa.array(at)).select(_SAME))
    return number[own_identity], distinct, agree


def _described(place: TableLocation, found: Metadata, own: pa.Table, path: pa.StringArray) -> pa.Table:
    """Return one row per file. Delete files have no table rows; a deletion vector has the size of its blob."""
    content = pc.fill_null(flat(own["content"]), DATA)
    is_data = pc.equal(content, DATA)
    referenced = flat(own["referenced"])
    if referenced.null_count < len(referenced):
        referenced = pc.if_else(pc.is_valid(referenced), place.paths(pc.fill_null(referenced, "/")), None)
    columns = {
        "path": path,
        "bytes": pc.coalesce(own["size"], own["bytes"]),
        "rows": pc.if_else(is_data, own["rows"], 0),
        "partition": partitions(found, own["partition"]),
        "format": pc.utf8_lower(own["format"]),
        "content": pa.array(CONTENTS, pa.string()).take(content),
        "offset": own["offset"],
        "referenced": referenced,
        "sequence": own["sequence"],
        "deletes": pc.if_else(is_data, 0, own["rows"]),
        "spec_id": own["spec_id"],
        "spelled": own["partition"],
        "code": content,
        "whole": own["bytes"],
        "snapshot_id": own["snapshot_id"],
    }
    return pa.table(columns, schema=pa.schema([*_SHOWN.items(), *_KEPT.items()]))


def _rows(table: pa.Table, rows: Ints) -> pa.Table:
    return table if len(rows) == len(table) else table.take(pa.array(rows))
