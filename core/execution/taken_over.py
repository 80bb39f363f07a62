"""Stop a run if a catalog has started to commit to its table.

A catalog may take a table over at any time: after the change was confirmed, during the wait for writers, or before an
interrupted run is resumed. So the catalogs are asked directly before the first effect of a run, before its commit is
published, and before its first file is deleted.

Invariant: a catalog that cannot be asked may have taken the table over.
"""

from __future__ import annotations

from core.errors import Conflict
from core.messages import both, message
from core.table import Table


class TakenOver(Conflict):
    """A catalog now commits to the table, or may do so."""

    kind = Conflict.__name__


def refuse(table: Table, outcome: str, run: str | None = None) -> None:
    """Raise `TakenOver` with the outcome if a catalog has taken the table over. `run`: the run that stays open."""
    if (why := table.format.why_taken_over()) is None:
        return
    remedy = (
        message("Make the change with the table's own engine, through its catalog.")
        if run is None
        else message("Run {id} stays open: resume or undo it when no catalog commits to this table.", id=run)
    )
    raise TakenOver(both(why, outcome), path=table.location, remedy=remedy)
