"""Overview: which tables there are; names at once, numbers as they are read."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.errors import SnapscopeError
from core.warehouse import TableRef
from dashboard import loading, state
from dashboard.present import markup, rows, words
from dashboard.state import Place
from dashboard.widgets import frame, how

PAGE_SIZE = 50


def draw(place: Place) -> None:
    listing = frame.open_warehouse(place)
    rules = words.HOW_OVERVIEW_NAMES, words.HOW_ROWS, words.HOW_LIVE, words.HOW_ONLY_HISTORY
    how.beside(markup.head("", words.PRODUCT, words.TAGLINE), *rules)
    totals = st.empty()
    totals.html(rows.overview_tiles(len(listing.tables), []))
    tables = _filtered(listing.tables)
    shown = tables[:PAGE_SIZE]
    with st.container(key="overview_table", gap=None):
        left, right = st.columns([2, 7], vertical_alignment="bottom")
        left.html(markup.column_name(words.TABLE))
        right.html(rows.overview_head())
        slots = [_line(ref) for ref in shown]
    if not tables:
        st.html(markup.note("info", words.NO_MATCH))
    if len(tables) > PAGE_SIZE:
        st.html(markup.note("info", words.capped_tables(PAGE_SIZE, len(tables))))
    read: list[rows.TableFacts] = []
    for ref, slot in zip(shown, slots, strict=True):
        found = _fill(ref, slot, place)
        if found is not None:
            read.append(found)
            totals.html(rows.overview_tiles(len(listing.tables), read))


def _filtered(tables: tuple[TableRef, ...]) -> list[TableRef]:
    if len(tables) <= 8:
        return list(tables)
    text = st.text_input(
        words.SEARCH, type="search", placeholder=words.SEARCH, label_visibility="collapsed", key="overview.search"
    )
    return [ref for ref in tables if (text or "").strip().lower() in ref.title.lower()]


def _line(ref: TableRef) -> DeltaGenerator:
    left, right = st.columns([2, 7], vertical_alignment="top")
    with left:
        frame.link("timeline", ref.title, table=ref.title, point=None, window=None)
    slot = right.empty()
    slot.html(rows.overview_line(None, state.zone(), 0))
    return slot


def _fill(ref: TableRef, slot: DeltaGenerator, place: Place) -> rows.TableFacts | None:
    """First what the references say, then what the manifests say; a table that fails keeps its line and says why."""
    try:
        heads = loading.heads(ref)
        kept = loading.kept_facts(heads)
        if kept is None:
            slot.html(rows.overview_line(rows.table_facts(heads), place.zone, place.now_ms))
            kept = loading.facts(heads)
        slot.html(rows.overview_line(kept, place.zone, place.now_ms))
    except SnapscopeError as error:
        slot.html(markup.note("problem", str(error)))
        return None
    return kept


draw(state.here())
