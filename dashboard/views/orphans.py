"""Orphans: files that no snapshot, tag or branch names; found, planned, confirmed and deleted like anything else."""

from __future__ import annotations

import re

import streamlit as st

from core.errors import Unsupported
from core.model.actions import CleanOrphans
from core.model.history import History
from dashboard import data as loading
from dashboard import url_state, words
from dashboard.components import errors, frame, inputs, storage_price
from dashboard.components.changes import plan as plans
from dashboard.components.frame import OpenedTable
from dashboard.formatting import commands, markup, units

_NEXT = re.compile(r",(?=[^,=/]+=)")  # before the next directory, `KEY=VALUE`


def draw() -> None:
    opened = frame.open_table(url_state.here())
    frame.need_snapshots(opened)
    history = frame.history_or_none(opened)
    frame.note_all(opened, history)
    plans.progress(opened)
    st.html(markup.note("info", words.ORPHANS_TEACH))
    with errors.boundary():
        change = _change(opened)
        if history is not None:
            _plan(opened, history, change)


def _change(opened: OpenedTable) -> CleanOrphans:
    with st.container(horizontal=True, vertical_alignment="bottom", key="orphans_form"):
        usual = units.duration(opened.heads.capabilities.orphan_age_ms)
        older = inputs.text(words.ORPHANS_OLDER, "written", words.orphans_older_help(usual), usual)
        also = None
        if opened.heads.capabilities.names_partitions:
            also = inputs.text(words.ORPHANS_ALSO, "also", words.ORPHANS_ALSO_HELP, words.ORPHANS_ALSO_HINT)
        st.space("stretch")
        storage_price.draw(opened.ref.location)
    return CleanOrphans(_before_ms(opened, older), also=_directories(also or ""))


def _directories(text: str) -> tuple[str, ...]:
    """Split `dt=2026-01-01, region=a,b`: a comma is part of a directory's name unless the next one follows it. A
    percent sign is part of the name, because Paimon escapes in it what no directory's name can hold."""
    return tuple(dict.fromkeys(name for each in _NEXT.split(text) if (name := each.strip(" ,"))))


def _before_ms(opened: OpenedTable, older: str | None) -> int:
    """Files last written before this: a length of time back from now, or a time; else the age that the engine takes."""
    age_ms, time_ms = inputs.age(older, opened.zone, opened.now_ms)
    if time_ms is not None:
        return time_ms
    return opened.now_ms - (opened.heads.capabilities.orphan_age_ms if age_ms is None else age_ms)


def _searched(opened: OpenedTable, change: CleanOrphans) -> str:
    if not opened.heads.capabilities.names_partitions:
        return words.orphans_searched_everywhere(change.older_than_ms, opened.zone)
    return words.orphans_searched(change.older_than_ms, change.also, opened.zone)


def _plan(opened: OpenedTable, history: History, change: CleanOrphans) -> None:
    try:
        with st.spinner(words.ORPHANS_LOOKING, show_time=True):
            plan = loading.plan(history, change, opened.now_ms)
    except Unsupported as error:  # only the table's catalog or its engine knows what nothing holds
        st.html(markup.empty(error.message, error.remedy or ""))
        st.code(commands.remove_orphans(opened.ref.title), language="sql", wrap_lines=True)
        return
    if not len(plan.frees):
        searched = _searched(opened, change)
        st.html(markup.empty(words.ORPHANS_NONE, searched))
        plans.notes(plan)
        return
    plans.summary(opened, plan)
    plans.details(opened, plan, history)
    plans.command_of(opened, plan)
    plans.footer(opened, plan)


draw()
