"""Paimon's system tables at a version, as Arrow: what `t$files` and others return in a query.

Invariant: columns have Paimon's names, and values come from the references and the history. Where Paimon shows the
current state of a branch (snapshots, tags, schemas, options, consumers, branches), so does this; files, partitions,
buckets, manifests and statistics are those of the version. `tags_pip` lists the tags with the columns of the proposal
that introduced tags: `tag_id` is null, because no release ever stored one.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pyarrow as pa

from core.errors import Corrupt, Unsupported
from core.formats.paimon import inspection as contents
from core.formats.paimon import layout
from core.formats.paimon.format import PaimonFormat
from core.formats.paimon.manifests import LISTED
from core.formats.paimon.types import parse, to_json
from core.model.history import History
from core.model.references import Field, Heads, Line, Snapshot
from core.table import Table

_MILLIS = pa.timestamp("ms", tz="UTC")


def rows(kind: str, table: Table, history: History, point: str, branch: str) -> pa.Table:
    """One of `KINDS` at a holder's version on a branch."""
    heads = history.heads
    line = heads.line(branch) or heads.main
    if kind in _OF_POINT:
        snapshot = history.holders[history.require(point)].snapshot
        assert snapshot is not None
        return _OF_POINT[kind](table, snapshot)
    if kind in _OF_FILES:
        return _OF_FILES[kind](table, history.files_of(point))
    return _OF_REFERENCES[kind](line, heads)


def _snapshots(line: Line, _: Heads) -> pa.Table:
    def texts(name: str) -> pa.Array:
        return pa.array([snapshot.fields.get(name) for snapshot in line.snapshots], pa.string())

    def numbers(values: Iterable[Any]) -> pa.Array:
        return pa.array(list(values), pa.int64())

    found = line.snapshots
    return pa.table({
        "snapshot_id": numbers(each.id for each in found),
        "schema_id": numbers(each.schema_id for each in found),
        "commit_user": pa.array([each.commit_user for each in found], pa.string()),
        "commit_identifier": numbers(each.commit_identifier for each in found),
        "commit_kind": pa.array([each.kind for each in found], pa.string()),
        "commit_time": _times(each.time_ms for each in found),
        "base_manifest_list": texts("baseManifestList"),
        "delta_manifest_list": texts("deltaManifestList"),
        "changelog_manifest_list": texts("changelogManifestList"),
        "total_record_count": numbers(each.total_rows for each in found),
        "delta_record_count": numbers(each.delta_rows for each in found),
        "changelog_record_count": numbers(each.fields.get("changelogRecordCount") for each in found),
        "watermark": numbers(each.watermark for each in found),
    })  # fmt: skip


def _tags(line: Line, _: Heads) -> pa.Table:
    retained = [None if tag.retained is None else _duration(tag.retained) for tag in line.tags]
    return pa.table({
        "tag_name": pa.array([tag.name for tag in line.tags], pa.string()),
        "snapshot_id": pa.array([tag.snapshot.id for tag in line.tags], pa.int64()),
        "schema_id": pa.array([tag.snapshot.schema_id for tag in line.tags], pa.int64()),
        "commit_time": _times(tag.snapshot.time_ms for tag in line.tags),
        "record_count": pa.array([tag.snapshot.total_rows for tag in line.tags], pa.int64()),
        "create_time": pa.array([tag.created for tag in line.tags], pa.timestamp("us")),
        "time_retained": pa.array(retained, pa.string()),
    })  # fmt: skip


def _tags_pip(line: Line, _: Heads) -> pa.Table:
    created = [None if tag.created is None else tag.created.replace(tzinfo=dt.UTC) for tag in line.tags]
    return pa.table({
        "tag_name": pa.array([tag.name for tag in line.tags], pa.string()),
        "tag_id": pa.nulls(len(line.tags), pa.int64()),
        "creation_time": pa.array([None if each is None else round(each.timestamp() * 1000) for each in created],
                                  pa.int64()),
        "tagged_snapshot_id": pa.array([tag.snapshot.id for tag in line.tags], pa.int64()),
        "schema_id": pa.array([tag.snapshot.schema_id for tag in line.tags], pa.int64()),
        "record_count": pa.array([tag.snapshot.total_rows for tag in line.tags], pa.int64()),
    })  # fmt: skip


def _manifests(table: Table, snapshot: Snapshot) -> pa.Table:
    """The manifests of the base and the delta list, in their order."""
    lists = [snapshot.fields.get(key) for key in ("baseManifestList", "deltaManifestList")]
    sizes = {entry.name: entry.size for entry in table.store.ls_if_there(layout.MANIFEST) if entry.size is not None}
    loaded = PaimonFormat.of(table.format).manifests.load(
        [name for name in lists if isinstance(name, str)], LISTED, sizes
    )
    for error in loaded.errors.values():
        raise error
    own = ("name", "bytes", "added", "deleted", "schema_id")
    names = ["file_name", "file_size", "num_added_files", "num_deleted_files", "schema_id"]
    return loaded.rows.select(list(own)).rename_columns(names)


