"""A plan on the page: the sentence, what goes and why the rest stays, every file, the command, and carrying it out.

Law: what is carried out is the frozen plan the reader saw, bound to the button; it runs as a job outside the script.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow.compute as pc
import streamlit as st

from core.execution import apply as applying
from core.execution import protect
from core.execution.delete_files import Receipt
from core.execution.journal import Journal
from core.messages import sentences
from core.model.history import History
from core.model.plan import Plan
from core.planning.confirmation import Danger, danger
from core.table import resolve
from dashboard import background_jobs, permissions, url_state, words
from dashboard import data as loading
from dashboard.components import errors, explain_figure, grid, reports
from dashboard.components.changes import running_change
from dashboard.components.frame import OpenedTable
from dashboard.components.history import retention_curve
from dashboard.formatting import commands, markup, units
from dashboard.view_models import branches, rows, table_tree

POLL_S = 0.5


def command(text: str) -> None:
    """The command line that does the same."""
    st.caption(words.COMMAND)
    st.code(text, language="bash", wrap_lines=True)


def command_of(opened: OpenedTable, plan: Plan) -> None:
    """The command line of a plan."""
    text = commands.of(plan.change, opened.ref.location, [each.root for each in plan.outside])
    if text is not None:
        command(text)
    line = opened.heads.line(plan.change.branch) or opened.heads.main
    asks = commands.PROCEDURES.get(opened.heads.capabilities.procedures)
    procedure = None if asks is None else asks(plan.change, opened.ref.title, plan.now_ms, line.options)
    if procedure is not None:
        st.caption(words.PROCEDURE[opened.heads.capabilities.procedures])
        st.code(procedure, language="sql", wrap_lines=True)
    reports.of_plan(opened, plan)


def draw(opened: OpenedTable, plan: Plan, history: History) -> None:
    """Everything a plan says."""
    st.html(markup.headline(plan.headline))
    _figures(opened, plan)
    for level, told in (("warning", plan.warnings), ("info", plan.notes)):
        for each in told:
            st.html(markup.note(level, each.text))
    if len(plan.orphans):
        with st.expander(words.held_by_nothing(len(plan.orphans))):
            st.html(markup.table(words.ORPHAN_HEADS, branches.orphans(plan)))
    if plan.change.is_expiry:
        retention_curve.next_commit(opened, history, plan.change.branch)
    if len(plan.frees):
        st.html(markup.stack(rows.freed_parts(plan)))
    panes: dict[str, Callable[[], None]] = {
        words.VERDICTS: lambda: _verdicts(opened, plan, history),
        words.freed_files(len(plan.frees)): lambda: _files(opened, plan),
        words.NATIVE: lambda: retention_curve.beside(history, plan),
        words.STEPS: lambda: _steps(plan),
        words.HOW: lambda: _computed(opened, plan),
    }
    if not opened.heads.capabilities.simulates_engine:
        del panes[words.NATIVE]
    if len(plan.leaving):
        panes = {words.ended_files(len(plan.leaving)): lambda: _ended(opened, plan), **panes}
    for tab, fill in zip(st.tabs(list(panes)), panes.values(), strict=True):
        with tab:
            fill()


def _figures(opened: OpenedTable, plan: Plan) -> None:
    tiles: list[tuple[str, str | markup.Html, str | markup.Html]] = [
        (words.FREES, markup.size(plan.freed_bytes), units.plural(len(plan.frees), "file")),
        (words.KEEPS, markup.size(plan.kept_bytes), words.KEEPS_BELOW),
        (words.TAGS_KEEP, markup.size(plan.tags_keep_bytes), words.TAGS_KEEP_BELOW),
        (words.GO, units.count(len(plan.goes)), words.of_points(len(plan.points))),
    ]
    rules = [words.HOW_FREED, words.HOW_KEPT, words.HOW_TAGS_KEEP, words.HOW_VERDICTS]
    if not opened.heads.capabilities.tags_hold_files:
        del tiles[2], rules[2]
    if len(plan.leaving):
        ended = pc.sum(plan.leaving["bytes"]).as_py() or 0
        tiles.insert(0, (words.ENDS, markup.size(ended), units.plural(len(plan.leaving), "file")))
        rules.insert(0, words.HOW_ENDED)
    explain_figure.beside(markup.tiles(tiles), *rules, at=_kind(plan), wide=True)


def _ended(opened: OpenedTable, plan: Plan) -> None:
    """The files that a commit takes out of its branch's newest point, largest first."""
    grid.draw(
        rows.ended_files(plan),
        f"plan.ended.{_kind(plan)}",
        columns={
            "path": grid.text(words.COLUMN["path"], width="large"),
            "partition": grid.text(words.COLUMN["partition"]),
            "rows": grid.number(words.COLUMN["rows"]),
            "bytes": grid.number(words.COLUMN["bytes"], words.BYTES_HELP),
        },
        what=words.FILES_NOUN,
        name=f"ends-{opened.ref.name}",
    )


