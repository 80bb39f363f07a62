"""Doctor: whether everything is here, and what to do where it is not."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.formatting import units

DOCTOR_GROUPS: Mapping[str, str] = {
    "python": "Python and its packages",
    "engine": "Java and Spark",
    "stores": "Stores",
    "places": "Warehouses and tables",
    "catalogs": "Catalogs",
    "state": "What Snapscope keeps",
    "versions": "Whose rules are known",
}
DOCTOR_LOOKING = "Looking …"
DOCTOR_LEVELS: Mapping[str, str] = {"ok": "ok", "warning": "warning", "problem": "problem"}
DOCTOR_ABSENT = "not needed"
DOCTOR_AGAIN = "Look again"
DOCTOR_SPARK = "Start Spark and ask it"
DOCTOR_SPARK_HELP = (
    "Starts Spark if it does not run yet (some seconds, some hundred MB of memory), asks it one question, loads the "
    "connectors that are configured."
)
DOCTOR_STOPPED = "Nobody waits for Spark any more."
DOCTOR_HEADS = ("", "What", "Found, and what to do")
DOCTOR_NO_PLACES = "No warehouse is open. Paths and addresses that are open are looked at here."


def doctor_verdict(problems: int, warnings: int) -> str:
    if not problems and not warnings:
        return "Everything Snapscope needs is here."
    parts = [units.plural(problems, "problem")] if problems else []
    parts += [units.plural(warnings, "warning")] if warnings else []
    return f"{', '.join(parts)}: what to do stands beside each."
