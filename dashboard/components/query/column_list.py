"""The columns and tables that a statement can use, listed next to the editor and completed in it. A click inserts the
name."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from core.model.references import Heads, Schema
from core.safe_text import shortened
from dashboard import words
from dashboard.components.query import sql_editor
from dashboard.view_models import examples

_HERE = Path(__file__).parent
_draw = st.components.v2.component(
    "snapscope_columns",
    html="<section></section>",
    css=(_HERE / "column_list.css").read_text(encoding="utf-8"),
    js=(_HERE / "column_list.js").read_text(encoding="utf-8"),
)


def draw(
    heads: Heads, schema: Schema, name: str, editor: str, *, has_before: bool, answered_sql: str | None = None
) -> None:
    """Draw the list; `editor` is the key of the container of the text area, `asked` the statement of its answer."""
    columns = examples.columns(heads, schema)
    tables = examples.tables(name, heads.capabilities, has_before=has_before)
    sql_editor.draw(editor, [each.written for each in columns], tables, answered_sql=answered_sql)
    _draw(
        key="query_columns",
        data={
            "editor": editor,
            "title": words.COLUMNS,
            "hint": words.COLUMN_INSERT,
            "others": words.ALSO_TABLES,
            "columns": [
                {
                    "name": shortened(each.name),
                    "written": each.written,
                    "type": shortened(each.type),
                    "marks": [words.COLUMN_MARKS[mark] for mark in each.marks],
                    "comment": each.comment and shortened(each.comment),
                }
                for each in columns
            ],
            "tables": list(tables),
        },
    )
