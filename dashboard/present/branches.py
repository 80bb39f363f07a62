"""Branches in words, and the points that a form about them offers."""

from __future__ import annotations

from core.model import Heads, Snapshot
from dashboard.present import markup, units, words
from dashboard.present.markup import Piece


def table(heads: Heads, zone: str) -> list[list[Piece]]:
    """Of each branch its name, where it points, since when, and in Iceberg what it keeps."""
    found: list[list[Piece]] = []
    for ref in (each for each in heads.refs if each.is_branch):
        line = heads.line(ref.name)
        head = line.latest if line else None
        keeps = words.branch_keeps(ref.min_snapshots, ref.max_snapshot_age_ms, ref.max_ref_age_ms)
        found.append([markup.mono(ref.name), markup.mono(str(ref.snapshot_id)), _committed(head, zone), keeps])
    return found


def points(heads: Heads) -> list[str]:
    """Tags, branches, then snapshots, newest first."""
    snapshots = sorted(
        (each for line in heads.lines for each in line.snapshots),
        key=lambda each: (each.time_ms, each.id),
        reverse=True,
    )
    tags = [f"tag:{tag.name}" for line in heads.lines for tag in line.tags]
    return [*tags, *(f"branch:{name}" for name in heads.branches), *(str(each.id) for each in snapshots)]


def _committed(head: Snapshot | None, zone: str) -> str:
    return "—" if head is None else units.moment(head.time_ms, zone)
