"""References that are added to a table: whether they may hold files that nothing held before, and which files. Pure.

Writers commit newer snapshots all the time, tag the newest one, and keep the changelogs of those that they expire: such
references hold new files, and what other references held before.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping
from typing import Any

from core.formats.paimon import layout
from core.formats.paimon.references import schema_of, snapshot_of, tag_of
from core.model.references import MAIN, Heads, Line, Schema, Snapshot

_TAGGED = ("baseManifestList", "deltaManifestList", "indexManifest", "statistics")
_CHANGES = "changelogManifestList"
_PATH = re.compile(r"(?:branch/branch-(?P<branch>.+?)/)?(?P<kind>[a-z]+)/(?P=kind)-(?P<name>.+)")


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


def alone(heads: Heads, contents: Mapping[str, bytes]) -> Heads:
    """Return a table that has only the snapshots, tags and changelogs among these files (path → bytes), and besides
    its schemas those among them. Raises `Corrupt` for a file that cannot be parsed."""
    lines = {line.branch: _bare(line.branch, line.schemas) for line in heads.lines}
    for path, content in contents.items():
        if (found := _PATH.fullmatch(path)) is None:
            continue
        branch, kind, name = found["branch"] or MAIN, found["kind"], found["name"]
        line = lines.get(branch) or _bare(branch, {})
        match kind:
            case layout.SNAPSHOT:
                line = dataclasses.replace(line, snapshots=(*line.snapshots, snapshot_of(name, content, path)))
            case layout.CHANGELOG:
                line = dataclasses.replace(line, changelogs=(*line.changelogs, snapshot_of(name, content, path)))
            case layout.TAG:
                line = dataclasses.replace(line, tags=(*line.tags, tag_of(name, content, path)))
            case layout.SCHEMA:
                line = dataclasses.replace(line, schemas={**line.schemas, int(name): schema_of(name, content, path)})
            case _:
                continue  # holds nothing
        lines[branch] = line
    return dataclasses.replace(heads, lines=tuple(lines.values()), references=contents)


def _bare(branch: str, schemas: Mapping[int, Schema]) -> Line:
    return Line(branch, snapshots=(), tags=(), changelogs=(), consumers=(), schemas=schemas)


def _names(snapshot: Snapshot) -> tuple[Any, ...]:
    """Return what a tag of this snapshot holds."""
    return tuple(snapshot.fields.get(each) for each in _TAGGED)
