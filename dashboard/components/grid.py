"""Long tables: sortable, searchable, capped with a notice, downloadable whole.

Law: a row is chosen by its name. The browser knows its place alone, so a list of other names is another grid, in which
nothing is chosen: what is chosen never slips onto another row.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import words
from dashboard.components.frame import hues
from dashboard.formatting import cells, exports, markup, units

SHOWN_ROWS = 5_000
ABSENT = "—"


def draw(
    frame: pd.DataFrame,
    key: str,
    *,
    columns: Mapping[str, Any],
    what: str,
    name: str,
    tall: bool = False,
) -> None:
    """Show a table. `name` is the download's file name without its ending, `what` a plural for the notice."""
    shown = cells.brief(frame.head(SHOWN_ROWS))
    st.dataframe(
        _styled(shown),
        key=key,
        hide_index=True,
        column_config=dict(columns),
        height=_height(shown, 20 if tall else 12),
        placeholder=ABSENT,
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        download(lambda: frame, key, name)
        if len(frame) > SHOWN_ROWS:
            st.html(markup.note("info", words.capped(SHOWN_ROWS, len(frame), what)))


def download(whole: Callable[[], pd.DataFrame], key: str, name: str) -> None:
    """The button that saves a table, `whole` once it is pressed, as `name`.csv; `key` is the table's."""
    st.download_button(
        words.DOWNLOAD_CSV,
        lambda: exports.csv(whole()),
        file_name=f"{name}.csv",
        mime="text/csv",
        key=f"{key}.csv",
        icon=":material/download:",
        on_click="ignore",
        type="tertiary",
    )


def plain(frame: pd.DataFrame, key: str, *, columns: Mapping[str, Any]) -> None:
    """Rows of others, as they are: their columns' names mean nothing here."""
    formats: dict[str, Any] = {
        name: units.count for name in frame.columns if pd.api.types.is_integer_dtype(frame[name])
    }
    st.dataframe(
        frame.style.format(formats, na_rep="NULL") if formats else frame,
        key=key,
        hide_index=True,
        column_config=dict(columns),
        height=_height(frame, 20),
        placeholder="NULL",
    )


def choose(frame: pd.DataFrame, key: str, *, columns: Mapping[str, Any], names: Iterable[object]) -> int | None:
    """A table of which one row can be chosen: its place, None while none is. `names` tell the rows apart, in order."""
    event = st.dataframe(
        _styled(cells.brief(frame)),
        key=named(key, names),
        hide_index=True,
        column_config=dict(columns),
        height=_height(frame),
        placeholder=ABSENT,
        on_select="rerun",
        selection_mode="single-row",
    )
    rows = event["selection"]["rows"]
    return rows[0] if rows and rows[0] < len(frame) else None


def named(key: str, names: Iterable[object]) -> str:
    """The key of the grid that shows rows of these names."""
    return f"{key}.{hashlib.sha256(repr(list(names)).encode()).hexdigest()[:12]}"


def pick(
    frame: pd.DataFrame, key: str, names: Mapping[str, str], chosen: Callable[[str], None], *, name: str, first: str
) -> None:
    """A long table of which a line can be chosen by mouse or keyboard: `chosen` gets its text in the column `first`.

    Numbers go to the browser as they are, so thousands of lines cost little; `name` is the download's file name.
    """

    own = named(key, frame[first])

    def answer() -> None:
        rows = st.session_state[own]["selection"]["rows"]
        if rows:
            chosen(str(frame.iloc[rows[0]][first]))

    numbers = {each for each in frame.columns if pd.api.types.is_integer_dtype(frame[each])}
    st.dataframe(
        cells.brief(frame),
        key=own,
        hide_index=True,
        column_config={
            each: st.column_config.NumberColumn(label, format="localized") if each in numbers else text(label)
            for each, label in names.items()
            if each in frame.columns
        },
        height=_height(frame),
        placeholder=ABSENT,
        on_select=answer,
        selection_mode="single-row",
    )
    download(lambda: frame, key, name)


def text(label: str, help: str | None = None, width: Any = None) -> Any:
    return st.column_config.TextColumn(label, help=help, width=width)


def number(label: str, help: str | None = None) -> Any:
    return st.column_config.NumberColumn(label, help=help)


def _height(frame: pd.DataFrame, most: int = 12) -> Any:
    """All rows where they are few; else the pixels of `most`, the last one cut, which tells that they go on."""
    return "content" if len(frame) <= most else 38 + 35 * most


def _styled(frame: pd.DataFrame) -> Any:
    """The frame with its numbers in words, and with hues beside the signs of what goes, comes and was compacted."""
    styled = frame.style.format(_formats(frame), na_rep=ABSENT)
    hued: list[Hashable] = [name for name in ("verdict", "side", "change") if name in frame.columns]
    return styled.map(_hue, subset=hued) if hued else styled


def _hue(value: object) -> str:
    name = words.HUES.get(str(value))
    return f"color: {getattr(hues(), name)}" if name else ""


def _formats(frame: pd.DataFrame) -> dict[str, Any]:
    """Sizes are shown rounded, counts with their thousands set apart; both sort and copy as exact numbers."""
    formats: dict[str, Any] = {}
    for name in frame.columns:
        if name in ("bytes", "small_bytes", "cost", "later"):
            formats[name] = lambda value: units.size(int(value))
        elif pd.api.types.is_integer_dtype(frame[name]) or name == "rows":
            formats[name] = lambda value: units.count(int(value))
    return formats
