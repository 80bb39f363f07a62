"""Consumers: resetting and deleting the positions of streaming readers. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection

from core.errors import ErrorCode, Invalid
from core.formats.paimon import layout
from core.formats.paimon.plan.drafts import Draft
from core.formats.paimon.write import documents
from core.messages import message
from core.model import codes
from core.model.actions import ClearConsumers, ResetConsumer
from core.model.ref_names import refuse_name
from core.model.references import Heads, Line
from core.planning.unknown_references import unread_error


def reset(heads: Heads, line: Line, change: ResetConsumer, draft: Draft) -> None:
    path = layout.reference(line.branch, layout.CONSUMER, change.name)
    _refuse_unread(heads, line, {change.name})
    if change.next_snapshot is None:
        if path not in heads.references:
            raise Invalid(
                "There is no consumer {name!r}.",
                name=change.name,
                remedy=message("Consumers: {line}.", line=_named(line)),
            )
        draft.removes(path, codes.NAMED_TO_DELETE())
        return
    if path not in heads.references:
        refuse_name("consumer", change.name)
    if all(each.id != change.next_snapshot for each in line.snapshots):
        raise Invalid(
            "Snapshot {next_snapshot} is not retained, so no consumer can start reading there.",
            next_snapshot=change.next_snapshot,
            remedy="Choose a retained snapshot.",
        )
    draft.sets(path, documents.pretty({"nextSnapshot": change.next_snapshot}))


def clear(heads: Heads, line: Line, change: ClearConsumers, draft: Draft) -> None:
    """Match the patterns against whole names, as the engine does."""
    try:
        including, excluding = (
            None if text is None else re.compile(text) for text in (change.including, change.excluding)
        )
    except re.error as error:
        raise Invalid(
            "not a valid regular expression: {including!r} ({error}).",
            including=change.including or change.excluding,
            error=error,
        ) from error
    names = [each.name for each in line.consumers] + [each.name for each in line.unreadable if each.kind == "consumer"]
    chosen = [name for name in sorted(names) if including is None or including.fullmatch(name)]
    chosen = [name for name in chosen if not (excluding is not None and excluding.fullmatch(name))]
    _refuse_unread(heads, line, chosen)
    for name in chosen:
        path = layout.reference(line.branch, layout.CONSUMER, name)
        draft.removes(path, codes.CONSUMER_CLEARED())
    if not draft.order:
        raise Invalid(
            "No consumer has a matching name; there is nothing to do.",
            code=ErrorCode.NOTHING_TO_DO,
            remedy=message("Consumers: {line}.", line=_named(line)),
        )


def _refuse_unread(heads: Heads, line: Line, names: Collection[str]) -> None:
    """Raise `Corrupt` if the current content of one of these consumers could not be read."""
    for each in line.unreadable:
        if each.kind == layout.CONSUMER and each.name in names and each.problem.path not in heads.references:
            raise unread_error(each.problem)


def _named(line: Line) -> str:
    return ", ".join(each.name for each in line.consumers[:20]) or "none"
