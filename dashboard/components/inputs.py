"""Inputs bound to URL parameters: they show the value from the URL and write changes back to it.

Invariant: every input gets its value twice, as its state and as its default. A browser that is still loading the
widget's code misses the state, and would show an empty box next to a plan made from the URL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import streamlit as st
from streamlit.elements.lib.mutable_tab_container import TabContainer

from core.errors import Invalid
from core.model import time_input
from core.model.references import MAIN, Heads
from core.units import parse_duration_ms
from dashboard import url_state, words
from dashboard.formatting import markup

NARROW, MIDDLE, WIDE, ROOMY = 150, 185, 260, 420
MILLISECONDS_DIGITS = 12  # a shorter number is a count of something else


def whole(label: str, name: str, help: str, *, least: int = 1) -> int | None:
    """A number input for an optional whole number."""
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
    """A text input for an optional text."""
    key = _key(name)
    st.session_state[key] = url_state.get(name) or ""

    def changed() -> None:
        url_state.put(**{name: st.session_state[key].strip()})

    current = st.session_state[key]
    st.text_input(label, current, key=key, help=help, placeholder=placeholder, on_change=changed, width=width)
    return url_state.get(name)


def moment(text: str, zone: str, now_ms: int) -> int:
    """Parse a time and show how it was read. `AmbiguousTime` lists the times it can mean."""
    found = time_input.moment(text, zone, now_ms)
    show_parsed_time(text, found)
    return found.ms


def age(text: str | None, zone: str, now_ms: int) -> tuple[int | None, int | None]:
    """Parse an age: `(duration in ms, None)`, `(None, time in ms)` or neither. A number without a unit is neither:
    `7` can mean days, and read as milliseconds it would be no limit at all. Raises `Invalid`."""
    if text is None:
        return None, None
    text = text.strip()
    if not text.isdecimal():
        try:
            return parse_duration_ms(text), None
        except Invalid:
            pass  # not a duration, so it must be a time
    found = time_input.moment(text, zone, now_ms)
    if found.form == "number" and len(text) < MILLISECONDS_DIGITS:
        raise Invalid(words.older_than_unread(text), remedy=words.OLDER_THAN_NEXT)
    show_parsed_time(text, found)
    return None, found.ms


def show_parsed_time(text: str, found: time_input.ParsedTime) -> None:
    """Show how a time was read if the text alone does not make it obvious."""
    if not found.is_plain:
        st.html(markup.note("info", time_input.sentence(text.strip(), found)))


def several(
    label: str, name: str, options: Sequence[str], placeholder: str, shown: Callable[[str], str] = str
) -> tuple[str, ...]:
    """Any number of known names, each kept whole in the address."""
    key = _key(name)
    current = [each for each in url_state.split(url_state.get(name)) if each in options]
    st.session_state[key] = current

    def changed() -> None:
        url_state.put(**{name: url_state.joined(st.session_state[key])})

    st.multiselect(
        label, options, current, format_func=shown, key=key, placeholder=placeholder, on_change=changed, width=ROOMY
    )
    return tuple(current)


def one_of(label: str, name: str, options: Mapping[str, str], default: str) -> str:
    """Options side by side with exactly one selected; the URL holds it only if it differs from the default."""
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


def tabs(name: str, options: Mapping[str, str], of: str = "") -> dict[str, TabContainer]:
    """A tab for each option, by its name; the URL holds the open one only if it is not the first. `of` tells apart
    several rows of tabs on a page, which then open the same tab."""
    key, first = f"{_key(name)}{of}", next(iter(options))
    current = options.get(url_state.get(name) or first, options[first])
    st.session_state[key] = current

    def changed() -> None:
        opened = next((each for each, label in options.items() if label == st.session_state[key]), first)
        url_state.put(**{name: None if opened == first else opened})

    found = st.tabs(list(options.values()), default=current, key=key, on_change=changed)
    return dict(zip(options, found, strict=True))


def pick(label: str, name: str, options: Mapping[str, str], everything: str) -> str | None:
    """A select box; None means all options, which is labelled `everything`."""
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


def switch(label: str, name: str, help: str, *, default: bool = False) -> bool:
    """A switch; the URL holds it only if it is not as it is by default."""
    key, other = _key(name), "0" if default else "1"
    current = (url_state.get(name) == other) != default
    st.session_state[key] = current
    st.checkbox(
        label,
        current,
        key,
        help,
        on_change=lambda: url_state.put(**{name: None if st.session_state[key] == default else other}),
    )
    return current


def kinds(label: str, name: str, options: Mapping[str, str], help: str) -> tuple[str, ...]:
    """Any number of options side by side; the URL holds those that are chosen."""
    key = _key(name)
    current = [each for each in url_state.split(url_state.get(name)) if each in options]
    st.session_state[key] = current
    st.pills(
        label,
        list(options),
        default=current,
        key=key,
        selection_mode="multi",
        format_func=options.__getitem__,
        help=help,
        label_visibility="collapsed",
        on_change=lambda: url_state.put(**{name: url_state.joined(st.session_state[key])}),
    )
    return tuple(current)


def of_table(key: str, location: str) -> str:
    """Return the key of an input that belongs to one table. Another table gets another input; if the same one were
    emptied instead, the browser would go on to show what was typed for the table before."""
    tables = st.session_state.setdefault("input.tables", {})
    number = tables.setdefault(location, len(tables))
    return f"{key}@{number}" if number else key


def branch(heads: Heads) -> str:
    """The branch that a change applies to. Draws nothing if there is only main, or if the change applies to all
    branches."""
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
    """Parse a number that the input can show: at least `least`, and exact in a browser."""
    return found if text and re.fullmatch(r"\d{1,15}", text) and (found := int(text)) >= least else None
