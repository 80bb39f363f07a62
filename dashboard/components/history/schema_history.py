"""The columns of a branch across its schemas, with what each change means for readers."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.analysis.schema_history import schema_history
from core.model.history import History
from core.model.references import Heads
from core.model.time_travel import AsOf
from dashboard import words
from dashboard.components import explain_figure
from dashboard.formatting import markup
from dashboard.view_models import schema_history as shown


def changes(heads: Heads, branch: str) -> int:
    """How often the columns of a branch changed."""
    return schema_history(heads, branch).changed


def draw(heads: Heads, history: History | None, branch: str, zone: str, chosen: Mapping[str, AsOf]) -> None:
    """Draw the matrix and the sentences below their title; `chosen` are versions to point out, by their letters."""
    found = schema_history(heads, branch, history)
    explain_figure.html(markup.panel_title(words.columns_changed(found.changed)), words.HOW_SCHEMAS)
    if found.changed:
        st.html(shown.matrix(found, zone, shown.marks(found, chosen)))
        st.html(shown.meanings(found, zone))
    else:
        st.html(markup.note("info", words.NO_SCHEMA_HISTORY))
