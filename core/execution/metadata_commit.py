"""Changes of a table whose references are parts of one document: they go and come together, by a commit of its format.

Law: a commit is made on exactly the references that were judged; where another's comes first, all is judged again.
Whether it happened is read from the table, never assumed. Files go afterwards, as for any table; until they do, the
change can be taken back by another commit.
"""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from core.errors import Conflict, Corrupt, Invalid, SnapscopeError
from core.execution import journal as journals
from core.execution.delete_files import Receipt, Work, carry_out
from core.execution.journal import Journal, Run
from core.formats.table_format import Edit, Format, Unknown
from core.messages import counted
from core.model.actions import NAMING, Change, CreateTag, Expire
from core.model.plan import Plan
from core.model.references import Heads, ObjectKind
from core.table import Progress, Table

ATTEMPTS = 10
_REFERENCES = {ObjectKind.SNAPSHOT, ObjectKind.TAG, ObjectKind.CHANGELOG_JSON, ObjectKind.METADATA}
_AT_ONCE = 16  # files looked for at a time


@dataclass(frozen=True)
class Manner:
    """How a change is carried out: see `core.execution.apply.apply`."""

    settle_s: float
    progress: Progress | None
    waits: Callable[[float], None] | None
    cancelled: Callable[[], bool]


def to_json(edit: Edit) -> dict[str, Any]:
    """What the journal keeps of an edit beside the references that go."""
    return {
        name: [[path, base64.b64encode(content).decode()] for path, content in getattr(edit, name)]
        for name in ("sets", "beside")
    }


def apply(
    table: Table, plan: Plan, confirm: Callable[[Heads], None], document: dict[str, Any], journal: Journal, how: Manner
) -> Receipt:
    """Carry a plan out that was just confirmed. `confirm` raises where references do not allow it any more."""
    own = _format(table)
    edit = own.edit(plan, table.heads())
    if isinstance(plan.change, CreateTag) and plan.change.verified and plan.source is not None:
        _refuse_missing(table, plan.source.id)
    document["edit"] = to_json(edit)
    frees = [tuple(row.values()) for row in plan.frees.to_pylist()]
    kind = type(plan.change).__name__
    run = journal.start(table.location, kind, document, plan.removes, frees)
    frees_points = any(kind != ObjectKind.METADATA for _, kind, _ in frees)

    def judged(heads: Heads) -> Edit:
        if frees_points:  # else whatever must be as it was is checked by the commit itself
            confirm(heads)
        return edit

    created: list[str] | None = None
    try:
        created = _commit(table, judged)
        own.repair()
        own.check_replaced(edit)
    except BaseException as error:
        is_nothing = created is None and isinstance(error, SnapscopeError) and not isinstance(error, Unknown)
        journal.failed(run, journals.UNDONE if is_nothing else journals.FAILED, error)
        raise
    allowed = tuple(document["outside"])
    work = Work(run, plan.fingerprint, "", kind, plan.removes, (), frees, None, True, allowed=allowed)
    return _rest(table, work, created, journal, how)


def resume(
    table: Table,
    run: Run,
    again: Callable[[Heads], Sequence[tuple[str, bytes]]],
    journal: Journal,
    how: Manner,
    allowed: tuple[str, ...] = (),
) -> Receipt:
    """Carry an unfinished run on. `again`: what the same change, planned on these references, lets go."""
    edit, created = _kept(run, journal), []
    if not any(event["what"] == journals.REMOVED for event in journal.events(run.id)):
        created = _commit(table, lambda heads: _outstanding(_format(table), edit, heads, again))
    if not run.is_swept:
        _format(table).repair()
        _format(table).check_replaced(edit)
    frees = journal.frees(run.id)
    work = Work(run.id, run.fingerprint, "", run.change_kind, edit.removes, (), frees, None, False, allowed=allowed)
    return _rest(table, work, created, journal, how)


def take_back(table: Table, run: Run, journal: Journal) -> list[str]:
    """Bring back what a run's commit took away, and take away what it made; the references that changed."""
    own, edit = _format(table), _kept(run, journal)
    changed: list[str] = []

    def reverse(heads: Heads) -> Edit:
        back = own.taken_back(heads, edit)
        if back.sets:
            refuse_swept(table, run, journal)
        changed[:] = dict((*back.sets, *back.removes))
        return back

    _commit(table, reverse)
    own.repair()
    return changed


