"""Tables as files to take away."""

from __future__ import annotations

import pandas as pd

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv(frame: pd.DataFrame) -> bytes:
    """CSV in UTF-8. Text that a spreadsheet would run as a formula gets an apostrophe in front."""
    safe = frame.copy()
    for name in safe.columns:
        if safe[name].dtype == object:
            safe[name] = safe[name].map(_harmless)
    return safe.to_csv(index=False).encode()


def _harmless(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
