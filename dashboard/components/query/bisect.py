"""Bisect on the Query page: a condition on the table, with each probe shown as soon as it is answered."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field

import streamlit as st

from core.analysis.bisect import Candidate, Outcome, Probe
from core.model.history import History
from core.model.references import MAIN
from core.spark.query import bisect
from core.spark.query.bisect import Found
from dashboard import background_jobs, url_state, words
from dashboard import data as loading
from dashboard.charts import bisect_steps
from dashboard.charts import timeline as charts
from dashboard.charts.bisect_steps import Checked, Steps
from dashboard.components import explain_figure, frame, spark_job, version_picker
from dashboard.components.changes import plan
from dashboard.components.frame import OpenedTable
from dashboard.components.history import timeline as lanes
from dashboard.components.query import sql_editor
from dashboard.formatting import commands, markup, units
from dashboard.view_models import examples, table_tree

KIND = "bisect"
EDITOR, TEXT = "bisect_editor", "query.condition"
TIMEOUT_S = 120


@dataclass(slots=True)
class Search:
    """A search that was started. The job's thread appends to `probes`; the page reads them."""

    id: str
    question: tuple[str, str | None, str | None, str, bool]  # condition, start, end, branch, every version
    probes: list[tuple[Candidate, Probe]] = field(default_factory=list)
    now: str = ""


def draw(opened: OpenedTable, history: History | None) -> None:
    branch = _branch(opened)
    line = opened.heads.line(branch) or opened.heads.main
    with st.container(key="bisect_points"):
        left, right = st.columns(2)
        with left:
            start = version_picker.pick(
                words.BISECT_FROM, opened.heads, name="from", line=line, placeholder=words.BISECT_FROM_NONE
            )
        with right:
            end = version_picker.pick(
                words.BISECT_TO, opened.heads, name="to", line=line, placeholder=words.BISECT_TO_NONE
            )
    points = (start.point if start else url_state.get("from"), end.point if end else url_state.get("to"))
    text = _form(opened, history, (*points, branch))
    question = (text, *points, branch, url_state.get("every") == "1")
    search: Search | None = st.session_state.get(_key(opened))
    if search is not None and search.question != question:
        spark_job.stop(search.id)
        st.html(markup.note("info", words.QUESTION_CHANGED))
    elif search is not None:
        running_search = search
        spark_job.follow(
            search.id,
            KIND,
            words.BISECT_CANCELLED,
            lambda found: _answer(opened, found),
            lambda: _meanwhile(opened, running_search),
        )
    else:
        _teach(opened)
    if text:
        plan.command(commands.bisect(opened.ref.location, text, *points, branch, is_every=question[-1]))


def _branch(opened: OpenedTable) -> str:
    named = url_state.get("branch") or MAIN
    if not opened.heads.branches:
        return MAIN
    known = [MAIN, *opened.heads.branches]
    st.session_state["query.branch"] = named if named in known else MAIN
    st.selectbox(
        words.BISECT_BRANCH,
        known,
        known.index(st.session_state["query.branch"]),
        key="query.branch",
        width=240,
        on_change=lambda: url_state.put(branch=st.session_state["query.branch"]),
    )
    return str(st.session_state["query.branch"])


def _key(opened: OpenedTable) -> str:
    return f"query.search.{opened.ref.location}"


