"""What cannot be read stops a plan: what stays may need any file, and what goes must be known byte for byte. Pure."""

from __future__ import annotations

import numpy as np

from core.errors import Corrupt, SnapscopeError
from core.messages import told
from core.model.actions import Change
from core.model.history import History
from core.model.intervals import Mask
from core.model.references import HolderKind, Line, Problem


def refuse_unknown_schema(history: History) -> None:
    """`Corrupt` where a schema of any branch cannot be read: its newest one tells the options."""
    for each in (bad for one in history.heads.lines for bad in one.unreadable if bad.kind == "schema"):
        raise Corrupt(
            "A schema cannot be read, so the table's options and partitions are not wholly known. {problem}",
            problem=each.problem.sentence(),
            path=each.problem.path,
        )


def refuse_unknown(history: History, line: Line, after: Mask, change: Change) -> None:
    refuse_unknown_schema(history)
    unknown = [(history.holders[position], found) for position, found in history.incomplete.items() if after[position]]
    if not unknown:
        return
    droppable = [
        each
        for each, _ in unknown
        if each.kind is HolderKind.TAG and each.branch == line.branch and each.path in history.heads.references
    ]
    # Dropping tags is a way out only if nothing else is unknown: that is told first.
    holder, problems = next(((each, found) for each, found in unknown if each not in droppable), unknown[0])
    option = "--drop-tag" if change.is_expiry else "--name"
    way = " ".join(f"{option} {each.name}" for each in droppable)
    raise Corrupt(
        "{point} stays, but it cannot be read in full, so nobody knows which files it still needs: {problem}",
        point=holder.point,
        problem=problems[0].sentence(),
        path=problems[0].path,
        remedy=told("Restore the file, or let this point go in the same plan ({way}).", way=way)
        if holder in droppable
        else "Restore the file.",
    )


def refuse_unread(history: History, going: Mask) -> None:
    """`Corrupt` where a reference that shall go was not read: it goes only while its bytes are the planned ones."""
    for position in np.flatnonzero(going):
        if history.holders[position].path not in history.heads.references:
            raise untold(history.incomplete[int(position)][0])


def untold(problem: Problem) -> SnapscopeError:
    """Why a reference cannot go that is listed, and that nobody could read."""
    said = told("{path} cannot go, for nobody knows what it says. {found}.", path=problem.path, found=problem.found)
    return Corrupt(said, path=problem.path, remedy=problem.remedy)
