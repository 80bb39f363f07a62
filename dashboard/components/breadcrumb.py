"""The first line of every page: where the reader is, each part a link; whether anything can be changed; copy the link.

Law: each part of the way leads to an address, so Back leads from it.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.errors import SnapscopeError
from dashboard import data as loading
from dashboard import permissions, url_state, words
from dashboard.components.table_tree import AWAY
from dashboard.formatting import markup
from dashboard.url_state import UrlState
from dashboard.view_models import table_tree

_POINT = "snapscope.top.point"
_HERE = Path(__file__).parent
_copy = st.components.v2.component(
    "snapscope_copy_link",
    html=(_HERE / "copy_link.html").read_text(encoding="utf-8"),
    css=(_HERE / "copy_link.css").read_text(encoding="utf-8"),
    js=(_HERE / "copy_link.js").read_text(encoding="utf-8"),
)


def draw(place: UrlState) -> None:
    """The line; it stands in one place whatever the page below it does."""
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small", key="top"):
        with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap=None, key="crumbs"):
            _way(place)
        _mode(place)
        _copy(
            key="copy_link",
            data={"label": words.COPY_LINK, "done": words.COPIED, "help": words.COPY_LINK_HELP},
            width="content",
            height="content",
        )


def point() -> None:
    """Draw the last part anew: where a fragment has put another point into the address."""
    slot = st.session_state.get(_POINT)
    if slot is not None:
        _point(slot)


def _way(place: UrlState) -> None:
    if not place.warehouse:
        _part("overview", words.PAGES["overview"][0])
        return
    (name,) = table_tree.names([place.warehouse])
    _part("overview", name, table=None, database=None)
    is_of_table = place.page not in AWAY
    database, _, table = (
        (place.table or "").rpartition(".") if is_of_table else (url_state.get("database") or "", "", "")
    )
    if database:
        _part("overview", database, table=None, database=database)
    if table:
        _part("timeline", table, point=None, window=None)
    st.session_state[_POINT] = st.empty()
    if is_of_table:
        point()


def _point(slot: DeltaGenerator) -> None:
    """The point a page is about; of a comparison both."""
    page = url_state.here().page
    pair = [url_state.get("a"), url_state.get("b")] if page == "diff" else [url_state.get("point")]
    told = " → ".join(each or "…" for each in pair) if any(pair) else ""
    if told:
        slot.page_link(f"views/{page}.py", label=table_tree.label(told), query_params=url_state.address(page))
    else:
        slot.empty()


def _part(page: str, label: str, **values: str | None) -> None:
    st.page_link(f"views/{page}.py", label=table_tree.label(label), query_params=url_state.address(page, **values))


def _mode(place: UrlState) -> None:
    """The reader's switch where the server allows changes; read-only elsewhere and where nothing can be opened."""
    try:
        listing = loading.warehouse(place.warehouse) if place.warehouse else None
    except SnapscopeError:
        listing = None  # the page itself says why
    if listing is not None and permissions.server_allows(listing):
        key = permissions.key(listing)
        st.toggle(words.WRITABLE, st.session_state.setdefault(key, False), key, words.WRITABLE_HELP, width="content")
    else:
        st.html(markup.mode(words.READ_ONLY, words.READ_ONLY_HELP), width="content")