def _form(opened: OpenedTable, history: History | None, where: tuple[str | None, str | None, str]) -> str:
    """Draw the condition; Ctrl+Enter starts the search. Returns the condition as last searched or linked."""
    key, linked = f"{TEXT}.{opened.ref.title}", url_state.get("condition")
    if key not in st.session_state or (linked is not None and linked != st.session_state.get(f"{key}.linked")):
        st.session_state[key] = linked or ""
    st.session_state[f"{key}.linked"] = linked
    search: Search | None = st.session_state.get(_key(opened))
    job = background_jobs.find(search.id if search else None)
    with st.form("bisect.form", border=False):
        with st.container(key=EDITOR, gap=None):
            st.text_area(words.CONDITION, st.session_state[key], key=key, height=80, help=words.CONDITION_HELP)
            schema = (opened.heads.line(where[-1]) or opened.heads.main).schema
            columns = () if schema is None else examples.columns(opened.heads, schema)
            sql_editor.draw(EDITOR, [each.written for each in columns], ("t",))
        with st.container(horizontal=True, vertical_alignment="center", key="bisect_controls"):
            st.form_submit_button(
                words.BISECT_RUN,
                type="primary",
                icon=":material/manage_search:",
                disabled=history is None or (job is not None and job.is_awaited),
                on_click=_submit,
                args=(opened, history, where),
            )
            every = url_state.get("every") == "1"
            st.checkbox(
                words.BISECT_EVERY,
                every,
                key="query.every",
                help=words.bisect_every_help(bisect.EVERY_MOST),
            )
    return linked or ""


def _submit(opened: OpenedTable, history: History, where: tuple[str | None, str | None, str]) -> None:
    key = f"{TEXT}.{opened.ref.title}"
    text, is_every = str(st.session_state[key]).strip(), bool(st.session_state["query.every"])
    url_state.put(condition=text, every="1" if is_every else None)
    st.session_state[f"{key}.linked"] = url_state.get("condition")
    if not text:
        return
    table = loading.table(opened.ref.location)
    start, end, branch = where
    search = Search(str(uuid.uuid4()), (text, start, end, branch, is_every))

    def work(job: background_jobs.Job) -> Found:
        def placed(place: Candidate, id: str, count: int) -> None:
            search.now = place.point
            job.progress(len(search.probes), bisect.expected(count, is_every=is_every))
            spark_job.asks(job, id)

        return bisect.search(
            table,
            text,
            start=start,
            end=end,
            branch=branch,
            is_every=is_every,
            history=history,
            timeout_s=TIMEOUT_S,
            on_place=placed,
            on_probe=lambda place, probe: search.probes.append((place, probe)),
            cancelled=job.cancelled.is_set,
        )

    before: Search | None = st.session_state.get(_key(opened))
    spark_job.stop(before.id if before else None)
    job = background_jobs.submit(search.id, KIND, opened.ref.location, work)
    st.session_state[_key(opened)] = search
    job.wait(spark_job.QUICK_S)


def _meanwhile(opened: OpenedTable, search: Search) -> str:
    job = background_jobs.find(search.id)
    answered = list(search.probes)
    if answered:
        _chart(opened, search.question[3], search.question[0], answered)
        _table(opened, answered)
    return words.bisect_running(
        job.elapsed_s() if job else 0.0, len(answered), max(job.total if job else 0, 2), search.now
    )


def _answer(opened: OpenedTable, found: Found) -> None:
    answer = found.answer
    first, last = found.place(answer.first_true), found.place(answer.last_false)
    explain_figure.html(markup.headline(_headline(opened, found, first, last)), words.HOW_BISECT)
    notes = (
        [("warning", words.bisect_unknown_between(len(answer.unknown)))] if answer.unknown and first is not None else []
    )
    if found.is_after_gap and answer.outcome is Outcome.TURNED:
        notes.append(("warning", words.BISECT_GAP))
    notes += [
        ("warning", words.bisect_contradiction(found.places[a].point, found.places[b].point))
        for a, b in answer.contradictions
    ]
    is_all = len(found.probes) == len(found.places)
    notes.append(("info", words.BISECT_ALL if is_all else words.BISECT_ASSUMED))
    st.html("".join(markup.note(level, text) for level, text in notes))
    probes = [(found.places[each.place], each) for each in found.probes]
    _chart(opened, found.branch, found.condition.text, probes)
    if first is not None:
        _links(found, first)
    _table(opened, probes)
    branch = table_tree.inline(found.branch)
    st.caption(words.bisect_stat(len(found.probes), len(found.places), branch, found.seconds))


