"""Changes of a table whose references are parts of one document and change together, by a commit of its format.

Invariant: a swap is committed only on exactly the references that were checked; if another writer commits first,
everything is checked again. Whether it happened is read from the table, never assumed. Until files are deleted, another
swap can undo it.
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


def make(
    table: Table, swap: SwapMetadata, confirm: Callable[[Heads], None], before_commit: Callable[[], None]
) -> list[str]:
    """Commit the swap of a plan that was just confirmed; return the paths written.

    `confirm` raises if newer references no longer allow it; `before_commit` is called before each commit is sent.
    """

    def confirmed_swap(heads: Heads) -> SwapMetadata:
        confirm(heads)
        return swap

    return commit(table, confirmed_swap, before_commit)


def finish(
    table: Table,
    swap: SwapMetadata,
    plan_again: Callable[[Heads], Sequence[tuple[str, bytes]]],
    before_commit: Callable[[], None],
    *,
    was_sent: bool,
) -> list[str]:
    """Commit what is left of an interrupted swap. `plan_again`: what the same action, planned now, deletes; `was_sent`:
    whether the commit may have happened."""

    def outstanding(heads: Heads) -> SwapMetadata:
        if was_sent and format_of(table).was_made(swap, heads):
            return SwapMetadata()
        return _outstanding(swap, heads, plan_again)

    return commit(table, outstanding, before_commit)


def settle(table: Table, swap: SwapMetadata) -> None:
    """After a swap, update what points readers to it. Raises `Conflict` if it replaced more than it was based on."""
    format_of(table).repair()
    format_of(table).check_replaced(swap)


def take_back(
    table: Table, swap: SwapMetadata, refuse_swept: Callable[[], None], before_commit: Callable[[], None]
) -> list[str]:
    """Undo a swap: restore what it deleted and delete what it created. Returns the references that changed.

    `before_commit` is called before each commit is sent."""
    changed: list[str] = []

    def reverse(heads: Heads) -> SwapMetadata:
        back = _reverse(table, heads, swap, refuse_swept)
        changed[:] = dict((*back.sets, *back.removes))
        return back

    commit(table, reverse, before_commit)
    format_of(table).repair()
    return changed


def refuse_taking_back(table: Table, swap: SwapMetadata, refuse_swept: Callable[[], None]) -> None:
    """Raise `Invalid` if the swap can no longer be undone."""
    _reverse(table, table.heads(), swap, refuse_swept)


def _reverse(table: Table, heads: Heads, swap: SwapMetadata, refuse_swept: Callable[[], None]) -> SwapMetadata:
    back = format_of(table).taken_back(heads, swap)
    if back.sets:
        refuse_swept()
    return back


def commit(table: Table, make_swap: Judge, before_commit: Callable[[], None] = lambda: None) -> list[str]:
    """Commit what `make_swap` returns for the current references; return the paths written, if any."""
    for _ in range(ATTEMPTS):
        heads = table.heads()
        try:
            swap = make_swap(heads)
        except Corrupt:
            if table.heads().references == heads.references:
                raise
            continue  # what others have deleted meanwhile is no damage
        if not swap.removes and not swap.sets:
            return []
        before_commit()
        if (path := format_of(table).commit(heads, swap)) is not None:
            return [path]
    raise Conflict(
        "Other commits kept getting in first; nothing was changed.", path=table.location, remedy="Try again."
    )


def _outstanding(
    swap: SwapMetadata, heads: Heads, plan_again: Callable[[Heads], Sequence[tuple[str, bytes]]]
) -> SwapMetadata:
    """The part of a swap that was not committed and is left to commit: everything still allowed. If someone else did
    part of it, the rest is left as it is."""
    refs, before = heads.references, dict(swap.removes)
    if any(refs.get(path) != content for path, content in swap.removes):
        return SwapMetadata()
    if any(refs.get(path) != before.get(path) for path in dict(swap.sets)):
        raise Conflict(
            "Another writer has since created a reference that this run was to create.", remedy="Undo this run."
        )
    allowed = dict(plan_again(heads)) if before.keys() - dict(swap.sets).keys() else before
    removes = tuple((path, content) for path, content in swap.removes if path in allowed)
    return dataclasses.replace(swap, removes=removes)


def format_of(table: Table) -> Format:
    assert not table.capabilities.references_are_files
    return cast(Format, table.format)
