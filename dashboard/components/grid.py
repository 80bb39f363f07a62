"""Long tables: sortable, searchable, truncated with a notice, and downloadable in full.

Invariant: a row is selected by its name. The browser only knows the row number, so a list with other names is a new
grid with no selection; a selection never moves to another row.
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
from dashboard.formatting.palette import Palette

SHOWN_ROWS = 1_000
COLOURED_ROWS = 500
ABSENT = "—"


def draw(
    frame: pd.DataFrame,
    key: str,
    *,
    columns: Mapping[str, Any],
    what: str,
    name: str,
    tall: bool = False,
    meanings: pd.DataFrame | None = None,
) -> None:
    """Show a table. `name` is the download's file name without extension, `what` a plural noun for the notice.
    `meanings` colours cells: a frame of the same shape with a name of the palette or "" in each."""
    shown = cells.brief(frame.head(SHOWN_ROWS))
    st.dataframe(
        _styled(shown, meanings),
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
    """Draw the button that downloads a table as `name`.csv; `whole` creates it on click, and `key` is the table's
    key."""
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
    """Show query results as they are: their column names have no special meaning, and any whole number can be an id,
    so none gets thousands separators."""
    formats: dict[str, Any] = {name: str for name in frame.columns if pd.api.types.is_integer_dtype(frame[name])}
    st.dataframe(
        frame.style.format(formats, na_rep="NULL") if formats else frame,
        key=key,
        hide_index=True,
        column_config=dict(columns),
        height=_height(frame, 20),
        placeholder="NULL",
    )


def choose(frame: pd.DataFrame, key: str, *, columns: Mapping[str, Any], names: Iterable[object]) -> int | None:
    """Show a table with single-row selection and return the selected row number, or None. `names` identify the rows, in
    order."""
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
    """Return the grid key for rows with these names."""
    return f"{key}.{hashlib.sha256(repr(list(names)).encode()).hexdigest()[:12]}"


def pick(
    frame: pd.DataFrame, key: str, names: Mapping[str, str], chosen: Callable[[str], None], *, name: str, first: str
) -> None:
    """Show a long table whose rows can be selected by mouse or keyboard; `chosen` receives the row's text in column
    `first`.

    Numbers are sent to the browser unformatted, so thousands of rows cost little. `name` is the download's file name.
    """

    own = named(key, frame[first])

    def answer() -> None:
        rows = st.session_state[own]["selection"]["rows"]
        if rows:
            chosen(str(frame.iloc[rows[0]][first]))

    def column(each: str, label: str) -> Any:
        if pd.api.types.is_integer_dtype(frame[each]):
            return st.column_config.NumberColumn(label, format="localized")
        return whole(label, frame[each]) if each in (first, "kind") else text(label)

    st.dataframe(
        cells.brief(frame),
        key=own,
        hide_index=True,
        column_config={each: column(each, label) for each, label in names.items() if each in frame.columns},
        height=_height(frame),
        placeholder=ABSENT,
        on_select=answer,
        selection_mode="single-row",
    )
    download(lambda: frame, key, name)


def text(label: str, help: str | None = None, width: Any = None) -> Any:
    return st.column_config.TextColumn(label, help=help, width=width)


def whole(label: str, texts: Iterable[str]) -> Any:
    """A column as wide as its longest text: Streamlit measures a few rows, and cuts off longer ones elsewhere."""
    longest = max(len(each.encode(errors="replace")) for each in (label, *texts))  # Chinese characters are wide
    return text(label, width=min(7 * longest + 20, 420))


def number(label: str, help: str | None = None) -> Any:
    return st.column_config.NumberColumn(label, help=help)


def _height(frame: pd.DataFrame, most: int = 12) -> Any:
    """Return a height that fits all rows if there are few, else `most` rows with the last one cut off to show that more
    follow."""
    return "content" if len(frame) <= most else 38 + 35 * most


def _styled(frame: pd.DataFrame, meanings: pd.DataFrame | None = None) -> Any:
    """Format the numbers of a frame, and colour the signs for added, removed and compacted. Colours alone double what
    is sent, so a long frame without numbers has none, like one that is too large for pandas to style."""
    formats = _formats(frame)
    is_long = meanings is None and not formats and len(frame) > COLOURED_ROWS
    if is_long or frame.size > pd.get_option("styler.render.max_elements"):
        return frame
    styled = frame.style.format(formats, na_rep=ABSENT)
    hued: list[Hashable] = [name for name in ("verdict", "side", "change") if name in frame.columns]
    if meanings is not None:
        of = hues()
        return styled.apply(lambda shown: meanings.head(len(shown)).map(lambda name: css(of, name)), axis=None)
    return styled.map(_hue, subset=hued) if hued else styled


def css(of: Palette, meaning: str) -> str:
    """Colour a cell: what changed in a row stands out more than a row that is new or gone as a whole."""
    if not meaning:
        return ""
    background = f"background-color: {of.soft(meaning)}"
    return f"{background}; color: {of.changed}" if meaning == "changed" else background


def _hue(value: object) -> str:
    name = words.hue(str(value))
    return f"color: {getattr(hues(), name)}" if name else ""


def _formats(frame: pd.DataFrame) -> dict[str, Any]:
    """Format sizes as rounded values and counts with thousands separators; both sort and copy as exact numbers."""
    formats: dict[str, Any] = {}
    for name in frame.columns:
        if name in ("bytes", "small_bytes", "cost", "later"):
            formats[name] = lambda value: units.size(int(value))
        elif pd.api.types.is_integer_dtype(frame[name]) or name == "rows":
            formats[name] = lambda value: units.count(int(value))
    return formats
