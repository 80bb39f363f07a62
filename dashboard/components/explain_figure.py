"""Explains a figure: an icon next to it opens the rule. Tab focuses it, Enter opens it, Esc closes it.

The explanation opens as an overlay, so nothing on the page moves.
"""

from __future__ import annotations

import zlib

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import words
from dashboard.formatting import markup
from dashboard.words import Rule


def note(*rules: Rule, at: str = "") -> None:
    """Draw only the icon. `at` distinguishes two uses of the same rules on one page."""
    with st.popover(words.HOW, icon=":material/help:", type="tertiary", key=f"how.{_name(rules, at)}"):
        for rule in rules:
            st.html(markup.rule(rule, words.RULE_PARTS))


def html(html: str, *rules: Rule, at: str = "", wide: bool = False) -> None:
    """Draw finished HTML (a title or a stat line; `wide` for tiles and cards) with the icon at its end."""
    with _line(rules, at):
        st.html(html, width="stretch" if wide else "content")
        note(*rules, at=at)


def caption(text: str, *rules: Rule, at: str = "") -> None:
    """Draw a caption with the icon at its end."""
    with _line(rules, at):
        st.caption(text, width="content")
        note(*rules, at=at)


def _line(rules: tuple[Rule, ...], at: str) -> DeltaGenerator:
    key = f"ruled.{_name(rules, at)}"
    return st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="xsmall", key=key)


def _name(rules: tuple[Rule, ...], at: str) -> str:
    return f"{zlib.crc32(repr(rules).encode()):08x}{at}"
