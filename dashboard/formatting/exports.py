"""File downloads of tables: complete, and safe to open in a spreadsheet (core/safe_text.py)."""

from __future__ import annotations

import io
from collections.abc import Collection

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from core.safe_text import harmless
from dashboard.formatting import cells


def csv(frame: pd.DataFrame, digits: Collection[int] = ()) -> bytes:
    """Convert to CSV in UTF-8. Numbers and times are written unchanged; all other text is made safe.

    `digits` are the indexes of text columns that hold numbers, stored as text to keep all digits.
    """
    safe = frame.rename(columns=harmless)
    for place, of in enumerate(safe.dtypes):
        is_plain = pd.api.types.is_numeric_dtype(of) or pd.api.types.is_datetime64_any_dtype(of)
        if not is_plain and place not in digits:
            column = safe.iloc[:, place]
            texts = column.astype(str).where(column.notna()) if pd.api.types.is_timedelta64_dtype(of) else column
            whole = [each if pd.isna(each) is True else harmless(each) for each in texts.astype(object)]
            safe.isetitem(place, pd.Series(whole, dtype=object).array)  # otherwise numbers would become floats
    return safe.to_csv(index=False, lineterminator="\r\n").encode()  # CRLF, so that a lone CR or LF is quoted


def rows_csv(table: pa.Table) -> bytes:
    """The same for Arrow tables."""
    exact = {at for at, of in enumerate(table.schema.types) if pa.types.is_integer(of) or pa.types.is_decimal(of)}
    return csv(cells.frame(table), exact)


def parquet(table: pa.Table) -> bytes:
    """Convert to Parquet with all values and types unchanged; a second column of the same name becomes `name_2`."""
    sink = io.BytesIO()
    pq.write_table(table.rename_columns(cells.distinct(table.column_names)), sink)
    return sink.getvalue()
