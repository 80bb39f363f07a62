"""As of: which snapshot a reader at a moment saw."""

from __future__ import annotations

from dashboard.present import units

ASOF_INPUT = "Time or point"
ASOF_PLACEHOLDER = (
    "2026-11-01 08:00, time:2026-11-01T00:00:00Z, tag:v1, 12, latest~3, branch:dev, watermark:1700000000000"
)
ASOF_TEACH = (
    "Paste a time from a log, an incident or a report, or name a point. The answer is the snapshot a reader at that "
    "moment saw, why that one, and what lies on both sides of it."
)
ASOF_BEFORE = "Before"
ASOF_THIS = "As of then"
ASOF_AFTER = "After"
ASOF_NOTHING_BEFORE = "Nothing earlier is retained."
ASOF_NOTHING_AFTER = "Nothing newer: this is the latest."
ASOF_RULE = "Why this one"
ASOF_ENGINE = "Paimon's own answer"
ASOF_EXAMPLES = "For example"


def asof_gap(gap_ms: int) -> str:
    if gap_ms == 0:
        return "Committed at exactly the time asked for."
    return f"Committed {units.duration(gap_ms)} before the time asked for."


def asof_engine(engine: int | None, note: str | None, ours: int) -> str:
    if note:
        return note
    what = "nothing" if engine is None else f"snapshot {engine}"
    return f"Paimon's own search answers {what} here, not {ours}."


ASOF_GAP = "Gap"
ASKED = "asked"
