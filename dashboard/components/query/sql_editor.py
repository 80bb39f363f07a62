"""Colours the SQL of a text area, and completes the names of tables, columns, keywords and functions in it.

The editor stays Streamlit's own text area, so that Tab leaves it, and its label, undo and form are the usual ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import streamlit as st

from dashboard import words
from dashboard.view_models import examples

_JS = Path(__file__).with_name("sql_editor.js")
_draw = st.components.v2.component("snapscope_sql_editor", html="<span></span>", js=_JS.read_text(encoding="utf-8"))


def draw(editor: str, columns: Iterable[str], tables: Iterable[str], *, answered_sql: str | None = None) -> None:
    """Attach to the text area in the container with the key `editor`. `asked` is the statement of the answer below it,
    which is dimmed while the text is another one."""
    kinds = (("column", columns), ("table", tables), ("keyword", examples.KEYWORDS), ("function", examples.FUNCTIONS))
    _draw(
        key=f"{editor}_code",
        data={
            "editor": editor,
            "asked": answered_sql,
            "label": words.COMPLETIONS,
            "kinds": words.COMPLETION_KINDS,
            "words": [{"text": text, "kind": kind} for kind, found in kinds for text in dict.fromkeys(found)],
        },
        height="content",
    )
