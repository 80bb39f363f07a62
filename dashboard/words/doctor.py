"""Doctor: whether everything is here, and what to do where it is not."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.formatting import units
from dashboard.formatting.language import N_, _

DOCTOR_GROUPS: Mapping[str, str] = {
    "python": N_("Python and its packages"),
    "engine": N_("Java and Spark"),
    "stores": N_("Stores"),
    "places": N_("Warehouses and tables"),
    "catalogs": N_("Catalogs"),
    "state": N_("What Snapscope keeps"),
    "versions": N_("Whose rules are known"),
}
DOCTOR_LOOKING = N_("Looking …")
DOCTOR_LEVELS: Mapping[str, str] = {"ok": N_("ok"), "warning": N_("warning"), "problem": N_("problem")}
DOCTOR_ABSENT = N_("not needed")
DOCTOR_AGAIN = N_("Look again")
DOCTOR_SPARK = N_("Start Spark and ask it")
DOCTOR_SPARK_HELP = N_(
    "Starts Spark if it does not run yet (some seconds, some hundred MB of memory), asks it one "
    "question, loads the connectors that are configured."
)
DOCTOR_STOPPED = N_("Nobody waits for Spark any more.")
DOCTOR_HEADS = ("", N_("What"), N_("Found, and what to do"))
DOCTOR_NO_PLACES = N_("No warehouse is open. Paths and addresses that are open are looked at here.")


def doctor_verdict(problems: int, warnings: int) -> str:
    if not problems and not warnings:
        return _("Everything Snapscope needs is here.")
    parts = [units.plural(problems, "problem")] if problems else []
    parts += [units.plural(warnings, "warning")] if warnings else []
    return _("{found}: what to do stands beside each.", found=_(", ").join(parts))
