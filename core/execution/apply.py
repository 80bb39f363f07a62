"""Applies a plan: the one place that deletes. It may do less than was shown, never more.

Order: re-plan → journal → references go first, each only if its bytes are the planned ones → wait `settle_s` → read
all references again until two reads agree → subtract whatever any of them holds → sweep → check what remains. A crash
leaves files too many, never too few; `resume` carries on from the journal and subtracts exactly like a first run, and
until the sweep starts `undo` writes every reference back.
"""

from __future__ import annotations

import dataclasses
import functools
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import Conflict, Corrupt, Invalid, NotFound, SnapscopeError
from core.execution import data_commit, metadata_commit
from core.execution import journal as journals
from core.execution.delete_files import Receipt, Work, carry_out, refuse_contradictions
from core.execution.grace_period import SETTLE_S, refuse_settle
from core.execution.journal import Journal
from core.execution.reference_rewrites import Rewrite
from core.execution.stable_read import agreed, read_if_there
from core.execution.table_lock import locked
from core.formats.paimon import consistency, layout
from core.formats.paimon.write import documents
from core.formats.paimon.write import publish as references
from core.messages import counted, joined, told
from core.model.actions import Change, CreateTag, Expire, OfCommits, RenameTag, ReplaceTag, check_tag_name
from core.model.plan import Plan
from core.model.references import MAIN, Heads
from core.planning import outside_roots
from core.storage import presence
from core.storage.store import Store
from core.table import Progress, Table
from core.units import wall_clock


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
    """Carry out exactly this plan. `Conflict` if the table no longer allows it; nothing was deleted then.

    `outside` names the roots under which it may delete what lies outside the table's directory: all that it has.

    `settle_s` is how long writers get to finish publishing a reference they were about to, and `waits` is told when
    that begins; `progress` is told (files swept, files to sweep); `cancelled` is asked while waiting and between files.
    """
    journal = journal or Journal()
    refuse_settle(settle_s)
    if plan.table != table.location:
        raise Invalid(
            "The plan was made for {table}, not for {location}; nothing was changed.",
            table=plan.table,
            location=table.location,
        )
    outside_roots.refuse(plan, outside, table.store)
    table.refuse_apply()
    table.refuse_lacking(plan)
    if isinstance(plan.change, CreateTag | RenameTag) and not table.own:
        return _publish(table, plan, journal)
    with locked(table.location):
        refuse_unfinished(table, journal)
        confirm = functools.partial(_confirm, table, plan)
        confirm(table.heads(patience_s=presence.PATIENCE_S))
        if table.own:
            how = metadata_commit.Manner(settle_s, progress, waits, cancelled)
            return metadata_commit.apply(table, plan, confirm, _document(plan, None), journal, how)
        if isinstance(plan.change, OfCommits):
            return data_commit.apply(table, plan, _document(plan, None), journal)
        if plan.guards and not plan.steps:
            from core.execution import rollback_as_latest  # it makes tags too

            return rollback_as_latest.apply(table, plan, _document(plan, None), journal)
        tag = NewTag.of(plan) if isinstance(plan.change, ReplaceTag) else None
        rewrite = Rewrite.of(plan) if plan.steps else None
        frees = [tuple(row.values()) for row in plan.frees.to_pylist()]
        document = _document(plan, tag) | ({"rewrite": rewrite.to_json()} if rewrite else {})
        run = journal.start(table.location, type(plan.change).__name__, document, plan.removes, frees)
        work = Work(
            run,
            plan.fingerprint,
            plan.change.branch,
            type(plan.change).__name__,
            plan.removes,
            plan.leaves,
            frees,
            repairs(plan.change),
            True,
            allowed=_roots(plan),
        )
        replace: Callable[[], list[str] | None] | None = None
        if tag is not None:
            replace = functools.partial(tag.publish, table.store)
        if rewrite is not None:
            replace = functools.partial(rewrite.carry_out, table.store, is_first=True)
            settle_s = settle_s if frees else 0  # where no file goes, nobody is waited for
        return carry_out(table, work, journal, settle_s, progress, waits, cancelled, replace)


