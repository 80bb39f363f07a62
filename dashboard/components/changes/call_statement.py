"""A CALL statement on the Query page: first its plan, then the usual confirmation."""

from __future__ import annotations

import streamlit as st

from core.model.history import History
from core.procedures import plans as calling
from dashboard import data as loading
from dashboard import words
from dashboard.components import errors
from dashboard.components.changes import plan as plans
from dashboard.components.changes import plan_sequence
from dashboard.components.frame import OpenedTable
from dashboard.formatting import commands, markup


def draw(opened: OpenedTable, history: History, sql: str) -> None:
    plans.progress(opened)
    with errors.boundary():
        _, statement = calling.read(sql, opened.now_ms, opened.ref.location)
        found = calling.planned(loading.table(opened.ref.location), history, statement.request, opened.now_ms)
        st.caption(words.CALL_TEACH)
        for each in found.notices:
            st.html(markup.note("info", each))
        if len(found.plans) == 1:
            [plan] = found.plans
            plans.draw(opened, plan, history)
        elif not found.plans:
            st.html(markup.note("info", words.CALL_NONE))
        if statement.is_dry:
            st.html(markup.note("info", words.CALL_DRY))
        elif len(found.plans) == 1:
            plans.carry_out(opened, found.plans[0])
        elif found.plans:
            plan_sequence.draw(opened, found.plans, found.fingerprint, words.CARRY_OUT)
        plans.command(commands.call_of(opened.ref.location, sql))
