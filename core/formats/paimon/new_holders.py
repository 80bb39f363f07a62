"""Whether references that were added since may hold files that nothing held before. Pure.

Writers commit newer snapshots all the time, tag the newest one, and keep the changelogs of those that they expire: such
references hold new files, and what other references held before.
"""

from __future__ import annotations

import math
from typing import Any

from core.formats.paimon import layout
from core.model.references import Heads, Snapshot

_TAGGED = ("baseManifestList", "deltaManifestList", "indexManifest", "statistics")
_CHANGES = "changelogManifestList"


def are_added(before: Heads, after: Heads) -> bool:
    """Return whether a reference was added or changed that may hold what none of `before` held."""
    seen, now = before.references, after.references
    changed = {path for path in now if now[path] != seen.get(path) and f"/{layout.CONSUMER}/" not in f"/{path}"}
    snapshots = [each for line in before.lines for each in line.snapshots]
    tagged = {_names(each) for each in (*snapshots, *(tag.snapshot for line in before.lines for tag in line.tags))}
    whole = {(*_names(each), each.fields.get(_CHANGES)) for each in snapshots}
    changes = {each.fields.get(_CHANGES) for each in snapshots}
    newest = {line.branch: line.latest.id for line in before.lines if line.latest is not None}
    for line in after.lines:
        newer = newest.get(line.branch, math.inf)
        known = {
            layout.reference(line.branch, layout.SNAPSHOT, each.id)
            for each in line.snapshots
            if each.id > newer or (*_names(each), each.fields.get(_CHANGES)) in whole
        }
        known |= {
            layout.reference(line.branch, layout.TAG, tag.name)
            for tag in line.tags
            if tag.snapshot.id > newer or _names(tag.snapshot) in tagged
        }
        if line.options.get("changelog-producer", "none") != "none":  # else it holds what the snapshot removed, too
            known |= {
                layout.reference(line.branch, layout.CHANGELOG, each.id)
                for each in line.changelogs
                if each.fields.get(_CHANGES) in changes
            }
        changed -= known
    return bool(changed)


def _names(snapshot: Snapshot) -> tuple[Any, ...]:
    """Return what a tag of this snapshot holds."""
    return tuple(snapshot.fields.get(each) for each in _TAGGED)
