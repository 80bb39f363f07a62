"""Iceberg's metadata tables at a version, as Arrow: what `t$files` and others return in a query.

Invariant: names and columns are Iceberg's own. `history`, `snapshots`, `refs` and `metadata_log_entries` describe the
metadata that was opened; `files`, `data_files`, `delete_files`, `partitions` and `manifests` describe the version.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from core.formats.iceberg import metadata as documents
from core.formats.iceberg.format import IcebergFormat
from core.formats.iceberg.manifests import LIST
from core.formats.iceberg.metadata import Metadata
from core.formats.iceberg.references import reference
from core.model.history import History
from core.model.lineage import ancestors, members
from core.table import Table

_MILLIS = pa.timestamp("ms", tz="UTC")


def rows(kind: str, table: Table, history: History, point: str, branch: str) -> pa.Table:
    """One of `KINDS` at a holder's version; they belong to the table, whatever the branch."""
    found = documents.of(history.heads.document, history.heads.references[reference("file")].decode())
    if kind in _OF_METADATA:
        return _OF_METADATA[kind](found, history)
    position = history.require(point)
    if kind == "manifests":
        snapshot = history.holders[position].snapshot
        assert snapshot is not None
        return _manifests(table, found, snapshot.id)
    return _OF_FILES[kind](history.files_at(position))


def _history(found: Metadata, history: History) -> pa.Table:
    known = members(history.heads)
    current = set() if found.current is None else {each.id for each in ancestors(known, found.current)}
    return pa.table({
        "made_current_at": _times(time_ms for time_ms, _ in found.log),
        "snapshot_id": _numbers(number for _, number in found.log),
        "parent_id": _numbers(known[number].parent_id if number in known else None for _, number in found.log),
        "is_current_ancestor": pa.array([number in current for _, number in found.log], pa.bool_()),
    })  # fmt: skip


def _snapshots(found: Metadata, _: History) -> pa.Table:
    listed = list(found.snapshots.values())
    return pa.table({
        "committed_at": _times(each.time_ms for each in listed),
        "snapshot_id": _numbers(each.id for each in listed),
        "parent_id": _numbers(each.parent_id for each in listed),
        "operation": _texts(each.summary.get("operation") for each in listed),
        "manifest_list": _texts(each.manifest_list for each in listed),
        "summary": _texts(json.dumps(each.summary, ensure_ascii=False) for each in listed),
    })  # fmt: skip


def _refs(found: Metadata, _: History) -> pa.Table:
    listed = list(found.refs.values())
    return pa.table({
        "name": _texts(each.name for each in listed),
        "type": _texts("BRANCH" if each.is_branch else "TAG" for each in listed),
        "snapshot_id": _numbers(each.snapshot_id for each in listed),
        "max_reference_age_in_ms": _numbers(each.max_ref_age_ms for each in listed),
        "min_snapshots_to_keep": _numbers(each.min_snapshots for each in listed),
        "max_snapshot_age_in_ms": _numbers(each.max_snapshot_age_ms for each in listed),
    })  # fmt: skip


def _metadata_log(found: Metadata, _: History) -> pa.Table:
    listed = [*found.metadata_log, (found.updated_ms, found.path)]
    return pa.table({"timestamp": _times(each for each, _ in listed), "file": _texts(each for _, each in listed)})


def _manifests(table: Table, found: Metadata, snapshot: int) -> pa.Table:
    own = IcebergFormat.of(table.format)
    place, given = own.place(found), found.snapshots[snapshot].manifest_list
    if given is None:  # version 1, which states no more about them
        return pa.table({"path": _texts(found.snapshots[snapshot].manifests)})
    path = place.path(given)
    loaded = own.manifests.load(place, [path], LIST, place.sizes([path]))
    for error in loaded.errors.values():
        raise error
    names = {
        "content": "content", "path": "path", "bytes": "length", "spec_id": "partition_spec_id",
        "snapshot_id": "added_snapshot_id", "added": "added_files_count", "existing": "existing_files_count",
        "deleted": "deleted_files_count",
    }  # fmt: skip
    return loaded.rows.select(list(names)).rename_columns(list(names.values()))


def _files(files: pa.Table) -> pa.Table:
    counts = pc.if_else(pc.equal(files["content"], "data"), files["rows"], files["deletes"])
    return pa.table({
        "content": files["content"], "file_path": files["path"], "file_format": files["format"],
        "partition": files["partition"], "record_count": counts, "file_size_in_bytes": files["bytes"],
        "sequence_number": files["sequence"], "referenced_data_file": files["referenced"],
        "content_offset": files["offset"],
    })  # fmt: skip


def _partitions(files: pa.Table) -> pa.Table:
    is_data = pc.equal(files["content"], "data")
    counted = pa.table({
        "partition": files["partition"], "record_count": files["rows"],
        "total_data_file_size_in_bytes": pc.if_else(is_data, files["bytes"], 0),
        "file_count": is_data.cast(pa.int64()), "delete_file_count": pc.invert(is_data).cast(pa.int64()),
    })  # fmt: skip
    names = counted.column_names[1:]
    found = counted.group_by(["partition"]).aggregate([(name, "sum") for name in names])
    return found.select(["partition", *(f"{name}_sum" for name in names)]).rename_columns(counted.column_names).sort_by(
        "partition"
    )  # fmt: skip


def _of(files: pa.Table, wanted: bool) -> pa.Table:
    return _files(files.filter(pc.equal(pc.equal(files["content"], "data"), wanted)))


def _times(values: Iterable[int]) -> pa.Array:
    return pa.array(list(values), pa.int64()).cast(_MILLIS).cast(pa.timestamp("us", tz="UTC"))


def _numbers(values: Iterable[Any]) -> pa.Array:
    found = list(values)
    is_long = all(each is None or each < 2**63 for each in found)
    return pa.array(found, pa.int64() if is_long else pa.decimal128(20))


def _texts(values: Iterable[Any]) -> pa.Array:
    return pa.array(list(values), pa.string())


_OF_METADATA: Mapping[str, Callable[[Metadata, History], pa.Table]] = {
    "history": _history,
    "snapshots": _snapshots,
    "refs": _refs,
    "metadata_log_entries": _metadata_log,
}
_OF_FILES: Mapping[str, Callable[[pa.Table], pa.Table]] = {
    "files": _files,
    "data_files": lambda files: _of(files, True),
    "delete_files": lambda files: _of(files, False),
    "partitions": _partitions,
}
KINDS = (*_OF_METADATA, *_OF_FILES, "manifests")
