"""Snapshots, tags and errors as plain JSON values; separate from other answers, so that lists import nothing else.

Ids are integers here. Names of snapshot fields are the format's own in snake case.
"""

from __future__ import annotations

import re
from typing import Any

from core.errors import SnapscopeError
from core.model.references import MAIN, Heads, Line, Problem, Snapshot

Json = dict[str, Any]
SEED_FIELDS = (
    "version",
    "id",
    "schema_id",
    "base_manifest_list",
    "delta_manifest_list",
    "changelog_manifest_list",
    "index_manifest",
    "commit_user",
    "commit_identifier",
    "commit_kind",
    "time_millis",
    "log_offsets",
    "total_record_count",
    "delta_record_count",
    "changelog_record_count",
    "watermark",
    "statistics",
)


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).replace("-", "_").lower()


def snapshot(value: Snapshot) -> Json:
    """The specification's fields in its order (null if missing), then all other fields in the file."""
    own = {snake(name): content for name, content in value.fields.items()}
    if "snapshot_id" in own:  # Iceberg: its own fields, and a note
        return {"id": value.id, **own, "note": value.note or None}
    own["watermark"] = value.watermark
    return {**{name: own.get(name) for name in SEED_FIELDS}, **own}


def snapshots(line: Line) -> list[Json]:
    """One object per snapshot; for an unreadable one its `id` and the `error`."""
    return [*(snapshot(each) for each in line.snapshots), *_unreadable(line, "snapshot", "id")]


def tags(line: Line) -> list[Json]:
    """One object per tag: its name, its expiration in the writer's wall clock, then its snapshot's fields.

    For an unreadable tag: its name and the `error`.
    """
    readable = [
        {"tag_name": tag.name, "expires": tag.expires.isoformat() if tag.expires else None, **snapshot(tag.snapshot)}
        for tag in line.tags
    ]
    return [*readable, *_unreadable(line, "tag", "tag_name")]


def branches(heads: Heads) -> list[Json]:
    """All branches with their newest snapshots; the last three values are an Iceberg branch's own retention."""
    refs = {each.name: each for each in heads.refs if each.is_branch}
    found = []
    for name in (MAIN, *heads.branches):
        line, ref = heads.line(name), refs.get(name)
        head = line.latest if line else None
        found.append(
            {
                "branch": name,
                "snapshot": head.id if head else ref.snapshot_id if ref else None,
                "committed_ms": head.time_ms if head else None,
                "snapshots": len(line.snapshots) if line else 0,
                "min_snapshots_to_keep": ref.min_snapshots if ref else None,
                "max_snapshot_age_ms": ref.max_snapshot_age_ms if ref else None,
                "max_ref_age_ms": ref.max_ref_age_ms if ref else None,
            }
        )
    return found


def _unreadable(line: Line, kind: str, key: str) -> list[Json]:
    return [
        {key: int(each.name) if key == "id" and each.name.isdecimal() else each.name, **problem(each.problem)}
        for each in line.unreadable
        if each.kind == kind
    ]


def problem(value: Problem) -> Json:
    """What could not be read, in the form of an error."""
    message = f"{value.path}: expected {value.expected}, found {value.found}."
    return {
        "error": {
            "kind": "Corrupt",
            "code": value.code,
            "message": message,
            "path": value.path,
            "remedy": value.remedy or None,
        }
    }


def error(value: SnapscopeError) -> Json:
    return {
        "error": {
            "kind": value.kind,
            "code": value.code,
            "message": value.message,
            "path": value.path,
            "remedy": value.remedy,
        }
    }
