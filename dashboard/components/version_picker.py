"""The one way to name a version: choose it or type it, and see below what it resolved to.

Law: the choice is kept in the address if it has a name there, else in the session alone. A text that names nothing says
so under its box and leaves the rest of the page alone.
"""

from __future__ import annotations

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
from dashboard.components import breadcrumb
from dashboard.formatting import markup
from dashboard.view_models import version_picker


@dataclass(frozen=True, slots=True)
class PickedVersion:
    """A point that was chosen and resolved. `text` as it was written, `point` in the core's grammar."""

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
    """A point, None where none is chosen or it cannot be resolved; then the line under the box says which and why.

    It is bound to `name` in the address, or to `key` in the session. On `line` alone where one is given; bare ids are
    of it then. `default` is what no choice means.
    """
    zone, now_ms = url_state.zone(), url_state.now_ms()
    box = key or f"pick.{name}"
    current = url_state.get(name) if name else st.session_state.get(box)
    shown = version_picker.offered(heads, zone, now_ms, line if heads.capabilities.branches_are_directories else None)
    if default is None and current:
        shown = {"": words.PICK_NONE} | shown  # a box that has a default value cannot be cleared otherwise
    options = list(shown) if current is None or current in shown else [current, *shown]
    if name:
        st.session_state[box] = current
        breadcrumb.point()

    def changed() -> None:
        if name:
            url_state.put(**{name: st.session_state[box]})

    with st.container(key=f"picker.{box}", gap=None, width=width):
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
        text = (current or "").strip() or default
        if text is None:
            st.html(markup.picked(words.DETAIL_NONE))
            return None
        try:
            picked = resolve(heads, text, line)
        except AmbiguousTime as error:
            st.html(markup.picked(error.message, "problem"))
            _ask(box, name, error)
            return None
        except SnapscopeError as error:
            st.html(markup.picked(both(error.message, error.remedy) if error.remedy else error.message, "problem"))
            return None
        st.html(markup.picked(version_picker.resolved(text, picked.point, picked.found, zone, now_ms)))
        return picked


def _ask(box: str, name: str | None, error: AmbiguousTime) -> None:
    """A button for each moment that a text can mean."""

    def choose(text: str) -> None:
        st.session_state[box] = text
        if name:
            url_state.put(**{name: text})

    with st.container(horizontal=True, key=f"choices.{box}"):
        for number, (text, shown) in enumerate(error.choices):
            st.button(shown, key=f"choice.{box}.{number}", on_click=choose, args=(text,), type="tertiary")


def resolve(heads: Heads, text: str, line: Line | None = None) -> PickedVersion:
    """What a text names on this table. `SnapscopeError` where it names nothing, or nothing of `line`."""
    branch = MAIN if line is None else line.branch
    point = version_picker.read(text, url_state.zone(), heads, url_state.now_ms())
    found = removed_points.resolved(loading.table(heads.location), heads, point, branch)
    if line is not None and heads.capabilities.branches_are_directories and found.branch != branch:
        raise NotFound(words.elsewhere(found.branch, branch), remedy=words.elsewhere_next(branch))
    return PickedVersion(text, point, found)
