"""Shows a plan: its summary, what expires and why the rest is kept, all files, the command, and the button to run it.

Invariant: what runs is exactly the plan that the reader saw, bound to the button. It runs as a background job.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow.compute as pc
import streamlit as st

from core.execution import apply as applying
from core.execution import protect
from core.execution.delete_files import Receipt
from core.messages import sentences
from core.model.actions import CleanOrphans
from core.model.history import History
from core.model.plan import Plan
from core.planning.confirmation import Danger, danger
from core.table import resolve
from dashboard import background_jobs, permissions, settings, words
from dashboard import data as loading
from dashboard.components import explain_figure, grid, inputs, reports
from dashboard.components.changes import running_change, runs
from dashboard.components.frame import OpenedTable
from dashboard.components.history import retention_curve
from dashboard.formatting import commands, markup, units
from dashboard.formatting.prices import Price, price_suffix
from dashboard.view_models import branches, rows, table_tree
from dashboard.view_models.version_picker import LISTED


def command(text: str) -> None:
    """Show the equivalent command line."""
    st.caption(words.COMMAND)
    st.code(text, language="bash", wrap_lines=True)


def command_of(opened: OpenedTable, plan: Plan, *, is_brief: bool = False) -> None:
    """Show the command line of a plan and the engine's procedure; `is_brief`: without the files to compare."""
    text = commands.of(plan.change, opened.ref.location, [each.root for each in plan.outside])
    if text is not None:
        command(text)
    line = opened.heads.line(plan.change.branch) or opened.heads.main
    asks = commands.PROCEDURES.get(opened.heads.capabilities.procedures)
    procedure = None if asks is None else asks(plan.change, opened.ref.title, plan.now_ms, line.options)
    if procedure is not None:
        is_beside = opened.heads.capabilities.simulates_engine and not is_brief
        st.caption(words.PROCEDURE_BESIDE if is_beside else words.PROCEDURE[opened.heads.capabilities.procedures])
        st.code(procedure, language="sql", wrap_lines=True)
    reports.of_plan(opened, plan)


def brief(plan: Plan) -> None:
    """A plan in one sentence, and what to know before, without its files."""
    st.html(markup.headline(plan.headline))
    notes(plan)


def draw(opened: OpenedTable, plan: Plan, history: History) -> None:
    """Everything a plan says."""
    summary(opened, plan)
    details(opened, plan, history)


def summary(opened: OpenedTable, plan: Plan) -> None:
    """The plan in one sentence, its figures and a bar of them."""
    price = settings.price(opened.ref.location)
    st.html(markup.headline(plan.headline))
    _figures(opened, plan, price)
    if len(plan.frees):
        st.html(markup.stack(rows.freed_parts(plan, price)))


def details(opened: OpenedTable, plan: Plan, history: History) -> None:
    """Show the notes of a plan, why each version is kept or expires, and every file."""
    notes(plan)
    if len(plan.orphans):
        with st.expander(words.held_by_nothing(len(plan.orphans))):
            st.html(markup.table(words.ORPHAN_HEADS, branches.orphans(plan)))
    if plan.change.is_expiry:
        retention_curve.next_commit(opened, history, plan.change.branch)
    panes: dict[str, tuple[str, Callable[[], None]]] = {
        "ended": (words.ended_files(len(plan.leaving)), lambda: _ended(opened, plan)),
        "verdicts": (words.VERDICTS, lambda: _verdicts(opened, plan, history)),
        "files": (words.freed_files(len(plan.frees)), lambda: _files(opened, plan)),
        "native": (words.NATIVE, lambda: retention_curve.engine_differences(history, plan)),
        "steps": (words.STEPS, lambda: _steps(plan)),
        "how": (words.HOW, lambda: _computed(opened, plan)),
    }
    if not opened.heads.capabilities.simulates_engine:
        del panes["native"]
    if isinstance(plan.change, CleanOrphans):  # what it deletes belongs to no version
        del panes["verdicts"]
    if not len(plan.leaving):
        del panes["ended"]
    for name, tab in inputs.tabs("tab", {name: label for name, (label, _) in panes.items()}, _kind(plan)).items():
        if tab.open:
            with tab:
                panes[name][1]()


def notes(plan: Plan) -> None:
    for level, messages in (("warning", plan.warnings), ("info", plan.notes)):
        for each in messages:
            st.html(markup.note(level, each.text))


def _figures(opened: OpenedTable, plan: Plan, price: Price | None) -> None:
    costs = [price_suffix(size, price) for size in (plan.freed_bytes, plan.kept_bytes, plan.tags_keep_bytes)]
    tiles: list[tuple[str, str | markup.Html, str | markup.Html]] = [
        (words.FREES, markup.size(plan.freed_bytes), units.plural(len(plan.frees), "file") + costs[0]),
        (words.KEEPS, markup.size(plan.kept_bytes), words.KEEPS_BELOW + costs[1]),
        (words.TAGS_KEEP, markup.size(plan.tags_keep_bytes), words.TAGS_KEEP_BELOW + costs[2]),
        (words.GO, units.count(len(plan.deleted_points)), words.of_points(len(plan.points))),
    ]
    rules = [words.HOW_FREED, words.HOW_KEPT, words.HOW_TAGS_KEEP, words.HOW_VERDICTS]
    if isinstance(plan.change, CleanOrphans):
        del tiles[2:], rules[2:]
    elif not opened.heads.capabilities.tags_hold_files:
        del tiles[2], rules[2]
    if len(plan.leaving):
        ended = pc.sum(plan.leaving["bytes"]).as_py() or 0
        tiles.insert(0, (words.ENDS, markup.size(ended), units.plural(len(plan.leaving), "file")))
        rules.insert(0, words.HOW_ENDED)
    explain_figure.html(markup.tiles(tiles), *rules, at=_kind(plan), wide=True)


