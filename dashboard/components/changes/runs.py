"""Runs as readers see them: steps with a countdown on every page while they go on, then a receipt until it was read.

Invariant: what is shown is of this process' jobs, whoever started them; that a receipt was read is known here, not in a
browser.
"""

from __future__ import annotations

import streamlit as st

from core.execution.delete_files import Receipt
from core.execution.journal import Journal
from dashboard import background_jobs, url_state, words
from dashboard.background_jobs import Job
from dashboard.components import errors
from dashboard.components.changes import running_change
from dashboard.components.frame import OpenedTable
from dashboard.formatting import markup, units

POLL_S = 0.5
_SHOWN = "runs.shown"  # per receipt this session has shown: on which view, None once it looked at another
OWN_PAGES = ("retention", "tags", "orphans")  # that show their table's receipts where the plan was


def draw() -> None:
    """Show all running changes, of any table, and the results of those that this reader started on another page."""
    views = st.session_state.setdefault(_SHOWN, {})
    st.session_state[_SHOWN] = {id: view if view == _view() else None for id, view in views.items()}
    found = [job for job in background_jobs.of_kind(running_change.KIND) if job.running or _is_elsewhere(job)]
    if found:
        with st.container(key="runs"):
            for job in found:
                st.fragment(_draw, run_every=POLL_S if job.running else None)(job.id)


def _is_elsewhere(job: Job) -> bool:
    """Whether this session started the run, its receipt is unread, and this page does not show it."""
    here = url_state.here()
    is_own = here.page in OWN_PAGES and here.table == job.title
    return not is_own and running_change.is_mine(job) and _is_unread(job)


def _draw(id: str) -> None:
    job = background_jobs.find(id)
    if job is None:
        return
    if not job.running:
        if st.session_state.get(f"{_SHOWN}.{id}") != "ended":
            st.session_state[f"{_SHOWN}.{id}"] = "ended"
            url_state.refresh()
            st.rerun()
        with st.container(horizontal=True, vertical_alignment="center"):
            result = words.receipt(job.result) if isinstance(job.result, Receipt) else words.IS_OVER_SHORT
            st.html(markup.note("info" if job.error is None else "problem", words.run_of(job.title, result)))
            _link(job)
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
        st.html(markup.stepper(words.run_of(job.title, job.about), words.run_steps(job.state())), width="stretch")
        is_ending = job.cancelled.is_set()
        st.button(
            words.CANCELLING_SHORT if is_ending else words.CANCEL,
            key=f"runs.cancel.{id}",
            on_click=job.cancelled.set,
            disabled=is_ending,
        )


def ended(opened: OpenedTable) -> None:
    """How the newest run of this table ended, until it was read: on the view that shows it first it stays."""
    job = background_jobs.latest(running_change.KIND, opened.ref.location)
    if job is None or job.running:
        return
    if not st.session_state.get(f"plans.seen.{job.id}"):
        st.session_state[f"plans.seen.{job.id}"] = True
        url_state.refresh()
        st.rerun()
    if not _is_unread(job):
        return
    running_change.announce_end(job)
    with st.container(border=True, key="run_ended"), errors.boundary():
        if job.error is not None:
            errors.show(job.error)
        elif isinstance(job.result, Receipt):
            _receipt(opened, job.result)
        else:
            st.html(markup.note("info", words.restored(len(job.result))))
        with st.container(horizontal=True):
            _link(job)
            st.button(words.JOB_DISMISS, key="plans.dismiss", on_click=_read, args=(job,), type="tertiary")


def _is_unread(job: Job) -> bool:
    """Nobody has read it; or this session reads it, on the view where it found it."""
    views = st.session_state.setdefault(_SHOWN, {})
    if job.id in views:
        return views[job.id] is not None
    if job.is_read and not running_change.is_mine(job):
        return False
    views[job.id] = _view()
    job.is_read = True
    return True


def _view() -> tuple[str, str | None, str | None]:
    here = url_state.here()
    return here.page, here.warehouse, here.table


def _read(job: Job) -> None:
    st.session_state.setdefault(_SHOWN, {})[job.id] = None


def _link(job: Job) -> None:
    """To the receipt, in the journal."""
    if isinstance(job.result, Receipt):
        address = url_state.address("audit", run=job.result.run)
        st.page_link("views/audit.py", label=words.VIEW_RECEIPT, icon=":material/receipt_long:", query_params=address)


def _receipt(opened: OpenedTable, receipt: Receipt) -> None:
    """What was done; when, by whom and by which plan, for every reader of the table sees it."""
    st.html(markup.note("info" if receipt.outcome == "done" else "warning", words.receipt(receipt)))
    run = Journal().run(receipt.run)
    st.html(markup.muted(words.carried_out(run, units.moment(run.started_ms, opened.zone))))
    for problem in receipt.problems:
        st.html(markup.note("problem", problem.text))
    if receipt.kept_back:
        with st.expander(words.kept_back(len(receipt.kept_back))):
            st.html(
                markup.table(
                    words.KEPT_BACK_HEADS, [[markup.mono(path), why.text] for path, why in receipt.kept_back[:200]]
                )
            )
