"""Tables as files to take away."""

from __future__ import annotations

import io

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from dashboard.present import results

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv(frame: pd.DataFrame) -> bytes:
    """CSV in UTF-8. Text that a spreadsheet would run as a formula gets an apostrophe in front."""
    safe = frame.rename(columns=_harmless)
    for name in safe.columns:
        if safe[name].dtype == object:
            safe[name] = safe[name].map(_harmless)
    return safe.to_csv(index=False).encode()


def rows_csv(table: pa.Table) -> bytes:
    """The same of Arrow rows: of text alone, so that a negative decimal stays a number."""
    shown = results.frame(table).rename(columns=_harmless)
    for name, column in zip(shown.columns, table.columns, strict=True):
        if not (pa.types.is_integer(column.type) or pa.types.is_decimal(column.type)) and shown[name].dtype == object:
            shown[name] = shown[name].map(_harmless)
    return shown.to_csv(index=False).encode()


def parquet(table: pa.Table) -> bytes:
    """Every value and type as it is; of two columns with one name the second becomes `name_2`."""
    sink = io.BytesIO()
    pq.write_table(table.rename_columns(results.distinct(table.column_names)), sink)
    return sink.getvalue()


def _harmless(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
