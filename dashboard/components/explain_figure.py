"""Explains a figure: a small sign beside it opens the rule. Tab reaches it, Enter opens it, Esc closes it.

Nothing moves when it opens: it lies over the page.
"""

from __future__ import annotations

import zlib

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import words
from dashboard.formatting import markup
from dashboard.words import Rule


def note(*rules: Rule, at: str = "") -> None:
    """The sign alone. `at` tells apart two of the same rules on one page."""
    with st.popover(words.HOW, icon=":material/help:", type="tertiary", key=f"how.{_name(rules, at)}"):
        for rule in rules:
            st.html(markup.rule(rule, words.RULE_PARTS))


def beside(html: str, *rules: Rule, at: str = "", wide: bool = False) -> None:
    """Finished HTML (a title, a stat line; tiles and cards are `wide`) with the sign at its end."""
    with _line(rules, at):
        st.html(html, width="stretch" if wide else "content")
        note(*rules, at=at)


def caption(text: str, *rules: Rule, at: str = "") -> None:
    """A line of small words with the sign at its end."""
    with _line(rules, at):
        st.caption(text, width="content")
        note(*rules, at=at)


def _line(rules: tuple[Rule, ...], at: str) -> DeltaGenerator:
    key = f"ruled.{_name(rules, at)}"
    return st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="xsmall", key=key)


def _name(rules: tuple[Rule, ...], at: str) -> str:
    return f"{zlib.crc32(repr(rules).encode()):08x}{at}"
