"""A change of this table that did not end: it can be carried on, and until its sweep starts it can be taken back."""

from __future__ import annotations

import time

import streamlit as st

from core.journal import Journal, Run
from core.recover import resume, undo
from core.sweep import Receipt
from core.table import open_table
from dashboard import access, jobs
from dashboard.present import markup, units, words
from dashboard.widgets.frame import Opened

KIND = "change"


def draw(opened: Opened) -> None:
    """The banner, where the journal knows an unfinished run and no job of this process is at it."""
    job = jobs.latest(KIND, opened.ref.title)
    if job is not None and job.running:
        return
    found = Journal().open_run(open_table(opened.ref.location).location)
    if found is None:
        return
    with st.container(border=True, key="unfinished"):
        started = units.moment(found.started_ms, opened.zone)
        st.html(markup.note("warning", words.unfinished(found, started)))
        if not access.is_on(opened.listing):
            return
        with st.container(horizontal=True):
            st.button(
                words.RESUME,
                icon=":material/play_arrow:",
                type="primary",
                on_click=_resume,
                args=(found, opened.ref.title),
            )
            if found.can_undo:
                st.button(words.UNDO, icon=":material/undo:", on_click=_undo, args=(found, opened.ref.title))


def _resume(found: Run, title: str) -> None:
    def work(job: jobs.Job) -> Receipt:
        return resume(found.id, open_table=open_table, progress=job.progress, cancelled=job.cancelled.is_set)

    jobs.submit(f"resume-{found.id}-{time.monotonic_ns()}", KIND, title, work, exclusive=True)


def _undo(found: Run, title: str) -> None:
    def work(_: jobs.Job) -> tuple[str, ...]:
        return undo(found.id, open_table=open_table)

    jobs.submit(f"undo-{found.id}-{time.monotonic_ns()}", KIND, title, work, exclusive=True)