def _headline(opened: OpenedTable, found: Found, first: Candidate | None, last: Candidate | None) -> str:
    match found.answer.outcome:
        case Outcome.NEVER:
            return words.BISECT_NEVER
        case Outcome.UNKNOWN:
            return words.BISECT_UNKNOWN
        case Outcome.BACK:
            return words.BISECT_BACK
        case Outcome.ALREADY | Outcome.TURNED:
            assert first is not None
            when = units.moment(first.time_ms, opened.zone)
            return (
                words.bisect_already(first.point, when)
                if last is None
                else words.bisect_turned(first.point, when, last.point)
            )


def _links(found: Found, first: Candidate) -> None:
    """Link to the first version where the condition holds. Its number in the search is used, so that the version before
    it is the previous one."""
    number = found.answer.first_true
    with st.container(horizontal=True, gap="small"):
        if number:
            before = found.places[number - 1].point
            frame.link("diff", words.BISECT_TURNED, ":material/compare_arrows:", a=before, b=first.point)
        frame.link("query", words.BISECT_AT, ":material/terminal:", point=first.point, ask=None)
        frame.link("asof", words.BISECT_AS_OF, ":material/schedule:", point=first.point)
        steps = _steps(found.condition.text, [(found.places[each.place], each) for each in found.probes]).spelled()
        frame.link(
            "timeline", words.BISECT_TIMELINE, ":material/timeline:",
            point=first.point, bisect=steps, spacing="commit", window=None,
        )  # fmt: skip


def _steps(condition: str, probes: Sequence[tuple[Candidate, Probe]]) -> Steps:
    return Steps(condition, tuple(Checked(place.point, probe.value) for place, probe in probes))


def _chart(opened: OpenedTable, branch: str, condition: str, probes: Sequence[tuple[Candidate, Probe]]) -> None:
    """Draw the steps below the branch's commits; a click chooses a version for all pages."""
    whole = loading.axis(opened.heads)
    shown = whole.of_branch(branch) if opened.heads.capabilities.branches_are_directories else whole.filled()
    steps = _steps(condition, probes)
    _, first = bisect_steps.ends(shown, steps)
    chosen = {} if first is None else {first.point: ""}
    figure = charts.timeline(shown, frame.hues(), opened.zone, chosen=chosen, by_commit=True, bisected=steps)
    lanes.draw(figure, charts.legend(shown), "bisect.chart", _choose)


def _choose(payload: str) -> None:
    if not lanes.window_of(payload):
        url_state.put(point=payload)


def _table(opened: OpenedTable, probes: Sequence[tuple[Candidate, Probe]]) -> None:
    """List the probes in commit order; the reason for an unknown value is shown below it."""
    lines = []
    for place, probe in sorted(probes, key=lambda each: each[1].place):
        value = "unknown" if probe.value is None else str(probe.value).lower()
        hue = {"true": "tag", "false": "muted", "unknown": "consumer"}[value]
        result: markup.Piece = markup.in_hue(hue, words.BISECT_VALUES[value])
        if probe.problem:
            result = markup.join([result, markup.muted(probe.problem)])
        moment = markup.moment(place.time_ms, opened.zone, opened.now_ms)
        lines.append((markup.mono(place.point), moment, result, probe.seen or "", f"{probe.seconds:.1f} s"))
    st.html(markup.table(words.BISECT_COLUMNS, lines, numbers=(3, 4)))


def _teach(opened: OpenedTable) -> None:
    latest, schema = opened.heads.main.latest, opened.heads.main.schema
    if schema is None:
        return
    st.html(markup.empty(words.BISECT_EMPTY, words.BISECT_EMPTY_NEXT))
    with st.container(horizontal=True, gap="small", key="bisect_examples"):
        for text in examples.conditions(schema, latest.total_rows if latest else None):
            st.button(
                table_tree.inline(text),
                key=f"bisect.example.{text}",
                on_click=url_state.put,
                kwargs={"condition": text},
            )
