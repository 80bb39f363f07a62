"""Resume or undo unfinished runs, using the journal's record of what was planned.

Invariant: nothing created since is touched. A reference that exists again after it was deleted belongs to another
writer, even with the very bytes that were deleted: a rollback to a tag writes its expired snapshot again.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from core import urls
from core.errors import Conflict, DoesNotFit, Invalid
from core.execution import journal as journals
from core.execution import journal_versions
from core.execution.delete_files import Receipt
from core.execution.grace_period import SETTLE_S, refuse_settle
from core.execution.interpreter import RunOptions, Task
from core.execution.journal import Journal, Run
from core.execution.journal_watch import ON_SPARK, resuming, undoing
from core.execution.table_lock import carried_out, locked
from core.messages import counted, message
from core.table import Progress, Table

RESTORES = "restores"  # in the entry of an undo: the references it changes; older versions did not name them


def resume(
    run_id: str,
    *,
    open_table: Callable[[str], Table],
    settle_s: float = SETTLE_S,
    progress: Progress | None = None,
    waits: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    journal: Journal | None = None,
    outside: Collection[str] = (),
) -> Receipt:
    """Resume an unfinished run.

    References created again since (an id after a rollback) are left alone, and so is whatever anything now holds. A
    resume always ends the run, unless it is itself interrupted or cancelled, or the run can still be undone: then a
    `Conflict` says why. That is also so where an undo has begun.

    Outside the table it deletes only under roots that were named when the run began. `outside` names them for runs in
    older journals, which did not record any.
    """
    journal = journal or Journal()
    refuse_settle(settle_s)
    with locked(journal.run(run_id).table), carried_out(run_id):
        found = journal.run(run_id)
        if not found.is_open:
            raise Invalid(
                "Run {run_id} is finished ({state}); there is nothing to resume.", run_id=run_id, state=found.state
            )
        allowed = tuple(found.plan.get("outside", map(urls.spelled, outside)))
        if "outside" not in found.plan:
            _refuse_unnamed(found, journal, allowed)
        options = RunOptions(settle_s, progress, waits, cancelled)
        task = _task(open_table(found.table), found, journal, allowed)
        with _else_with_spark(task, resuming(run_id, on_spark=True)):
            _refuse_half_undone(task, journal)
            journal.add(run_id, journals.RESUMED, {})
            return task.carry_out(options)


def undo(run_id: str, *, open_table: Callable[[str], Table], journal: Journal | None = None) -> tuple[str, ...]:
    """Write back every reference of a run whose sweep has not started; return the paths restored or deleted again."""
    journal = journal or Journal()
    with locked(journal.run(run_id).table), carried_out(run_id):
        found = journal.run(run_id)
        if not found.can_undo:
            why = message("it is finished") if not found.is_open else message("it has started to delete files")
            remedy = message("Resume it instead.") if found.is_open else None
            raise Invalid("Run {run_id} cannot be undone: {why}.", run_id=run_id, why=why, remedy=remedy)
        task = _task(open_table(found.table), found, journal)

        def on_start(restores: Sequence[str]) -> None:
            journal.add(run_id, journals.UNDOING, {RESTORES: restores})

        with _else_with_spark(task, undoing(run_id, on_spark=True)):
            restored = task.undo(on_start)
        journal.add(run_id, journals.UNDONE, {"restored": restored})
    return tuple(restored)


def _refuse_half_undone(task: Task, journal: Journal) -> None:
    """Raise `Conflict` if an undo may have restored a reference and can be finished. Else the run can be resumed: an
    undo that restores nothing, as on a full disk, may need what the run deletes to be gone."""
    undo_events = list[dict[str, Any]]()
    for event in journal.events(task.run):
        if event["what"] == journals.REMOVED:
            undo_events.clear()
        elif event["what"] == journals.UNDOING:
            undo_events.append(event["detail"])
    restored_paths = [each[RESTORES] for each in undo_events if RESTORES in each]
    paths = (
        {path for restored in restored_paths for path in restored} if len(restored_paths) == len(undo_events) else None
    )
    if undo_events and task.has_restored(paths) and task.can_undo():
        raise Conflict(
            "The undo of run {run} has begun and is not finished.",
            run=task.run,
            path=task.table.location,
            remedy=message("Finish it: {undo}.", undo=undoing(task.run, on_spark=task.on_spark)),
        )


def was_begun_on_spark(run: Run) -> bool:
    """Whether a run was begun with what Spark read, which may not fit into one process."""
    return run.plan.get(ON_SPARK) is True


def how_to_resume(run: Run, *, on_spark: bool = False) -> str:
    """The command that resumes a run, with Spark if `on_spark` or if it was begun so."""
    return resuming(run.id, on_spark=on_spark or was_begun_on_spark(run))


def how_to_undo(run: Run, *, on_spark: bool = False) -> str:
    """The command that undoes a run, with Spark as `how_to_resume`."""
    return undoing(run.id, on_spark=on_spark or was_begun_on_spark(run))


@contextmanager
def _else_with_spark(task: Task, command: str) -> Iterator[None]:
    """Have the error of a table that does not fit into one process name the command by which Spark reads it."""
    try:
        yield
    except DoesNotFit as error:
        if not task.table.on_spark:
            error.remedy = message(
                "Have Spark read it: {command}. Or use a machine with more memory, or raise this process's limit.",
                command=command,
            )
        raise


def _task(table: Table, run: Run, journal: Journal, allowed: tuple[str, ...] = ()) -> Task:
    """A run from its journal entries, of any version. Raises `Unsupported` if the table may no longer be changed."""
    table.refuse_apply()
    table = table.reread()
    removes, frees = journal.removed(run.id), journal.frees(run.id)
    effects = journal_versions.effects_of(run, removes, frees)
    events = journal.events(run.id)
    seen = {event["what"] for event in events}
    undone = max((event["number"] for event in events if event["what"] == journals.UNDOING), default=0)
    removed = [event for event in events if event["what"] == journals.REMOVED and event["number"] > undone]
    created = removed[-1]["detail"].get("created", []) if removed else []
    return Task(
        table, journal, run.id, run.change, run.fingerprint, run.plan["now_ms"], effects, removes, frees, allowed,
        run.plan.get("marks", {}), _created_since(run, events[0]["number"], journal),
        is_first=False, on_spark=table.on_spark or was_begun_on_spark(run),
        was_sent=journals.SENT in seen or not run.plan.get(journals.SENT),
        has_removed=bool(removed), earlier=journal.deleted(run.id, undone), is_swept=run.is_swept, created=created,
    )  # fmt: skip


def _created_since(run: Run, first_event: int, journal: Journal) -> frozenset[str]:
    """The references that other runs have created since this one began. Only the journal distinguishes them from this
    run's own: the same tag created again has the same bytes."""
    paths = set[str]()
    for other in journal.runs(run.table):
        created = (other.receipt or {}).get("created", ())
        if other.id != run.id and created and journal.events(other.id)[-1]["number"] > first_event:
            paths.update(created)
    return frozenset(paths)


