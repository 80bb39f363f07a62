"""Queries that were asked before and those saved by a name: each leads back to its question through the address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from core import desk
from dashboard import state
from dashboard.present import kept, markup, tree, units, words
from dashboard.widgets import errors, grids

_CHOSEN = "query.history.rows"


def draw() -> None:
    """Both lists."""
    with errors.boundary():
        _saved(kept.entries(desk.read(kept.SAVED, []), kept.SAVED))
    with errors.boundary():
        _history(kept.entries(desk.read(kept.HISTORY, []), kept.HISTORY))


def save(entry: Mapping[str, Any] | None) -> None:
    """A small box that keeps the query as last run."""
    with st.popover(words.SAVE, icon=":material/bookmark:", type="tertiary", help=words.SAVE_HELP, key="query_save"):
        if entry is None:
            st.caption(words.SAVE_NOTHING)
            return
        with st.form("query.save", border=False, clear_on_submit=True):
            name = st.text_input(words.SAVE_AS, max_chars=80).strip()
            if st.form_submit_button(words.SAVE) and name:
                with errors.boundary():
                    desk.change(kept.SAVED, lambda before: kept.saved(before, {**entry, "name": name}), [])
                    st.caption(words.saved_as(tree.inline(name)))


def _saved(found: list[kept.Entry]) -> None:
    st.html(markup.panel_title(words.SAVED_TITLE))
    if not found:
        st.caption(words.SAVED_EMPTY)
    for each in found:
        name = str(each["name"])
        with st.container(horizontal=True, vertical_alignment="center", key=f"query.saved.{name}"):
            st.button(tree.inline(name), key=f"query.open.{name}", type="tertiary", on_click=restore, args=(each,))
            st.caption(tree.inline(f"{each['table']} · {each['point']}"), width="content")
            st.html(markup.mono(kept.one_line(each["sql"], 90)).text)
            st.button(
                words.SAVED_DELETE,
                key=f"query.delete.{name}",
                icon=":material/delete:",
                type="tertiary",
                on_click=_delete,
                args=(name,),
            )


def _delete(name: str) -> None:
    with errors.boundary():
        desk.change(kept.SAVED, lambda before: kept.without(before, name), [])


def _history(found: list[kept.Entry]) -> None:
    st.html(markup.panel_title(words.HISTORY_TITLE))
    if not found:
        st.html(markup.empty(words.HISTORY_EMPTY, words.HISTORY_EMPTY_NEXT))
        return
    st.caption(words.HISTORY_HELP)
    lines = kept.frame_rows(found)
    zone = state.zone()
    frame = pd.DataFrame([{"when": units.moment(each.pop("at_ms"), zone), **each} for each in lines])
    heads = words.HISTORY_COLUMNS
    columns = {
        name: grids.number(heads[name]) if name in ("rows", "ms") else grids.text(heads[name]) for name in frame.columns
    }
    names = [each["at_ms"] for each in found]
    chosen = grids.choose(frame, _CHOSEN, columns=columns, names=names)
    if chosen is not None:
        restore(found[chosen])
        st.rerun()


def restore(entry: kept.Entry) -> None:
    """Its question as the address of this page: table, points, SQL."""
    elsewhere = {} if entry.get("warehouse") in (None, state.get("warehouse")) else {"warehouse": entry["warehouse"]}
    state.put(
        **elsewhere,
        table=entry["table"],
        point=None if entry["point"] == "latest" else entry["point"],
        before=entry.get("before"),
        sql=entry["sql"],
        chart=None,
        ask=None,
    )
