"""The engines' own statements for an action, as text: what does the same in the table's engine. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from core.model.actions import Change
from core.model.references import MAIN
from core.procedures.definition import Said
from core.procedures.registry import ICEBERG, PAIMON, definition
from core.procedures.units import literal


def of_paimon(change: Change, title: str, now_ms: int, options: Mapping[str, str]) -> str | None:
    """Paimon's CALL for an action on `database.table`; None if no procedure does exactly that.

    Ages are counted back from `now_ms`, times are written in UTC.
    """
    for procedure in definition(change).paimon:
        if (said := procedure.arguments_of(change, now_ms, options)) is not None:
            return call(procedure.name, title, change.branch, said)
    return None


def of_iceberg(change: Change, title: str, now_ms: int) -> str | None:
    """Iceberg's SQL for an action; None if there is none. The session's time zone must be UTC."""
    of = definition(change)
    if of.statement is not None:
        return of.statement(change, title)
    for procedure in of.iceberg:
        if (said := procedure.arguments_of(change, now_ms, {})) is not None:
            return _spoken(ICEBERG, procedure.name, {"table": title, **said})
    return None


def call(procedure: str, title: str, branch: str = MAIN, said: Said | None = None) -> str:
    """A Paimon CALL, on a branch of `database.table`."""
    named = title if branch == MAIN else f"{title}$branch_{branch}"
    return _spoken(PAIMON, procedure, {"table": named, **(said or {})})


def _spoken(namespace: str, procedure: str, said: Said) -> str:
    given = ", ".join(f"{name} => {literal(value)}" for name, value in said.items())
    return f"CALL {namespace}.{procedure}({given})"
