"""The positions of a table's history: every holder in a fixed order. Pure.

Invariant: the order depends only on branch, kind and id, so the same references give the same positions.
"""

from __future__ import annotations

from collections.abc import Mapping

from core.formats.paimon import layout
from core.model.references import Heads, Holder, HolderKind, Line, Snapshot


def has_changelogs(heads: Heads) -> bool:
    """Return whether any branch keeps long-lived changelogs, by its options or on disk."""
    return any(line.changelogs or _may_keep_changelogs(line.options) for line in heads.lines)


def _may_keep_changelogs(options: Mapping[str, str]) -> bool:
    """Return whether any changelog retention option is set; extra positions for changelogs change no answer."""
    return any(key.startswith(("changelog.num-retained", "changelog.time-retained")) for key in options)


def axis(heads: Heads, *, changelogs: bool) -> tuple[Holder, ...]:
    """Return all positions: per branch its snapshots and tags by snapshot id, then its long-lived changelogs by id.

    With `changelogs`, each snapshot also gets a position for the changelog that an expiry may leave behind.
    """
    return tuple(holder for line in heads.lines for holder in _line_axis(line, changelogs))


def _line_axis(line: Line, changelogs: bool) -> list[Holder]:
    def holder(kind: HolderKind, name: str, snapshot: Snapshot | None, exists: bool = True) -> Holder:
        path = layout.reference(line.branch, kind.value, name)
        return Holder(kind, line.branch, name, snapshot, path, exists)

    views = [(snapshot.id, 0, holder(HolderKind.SNAPSHOT, str(snapshot.id), snapshot)) for snapshot in line.snapshots]
    views += [(tag.snapshot.id, 1, holder(HolderKind.TAG, tag.name, tag.snapshot)) for tag in line.tags]
    kept = [(each.id, 0, holder(HolderKind.CHANGELOG, str(each.id), each)) for each in line.changelogs]
    for each in line.unreadable:
        if each.kind == layout.SNAPSHOT:
            views.append((int(each.name), 0, holder(HolderKind.SNAPSHOT, each.name, None)))
        elif each.kind == layout.TAG:
            views.append((-1, 1, holder(HolderKind.TAG, each.name, None)))
        elif each.kind == layout.CHANGELOG:
            kept.append((int(each.name), 0, holder(HolderKind.CHANGELOG, each.name, None)))
    if changelogs:
        there = {key[0] for key in kept}
        kept += [
            (each.id, 0, holder(HolderKind.CHANGELOG, str(each.id), each, exists=False))
            for each in line.snapshots
            if each.id not in there
        ]
    ordered = [*sorted(views, key=lambda key: (key[0], key[1], key[2].name)), *sorted(kept, key=lambda key: key[0])]
    return [key[2] for key in ordered]
