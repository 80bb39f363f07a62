"""Keeping a point for a while: a tag with a retention, so that no expiry takes its files away.

Law: such tags have one name, `protect-SNAPSHOT-MILLISECONDS`; any engine that commits deletes them once their time is
over.
"""

from __future__ import annotations

from core.execution.apply import apply
from core.model.actions import CreateTag
from core.model.references import MAIN
from core.model.time_travel import AsOf
from core.table import Table

DAYS_MS = 7 * 86_400_000  # for how long, where nobody says


def protection(table: Table, point: AsOf, kept_ms: int, now_ms: int, *, verified: bool = True) -> CreateTag:
    """The tag that keeps a point for so long from now. `verified`: every one of its files must be there."""
    since_ms = max(0, now_ms - point.snapshot.time_ms) if table.capabilities.tags_age_with_snapshots else 0
    name = f"protect-{point.snapshot.id}-{now_ms}"
    return CreateTag(name, point.snapshot.id, kept_ms + since_ms, point.branch, verified)


def hold(table: Table, point: AsOf, kept_ms: int, now_ms: int) -> str:
    """Tag a point at once, for a query that is about to read it; answers the tag as a point."""
    asked = protection(table, point, kept_ms, now_ms, verified=False)  # the query says itself which files are missing
    apply(table, table.preview(asked, now_ms))
    return f"tag:{asked.name}" if point.branch == MAIN else f"branch:{point.branch}/tag:{asked.name}"
