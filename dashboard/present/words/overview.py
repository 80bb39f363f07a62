"""Overview: all tables and their totals."""

from __future__ import annotations

from collections.abc import Mapping

SEARCH = "Search tables"
OVERVIEW_COLUMNS: Mapping[str, str] = {
    "snapshots": "Snapshots",
    "names": "Tags, branches",
    "rows": "Rows",
    "live": "Live",
    "history": "Only history",
    "commit": "Last commit",
}
LIVE_HELP = "Bytes of data files that readers of main's latest snapshot open, from its manifests."
HISTORY_HELP = (
    "Bytes of every kind of file that nothing but older snapshots, tags, changelogs and branches holds: what would be "
    "freed if only main's latest snapshot stayed."
)
ROWS_COLUMN_HELP = "Rows in live files of main's latest snapshot, before any merge of keys."
OVERVIEW_HELP: Mapping[str, str] = {
    "snapshots": "Retained snapshots of all branches, by listing.",
    "names": "Names that keep a point readable after it expires.",
    "rows": ROWS_COLUMN_HELP,
    "live": LIVE_HELP,
    "history": HISTORY_HELP,
    "commit": "Commit time of main's latest snapshot; the exact time on hover.",
}
TILE_TABLES = "Tables"
TILE_SNAPSHOTS = "Snapshots"
TILE_SNAPSHOTS_BELOW = "retained, all branches"
TILE_LIVE = "Live"
TILE_LIVE_BELOW = "data files of latest snapshots"
TILE_HISTORY = "Only history holds"
TILE_HISTORY_BELOW = "all kinds of files"


def read_so_far(read: int, tables: int) -> str:
    return f"{read} of {tables} read"


def with_warnings(number: int) -> str:
    return f"{number} with warnings" if number else "none with warnings"


NO_MATCH = "No table has that in its name."


def more_notes(number: int) -> str:
    return f"and {number} more"
