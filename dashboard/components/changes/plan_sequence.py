"""Several plans as one run: shown together, confirmed once, executed in order."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.execution import apply as applying
from core.execution.delete_files import Receipt
from core.messages import sentences
from core.model.plan import Plan
from core.planning.confirmation import of_all
from dashboard import background_jobs, permissions, words
from dashboard import data as loading
from dashboard.components.changes import plan as plans
from dashboard.components.changes import running_change
from dashboard.components.frame import OpenedTable
from dashboard.formatting import markup
from dashboard.view_models import table_tree

SHOWN = 10  # the maximum number of plans that delete nothing to list individually


def draw(opened: OpenedTable, found: Sequence[Plan], fingerprint: str, label: str) -> None:
    """Summarise each plan in a sentence and draw the button, which is bound to exactly these plans."""
    summary(found)
    carry_out(opened, found, fingerprint, label)


def summary(found: Sequence[Plan]) -> None:
    harmless, rest = ([plan for plan in found if bool(plan.deleted_points) is expires] for expires in (False, True))
    for plan in harmless[:SHOWN]:
        st.html(markup.note("info", plan.headline))
    if len(harmless) > SHOWN:
        st.html(markup.note("info", words.more_not_listed(len(harmless) - SHOWN)))
    for plan in rest:
        st.html(markup.headline(plan.headline))
        for verdict in plan.deleted_points:
            st.html(markup.note("warning", f"{verdict.point}: {'; '.join(sentences(verdict.reasons))}"))


def carry_out(opened: OpenedTable, found: Sequence[Plan], fingerprint: str, label: str) -> None:
    """Draw the confirmation of all of them, and the button."""
    if running_change.show_submitted(opened, fingerprint):
        return  # the progress at the top of the page shows it
    if not permissions.is_on(opened.listing):
        is_switched = permissions.server_allows(opened.listing)
        st.html(markup.note("info", words.SWITCHED_OFF if is_switched else words.WHY_NOT_HERE))
        return
    danger = of_all(found, opened.ref.name)
    phrase = danger.phrase
    typed = ""
    if phrase:
        typed = (
            st.text_input(
                words.type_to_confirm(table_tree.inline(phrase)),
                key=f"several.confirm.{fingerprint[:12]}.{opened.ref.location}",
                live=True,
            )
            or ""
        )
    confirmed_roots = plans.roots(danger, f"several.{fingerprint[:12]}.{opened.ref.location}")
    st.button(
        label,
        key=f"several.{fingerprint[:12]}.{opened.ref.location}",
        type="primary",
        disabled=typed.strip() != phrase or len(confirmed_roots) < len(danger.outside),
        on_click=_submit,
        args=(opened, tuple(found), fingerprint, tuple(confirmed_roots)),
    )


def _submit(opened: OpenedTable, found: Sequence[Plan], fingerprint: str, confirmed_roots: tuple[str, ...]) -> None:
    table = loading.table(opened.ref.location)

    def work(job: background_jobs.Job) -> Receipt:
        """Return the receipt of the last plan that was started. If one does not complete, the following ones are not
        started."""
        receipts: list[Receipt] = []
        while len(receipts) < len(found) and all(each.outcome == "done" for each in receipts):
            plan = found[len(receipts)]
            stop, waits = job.cancelled.is_set, job.waits
            done = applying.apply(
                table, plan, progress=job.progress, waits=waits, cancelled=stop, outside=confirmed_roots
            )
            receipts.append(done)
        return receipts[-1]

    planned = sum(len(plan.frees) for plan in found)
    running_change.submit(opened, fingerprint, work, words.several_plans(len(found)), planned)
