"""Doctor: whether everything is installed, and how to fix what is not."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.formatting import units
from dashboard.formatting.language import N_, _

DOCTOR_GROUPS: Mapping[str, str] = {
    "python": N_("Python and packages"),
    "engine": N_("Java and Spark"),
    "stores": N_("Storage"),
    "places": N_("Warehouses and tables"),
    "catalogs": N_("Catalogs"),
    "state": N_("Snapscope's own files"),
    "versions": N_("Engine versions covered"),
}
DOCTOR_LOOKING = N_("Checking …")
DOCTOR_LEVELS: Mapping[str, str] = {"ok": N_("ok"), "warning": N_("warning"), "problem": N_("problem")}
DOCTOR_ABSENT = N_("not needed")
DOCTOR_AGAIN = N_("Re-check")
DOCTOR_SPARK = N_("Start and test Spark")
DOCTOR_SPARK_HELP = N_(
    "Starts Spark if it is not running (takes a few seconds and a few hundred MB of memory), "
    "runs one query and loads the configured connectors."
)
DOCTOR_STOPPED = N_("No longer waiting for Spark.")
DOCTOR_HEADS = ("", N_("What"), N_("Finding and fix"))
DOCTOR_NO_PLACES = N_("No warehouse is open. Open paths and addresses are checked here.")


def doctor_verdict(problems: int, warnings: int) -> str:
    if not problems and not warnings:
        return _("Snapscope has everything it needs.")
    parts = [units.plural(problems, "problem")] if problems else []
    parts += [units.plural(warnings, "warning")] if warnings else []
    return _("{found}: the fix is shown beside each.", found=_(", ").join(parts))
