"""The first line of every page: where the reader is, each part a link; whether anything can be changed; copy the link.

Law: each part of the way leads to an address, so Back leads from it.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.errors import SnapscopeError
from dashboard import access, loading, state
from dashboard.present import markup, tree, words
from dashboard.state import Place
from dashboard.widgets.tree import AWAY

_POINT = "snapscope.top.point"
_STYLE = """
button { font: inherit; font-size: 0.86rem; display: inline-flex; align-items: center; gap: 0.35rem;
  white-space: nowrap; cursor: pointer; color: var(--snap-muted); background: none; border: 1px solid var(--snap-line);
  border-radius: 0.4rem; padding: 0.1rem 0.55rem; min-height: 1.75rem; }
button:hover { color: var(--snap-ink); border-color: currentColor; }
button:focus-visible { outline: 2px solid var(--snap-ink); outline-offset: 1px; }
span { min-width: 4.2rem; text-align: left; }
"""
_CHAIN = "M10 14a4 4 0 0 0 6 0l4-4a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-4 4a4 4 0 0 0 6 6l1-1"
_ICON = (
    '<svg width="14" height="14" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" '
    f'aria-hidden="true"><path d="{_CHAIN}"/></svg>'
)
_copy = st.components.v2.component(
    "snapscope_copy_link",
    html=f'<button type="button">{_ICON}<span aria-live="polite"></span></button>',
    css=_STYLE,
    js=(Path(__file__).parent / "copy_link.js").read_text(encoding="utf-8"),
)


def draw(place: Place) -> None:
    """The line; it stands in one place whatever the page below it does."""
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small", key="top"):
        with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap=None, key="crumbs"):
            _way(place)
        st.html(_mode(place), width="content")
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


def _way(place: Place) -> None:
    if not place.warehouse:
        _part("overview", words.PAGES["overview"][0])
        return
    (name,) = tree.names([place.warehouse])
    _part("overview", name, table=None, database=None)
    is_of_table = place.page not in AWAY
    database, _, table = (place.table or "").rpartition(".") if is_of_table else (state.get("database") or "", "", "")
    if database:
        _part("overview", database, table=None, database=database)
    if table:
        _part("timeline", table, point=None, window=None)
    st.session_state[_POINT] = st.empty()
    if is_of_table:
        point()


def _point(slot: DeltaGenerator) -> None:
    """The point a page is about; of a comparison both."""
    page = state.here().page
    pair = [state.get("a"), state.get("b")] if page == "diff" else [state.get("point")]
    told = " → ".join(each or "…" for each in pair) if any(pair) else ""
    if told:
        slot.page_link(f"views/{page}.py", label=tree.label(told), query_params=state.address(page))
    else:
        slot.empty()


def _part(page: str, label: str, **values: str | None) -> None:
    st.page_link(f"views/{page}.py", label=tree.label(label), query_params=state.address(page, **values))


def _mode(place: Place) -> str:
    """Read-only, unless the server and the reader allow more; so it is told where the place cannot be opened, too."""
    try:
        listing = loading.warehouse(place.warehouse) if place.warehouse else None
    except SnapscopeError:
        listing = None  # the page itself says why
    if listing is not None and access.is_on(listing):
        return markup.mode(words.CHANGES_ON, words.CHANGES_ON_HELP, on=True)
    is_switched = listing is not None and access.server_allows(listing)
    return markup.mode(words.READ_ONLY, words.CHANGES_OFF_HELP if is_switched else words.READ_ONLY_HELP, on=False)
