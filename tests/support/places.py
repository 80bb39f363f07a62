"""Paths for tests: the repository, and real tables with the recorded behaviour of a real engine."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SMALL_TABLES = ROOT / "tests" / "tables"


def find_tables() -> Path:
    """Find the directory that holds `paimon/tables.json`, `paimon/goldens.json` and `paimon/default.db`.

    `$SNAPSCOPE_SHARED/tables` if set (it must then exist), else `../shared/tables` next to the checkout, else the small
    copies in `tests/tables`, which have the same layout.
    """
    named = os.environ.get("SNAPSCOPE_SHARED")
    if named:
        tables = Path(named) / "tables"
        if not tables.is_dir():
            raise NotADirectoryError(f"SNAPSCOPE_SHARED names {named}, where there is no directory `tables`")
        return tables
    beside = ROOT.parent / "shared" / "tables"
    return beside if beside.is_dir() else SMALL_TABLES


TABLES = find_tables()
"""Read-only: copy a table before changing it."""