def refuse_unfinished(table: Table, journal: Journal) -> None:
    """`Conflict` where an earlier change of this table was cut off: it is finished, or taken back, first."""
    if unfinished := journal.open_run(table.location):
        raise Conflict(
            "Run {id} of {change_kind} on this table is unfinished ({state}).",
            id=unfinished.id,
            change_kind=unfinished.change_kind,
            state=unfinished.state,
            remedy=told(
                "Finish it first: snapscope resume {id}, or take it back: snapscope undo {id}.", id=unfinished.id
            )
            if unfinished.can_undo
            else told("Finish it first: snapscope resume {id}.", id=unfinished.id),
        )


def repairs(change: Change) -> str | None:
    """The directory whose EARLIEST hint follows a change."""
    if not isinstance(change, Expire):
        return None
    return layout.CHANGELOG if change.changelogs_only else layout.SNAPSHOT


def _confirm(table: Table, plan: Plan, heads: Heads) -> None:
    """Re-plan with the same change and the same `now`; new commits are no conflict, a lost going point is."""
    for path, content in plan.removes:
        found = heads.references.get(path)
        if found is None:
            raise Conflict(
                told("{path} is gone since the plan was made; nothing was changed.", path=path),
                path=path,
                remedy="Plan again.",
            )
        if found != content:
            raise Conflict(
                told("{path} was rewritten since the plan was made; nothing was changed.", path=path),
                path=path,
                remedy="Plan again.",
            )
    goes = {verdict.point for verdict in plan.goes}
    history = table.history(heads)
    if not table.own and (newer := table.newer(history)) is not None:  # of one document the commit tells
        _confirm(table, plan, newer)
        return
    again = table.preview(plan.change, plan.now_ms, history)
    for verdict in again.points:
        if verdict.keep and verdict.point in goes:
            raise Conflict(
                "{point} may no longer go: {reasons}. Nothing was changed.",
                point=verdict.point,
                reasons=joined(verdict.reasons),
                remedy="Plan again.",
            )
    if again.steps != plan.steps or again.guards != plan.guards or not again.leaving.equals(plan.leaving):
        raise Conflict(
            "The table has changed since the plan was made, and other references would have to be rewritten now; "
            "nothing was changed.",
            path=table.location,
            remedy="Plan again.",
        )
    if table.own or ((plan.steps or plan.guards) and not len(plan.frees)):
        return
    findings = consistency.examine(table.store, history, table.manifests, plan.frees["path"].to_pylist())
    refuse_contradictions(history, findings, {verdict.point for verdict in again.points if verdict.keep})


def _roots(plan: Plan) -> tuple[str, ...]:
    return tuple(each.root for each in plan.outside)


def _document(plan: Plan, tag: NewTag | None) -> dict[str, object]:
    """What the journal keeps of a plan besides references and files."""
    return {
        "change": dataclasses.asdict(plan.change),
        "fingerprint": plan.fingerprint,
        "now_ms": plan.now_ms,
        "rules": plan.rules,
        "headline": plan.headline,
        "points": [[verdict.point, verdict.keep, list(verdict.reasons)] for verdict in plan.points],
        "leaves": list(plan.leaves),
        "freed_bytes": plan.freed_bytes,
        "kept_bytes": plan.kept_bytes,
        "warnings": list(plan.warnings),
        "outside": list(_roots(plan)),
        **({} if tag is None else {"tag": tag.to_json()}),
    }


