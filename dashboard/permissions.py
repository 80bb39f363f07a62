"""Whether changes may run here. The server decides whether they may at all, each reader whether their page may.

Law: reading is the default. A demo warehouse may be changed on any server; any other needs one that was started for
writing. In both, the reader switches it on for this warehouse first, and no address ever does. A server that does not
ask for a secret (`streamlit run`) shows nothing at all: see `dashboard.request_guard`.
"""

from __future__ import annotations

import os

import streamlit as st

from core.catalog import Warehouse

SERVER = "SNAPSCOPE_WRITE"
CONNECTORS = "SNAPSCOPE_CONNECTORS"

is_guarded = False  # set by `dashboard.server` alone, which puts the guard before everything


def key(listing: Warehouse) -> str:
    """Of the reader's switch."""
    return f"access.{listing.location}"


def server_allows(listing: Warehouse) -> bool:
    return listing.is_demo or os.environ.get(SERVER) == "1"


def is_on(listing: Warehouse) -> bool:
    """Whether this reader may change something here, now."""
    return server_allows(listing) and bool(st.session_state.get(key(listing)))


def has_connectors() -> bool:
    """Whether the server was started with an engine's own Spark connector to ask beside plain Spark."""
    return bool(os.environ.get(CONNECTORS))
