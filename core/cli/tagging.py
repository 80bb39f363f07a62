"""Automatic tags by the table's own options, for schedulers: create those that are due, delete those that expired."""

from __future__ import annotations

from typing import Any

from core.cli import running
from core.cli import text as texts
from core.cli.arguments import Args
from core.cli.output import grid, say
from core.execution import automatic_tags
from core.execution.automatic_tags import Tagging
from core.formats.paimon.plan.automatic_tags import AutomaticTagRules
from core.messages import sentences
from core.model.time_travel import in_words, parse_time_ms
from core.reports import json as answers
from core.table import open_table
from core.units import duration

Answer = tuple[Any, str]


def auto_tag(args: Args) -> Answer:
    """Create the automatic tags that are due; with --dry-run only list them, and when the next ones are due."""
    table = open_table(args.table)
    tagging = automatic_tags.automatic(table, table.history(), running.now_ms(args), args.branch)
    document, shown = answers.tagging(tagging), of_tagging(tagging)
    if args.dry_run:
        return document, shown
    if not args.json:
        say(shown)
    receipts, text = running.carry_out(args, table, tagging.plans, tagging.fingerprint)
    return {**document, "receipts": receipts}, text


def expire_tags(args: Args) -> Answer:
    """Delete the tags whose retention has passed; with --dry-run only list them."""
    table = open_table(args.table)
    older_ms = None if args.older_than is None else parse_time_ms(args.older_than)
    plan, unknown_age = automatic_tags.ended(table, table.history(), running.now_ms(args), args.branch, older_ms)
    notes = [f"Tag {name} is kept: {why}." for name, why in unknown_age.items()]
    if plan is None:
        return {"plan": None, "receipt": None, "untold": unknown_age}, "\n".join(["No tag has expired.", *notes])
    document = {"plan": answers.plan(plan), "receipt": None, "untold": unknown_age}
    if args.dry_run:
        return document, "\n".join([texts.of_plan(plan), *notes])
    if not args.json:
        say("\n".join([texts.of_plan(plan), *notes]))
    [receipt, *_], text = running.carry_out(args, table, [plan], plan.fingerprint)
    return {**document, "receipt": receipt}, text


def of_tagging(tagging: Tagging) -> str:
    """Which tags are due, which they replace, and the next dates."""
    if tagging.rules is None:
        return "This table asks for no automatic tags (tag.automatic-creation)."
    lines = [of_rules(tagging.rules), *(f"Note: {note}" for note in tagging.notes)]
    for plan in tagging.plans:
        lines.append(plan.headline)
        if plan.change.set_tag is not None:
            assert plan.source is not None
            lines[-1] += f" It was committed {in_words(plan.source.time_ms)}."
        lines += [
            f"  {verdict.point} DELETED: {'; '.join(sentences(verdict.reasons))}" for verdict in plan.deleted_points
        ]
        lines += [f"  Warning: {warning}" for warning in plan.warnings]
    if not tagging.plans:
        lines.append("No tag is due.")
    by = "a watermark of " if tagging.rules.mode == "watermark" else ""
    rows = [
        (each.name, "the next commit" if each.is_due else f"the first commit at or after {by}{in_words(each.due_ms)}")
        for each in tagging.coming
    ]
    lines += ["", grid(("next tags", "created from"), rows)] if rows else []
    lines.append(f"Plan {tagging.fingerprint[:16]}")
    return "\n".join(lines)


def of_rules(rules: AutomaticTagRules) -> str:
    if rules.mode == "batch":
        return f"Creates a tag after each batch write: {rules.batch_name or 'batch-write-DATE'}."
    clock = "watermarks" if rules.mode == "watermark" else "commit times"
    delay = f", {duration(rules.delay_ms)} after the period ends" if rules.delay_ms else ""
    kept = "" if rules.retained_max is None else f"; the newest {rules.retained_max} are kept"
    return f"Creates a tag every {duration(rules.period_ms)} by {clock}{delay}{kept}."
