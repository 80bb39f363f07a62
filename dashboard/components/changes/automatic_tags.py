"""The table's automatic tags: its rules, tags that are due, the next dates, and expired tags."""

from __future__ import annotations

import streamlit as st

from core.errors import SnapscopeError
from core.execution import automatic_tags
from core.execution.automatic_tags import Tagging
from core.formats.paimon.plan.automatic_tags import AutomaticTagRules
from core.model.history import History
from core.procedures import statements
from dashboard import data as loading
from dashboard import words
from dashboard.components import explain_figure
from dashboard.components.changes import plan, plan_sequence
from dashboard.components.frame import OpenedTable
from dashboard.formatting import commands, markup


def draw(opened: OpenedTable, history: History, branch: str) -> None:
    """Draw automatic tags. Draws nothing if the table configures none and no tag has expired, or one line if tags are
    due."""
    table = loading.table(opened.ref.location)
    try:
        found = automatic_tags.automatic(table, history, opened.now_ms, branch)
    except SnapscopeError as error:
        st.html(markup.panel_title(words.AUTO_TAGS))
        st.html(markup.note("warning", str(error)))
        return
    if found.rules is not None:
        _rules(opened, found, found.rules, branch)
        if found.rules.is_expiring:
            return  # expired tags are part of the sequence
    over, _ = automatic_tags.ended(table, history, opened.now_ms, branch)
    if over is not None:
        st.html(markup.panel_title(words.TAGS_OVER))
        plan_sequence.draw(opened, [over], over.fingerprint, words.TAGS_OVER_GO)
        _spoken(opened, "expire-tags", "expire_tags", branch)


def _rules(opened: OpenedTable, found: Tagging, of: AutomaticTagRules, branch: str) -> None:
    explain_figure.html(markup.panel_title(words.AUTO_TAGS), words.HOW_AUTO_TAGS)
    st.html(markup.note("info", words.auto_rules(of)))
    for note in found.notes:
        st.html(markup.note("info", note.text))
    if found.plans:
        plan_sequence.draw(opened, found.plans, found.fingerprint, words.AUTO_DUE)
    else:
        st.caption(words.AUTO_NONE_DUE)
    if found.coming:
        rows = [(markup.mono(each.name), words.auto_next(each, of.mode, opened.zone)) for each in found.coming]
        st.html(markup.table(words.AUTO_HEADS, rows))
    _spoken(opened, "auto-tag", "trigger_tag_automatic_creation", branch)


def _spoken(opened: OpenedTable, command: str, procedure: str, branch: str) -> None:
    """Show the equivalent command and procedure."""
    plan.command(commands.of_table(command, opened.ref.location, branch))
    st.caption(words.PROCEDURE["sys"])
    st.code(statements.call(procedure, opened.ref.title, branch), language="sql", wrap_lines=True)
