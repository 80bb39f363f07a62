"""Pins a version with a temporary tag, planned and confirmed like any change. In read-only mode, shows the command."""

from __future__ import annotations

import streamlit as st

from core.execution import protect
from core.model.time_travel import AsOf
from core.units import parse_user_duration_ms, whole
from dashboard import data as loading
from dashboard import words
from dashboard.components import errors, frame
from dashboard.components.changes import plan as plans
from dashboard.components.frame import OpenedTable
from dashboard.formatting import markup

KEPT = whole(protect.DAYS_MS)


def draw(opened: OpenedTable, found: AsOf) -> None:
    """Draw the form; nothing is planned until it is opened. A tag cannot be pinned."""
    if not found.point.rsplit("/", 1)[-1].isdigit():
        return
    opens = st.expander(words.PROTECT_THIS, icon=":material/shield:", key="protect.open", on_change="rerun")
    if not opens.open:
        return
    with opens, errors.boundary():
        plans.progress(opened)
        if not _wanted(opened, found):
            return
        kept = st.text_input(words.TAG_RETAINED, KEPT, key="protect.kept", help=words.PROTECT_HELP, width=160) or KEPT
        table = loading.table(opened.ref.location)
        tag = protect.protection(table, found, parse_user_duration_ms(kept), opened.now_ms)
        plan = loading.plan(frame.read_history(opened.heads), tag, opened.now_ms)
        plans.brief(plan)
        plans.carry_out(opened, plan)
        plans.command_of(opened, plan, is_brief=True)


def _wanted(opened: OpenedTable, found: AsOf) -> bool:
    """Whether to offer a tag. If there is one already, for example because it was just created, ask for another."""
    names = protect.pins(opened.heads, found)
    if not names:
        return True
    st.html(markup.note("info", words.kept_by(names)))
    return st.checkbox(words.PIN_ANOTHER, key=f"protect.another.{found.point}.{len(names)}")
