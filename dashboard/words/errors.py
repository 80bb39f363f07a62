"""What went wrong, what still works and what to do next; reading and stopping."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.formatting import units
from dashboard.formatting.language import N_, _, ngettext

ERROR_TITLES: Mapping[str, str] = {
    "NotFound": N_("Not found"),
    "Invalid": N_("That cannot be asked"),
    "Conflict": N_("The table has changed"),
    "Corrupt": N_("A file cannot be read"),
    "Unsupported": N_("Not supported here"),
}
ERROR_FILE = N_("File")
ERROR_WORKS: Mapping[str, str] = {
    "NotFound": N_("Whatever else there is can be used as before."),
    "Invalid": N_("Nothing was changed. Change the request and ask again."),
    "Conflict": N_("Nothing more was changed. Look at the new state and confirm again."),
    "Corrupt": N_("Points that do not need this file can still be opened; totals that do are shown as lower bounds."),
    "Unsupported": N_("History, files, differences and plans of this table can still be read."),
}
ERROR_NEXT: Mapping[str, str] = {
    "NotFound": N_("Pick another one."),
    "Invalid": N_("Correct the request."),
    "Conflict": N_("Press Refresh."),
    "Corrupt": N_("Restore the file from a copy, or drop the points that need it by name."),
    "Unsupported": N_("Use the table's own engine for this."),
}
UNEXPECTED = N_("Snapscope itself failed")
NEXT_STEP = N_("What to do")
STILL_WORKS = N_("What still works")


def unexpected(kind: str, reference: str) -> str:
    return _(
        "An error that was not foreseen ({kind}) stopped this page. Nothing was changed. The server's "
        "log has the details under reference {reference}.",
        kind=kind,
        reference=reference,
    )


def moved(table: str) -> str:
    return _("The table {table} is no longer here: it was moved or deleted since it was listed.", table=table)


MOVED_NEXT = N_("Press Refresh to list the warehouse again, or pick another table.")
READ_AGAIN = N_("Read again")
STOPPED = N_("Reading was stopped.")
CANCEL = N_("Cancel")


def reading(done: int, total: int) -> str:
    return ngettext(
        "Read {done} of {count} manifest", "Read {done} of {count} manifests", total, done=units.count(done)
    )
