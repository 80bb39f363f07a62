"""The line above two answers: how many rows differ, and how rows were matched. tests/dashboard/views/test_query.py
draws the rest."""

from __future__ import annotations

import re

from dashboard.components.query import compared
from dashboard.view_models.compared_answers import Comparison, MatchedRow


def test_the_line_counts_every_kind_of_row() -> None:
    def line(*kinds: str, by: tuple[str, ...] = ("id",)) -> str:
        found = compared._stat(Comparison(("id",), ("id",), by, tuple(MatchedRow(kind, (1,), (1,)) for kind in kinds)))
        return re.sub(r"\s+", " ", re.sub(r"<[^>]+>|&nbsp;", " ", str(found))).strip()

    assert line("same", "same", "changed") == "0 added · 0 removed · 1 changed · 2 equal · Rows matched by id"
    assert "3 not in both answers · Rows matched by id" in line(*["unknown"] * 3)
    assert "Equal rows matched" in line("added", by=())
