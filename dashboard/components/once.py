"""Draws a page again, once, after a delay.

A fragment with `run_every` would keep sending requests, and one that arrives after the reader has left its page makes
Streamlit clear the new page.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_JS = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
_draw = st.components.v2.component("snapscope_once", html="<span></span>", js=_JS)


def after(seconds: float, name: str, key: str) -> bool:
    """Return whether the time since the first call with this name has passed; until then, wait for it."""
    due = f"{key}.due"
    if st.session_state.get(due) == name:
        return True

    def passed() -> None:
        st.session_state[due] = st.session_state[key]["due"]

    _draw(key=key, data={"name": name, "ms": round(seconds * 1_000)}, on_due_change=passed, height="content")
    return False
