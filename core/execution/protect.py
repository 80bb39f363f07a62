"""Pin a snapshot for a limited time: a tag with a retention, so that no expiry deletes its files.

Invariant: such tags are named `protect-SNAPSHOT-MILLISECONDS`; any engine that commits deletes them once their
retention has passed.
"""

from __future__ import annotations

from core.execution.apply import apply
from core.model.actions import CreateTag
from core.model.references import MAIN, Heads
from core.model.time_travel import AsOf
from core.table import Table

DAYS_MS = 7 * 86_400_000  # the default retention


def protection(table: Table, point: AsOf, kept_ms: int, now_ms: int, *, verified: bool = True) -> CreateTag:
    """The tag that keeps a version for `kept_ms` from now. `verified`: every one of its files must exist."""
    since_ms = max(0, now_ms - point.snapshot.time_ms) if table.capabilities.tags_age_with_snapshots else 0
    name = f"{_before_time(point)}{now_ms}"
    return CreateTag(name, point.snapshot.id, kept_ms + since_ms, point.branch, verified)


def pins(heads: Heads, point: AsOf) -> list[str]:
    """The names of the temporary tags that a snapshot has, oldest first."""
    lines = [heads.require(point.branch)] if heads.capabilities.branches_are_directories else heads.lines
    return [tag.name for line in lines for tag in line.tags if tag.name.startswith(_before_time(point))]


def hold(table: Table, point: AsOf, kept_ms: int, now_ms: int) -> str:
    """Tag a version immediately for a query that is about to read it; return the tag as a POINT."""
    tag = protection(table, point, kept_ms, now_ms, verified=False)  # the query itself reports missing files
    apply(table, table.preview(tag, now_ms))
    return f"tag:{tag.name}" if point.branch == MAIN else f"branch:{point.branch}/tag:{tag.name}"


def _before_time(point: AsOf) -> str:
    return f"protect-{point.snapshot.id}-"
