"""The frame around every page: style, sidebar, table header, and loading of the table's history."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.catalog import Warehouse
from core.errors import SnapscopeError
from core.formats.table_format import TableRef
from core.model.history import History
from core.model.references import MAIN, Heads
from dashboard import data as loading
from dashboard import url_state, visits, words
from dashboard.components import command_palette, errors, table_tree, version_picker
from dashboard.components.version_picker import PickedVersion
from dashboard.formatting import language, markup, units
from dashboard.formatting.palette import Palette, palette
from dashboard.url_state import UrlState
from dashboard.view_models import notices
from dashboard.view_models import table_tree as places
from dashboard.view_models import version_picker as pointing

HERE = Path(__file__).parents[1]
STYLE = HERE / "style.css"
MARK = HERE / "mark.svg"
QUIET_S = 0.3  # operations shorter than this show no progress
REDRAW_S = 0.1
ZONES = (
    "UTC",
    "Europe/London",
    "Europe/Berlin",
    "Asia/Shanghai",
    "Asia/Tokyo",
    "America/New_York",
    "America/Los_Angeles",
)

OF_NOW = ("retention", "orphans", "tags")  # pages that change the table as it is now

_STOPPED = "snapscope.stopped"
_ENTERED = "frame.entered"
_ZONE, _NO_ZONE = "frame.zone", "frame.zone.unknown"


@dataclass(frozen=True, slots=True)
class OpenedTable:
    """The table that this run shows, and the version chosen in its heading, if there is one and it can be resolved."""

    place: UrlState
    listing: Warehouse
    ref: TableRef
    heads: Heads
    picked: PickedVersion | None = None

    @property
    def zone(self) -> str:
        return self.place.zone

    @property
    def now_ms(self) -> int:
        return self.place.now_ms


def apply_style() -> None:
    """Load the stylesheet and the product's mark, which stays in sight when the sidebar is closed."""
    st.logo(str(MARK))
    st.html(STYLE)
    if language.chosen() != language.ENGLISH:  # Streamlit says which key applies a text in English only
        st.html("<style>[data-testid='InputInstructions'] { display: none; }</style>")


def hues() -> Palette:
    """Return the palette for the reader's browser theme."""
    return palette(st.context.theme.type)


# sidebar ------------------------------------------------------------------------------------------------------------


def sidebar(place: UrlState) -> None:
    """Draw the product's name, warehouse, tables, zone and time. The page, not the sidebar, shows listing errors."""
    with st.sidebar:
        with st.container(key="product"):  # beside the mark
            link("overview", words.PRODUCT, database=None)
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
    """Let the reader switch to another warehouse that is served, open or remembered, or type a new one."""
    try:
        remembered = [warehouse for warehouse, _ in visits.recent()]
    except SnapscopeError:
        remembered = []  # the tree below shows the error
    named_places = loading.given_names()
    options = list(dict.fromkeys([*url_state.known(), *named_places, *remembered]))
    names = dict(zip(options, places.names(options, named_places), strict=True))
    st.session_state["frame.warehouse"] = place.warehouse
    st.selectbox(
        words.WAREHOUSE,
        options,
        options.index(place.warehouse) if place.warehouse else None,
        key="frame.warehouse",
        format_func=lambda location: names.get(location, location),
        accept_new_options=True,
        placeholder=words.WAREHOUSE_HINT,
        help=words.WAREHOUSE_HELP,
        on_change=_open_warehouse,
    )


def _open_warehouse() -> None:
    typed, named_places = st.session_state["frame.warehouse"], loading.given_names()
    url_state.put(warehouse=next((place for place, name in named_places.items() if name == typed), typed))
    st.session_state[_ENTERED] = True


def _choose(place: UrlState) -> UrlState:
    """Choose the first table if none is selected."""
    if not place.warehouse:
        return place
    is_entered = st.session_state.pop(_ENTERED, False)
    try:
        listing = loading.warehouse(place.warehouse)
    except SnapscopeError:
        return place  # the page itself opens the warehouse and shows why it cannot
    if is_entered and [each.location for each in listing.tables] == [listing.location]:
        to = url_state.address("timeline", table=listing.tables[0].title)  # what was entered is a table itself
        st.switch_page("views/timeline.py", query_params=to)
    if is_entered and place.page != "overview":
        st.switch_page("views/overview.py", query_params=url_state.address("overview"))
    if listing.tables and not place.table and place.page not in ("overview", "audit"):
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
    """Return the tables of the current warehouse. If there is none or it is empty, say so and end the run."""
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
    """Open the current table (the first one if none is selected) and draw its heading."""
    return with_head(find_table(place))


