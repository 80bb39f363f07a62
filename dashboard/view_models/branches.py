"""Branches as text, and the versions that branch forms offer."""

from __future__ import annotations

from core.model.plan import Plan
from core.model.references import Heads, Snapshot
from dashboard import words
from dashboard.formatting import markup, units
from dashboard.formatting.markup import Piece

SHOWN = 200


def table(heads: Heads, zone: str) -> list[list[Piece]]:
    """List the branches: name, snapshot, its time, and the branch's retention or number of snapshots."""
    if not heads.capabilities.refs_have_retention:
        return [_row(line.branch, line.latest, zone, words.branch_holds(line)) for line in heads.lines]
    found: list[list[Piece]] = []
    for ref in (each for each in heads.refs if each.is_branch):
        line = heads.line(ref.name)
        keeps = words.branch_keeps(ref.min_snapshots, ref.max_snapshot_age_ms, ref.max_ref_age_ms)
        found.append(_row(ref.name, line.latest if line else None, zone, keeps))
    return found


def _row(name: str, head: Snapshot | None, zone: str, keeps: str) -> list[Piece]:
    number = "—" if head is None else str(head.id)
    committed = "—" if head is None else units.moment(head.time_ms, zone)
    return [markup.mono(name), markup.mono(number), committed, keeps]


def orphans(plan: Plan) -> list[list[Piece]]:
    """List the first files that no version holds after a plan: path, kind and size."""
    return [
        [markup.mono(each["path"]), each["kind"], markup.size(each["bytes"] or 0)]
        for each in plan.orphans.slice(0, SHOWN).to_pylist()
    ]