def _commit(table: Table, judged: Callable[[Heads], Edit]) -> list[str]:
    """Commit what `judged` answers for the references of now; what was written, nothing where nothing is to be done."""
    for _ in range(ATTEMPTS):
        heads = table.heads()
        try:
            edit = judged(heads)
        except Corrupt:
            if table.heads().references == heads.references:
                raise
            continue  # what others have removed meanwhile is no damage
        if not edit.removes and not edit.sets:
            return []
        if (path := _format(table).commit(heads, edit)) is not None:
            return [path]
    raise Conflict("Other commits kept coming first; nothing was changed.", path=table.location, remedy="Try again.")


def _rest(table: Table, work: Work, created: list[str], journal: Journal, how: Manner) -> Receipt:
    """After the commit: files go, what remains is checked. What frees nothing is done."""
    if not work.frees and work.kind in {kind.__name__ for kind in NAMING}:
        files = tuple(created)
        receipt = Receipt(work.run, table.location, work.fingerprint, "done", files, (), 0, 0, 0, (), (), "")
        head = journal.add(work.run, journals.DONE, dataclasses.asdict(receipt))
        return dataclasses.replace(receipt, journal_head=head)
    is_quick = all(kind == ObjectKind.METADATA for _, kind, _ in work.frees)  # nobody publishes a reference to those
    how = dataclasses.replace(how, settle_s=0) if is_quick else how
    return carry_out(table, work, journal, how.settle_s, how.progress, how.waits, how.cancelled, lambda: created)


def _outstanding(own: Format, edit: Edit, heads: Heads, again: Callable[[Heads], Sequence[tuple[str, bytes]]]) -> Edit:
    """What is left to commit of an edit: all of it that may still go, or nothing where it was committed.

    What is there although it was committed was made again, and is somebody's. Where another hand did part of it, the
    rest is left as it is.
    """
    refs, before = heads.references, dict(edit.removes)
    if own.was_made(edit, heads) or any(refs.get(path) != content for path, content in edit.removes):
        return Edit()
    if any(refs.get(path) != before.get(path) for path in dict(edit.sets)):
        raise Conflict("A reference that was to be made is another's by now.", remedy="Undo this run.")
    allowed = dict(again(heads)) if before.keys() - dict(edit.sets).keys() else before
    removes = tuple((path, content) for path, content in edit.removes if path in allowed)
    return dataclasses.replace(edit, removes=removes)


def _kept(run: Run, journal: Journal) -> Edit:
    kept = {
        name: tuple((path, base64.b64decode(content)) for path, content in run.plan["edit"][name])
        for name in ("sets", "beside")
    }
    return Edit(tuple(journal.removed(run.id)), **kept)


def _format(table: Table) -> Format:
    assert table.own is not None
    return table.own


def refuse_swept(table: Table, run: Run, journal: Journal) -> None:
    """`Invalid` where another hand deleted files of what would be brought back."""
    files = [path for path, kind, _ in journal.frees(run.id) if kind not in _REFERENCES]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        sizes = list(pool.map(table.store.size, files))
    if gone := [path for path, size in zip(files, sizes, strict=True) if size is None]:
        raise Invalid(
            "Run {id} cannot be undone: {files} of what it removed are gone by another hand, such as {first}.",
            id=run.id,
            files=counted(len(gone), "{count} file", "{count} files"),
            first=gone[0],
            path=gone[0],
            remedy="Resume it instead.",
        )


def _refuse_missing(table: Table, snapshot_id: int) -> None:
    history = table.history()
    position = next(at for at, holder in enumerate(history.holders) if holder.name == str(snapshot_id))
    missing = [problem.path for problem in history.incomplete.get(position, ())]
    missing += table.missing_files(history, history.holders[position].point)
    if missing:
        raise Corrupt(
            "{missing} of the point are not there or cannot be read, so the tag could not protect it; "
            "nothing was changed.",
            missing=counted(len(missing), "{count} file", "{count} files"),
            path=missing[0],
        )


def what_is_left(change: Change, heads: Heads) -> Change:
    """An expiry without the refs and snapshots it names that are gone already."""
    if not isinstance(change, Expire):
        return change
    refs = {ref.name for ref in heads.refs}
    ids = {each.id for line in heads.lines for each in line.snapshots}
    return dataclasses.replace(
        change,
        drop_tags=tuple(name for name in change.drop_tags if name in refs),
        snapshots=tuple(number for number in change.snapshots if number in ids),
    )