# tags ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NewTag:
    """A tag to be made, renamed or replaced: the exact bytes, and the reference they are made of.

    All of it is decided by the plan that was shown and kept in the journal, so that a later process can tell what was
    ours, finish it or take it back.
    """

    kind: str  # CreateTag, RenameTag or ReplaceTag
    path: str
    content: bytes
    source: str  # the snapshot it names; the tag's old file where it is renamed
    expected: bytes  # the source's bytes
    before: bytes  # the old bytes of a tag that is replaced
    point: str
    must_be_whole: bool  # every data file is looked for

    @classmethod
    def of(cls, plan: Plan) -> NewTag:
        change, source = plan.change, plan.source
        assert isinstance(change, CreateTag | RenameTag | ReplaceTag)
        assert source is not None
        name = change.to if isinstance(change, RenameTag) else change.name
        point = f"tag:{name}" if change.branch == MAIN else f"branch:{change.branch}/tag:{name}"
        path = layout.reference(change.branch, layout.TAG, name)
        kind = type(change).__name__
        if isinstance(change, RenameTag):
            old = layout.reference(change.branch, layout.TAG, change.name)
            return cls(kind, path, source.content, old, source.content, b"", point, False)
        content = documents.tag(documents.untagged(source.content), wall_clock(plan.now_ms), change.retained_ms)
        kind_of, own = (layout.SNAPSHOT, source.id) if plan.source_tag is None else (layout.TAG, plan.source_tag)
        snapshot = layout.reference(change.branch, kind_of, own)
        before = dict(plan.removes).get(path, b"")
        is_checked = isinstance(change, CreateTag) and change.verified
        return cls(kind, path, content, snapshot, source.content, before, point, is_checked)

    def to_json(self) -> dict[str, object]:
        kept = dataclasses.asdict(self)
        return {name: b64encode(value).decode() if isinstance(value, bytes) else value for name, value in kept.items()}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> NewTag:
        as_bytes = {name: b64decode(kept[name]) for name in ("content", "expected", "before")}
        return cls(**{**kept, **as_bytes})

    def publish(self, store: Store) -> None:
        if self.kind == ReplaceTag.__name__:
            references.replace(store, self.source, self.expected, self.path, self.before, self.content)
            return
        references.copy(store, self.source, self.expected, self.path, self.content)
        if self.kind == RenameTag.__name__:
            store.delete(self.source)

    @property
    def removed(self) -> tuple[str, ...]:
        return (self.source,) if self.kind == RenameTag.__name__ else ()


def _publish(table: Table, plan: Plan, journal: Journal) -> Receipt:
    """Make or rename a tag: what deletes nothing needs no settling."""
    change = plan.change
    assert isinstance(change, CreateTag | RenameTag)
    line = table.heads(patience_s=presence.PATIENCE_S).line(change.branch)
    if line is None:
        raise NotFound("There is no branch {branch!r}.", branch=change.branch, path=table.location)
    check_tag_name(line, change.to if isinstance(change, RenameTag) else change.name)
    tag = NewTag.of(plan)
    run = journal.start(table.location, tag.kind, _document(plan, tag), (), ())
    try:
        tag.publish(table.store)
        if tag.must_be_whole:
            verify(table, tag)
    except BaseException as error:
        journal.failed(run, journals.UNDONE if _left_nothing(table, tag, error) else journals.FAILED, error)
        raise
    return finished(table, run, plan.fingerprint, tag, journal)


def _left_nothing(table: Table, tag: NewTag, error: BaseException) -> bool:
    """A conflict is told after what was ours is withdrawn; after anything else one has to look."""
    if isinstance(error, Conflict | NotFound) and not getattr(error, "__notes__", ()):
        return True
    try:
        return read_if_there(table, tag.path) != tag.content
    except SnapscopeError:
        return False


def finished(table: Table, run: str, fingerprint: str, tag: NewTag, journal: Journal) -> Receipt:
    """The receipt of a tag that was made or renamed, and the end of its run."""
    gone = tag.removed
    receipt = Receipt(run, table.location, fingerprint, "done", (tag.path,), gone, 0, len(gone), 0, (), (), "")
    return dataclasses.replace(receipt, journal_head=journal.add(run, journals.DONE, dataclasses.asdict(receipt)))


def verify(table: Table, tag: NewTag) -> None:
    """The tagged view is there in full: its metadata reads and every file it needs has its size. Else the tag goes."""
    try:
        missing = table.missing_files(table.lasting(agreed(table)), tag.point)
        if missing:
            raise Corrupt(
                "{missing} of the point are not there, so the tag could not protect it and was withdrawn.",
                missing=counted(len(missing), "{count} data file", "{count} data files"),
                path=missing[0],
            )
    except SnapscopeError:  # whatever was not seen is not protected
        table.store.delete(tag.path)
        raise