def _ended(opened: OpenedTable, plan: Plan) -> None:
    """List the files that a commit removes from the newest version of its branch, largest first."""
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
    """List the steps in order, as recorded in the journal."""
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
    """Offer to tag a snapshot that would expire, with one click: a temporary tag whose files are checked."""
    expiring = [verdict.point for verdict in plan.deleted_points if verdict.point.rsplit("/", 1)[-1].isdigit()]
    if not expiring or not plan.change.is_expiry:
        return
    with st.container(horizontal=True, vertical_alignment="bottom", key="protect"):
        others = f" {words.PROTECT_OTHERS}" if len(expiring) > LISTED else ""
        picked = st.selectbox(
            words.PROTECT_POINT,
            expiring[: -LISTED - 1 : -1],  # the browser takes a third of a second for ten thousand
            key="plans.protect",
            help=words.PROTECT_HELP + others,
            width=220,
        )
        table, point = loading.table(opened.ref.location), resolve(opened.heads, picked)
        tag = protect.protection(table, point, protect.DAYS_MS, opened.now_ms)
        tag_plan = loading.plan(history, tag, opened.now_ms)
        st.button(
            words.PROTECT,
            icon=":material/shield:",
            key="plans.protect.go",
            disabled=not permissions.is_on(opened.listing),
            on_click=_submit,
            args=(opened, tag_plan, None),
        )


def _kind(plan: Plan) -> str:
    """Return a key for this kind of plan; a page has at most one plan of each kind."""
    return type(plan.change).__name__


def _verdicts(opened: OpenedTable, plan: Plan, history: History) -> None:
    decisions = loading.decisions(plan, opened.heads, opened.zone)
    grid.draw(
        decisions,
        f"plan.verdicts.{_kind(plan)}",
        columns={
            "point": grid.whole(words.COLUMN["point"], decisions["point"]),
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
    """Draw the confirmation: the text to type and the button. If changes are not allowed, explain why.

    `clears` is the input that requested the change, with a key from `cleared`.
    """
    if running_change.show_submitted(opened, plan.fingerprint):
        return
    if not permissions.is_on(opened.listing):
        is_switched = permissions.server_allows(opened.listing)
        st.html(markup.note("info", words.SWITCHED_OFF if is_switched else words.WHY_NOT_HERE))
        return
    if _is_empty(plan):
        return
    found = danger(plan, opened.ref.name)
    of = f"{plan.fingerprint[:12]}.{opened.ref.location}"  # binds clicks and typed confirmations to this plan and table
    with st.container(border=True, key=f"carry_out.{_kind(plan)}"):
        if found.why:
            st.html(markup.note("warning", words.grave(sentences(found.why))))
        named = roots(found, of)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            typed = ""
            if found.phrase:
                label = words.type_to_confirm(table_tree.inline(found.phrase))
                typed = st.text_input(label, key=f"confirm.{of}", live=True) or ""
            st.button(
                words.CREATE if plan.change.makes_a_tag else words.CARRY_OUT,
                key=f"carry_out.{_kind(plan)}.{of}",
                type="primary",
                icon=_icon(plan),
                disabled=typed.strip() != found.phrase or len(named) < len(found.outside),
                on_click=_submit,
                args=(opened, plan, clears, tuple(named)),
            )


def footer(opened: OpenedTable, plan: Plan) -> None:
    """What a plan reclaims, its confirmation and its button, in sight wherever the page is scrolled to. Nothing for a
    plan that changes nothing: its headline has said so."""
    if _is_empty(plan):
        return
    with st.container(key="plan_footer"):
        price = settings.price(opened.ref.location)
        reclaimed = words.reclaims(plan.freed_bytes, len(plan.frees)) + price_suffix(plan.freed_bytes, price)
        expired = (
            [markup.muted(words.expires_of(len(plan.deleted_points), len(plan.points)))] if plan.deleted_points else []
        )
        st.html(markup.stat([markup.strong(reclaimed), *expired]))
        carry_out(opened, plan)


def _is_empty(plan: Plan) -> bool:
    return not plan.removes and not plan.leaves and not len(plan.frees)


def _icon(plan: Plan) -> str:
    if plan.change.makes_a_tag:
        return ":material/bookmark_add:"
    return ":material/auto_delete:" if plan.deleted_points or len(plan.frees) else ":material/check:"


def roots(found: Danger, of: str) -> list[str]:
    """Let the reader confirm the directories outside the table in which files are deleted; return the confirmed
    ones."""
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

    planned = len(plan.frees)
    if running_change.submit(opened, plan.fingerprint, work, plan.headline, planned) and clears is not None:
        st.session_state[_made(clears)] = st.session_state.get(_made(clears), 0) + 1


def _made(key: str) -> str:
    return f"plans.made.{key}"


def cleared(key: str) -> str:
    """Return the key of an input that requests a change. The key changes once the plan has started, so the input is
    empty. If the same widget were emptied instead, a browser that has not yet received the update would send its old
    text again."""
    made = st.session_state.get(_made(key), 0)
    return f"{key}.{made}" if made else key


def progress(opened: OpenedTable) -> None:
    """What a change of this table that was cut off can do, and how the newest one ended. Every reader sees it."""
    running_change.draw(opened)
    runs.ended(opened)
