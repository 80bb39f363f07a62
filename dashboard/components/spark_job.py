"""A Spark job as shown on a page: progress with a Cancel button while it runs, then its result or error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from dashboard import background_jobs, words
from dashboard.components import errors
from dashboard.formatting import markup

POLL_S = 0.4
QUICK_S = 0.3  # jobs shorter than this show no progress bar


_asking: dict[str, str] = {}  # the query that each job is currently waiting for


def asks(job: background_jobs.Job, query_id: str) -> None:
    """Record the query that a job waits for from now on, so that Cancel can stop it."""
    _asking[job.id] = query_id


def stop(id: str | None) -> None:
    """Stop a job and its Spark query; does nothing if it is not running."""
    from core.spark.sql import run as sql

    job = background_jobs.find(id)
    if job is not None and job.running:
        job.cancelled.set()
        sql.cancel(_asking.get(job.id, job.id))


def progress(job: background_jobs.Job) -> Callable[[int, int], None]:
    """Return a callback that receives Spark's progress and stops the query once nobody waits for it."""

    def report(done: int, total: int) -> None:
        from core.spark.sql import run as sql  # Spark is slow to import, and only needed here

        job.progress(done, total)
        if job.cancelled.is_set():  # cancelled while Spark was starting
            sql.cancel(_asking.get(job.id, job.id))

    return report


def follow(
    id: str | None, key: str, cancelled: str, show: Callable[[Any], None], meanwhile: Callable[[], str] | None = None
) -> None:
    """Draw a job and refresh it while it runs; `show` draws its result. `meanwhile` draws intermediate results and
    returns the progress text."""
    job = background_jobs.find(id)
    if job is not None:
        st.fragment(_draw, run_every=POLL_S if job.is_awaited else None)(job.id, key, cancelled, show, meanwhile)


def _draw(id: str, key: str, cancelled: str, show: Callable[[Any], None], meanwhile: Callable[[], str] | None) -> None:
    with errors.boundary():
        job = background_jobs.find(id)
        if job is None:
            return
        seen = f"{key}.seen.{id}"
        if job.is_awaited:  # for the reader a cancelled job is over, even while Spark is still stopping
            st.session_state[seen] = False
            bar = st.container(border=True, horizontal=True, vertical_alignment="center")
            text = words.running(job.elapsed_s(), job.done, job.total) if meanwhile is None else meanwhile()
            with bar:
                st.progress(min(job.done / job.total, 1.0) if job.total else 0.0, text=text)
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
