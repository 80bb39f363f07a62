"""Automatic tags and CALLs: what is due, when the next ones come, what a procedure would do."""

from __future__ import annotations

from core.formats.paimon.plan.automatic_tags import AutomaticTagRules, Coming
from dashboard.formatting import units
from dashboard.formatting.language import N_, _

AUTO_TAGS = N_("Automatic tags")
AUTO_DUE = N_("Make the tags that are due")
AUTO_NONE_DUE = N_("No tag is due.")
TAGS_OVER = N_("Tags whose time is over")
TAGS_OVER_GO = N_("Delete them")
AUTO_HEADS = (N_("Next tag"), N_("Cut from"))
AUTO_AT_ONCE = N_("the next commit")
CALL_NONE = N_("Nothing would change.")
CALL_DRY = N_("The CALL asks for a dry run: nothing is carried out.")
CALL_TEACH = N_("A CALL shows its plan first; it is carried out by the button below, and kept in the audit.")
TAG_TIME = N_("From a time")
TAG_TIME_HINT = "2026-11-01T00:00:00Z"
TAG_TIME_HELP = N_(
    "Names the first snapshot committed at or after this time, as the engine does where it makes a "
    "tag from a time; time travel to the same time goes to the last one before it. Blank: the "
    "snapshot beside."
)


def auto_rules(of: AutomaticTagRules) -> str:
    if of.mode == "batch":
        return _("A tag after each batch write: {batch_name}.", batch_name=of.batch_name or "batch-write-DATE")
    clock = _("watermarks") if of.mode == "watermark" else _("commit times")
    delay = _(", {delay} after its end", delay=units.duration(of.delay_ms)) if of.delay_ms else ""
    kept = "" if of.retained_max is None else _(" The newest {retained_max} stay.", retained_max=of.retained_max)
    return _(
        "A tag every {period} by {clock}{delay}.{kept}",
        period=units.duration(of.period_ms),
        clock=clock,
        delay=delay,
        kept=kept,
    )


def auto_next(each: Coming, mode: str, zone: str) -> str:
    if each.is_due:
        return _(AUTO_AT_ONCE)
    by = _("a watermark of ") if mode == "watermark" else ""
    return _("the first commit from {by}{due} on", by=by, due=units.moment(each.due_ms, zone))


def and_so_many_more(count: int) -> str:
    return _("… and {tags} more.", tags=units.plural(count, "tag"))
