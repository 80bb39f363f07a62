"""Small but complete metadata.json documents for tests, one per format version."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
SCHEMA: Json = {
    "type": "struct",
    "schema-id": 0,
    "identifier-field-ids": [1],
    "fields": [
        {"id": 1, "name": "id", "required": True, "type": "long"},
        {"id": 2, "name": "dt", "required": False, "type": "string", "doc": "the day"},
    ],
}
SPEC: Json = {"spec-id": 0, "fields": [{"name": "dt", "transform": "identity", "source-id": 2, "field-id": 1000}]}


def snapshot(number: int, parent: int | None, time_ms: int, location: str, **more: Any) -> Json:
    own = {"snapshot-id": number, "timestamp-ms": time_ms, "schema-id": 0, "sequence-number": number}
    own |= {} if parent is None else {"parent-snapshot-id": parent}
    path = f"{location}/metadata/snap-{number}.avro"
    return {**own, "summary": {"operation": "append"}, "manifest-list": path, **more}


def document(version: int = 2, location: str = "file:/tmp/t", **more: Any) -> Json:
    """Create a document with two snapshots on main and a tag on the first."""
    found: Json = {
        "format-version": version,
        "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
        "location": location,
        "last-updated-ms": 2000,
        "last-column-id": 2,
        "current-schema-id": 0,
        "schemas": [SCHEMA],
        "default-spec-id": 0,
        "partition-specs": [SPEC],
        "last-partition-id": 1000,
        "default-sort-order-id": 0,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "properties": {},
        "current-snapshot-id": 2,
        "refs": {"main": {"snapshot-id": 2, "type": "branch"}, "v1": {"snapshot-id": 1, "type": "tag"}},
        "snapshots": [snapshot(1, None, 1000, location), snapshot(2, 1, 2000, location)],
        "snapshot-log": [
            {"timestamp-ms": 1000, "snapshot-id": 1},
            {"timestamp-ms": 2000, "snapshot-id": 2},
        ],
        "metadata-log": [],
    }
    if version >= 2:
        found["last-sequence-number"] = 2
    if version >= 3:
        found["next-row-id"] = 0
    if version == 1:
        found |= {"schema": SCHEMA, "partition-spec": SPEC["fields"]}
    return {**found, **more}
