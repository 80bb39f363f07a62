"""Whether changes are allowed. The server sets the limit; within it each reader enables changes for their own session.

Invariant: read-only is the default. A demo warehouse can be changed on any server; any other only on a server started
for writing. In both cases the reader must first enable changes for this warehouse, and no URL can do so. A server
without a secret (`streamlit run`) shows nothing at all; see `dashboard.request_guard`.
"""

from __future__ import annotations

import os

import streamlit as st

from core.catalog import Warehouse

SERVER = "SNAPSCOPE_WRITE"
CONNECTORS = "SNAPSCOPE_CONNECTORS"

is_guarded = False  # only set by `dashboard.server`, which puts the guard in front of everything


def key(listing: Warehouse) -> str:
    """Return the session key of the reader's switch."""
    return f"access.{listing.location}"


def server_allows(listing: Warehouse) -> bool:
    return listing.is_demo or os.environ.get(SERVER) == "1"


def is_on(listing: Warehouse) -> bool:
    """Return whether this reader may change something in this warehouse now."""
    return server_allows(listing) and bool(st.session_state.get(key(listing)))


def has_connectors() -> bool:
    """Return whether the server was started with an engine's own Spark connector, in addition to plain Spark."""
    return bool(os.environ.get(CONNECTORS))