def _statistics(table: Table, snapshot: Snapshot) -> pa.Table:
    """The results of the last ANALYZE before the version; no row if there was none."""
    document = contents.analyzed(table.store, snapshot)
    found = [] if document is None else [document]
    try:
        columns = {
            column: pa.array([each.get(key) for each in found], pa.int64()) for key, column in _STATISTICS.items()
        }
    except (pa.ArrowException, OverflowError) as error:
        raise Corrupt(
            "The statistics file should contain numbers: {error}.",
            error=error,
            path=f"{layout.STATISTICS}/{snapshot.fields['statistics']}",
            remedy="Run ANALYZE again.",
        ) from error
    return pa.table({**columns, "colstat": _json(each.get("colStats") for each in found)})


_STATISTICS = {
    "snapshotId": "snapshot_id",
    "schemaId": "schema_id",
    "mergedRecordCount": "mergedRecordCount",
    "mergedRecordSize": "mergedRecordSize",
}


def _type(field: Field) -> Any:
    try:
        return to_json(parse(field.type))
    except Unsupported:
        return field.type  # not known here


def _schemas(line: Line, _: Heads) -> pa.Table:
    found = [line.schemas[number] for number in sorted(line.schemas)]
    fields = [[{"id": field.id, "name": field.name, "type": _type(field)} for field in each.fields] for each in found]
    return pa.table({
        "schema_id": pa.array([each.id for each in found], pa.int64()),
        "fields": _json(fields),
        "partition_keys": _json([list(each.partition_keys) for each in found]),
        "primary_keys": _json([list(each.primary_keys) for each in found]),
        "options": _json([dict(each.options) for each in found]),
        "comment": pa.array([each.comment for each in found], pa.string()),
        "update_time": _times(each.time_ms for each in found),
    })  # fmt: skip


def _options(line: Line, _: Heads) -> pa.Table:
    found = sorted(line.options.items())
    return pa.table({
        "key": pa.array([key for key, _ in found], pa.string()),
        "value": pa.array([value for _, value in found], pa.string()),
    })  # fmt: skip


def _branches(_: Line, heads: Heads) -> pa.Table:
    return pa.table({"branch_name": pa.array([line.branch for line in heads.lines[1:]], pa.string())})


def _consumers(line: Line, _: Heads) -> pa.Table:
    return pa.table({
        "consumer_id": pa.array([each.name for each in line.consumers], pa.string()),
        "next_snapshot_id": pa.array([each.next_snapshot for each in line.consumers], pa.int64()),
    })  # fmt: skip


def _files(table: Table, files: pa.Table) -> pa.Table:
    """Data files with paths that other programs can open; those of external files already are."""
    paths = [path if ":" in path.split("/", 1)[0] else table.store.url(path) for path in files["path"].to_pylist()]
    files = files.set_column(files.column_names.index("path"), "path", pa.array(paths, pa.string()))
    own = ("partition", "bucket", "path", "format", "schema_id", "level", "rows", "bytes", "source")
    names = ["partition", "bucket", "file_path", "file_format", "schema_id", "level", "record_count",
             "file_size_in_bytes", "file_source"]  # fmt: skip
    return files.select(list(own)).rename_columns(names)


def _summed(files: pa.Table, by: list[str]) -> pa.Table:
    found = files.group_by(by).aggregate([("rows", "sum"), ("bytes", "sum"), ("path", "count")])
    found = found.select([*by, "rows_sum", "bytes_sum", "path_count"])
    ordered = found.rename_columns([*by, "record_count", "file_size_in_bytes", "file_count"])
    return ordered.sort_by([(name, "ascending") for name in by])


def _times(values: Iterable[int]) -> pa.Array:
    return pa.array(list(values), pa.int64()).cast(_MILLIS).cast(pa.timestamp("us", tz="UTC"))


def _json(values: Iterable[object]) -> pa.Array:
    return pa.array([json.dumps(value, ensure_ascii=False) for value in values], pa.string())


def _duration(length: dt.timedelta) -> str:
    """A duration in Java's notation: `PT36H`."""
    seconds = int(length.total_seconds())
    parts = ((seconds // 3600, "H"), (seconds % 3600 // 60, "M"), (seconds % 60, "S"))
    return "PT" + ("".join(f"{number}{unit}" for number, unit in parts if number) or "0S")


_OF_REFERENCES: Mapping[str, Callable[[Line, Heads], pa.Table]] = {
    "snapshots": _snapshots,
    "tags": _tags,
    "tags_pip": _tags_pip,
    "schemas": _schemas,
    "options": _options,
    "branches": _branches,
    "consumers": _consumers,
}
_OF_FILES: Mapping[str, Callable[[Table, pa.Table], pa.Table]] = {
    "files": _files,
    "partitions": lambda _, files: _summed(files, ["partition"]),
    "buckets": lambda _, files: _summed(files, ["partition", "bucket"]),
}
_OF_POINT: Mapping[str, Callable[[Table, Snapshot], pa.Table]] = {"manifests": _manifests, "statistics": _statistics}
KINDS = (*_OF_REFERENCES, *_OF_FILES, *_OF_POINT)
