"""Refuse plans if something cannot be read: what stays may need any file, what goes must be known exactly. Pure."""

from __future__ import annotations

import numpy as np

from core.errors import Corrupt, SnapscopeError
from core.messages import message
from core.model.actions import Change
from core.model.codes import Fault
from core.model.history import HistorySummary
from core.model.intervals import Mask
from core.model.references import HolderKind, Line, Problem, point_in_words


def refuse_unknown_schema(history: HistorySummary) -> None:
    """Raise `Corrupt` if a schema of any branch cannot be read: the newest schema determines the options."""
    for each in (bad for one in history.heads.lines for bad in one.unreadable if bad.kind == "schema"):
        raise Corrupt(
            ("A schema cannot be read, so the table's options and partitions are not completely known. {problem}"),
            problem=each.problem.sentence(),
            path=each.problem.path,
        )


def refuse_unknown(history: HistorySummary, line: Line, after: Mask, change: Change) -> None:
    refuse_unknown_schema(history)
    unknown = [(history.holders[position], found) for position, found in history.incomplete.items() if after[position]]
    if not unknown:
        return
    droppable = [
        each
        for each, _ in unknown
        if each.kind is HolderKind.TAG and each.branch == line.branch and each.path in history.heads.references
    ]
    # Deleting tags solves it only if nothing else is unknown, so anything else is reported first.
    holder, problems = next(((each, found) for each, found in unknown if each not in droppable), unknown[0])
    option = "--drop-tag" if change.is_expiry else "--name"
    way = " ".join(f"{option} {each.name}" for each in droppable)
    raise Corrupt(
        ("{point} is kept, but it cannot be read in full, so the files it still needs cannot be determined: {problem}"),
        point=point_in_words(holder.point),
        problem=problems[0].sentence(),
        path=problems[0].path,
        remedy=remedy(problems[0], way if holder in droppable else ""),
    )


def remedy(problem: Problem, way: str = "") -> str | None:
    """What to do; None if only what the problem says itself: nothing is to be restored where nothing is damaged."""
    if problem.code == Fault.UNSUPPORTED:
        return message("Or delete what needs it in the same plan ({way}).", way=way) if way else None
    if way:
        return message("Restore the file, or delete what needs it in the same plan ({way}).", way=way)
    return message("Restore the file.")


def refuse_unread(history: HistorySummary, deleted: Mask) -> None:
    """Raise `Corrupt` if a reference to be deleted was not read: it is deleted only while its bytes are as planned."""
    for position in np.flatnonzero(deleted):
        if history.holders[position].path not in history.heads.references:
            raise unread_error(history.incomplete[int(position)][0])


def unread_error(problem: Problem) -> SnapscopeError:
    """The error for a reference that is listed but could not be read, and therefore cannot be deleted."""
    sentence = message(
        "{path} cannot be deleted, because its content is unknown. {found}.", path=problem.path, found=problem.found
    )
    return Corrupt(sentence, path=problem.path, remedy=problem.remedy)
