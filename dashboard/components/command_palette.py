"""The command palette: Ctrl+K or a small button opens a box in which typing finds a page, table, tag or snapshot.

Invariant: it leads to a URL and changes nothing else. It offers the tables of the open warehouse only, so no location
is opened that the reader has not opened before.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from core.errors import SnapscopeError
from core.model.references import Heads
from dashboard import data as loading
from dashboard import url_state, words
from dashboard.components.table_tree import AWAY
from dashboard.url_state import UrlState
from dashboard.view_models import command_palette

_KEY, _SLOT, _GO = "command_palette", "snapscope.palette.slot", "snapscope.palette.go"
_HERE = Path(__file__).parent
_draw = st.components.v2.component(
    "snapscope_command_palette",
    html=(_HERE / "command_palette.html").read_text(encoding="utf-8"),
    css=(_HERE / "command_palette.css").read_text(encoding="utf-8"),
    js=(_HERE / "command_palette.js").read_text(encoding="utf-8"),
)


def reserve(place: UrlState) -> None:
    """Reserve its place in the first line. Pages of a table fill it once they have read the table's references."""
    st.session_state[_SLOT] = st.container(key="palette", width="content")
    if place.page in AWAY:
        fill(place, None)


def fill(place: UrlState, heads: Heads | None) -> None:
    """Draw it in its place, unless this run has done so; without `heads` it offers no versions."""
    slot = st.session_state.pop(_SLOT, None)
    if slot is None:
        return
    groups: list[Any] = [command_palette.pages()]
    if place.warehouse:
        groups.append(command_palette.tables(_titles(place.warehouse)))
    if heads is not None:
        groups += command_palette.versions(loading.offered(heads, place.zone, place.now_ms))
    labels = {
        "open": words.PALETTE,
        "placeholder": words.PALETTE_HINT if heads else words.PALETTE_HINT_AWAY,
        "hint": words.PALETTE_USE,
        "more": words.PALETTE_MORE,
        "none": words.PALETTE_NONE,
        "typed": words.PALETTE_VERSION,
        "version": words.palette_version("{text}") if heads else "",
    }
    data = {"labels": labels, "groups": groups, "away": ["", *AWAY]}
    with slot:
        _draw(key=_KEY, data=data, width="content", height="content", on_go_change=_went)


def _titles(warehouse: str) -> list[str]:
    try:
        return [each.title for each in loading.warehouse(warehouse).tables]
    except SnapscopeError:
        return []  # the page itself shows why


def _went() -> None:
    st.session_state[_GO] = st.session_state[_KEY]["go"]


def follow(place: UrlState) -> None:
    """Go where the reader has chosen to go in the last run, before anything of the old page is read."""
    chosen = st.session_state.pop(_GO, None)
    if not chosen:
        return
    kind, target = chosen["kind"], str(chosen["target"])
    own = "timeline" if place.page in AWAY else place.page
    if kind == command_palette.PAGE and target in words.PAGES:
        _go(target, {"database": None})
    elif kind == command_palette.TABLE:
        _go(own, {**dict.fromkeys(url_state.OF_TABLE), "table": target})
    elif kind == command_palette.VERSION:
        _go(own if "point" in url_state.OF_PAGE[own] else "timeline", {"point": target, "window": None})


def _go(page: str, values: dict[str, str | None]) -> None:
    st.switch_page(f"views/{page}.py", query_params=url_state.address(page, **values))
