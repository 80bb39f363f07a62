"""Where a reader is: which warehouse, table, points, zone and moment. The address bar is the state.

Law: what defines a view stands in the URL, and nothing in a URL changes a table. A URL that says anything is the whole
truth, and so it is on one page, so the browser's Back works; one that says nothing, as the navigation's to another
page, carries along what that page knows of. `now_ms` is fixed until the reader presses Refresh: a plan counts from the
moment the reader sees. An address makes the server read nothing but what it was started with: any other place is opened
once the reader was shown its name.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.paths import is_within
from dashboard.formatting import units
from dashboard.formatting.language import ENGLISH, best, languages

WAREHOUSE_VARIABLE = "SNAPSCOPE_WAREHOUSE"
EVERYWHERE = ("warehouse", "table", "tz", "lang")
OF_PAGE: Mapping[str, tuple[str, ...]] = {
    "overview": ("database",),
    "timeline": ("point", "window"),
    "asof": ("point",),
    "diff": ("a", "b", "window"),
    "files": ("point", "pane", "folder", "find", "order", "manifest", "file"),
    "retention": (
        *("branch", "mode", "keep_max", "keep_min", "older", "max_deletes", "rules"),
        *("tags", "drop", "ended", "tags_older"),
    ),
    "tags": ("branch", "point"),
    "query": ("point", "before", "sql", "chart", "ask", "condition", "from", "to", "branch", "every"),
    "audit": ("of", "kind", "who", "outcome", "since", "until", "text", "run"),
    "doctor": (),
}
OF_TABLE = (
    "point",
    "window",
    "a",
    "b",
    "branch",
    "tags",
    "drop",
    "before",
    "sql",
    "chart",
    "condition",
    "from",
    "to",
    "folder",
    "find",
    "manifest",
    "file",
)  # these mean nothing on another table

_VALUES = "snapscope.place"
_PAGE = "snapscope.page"
_NOW = "snapscope.now_ms"
_OPENED = "snapscope.opened"
CONFIRMED = "snapscope.confirmed"


@dataclass(frozen=True, slots=True)
class UrlState:
    """Where the reader is in this run."""

    page: str
    warehouse: str | None
    table: str | None  # `database.table`
    zone: str
    now_ms: int


def enter(page: str) -> UrlState:
    """Take the address of this run into the session and write back the full address of the page."""
    known = (*EVERYWHERE, *OF_PAGE[page])
    url = {name: value for name, value in st.query_params.items() if name in known and value}
    values = dict(st.session_state.get(_VALUES, {}))
    if url or st.session_state.get(_PAGE) == page:
        for name in known:
            values.pop(name, None)
    values.pop("database", None)  # Home shows one alone only where that is asked for
    if "table" in url and url["table"] != values.get("table", url["table"]):
        _forget_table(values)
    values |= url
    if "warehouse" not in values and served():
        values["warehouse"] = served()[0]
    st.session_state[_VALUES] = values
    st.session_state[_PAGE] = page
    if _NOW not in st.session_state:
        refresh()
    _write_address(page, values)
    return here()


def served() -> list[str]:
    """The places the server was started on, the one that opens first."""
    return os.environ.get(WAREHOUSE_VARIABLE, "").splitlines()


def may_open(location: str) -> bool:
    """Whether a place may be opened without asking: it is served, lies in one that is, or the reader said so."""
    return location in st.session_state.get(CONFIRMED, ()) or any(is_within(location, each) for each in served())


def confirm(location: str) -> None:
    """The reader named this place, or was shown its name, and wants it opened. No address can say so."""
    st.session_state[CONFIRMED] = (*st.session_state.get(CONFIRMED, ()), location)


def known() -> list[str]:
    """Those, and the ones this reader has opened since, in that order."""
    opened: list[str] = st.session_state.setdefault(_OPENED, [])
    own = get("warehouse")
    if own and own not in (*served(), *opened):
        opened.append(own)
    return [*served(), *opened]


def here() -> UrlState:
    """The place of this run."""
    page = str(st.session_state.get(_PAGE, "overview"))
    return UrlState(page, get("warehouse"), get("table"), zone(), now_ms())


def get(name: str) -> str | None:
    """One value of the place, None where it is not set, or stands in no address of this page."""
    if name not in (*EVERYWHERE, *OF_PAGE[st.session_state.get(_PAGE, "overview")]):
        return None
    value: str | None = st.session_state.get(_VALUES, {}).get(name)
    return value


def put(**changed: str | None) -> None:
    """Change the place, as the reader asked; None or a blank text removes a value. Another table forgets the old one's
    points."""
    values = dict(st.session_state.get(_VALUES, {}))
    before = values.get("table")
    if "warehouse" in changed or ("table" in changed and before not in (None, changed["table"])):
        _forget_table(values)
        if "warehouse" in changed:
            values.pop("table", None)
            if warehouse := (changed["warehouse"] or "").strip():
                confirm(warehouse)
    for name, value in changed.items():
        if value is None or not value.strip():
            values.pop(name, None)
        else:
            values[name] = value.strip()
    st.session_state[_VALUES] = values
    _write_address(st.session_state.get(_PAGE, "overview"), values)


def address(page: str, **changed: str | None) -> dict[str, str]:
    """The query of a link to a page with some values changed."""
    values = {**st.session_state.get(_VALUES, {}), **changed}
    return {name: value for name, value in _address(page, values).items() if value}


def zone() -> str:
    """The zone every time is shown in; UTC where the address names none that this machine knows."""
    named = get("tz")
    return named if named and units.knows_zone(named) else units.UTC


def language() -> str:
    """The language of the address; where it names none, the browser's if it is there, else English."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return ENGLISH  # nobody reads: a thread of our own
    named = st.query_params.get("lang") or get("lang")
    if named is not None and named in languages():
        return named
    return best([st.context.locale or ""])


def now_ms() -> int:
    """The moment this view is counted from."""
    return int(st.session_state[_NOW])


def refresh() -> None:
    """Take the clock's time as the moment to count from. Tables are read anew in any case."""
    st.session_state[_NOW] = time.time_ns() // 1_000_000


def _forget_table(values: dict[str, str]) -> None:
    for name in OF_TABLE:
        values.pop(name, None)


def _address(page: str, values: Mapping[str, str | None]) -> dict[str, str]:
    wanted = {name: values[name] for name in (*EVERYWHERE, *OF_PAGE[page]) if values.get(name)}
    if wanted.get("warehouse") in served()[:1]:
        wanted.pop("warehouse", None)
    return {name: str(value) for name, value in wanted.items()}


def _write_address(page: str, values: Mapping[str, str | None]) -> None:
    wanted = _address(page, values)
    if st.query_params.to_dict() != wanted:
        st.query_params.from_dict(wanted)
