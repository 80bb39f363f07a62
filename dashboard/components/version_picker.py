"""Picks a version: select or type it, and see below what it resolved to.

Invariant: the choice is kept in the URL if it has a parameter there, else only in the session. A text that resolves to
nothing is reported below its box and does not affect the rest of the page.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.errors import NotFound, SnapscopeError
from core.messages import both
from core.model.references import MAIN, Heads, Line
from core.model.time_input import AmbiguousTime
from core.model.time_travel import AsOf
from core.spark.read import removed_points
from dashboard import data as loading
from dashboard import url_state, words
from dashboard.components import calendar
from dashboard.formatting import markup
from dashboard.view_models import version_picker


@dataclass(frozen=True, slots=True)
class PickedVersion:
    """A version that was picked and resolved: `text` as typed, `point` in core's syntax."""

    text: str
    point: str
    found: AsOf


def pick(
    label: str,
    heads: Heads,
    *,
    name: str | None = None,
    key: str = "",
    line: Line | None = None,
    default: str | None = None,
    placeholder: str | None = None,
    help: str | None = None,
    hidden: bool = False,
    width: Any = "stretch",
) -> PickedVersion | None:
    """Return the picked version; None if none is picked or it cannot be resolved, which the line below the box
    explains.

    The box is bound to `name` in the URL, or to `key` in the session. If `line` is given, only its versions are
    offered, and plain ids refer to it. `default` is the version used if none is picked.
    """
    zone, now_ms = url_state.zone(), url_state.now_ms()
    box = key or f"pick.{name}"
    current = url_state.get(name) if name else st.session_state.get(box)
    shown = loading.offered(heads, zone, now_ms, line if heads.capabilities.branches_are_directories else None)
    if default is None and current:
        shown = {"": words.PICK_NONE} | dict(shown)  # otherwise a box with a default could not be cleared
    options = list(shown) if current is None or current in shown else [current, *shown]
    if name:
        st.session_state[box] = current

    def changed() -> None:
        if name:
            chosen = st.session_state[box] or ""
            url_state.put(**{name: chosen if chosen in shown else chosen.strip()})

    def choose(text: str) -> None:
        st.session_state[box] = text
        if name:
            url_state.put(**{name: text})

    text = (current or "").strip() or default
    picked = _resolved(heads, text, line) if text else None
    time_ms = picked.found.snapshot.time_ms if isinstance(picked, PickedVersion) else None
    with st.container(key=f"picker.{box}", gap=None, width=width):
        with st.container(horizontal=True, wrap=False, vertical_alignment="bottom", gap="xsmall", key=f"boxes.{box}"):
            st.selectbox(
                label,
                options,
                options.index(current) if current is not None else None,
                key=box,
                format_func=lambda point: shown.get(point, point),
                accept_new_options=True,
                placeholder=placeholder or (shown.get(default) if default else None) or words.POINT_PLACEHOLDER,
                help=help or words.POINT_HELP,
                on_change=changed,
                label_visibility="collapsed" if hidden else "visible",
            )
            of = line if heads.capabilities.branches_are_directories else None
            calendar.draw(f"calendar.{box}", loading.days(heads, zone, of), zone, now_ms, time_ms, choose)
        if picked is None:
            st.html(markup.picked("" if placeholder else words.DETAIL_NONE))  # the box says what none means
            return None
        if isinstance(picked, AmbiguousTime):
            st.html(markup.picked(picked.message, "problem"))
            _ask(box, choose, picked)
            return None
        if isinstance(picked, SnapscopeError):
            st.html(markup.picked(both(picked.message, picked.remedy) if picked.remedy else picked.message, "problem"))
            return None
        st.html(markup.picked(version_picker.resolved(picked.text, picked.point, picked.found, zone, now_ms)))
        return picked


def _resolved(heads: Heads, text: str, line: Line | None) -> PickedVersion | SnapscopeError:
    try:
        return resolve(heads, text, line)
    except SnapscopeError as error:
        return error


def _ask(box: str, choose: Callable[[str], None], error: AmbiguousTime) -> None:
    """Draw a button for each time that an ambiguous text can mean."""
    with st.container(horizontal=True, key=f"choices.{box}"):
        for number, (text, shown) in enumerate(error.choices):
            st.button(shown, key=f"choice.{box}.{number}", on_click=choose, args=(text,), type="tertiary")


def resolve(heads: Heads, text: str, line: Line | None = None) -> PickedVersion:
    """Resolve a text to a version of this table, or of `line`. Raises `SnapscopeError` if there is none."""
    branch = MAIN if line is None else line.branch
    point = version_picker.read(text, url_state.zone(), heads, url_state.now_ms())
    found = removed_points.resolved(loading.table(heads.location), heads, point, branch)
    if line is not None and heads.capabilities.branches_are_directories and found.branch != branch:
        raise NotFound(words.elsewhere(found.branch, branch), remedy=words.elsewhere_next(branch))
    return PickedVersion(text, point, found)
