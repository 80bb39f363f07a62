"""The one way to name a point: choose it from a list or write it."""

from __future__ import annotations

import streamlit as st

from core.model import MAIN, Heads
from dashboard import state
from dashboard.present import units, words

LISTED_SNAPSHOTS = 200


def choices(heads: Heads, zone: str) -> dict[str, str]:
    """Points to choose from and how each is shown: names first, then each branch's newest snapshots."""
    found = {"latest": words.LATEST, "earliest": words.EARLIEST}
    for line in heads.lines:
        before = "" if line.branch == MAIN else f"branch:{line.branch}/"
        if line.branch != MAIN and line.snapshots:
            found[f"branch:{line.branch}"] = f"branch:{line.branch}"
        for tag in reversed(line.tags):
            point = f"{before}tag:{tag.name}"
            found[point] = f"{point} · {units.moment(tag.snapshot.time_ms, zone)}"
        for snapshot in reversed(line.snapshots[-LISTED_SNAPSHOTS:]):
            point = f"{before}{snapshot.id}"
            found[point] = f"{point} · {words.commit_kind(snapshot.kind)} · {units.moment(snapshot.time_ms, zone)}"
    return found


def pick(label: str, name: str, heads: Heads, zone: str, *, otherwise: str | None = None) -> str | None:
    """A point bound to a name of the place. Anything of the grammar of points can be written in."""
    shown = choices(heads, zone)
    key = f"pick.{name}"
    current = state.get(name)
    options = list(shown) if current is None or current in shown else [current, *shown]
    st.session_state[key] = current
    st.selectbox(
        label,
        options,
        index=None,
        key=key,
        format_func=lambda point: shown.get(point, point),
        accept_new_options=True,
        placeholder=otherwise or words.POINT_PLACEHOLDER,
        help=words.POINT_HELP,
        on_change=lambda: state.put(**{name: st.session_state[key]}),
    )
    return current
