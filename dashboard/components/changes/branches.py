"""Branches and rollback: one form per change, with its plan below as soon as the form is complete."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from core.model.actions import (
    Change,
    CreateBranch,
    DeleteBranches,
    FastForward,
    RenameBranch,
    ReplaceBranch,
    ResetConsumer,
    Rollback,
)
from core.model.references import MAIN, Heads, Line
from core.units import parse_user_duration_ms
from dashboard import data as loading
from dashboard import words
from dashboard.components import errors, frame, inputs, version_picker
from dashboard.components.changes import plan as plans
from dashboard.components.frame import OpenedTable
from dashboard.formatting import markup
from dashboard.view_models import branches as texts
from dashboard.view_models import table_tree

Form = Callable[[Heads, Line], Change | None]


def draw(opened: OpenedTable, line: Line) -> None:
    """Draw the branches and their forms. For a Paimon table, `line` is the branch that rollback applies to."""
    st.html(markup.panel_title(words.BRANCHES))
    st.html(markup.table(words.BRANCH_HEADS, texts.table(opened.heads, opened.zone)))
    forms = _forms(opened.heads, line)
    tabs = inputs.tabs("form", {name: f"{_ICONS[name]} {words.BRANCH_FORMS[name]}" for name in forms})
    _keep_inputs(opened.ref.location)
    for name, form in forms.items():
        if not tabs[name].open:
            continue
        with tabs[name], errors.boundary():
            with st.container(horizontal=True, vertical_alignment="bottom"):
                change = form(opened.heads, line)
            if change is None:
                st.caption(words.BRANCH_TEACH[name])
                continue
            history = frame.read_history(opened.heads)
            plan = loading.plan(history, change, opened.now_ms)
            plans.draw(opened, plan, history)
            plans.carry_out(opened, plan)
            plans.command_of(opened, plan)


def _keep_inputs(location: str) -> None:
    """Keep what was typed into forms that are not drawn, which Streamlit forgets; forget what was typed for another
    table."""
    is_same = st.session_state.get(_OF) == location
    st.session_state[_OF] = location
    for key in [each for each in st.session_state if str(each).startswith("branches.")]:
        if is_same:
            st.session_state[key] = st.session_state[key]
        else:
            del st.session_state[key]


_OF = "branches_of"  # the location of the table whose forms were drawn last
_ICONS = {
    "create": ":material/fork_right:",
    "replace": ":material/swap_horiz:",
    "rename": ":material/edit:",
    "forward": ":material/fast_forward:",
    "rollback": ":material/undo:",
    "delete": ":material/auto_delete:",
    "consumer": ":material/podcasts:",
}


def _forms(heads: Heads, line: Line) -> Mapping[str, Form]:
    others: dict[str, Form] = {"rename": _rename, "forward": _forward, "delete": _delete}
    if not heads.branches:
        others = {}
    if not heads.capabilities.branches_are_directories:
        return {"create": _create, "replace": _replace, **others, "rollback": _rollback}
    consumers: dict[str, Form] = {"consumer": _consumer} if line.consumers else {}
    return {"create": _cut, **others, "rollback": _return, **consumers}


def _create(heads: Heads, _: Line) -> Change | None:
    name = (st.text_input(words.BRANCH_NAME, key=_key(heads, "create"), width=inputs.NARROW) or "").strip()
    point = _point(heads, "create", words.BRANCH_POINT)
    kept = _kept(heads, "create")
    return CreateBranch(name, point, *kept) if name else None


def _replace(heads: Heads, _: Line) -> Change | None:
    name = _branch(heads, "replace", [MAIN, *heads.branches])
    point = _point(heads, "replace", words.BRANCH_REPLACE_POINT)
    kept = _kept(heads, "replace")
    is_told = point is not None or any(value is not None for value in kept)
    return ReplaceBranch(name, point, *kept) if name and is_told else None


def _rename(heads: Heads, _: Line) -> Change | None:
    name = _branch(heads, "rename", heads.branches)
    to = (st.text_input(words.TAG_RENAME_TO, key=_key(heads, "rename.to"), width=inputs.WIDE) or "").strip()
    return RenameBranch(name, to) if name and to else None


def _forward(heads: Heads, _: Line) -> Change | None:
    name = _branch(heads, "forward", heads.branches)
    return FastForward(name) if name else None


def _rollback(heads: Heads, _: Line) -> Change | None:
    point = _point(heads, "rollback", words.ROLLBACK_POINT)
    any_line = st.checkbox(words.ROLLBACK_SET, key=_key(heads, "rollback.set"), help=words.ROLLBACK_SET_HELP)
    return Rollback(point, any_line=any_line) if point else None


def _delete(heads: Heads, _: Line) -> Change | None:
    names = st.multiselect(
        words.BRANCH,
        heads.branches,
        key=_key(heads, "delete"),
        placeholder=words.CHOOSE_SEVERAL,
        width=inputs.ROOMY,
    )
    return DeleteBranches(tuple(names)) if names else None


# Paimon's -----------------------------------------------------------------------------------------------------------


def _cut(heads: Heads, _: Line) -> Change | None:
    name = (st.text_input(words.BRANCH_NAME, key=_key(heads, "create"), width=inputs.NARROW) or "").strip()
    tags = [f"tag:{tag.name}" for tag in heads.main.tags]
    point = st.selectbox(
        words.BRANCH_POINT, tags, index=None, key=_key(heads, "create.point"), help=words.BRANCH_CUT_HELP,
        placeholder=words.CHOOSE,
    )  # fmt: skip
    return CreateBranch(name, point) if name else None


def _return(heads: Heads, line: Line) -> Change | None:
    label = words.rollback_point(table_tree.inline(line.branch))
    picked = version_picker.pick(label, heads, key=_key(heads, "rollback.point"), line=line, width=inputs.ROOMY)
    destructive = st.checkbox(
        words.ROLLBACK_DESTROYS, key=_key(heads, "rollback.destroys"), help=words.ROLLBACK_DESTROYS_HELP
    )
    return Rollback(picked.found.point, destructive, branch=line.branch) if picked else None


def _consumer(heads: Heads, line: Line) -> Change | None:
    names = [each.name for each in line.consumers]
    name = st.selectbox(words.CONSUMER, names, index=None, key=_key(heads, "consumer"), placeholder=words.CHOOSE)
    key, help = _key(heads, "consumer.next"), words.CONSUMER_HELP
    begin = version_picker.pick(words.CONSUMER_NEXT, heads, key=key, line=line, help=help, width=inputs.ROOMY)
    return ResetConsumer(name, begin.found.snapshot.id if begin else None, line.branch) if name else None


# inputs --------------------------------------------------------------------------------------------------------------


def _key(heads: Heads, name: str) -> str:
    return inputs.of_table(f"branches.{name}", heads.location)


def _branch(heads: Heads, form: str, names: list[str] | tuple[str, ...]) -> str | None:
    key = _key(heads, form)
    return st.selectbox(words.BRANCH, names, index=None, key=key, placeholder=words.CHOOSE, width=inputs.NARROW)


def _point(heads: Heads, form: str, label: str) -> str | None:
    picked = version_picker.pick(
        label, heads, key=_key(heads, f"{form}.point"), help=words.BRANCH_POINT_HELP, width=inputs.ROOMY
    )
    return picked.point if picked else None


def _kept(heads: Heads, form: str) -> tuple[int | None, int | None, int | None]:
    """Inputs for branch retention: minimum snapshots, maximum snapshot age and maximum ref age."""
    least = st.number_input(
        words.BRANCH_LEAST, min_value=1, value=None, step=1, key=_key(heads, f"{form}.least"), width=inputs.NARROW
    )
    ages = [
        st.text_input(
            label, key=_key(heads, f"{form}.{name}"), placeholder=words.TAG_RETAINED_HINT, width=inputs.NARROW
        )
        for name, label in (("snapshots", words.BRANCH_SNAPSHOT_AGE), ("age", words.BRANCH_AGE))
    ]
    snapshots_ms, own_ms = (parse_user_duration_ms(age) if age and age.strip() else None for age in ages)
    return least, snapshots_ms, own_ms
