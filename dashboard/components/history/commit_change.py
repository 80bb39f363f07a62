"""What one commit changed, by partition, and whether that is usual for its table."""

from __future__ import annotations

import streamlit as st

from core.analysis import usual_commits
from core.analysis.commit_sentences import attention_sentence, sentence
from core.model.history import History
from core.model.time_travel import AsOf
from dashboard import data as loading
from dashboard import words
from dashboard.components import explain_figure
from dashboard.components.frame import OpenedTable
from dashboard.formatting import markup
from dashboard.view_models import commit_change

SHOWN = 5


def draw(opened: OpenedTable, history: History | None, found: AsOf) -> None:
    """Nothing of what is no commit of its branch any more, and where manifests could not be read."""
    if history is None or opened.heads.line(found.branch) is None:
        return
    changes = loading.changes(history, found.branch)
    number = next((at for at, each in enumerate(changes.snapshots) if each.id == found.snapshot.id), None)
    if number is None:
        return
    change, usual = changes.of(number), usual_commits.usual(changes, number)
    text = words.spoken(sentence(change, usual))
    explain_figure.html(markup.note("info", text), words.HOW_USUAL, wide=True)
    for each in usual_commits.signs(changes, number):
        st.html(markup.note("warning", words.spoken(attention_sentence(each))))
    rows = commit_change.by_partition(change)
    if len(rows) > 1:
        st.html(markup.facts(rows[:SHOWN]))
    if len(rows) > SHOWN:
        st.caption(words.more_partitions(len(rows) - SHOWN))
