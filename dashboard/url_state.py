"""The reader's location: warehouse, table, versions, zone and time. The URL is the state.

Invariant: everything that defines a view is in the URL, and no URL changes a table. A URL with parameters is the whole
state of its page, and so is any URL within one page, so the browser's Back button works. A URL without parameters that
leads to another page, as the navigation does, keeps the values that this page uses. `now_ms` stays fixed until the
reader presses Refresh, so plans are based on the time that the reader sees. The version that was chosen (`point`, on
Diff its right side `b`) is one value for all pages of a table. A URL can make the server read only the
locations it was started with; any other location is opened only after the reader has seen its name.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.paths import is_within
from dashboard.formatting import units
from dashboard.formatting.language import ENGLISH, best, languages

WAREHOUSE_VARIABLE = "SNAPSCOPE_WAREHOUSE"
EVERYWHERE = ("warehouse", "table", "tz", "lang")
OF_PAGE: Mapping[str, tuple[str, ...]] = {
    "overview": ("database", "filter", "sort"),
    "timeline": ("point", "window", "spacing", "schemas", "bisect"),
    "asof": ("point",),
    "diff": (
        "a",
        "b",
        "window",
        "spacing",
        "part",
        "hide",
        "kinds",
        "row",
    ),  # `b` is Diff's name for the chosen version
    "files": ("point", "pane", "folder", "find", "order", "manifest", "file", "by"),
    "retention": (
        *("point", "branch", "mode", "keep_max", "keep_min", "older", "max_deletes", "rules"),
        *("tags", "drop", "ended", "tags_older"),
        *("hourly", "daily", "weekly", "monthly", "newest", "sets", "lab", "tab"),
    ),
    "orphans": ("point", "written", "also", "tab"),  # `older` is an age of snapshots, on Retention
    "tags": ("branch", "point", "form", "tab"),
    "query": (
        *("point", "before", "sql", "chart", "ask", "condition", "from", "to", "branch", "every"),
        *("answer", "equal", "limit", "seconds", "engine", "tab"),
    ),
    "audit": ("of", "kind", "who", "outcome", "since", "until", "text", "run", "tab"),
    "doctor": (),
}
OF_TABLE = (
    "point",
    "window",
    "a",
    "branch",
    "tags",
    "drop",
    "sets",
    "also",
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
    "row",
    "hide",
    "kinds",
    "bisect",
)  # meaningless for another table

_APART = re.compile(r"[%,]|^\s+|\s+\Z")  # what a name in a list cannot hold as it is
_NAMED = {"b": "point"}
_VALUES = "snapscope.place"
_PAGE = "snapscope.page"
_NOW = "snapscope.now_ms"
_OPENED = "snapscope.opened"
CONFIRMED = "snapscope.confirmed"


@dataclass(frozen=True, slots=True)
class UrlState:
    """The reader's location in this run."""

    page: str
    warehouse: str | None
    table: str | None  # `database.table`
    zone: str
    now_ms: int


def enter(page: str) -> UrlState:
    """Load the URL of this run into the session, and write back the full URL of the page."""
    known = (*EVERYWHERE, *OF_PAGE[page])
    url = {_named(name): value for name, value in st.query_params.items() if name in known and value}
    values = dict(st.session_state.get(_VALUES, {}))
    if url or st.session_state.get(_PAGE) == page:
        for name in known:
            values.pop(_named(name), None)
    values.pop("database", None)  # on Home only if requested
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
    """Return the locations that the server was started with, the default first."""
    return os.environ.get(WAREHOUSE_VARIABLE, "").splitlines()


def may_open(location: str) -> bool:
    """Return whether a location may be opened without asking: it is served, lies within a served one, or was
    confirmed."""
    return location in st.session_state.get(CONFIRMED, ()) or any(is_within(location, each) for each in served())


def confirm(location: str) -> None:
    """Record that the reader entered this location, or saw its name and confirmed it. A URL cannot do this."""
    st.session_state[CONFIRMED] = (*st.session_state.get(CONFIRMED, ()), location)


