"""One statement's answers at two versions, side by side: what differs, row by row and cell by cell."""

from __future__ import annotations

import functools
from collections.abc import Callable

import streamlit as st

from core.errors import SnapscopeError
from core.messages import both
from core.model.history import History
from core.model.query_answer import QueryAnswer
from core.model.time_travel import AsOf
from dashboard import words
from dashboard.components import explain_figure, grid, inputs
from dashboard.components.query import result
from dashboard.formatting import markup
from dashboard.view_models import compared_answers
from dashboard.view_models.compared_answers import AnswerPair, Comparison


def draw(found: AnswerPair, history: History, id: str, count: Callable[[AsOf], None]) -> None:
    """Draw both answers; `count` draws the button that counts all rows at one of the versions."""
    points = found.points
    if isinstance(found.before, SnapscopeError) or isinstance(found.after, SnapscopeError):
        for point, side in zip(points, (found.before, found.after), strict=True):
            if isinstance(side, SnapscopeError):
                why = both(side.message, side.remedy) if side.remedy else side.message
                st.html(markup.note("problem", words.no_answer_at(point, why)))
            else:
                result.draw(side, history, f"{id}.{point}", functools.partial(count, side.point))
        return
    if found.comparison is None:
        return
    explain_figure.html(_stat(found.comparison), words.HOW_COMPARED)
    views = words.answer_views(*points)
    view = inputs.one_of(words.ANSWER_VIEW, "answer", views, "both")
    if view != "both":
        side = found.before if view == "before" else found.after
        result.draw(side, history, f"{id}.{view}", functools.partial(count, side.point))
        return
    notes = [
        note
        for side in (found.before, found.after)
        for note in (words.query_note(side), *map(words.left_out, side.left_out), *map(words.sentence, side.differs))
    ]
    st.html("".join(markup.note("info", each) for each in notes))
    _rows(found.comparison, found.after, points)


def _stat(of: Comparison) -> markup.Html:
    counts = of.counts
    parts: list[markup.Piece] = []
    for kind, hue in compared_answers.HUES.items():
        text = words.answer_side(kind, counts[kind])
        if kind != "unknown" or counts[kind]:
            parts.append(markup.in_hue(hue, text) if hue and counts[kind] else markup.muted(text))
    return markup.stat([*parts, markup.muted(words.matched_by(of.by))])


def _rows(of: Comparison, after: QueryAnswer, points: tuple[str, str]) -> None:
    counts = of.counts
    if counts["unknown"]:
        st.html(markup.note("warning", words.ANSWERS_CUT))
    is_equal = counts["same"] == len(of.rows)
    if is_equal:
        st.html(markup.note("info", words.ANSWERS_EQUAL))
    is_mixed = bool(counts["same"]) and not is_equal
    differing = is_mixed and not inputs.switch(words.EQUAL_TOO, "equal", words.EQUAL_TOO_HELP)
    if not of.rows:
        return
    listed, meanings, labels = compared_answers.frame(of, points, differing=differing)
    numbers = compared_answers.numbers(of, after, labels)
    columns = {
        name: st.column_config.TextColumn(label, alignment="right" if name in numbers else "left")
        for name, label in labels.items()
    }
    grid.draw(
        listed, "query.compared", columns=columns, what=words.COMPARED_NOUN, name=words.COMPARED_NAME, tall=True,
        meanings=meanings,
    )  # fmt: skip