def _steps(plan: Plan) -> None:
    """What is done, in order: the same list that the journal keeps."""
    st.html(markup.table(words.STEP_HEADS, rows.effects(plan.effects), numbers=(0,)))


def _computed(opened: OpenedTable, plan: Plan) -> None:
    st.html(
        markup.facts(
            [
                (words.RULES, plan.rules.text),
                (words.PLANNED_AT, markup.moment(plan.now_ms, opened.zone, opened.now_ms)),
                (words.FINGERPRINT, markup.hint(markup.mono(plan.fingerprint[:16]), plan.fingerprint)),
                ("", markup.muted(words.FINGERPRINT_HELP)),
            ]
        )
    )


def _protect(opened: OpenedTable, plan: Plan, history: History) -> None:
    """One click for a point that would go: a tag checked file by file, that ends by itself."""
    going = [verdict.point for verdict in plan.goes if verdict.point.rsplit("/", 1)[-1].isdigit()]
    if not going or not plan.change.is_expiry:
        return
    with st.container(horizontal=True, vertical_alignment="bottom", key="protect"):
        picked = st.selectbox(words.PROTECT_POINT, going, key="plans.protect", help=words.PROTECT_HELP, width=220)
        table, point = loading.table(opened.ref.location), resolve(opened.heads, picked)
        asked = protect.protection(table, point, protect.DAYS_MS, opened.now_ms)
        made = loading.plan(history, asked, opened.now_ms)
        st.button(
            words.PROTECT,
            icon=":material/shield:",
            key="plans.protect.go",
            disabled=not permissions.is_on(opened.listing),
            on_click=_submit,
            args=(opened, made, None),
        )


def _kind(plan: Plan) -> str:
    """Tells apart the plans on one page: there is one of a kind."""
    return type(plan.change).__name__


def _verdicts(opened: OpenedTable, plan: Plan, history: History) -> None:
    grid.draw(
        rows.verdicts(plan, opened.heads, opened.zone),
        f"plan.verdicts.{_kind(plan)}",
        columns={
            "point": grid.text(words.COLUMN["point"]),
            "verdict": grid.text(words.COLUMN["verdict"], width="small"),
            "committed": grid.text(words.COLUMN["committed"]),
            "reasons": grid.text(words.COLUMN["reasons"], width="large"),
        },
        what=words.POINTS_NOUN,
        name=f"verdicts-{opened.ref.name}",
    )
    _protect(opened, plan, history)


def _files(opened: OpenedTable, plan: Plan) -> None:
    if not len(plan.frees):
        st.html(markup.note("info", words.NOTHING_FREED))
        return
    st.html(markup.table(words.KIND_HEADS, rows.freed_kinds(plan), numbers=(1,)))
    grid.draw(
        rows.freed_files(plan),
        f"plan.files.{_kind(plan)}",
        columns={
            "path": grid.text(words.COLUMN["path"], width="large"),
            "kind": grid.text(words.COLUMN["kind"]),
            "bytes": grid.number(words.COLUMN["bytes"], words.BYTES_HELP),
        },
        what=words.FILES_NOUN,
        name=f"frees-{opened.ref.name}",
    )


# carrying it out --------------------------------------------------------------------------------------------------


