"""Translate an edit into the requirements and updates of the REST catalog protocol. Source: pyiceberg 0.12."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from core.errors import Invalid, Unsupported
from core.formats.iceberg.metadata import Metadata
from core.formats.iceberg.write import edits
from core.model.effects import SwapMetadata

_KNOWN_OF_REF = {"snapshot-id", "type", "min-snapshots-to-keep", "max-snapshot-age-ms", "max-ref-age-ms"}
_STATISTICS = {"statistics": "RemoveStatisticsUpdate", "partition-statistics": "RemovePartitionStatisticsUpdate"}


def asking(found: Metadata, edit: SwapMetadata, where: str) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return an edit as requirements and updates for a server that writes metadata itself.

    Raises `Invalid` or `Unsupported` for what the protocol cannot express.
    """
    from pyiceberg.table import update as u

    removed, sets = dict(edit.removes), {edits.part(path): json.loads(content) for path, content in edit.sets}
    edits.edited(found, edit, found.updated_ms)  # rejects invalid edits
    if unsaid := [name or field for field, name in sets if field != "refs"]:
        raise Invalid(
            ("This run cannot be undone: a REST catalog does not accept a removed snapshot again ({unsaid})."),
            unsaid=unsaid[0],
            path=where,
            remedy="Resume the run instead.",
        )
    for (_, name), value in sets.items():
        if lost := sorted(value.keys() - _KNOWN_OF_REF):
            raise Unsupported(
                "A REST catalog would lose other fields of {name}: {lost}.",
                name=name,
                lost=", ".join(lost),
                path=where,
                remedy="Make this change with the table's own engine.",
            )
    refs = {name: ref.snapshot_id for name, ref in found.refs.items()} | {
        name: None for _, name in sets if name not in found.refs
    }
    requirements: list[Any] = [u.AssertTableUUID(uuid=found.document["table-uuid"])]
    requirements += [
        _made(u.AssertRefSnapshotId, {"ref": name, "snapshot-id": number}) for name, number in refs.items()
    ]
    removed_ids = sorted(edits.removed_snapshots(edit))
    updates: list[Any] = [
        _made(u.RemoveSnapshotRefUpdate, {"ref-name": name})
        for field, name in map(edits.part, removed)
        if field == "refs" and (field, name) not in sets
    ]
    for name, kind in _STATISTICS.items():
        listed = {each["snapshot-id"] for each in found.document.get(name) or ()}
        updates += [_made(getattr(u, kind), {"snapshot-id": number}) for number in removed_ids if number in listed]
    updates += [_made(u.SetSnapshotRefUpdate, {"ref-name": name, **value}) for (_, name), value in sets.items()]
    if removed_ids:
        updates.append(_made(u.RemoveSnapshotsUpdate, {"snapshot-ids": removed_ids}))
    return tuple(requirements), tuple(updates)


def _made(kind: Any, fields: Mapping[str, Any]) -> Any:
    """Return a requirement or an update as the protocol writes it."""
    return kind.model_validate(fields)
