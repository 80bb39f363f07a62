"""Automatic tags and CALLs: what is due, when the next ones come, what a procedure would do."""

from __future__ import annotations

from core.formats.paimon.plan.automatic_tags import AutomaticTagRules, Coming
from dashboard.formatting import units

AUTO_TAGS = "Automatic tags"
AUTO_DUE = "Make the tags that are due"
AUTO_NONE_DUE = "No tag is due."
TAGS_OVER = "Tags whose time is over"
TAGS_OVER_GO = "Delete them"
AUTO_HEADS = ("Next tag", "Cut from")
AUTO_AT_ONCE = "the next commit"
CALL_NONE = "Nothing would change."
CALL_DRY = "The CALL asks for a dry run: nothing is carried out."
CALL_TEACH = "A CALL shows its plan first; it is carried out by the button below, and kept in the audit."
TAG_TIME = "From a time"
TAG_TIME_HINT = "2026-11-01T00:00:00Z"
TAG_TIME_HELP = (
    "Names the first snapshot committed at or after this time, as the engine does where it makes a tag from a time; "
    "time travel to the same time goes to the last one before it. Blank: the snapshot beside."
)


def auto_rules(of: AutomaticTagRules) -> str:
    if of.mode == "batch":
        return f"A tag after each batch write: {of.batch_name or 'batch-write-DATE'}."
    clock = "watermarks" if of.mode == "watermark" else "commit times"
    delay = f", {units.duration(of.delay_ms)} after its end" if of.delay_ms else ""
    kept = "" if of.retained_max is None else f" The newest {of.retained_max} stay."
    return f"A tag every {units.duration(of.period_ms)} by {clock}{delay}.{kept}"


def auto_next(each: Coming, mode: str, zone: str) -> str:
    if each.is_due:
        return AUTO_AT_ONCE
    by = "a watermark of " if mode == "watermark" else ""
    return f"the first commit from {by}{units.moment(each.due_ms, zone)} on"


def and_so_many_more(count: int) -> str:
    return f"… and {units.plural(count, 'tag')} more."