def _refuse_unnamed(run: Run, journal: Journal, allowed: Collection[str]) -> None:
    """Raise `Invalid` if a run of an older journal still has to delete under roots that nobody has named.

    A resume ends the run, so what it keeps back would be left for good.
    """
    done = set(journal.deleted(run.id))
    paths = [path for path, _, _ in journal.frees(run.id) if urls.is_url(path) and path not in done]
    waiting = [path for path in paths if not any(urls.is_below(path, root) for root in allowed)]
    if waiting:
        raise Invalid(
            "Run {run_id} deletes {files} outside the table's directory, such as {first}, and nobody "
            "has confirmed that they belong to this table alone; nothing was changed.",
            run_id=run.id,
            files=counted(len(waiting), "{count} file", "{count} files"),
            first=waiting[0],
            path=waiting[0],
            remedy=message(
                "If no other table and no copy of this one needs them, resume it with: {roots}",
                roots=" ".join(f"--outside {shlex.quote(root)}" for root in sorted(set(map(_root, waiting)))),
            ),
        )


def _root(path: str) -> str:
    """The directory above a file's partition and bucket."""
    parts = urls.spelled(path).split("/")[:-1]
    while parts[-1].startswith("bucket-") or "=" in parts[-1]:
        parts.pop()
    return "/".join(parts)