def known() -> list[str]:
    """Return the served locations, then those opened by this reader, in order."""
    opened: list[str] = st.session_state.setdefault(_OPENED, [])
    own = get("warehouse")
    if own and own not in (*served(), *opened):
        opened.append(own)
    return [*served(), *opened]


def here() -> UrlState:
    """Return the location of this run."""
    page = str(st.session_state.get(_PAGE, "overview"))
    return UrlState(page, get("warehouse"), get("table"), zone(), now_ms())


def get(name: str) -> str | None:
    """Return one value of the location; None if it is not set or not part of this page's URL."""
    if _named(name) not in map(_named, (*EVERYWHERE, *OF_PAGE[st.session_state.get(_PAGE, "overview")])):
        return None
    value: str | None = st.session_state.get(_VALUES, {}).get(_named(name))
    return value


def carries_version(page: str) -> bool:
    """Return whether a page's URL holds the chosen version: it is about a table."""
    return "point" in map(_named, OF_PAGE[page])


def put(**changed: str | None) -> None:
    """Change the location as requested; None or empty text removes a value. Switching tables removes the old one's
    versions. Values stay whole: outer spaces can be part of a name."""
    values = dict(st.session_state.get(_VALUES, {}))
    before = values.get("table")
    if "warehouse" in changed or ("table" in changed and before not in (None, changed["table"])):
        _forget_table(values)
        if "warehouse" in changed:
            values.pop("table", None)
            values.pop("filter", None)
            changed["warehouse"] = (changed["warehouse"] or "").strip()
            if changed["warehouse"]:
                confirm(changed["warehouse"])
    for name, value in changed.items():
        if not value:
            values.pop(_named(name), None)
        else:
            values[_named(name)] = value
    st.session_state[_VALUES] = values
    _write_address(st.session_state.get(_PAGE, "overview"), values)


def joined(names: Iterable[str]) -> str:
    """Return names as one value, with commas between; whatever would end a name or be lost is percent-encoded."""
    return ",".join(_APART.sub(lambda found: quote(found[0], safe=""), name) for name in names)


def split(value: str | None) -> list[str]:
    """Return the names that a value joins, also one typed with spaces after its commas."""
    return [unquote(name) for part in (value or "").split(",") if (name := part.strip())]


def address(page: str, **changed: str | None) -> dict[str, str]:
    """Return the query parameters for a link to a page, with some values changed; a link to another table holds none of
    this one's versions."""
    values = dict(st.session_state.get(_VALUES, {}))
    if "table" in changed and values.get("table") not in (None, changed["table"]):
        _forget_table(values)
    values |= {_named(name): value for name, value in changed.items()}
    return {name: value for name, value in _address(page, values).items() if value}


def zone() -> str:
    """Return the time zone for all times; UTC if the URL has none or an unknown one."""
    named = get("tz")
    return named if named and units.knows_zone(named) else units.UTC


def language() -> str:
    """Return the URL's language; if it has none, the browser's if supported, else English."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return ENGLISH  # no reader: one of our own threads
    named = st.query_params.get("lang") or get("lang")
    if named is not None and named in languages():
        return named
    return best([st.context.locale or ""])


def now_ms() -> int:
    """Return the time that this view is based on."""
    return int(st.session_state[_NOW])


def refresh() -> None:
    """Set the reference time to now. Tables are re-read in any case."""
    st.session_state[_NOW] = time.time_ns() // 1_000_000


def _named(parameter: str) -> str:
    """Return the value that a parameter holds."""
    return _NAMED.get(parameter, parameter)


def _forget_table(values: dict[str, str]) -> None:
    for name in OF_TABLE:
        values.pop(name, None)


def _address(page: str, values: Mapping[str, str | None]) -> dict[str, str]:
    parameters = {name: values[_named(name)] for name in (*EVERYWHERE, *OF_PAGE[page]) if values.get(_named(name))}
    if parameters.get("warehouse") in served()[:1]:
        parameters.pop("warehouse", None)
    return {name: str(value) for name, value in parameters.items()}


def _write_address(page: str, values: Mapping[str, str | None]) -> None:
    parameters = _address(page, values)
    if st.query_params.to_dict() != parameters:
        st.query_params.from_dict(parameters)
