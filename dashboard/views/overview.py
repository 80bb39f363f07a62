"""Home: the tables, what is new, what expires soon and what needs attention. Table names appear first."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.analysis.changes_since import mark, since
from core.catalog import Warehouse
from core.demo import stories
from core.errors import SnapscopeError
from core.formats.table_format import TableRef
from core.model.references import Heads, Tag
from dashboard import data as loading
from dashboard import url_state, visits, words
from dashboard.components import errors, explain_figure, frame, inputs
from dashboard.formatting import markup, units
from dashboard.url_state import UrlState
from dashboard.view_models import home, table_tree
from dashboard.view_models.notices import PROBLEM, Notice

FEW = 8  # up to this many tables, all are watched
SHOWN = 12  # maximum rows of "expires soon"
NEXT = 100  # rows that a click on "more" adds
NOTES = 24  # maximum rows of "needs attention"
REDRAW_S = 0.2
_FACTS = "snapscope.home.facts"
ASIDE_S = 0.5  # tables that take longer are waited for after the others


@dataclass
class Read:
    """What this run has read so far about the tables on the page."""

    facts: list[home.TableFacts] = field(default_factory=list)
    notes: list[tuple[str, Notice]] = field(default_factory=list)
    ends: list[tuple[int, str, Tag, str]] = field(default_factory=list)
    marks: dict[str, visits.Json] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)  # tables that could not be read
    known: int = 0  # tables that were seen before
    changed: int = 0


def draw(place: UrlState) -> None:
    listing = frame.open_warehouse(place)
    rules = words.HOW_OVERVIEW_NAMES, words.HOW_ROWS, words.HOW_LIVE, words.HOW_ONLY_HISTORY, words.HOW_POLICY
    explain_figure.html(markup.head("", words.PRODUCT, words.TAGLINE), *rules, words.HOW_SINCE)
    tiles = st.empty()
    tiles.html(home.tiles(len(listing.tables), [], []))
    status = st.empty()
    status.html(markup.note("info", words.reading_tables(0, len(listing.tables), "…", 0, 0)))
    visit, stars = _remembered()
    tables, sort = _filtered(listing.tables)
    ordered = _ordered(tables, sort, stars)
    shown = ordered[: home.MOST]
    with st.container(key="overview_table", gap=None):
        left, right = st.columns([2, 7], vertical_alignment="bottom")
        left.html(markup.column_name(words.TABLE))
        right.html(home.head(sort))
        slots = [_line(ref, ref.location in stars) for ref in shown]
    if not tables:
        status.empty()
        st.html(markup.note("info", words.NO_MATCH))
        return
    if len(tables) > home.MOST:
        st.html(markup.note("info", words.capped_tables(home.MOST, len(tables))))
    _stories(listing)
    with st.container(key="home_split"):
        minding, ending = st.columns([3, 2], gap="large")
    with minding:
        st.html(markup.panel_title(words.TO_MIND))
        notes = st.container(key="home.notes", gap=None)
    with ending:
        st.html(markup.panel_title(words.ENDS_SOON))
        ends = st.container(key="home.ends", gap=None)
    found = Read()

    def fill(ref: TableRef, slot: DeltaGenerator, reading: loading.BackgroundRead) -> None:
        is_watched = ref.location in stars or len(tables) <= FEW
        _fill(ref, slot, reading, place, visit if is_watched else None, found, status, len(shown))
        tiles.html(home.tiles(len(listing.tables), found.facts, found.notes))

    late: list[tuple[TableRef, DeltaGenerator, loading.BackgroundRead]] = []
    for ref, slot in zip(shown, slots, strict=True):
        try:
            reading = loading.BackgroundRead(ref)
            if not reading.wait(ASIDE_S):  # read the others first
                late.append((ref, slot, reading))
                continue
        except SnapscopeError as error:
            slot.html(markup.note("problem", str(error)))
            found.failed.append(ref.title)
            continue
        fill(ref, slot, reading)
    for ref, slot, reading in late:
        status.html(markup.note("info", words.reading_tables(len(found.facts), len(shown), ref.title, 0, 0)))
        fill(ref, slot, reading)
    with notes:
        _notes(found)
    with ends:
        _ends(found, place.zone)
    _news(status, visit, found, place.now_ms, place.zone)
    if _ordered(tables, sort, stars) != ordered:
        st.rerun()  # the figures are known now: the rows move to where they belong


def _stories(listing: Warehouse) -> None:
    """Draw the events of the demo warehouse as questions."""
    with errors.boundary():
        incidents = stories.what_happened(listing)
        if incidents:
            st.html(markup.panel_title(words.STORIES))
            st.caption(words.STORIES_HELP)
        for each in incidents:
            with st.expander(table_tree.label(words.spoken(each.question))):
                st.html(home.story([words.spoken(click) for click in each.clicks], words.spoken(each.answer)))
                label = table_tree.label(words.story_open(each.table, each.point))
                frame.link(
                    "timeline", label, ":material/arrow_forward:", table=each.table, point=each.point, window=None
                )


def _remembered() -> tuple[visits.Visit | None, tuple[str, ...]]:
    """Return the last visit and the starred tables. If they cannot be read or written, show why and continue without
    them."""
    try:
        return visits.begin(), visits.watched()
    except SnapscopeError as error:
        st.html(markup.note("warning", f"{words.NOTHING_KEPT} {error}"))
        return None, ()


def _filtered(tables: tuple[TableRef, ...]) -> tuple[list[TableRef], str]:
    """Draw what chooses and sorts the tables; return those chosen and the order, "" if none was chosen."""
    if database := url_state.get("database"):
        tables = tuple(ref for ref in tables if ref.database == database)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(words.of_database(table_tree.inline(database)), width="content")
            st.button(words.ALL_TABLES, type="tertiary", on_click=lambda: url_state.put(database=None))
    if len(tables) < 2:
        return list(tables), ""
    with st.container(horizontal=True, vertical_alignment="bottom", key="overview_order"):
        text = st.session_state["overview.filter"] = url_state.get("filter") or ""
        st.text_input(
            words.FILTER,
            text,
            type="search",
            placeholder=words.FILTER,
            label_visibility="collapsed",
            key="overview.filter",
            on_change=lambda: url_state.put(filter=st.session_state["overview.filter"]),
        )
        found = [ref for ref in tables if text.strip().casefold() in ref.title.casefold()]
        return found, _sort(len(found) <= home.MOST)


def _sort(is_all_read: bool) -> str:
    """Draw the choice of an order. By figures only if those of all tables are read: others could belong on top."""
    names = {"": words.SORT_UNSET, "name": words.TABLE}
    names |= {name: words.OVERVIEW_COLUMNS[name] for name in home.FIGURES} if is_all_read else {}
    sort = url_state.get("sort") or ""
    column = sort.removeprefix("-")
    if column not in names:
        sort = column = ""
    st.session_state["overview.sort"] = column
    st.selectbox(
        words.SORT,
        list(names),
        list(names).index(column),
        format_func=lambda name: f"{words.SORT}: {names[name]}",
        key="overview.sort",
        help=words.SORT_HELP if is_all_read else words.sort_capped(home.MOST),
        label_visibility="collapsed",
        width=inputs.WIDE,
        on_change=lambda: url_state.put(sort=st.session_state["overview.sort"]),
    )
    is_reversed = sort.startswith("-")
    st.button(
        words.REVERSE,
        key="overview.reverse",
        icon=":material/arrow_upward:" if is_reversed else ":material/arrow_downward:",
        help=words.REVERSE,
        disabled=not column,
        on_click=lambda: url_state.put(sort=column if is_reversed else f"-{column}"),
    )
    return sort


def _ordered(tables: list[TableRef], sort: str, stars: tuple[str, ...]) -> list[TableRef]:
    if not sort:
        return sorted(tables, key=lambda ref: ref.location not in stars)
    return home.ordered(tables, sort, st.session_state.get(_FACTS, {}))


def _line(ref: TableRef, is_starred: bool) -> DeltaGenerator:
    left, right = st.columns([2, 7], vertical_alignment="top")
    with left, st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            words.UNWATCH if is_starred else words.WATCH,
            key=f"home.{'starred' if is_starred else 'star'}.{ref.location}",
            help=words.UNWATCH if is_starred else words.WATCH,
            on_click=_star,
            args=(ref.location, not is_starred),
            type="tertiary",
        )
        frame.link("timeline", table_tree.inline(ref.title), table=ref.title, point=None, window=None)
    slot = right.empty()
    slot.html(home.line(None, url_state.zone(), 0))
    return slot


def _star(location: str, is_on: bool) -> None:
    with errors.boundary():
        visits.watch(location, is_on)


def _fill(
    ref: TableRef,
    slot: DeltaGenerator,
    reading: loading.BackgroundRead,
    place: UrlState,
    visit: visits.Visit | None,
    found: Read,
    status: DeltaGenerator,
    tables: int,
) -> None:
    """Fill a table's row, first from its references, then from its manifests; if reading fails, the row stays and shows
    why."""
    drawn = time.monotonic()

    def progress(done: int, total: int) -> None:
        nonlocal drawn
        if time.monotonic() - drawn > REDRAW_S:
            drawn = time.monotonic()
            text = words.reading_tables(len(found.facts), tables, ref.title, done, total)
            status.html(markup.note("info", text))

    try:
        heads = reading.heads()
        facts = loading.kept_facts(heads, place.now_ms)
        if facts is None:
            slot.html(home.line(home.table_facts(heads), place.zone, place.now_ms))
            facts = loading.facts(heads, place.now_ms, progress)
    except SnapscopeError as error:
        slot.html(markup.note("problem", str(error)))
        found.failed.append(ref.title)
        return
    news = "" if visit is None else _since(ref, heads, facts, visit, found, place)
    slot.html(home.line(facts, place.zone, place.now_ms, news))
    found.facts.append(facts)
    st.session_state.setdefault(_FACTS, {})[ref.location] = facts
    worth = home.noteworthy(facts, None if visit is None else visit.before_ms, place.now_ms)
    found.notes += [(ref.title, note) for note in (*facts.notes, *worth)]
    found.ends += [(*each, ref.title) for each in home.ending(heads, place.now_ms)]
    found.marks[ref.location] = mark(heads, *facts.exactly, time.time_ns() // 1_000_000)


def _since(
    ref: TableRef, heads: Heads, facts: home.TableFacts, visit: visits.Visit, found: Read, place: UrlState
) -> markup.Piece:
    """Render what is new in a watched table since the previous visit."""
    before = visit.marks.get(ref.location)
    if not home.is_mark(before):
        return "" if visit.before_ms is None else markup.muted(words.SINCE_NEW_TABLE)
    new = since(before, heads, *facts.exactly, place.now_ms)
    found.known += 1
    found.changed += not new.is_quiet
    return home.news(new, place.zone, place.now_ms, facts.newest)


def _news(status: DeltaGenerator, visit: visits.Visit | None, found: Read, now_ms: int, zone: str) -> None:
    """Draw the summary line above the tables, and store their current state for the next visit."""
    if visit is None:
        status.empty()
        return
    with errors.boundary():
        visits.remember(found.marks)
    if visit.before_ms is None:
        status.html(markup.note("info", words.FIRST_VISIT))
        return
    summary = words.last_visit(units.ago(visit.before_ms, now_ms), found.changed, found.known)
    status.html(markup.note("info", markup.hint(summary, units.moment(visit.before_ms, zone))))


def _notes(found: Read) -> None:
    unread = [(title, Notice(PROBLEM, words.TABLE_UNREAD)) for title in found.failed]
    worst = home.worst_first([*unread, *found.notes])
    if not worst:
        st.html(markup.note("info", words.NOTHING_TO_MIND))
    shown = int(st.session_state.get("about_table.notes", NOTES))
    for number, (table, note) in enumerate(worst[:shown]):
        with st.container(horizontal=True, vertical_alignment="top", gap="small", key=f"about_table.note.{number}"):
            frame.link("timeline", table_tree.inline(table), table=table, point=note.point, window=None)
            st.html(markup.note(note.level, note.text))
    _more("about_table.notes", shown, len(worst))


def _ends(found: Read, zone: str) -> None:
    soon = sorted(found.ends, key=lambda each: each[:2])
    if not soon:
        st.html(markup.note("info", words.ENDS_NONE))
    shown = int(st.session_state.get("about_table.ends", SHOWN))
    for number, (left, point, tag, table) in enumerate(soon[:shown]):
        with st.container(horizontal=True, vertical_alignment="top", gap="small", key=f"about_table.end.{number}"):
            frame.link("tags", table_tree.inline(table), table=table, point=None, branch=None)
            st.html(home.ends(left, point, tag, zone))
    _more("about_table.ends", shown, len(soon))


def _more(key: str, shown: int, total: int) -> None:
    """Draw the button that shows the next lines of a list, if there are any."""
    if total > shown:
        st.button(
            words.more_lines(total - shown), key=f"{key}.more", icon=":material/expand_more:", type="tertiary",
            on_click=_show, args=(key, shown + NEXT),
        )  # fmt: skip


def _show(key: str, number: int) -> None:
    st.session_state[key] = number


draw(url_state.here())
