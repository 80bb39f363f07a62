"""Query: SQL on past versions, on one version or comparing two; bisect; the query history.

Queries run as background jobs and can be cancelled. A result is only shown next to the query that produced it.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import streamlit as st

from core import user_state
from core.errors import SnapscopeError
from core.execution.protect import hold
from core.model.history import History
from core.model.query_answer import QueryAnswer
from core.model.time_travel import AsOf
from core.procedures.parse import is_call
from core.table import resolve
from dashboard import background_jobs, url_state, words
from dashboard import data as loading
from dashboard.components import frame, spark_job, version_picker
from dashboard.components.changes import call_statement, plan
from dashboard.components.frame import OpenedTable
from dashboard.components.query import bisect, column_list, compared, limits
from dashboard.components.query import result as rows
from dashboard.components.query import saved_queries as queries
from dashboard.formatting import cells, commands, markup
from dashboard.view_models import compared_answers, examples, table_tree
from dashboard.view_models import saved_queries as kept
from dashboard.view_models.compared_answers import AnswerPair

KIND = "query"
COUNT = "query.count"
EDITOR, ANSWER = "query_editor", "query_answer"
HELD_MS = 3_600_000


class Question(NamedTuple):
    """The query that a result belongs to. A tuple, because each run of this page creates its classes again."""

    sql: str
    at: str
    before: str | None
    engine: str


@dataclass(frozen=True, slots=True)
class SubmittedQuery:
    """A submitted query: its job and its history entry."""

    id: str
    question: Question
    entry: kept.Entry
    earlier: SubmittedQuery | None = None  # the last one before it that was answered


def draw() -> None:
    opened = frame.open_table(url_state.here())
    frame.need_snapshots(opened)
    history = frame.history_or_none(opened)
    frame.note_all(opened, history)
    if background_jobs.warms_up:
        background_jobs.once("warm-up", _start_spark)
    mode = _mode()
    if mode == "history":
        queries.draw()
    elif mode == "bisect":
        bisect.draw(opened, history)
    else:
        _ask(opened, history)


def _mode() -> str:
    st.session_state["query.ask"] = url_state.get("ask") if url_state.get("ask") in words.ASK_MODES else "sql"
    st.segmented_control(
        words.ASK_MODE,
        list(words.ASK_MODES),
        default=st.session_state["query.ask"],
        key="query.ask",
        format_func=words.ASK_MODES.__getitem__,
        label_visibility="collapsed",
        required=True,
        on_change=lambda: url_state.put(ask=_chosen(st.session_state["query.ask"])),
    )
    return str(st.session_state["query.ask"])


def _chosen(mode: str | None) -> str | None:
    return None if mode == "sql" else mode


def _ask(opened: OpenedTable, history: History | None) -> None:
    at = opened.picked
    before = version_picker.pick(words.QUERY_BEFORE, opened.heads, name="before", placeholder=words.QUERY_OPTIONAL)
    # a text that is not a version is rejected by the query itself
    at_point = at.point if at else url_state.get("point") or "latest"
    before_point = before.point if before else url_state.get("before")
    sql = _form(opened, history, at_point, before_point, at.found if at else None)
    if is_call(sql) and history is not None:
        call_statement.draw(opened, history, sql)
        return
    question = Question(sql, at_point, before_point, limits.engine())
    submitted: SubmittedQuery | None = st.session_state.get(_submitted_key(opened))
    job = background_jobs.find(submitted.id if submitted else None)
    if submitted is None or job is None or history is None:  # not asked yet, or the job is too old and was discarded
        _teach(opened, at.found if at else None, has_before=before is not None)
    elif submitted.question != question:
        spark_job.stop(submitted.id)
        _earlier(opened, history, submitted, words.QUESTION_CHANGED)
    else:
        read, answered = history, submitted
        with st.container(key=ANSWER):
            spark_job.follow(
                job.id, "query", words.QUERY_CANCELLED, lambda found: _answer(opened, found, read, answered)
            )
        if not _is_answered(submitted):
            _earlier(opened, history, submitted, "")
    if sql.strip():
        held_ms = HELD_MS if limits.is_held(opened.listing) else None
        is_pair = _is_pair(opened, sql, before_point)
        versions: list[tuple[str, str | None, int | None]] = [(at_point, None if is_pair else before_point, held_ms)]
        if is_pair and before_point is not None:
            versions.insert(0, (before_point, None, None))
        location, engine = opened.ref.location, limits.engine()
        plan.command("\n".join(commands.query(location, sql, *each, engine=engine) for each in versions))


def _is_answered(submitted: SubmittedQuery) -> bool:
    job = background_jobs.find(submitted.id)
    return job is not None and not job.running and job.error is None and not job.cancelled.is_set()


def _earlier(opened: OpenedTable, history: History, submitted: SubmittedQuery, why: str) -> None:
    """Draw the last answer, dimmed: it is not of the inputs above, and says what it is of."""
    if why:
        st.html(markup.note("info", why))
    found = submitted if _is_answered(submitted) else submitted.earlier
    job = background_jobs.find(found.id if found else None)
    if found is None or job is None:
        return
    with st.container(key=f"{ANSWER}_earlier"):
        st.html(markup.note("info", words.EARLIER_ANSWER))
        st.code(found.question.sql, language="sql", wrap_lines=True)
        _answer(opened, job.result, history, found)


def _start_spark(job: background_jobs.Job) -> None:
    """Start Spark in the background, so that the first query does not have to wait for it; then, once for all servers,
    make the archive from which it starts faster."""
    from core.spark.session import class_archiving, session  # Spark is slow to import, and only needed here
    from core.spark.sql import warm_up

    if warm_up.warm_up().exception() is None:  # an error is reported by the first query
        class_archiving.make(session.spark().settings)


def _sql_key(opened: OpenedTable) -> str:
    return f"query.sql.{opened.ref.title}"


def _submitted_key(opened: OpenedTable) -> str:
    return f"query.asked.{opened.ref.location}"


def _form(opened: OpenedTable, history: History | None, at: str, before: str | None, found: AsOf | None) -> str:
    """Draw the editor, the columns and the limits; Ctrl+Enter runs the query. Returns the SQL as last run or linked."""
    key, name = _sql_key(opened), cells.quoted(opened.ref.name)
    linked = url_state.get("sql")
    if key not in st.session_state or (linked is not None and linked != st.session_state.get(f"{key}.linked")):
        st.session_state[key] = linked or cells.first_query(name)  # the URL changed, so does the SQL
    st.session_state[f"{key}.linked"] = linked
    submitted: SubmittedQuery | None = st.session_state.get(_submitted_key(opened))
    job = background_jobs.find(submitted.id if submitted else None)
    with st.form("query.form", border=False):
        with st.container(key="query_split"):
            editor, side = st.columns([2.4, 1], gap="medium")
        with editor, st.container(key=EDITOR):
            has_before = before is not None
            second = table_tree.inline(cells.quoted(f"{opened.ref.name}_before")) if has_before else None
            help = words.sql_help(table_tree.inline(name), second)
            st.text_area(words.SQL, st.session_state[key], key=key, height=236, help=help)
        with side:
            schema = found.schema if found is not None else opened.heads.main.schema
            if schema is not None:
                answered_sql = submitted.question.sql if submitted else None
                column_list.draw(
                    opened.heads, schema, opened.ref.name, EDITOR, has_before=has_before, answered_sql=answered_sql
                )
        with st.container(horizontal=True, vertical_alignment="bottom", key="query_controls"):
            limits.draw(opened.listing)
            st.form_submit_button(
                words.RUN,
                type="primary",
                icon=":material/play_arrow:",
                disabled=history is None or (job is not None and job.is_awaited),
                on_click=_submit,
                args=(opened, history, at, before),
            )
    queries.save(submitted.entry if submitted else None)
    return str(linked or st.session_state[key])


def _submit(opened: OpenedTable, history: History, at: str, before: str | None) -> None:
    sql = str(st.session_state[_sql_key(opened)]).strip()
    url_state.put(sql=sql)
    limits.put()
    st.session_state[f"{_sql_key(opened)}.linked"] = url_state.get("sql")
    if not sql or is_call(sql):  # the page plans a CALL; its own button runs it
        return
    id, table = str(uuid.uuid4()), loading.table(opened.ref.location)
    row_cap, timeout_s = limits.row_cap(), limits.timeout_s()
    is_held = limits.is_held(opened.listing)
    entry = {
        "at_ms": time.time_ns() // 1_000_000,
        "warehouse": url_state.get("warehouse"),
        "table": opened.ref.title,
        "location": opened.ref.location,
        "sql": sql,
        "point": at,
        "before": before,
    }

    question = Question(sql, at, before, limits.engine())
    is_pair = _is_pair(opened, sql, before)

    def work(job: background_jobs.Job) -> object:
        point = resolve(history.heads, at)
        if is_held:  # a temporary tag pins the version during the query; report the requested version
            hold(table, point, HELD_MS, time.time_ns() // 1_000_000)

        def ask(of: AsOf, second: str | None) -> QueryAnswer:
            return _query(job, opened, history, question._replace(before=second), of, row_cap, timeout_s)

        if not is_pair or before is None:
            answer = ask(point, before)
            return answer, _note(entry, answer)
        earlier = resolve(history.heads, before)
        found = _pair(sql, (earlier, point), lambda of: _attempt(job, lambda: ask(of, None)))
        return found, _note(entry, found.answers[-1])

    submitted: SubmittedQuery | None = st.session_state.get(_submitted_key(opened))
    last = None
    if submitted is not None:
        spark_job.stop(submitted.id)
        last = replace(submitted, earlier=None) if _is_answered(submitted) else submitted.earlier
    job = background_jobs.submit(id, KIND, opened.ref.location, work)
    st.session_state[_submitted_key(opened)] = SubmittedQuery(id, question, entry, last)
    job.wait(spark_job.QUICK_S)


def _is_pair(opened: OpenedTable, sql: str, before: str | None) -> bool:
    """Return whether a statement runs at both versions: there is a second one, and it does not name that itself."""
    return before is not None and not commands.names_both(sql, opened.ref.name)


def _attempt(job: background_jobs.Job, ask: Callable[[], QueryAnswer]) -> QueryAnswer | SnapscopeError:
    """Run the statement at one of two versions; that it fails there is an answer, too."""
    try:
        return ask()
    except SnapscopeError as error:
        if job.cancelled.is_set():
            raise
        return error


def _pair(sql: str, points: tuple[AsOf, AsOf], ask: Callable[[AsOf], QueryAnswer | SnapscopeError]) -> AnswerPair:
    """Ask at both versions, the earlier one first; raises what went wrong if neither answers."""
    before, after = map(ask, points)
    names = points[0].point, points[1].point
    if isinstance(before, SnapscopeError) or isinstance(after, SnapscopeError):
        if isinstance(before, SnapscopeError) and isinstance(after, SnapscopeError):
            raise after
        return AnswerPair(names, before, after, None)
    keys = points[1].schema.primary_keys
    return AnswerPair(names, before, after, compared_answers.compare(sql, before, after, keys))


def _query(
    job: background_jobs.Job,
    opened: OpenedTable,
    history: History,
    question: Question,
    at: AsOf,
    row_cap: int,
    timeout_s: int,
) -> QueryAnswer:
    from core.spark.query import query  # Spark is slow to import, and only needed here

    query_id = f"{job.id}.{at.point}"
    spark_job.asks(job, query_id)
    return query.query(
        loading.table(opened.ref.location),
        question.sql,
        at=at,
        before=question.before,
        since=question.before if commands.asks_for_changes(question.sql) else None,
        row_cap=row_cap,
        timeout_s=timeout_s,
        query_id=query_id,
        on_progress=spark_job.progress(job),
        history=history,
        engine=question.engine,
    )


def _note(entry: kept.Entry, answer: QueryAnswer) -> SnapscopeError | None:
    """Add the query to the history; an error there does not affect the result."""
    result = {"rows": answer.table.num_rows, "ms": round(answer.seconds * 1000), "resolved": answer.point.point}
    try:
        user_state.change(kept.HISTORY, lambda before: kept.noted(before, {**entry, **result}), [])
    except SnapscopeError as error:
        return error
    return None


def _answer(
    opened: OpenedTable, found: tuple[QueryAnswer | AnswerPair, SnapscopeError | None], history: History,
    submitted: SubmittedQuery,
) -> None:  # fmt: skip
    answer, problem = found
    if problem is not None:
        st.html(markup.note("warning", f"{words.NOT_NOTED} {problem}"))

    def count(at: AsOf) -> None:  # resolved, because a name may move in the meantime
        _count(opened, history, f"{submitted.id}.{at.point}", submitted.question, at)

    if isinstance(answer, AnswerPair):
        compared.draw(answer, history, submitted.id, count)
        return
    rows.draw(answer, history, submitted.id, lambda: count(answer.point))


def _count(opened: OpenedTable, history: History, id: str, question: Question, at: AsOf) -> None:
    """Count all rows of a truncated result on request, with the same checks and time limit."""
    of, counting = st.session_state.get(COUNT, (None, None))
    job = background_jobs.find(counting) if of == id else None
    if job is None or job.cancelled.is_set():
        st.button(
            words.COUNT_ALL,
            icon=":material/tag:",
            key=f"{COUNT}.go",
            help=words.COUNT_ALL_HELP,
            on_click=_begin_count,
            args=(opened, history, id, question, at),
        )
    if job is not None:
        spark_job.follow(job.id, COUNT, words.QUERY_CANCELLED, _counted)


def _counted(found: QueryAnswer) -> None:
    st.html(markup.note("info", words.counted_all(found.table[0][0].as_py())))


def _begin_count(opened: OpenedTable, history: History, id: str, question: Question, at: AsOf) -> None:
    is_pair = _is_pair(opened, question.sql, question.before)
    counted = question._replace(sql=cells.counting(question.sql), before=None if is_pair else question.before)
    timeout_s = limits.timeout_s()
    job = background_jobs.submit(
        str(uuid.uuid4()),
        KIND,
        opened.ref.location,
        lambda job: _query(job, opened, history, counted, at, 1, timeout_s),
    )
    st.session_state[COUNT] = id, job.id
    job.wait(spark_job.QUICK_S)


def _teach(opened: OpenedTable, found: AsOf | None, *, has_before: bool) -> None:
    """Before the first query, show what is useful for this table."""
    schema = found.schema if found is not None else opened.heads.main.schema
    if schema is None:
        return
    st.html(markup.empty(words.EXAMPLES_TITLE, words.EXAMPLES_TEXT))
    suiting = examples.statements(schema, opened.ref.name, opened.heads.capabilities, has_before=has_before)
    with st.container(horizontal=True, gap="small", key="query_examples"):
        for name, sql in suiting:
            st.button(
                words.EXAMPLES[name],
                key=f"query.example.{name}",
                help=f"```sql\n{sql}\n```",
                on_click=url_state.put,
                kwargs={"sql": sql},
            )


draw()
