"""The tree in the sidebar: known locations, their databases and tables. A click opens a table.

Invariant: a location is listed only once its node is open. If listing one fails, its node says so and the others still
work.
"""

from __future__ import annotations

from typing import Literal

import streamlit as st
from streamlit.elements.lib.mutable_expander_container import ExpanderContainer

from core.errors import SnapscopeError
from dashboard import data as loading
from dashboard import url_state, visits, words
from dashboard.formatting import markup
from dashboard.url_state import UrlState
from dashboard.view_models import table_tree
from dashboard.view_models.table_tree import Branch

Kind = Literal["secondary", "tertiary"]
FEW = 3  # databases that start expanded
_OPEN, _SEARCHED = "snapscope.tree", "searched "
RECENT = ":material/schedule:"
AWAY = ("overview", "audit", "doctor")  # pages without a table; from these a click leads to the timeline


def draw(place: UrlState) -> None:
    """Draw the search box and the tree."""
    text = st.text_input(
        words.SEARCH_TABLES,
        type="search",
        placeholder=words.SEARCH_TABLES,
        label_visibility="collapsed",
        key="tree.search",
    )
    try:
        places = loading.places(tuple(url_state.known()))
    except SnapscopeError as error:  # from the settings file or pyiceberg's configuration
        st.html(markup.note("problem", str(error)))
        places = tuple(url_state.known())
    with st.container(key="tree", gap=None):
        _recent(place, (text or "").strip())
        for location, name in zip(places, table_tree.names(places, loading.given_names()), strict=True):
            _place(location, name, place, (text or "").strip())


def _recent(place: UrlState, text: str) -> None:
    """List the recently opened tables, except the current one."""
    try:
        if place.warehouse and place.table and _is_listed(place.warehouse, place.table):
            visits.opened(place.warehouse, place.table)
        others = [each for each in visits.recent() if each != (place.warehouse, place.table)]
    except SnapscopeError as error:
        st.html(markup.note("warning", error.message))
        return
    if not others or text:
        return
    node = _node("recent", words.RECENT, RECENT, False, text)
    if node.open:
        with node:
            for location, title in others:
                _button(f"recent.{location}", location, title, title, RECENT, location, place.page)


def _is_listed(warehouse: str, table: str) -> bool:
    try:
        return any(each.title == table for each in loading.warehouse(warehouse).tables)
    except SnapscopeError:
        return False  # its node shows why


def _place(location: str, name: str, place: UrlState, text: str) -> None:
    is_own = location == place.warehouse
    node = _node(f"place.{location}", name, table_tree.icon(location), is_own, text)
    if not node.open:
        return
    with node:
        try:
            listing = loading.warehouse(location) if is_own else loading.listed(location)
        except SnapscopeError as error:
            st.html(markup.note("problem", error.message))
            return
        chosen = place.table if is_own else None
        found = table_tree.branches(listing.tables, text, chosen)
        if not found:
            st.caption(words.NO_MATCH if listing.tables else words.EMPTY_WAREHOUSE)
        for branch in found:
            if not branch.database:
                _tables(location, branch, chosen, place.page)
                continue
            is_open = len(found) <= FEW or any(each.title == chosen for each in branch.tables)
            inner = _node(f"database.{location}.{branch.database}", branch.database, table_tree.DATABASE, is_open, text)
            if inner.open:
                with inner:
                    _tables(location, branch, chosen, place.page)
        for problem in listing.problems:
            st.html(markup.note("problem", problem.sentence()))


def _node(name: str, label: str, icon: str, is_open: bool, text: str) -> ExpanderContainer:
    """Draw a node as the reader left it; a search opens it. Streamlit forgets nodes that a run did not draw."""
    key, known = f"tree.{name}", st.session_state.setdefault(_OPEN, {})
    if text or key not in st.session_state or known.pop(_SEARCHED + key, False):
        st.session_state[key] = bool(text) or known.get(key, is_open)
    node = st.expander(table_tree.label(label), key=key, icon=icon, type="compact", on_change="rerun")
    known[_SEARCHED + key if text else key] = node.open
    return node


def _tables(location: str, branch: Branch, chosen: str | None, page: str) -> None:
    for each in branch.tables:
        help = words.table_help(each.format, each.location)
        kind: Kind = "secondary" if each.title == chosen else "tertiary"
        _button(
            f"table.{location}",
            location,
            each.title,
            each.name,
            table_tree.ICONS.get(each.format, table_tree.TABLE),
            help,
            page,
            kind,
        )
    if branch.more:
        st.caption(words.more_tables(branch.more))


def _button(
    key: str, location: str, title: str, label: str, icon: str, help: str, page: str, kind: Kind = "tertiary"
) -> None:
    """Draw a button that opens a table; from a page without a table it leads to the timeline."""
    clicked = st.button(
        table_tree.label(label),
        key=f"tree.{key}.{title}",
        icon=icon,
        help=help,
        type=kind,
        width="stretch",
        on_click=lambda: url_state.put(warehouse=location, table=title),
    )
    if clicked and page in AWAY:
        st.switch_page("views/timeline.py", query_params=url_state.address("timeline"))
