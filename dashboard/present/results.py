"""Rows of a query, as a browser can show them without losing a digit."""

from __future__ import annotations

import re

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

SAFE = 2**53
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def frame(table: pa.Table) -> pd.DataFrame:
    """The same rows; whole numbers beyond 2**53 and everything a grid cannot hold become text."""
    columns = []
    for column in table.columns:
        kind = column.type
        if (pa.types.is_integer(kind) and len(column) and _exceeds(column)) or pa.types.is_decimal(kind):
            columns.append(column.cast(pa.string()))
        elif pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            columns.append(pa.chunked_array([pa.array([_text(value) for value in column.to_pylist()], pa.string())]))
        else:
            columns.append(column)
    shown: pd.DataFrame = pa.table(columns, names=distinct(table.column_names)).to_pandas(integer_object_nulls=True)
    return shown


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
