"""The table's automatic tags: its rules, what is due, the next dates."""

from __future__ import annotations

import streamlit as st

from core import tagging
from core.errors import SnapscopeError
from core.history import History
from dashboard import loading
from dashboard.present import commands, markup, words
from dashboard.widgets import plans, several
from dashboard.widgets.frame import Opened


def draw(opened: Opened, history: History, branch: str) -> None:
    """Nothing where the table asks for none; one line where what it asks for is not done here."""
    try:
        found = tagging.automatic(loading.table(opened.ref.location), history, opened.now_ms, branch)
    except SnapscopeError as error:
        st.html(markup.panel_title(words.AUTO_TAGS))
        st.html(markup.note("warning", str(error)))
        return
    if found.rules is None:
        return
    st.html(markup.panel_title(words.AUTO_TAGS))
    st.html(markup.note("info", words.auto_rules(found.rules)))
    for note in found.notes:
        st.html(markup.note("info", note))
    if found.plans:
        several.draw(opened, found.plans, found.fingerprint, words.AUTO_DUE)
    else:
        st.caption(words.AUTO_NONE_DUE)
    if found.coming:
        mode = found.rules.mode
        rows = [(markup.mono(each.name), words.auto_next(each, mode, opened.zone)) for each in found.coming]
        st.html(markup.table(words.AUTO_HEADS, rows))
    plans.command(commands.auto_tag(opened.ref.location, branch))
