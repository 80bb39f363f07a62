"""Changes of a table whose references are parts of one document: they go and come together, by a commit of its format.

Law: a swap is made on exactly the references that were judged; where another's comes first, all is judged again.
Whether it happened is read from the table, never assumed. Until files go, it can be taken back by another swap.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import cast

from core.errors import Conflict, Corrupt
from core.formats.table_format import Format
from core.model.effects import SwapMetadata
from core.model.references import Heads
from core.table import Table

ATTEMPTS = 10
Judge = Callable[[Heads], SwapMetadata]


def make(table: Table, swap: SwapMetadata, confirm: Callable[[Heads], None]) -> list[str]:
    """The swap of a plan that was just confirmed; what was written. `confirm` raises where references that came since
    do not allow it any more."""

    def judged(heads: Heads) -> SwapMetadata:
        confirm(heads)
        return swap

    return commit(table, judged)


def finish(table: Table, swap: SwapMetadata, again: Callable[[Heads], Sequence[tuple[str, bytes]]]) -> list[str]:
    """What is left of a swap that was cut off. `again`: what the same change, planned on these references, lets go."""
    return commit(table, lambda heads: _outstanding(format_of(table), swap, heads, again))


def settle(table: Table, swap: SwapMetadata) -> None:
    """After a swap: what points readers to it follows; `Conflict` where it replaced more than it was made on."""
    format_of(table).repair()
    format_of(table).check_replaced(swap)


def take_back(table: Table, swap: SwapMetadata, refuse_swept: Callable[[], None]) -> list[str]:
    """Bring back what a swap took away, and take away what it made; the references that changed."""
    changed: list[str] = []

    def reverse(heads: Heads) -> SwapMetadata:
        back = format_of(table).taken_back(heads, swap)
        if back.sets:
            refuse_swept()
        changed[:] = dict((*back.sets, *back.removes))
        return back

    commit(table, reverse)
    format_of(table).repair()
    return changed


def commit(table: Table, judged: Judge) -> list[str]:
    """Commit what `judged` answers for the references of now; what was written, nothing where nothing is to be done."""
    for _ in range(ATTEMPTS):
        heads = table.heads()
        try:
            swap = judged(heads)
        except Corrupt:
            if table.heads().references == heads.references:
                raise
            continue  # what others have removed meanwhile is no damage
        if not swap.removes and not swap.sets:
            return []
        if (path := format_of(table).commit(heads, swap)) is not None:
            return [path]
    raise Conflict("Other commits kept coming first; nothing was changed.", path=table.location, remedy="Try again.")


def _outstanding(
    own: Format, swap: SwapMetadata, heads: Heads, again: Callable[[Heads], Sequence[tuple[str, bytes]]]
) -> SwapMetadata:
    """What is left to commit of a swap: all of it that may still go, or nothing where it was committed.

    What is there although it was committed was made again, and is somebody's. Where another hand did part of it, the
    rest is left as it is.
    """
    refs, before = heads.references, dict(swap.removes)
    if own.was_made(swap, heads) or any(refs.get(path) != content for path, content in swap.removes):
        return SwapMetadata()
    if any(refs.get(path) != before.get(path) for path in dict(swap.sets)):
        raise Conflict("A reference that was to be made is another's by now.", remedy="Undo this run.")
    allowed = dict(again(heads)) if before.keys() - dict(swap.sets).keys() else before
    removes = tuple((path, content) for path, content in swap.removes if path in allowed)
    return dataclasses.replace(swap, removes=removes)


def format_of(table: Table) -> Format:
    assert not table.capabilities.references_are_files
    return cast(Format, table.format)
