"""How far a demo is that is still being built, over whatever page is open.

Invariant: nothing is said of a place that holds no demo in the making, and what stands here ends by itself.
"""

from __future__ import annotations

import streamlit as st

from core.demo import progress
from core.demo.progress import Building
from core.errors import SnapscopeError
from dashboard import data as loading
from dashboard import url_state, words
from dashboard.components import errors
from dashboard.formatting import markup
from dashboard.url_state import UrlState

EVERY_S = 1.0
_SEEN = "demo.seen"


def draw(place: UrlState) -> None:
    """The state of the open place, redrawn while it changes. Only of places that the server was started with."""
    found = _building(place)
    st.session_state[_SEEN] = None if found is None else len(found.told)
    if found is not None:
        st.fragment(_watch, run_every=EVERY_S)(place)


def _building(place: UrlState) -> Building | None:
    if not place.warehouse or place.warehouse not in url_state.served() or "://" in place.warehouse:
        return None
    try:
        return progress.read(place.warehouse)
    except SnapscopeError as error:
        errors.show(error)
        return None


def _watch(place: UrlState) -> None:
    found = _building(place)
    if (None if found is None else len(found.told)) != st.session_state[_SEEN]:  # a table came, or the last one
        loading.forget_listings()
        st.rerun(scope="app")
    if found is None:
        return
    ready, tables = len(found.told), len(progress.TABLES)
    if found.problem:
        st.html(markup.note("problem", words.demo_stopped(found.problem)))
    elif not progress.is_being_built(str(place.warehouse)):
        st.html(markup.note("warning", words.demo_cut_off(ready, tables)))
    else:
        st.progress(ready / tables, text=words.demo_building(ready, tables, found.now))