def find_table(place: UrlState) -> OpenedTable:
    """Open the current table and draw nothing but the command palette's button, and a note if that is slow."""
    heads, slot = None, st.empty()  # in every run, as in `read_history`
    try:
        if place.warehouse and place.table:
            listing = loading.warehouse(place.warehouse)
            ref = loading.find(listing, place.table)
        else:
            listing = open_warehouse(place)
            ref = listing.tables[0]
        heads = loading.heads(ref, QUIET_S, lambda: tell(slot, "opening", words.opening(places.inline(ref.title))))
    finally:
        slot.empty()
        command_palette.fill(place, heads)
    return OpenedTable(place, listing, ref, heads)


def tell(slot: DeltaGenerator, key: str, text: str) -> None:
    """Say over the page what it waits for; `key` is one of those in the style sheet."""
    with slot.container(key=key):
        st.caption(text)


def need_snapshots(opened: OpenedTable) -> None:
    """If the table has no commits yet, explain how to start and end the run."""
    if not _has_versions(opened.heads):
        note_all(opened, None)
        st.html(markup.empty(words.no_snapshots(opened.ref.name), words.NO_SNAPSHOTS_NEXT))
        st.stop()


def note_all(opened: OpenedTable, history: History | None) -> None:
    """Show a table's notices: problems in full, everything else collapsed to a count."""
    found = notices.notices(opened.heads, history)
    if not history and not any(line.snapshots for line in opened.heads.lines):
        found = tuple(each for each in found if each.text != words.no_snapshots(opened.heads.name))
    if not found:
        return
    grave = [each for each in found if each.level == notices.PROBLEM]
    rest = found[len(grave) :]
    if grave:
        st.html("".join(markup.note(each.level, each.text) for each in grave))
    if rest:
        warnings = sum(each.level == notices.WARNING for each in rest)
        with st.expander(words.notices_count(warnings, len(rest) - warnings), key="notices"):
            st.html("".join(markup.note(each.level, each.text) for each in rest))


def with_head(opened: OpenedTable) -> OpenedTable:
    """Draw the heading of every page of a table, with the version that all of them show; return it with the table."""
    with st.container(key="table_head"):
        name_line(opened)
        if not url_state.carries_version(opened.place.page) or not _has_versions(opened.heads):
            return opened
        _of_branch(opened)
        with st.container(horizontal=True, vertical_alignment="top", gap="small", key="table_version"):
            newest = "latest" if opened.heads.main.snapshots else None
            picked = version_picker.pick(words.VERSION, opened.heads, name="point", default=newest, hidden=True)
            st.button(
                words.TO_LATEST,
                key="frame.latest",
                help=words.VERSION_HELP,
                disabled=url_state.get("point") is None,
                on_click=lambda: url_state.put(point=None),
            )
    if opened.place.page in OF_NOW and url_state.get("point") not in (None, "latest"):
        st.html(markup.note("info", words.ACTS_NOW[opened.place.page]))
    return replace(opened, picked=picked)


def name_line(opened: OpenedTable) -> None:
    """Draw the table's name and what it consists of."""
    heads = opened.heads
    latest = heads.main.latest
    summary = words.table_summary(
        sum(len(line.snapshots) for line in heads.lines),
        len(heads.main.tags),
        len(heads.branches),
        latest.time_ms if latest else None,
        opened.now_ms,
        opened.zone,
        sum(len(line.tags) for line in heads.lines[1:]),
    )
    st.html(markup.head(opened.ref.database, opened.ref.name, summary))


def _has_versions(heads: Heads) -> bool:
    return any(line.snapshots or line.tags for line in heads.lines)


def _of_branch(opened: OpenedTable) -> None:
    """Name the branch in a version that its page understands as one of the branch shown: it means the same everywhere
    then."""
    text, branch = url_state.get("point"), url_state.get("branch") or MAIN
    is_own = opened.place.page == "tags" and opened.heads.capabilities.branches_are_directories
    if text is None or branch == MAIN or not is_own:
        return
    with contextlib.suppress(SnapscopeError):  # the line below the box shows it
        point = pointing.read(text, opened.zone, opened.heads, opened.now_ms)
        if not point.startswith("branch:"):
            url_state.put(point=f"branch:{branch}/{point}")


def read_history(heads: Heads) -> History:
    """Return the history of these references. A slow read shows its progress and can be cancelled."""
    slot = st.empty()  # in every run: if an element disappears, Streamlit redraws those below and closes their tabs
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
        st.rerun()  # retry with current references: files deleted by others during the read are not damage
    return found


def history_or_none(opened: OpenedTable) -> History | None:
    """Return the history, or None after showing why it cannot be read; the page continues with the references alone."""
    try:
        return read_history(opened.heads)
    except SnapscopeError as error:
        errors.show(error)
        return None


def _stop_reading(key: str) -> None:
    st.session_state[_STOPPED] = key


def link(page: str, label: str, icon: str | None = None, **values: str | None) -> None:
    """Draw a link to another page with its own URL, so that it can be copied, opened in a new tab and reached by
    keyboard."""
    st.page_link(f"views/{page}.py", label=label, icon=icon, query_params=url_state.address(page, **values))


__all__ = ["OpenedTable", "errors"]
