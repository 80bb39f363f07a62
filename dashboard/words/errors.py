"""Errors: what went wrong, what still works and what to do next; loading and cancelling."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.formatting import units
from dashboard.formatting.language import N_, _, ngettext

ERROR_TITLES: Mapping[str, str] = {
    "NotFound": N_("Not found"),
    "Invalid": N_("Invalid request"),
    "TimedOut": N_("Stopped at the time limit"),
    "Conflict": N_("The table has changed"),
    "Corrupt": N_("A file cannot be read"),
    "Unsupported": N_("Not supported here"),
}
ERROR_FILE = N_("File")
ERROR_WORKS: Mapping[str, str] = {
    "NotFound": N_("Everything else still works."),
    "Invalid": N_("Nothing was changed."),
    "Conflict": N_("Nothing more was changed. Check the new state and confirm again."),
    "Corrupt": N_("Nothing was changed. Whatever does not need this file still works."),
    "Unsupported": N_("Nothing was changed. Everything else still works."),
}
ERROR_NEXT: Mapping[str, str] = {
    "NotFound": N_("Choose another one."),
    "Invalid": N_("Correct the request and try again."),
    "Conflict": N_("Press Refresh."),
    "Corrupt": N_("Restore the file from a copy, or delete the snapshots or tags that need it, by name."),
    "Unsupported": N_("Use the table's engine for this."),
}
UNEXPECTED = N_("Snapscope itself failed")
NEXT_STEP = N_("What to do")
STILL_WORKS = N_("What still works")


def unexpected(kind: str, reference: str) -> str:
    return _(
        "An unexpected error ({kind}) stopped this page. Nothing was changed. The server's log "
        "has the details under reference {reference}.",
        kind=kind,
        reference=reference,
    )


def moved(table: str) -> str:
    return _(
        "There is no table {table} here. It was moved or deleted, or the link has another name for it.", table=table
    )


MOVED_NEXT = N_("Press Refresh to list the warehouse again, or choose another table.")
READ_AGAIN = N_("Read again")
STOPPED = N_("Reading was cancelled.")
CANCEL = N_("Cancel")


def opening(table: str) -> str:
    return _("Reading the snapshots, tags and branches of {table} …", table=table)


def reading(done: int, total: int) -> str:
    return ngettext(
        "Read {done} of {count} manifest", "Read {done} of {count} manifests", total, done=units.count(done)
    )
