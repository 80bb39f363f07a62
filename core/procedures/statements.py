"""The engines' own statements for an action, as text: what does the same in the table's engine. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from core.model.actions import Change
from core.model.references import MAIN
from core.procedures.definition import Constants
from core.procedures.registry import ICEBERG, PAIMON, definition
from core.procedures.units import literal


def of_paimon(change: Change, title: str, now_ms: int, options: Mapping[str, str]) -> str | None:
    """Paimon's CALL for an action on `database.table`; None if no procedure does exactly that.

    Ages are counted back from `now_ms`, times are written in UTC.
    """
    for procedure in definition(change).paimon:
        if (arguments := procedure.arguments_of(change, now_ms, options)) is not None:
            return call(procedure.name, title, change.branch, arguments)
    return None


def of_iceberg(change: Change, title: str, now_ms: int) -> str | None:
    """Iceberg's SQL for an action; None if there is none. The session's time zone must be UTC."""
    action = definition(change)
    if action.statement is not None:
        return action.statement(change, title)
    for procedure in action.iceberg:
        if (arguments := procedure.arguments_of(change, now_ms, {})) is not None:
            return _call_text(ICEBERG, procedure.name, {"table": title, **arguments})
    return None


def call(procedure: str, title: str, branch: str = MAIN, arguments: Constants | None = None) -> str:
    """A Paimon CALL, on a branch of `database.table`."""
    table = title if branch == MAIN else f"{title}$branch_{branch}"
    return _call_text(PAIMON, procedure, {"table": table, **(arguments or {})})


def _call_text(namespace: str, procedure: str, arguments: Constants) -> str:
    text = ", ".join(f"{name} => {literal(value)}" for name, value in arguments.items())
    return f"CALL {namespace}.{procedure}({text})"
