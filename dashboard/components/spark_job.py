"""Work on Spark as a page follows it: its progress with Cancel while it runs, then its result or its error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from dashboard import background_jobs, words
from dashboard.components import errors
from dashboard.formatting import markup

POLL_S = 0.4
QUICK_S = 0.3  # an answer that comes at once is drawn without a bar before it


_asking: dict[str, str] = {}  # the query that a job of several waits for


def asks(job: background_jobs.Job, query_id: str) -> None:
    """Tell which query a job waits for from here on: Cancel stops it."""
    _asking[job.id] = query_id


def stop(id: str | None) -> None:
    """Stop a job and what it asks of Spark; does nothing where none runs."""
    from core.spark.sql import run as sql

    job = background_jobs.find(id)
    if job is not None and job.running:
        job.cancelled.set()
        sql.cancel(_asking.get(job.id, job.id))


def progress(job: background_jobs.Job) -> Callable[[int, int], None]:
    """What Spark's side tells the job, and how it hears that nobody waits any more."""

    def told(done: int, total: int) -> None:
        from core.spark.sql import run as sql  # Spark is slow to load, and only this needs it

        job.progress(done, total)
        if job.cancelled.is_set():  # asked for while Spark was still starting
            sql.cancel(job.id)

    return told


def follow(
    id: str | None, key: str, cancelled: str, show: Callable[[Any], None], meanwhile: Callable[[], str] | None = None
) -> None:
    """Draw a job, again and again while it runs; `show` draws its result. `meanwhile` draws what it has found so far,
    and tells how far it is."""
    job = background_jobs.find(id)
    if job is not None:
        st.fragment(_draw, run_every=POLL_S if job.is_awaited else None)(job.id, key, cancelled, show, meanwhile)


def _draw(id: str, key: str, cancelled: str, show: Callable[[Any], None], meanwhile: Callable[[], str] | None) -> None:
    with errors.boundary():
        job = background_jobs.find(id)
        if job is None:
            return
        seen = f"{key}.seen.{id}"
        if job.is_awaited:  # what was cancelled is over for who waited, while Spark still ends it
            st.session_state[seen] = False
            bar = st.container(border=True, horizontal=True, vertical_alignment="center")
            told = words.running(job.elapsed_s(), job.done, job.total) if meanwhile is None else meanwhile()
            with bar:
                st.progress(min(job.done / job.total, 1.0) if job.total else 0.0, text=told)
                st.button(words.CANCEL, key=f"{key}.cancel", on_click=stop, args=(id,))
            return
        if st.session_state.get(seen) is False:
            st.session_state[seen] = True
            st.rerun()
        if job.cancelled.is_set():
            st.html(markup.note("warning", cancelled))
        elif job.error is not None:
            errors.show(job.error)
        else:
            show(job.result)
