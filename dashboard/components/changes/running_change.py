"""Starts a change to this table, and offers to resume or undo an unfinished one that fits into this process.

Invariant: no change starts for a reader whose changes are currently switched off, whatever the page still shows.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import streamlit as st

from core.errors import Conflict
from core.execution.delete_files import Receipt
from core.execution.journal import RESUMED, STARTED, UNDOING, Journal, Run
from core.execution.recovery import how_to_resume, how_to_undo, resume, undo, was_begun_on_spark
from core.execution.table_lock import is_running
from core.table import open_table
from dashboard import background_jobs, permissions, url_state, words
from dashboard.components import errors
from dashboard.components.frame import OpenedTable
from dashboard.formatting import markup, units

KIND = "change"
_REFUSED = "change.refused"
_MINE = "change.mine"


def submit(
    opened: OpenedTable, id: str, work: Callable[[background_jobs.Job], Any], about: str, planned: int = 0
) -> bool:
    """Start a change from a button. Returns False if it may not start; `draw` shows why.

    `about` says what it does, `planned` how many files it frees."""
    if not permissions.is_on(opened.listing):
        return False  # switched off since the button was drawn
    try:
        background_jobs.submit(
            _of_table(opened, id), KIND, opened.ref.location, work,
            exclusive=True, title=opened.ref.title, about=about, planned=planned,
        )  # fmt: skip
    except Conflict as error:  # another page started a change first
        st.session_state[_REFUSED] = error
        return False
    st.session_state[_MINE] = (*st.session_state.get(_MINE, ()), _of_table(opened, id))
    return True


def is_mine(job: background_jobs.Job) -> bool:
    """Whether this session started it."""
    return job.id in st.session_state.get(_MINE, ())


def announce_end(job: background_jobs.Job) -> None:
    """Tell the reader who started the change, once, that it has ended and where the result is shown; they may have
    scrolled away."""
    if is_mine(job) and not st.session_state.get(f"{_MINE}.told.{job.id}"):
        st.session_state[f"{_MINE}.told.{job.id}"] = True
        st.toast(words.IS_OVER, icon=":material/done:" if job.error is None else ":material/error:")


def show_submitted(opened: OpenedTable, id: str) -> bool:
    """Return whether this change of exactly this table is known here (a copy's plan can have the same fingerprint). If
    so, say in place of the button that its progress is shown at the top."""
    job = background_jobs.find(_of_table(opened, id))
    if job is not None:
        st.html(markup.note("info", words.UNDER_WAY if job.running else words.IS_OVER))
    return job is not None


def _of_table(opened: OpenedTable, id: str) -> str:
    return f"{id}@{opened.ref.location}"


def draw(opened: OpenedTable) -> None:
    """Draw the banner if the journal has an unfinished run that no job of this process is working on."""
    if refused := st.session_state.pop(_REFUSED, None):
        errors.show(refused)
    job = background_jobs.latest(KIND, opened.ref.location)
    if job is not None and job.running:
        return
    found = Journal().open_run(open_table(opened.ref.location).location)
    if found is None:
        return
    with st.container(border=True, key="unfinished"):
        if is_running(found.table, found.id):
            _show_running(found, opened.zone)
            return
        started = units.moment(found.started_ms, opened.zone)
        st.html(markup.note("warning", words.unfinished(found, started)))
        if was_begun_on_spark(found) or not permissions.is_on(opened.listing):
            ways(found)
            return
        with st.container(horizontal=True):
            st.button(
                words.RESUME,
                icon=":material/play_arrow:",
                type="primary",
                on_click=_resume,
                args=(opened, found),
            )
            if found.can_undo:
                st.button(words.UNDO, icon=":material/undo:", on_click=_undo, args=(opened, found))


def _show_running(found: Run, zone: str) -> None:
    """Say who runs it in another process, and since when."""
    begun = [each for each in Journal().events(found.id) if each["what"] in (STARTED, RESUMED, UNDOING)][-1]
    since = units.moment(begun["at_ms"], zone)
    text = words.running_elsewhere(found, since, begun["detail"].get("who", found.who))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.html(markup.note("info", text))
        st.button(words.REFRESH, icon=":material/refresh:", key="unfinished.refresh", on_click=url_state.refresh)


def ways(found: Run) -> None:
    """Show the commands that resume or undo a run, unless it is running now."""
    if is_running(found.table, found.id):
        st.caption(words.RUNNING_NOW)
        return
    commands = [how_to_resume(found), *([how_to_undo(found)] if found.can_undo else [])]
    captions = words.UNFINISHED_ON_SPARK if was_begun_on_spark(found) else words.UNFINISHED_WAYS
    st.caption(captions[found.can_undo])
    st.code("\n".join(commands), language="bash")


def _resume(opened: OpenedTable, found: Run) -> None:
    def work(job: background_jobs.Job) -> Receipt:
        return resume(
            found.id, open_table=open_table, progress=job.progress, waits=job.waits, cancelled=job.cancelled.is_set
        )

    planned = len(Journal().frees(found.id))
    submit(opened, f"resume-{found.id}-{time.monotonic_ns()}", work, str(found.plan["headline"]), planned)


def _undo(opened: OpenedTable, found: Run) -> None:
    def work(_: background_jobs.Job) -> tuple[str, ...]:
        return undo(found.id, open_table=open_table)

    submit(opened, f"undo-{found.id}-{time.monotonic_ns()}", work, words.undoing(str(found.plan["headline"])))
