"""Audit: every change made from here, who asked for it, what it planned and what it did, path by path."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.journal import Journal, Run
from core.table import open_table
from dashboard import state
from dashboard.present import lab, markup, words
from dashboard.widgets import errors, frame, grids
from dashboard.widgets.frame import Opened

GRID = "audit.grid"


def draw() -> None:
    opened = frame.open_table(state.here())
    with errors.boundary():
        journal = Journal()
        everything = st.toggle(words.AUDIT_ALL, key="audit.all", help=words.AUDIT_ALL_HELP)
        found = journal.runs(None if everything else open_table(opened.ref.location).location)
        if not found:
            st.html(markup.empty(words.AUDIT_EMPTY, words.AUDIT_EMPTY_NEXT))
            return
        same, ended = lab.exact(found)
        if ended:
            st.html(markup.headline(words.audit_exact(same, ended)))
        columns = {name: grids.text(words.AUDIT_COLUMNS[name]) for name in words.AUDIT_COLUMNS}
        chosen = grids.choose(lab.runs(found, opened.zone), GRID, columns=columns)
        _exports(journal)
        if chosen is None:
            st.caption(words.AUDIT_PICK)
        else:
            _one(opened, journal, found[chosen])


def _exports(journal: Journal) -> None:
    with st.container(horizontal=True):
        for style in ("csv", "json"):
            st.download_button(
                words.audit_export(style),
                partial(journal.export, style),
                file_name=f"journal.{style}",
                key=f"audit.{style}",
                icon=":material/download:",
                on_click="ignore",
                type="tertiary",
            )
        st.html(markup.note("info", words.audit_intact(journal.verify())))


def _one(opened: Opened, journal: Journal, run: Run) -> None:
    st.html(markup.panel_title(words.CHANGE_NAMES.get(run.change_kind, run.change_kind)))
    receipt = run.receipt or {}
    st.html(
        markup.facts(
            [
                (words.AUDIT_COLUMNS["run"], markup.mono(run.id)),
                (words.AUDIT_COLUMNS["who"], run.who),
                (words.AUDIT_COLUMNS["started"], markup.moment(run.started_ms, opened.zone, opened.now_ms)),
                (words.AUDIT_ENDED, markup.moment(run.ended_ms, opened.zone, opened.now_ms)),
                (words.AUDIT_COLUMNS["state"], words.run_state(run)),
                (words.AUDIT_COLUMNS["planned"], str(run.plan["headline"])),
                (words.AUDIT_DONE, words.run_done(receipt) if receipt else "—"),
                (words.RULES, str(run.plan["rules"])),
                (words.FINGERPRINT, markup.mono(run.fingerprint)),
            ]
        )
    )
    if run.problem:
        st.html(markup.note("problem", run.problem))
    deleted = journal.deleted(run.id)
    with st.expander(words.audit_deleted(len(deleted))):
        st.html(markup.table(words.AUDIT_PATH_HEADS, [[markup.mono(path)] for path in deleted[:500]]))
        if len(deleted) > 500:
            st.html(markup.note("info", words.capped(500, len(deleted), words.FILES_NOUN)))
    points = [[point, words.STAYS if keep else words.GOES, "; ".join(why)] for point, keep, why in run.plan["points"]]
    with st.expander(words.audit_points(len(points))):
        st.html(markup.table(words.AUDIT_POINT_HEADS, points[:500]))
    st.caption(words.audit_entries(len(journal.events(run.id))))


draw()
