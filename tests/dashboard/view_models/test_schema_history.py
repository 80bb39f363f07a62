"""The schema history as a matrix and in sentences."""

from __future__ import annotations

import re

from core.analysis.schema_history import schema_history
from core.table import open_table, resolve
from dashboard.view_models import schema_history as shown
from tests.support.places import SMALL_TABLES

EVOLVED = SMALL_TABLES / "paimon" / "default.db" / "schema_evolved"


def rows(html: str) -> list[list[str]]:
    """The texts of each row of a table, from its HTML."""
    return [
        [" ".join(re.sub(r"<[^>]+>", " ", cell).split()) for cell in re.split(r"</t[hd]>", row)[:-1]]
        for row in html.split("<tr>")[1:]
    ]


def test_columns_are_rows_and_versions_columns() -> None:
    heads = open_table(str(EVOLVED)).heads()
    found = schema_history(heads, "main")
    letters = shown.marks(found, {"A": resolve(heads, "3"), "B": resolve(heads, "14")})
    assert letters == {1: "A", 5: "B"}
    head, *lines = rows(shown.matrix(found, "UTC", letters))
    assert head[1:] == [
        "Schema 0 2026-11-21 00:36 2 snapshots",
        "Schema 1 2026-11-21 00:36 2 snapshots seen by A",
        *(f"Schema {number} 2026-11-21 00:36 2 snapshots" for number in (2, 3, 4)),
        "Schema 5–6 2026-11-21 00:36 4 snapshots, current seen by B",
    ]
    assert lines == [
        ["dt id 0", "STRING", "", "", "", "", ""],
        ["id id 1", "INT", "", "", "", "INT → BIGINT", ""],
        ["a2 id 2", "STRING", "", "a → a2", "", "", ""],
        ["b id 3", "INT", "", "", "− dropped", "", ""],
        ["c id 4", "", "+ DOUBLE", "", "", "", ""],
        ["b id 5", "", "", "", "", "", "+ STRING"],
    ]


def test_only_the_newest_versions_stand_side_by_side(monkeypatch: object) -> None:
    found = schema_history(open_table(str(EVOLVED)).heads(), "main")
    shown_now, shown.SHOWN = shown.SHOWN, 3
    try:
        html = shown.matrix(found, "UTC", {})
    finally:
        shown.SHOWN = shown_now
    head, *lines = rows(html)
    assert [each.split(" 2026")[0] for each in head[1:]] == ["Schema 3", "Schema 4", "Schema 5–6"]
    assert lines[2] == ["a2 id 2", "STRING", "", ""], "the first one shown says what was there"
    assert "b id 3" not in [line[0] for line in lines], "dropped before them"
    assert "The newest 3 of 6 versions" in html
    assert shown.meanings(found, "UTC").count("snap-changes") == 5, "the sentences leave out none"
