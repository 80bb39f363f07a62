"""Asks, before a page is drawn, whether to open a location that only the URL names."""

from __future__ import annotations

import streamlit as st

from dashboard import url_state, words
from dashboard.formatting import markup
from dashboard.view_models import table_tree

WIDTH = 740
LONGEST = 60  # the maximum length of a name on a button; it is shown in full above


def ask(location: str) -> None:
    """Show the location that the URL requests. Nothing in it has been read yet."""
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
    """Without access control, anyone could have requested this page: show how to start the server instead."""
    st.html(markup.empty(words.UNGUARDED, words.UNGUARDED_NEXT))
