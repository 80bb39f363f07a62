"""Inputs bound to a name of the place: what they show is the address, what is typed goes there.

Law: what an input shows is given twice, as its state and as its default. A browser that is still loading the widget's
own code misses the first, and would show an empty box beside a plan made from what the address says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import streamlit as st

from core.model import time_input
from core.model.references import MAIN, Heads
from dashboard import url_state, words
from dashboard.formatting import markup

NARROW, MIDDLE, WIDE, ROOMY = 150, 185, 260, 420


def whole(label: str, name: str, help: str, *, least: int = 1) -> int | None:
    """A whole number or nothing."""
    key, current = _key(name), _number(url_state.get(name), least)
    st.session_state[key] = current

    def changed() -> None:
        value = st.session_state[key]
        url_state.put(**{name: None if value is None else str(value)})

    st.number_input(
        label,
        min_value=least,
        value=current,
        step=1,
        key=key,
        help=help,
        placeholder=words.UNSET,
        on_change=changed,
        width=NARROW,
    )
    return current


def text(label: str, name: str, help: str, placeholder: str, width: int = WIDE) -> str | None:
    """A text or nothing."""
    key = _key(name)
    st.session_state[key] = url_state.get(name) or ""

    def changed() -> None:
        url_state.put(**{name: st.session_state[key]})

    current = st.session_state[key]
    st.text_input(label, current, key=key, help=help, placeholder=placeholder, on_change=changed, width=width)
    return url_state.get(name)


def moment(text: str, zone: str, now_ms: int) -> int:
    """The moment that a text says; how it was read is shown. `AmbiguousTime` names what it can mean."""
    found = time_input.moment(text, zone, now_ms)
    told_of(text, found)
    return found.ms


def told_of(text: str, found: time_input.ParsedTime) -> None:
    """How a time was read, where the text alone does not say it."""
    if not found.is_plain:
        st.html(markup.note("info", time_input.sentence(text.strip(), found)))


def several(label: str, name: str, options: Sequence[str], placeholder: str) -> tuple[str, ...]:
    """Any number of known names; the address holds them with commas between, which no name may hold."""
    key = _key(name)
    current = [each for each in (url_state.get(name) or "").split(",") if each in options]
    st.session_state[key] = current

    def changed() -> None:
        url_state.put(**{name: ",".join(st.session_state[key])})

    st.multiselect(label, options, current, key=key, placeholder=placeholder, on_change=changed, width=ROOMY)
    return tuple(current)


def one_of(label: str, name: str, options: Mapping[str, str], default: str) -> str:
    """One of a few, shown side by side; the address holds it only where it is not the default."""
    key, current = _key(name), url_state.get(name)
    current = current if current in options else default
    st.session_state[key] = current

    def changed() -> None:
        url_state.put(**{name: None if st.session_state[key] == default else st.session_state[key]})

    st.segmented_control(
        label,
        list(options),
        default=current,
        format_func=lambda value: options[value],
        key=key,
        required=True,
        on_change=changed,
        label_visibility="collapsed",
    )
    return str(current)


def pick(label: str, name: str, options: Mapping[str, str], everything: str) -> str | None:
    """One of many, or None for all of them, which is called `everything`."""
    key, names = _key(name), ["", *options]
    current = found if (found := url_state.get(name)) in options else ""
    st.session_state[key] = current

    def changed() -> None:
        url_state.put(**{name: st.session_state[key] or None})

    st.selectbox(
        label,
        names,
        names.index(str(current)),
        format_func=lambda value: options.get(value, everything),
        key=key,
        on_change=changed,
        width=MIDDLE,
    )
    return current or None


def switch(label: str, name: str, help: str) -> bool:
    """On or off; the address holds it only where it is on."""
    key, current = _key(name), url_state.get(name) == "1"
    st.session_state[key] = current
    st.checkbox(
        label, current, key, help, on_change=lambda: url_state.put(**{name: "1" if st.session_state[key] else None})
    )
    return current


def branch(heads: Heads) -> str:
    """The branch a change is about; nothing is drawn where there is only main, or a change is about all of them."""
    names = [line.branch for line in heads.lines]
    if len(names) == 1 or not heads.capabilities.branches_are_directories:
        return MAIN
    key, current = _key("branch"), url_state.get("branch")
    current = current if current in names else MAIN
    st.session_state[key] = current

    def changed() -> None:
        url_state.put(branch=None if st.session_state[key] == MAIN else st.session_state[key])

    st.selectbox(words.BRANCH, names, names.index(current), key=key, on_change=changed, width=180)
    return str(current)


def _key(name: str) -> str:
    return f"input.{name}"


def _number(text: str | None, least: int) -> int | None:
    """A number that the box can show: at least so much, and what a browser counts exactly."""
    return found if text and re.fullmatch(r"\d{1,15}", text) and (found := int(text)) >= least else None
