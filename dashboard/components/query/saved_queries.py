"""Recent and saved queries; each links back to its query through the URL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from core import user_state
from dashboard import url_state, words
from dashboard.components import errors, grid
from dashboard.formatting import markup, units
from dashboard.view_models import saved_queries, table_tree

_CHOSEN = "query.history.rows"


def draw() -> None:
    """Draw both lists."""
    with errors.boundary():
        _saved(saved_queries.entries(user_state.read(saved_queries.SAVED, []), saved_queries.SAVED))
    with errors.boundary():
        _history(saved_queries.entries(user_state.read(saved_queries.HISTORY, []), saved_queries.HISTORY))


def save(entry: Mapping[str, Any] | None) -> None:
    """Draw a form that saves the last query."""
    with st.popover(words.SAVE, icon=":material/bookmark:", type="tertiary", help=words.SAVE_HELP, key="query_save"):
        if entry is None:
            st.caption(words.SAVE_NOTHING)
            return
        with st.form("query.save", border=False, clear_on_submit=True):
            name = st.text_input(words.SAVE_AS, max_chars=80).strip()
            if st.form_submit_button(words.SAVE) and name:
                with errors.boundary():
                    user_state.change(
                        saved_queries.SAVED, lambda before: saved_queries.saved(before, {**entry, "name": name}), []
                    )
                    st.caption(words.saved_as(table_tree.inline(name)))


def _saved(found: list[saved_queries.Entry]) -> None:
    st.html(markup.panel_title(words.SAVED_TITLE))
    if not found:
        st.caption(words.SAVED_EMPTY)
    for each in found:
        name = str(each["name"])
        with st.container(horizontal=True, vertical_alignment="center", key=f"query.saved.{name}"):
            st.button(
                table_tree.inline(name), key=f"query.open.{name}", type="tertiary", on_click=restore, args=(each,)
            )
            st.caption(table_tree.inline(f"{each['table']} · {each['point']}"), width="content")
            st.html(markup.mono(saved_queries.one_line(each["sql"], 90)))
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
        user_state.change(saved_queries.SAVED, lambda before: saved_queries.without(before, name), [])


def _history(found: list[saved_queries.Entry]) -> None:
    st.html(markup.panel_title(words.HISTORY_TITLE))
    if not found:
        st.html(markup.empty(words.HISTORY_EMPTY, words.HISTORY_EMPTY_NEXT))
        return
    st.caption(words.HISTORY_HELP)
    lines = saved_queries.frame_rows(found)
    zone = url_state.zone()
    frame = pd.DataFrame([{"when": units.moment(each.pop("at_ms"), zone), **each} for each in lines])
    heads = words.HISTORY_COLUMNS
    columns = {
        name: grid.number(heads[name]) if name in ("rows", "ms") else grid.text(heads[name]) for name in frame.columns
    }
    names = [each["at_ms"] for each in found]
    chosen = grid.choose(frame, _CHOSEN, columns=columns, names=names)
    if chosen is not None:
        restore(found[chosen])
        st.rerun()


def restore(entry: saved_queries.Entry) -> None:
    """Write a query into the URL of this page: table, versions and SQL."""
    elsewhere = (
        {} if entry.get("warehouse") in (None, url_state.get("warehouse")) else {"warehouse": entry["warehouse"]}
    )
    url_state.put(
        **elsewhere,
        table=entry["table"],
        point=None if entry["point"] == "latest" else entry["point"],
        before=entry.get("before"),
        sql=entry["sql"],
        chart=None,
        ask=None,
    )
