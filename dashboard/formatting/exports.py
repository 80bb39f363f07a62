"""Tables as files to take away: whole, and harmless in a spreadsheet (core/safe_text.py)."""

from __future__ import annotations

import io
from collections.abc import Collection

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from core.safe_text import harmless
from dashboard.formatting import cells


def csv(frame: pd.DataFrame, digits: Collection[int] = ()) -> bytes:
    """CSV in UTF-8. Numbers and moments stay what they are; whatever else is written as text is looked at.

    `digits` are the places of columns whose texts are numbers, shown so to keep all their digits."""
    safe = frame.rename(columns=harmless)
    for place, of in enumerate(safe.dtypes):
        is_plain = pd.api.types.is_numeric_dtype(of) or pd.api.types.is_datetime64_any_dtype(of)
        if not is_plain and place not in digits:
            column = safe.iloc[:, place]
            texts = column.astype(str).where(column.notna()) if pd.api.types.is_timedelta64_dtype(of) else column
            whole = [each if pd.isna(each) is True else harmless(each) for each in texts.astype(object)]
            safe.isetitem(place, pd.Series(whole, dtype=object).array)  # else numbers would become floats
    return safe.to_csv(index=False, lineterminator="\r\n").encode()  # so a lone one of the two is quoted


def rows_csv(table: pa.Table) -> bytes:
    """The same of Arrow rows."""
    exact = {at for at, of in enumerate(table.schema.types) if pa.types.is_integer(of) or pa.types.is_decimal(of)}
    return csv(cells.frame(table), exact)


def parquet(table: pa.Table) -> bytes:
    """Every value and type as it is; of two columns with one name the second becomes `name_2`."""
    sink = io.BytesIO()
    pq.write_table(table.rename_columns(cells.distinct(table.column_names)), sink)
    return sink.getvalue()
