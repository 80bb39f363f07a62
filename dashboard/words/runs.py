"""Runs: their steps while they go on, and the line that says how they ended."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.formatting import units
from dashboard.formatting.language import N_, _

VIEW_RECEIPT = N_("View receipt")
IS_OVER_SHORT = N_("It has ended.")
CANCELLING_SHORT = N_("Cancelling")
REMOVE_REFERENCES = N_("Change references")
REFERENCES_REMOVED = N_("References changed")
WAIT_FOR_WRITERS = N_("Wait for running writers")
WAITED_FOR_WRITERS = N_("Waited for running writers")
READ_AGAIN_BEFORE = N_("Reading all references again")
VERIFY = N_("Verify")
VERIFYING = N_("Verifying")
DONE, NOW, AHEAD = "done", "now", "next"


@dataclass(frozen=True, slots=True)
class RunState:
    """How far a run is. `waits_s` is what is left of the wait, None before it; `total` counts every file of the plan,
    references too, from its first moment to its last."""

    waits_s: float | None
    done: int
    total: int
    is_deleting: bool


def run_of(table: str, what: str) -> str:
    return _("{table}: {what}", table=table, what=what) if table else what


def undoing(headline: str) -> str:
    return _("Undoes: {headline}", headline=headline)


def several_plans(number: int) -> str:
    return units.plural(number, "plan")


def waiting(seconds: float) -> str:
    return _("Waiting for running writers: {seconds} s left", seconds=units.count(max(0, round(seconds))))


def deleted_of(done: int, total: int) -> str:
    return _("{done} of {files}", done=units.count(done), files=units.plural(total, "file"))


def delete_files(total: int) -> str:
    return _("Delete {files}", files=units.plural(total, "file"))


def run_steps(now: RunState) -> list[tuple[str, str]]:
    """`(state, words)` of each step, in order; a run that frees nothing has only one."""
    if now.is_deleting:
        is_all = now.done >= now.total
        files = (DONE if is_all else NOW, deleted_of(now.done, now.total))
        last = (NOW, _(VERIFYING)) if is_all else (AHEAD, _(VERIFY))
        return [(DONE, _(REFERENCES_REMOVED)), (DONE, _(WAITED_FOR_WRITERS)), files, last]
    if not now.total:
        return [(NOW, _(REMOVE_REFERENCES))]
    rest = [(AHEAD, delete_files(now.total)), (AHEAD, _(VERIFY))]
    if now.waits_s is None:
        return [(NOW, _(REMOVE_REFERENCES)), (AHEAD, _(WAIT_FOR_WRITERS)), *rest]
    waits = waiting(now.waits_s) if now.waits_s > 0 else _(READ_AGAIN_BEFORE)
    return [(DONE, _(REFERENCES_REMOVED)), (NOW, waits), *rest]
