"""Automatic tags and CALL statements: tags that are due, the next dates, and the effect of a procedure."""

from __future__ import annotations

from core.formats.paimon.plan.automatic_tags import AutomaticTagRules, Coming
from dashboard.formatting import units
from dashboard.formatting.language import N_, _

AUTO_TAGS = N_("Automatic tags")
AUTO_DUE = N_("Create due tags")
AUTO_NONE_DUE = N_("No tag is due.")
TAGS_OVER = N_("Expired tags")
TAGS_OVER_GO = N_("Delete them")
AUTO_HEADS = (N_("Next tag"), N_("Created from"))
AUTO_AT_ONCE = N_("the next commit")
CALL_NONE = N_("Nothing would change.")
CALL_DRY = N_("The CALL requests a dry run: nothing is run.")
CALL_TEACH = N_("A CALL shows its plan first. The button below runs it, and the audit records it.")
TAG_TIME = N_("From a time")
TAG_TIME_HINT = "2026-11-01T00:00:00Z"
TAG_TIME_HELP = N_(
    "Tags the first snapshot committed at or after this time, as the engine does when it "
    "creates a tag from a time; time travel to the same time reads the last snapshot at or "
    "before it. Blank: the snapshot chosen beside it."
)


def auto_rules(of: AutomaticTagRules) -> str:
    if of.mode == "batch":
        return _("Creates a tag after each batch write: {batch_name}.", batch_name=of.batch_name or "batch-write-DATE")
    clock = _("watermarks") if of.mode == "watermark" else _("commit times")
    delay = _(", {delay} after the period ends", delay=units.duration(of.delay_ms)) if of.delay_ms else ""
    kept = "" if of.retained_max is None else _(" The newest {retained_max} are kept.", retained_max=of.retained_max)
    return _(
        "Creates a tag every {period}, by {clock}{delay}.{kept}",
        period=units.duration(of.period_ms),
        clock=clock,
        delay=delay,
        kept=kept,
    )


def auto_next(each: Coming, mode: str, zone: str) -> str:
    if each.is_due:
        return _(AUTO_AT_ONCE)
    by = _("a watermark of ") if mode == "watermark" else ""
    return _("the first commit at or after {by}{due}", by=by, due=units.moment(each.due_ms, zone))


def more_not_listed(count: int) -> str:
    return _("… and {tags} more.", tags=units.plural(count, "tag"))
