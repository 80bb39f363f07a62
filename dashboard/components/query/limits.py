"""How a query is run: its row cap, time limit, engine and pin. The URL holds those of the last run, so a link repeats
it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from core.catalog import Warehouse
from dashboard import permissions, url_state, words
from dashboard.formatting import commands

CAP, TIMEOUT, HOLD, ENGINE = "query.cap", "query.timeout", "query.hold", "query.engine"
CAPS, TIMEOUTS_S = (100, 1_000, 10_000, 100_000), (30, 60, 300)
ENGINES = (commands.PLAIN, "connector")  # keys of words.QUERY_ENGINES
CHOICES: Mapping[str, tuple[str, Sequence[object], object]] = {  # by parameter: key, options, default
    "limit": (CAP, CAPS, 1_000),
    "seconds": (TIMEOUT, TIMEOUTS_S, 60),
    "engine": (ENGINE, ENGINES, commands.PLAIN),
}


def draw(listing: Warehouse) -> None:
    """Draw the boxes, in a form."""
    for name, (key, options, default) in CHOICES.items():
        linked = url_state.get(name)
        if key not in st.session_state or linked != st.session_state.get(f"{key}.linked"):
            st.session_state[key] = next((each for each in options if str(each) == linked), default)
        st.session_state[f"{key}.linked"] = linked
    st.selectbox(words.ROW_CAP, CAPS, CAPS.index(row_cap()), key=CAP, format_func=lambda rows: f"{rows:,}", width=140)
    st.selectbox(words.TIMEOUT, TIMEOUTS_S, TIMEOUTS_S.index(timeout_s()), key=TIMEOUT, width=140)
    if permissions.has_connectors():
        by, help = words.QUERY_ENGINES, words.QUERY_ENGINE_HELP
        st.selectbox(
            words.QUERY_ENGINE, ENGINES, ENGINES.index(engine()), key=ENGINE, format_func=by.__getitem__, help=help,
            width=200,
        )  # fmt: skip
    st.checkbox(words.HOLD, key=HOLD, help=words.HOLD_HELP, disabled=not permissions.is_on(listing))


def put() -> None:
    """Write what differs from the defaults to the URL, as the query is run."""
    for name, (key, _, default) in CHOICES.items():
        chosen = st.session_state.get(key, default)
        url_state.put(**{name: None if chosen == default else str(chosen)})
        st.session_state[f"{key}.linked"] = url_state.get(name)


def row_cap() -> int:
    return int(st.session_state[CAP])


def timeout_s() -> int:
    return int(st.session_state[TIMEOUT])


def engine() -> str:
    """Return what reads the rows; plain Spark unless the server was started with connectors."""
    return str(st.session_state.get(ENGINE, commands.PLAIN)) if permissions.has_connectors() else commands.PLAIN


def is_held(listing: Warehouse) -> bool:
    return bool(st.session_state.get(HOLD)) and permissions.is_on(listing)
