"""On which days there were commits."""

from __future__ import annotations

from collections import Counter

from core.model.references import Heads, Line
from dashboard.formatting import units


def days(heads: Heads, zone: str, line: Line | None = None) -> Counter[str]:
    """Count the commits of each day, as `2026-11-24` in the reader's zone: of all branches, or of one line."""
    lines = heads.lines if line is None else (line,)
    moments = {(of.id, of.time_ms) for each in lines for of in (*each.snapshots, *(tag.snapshot for tag in each.tags))}
    found = (units.when(time_ms, zone) for _id, time_ms in moments)
    return Counter(at.date().isoformat() for at in found if at is not None)
