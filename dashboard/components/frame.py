"""What stands around every page: the look, the sidebar, the head of a table, and reading its history."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from core.catalog import Warehouse
from core.errors import SnapscopeError
from core.formats.table_format import TableRef
from core.model.history import History
from core.model.references import Heads
from dashboard import data as loading
from dashboard import url_state, words
from dashboard.components import errors, table_tree
from dashboard.formatting import language, markup, units
from dashboard.formatting.palette import Palette, palette
from dashboard.url_state import UrlState
from dashboard.view_models import notices

HERE = Path(__file__).parents[1]
STYLE = HERE / "style.css"
MARK = HERE / "mark.svg"
QUIET_S = 0.3  # nothing that takes less shows that it is working
REDRAW_S = 0.1
SHOWN_NOTICES = 4
ZONES = (
    "UTC",
    "Europe/London",
    "Europe/Berlin",
    "Asia/Shanghai",
    "Asia/Tokyo",
    "America/New_York",
    "America/Los_Angeles",
)

_STOPPED = "snapscope.stopped"
_ZONE, _NO_ZONE = "frame.zone", "frame.zone.unknown"


@dataclass(frozen=True, slots=True)
class OpenedTable:
    """The table of this run."""

    place: UrlState
    listing: Warehouse
    ref: TableRef
    heads: Heads

    @property
    def zone(self) -> str:
        return self.place.zone

    @property
    def now_ms(self) -> int:
        return self.place.now_ms


def apply_style() -> None:
    """Load the look. Draws nothing."""
    st.html(STYLE)


def hues() -> Palette:
    """The palette of the theme the reader's browser shows."""
    return palette(st.context.theme.type)


# sidebar ------------------------------------------------------------------------------------------------------------


def sidebar(place: UrlState) -> None:
    """Warehouse, tables, zone, moment. An error of listing is shown by the page, not here."""
    with st.sidebar:
        _warehouse_box(place)
        table_tree.draw(_choose(place))
        st.space("stretch")
        zone, language_ = st.columns([1.05, 1], gap="xsmall")
        with zone:
            _zone_box(place)
        with language_:
            _language_box()
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(words.now_line(place.now_ms, place.zone), width=130)
            st.button(
                words.REFRESH, icon=":material/refresh:", help=words.REFRESH_HELP, on_click=_refresh, type="tertiary"
            )


def _refresh() -> None:
    url_state.refresh()
    loading.forget_listings()
    st.session_state.pop(_STOPPED, None)


def _warehouse_box(place: UrlState) -> None:
    st.session_state["frame.warehouse"] = place.warehouse or ""
    st.text_input(
        words.WAREHOUSE,
        place.warehouse or "",
        key="frame.warehouse",
        placeholder=words.WAREHOUSE_HINT,
        help=words.WAREHOUSE_HELP,
        on_change=lambda: url_state.put(warehouse=st.session_state["frame.warehouse"]),
    )


def _choose(place: UrlState) -> UrlState:
    """Where no table is chosen, the first one is."""
    if not place.warehouse:
        return place
    try:
        listing = loading.warehouse(place.warehouse)
    except SnapscopeError:
        return place  # the page itself opens the warehouse and shows why it cannot
    if listing.tables and not place.table and place.page != "overview":
        url_state.put(table=listing.tables[0].title)
    return url_state.here()


def _zone_box(place: UrlState) -> None:
    known = {place.zone, *ZONES, st.context.timezone or units.UTC}
    names = sorted(known, key=lambda name: (name != units.UTC, name))
    st.session_state[_ZONE] = place.zone
    st.selectbox(
        words.ZONE,
        names,
        names.index(place.zone),
        key=_ZONE,
        help=words.ZONE_HELP,
        placeholder=words.ZONE_HINT,
        accept_new_options=True,
        on_change=_choose_zone,
    )
    if unknown := st.session_state.pop(_NO_ZONE, None):
        st.html(markup.note("problem", words.zone_unknown(unknown)))


def _choose_zone() -> None:
    named = st.session_state[_ZONE] or units.UTC
    if (found := units.find_zone(named)) is None:
        st.session_state[_NO_ZONE] = named
    else:
        url_state.put(tz=None if found == units.UTC else found)


def _language_box() -> None:
    st.session_state["frame.language"] = language.chosen()
    st.selectbox(
        words.LANGUAGE,
        list(language.languages()),
        format_func=lambda name: language.languages()[name],
        key="frame.language",
        on_change=lambda: url_state.put(lang=st.session_state["frame.language"]),
    )


