"""Compares the chosen version with another one: chosen in a box, or clicked on the chart while this is open."""

from __future__ import annotations

import streamlit as st

from core.model.time_travel import AsOf
from dashboard import url_state, words
from dashboard.components import frame, version_picker
from dashboard.components.frame import OpenedTable
from dashboard.components.history import snapshot_details
from dashboard.view_models import table_tree

_OPEN = "compare.open"


def is_open() -> bool:
    """Return whether the next click on the chart names the other version."""
    return bool(st.session_state.get(_OPEN))


def draw(opened: OpenedTable, found: AsOf) -> None:
    """Draw the box for the other version, rendered only once opened, and a link to the diff of both."""
    opens = st.expander(words.COMPARE, icon=":material/compare_arrows:", key=_OPEN, on_change="rerun")
    if not opens.open:
        return
    with opens:
        st.caption(words.COMPARE_TEACH)
        other = version_picker.pick(words.COMPARE_OTHER, opened.heads, key="compare.other", hidden=True)
        if other is not None:
            older, newer = _in_order(found, other.found)
            label = words.diff_with(table_tree.inline(older), table_tree.inline(newer))
            frame.link("diff", label, ":material/compare_arrows:", a=older, b=newer, window=None)


def to_diff(opened: OpenedTable, one: str, other: str) -> None:
    """Leave for the diff of two versions."""
    older, newer = _in_order(*(snapshot_details.resolve(opened, point) for point in (one, other)))
    st.switch_page("views/diff.py", query_params=url_state.address("diff", a=older, b=newer, window=None))


def _in_order(one: AsOf, other: AsOf) -> tuple[str, str]:
    """Return the points of two versions, the one committed first before the other."""
    older, newer = sorted((one, other), key=lambda each: each.snapshot.time_ms)
    return older.point, newer.point
