"""Query results in a form that a browser can display without losing digits."""

from __future__ import annotations

import re

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.api.types import is_object_dtype

from core import safe_text

SAFE = 2**53
PAGE_ROWS = 500
MOST_CELLS = 50_000  # per page
MOST_SENT = 4_000_000  # approximate number of characters per page
FEWEST = 40  # the minimum characters shown of a value
NAME = 200  # maximum characters of a column name
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def frame(table: pa.Table, most: int | None = None) -> pd.DataFrame:
    """Convert to pandas; integers beyond 2**53 and types that a grid does not support become text. `most` limits the
    characters of each value, followed by its size."""
    columns = []
    for column in table.columns:
        kind = column.type
        if (pa.types.is_integer(kind) and len(column) and _exceeds(column)) or pa.types.is_decimal(kind):
            columns.append(column.cast(pa.string()))
        elif pa.types.is_nested(kind) or _is_binary(kind):
            columns.append(pa.chunked_array([pa.array(_texts(column, most), pa.string())]))
        elif most is not None and _is_text(kind):
            columns.append(_beginnings(column, most))
        else:
            columns.append(column)
    names = table.column_names if most is None else [safe_text.shortened(name, NAME) for name in table.column_names]
    shown: pd.DataFrame = pa.table(columns, names=distinct(names)).to_pandas(integer_object_nulls=True)
    return shown


def page_rows(columns: int) -> int:
    """Return the number of rows that are sent to the browser at once."""
    return max(1, min(PAGE_ROWS, MOST_CELLS // max(1, columns)))


def most_shown(rows: int, columns: int) -> int:
    """Return the number of characters to show of each value, so that all of them stay within the limit."""
    return max(FEWEST, min(safe_text.LONGEST_VALUE, MOST_SENT // max(1, rows * columns)))


def is_cut(shown: pd.DataFrame, most: int) -> bool:
    """Return whether any value is truncated."""
    texts = (shown.iloc[:, place] for place, of in enumerate(shown.dtypes) if is_object_dtype(of))
    return any(isinstance(each, str) and len(each) > most for column in texts for each in column)


def short(table: pa.Table) -> pa.Table:
    """Truncate long texts for a chart, which draws each of them."""
    columns = [_beginnings(each, NAME) if _is_text(each.type) else each for each in table.columns]
    return pa.table(columns, names=table.column_names)


def brief(frame: pd.DataFrame) -> pd.DataFrame:
    """Shorten the long texts in one of our own frames, and show characters that would turn their direction."""
    most = most_shown(len(frame), len(frame.columns))

    def shown(value: object) -> object:
        return safe_text.escape_direction_marks(safe_text.shortened(value, most)) if isinstance(value, str) else value

    safe_frame = frame
    for place, of in enumerate(frame.dtypes):
        if not is_object_dtype(of):
            continue
        column = frame.iloc[:, place].tolist()
        texts = [shown(each) for each in column]
        if any(text is not each for text, each in zip(texts, column, strict=True)):
            safe_frame = safe_frame.copy(deep=False) if safe_frame is frame else safe_frame
            safe_frame.isetitem(place, pd.Series(texts, frame.index, dtype=object).array)
    return safe_frame


def _is_text(of: pa.DataType) -> bool:
    return bool(pa.types.is_string(of) or pa.types.is_large_string(of) or pa.types.is_string_view(of))


def _is_binary(of: pa.DataType) -> bool:
    return bool(pa.types.is_binary(of) or pa.types.is_large_binary(of) or pa.types.is_fixed_size_binary(of))


def _longest(column: pa.ChunkedArray) -> int:
    """Return the size in bytes of the longest value."""
    return int(pc.max(pc.binary_length(column)).as_py() or 0)


def _beginnings(column: pa.ChunkedArray, most: int) -> pa.ChunkedArray:
    if not len(column) or _longest(column) <= most:
        return column
    begun = pc.utf8_slice_codeunits(column, 0, most)
    lengths = pc.binary_length(column).to_pylist()
    is_long = pc.greater(pc.utf8_length(column), most).to_pylist()
    return pa.chunked_array(
        [
            pa.array(
                [
                    f"{text}{safe_text.rest(size)}" if cut else text
                    for text, size, cut in zip(begun.to_pylist(), lengths, is_long, strict=True)
                ],
                pa.string(),
            )
        ]
    )


def _texts(column: pa.ChunkedArray, most: int | None) -> list[str | None]:
    if most is None:
        return [_text(value) for value in column.to_pylist()]
    found: list[str | None] = []
    for value in column:
        text = safe_text.brief(value.as_py(), most + 1) if value.is_valid else None
        found.append(text if text is None or len(text) <= most else f"{text[:most]}{safe_text.rest(_bytes(value))}")
    return found


def _bytes(value: pa.Scalar) -> int:
    return int(pa.array([value.as_py()], value.type).nbytes)


def _exceeds(column: pa.ChunkedArray) -> bool:
    found = pc.min_max(column).as_py()
    return found["min"] is not None and (found["max"] > SAFE or found["min"] < -SAFE)


def _text(value: object) -> str | None:
    if value is None:
        return None
    return value.hex() if isinstance(value, bytes) else str(value)


def distinct(names: list[str]) -> list[str]:
    """Make column names unique for the grid: a second column of the same name becomes `name_2`."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return found


def quoted(name: str) -> str:
    """Quote a table name for SQL."""
    return name if _WORD.fullmatch(name) else "`" + name.replace("`", "``") + "`"


def counting(statement: str) -> str:
    """Return a statement that counts the rows of another one. A trailing comment must not swallow the rest."""
    return f"SELECT count(*) FROM (\n{statement.strip().removesuffix(';').rstrip()}\n)"


def first_query(name: str) -> str:
    """Return a first query to start with."""
    return f"SELECT *\nFROM {name}\nLIMIT 100"
