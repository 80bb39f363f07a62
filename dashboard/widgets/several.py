"""Several plans that make one run: shown together, confirmed once, carried out in order."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core import apply as applying
from core.danger import of_all
from core.planned import Plan
from core.sweep import Receipt
from dashboard import access, jobs, loading
from dashboard.present import markup, tree, words
from dashboard.widgets import plans, unfinished
from dashboard.widgets.frame import Opened

SHOWN = 10  # plans that let nothing go, one by one


def draw(opened: Opened, found: Sequence[Plan], fingerprint: str, label: str) -> None:
    """What each does in a sentence, and the button. The plans are frozen and bound to it."""
    made, rest = ([plan for plan in found if bool(plan.goes) is goes] for goes in (False, True))
    for plan in made[:SHOWN]:
        st.html(markup.note("info", plan.headline))
    if len(made) > SHOWN:
        st.html(markup.note("info", words.and_so_many_more(len(made) - SHOWN)))
    for plan in rest:
        st.html(markup.headline(plan.headline))
        for verdict in plan.goes:
            st.html(markup.note("warning", f"{verdict.point}: {'; '.join(verdict.reasons)}"))
    if unfinished.tell_begun(opened, fingerprint):
        return  # the page's progress shows it
    if not access.is_on(opened.listing):
        is_switched = access.server_allows(opened.listing)
        st.html(markup.note("info", words.SWITCHED_OFF if is_switched else words.WHY_NOT_HERE))
        return
    asked = of_all(found, opened.ref.name)
    phrase = asked.phrase
    typed = ""
    if phrase:
        typed = (
            st.text_input(
                words.type_to_confirm(tree.inline(phrase)),
                key=f"several.confirm.{fingerprint[:12]}.{opened.ref.location}",
                live=True,
            )
            or ""
        )
    named = plans.roots(asked, f"several.{fingerprint[:12]}.{opened.ref.location}")
    st.button(
        label,
        key=f"several.{fingerprint[:12]}.{opened.ref.location}",
        type="primary",
        disabled=typed.strip() != phrase or len(named) < len(asked.outside),
        on_click=_submit,
        args=(opened, tuple(found), fingerprint, tuple(named)),
    )


def _submit(opened: Opened, found: Sequence[Plan], fingerprint: str, named: tuple[str, ...]) -> None:
    table = loading.table(opened.ref.location)

    def work(job: jobs.Job) -> Receipt:
        """The receipt of the last one that was begun; what follows one that did not end is left."""
        receipts: list[Receipt] = []
        while len(receipts) < len(found) and all(each.outcome == "done" for each in receipts):
            plan = found[len(receipts)]
            stop, waits = job.cancelled.is_set, job.waits
            done = applying.apply(table, plan, progress=job.progress, waits=waits, cancelled=stop, outside=named)
            receipts.append(done)
        return receipts[-1]

    unfinished.submit(opened, fingerprint, work)
