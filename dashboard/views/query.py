"""Query: SQL over the table as it was, at one point or comparing two.

It runs as a job outside the script and can be cancelled.
"""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING

import pyarrow as pa
import streamlit as st

from core.apply import hold
from core.asof import resolve
from core.calls import is_call
from core.history import History
from dashboard import access, jobs, loading, state
from dashboard.present import commands, markup, results, words
from dashboard.widgets import calling, frame, grids, picker, plans, waiting
from dashboard.widgets.frame import Opened

if TYPE_CHECKING:
    from core.spark.query import QueryAnswer

KIND = "query"
CAPS = (100, 1_000, 10_000)
TIMEOUTS_S = (30, 60, 300)
CAP, TIMEOUT, HOLD, ENGINE = "query.cap", "query.timeout", "query.hold", "query.engine"
HELD_MS = 3_600_000


def draw() -> None:
    opened = frame.open_table(state.here())
    frame.need_snapshots(opened)
    history = frame.history_or_none(opened)
    frame.note_all(opened, history)
    if jobs.warms_up:
        jobs.once("warm-up", _start_spark)
    with st.container(key="query_points"):
        left, right = st.columns(2)
        with left:
            at = picker.pick(words.QUERY_POINT, opened.heads, name="point", default="latest")
        with right:
            before = picker.pick(words.QUERY_BEFORE, opened.heads, name="before", placeholder=words.QUERY_OPTIONAL)
    # what names no point is left to the query, which refuses it
    at_point = at.point if at else state.get("point") or "latest"
    before_point = before.point if before else state.get("before")
    sql = _form(opened, history, at_point, before_point)
    if is_call(sql) and history is not None:
        calling.draw(opened, history, sql)
        return
    waiting.follow(st.session_state.get(_job_key(opened)), "query", words.QUERY_CANCELLED, _rows)
    if sql.strip():
        held_ms = HELD_MS if st.session_state.get(HOLD) and access.is_on(opened.listing) else None
        spoken = commands.query(opened.ref.location, sql, at_point, before_point, held_ms, engine=_engine())
        plans.command(spoken)


def _start_spark(job: jobs.Job) -> None:
    """Start Spark behind the page, so that the first query need not wait for it."""
    from core.spark import session

    session.warm_up()  # what goes wrong is said by the first query


def _sql_key(opened: Opened) -> str:
    return f"query.sql.{opened.ref.title}"


def _job_key(opened: Opened) -> str:
    return f"query.job.{opened.ref.title}"


def _engine() -> str:
    """Who the reader asks."""
    return str(st.session_state.get(ENGINE, commands.PLAIN))


def _form(opened: Opened, history: History | None, at: str, before: str | None) -> str:
    """The editor and its limits; Ctrl+Enter in the editor runs it. Answers the SQL as last run or linked."""
    key, name = _sql_key(opened), results.quoted(opened.ref.name)
    if key not in st.session_state:
        st.session_state[key] = state.get("sql") or results.first_query(name)
    job = jobs.find(st.session_state.get(_job_key(opened)))
    with st.form("query.form", border=False):
        st.text_area(words.SQL, key=key, height=132, help=words.sql_help(name, has_before=before is not None))
        with st.container(horizontal=True, vertical_alignment="bottom", key="query_controls"):
            st.selectbox(words.ROW_CAP, CAPS, index=1, key=CAP, format_func=lambda rows: f"{rows:,}", width=140)
            st.selectbox(words.TIMEOUT, TIMEOUTS_S, index=1, key=TIMEOUT, width=140)
            if access.has_connectors():
                by, said = words.QUERY_ENGINES, words.QUERY_ENGINE_HELP
                st.selectbox(words.QUERY_ENGINE, by, key=ENGINE, format_func=by.__getitem__, help=said, width=200)
            st.checkbox(words.HOLD, key=HOLD, help=words.HOLD_HELP, disabled=not access.is_on(opened.listing))
            st.form_submit_button(
                words.RUN,
                type="primary",
                icon=":material/play_arrow:",
                disabled=history is None or (job is not None and job.running),
                on_click=_submit,
                args=(opened, history, at, before),
            )
    return str(st.session_state[key])


def _submit(opened: Opened, history: History, at: str, before: str | None) -> None:
    sql = str(st.session_state[_sql_key(opened)])
    state.put(sql=sql)
    if not sql.strip() or is_call(sql):  # a CALL is planned by the page, and run by its own button
        return
    id, table = str(uuid.uuid4()), loading.table(opened.ref.location)
    row_cap, timeout_s = st.session_state[CAP], st.session_state[TIMEOUT]
    engine = _engine()
    is_held = st.session_state[HOLD] and access.is_on(opened.listing)

    def work(job: jobs.Job) -> object:
        from core.spark import query  # Spark is slow to load, and only this needs it

        point = resolve(history.heads, at)
        if is_held:  # by a tag that is only there to keep what is read: the point stays what was asked for
            hold(table, point, HELD_MS, time.time_ns() // 1_000_000)
        return query.query(
            table,
            sql,
            at=point.point,
            before=before,
            since=before if commands.asks_for_changes(sql) else None,
            row_cap=row_cap,
            timeout_s=timeout_s,
            query_id=id,
            on_progress=waiting.progress(job),
            history=history,
            engine=engine,
        )

    job = jobs.submit(id, KIND, opened.ref.location, work)
    st.session_state[_job_key(opened)] = id
    job.wait(waiting.QUICK_S)


def _rows(answer: QueryAnswer) -> None:
    shown = results.frame(answer.table)
    st.html(markup.note("info", words.query_note(answer)))
    for each in (*map(words.left_out, answer.left_out), *map(words.sentence, answer.differs)):
        st.html(markup.note("info", each))
    if answer.truncated:
        st.html(markup.note("warning", words.cut_off(len(shown))))
    if shown.empty:
        st.html(markup.note("info", words.NO_ROWS))
        return
    exact = [name for name, column in zip(shown.columns, answer.table.columns, strict=True) if _is_number(column.type)]
    columns = {name: st.column_config.Column(alignment="right") for name in exact}
    grids.draw(shown, "query.rows", columns=columns, what=words.ROWS_NOUN, name=words.RESULT_NAME, tall=True)


def _is_number(of: pa.DataType) -> bool:
    """Also of those that are shown as text, to keep all their digits."""
    return bool(pa.types.is_integer(of) or pa.types.is_decimal(of))


draw()