def carry_out(opened: OpenedTable, plan: Plan, *, clears: str | None = None) -> None:
    """The confirmation: type what the danger asks for, press the button. Where changes are not allowed: why not.

    `clears` is the input that asked for the change, whose key was given by `cleared`.
    """
    if running_change.tell_begun(opened, plan.fingerprint):
        return
    if not permissions.is_on(opened.listing):
        is_switched = permissions.server_allows(opened.listing)
        st.html(markup.note("info", words.SWITCHED_OFF if is_switched else words.WHY_NOT_HERE))
        return
    if not plan.removes and not plan.leaves and not len(plan.frees):
        return
    found = danger(plan, opened.ref.name)
    of = f"{plan.fingerprint[:12]}.{opened.ref.location}"  # a click on one plan, or a word typed for it, is of no other
    with st.container(border=True, key=f"carry_out.{_kind(plan)}"):
        if found.why:
            st.html(markup.note("warning", words.grave(sentences(found.why))))
        typed = ""
        if found.phrase:
            label = words.type_to_confirm(table_tree.inline(found.phrase))
            typed = st.text_input(label, key=f"confirm.{of}", live=True) or ""
        named = roots(found, of)
        st.button(
            words.CREATE if plan.change.makes_a_tag else words.CARRY_OUT,
            key=f"carry_out.{_kind(plan)}.{of}",
            type="primary",
            icon=_icon(plan),
            disabled=typed.strip() != found.phrase or len(named) < len(found.outside),
            on_click=_submit,
            args=(opened, plan, clears, tuple(named)),
        )


def _icon(plan: Plan) -> str:
    if plan.change.makes_a_tag:
        return ":material/bookmark_add:"
    return ":material/auto_delete:" if plan.goes or len(plan.frees) else ":material/check:"


def roots(found: Danger, of: str) -> list[str]:
    """Of the roots outside the table under which files go, those that the reader has ticked."""
    return [
        each.root
        for number, each in enumerate(found.outside)
        if st.checkbox(words.delete_outside(table_tree.inline(each.words)), key=f"outside.{number}.{of}")
    ]


def _submit(opened: OpenedTable, plan: Plan, clears: str | None, named: tuple[str, ...] = ()) -> None:
    table = loading.table(opened.ref.location)

    def work(job: background_jobs.Job) -> Receipt:
        stop = job.cancelled.is_set
        return applying.apply(table, plan, progress=job.progress, waits=job.waits, cancelled=stop, outside=named)

    if running_change.submit(opened, plan.fingerprint, work) and clears is not None:
        st.session_state[_made(clears)] = st.session_state.get(_made(clears), 0) + 1


def _made(key: str) -> str:
    return f"plans.made.{key}"


def cleared(key: str) -> str:
    """The key of an input that asks for a change: another, empty one once the plan is on its way. Were the same one
    emptied, a browser that has not heard of it yet would fill it again with what it still shows."""
    made = st.session_state.get(_made(key), 0)
    return f"{key}.{made}" if made else key


def progress(opened: OpenedTable) -> None:
    """The newest change of this table, as it goes on and how it ended. Every reader of the table sees it."""
    running_change.draw(opened)
    job = background_jobs.latest(running_change.KIND, opened.ref.location)
    if job is not None:
        st.fragment(_progress, run_every=POLL_S if job.running else None)(opened, job.id)


def _progress(opened: OpenedTable, id: str) -> None:
    with errors.boundary():
        job = background_jobs.find(id)
        if job is None:
            return
        if job.running:
            with st.container(border=True, horizontal=True, vertical_alignment="center"):
                is_ending = job.cancelled.is_set()
                text = words.CANCELLING if is_ending else words.applying(job.done, job.total, job.stage)
                st.progress(job.done / job.total if job.total else 0.0, text=text)
                st.button(words.CANCEL, key="plans.cancel", on_click=job.cancelled.set, disabled=is_ending)
            return
        if not st.session_state.get(f"plans.seen.{id}"):
            st.session_state[f"plans.seen.{id}"] = True
            url_state.refresh()
            st.rerun()
        running_change.tell_end(job)
        with st.container(border=True):
            if job.error is not None:
                errors.show(job.error)
            else:
                _result(opened, job.result)
            st.button(
                words.JOB_DISMISS, key="plans.dismiss", on_click=background_jobs.dismiss, args=(id,), type="tertiary"
            )


def _result(opened: OpenedTable, found: Receipt | tuple[str, ...]) -> None:
    """A receipt, or the references that were written back."""
    if isinstance(found, Receipt):
        _receipt(opened, found)
    else:
        st.html(markup.note("info", words.restored(len(found))))


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
