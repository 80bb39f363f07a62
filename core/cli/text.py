"""Plain text for terminals: grids and sentences."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from core.cli.output import grid, number, paragraph
from core.execution.delete_files import Receipt
from core.messages import Reason, sentences
from core.model.effects import Effect, steps
from core.model.expiry import Forecast
from core.model.plan import Plan, Verdict
from core.model.time_travel import in_words
from core.units import several, size

SHOWN = 20
ALIKE = 4  # this many neighbours with the same verdict and reason share a line
NOT_AS_PLANNED = "Not everything was done as planned: see above."


def of_forecast(coming: Forecast) -> list[str]:
    lines = [f"At the next commit to {coming.branch}, the engine itself does this: {coming.headline}"]
    return [*lines, *(f"  It breaks: {each}" for each in coming.breaks), *(f"  {each}" for each in coming.prevented_by)]


def of_plan(plan: Plan, native: Sequence[Reason] = (), coming: Forecast | None = None) -> str:
    lines = [plan.headline, f"Rules: {plan.rules}. Ages as of {in_words(plan.now_ms)}.", ""]
    lines += [f"  {several(count, 'file'):>14}  {size(total):>10}  {kind}" for kind, count, total in plan.by_kind()]
    lines += [""] if len(plan.frees) else []
    lines.append(grid(("snapshot or tag", "", "why"), _verdicts(plan)))
    if len(plan.orphans):
        lines.append(f"{several(len(plan.orphans), 'file')} will have no holder; `snapscope orphans` finds them:")
        lines += [f"  {path}" for path in plan.orphans["path"].to_pylist()[:SHOWN]]
        lines += [f"  … and {len(plan.orphans) - SHOWN:,} more (--json lists all)"] if len(plan.orphans) > SHOWN else []
    if len(plan.leaving):
        shown = plan.leaving.slice(0, SHOWN).to_pylist()
        rows = [(each["path"], number(each["rows"]), size(each["bytes"])) for each in shown]
        lines += ["", grid(("file no longer in the newest snapshot", "rows", "bytes"), rows)]
        lines += [f"… and {len(plan.leaving) - SHOWN:,} more (--json lists all)"] if len(plan.leaving) > SHOWN else []
    lines += of_effects(plan.effects)
    lines += [f"Warning: {warning}" for warning in plan.warnings]
    lines += sentences(plan.notes)
    lines += [f"Compared with the engine: {sentence}" for sentence in native]
    lines += of_forecast(coming) if coming is not None else []
    lines.append(f"Plan {plan.fingerprint[:16]}")
    return paragraph(lines)


def of_effects(effects: Sequence[Effect]) -> list[str]:
    """The steps of a run, in order."""
    found = [f"  {number}. {step.words}" for number, step in enumerate(steps(effects), 1)]
    return ["Steps:", *found] if found else []


def _verdicts(plan: Plan) -> list[tuple[str, str, str]]:
    """One line per version; neighbours with the same fate and reasons share a line."""
    rows = []

    def fate(verdict: Verdict) -> str:
        return "kept" if verdict.keep else "EXPIRES" if plan.change.expires(verdict.point) else "DELETED"

    for (said, reasons), alike in itertools.groupby(plan.points, key=lambda each: (fate(each), each.reasons)):
        names = [each.point for each in alike]
        what = "snapshots" if all(name.rpartition("/")[2].isdigit() for name in names) else "snapshots and tags"
        shown = names if len(names) < ALIKE else [f"{names[0]} … {names[-1]} ({len(names)} {what})"]
        rows += [(name, said, "; ".join(sentences(reasons))) for name in shown]
    return rows


def of_receipt(receipt: Receipt) -> str:
    """What was done compared with what was planned."""
    lines = [f"Created {', '.join(receipt.created)}."] if receipt.created else []
    gone = len(receipt.deleted)
    if receipt.planned_files:
        done = f"{several(gone, 'file')} deleted, {size(receipt.freed_bytes)} {_fate(receipt)} "
        done += f"(planned: {several(receipt.planned_files, 'file')}, {size(receipt.planned_bytes)})"
    else:
        done = "no file was to be deleted" + (f"; {several(gone, 'reference')} removed" if gone else "")
    lines.append(f"{receipt.outcome}: {done}. Run {receipt.run}.")
    lines += [f"Kept back: {path}: {why}" for path, why in receipt.kept_back[:SHOWN]]
    if len(receipt.kept_back) > SHOWN:
        lines.append(f"… and {len(receipt.kept_back) - SHOWN} more; `snapscope audit --run {receipt.run}` lists all.")
    return paragraph([*lines, *sentences(receipt.notes), *sentences(receipt.problems)])


def _fate(receipt: Receipt) -> str:
    return "kept as old versions" if receipt.keeps_versions else "reclaimed"


def signed_rows(count: int) -> str:
    return f"{count:+,} {'row' if abs(count) == 1 else 'rows'}"


def signed_size(count: int) -> str:
    return ("+" if count >= 0 else "-") + size(abs(count))
