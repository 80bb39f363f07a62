"""Tables with hundreds of thousands of rows, shown page by page; only the visible page is converted and styled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import pyarrow as pa
import streamlit as st

from dashboard import words
from dashboard.components import grid

ROWS = 200


def draw(
    rows: pa.Table,
    key: str,
    as_frame: Callable[[pa.Table], pd.DataFrame],
    *,
    columns: Mapping[str, Any],
    name: str,
    of: str = "",
) -> int | None:
    """Draw one page, the page controls and the CSV download. Returns the number of the row selected in this run.

    `of` distinguishes lists that share a key: a different list starts at its first page.
    """
    at_key, of_key = f"{key}.page", f"{key}.of"
    if st.session_state.get(of_key) != of:
        st.session_state[of_key], st.session_state[at_key] = of, 0
    last = max(0, (len(rows) - 1) // ROWS)
    page = min(int(st.session_state.get(at_key, 0)), last)
    shown = as_frame(rows.slice(page * ROWS, ROWS))
    known = {column: config for column, config in columns.items() if column in shown.columns}
    chosen = grid.choose(shown, f"{key}.{page}.{of}", columns=known, names=shown.iloc[:, 0])
    with st.container(horizontal=True, vertical_alignment="center", key=f"{key}.pages"):
        if last:
            st.button(
                words.PREVIOUS_PAGE, key=f"{key}.back", icon=":material/chevron_left:", type="tertiary",
                disabled=page == 0, on_click=_turn, args=(at_key, page - 1),
            )  # fmt: skip
            st.button(
                words.NEXT_PAGE, key=f"{key}.on", icon=":material/chevron_right:", type="tertiary",
                disabled=page == last, on_click=_turn, args=(at_key, page + 1),
            )  # fmt: skip
        st.caption(words.page_line(page * ROWS + 1, min((page + 1) * ROWS, len(rows)), len(rows)), width="content")
        grid.download(lambda: as_frame(rows), key, name)
    before, now = st.session_state.get(f"{key}.chosen"), None if chosen is None else (of, page * ROWS + chosen)
    st.session_state[f"{key}.chosen"] = now
    return None if now is None or now == before else now[1]


def _turn(key: str, page: int) -> None:
    st.session_state[key] = page
