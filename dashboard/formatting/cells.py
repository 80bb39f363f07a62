"""Rows of a query, as a browser can show them without losing a digit."""

from __future__ import annotations

import re

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.api.types import is_object_dtype

from core import safe_text

SAFE = 2**53
PAGE_ROWS = 500
MOST_CELLS = 50_000  # on one page
MOST_SENT = 4_000_000  # characters on one page, give or take the shortest
FEWEST = 40  # characters of a value, however many there are
NAME = 200  # characters of a column's name
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def frame(table: pa.Table, most: int | None = None) -> pd.DataFrame:
    """The same rows; whole numbers beyond 2**53 and everything a grid cannot hold become text. `most`: so many
    characters of each value alone, and how large it is."""
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
    """Rows that the browser gets at once."""
    return max(1, min(PAGE_ROWS, MOST_CELLS // max(1, columns)))


def most_shown(rows: int, columns: int) -> int:
    """Characters of each value, so that all of them are no more than the browser shall get."""
    return max(FEWEST, min(safe_text.SHOWN, MOST_SENT // max(1, rows * columns)))


def is_cut(shown: pd.DataFrame, most: int) -> bool:
    """Whether any value is shown by its beginning."""
    texts = (shown.iloc[:, place] for place, of in enumerate(shown.dtypes) if is_object_dtype(of))
    return any(isinstance(each, str) and len(each) > most for column in texts for each in column)


def short(table: pa.Table) -> pa.Table:
    """The same rows with long texts by their beginnings: a chart writes each of them."""
    columns = [_beginnings(each, NAME) if _is_text(each.type) else each for each in table.columns]
    return pa.table(columns, names=table.column_names)


def brief(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame of ours with long texts shown by their beginnings."""
    most = most_shown(len(frame), len(frame.columns))
    made = frame
    for place, of in enumerate(frame.dtypes):
        column = frame.iloc[:, place].tolist()
        if is_object_dtype(of) and any(isinstance(each, str) and len(each) > most for each in column):
            made = made.copy(deep=False) if made is frame else made
            texts = [safe_text.shortened(each, most) if isinstance(each, str) else each for each in column]
            made.isetitem(place, pd.Series(texts, frame.index, dtype=object).array)
    return made


def _is_text(of: pa.DataType) -> bool:
    return bool(pa.types.is_string(of) or pa.types.is_large_string(of) or pa.types.is_string_view(of))


def _is_binary(of: pa.DataType) -> bool:
    return bool(pa.types.is_binary(of) or pa.types.is_large_binary(of) or pa.types.is_fixed_size_binary(of))


def _longest(column: pa.ChunkedArray) -> int:
    """Bytes of the longest value."""
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
    """Two columns of one name cannot stand in a grid: the second becomes `name_2`."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return found


def quoted(name: str) -> str:
    """A table's name as SQL takes it."""
    return name if _WORD.fullmatch(name) else "`" + name.replace("`", "``") + "`"


def counting(statement: str) -> str:
    """The statement that counts the rows of another one. A comment at its end does not reach beyond its line."""
    return f"SELECT count(*) FROM (\n{statement.strip().removesuffix(';').rstrip()}\n)"


def first_query(name: str) -> str:
    """Something to start from."""
    return f"SELECT *\nFROM {name}\nLIMIT 100"
