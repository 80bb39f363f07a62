"""What went wrong, what still works and what to do next; reading and stopping."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.formatting import units

ERROR_TITLES: Mapping[str, str] = {
    "NotFound": "Not found",
    "Invalid": "That cannot be asked",
    "Conflict": "The table has changed",
    "Corrupt": "A file cannot be read",
    "Unsupported": "Not supported here",
}
ERROR_FILE = "File"
ERROR_WORKS: Mapping[str, str] = {
    "NotFound": "Whatever else there is can be used as before.",
    "Invalid": "Nothing was changed. Change the request and ask again.",
    "Conflict": "Nothing more was changed. Look at the new state and confirm again.",
    "Corrupt": "Points that do not need this file can still be opened; totals that do are shown as lower bounds.",
    "Unsupported": "History, files, differences and plans of this table can still be read.",
}
ERROR_NEXT: Mapping[str, str] = {
    "NotFound": "Pick another one.",
    "Invalid": "Correct the request.",
    "Conflict": "Press Refresh.",
    "Corrupt": "Restore the file from a copy, or drop the points that need it by name.",
    "Unsupported": "Use the table's own engine for this.",
}
UNEXPECTED = "Snapscope itself failed"
NEXT_STEP = "What to do"
STILL_WORKS = "What still works"


def unexpected(kind: str, reference: str) -> str:
    return (
        f"An error that was not foreseen ({kind}) stopped this page. Nothing was changed. "
        f"The server's log has the details under reference {reference}."
    )


def moved(table: str) -> str:
    return f"The table {table} is no longer here: it was moved or deleted since it was listed."


MOVED_NEXT = "Press Refresh to list the warehouse again, or pick another table."
READ_AGAIN = "Read again"
STOPPED = "Reading was stopped."
CANCEL = "Cancel"


def reading(done: int, total: int) -> str:
    return f"Read {units.count(done)} of {units.plural(total, 'manifest')}"
