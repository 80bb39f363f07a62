"""What one point of a table consists of, whatever its format: manifests, their entries, and what they say of columns.

The calls of the command line and of the dashboard both end here.
"""

from __future__ import annotations

from pathlib import PurePosixPath

import pyarrow as pa
import pyarrow.compute as pc

from core.analysis import file_health as judging
from core.analysis.file_health import Health
from core.errors import Invalid, NotFound
from core.formats.iceberg import inspection as iceberg
from core.formats.iceberg import metadata as documents
from core.formats.iceberg.format import IcebergFormat
from core.formats.iceberg.metadata import Metadata
from core.formats.iceberg.references import reference
from core.formats.paimon import inspection as paimon
from core.model.column_bounds import Bounds
from core.model.history import History
from core.model.time_travel import AsOf
from core.table import Table

MOST_FILES = 20_000  # whose statistics are decoded at once


def manifests(table: Table, history: History, point: AsOf) -> pa.Table:
    """Every manifest that a point's lists name: list, list_path, list_bytes, path, bytes, added, deleted, existing,
    schema_id. What the format does not tell is null."""
    if isinstance(table.own, IcebergFormat):
        found = _metadata(history)
        return iceberg.manifests(table.own.manifests, table.own.place(found), found, point.snapshot.id)
    return paimon.manifests(table.manifests, point.snapshot)


def entries(table: Table, history: History, point: AsOf, manifest: str) -> pa.Table:
    """The entries of one of a point's manifests: change, kind, path, bytes, rows, partition, bucket, level,
    min_sequence, max_sequence, schema_id, source, delete_rows. `NotFound` for a path that is none of them."""
    known = manifests(table, history, point)
    row = known.filter(pc.equal(known["path"], manifest)).slice(0, 1).to_pylist()
    if not row:
        raise NotFound(
            "{point} names no manifest {name!r}.",
            point=point.point,
            name=PurePosixPath(manifest).name,
            path=manifest,
            remedy="Choose one of its manifests; another point may name it.",
        )
    if isinstance(table.own, IcebergFormat):
        found = _metadata(history)
        place = table.own.place(found)
        return iceberg.entries(table.own.manifests, place, found, point.snapshot.id, manifest)
    is_index = row[0]["list"] == paimon.INDEX_KIND
    return paimon.entries(table.manifests, history.heads, manifest, is_index=is_index)


def statistics(table: Table, history: History, point: AsOf, files: pa.Table) -> tuple[Bounds, ...]:
    """What manifests say of the point's columns in these files of it. `Invalid` for more than `MOST_FILES`."""
    if len(files) > MOST_FILES:
        raise Invalid(
            "Statistics of {files:,} files were asked for; at most {most_files:,} are decoded at once.",
            files=len(files),
            most_files=MOST_FILES,
            remedy="Name a partition, or one file.",
        )
    if isinstance(table.own, IcebergFormat):
        found = _metadata(history)
        place = table.own.place(found)
        files = files.filter(pc.equal(files["content"], "data"))
        return iceberg.statistics(table.own.manifests, place, found, point.snapshot.id, files, point.schema)
    line = history.heads.line(point.branch) or history.heads.main
    schemas = {**history.heads.main.schemas, **line.schemas}
    return paimon.statistics(table.manifests, point.snapshot, files, point.schema, schemas)


def health(table: Table, history: History, point: AsOf) -> Health:
    """Figures of the files live at a point, by the options it was written under."""
    files = history.files_at(history.require(point.point))
    if table.own is not None:
        return judging.health(files, history.heads.format, history.heads.main.options)
    keyed = bool(point.schema.primary_keys)
    told = files if keyed else files.slice(0, 0)  # where rows have no key, only deletion vectors take them away
    away = paimon.retractions(table.manifests, history.heads, point.snapshot, told)
    return judging.health(files, history.heads.format, point.schema.options, keyed=keyed, retractions=away)


def analyzed(table: Table, history: History, point: AsOf) -> dict[str, str]:
    """What the last ANALYZE that a point names has counted, by name; empty where it names none. Of Iceberg, whose
    statistics lie in Puffin files, which files the snapshot has."""
    if table.own is not None:
        found = [(path, size) for number, path, size in _metadata(history).statistics if number == point.snapshot.id]
        return {PurePosixPath(path).name: f"{size:,} bytes" for path, size in found}
    told = paimon.analyzed(table.store, point.snapshot)
    if told is None:
        return {}
    names = {"snapshotId": "snapshot", "mergedRecordCount": "rows", "mergedRecordSize": "bytes"}
    counted = {name: f"{told[key]:,}" for key, name in names.items() if isinstance(told.get(key), int)}
    columns = told.get("colStats")
    for column, said in sorted(columns.items()) if isinstance(columns, dict) else ():
        parts = [f"{key} {value}" for key, value in said.items() if key != "colId"] if isinstance(said, dict) else []
        counted[str(column)] = ", ".join(parts)
    return counted


def _metadata(history: History) -> Metadata:
    return documents.of(history.heads.document, history.heads.references[reference("file")].decode())
