"""What an interrupted action may still do by the current state of the table: what it may delete, planned again, and
what can be restored."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence

import pyarrow as pa

from core.errors import Invalid, NotFound
from core.execution import deleted_tags
from core.execution.delete_files import BATCH
from core.execution.stable_read import read_stable_references
from core.formats.paimon import layout, new_holders
from core.messages import counted
from core.model.actions import Change, DeleteTags, Expire
from core.model.effects import RaiseHint
from core.model.history import History, HistorySummary
from core.model.references import Heads
from core.storage import presence
from core.table import Table

Removes = Sequence[tuple[str, bytes]]


def removes_now(table: Table, change: Change, now_ms: int, history: HistorySummary) -> Removes:
    """The references that the same action deletes now."""
    return table.preview(of_what_is_left(change, history.heads), now_ms, history).removes


def spared(
    table: Table,
    change: Change,
    now_ms: int,
    removes: Removes,
    hint: RaiseHint | None = None,
    marks: deleted_tags.Marks | None = None,
) -> tuple[frozenset[str], list[str]]:
    """References that were to be deleted when the run was interrupted and may not be now; and those that are deleted.

    They are deleted in order, so one that exists before a missing one was created again. With a `hint`, snapshots are
    deleted in batches, in any order within one: in the batch that was interrupted, one that exists may not have been
    deleted yet, unless another writer's snapshot follows it, since whoever creates an old snapshot again rolls back to
    it. Tags with `marks` are deleted in any order: one that is still listed with its mark was not deleted.

    The rest must still be deleted by the same action planned now: a consumer may have appeared, or a rollback made one
    of them the newest snapshot.
    """
    heads = read_stable_references(table)
    are_there = [heads.references.get(path) == content for path, content in removes]
    missing = [path for path, _ in removes if path not in heads.references]
    unread = presence.listed(table.store, missing)
    read = table.store.read_many(missing)
    deleted = [path for path in missing if path not in unread and isinstance(read[path], NotFound)]
    start = max((number + 1 for number, is_there in enumerate(are_there) if not is_there), default=0)
    waiting = frozenset(path for path, _ in removes[start:])
    if hint is not None:
        below, planned = f"{hint.path.rpartition('/')[0]}/", {**dict(removes), hint.first: hint.content}
        waiting |= {path for path, _ in removes[max(start - BATCH, 0) : start] if path.startswith(below)}
        waiting -= {path for path in waiting if path.startswith(below) and _is_followed(path, planned, heads)}
    if marks:
        now = deleted_tags.listed(table.store, marks.keys())
        waiting = (waiting - marks.keys()) | {path for path in marks if now.get(path) == marks[path]}
    if not waiting:
        return frozenset(path for path, _ in removes), deleted
    history = table.until_unchanged(heads, lambda heads: table.summary(heads, change))
    again = removes_now(table, change, now_ms, history)
    return frozenset(path for path, _ in removes) - (waiting & {path for path, _ in again}), deleted


def refuse_lost(table: Table, run: str, contents: Mapping[str, bytes], frees: Collection[str]) -> None:
    """Raise `Invalid` if files are missing or unreadable that these references (path → bytes) need once restored.

    Of a table that does not fit into one process, its manifests and those of `frees` are looked for."""
    if not contents:
        return
    history = table.summary(new_holders.alone(table.heads(), contents))
    problems = [each.path for each in history.problems]
    presence.sizes(table.store, problems)  # raises if the store does not answer
    if isinstance(history, History):
        needed = history.objects.filter(pa.array(history.held.over(history.existing)))["path"].to_pylist()
        missing = table.absent(dict.fromkeys(path for path in needed if path not in contents))
    else:
        missing = [path for paths in table.lacking(history, frees).values() for path in paths]
    schemas = [
        layout.reference(line.branch, layout.SCHEMA, each.schema_id)
        for line in history.heads.lines
        for each in (*line.snapshots, *line.changelogs, *(tag.snapshot for tag in line.tags))
        if each.schema_id not in line.schemas
    ]
    refuse_without(run, list(dict.fromkeys([*missing, *problems, *schemas])))


def refuse_without(run: str, missing: Sequence[str]) -> None:
    """Raise `Invalid` if any of the files that the undo of a run needs are gone."""
    if missing:
        raise Invalid(
            counted(
                len(missing),
                "Run {id} cannot be undone: someone else deleted {count} of the files that this needs: {first}.",
                "Run {id} cannot be undone: someone else deleted {count} of the files that this needs, such as "
                "{first}.",
                id=run,
                first=missing[0],
            ),
            path=missing[0],
            remedy="Resume it instead.",
        )


def _is_followed(path: str, planned: Mapping[str, bytes], heads: Heads) -> bool:
    """Whether the next snapshot exists and is not the one that was there when the run was planned."""
    name, _, number = path.rpartition("-")
    after = f"{name}-{int(number) + 1}"
    return after in heads.references and heads.references[after] != planned.get(after)


def of_what_is_left(change: Change, heads: Heads) -> Change:
    """The action without the snapshots and tags that are already gone."""
    line = heads.line(change.branch)
    names = {ref.name for ref in heads.refs}
    ids = {each.id for each in (line.snapshots if line is not None else ())}
    if line is not None:
        names |= {each.name for each in line.tags} | {each.name for each in line.unreadable}
    if heads.refs:  # they may name snapshots that no branch leads to
        ids = {each.id for every in heads.lines for each in every.snapshots}
    match change:
        case DeleteTags() if not heads.refs:
            return dataclasses.replace(change, names=tuple(name for name in change.names if name in names))
        case Expire():
            return dataclasses.replace(
                change,
                drop_tags=tuple(name for name in change.drop_tags if name in names),
                snapshots=tuple(number for number in change.snapshots if number in ids),
            )
        case _:
            return change