# a table --------------------------------------------------------------------------------------------------------------


def open_warehouse(place: UrlState) -> Warehouse:
    """The listing of the place's warehouse; where there is none or it is empty, says so and ends the run."""
    if not place.warehouse:
        st.html(markup.empty(words.NO_WAREHOUSE, words.NO_WAREHOUSE_NEXT))
        st.stop()
    listing = loading.warehouse(place.warehouse)
    for problem in listing.problems:
        st.html(markup.note("problem", problem.sentence()))
    if not listing.tables:
        st.html(markup.empty(words.EMPTY_WAREHOUSE, words.EMPTY_WAREHOUSE_NEXT))
        st.stop()
    return listing


def open_table(place: UrlState) -> OpenedTable:
    """Open the place's table (the first one where none is named) and draw its head."""
    if place.warehouse and place.table:
        listing = loading.warehouse(place.warehouse)
        ref = loading.find(listing, place.table)
    else:
        listing = open_warehouse(place)
        ref = listing.tables[0]
    heads = loading.heads(ref)
    opened = OpenedTable(place, listing, ref, heads)
    _head(opened)
    return opened


def need_snapshots(opened: OpenedTable) -> None:
    """Where nothing was ever committed: teach, and end the run."""
    if not any(line.snapshots or line.tags for line in opened.heads.lines):
        note_all(opened, None)
        st.html(markup.empty(words.no_snapshots(opened.ref.name), words.NO_SNAPSHOTS_NEXT))
        st.stop()


def note_all(opened: OpenedTable, history: History | None) -> None:
    """The notices of a table, worst first; a few of them at once."""
    found = notices.notices(opened.heads, history)
    if not history and not any(line.snapshots for line in opened.heads.lines):
        found = tuple(each for each in found if each.text != words.no_snapshots(opened.heads.name))
    if not found:
        return
    st.html("".join(markup.note(each.level, each.text) for each in found[:SHOWN_NOTICES]))
    if rest := found[SHOWN_NOTICES:]:
        with st.expander(words.more_lines(len(rest))):
            st.html("".join(markup.note(each.level, each.text) for each in rest))


def _head(opened: OpenedTable) -> None:
    heads = opened.heads
    latest = heads.main.latest
    summary = words.table_summary(
        sum(len(line.snapshots) for line in heads.lines),
        sum(len(line.tags) for line in heads.lines),
        len(heads.branches),
        latest.time_ms if latest else None,
        opened.now_ms,
        opened.zone,
    )
    st.html(markup.head(opened.ref.database, opened.ref.name, summary))


def read_history(heads: Heads) -> History:
    """The history of these references. Reading longer than a blink shows how far it is and can be cancelled."""
    slot = st.empty()  # there in every run: where an element is gone, those below are drawn anew, their tabs closed
    kept = loading.kept_history(heads)
    if kept is not None:
        return kept
    key = loading.fingerprint(heads)
    if st.session_state.get(_STOPPED) == key:
        st.html(markup.note("warning", words.STOPPED))
        st.button(words.READ_AGAIN, on_click=lambda: st.session_state.pop(_STOPPED, None))
        st.stop()
    bar = None
    started = drawn = time.monotonic()

    def progress(done: int, total: int) -> None:
        nonlocal bar, drawn
        moment = time.monotonic()
        if not total or moment - started < QUIET_S or (bar is not None and moment - drawn < REDRAW_S):
            return
        if bar is None:
            with slot.container(horizontal=True, vertical_alignment="center", key="reading"):
                bar = st.empty()
                st.button(words.CANCEL, key="frame.cancel", on_click=_stop_reading, args=(key,))
        drawn = moment
        bar.progress(done / total, text=words.reading(done, total))

    found = loading.history(heads, progress)
    slot.empty()
    if loading.has_moved_on(found):
        st.rerun()  # by the references of now: what others removed while it was read is no damage
    return found


def history_or_none(opened: OpenedTable) -> History | None:
    """The history, or None after showing why it cannot be read: pages go on with what the references tell."""
    try:
        return read_history(opened.heads)
    except SnapscopeError as error:
        errors.show(error)
        return None


def _stop_reading(key: str) -> None:
    st.session_state[_STOPPED] = key


def link(page: str, label: str, icon: str | None = None, **values: str | None) -> None:
    """A link to another page with its own address: it can be copied, opened in a new tab, reached by keyboard."""
    st.page_link(f"views/{page}.py", label=label, icon=icon, query_params=url_state.address(page, **values))


__all__ = ["OpenedTable", "errors"]
