"""The breadcrumb at the top of every page: the current location as links, the read-only switch, the command
palette and the copy-link button.

Invariant: every part links to a URL, so the browser's Back button works.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from core.errors import SnapscopeError
from dashboard import data as loading
from dashboard import permissions, url_state, words
from dashboard.components import command_palette
from dashboard.components.table_tree import AWAY
from dashboard.formatting import markup
from dashboard.url_state import UrlState
from dashboard.view_models import table_tree

_HERE = Path(__file__).parent
_copy = st.components.v2.component(
    "snapscope_copy_link",
    html=(_HERE / "copy_link.html").read_text(encoding="utf-8"),
    css=(_HERE / "copy_link.css").read_text(encoding="utf-8"),
    js=(_HERE / "copy_link.js").read_text(encoding="utf-8"),
)


def draw(place: UrlState) -> None:
    """Draw the breadcrumb; its position does not depend on the page below."""
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small", key="top"):
        with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap=None, key="crumbs"):
            _way(place)
        _mode(place)
        command_palette.reserve(place)
        _copy(
            key="copy_link",
            data={"label": words.COPY_LINK, "done": words.COPIED, "help": words.COPY_LINK_HELP},
            width="content",
            height="content",
        )


def _way(place: UrlState) -> None:
    if not place.warehouse:
        _part("overview", words.PAGES["overview"][0])
        return
    (name,) = table_tree.names([place.warehouse], loading.given_names())
    _part("overview", name, table=None, database=None)
    is_of_table = place.page not in AWAY
    database, _, table = (
        (place.table or "").rpartition(".") if is_of_table else (url_state.get("database") or "", "", "")
    )
    if database:
        _part("overview", database, table=None, database=database)
    if table:
        _part("timeline", table, window=None)


def _part(page: str, label: str, **values: str | None) -> None:
    st.page_link(f"views/{page}.py", label=table_tree.label(label), query_params=url_state.address(page, **values))


def _mode(place: UrlState) -> None:
    """Draw the switch that allows changes if the server permits them; otherwise, or if the table cannot be opened,
    "read-only"."""
    try:
        listing = loading.warehouse(place.warehouse) if place.warehouse else None
    except SnapscopeError:
        listing = None  # the page itself shows the error
    if listing is not None and permissions.server_allows(listing):
        key = permissions.key(listing)
        st.toggle(words.WRITABLE, st.session_state.setdefault(key, False), key, words.WRITABLE_HELP, width="content")
    else:
        st.html(markup.mode(words.READ_ONLY, words.READ_ONLY_HELP), width="content")
