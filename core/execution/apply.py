"""Apply a plan: the one entry point for changes. A run may do less than the plan showed, never more.

Order: plan again → journal → the plan's effects (`core.model.effects`). The last effects are: wait, read all references
again, drop every file that any of them holds from the list, delete the rest, check what remains. A crash leaves surplus
files, never missing ones; `core.execution.recovery` resumes from the journal, or undoes what can still be undone
exactly.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Sequence

from core.errors import Conflict, Corrupt, ErrorCode, Invalid, NotFound
from core.execution import deleted_tags, journal_versions, recovery
from core.execution import journal as journals
from core.execution.delete_files import Receipt, refuse_contradictions
from core.execution.grace_period import SETTLE_S, refuse_settle
from core.execution.interpreter import RunOptions, Task
from core.execution.journal import Journal
from core.execution.journal_watch import ON_SPARK
from core.execution.metadata_swap import format_of
from core.execution.table_lock import carried_out, locked
from core.formats.paimon.write.commit_base import refuse_unlocked
from core.formats.paimon.write.publish import read_head
from core.messages import counted, joined, message, sentences
from core.model.effects import (
    CommitSnapshot,
    DeleteIfEqual,
    Effect,
    PutIfAbsent,
    RaiseHint,
    RepairHint,
    SwapMetadata,
    VerifyFiles,
    Wait,
    changes,
    is_shared,
)
from core.model.plan import Plan
from core.model.references import Heads, ObjectKind, point_in_words
from core.planning import outside_roots
from core.storage import presence
from core.table import Progress, Table


def apply(
    table: Table,
    plan: Plan,
    *,
    settle_s: float = SETTLE_S,
    progress: Progress | None = None,
    waits: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    journal: Journal | None = None,
    outside: Collection[str] = (),
) -> Receipt:
    """Run exactly this plan. Raises `Conflict`, with nothing deleted, if the table no longer allows it.

    `outside` must name every root outside the table's directory under which the plan deletes files.

    `settle_s` is how many seconds running writers get to publish a reference. Callbacks: `waits(seconds)` when that
    wait begins, `progress(files swept, files to sweep)`, and `cancelled()`, asked while waiting and between files.
    """
    journal = journal or Journal()
    refuse_settle(settle_s)
    if plan.table != table.location:
        raise Invalid(
            "This plan is for {table}, not for {location}; nothing was changed.",
            table=plan.table,
            location=table.location,
        )
    outside_roots.refuse(plan, outside, table.store)
    table.refuse_apply()
    table.refuse_lacking(plan)
    table = table.reread()
    options = RunOptions(settle_s, progress, waits, cancelled)
    if is_shared(plan.effects):
        with carried_out(run := journals.new_id()):
            return _run(table, plan, journal, lambda _: None, run).carry_out(options)
    with locked(table.location):
        refuse_unfinished(table, journal)
        confirm = functools.partial(_confirm, table, plan)
        confirm(table.heads(patience_s=presence.PATIENCE_S))
        return _run(table, plan, journal, confirm).carry_out(options)


def _run(table: Table, plan: Plan, journal: Journal, confirm: Callable[[Heads], None], run: str = "") -> Task:
    """Record a plan as a run in the journal, before its first effect. `run`: its id, if somebody holds its lock."""
    effects = tuple(_bound(table, plan, each) for each in plan.effects)
    _refuse_unready(table, effects)
    frees = [tuple(row.values()) for row in plan.frees.to_pylist()]
    marks = deleted_tags.marks(table.store, effects)
    document = _document(plan) | journal_versions.written(effects, plan.removes) | ({"marks": marks} if marks else {})
    document |= {ON_SPARK: True} if table.on_spark else {}  # whoever resumes the run may need Spark, too
    if any(isinstance(each, SwapMetadata) for each in effects):
        document |= {journals.SENT: True}  # this run records that its commit was sent; those of older versions do not
    run = journal.start(table.location, type(plan.change).__name__, document, plan.removes, frees, run)
    if all(kind == ObjectKind.METADATA for _, kind, _ in frees):  # the swap itself checks what must be unchanged
        confirm = lambda _: None  # noqa: E731
    return Task(
        table, journal, run, plan.change, plan.fingerprint, plan.now_ms, effects, plan.removes, frees,
        tuple(each.root for each in plan.outside), marks, on_spark=table.on_spark, confirm=confirm,
    )  # fmt: skip


def _bound(table: Table, plan: Plan, effect: Effect) -> Effect:
    """Complete a metadata swap with the parts that change besides references, read from the document it is based on."""
    return format_of(table).edit(plan, table.heads()) if isinstance(effect, SwapMetadata) else effect


def _refuse_unready(table: Table, effects: Sequence[Effect]) -> None:
    """Check, before a run begins, that all files of each version exist and that a commit is possible."""
    for effect in effects:
        if isinstance(effect, VerifyFiles) and effect.tag is None:
            _refuse_missing(table, effect.point)
        if isinstance(effect, CommitSnapshot):
            refuse_unlocked(table.store, read_head(table.store, effect.branch))


def _refuse_missing(table: Table, point: str) -> None:
    history = table.history()
    position = next((at for at, each in enumerate(history.holders) if point in (each.point, each.name)), None)
    if position is None:
        raise NotFound(
            "{point} no longer exists; nothing was changed.", point=point_in_words(point), path=table.location
        )
    missing = [problem.path for problem in history.incomplete.get(position, ())]
    missing += table.missing_files(history, history.holders[position].point)
    if missing:
        raise Corrupt(
            counted(
                len(missing),
                "{count} file of {point} is missing or cannot be read, so a tag could not protect it and "
                "it cannot be rolled back to; nothing was changed.",
                "{count} files of {point} are missing or cannot be read, so a tag could not protect it "
                "and it cannot be rolled back to; nothing was changed.",
                point=point_in_words(point),
            ),
            path=missing[0],
        )


def refuse_unfinished(table: Table, journal: Journal) -> None:
    """Raise `Conflict` if an earlier run on this table was interrupted: it must be resumed or undone first.

    Also if it is still running, without the lock of the table.
    """
    if unfinished := journal.open_run(table.location):
        with carried_out(unfinished.id):
            pass
        resume = recovery.how_to_resume(unfinished)
        raise Conflict(
            "Run {id} ({change_kind}) on this table has not finished ({state}).",
            id=unfinished.id,
            change_kind=unfinished.change_kind,
            state=unfinished.state,
            remedy=message(
                "Resume it: {resume}. Or undo it: {undo}.", resume=resume, undo=recovery.how_to_undo(unfinished)
            )
            if unfinished.can_undo
            else message("Resume it first: {resume}.", resume=resume),
            code=ErrorCode.UNFINISHED_RUN,
        )


def _confirm(table: Table, plan: Plan, heads: Heads) -> None:
    """Plan again with the same action and the same `now`. New commits are no conflict; a missing reference is."""
    for path, content in plan.removes:
        found = heads.references.get(path)
        if found is None:
            raise Conflict(
                message("{path} was deleted after this plan was made; nothing was changed.", path=path),
                path=path,
                remedy="Make a new plan.",
                code=ErrorCode.PLAN_OUTDATED,
            )
        if found != content:
            raise Conflict(
                message("{path} was rewritten after this plan was made; nothing was changed.", path=path),
                path=path,
                remedy="Make a new plan.",
                code=ErrorCode.PLAN_OUTDATED,
            )
    deleted = {verdict.point for verdict in plan.deleted_points}
    history = table.summary(heads, plan.change)
    are_files = table.capabilities.references_are_files  # references within one document are checked by the commit
    if are_files and (newer := table.newer(history)) is not None:
        _confirm(table, plan, newer)
        return
    again = table.preview(plan.change, plan.now_ms, history)
    for verdict in again.points:
        if verdict.keep and verdict.point in deleted:
            raise Conflict(
                "{point} can no longer be deleted: {reasons}. Nothing was changed.",
                point=verdict.point,
                reasons=joined(sentences(verdict.reasons)),
                remedy="Make a new plan.",
                code=ErrorCode.PLAN_OUTDATED,
            )
    if _exactly(again) != _exactly(plan) or not again.leaving.equals(plan.leaving):
        raise Conflict(
            "The table has changed since this plan was made, and other references would now have to "
            "be rewritten; nothing was changed.",
            path=table.location,
            remedy="Make a new plan.",
            code=ErrorCode.PLAN_OUTDATED,
        )
    if not are_files or not (len(plan.frees) or Wait() in plan.effects):
        return
    frees = dict(zip(plan.frees["path"].to_pylist(), plan.frees["kind"].to_pylist(), strict=True))
    refuse_contradictions(
        history, table.examine(history, frees), {verdict.point for verdict in again.points if verdict.keep}
    )


def _exactly(plan: Plan) -> tuple[Effect, ...]:
    """The effects that must be the same when planned again; the others are conditional and may be skipped."""
    return tuple(
        each
        for each in changes(plan.effects)
        if not isinstance(each, SwapMetadata | RepairHint | RaiseHint)
        and not (isinstance(each, DeleteIfEqual) and each.while_planned)
        and not (isinstance(each, PutIfAbsent) and each.instead_of)
    )


def _document(plan: Plan) -> dict[str, object]:
    """What the journal stores about a plan besides references, files and effects."""
    return {
        "change": dataclasses.asdict(plan.change),
        "fingerprint": plan.fingerprint,
        "now_ms": plan.now_ms,
        "rules": plan.rules.text,
        "headline": plan.headline,
        "points": [[verdict.point, verdict.keep, sentences(verdict.reasons)] for verdict in plan.points],
        "leaves": list(plan.leaves),
        "freed_bytes": plan.freed_bytes,
        "kept_bytes": plan.kept_bytes,
        "warnings": sentences(plan.warnings),
        "outside": [each.root for each in plan.outside],
        **({"leaving": plan.leaving.to_pylist()} if len(plan.leaving) else {}),
    }
