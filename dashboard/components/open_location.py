"""Asks, before a page is drawn, whether a location that only the address names should be opened."""

from __future__ import annotations

import streamlit as st

from dashboard import url_state, words
from dashboard.formatting import markup
from dashboard.view_models import table_tree

WIDTH = 740
LONGEST = 60  # of a name on a button; the whole of it stands above


def ask(location: str) -> None:
    """Name the place that the address asks for; nothing of it was looked at yet."""
    with st.container(key="entering", width=WIDTH):
        st.html(markup.empty(words.OPEN_TITLE, words.OPEN_WHY))
        st.code(location, language=None, wrap_lines=True)
        with st.container(horizontal=True):
            short = location if len(location) <= LONGEST else f"{location[: LONGEST - 1]}…"
            label = table_tree.label(words.open_place(short))
            st.button(label, type="primary", key="entering.open", on_click=url_state.confirm, args=(location,))
            if url_state.served():
                st.button(words.OPEN_INSTEAD, key="entering.stay", on_click=url_state.put, kwargs={"warehouse": None})


def unguarded() -> None:
    """Where anybody could have asked for this page: what to start instead."""
    st.html(markup.empty(words.UNGUARDED, words.UNGUARDED_NEXT))
