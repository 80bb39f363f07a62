"""Write the metadata of one large table of each format, without its data files: many snapshots, tags and live files.

Every commit adds as many files; every tenth also deletes those of the commit five before it. Manifests are merged as
by the formats' own writers: every 30 (Paimon) or 100 (Iceberg) small ones into one. The last commit is written but not
published: `publish` makes it the newest, `retract` takes that back.
"""

from __future__ import annotations

import json
import os
import uuid
from pathlib import Path
from typing import Any

from core.formats.iceberg.manifests import ADDED
from core.formats.iceberg.write import manifest_encoding as iceberg
from core.formats.paimon import binary_row
from core.formats.paimon.write import manifest_encoding as paimon

DAYS = [f"2026-{month:02d}-{day:02d}" for month in range(1, 13) for day in range(1, 29)]
DELETES, BEHIND = 10, 5  # every tenth commit deletes the files of the one five before it
AT_ONCE = {"paimon": 30, "iceberg": 100}
FIRST_ID = 4_711_000_000_000_000_001  # Iceberg's ids are random numbers of this size


def _each(files: int, snapshots: int) -> int:
    return max(1, round(files / snapshots * DELETES / (DELETES - 1)))


def _tagged(snapshots: int, tags: int) -> set[int]:
    return {1 + number * snapshots // max(tags, 1) for number in range(tags)}


def publish(table: Path) -> None:
    """Publish the last commit of the table, of whichever format."""
    os.replace(_waiting(table), _last(table))
    if (hint := table / "metadata" / "version-hint.text").exists():
        hint.write_text("2")


def retract(table: Path) -> None:
    """Take `publish` back."""
    if (hint := table / "metadata" / "version-hint.text").exists():
        hint.write_text("1")
    os.replace(_last(table), _waiting(table))


def _waiting(table: Path) -> Path:
    return table.with_name(f"{table.name}.waiting")


def _last(table: Path) -> Path:
    """Return where the last commit is published."""
    if (table / "metadata").exists():
        return table / "metadata" / "v2.metadata.json"
    return table / "snapshot" / f"snapshot-{int((table / 'snapshot' / 'LATEST').read_text()) + 1}"


def paimon_table(table: Path, files: int, snapshots: int, tags: int) -> None:
    schema = {
        "version": 3, "id": 0, "highestFieldId": 1, "partitionKeys": ["dt"], "primaryKeys": [], "timeMillis": 0,
        "fields": [{"id": 0, "name": "id", "type": "BIGINT"}, {"id": 1, "name": "dt", "type": "STRING"}],
        "options": {"bucket": "-1"},
    }  # fmt: skip
    for folder in ("schema", "snapshot", "tag", "manifest"):
        (table / folder).mkdir(parents=True)
    (table / "schema" / "schema-0").write_text(json.dumps(schema))
    each, tagged = _each(files, snapshots), _tagged(snapshots, tags)
    parts = [binary_row.encode([day], ["STRING"]) for day in DAYS]

    def written(records: list[Any]) -> tuple[list[Any], Any]:
        name = f"manifest-{uuid.uuid4()}-0"
        data = paimon.manifest(name, records)
        (table / "manifest" / name).write_bytes(data)
        return records, paimon.listed(name, len(data), records, 0, ["STRING"])

    def listed(rows: list[Any]) -> tuple[str, int]:
        name = f"manifest-list-{uuid.uuid4()}-0"
        data = paimon.manifest_list(name, rows)
        (table / "manifest" / name).write_bytes(data)
        return name, len(data)

    merged: list[Any] = []
    small: list[tuple[list[Any], Any]] = []
    recent: list[list[Any]] = []
    total = 0
    for number in range(1, snapshots + 2):
        base = listed(merged + [row for _, row in small])
        day = number * len(DAYS) // (snapshots + 2)
        added = [paimon.added(data_file(parts[day], DAYS[day], each * number + n), ["BIGINT", "STRING"])
                 for n in range(each)]  # fmt: skip
        deleted = [paimon.deleted(entry) for entry in recent[-BEHIND]] if number % DELETES == 0 else []
        recent = [*recent[-DELETES:], added]
        own = written(deleted + added)
        delta = listed([own[1]])
        total += 10 * (len(added) - len(deleted))
        small.append(own)
        if len(small) >= AT_ONCE["paimon"]:
            merged.append(written(paimon.merged(entry for records, _ in small for entry in records))[1])
            small = []
        snapshot = {
            "version": 3, "id": number, "schemaId": 0, "baseManifestList": base[0], "baseManifestListSize": base[1],
            "deltaManifestList": delta[0], "deltaManifestListSize": delta[1], "changelogManifestList": None,
            "commitUser": "8c33d0c4-5b3a-4f57-a0ab-2f04e1a0a0a0", "commitIdentifier": number, "commitKind": "APPEND",
            "timeMillis": 1_700_000_000_000 + number * 60_000, "totalRecordCount": total,
            "deltaRecordCount": 10 * (len(added) - len(deleted)),
        }  # fmt: skip
        text = json.dumps(snapshot, indent=2)
        published = table / "snapshot" / f"snapshot-{number}"
        (_waiting(table) if number > snapshots else published).write_text(text)
        if number in tagged:
            (table / "tag" / f"tag-t{number:06d}").write_text(text)
    (table / "snapshot" / "EARLIEST").write_text("1")
    (table / "snapshot" / "LATEST").write_text(str(snapshots))


def data_file(partition: bytes, day: str, number: int) -> paimon.NewDataFile:
    """A data file of one partition, with bounds of both columns."""
    return paimon.NewDataFile(
        partition=partition,
        path=f"dt={day}/bucket-0/data-{uuid.uuid4()}-0.parquet",
        size_bytes=1000 + number,
        rows=10,
        schema_id=0,
        stats=paimon.SimpleStats([number, day], [number + 9, day], [0, 0]),
        source=0,
        created_ms=0,
    )


def iceberg_table(table: Path, files: int, snapshots: int, tags: int) -> None:
    fields = [
        {"id": 1, "name": "id", "type": "long", "required": False},
        {"id": 2, "name": "dt", "type": "string", "required": False},
    ]
    schema = {"type": "struct", "schema-id": 0, "fields": fields}
    parts = [{"source-id": 2, "field-id": 1000, "name": "dt", "transform": "identity"}]
    spec = iceberg.Spec(0, parts, {"dt": "string"})
    (table / "metadata").mkdir(parents=True)
    each, tagged = _each(files, snapshots), _tagged(snapshots, tags)

    def written(entries: list[Any], own: int, number: int) -> Any:
        path = table / "metadata" / f"{uuid.uuid4()}-m0.avro"
        path.write_bytes(iceberg.manifest(str(path), entries, schema, spec))
        return iceberg.listed(str(path), path.stat().st_size, entries, spec, own, number)

    merged: list[Any] = []
    small: dict[int, tuple[list[Any], Any]] = {}
    documents, refs, log = [], {}, []
    for number in range(1, snapshots + 2):
        own = FIRST_ID + number * 7_919
        day = DAYS[number * len(DAYS) // (snapshots + 2)]
        added = [iceberg.ManifestEntry(ADDED, own, None, content_file(table, day, each * number + n))
                 for n in range(each)]  # fmt: skip
        once = []
        if number % DELETES == 0 and number - BEHIND in small:
            entries, _ = small.pop(number - BEHIND)
            once = [written([entry.deleted(own, number - BEHIND) for entry in entries], own, number)]
        small[number] = added, written(added, own, number)
        if len(small) >= AT_ONCE["iceberg"]:
            merged_entries = [entry.existing(at) for at, (entries, _) in small.items() for entry in entries]
            merged.append(written(merged_entries, own, number))
            small = {}
        listed = table / "metadata" / f"snap-{own}-1-{uuid.uuid4()}.avro"
        rows = [*merged, *(row for _, row in small.values()), *once]
        parent = own - 7_919 if number > 1 else None
        listed.write_bytes(iceberg.manifest_list(str(listed), rows, own, parent, number))
        snapshot = {
            "snapshot-id": own, "sequence-number": number, "timestamp-ms": 1_700_000_000_000 + number * 60_000,
            "manifest-list": str(listed), "schema-id": 0,
            "summary": {"operation": "overwrite" if once else "append", "added-data-files": str(each),
                        "added-records": str(10 * each), "total-delete-files": "0"},
        } | ({} if parent is None else {"parent-snapshot-id": parent})  # fmt: skip
        documents.append(snapshot)
        log.append({"snapshot-id": own, "timestamp-ms": snapshot["timestamp-ms"]})
        if number in tagged:
            refs[f"t{number:06d}"] = {"snapshot-id": own, "type": "tag"}
        if number < snapshots:
            continue
        metadata = {
            "format-version": 2, "table-uuid": str(uuid.UUID(int=7)), "location": str(table),
            "last-sequence-number": number, "last-updated-ms": snapshot["timestamp-ms"], "last-column-id": 2,
            "current-schema-id": 0, "schemas": [schema], "default-spec-id": 0,
            "partition-specs": [{"spec-id": 0, "fields": parts}], "last-partition-id": 1000,
            "default-sort-order-id": 0, "sort-orders": [{"order-id": 0, "fields": []}], "properties": {},
            "current-snapshot-id": own, "refs": {"main": {"snapshot-id": own, "type": "branch"}, **refs},
            "snapshots": documents, "statistics": [], "snapshot-log": log, "metadata-log": [],
        }  # fmt: skip
        version = number - snapshots + 1
        published = table / "metadata" / f"v{version}.metadata.json"
        (_waiting(table) if number > snapshots else published).write_text(json.dumps(metadata))
    (table / "metadata" / "version-hint.text").write_text("1")


def content_file(table: Path, day: str, number: int) -> iceberg.NewContentFile:
    """A data file of one partition, with bounds of both columns."""
    return iceberg.NewContentFile(
        path=f"{table}/data/dt={day}/{uuid.uuid4()}-{number:08d}.parquet",
        rows=10,
        size=1000 + number,
        partition={"dt": day},
        columns={
            1: iceberg.ColumnMetrics(400, 0, iceberg.stored(number, "long"), iceberg.stored(number + 9, "long")),
            2: iceberg.ColumnMetrics(40, 0, day.encode(), day.encode()),
        },
    )
