"""Changes of Iceberg's tags and branches: which refs exist afterwards, and which snapshots they leave behind.

Invariant: main is never created, deleted or renamed, and is set back only to an ancestor unless `any_line` is set; a
replaced ref keeps its other fields. Moving or removing a ref frees nothing: it changes what the next expiry removes.
Pure. Source: `UpdateSnapshotReferencesOperation` and `SetSnapshotOperation` of Iceberg 1.11.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import assert_never

from core.errors import ErrorCode, Invalid
from core.formats.iceberg.time_travel import resolve
from core.messages import Reason, counted, message
from core.model import codes
from core.model.actions import (
    CreateBranch,
    CreateTag,
    DeleteBranches,
    DeleteTags,
    FastForward,
    OfBranches,
    RenameBranch,
    RenameTag,
    ReplaceBranch,
    ReplaceTag,
    Rollback,
)
from core.model.lineage import ancestors, members
from core.model.ref_names import KINDS, branches_there, refs_there, refuse_name, tags_there
from core.model.references import MAIN, Heads, Ref, Snapshot
from core.model.time_travel import parse_time_ms
from core.units import duration

OfRefs = CreateTag | DeleteTags | RenameTag | ReplaceTag | OfBranches


@dataclass(frozen=True, slots=True)
class Move:
    """The result of a change.

    `after`: all refs afterwards. `verdicts`: for existing refs that change, whether they are kept, and why. `writes`:
    the ref that is written, derived from `replaces` if there is one. `source`: the snapshot it names.
    """

    after: tuple[Ref, ...]
    verdicts: Mapping[str, tuple[bool, Reason]] = field(default_factory=dict)
    writes: str | None = None
    replaces: str | None = None
    source: Snapshot | None = None
    notes: tuple[Reason, ...] = ()


def of(heads: Heads, change: OfRefs, now_ms: int) -> Move:
    """Compute a change of refs. Raises `Invalid` for an invalid request, `NotFound` for a missing version."""
    match change:
        case CreateTag():
            source = _source(heads, change.snapshot_id, change.branch)
            refuse_short("tag", source, change.retained_ms, now_ms)
            return _new(heads, Ref(change.name, False, source.id, max_ref_age_ms=change.retained_ms), source)
        case CreateBranch():
            source = resolve(heads, change.point or "latest", change.branch).snapshot
            branch = _kept(Ref(change.name, True, source.id), change, source, now_ms)
            return _new(heads, branch, source)
        case ReplaceTag():
            old = find(heads, change.name, is_branch=False)
            source = _source(heads, change.snapshot_id, change.branch)
            refuse_short("tag", source, change.retained_ms, now_ms)
            kept_ms = old.max_ref_age_ms if change.retained_ms is None else change.retained_ms
            new = dataclasses.replace(old, snapshot_id=source.id, max_ref_age_ms=kept_ms)
            return _moved(heads, old, new, source, codes.WILL_NAME(id=source.id))
        case ReplaceBranch():
            return _replaced(heads, change, now_ms)
        case RenameTag() | RenameBranch():
            old = find(heads, change.name, is_branch=isinstance(change, RenameBranch))
            _refuse_main(old.name, message("renamed"))
            _refuse_name(heads, "branch" if old.is_branch else "tag", change.to)
            rest = tuple(ref for ref in heads.refs if ref != old)
            after = (*rest, dataclasses.replace(old, name=change.to))
            return Move(after, {}, change.to, old.name, members(heads).get(old.snapshot_id))
        case DeleteTags() | DeleteBranches():
            is_branch = isinstance(change, DeleteBranches)
            if not change.names:
                kind = KINDS["branch" if is_branch else "tag"]
                raise Invalid(
                    "No {kind} was given.", kind=kind, remedy=message("Give at least one {kind} to delete.", kind=kind)
                )
            why = codes.NAMED_TO_DELETE()
            deleted = {find(heads, name, is_branch=is_branch).name: why for name in change.names}
            for name in deleted:
                _refuse_main(name, message("deleted"))
            after = tuple(ref for ref in heads.refs if ref.name not in deleted)
            return Move(after, {name: (False, why) for name, why in deleted.items()})
        case FastForward():
            old, to = find(heads, change.branch, is_branch=True), find(heads, change.name, is_branch=True)
            source = resolve(heads, f"branch:{to.name}").snapshot
            _refuse_there(old, source)
            if old.snapshot_id not in _line(heads, source.id):
                raise Invalid(
                    "{name} cannot be fast-forwarded to {to}: its head {head} is not an ancestor of {id}, so "
                    "its own snapshots would be lost.",
                    name=old.name,
                    to=to.name,
                    head=old.snapshot_id,
                    id=source.id,
                    remedy=message(
                        "Roll it back to where {name} branched off first, or move it with rollback --set (main) "
                        "or replace-branch.",
                        name=to.name,
                    ),
                )
            new = dataclasses.replace(old, snapshot_id=source.id)
            why = codes.WILL_POINT_TO_HEAD(id=source.id, name=to.name)
            return _moved(heads, old, new, source, why)
        case Rollback():
            return _rolled_back(heads, change)
        case _:
            assert_never(change)


def _source(heads: Heads, snapshot_id: int | None, branch: str) -> Snapshot:
    return resolve(heads, "latest" if snapshot_id is None else str(snapshot_id), branch).snapshot


def _new(heads: Heads, ref: Ref, source: Snapshot) -> Move:
    _refuse_name(heads, "branch" if ref.is_branch else "tag", ref.name)
    return Move((*heads.refs, ref), {}, ref.name, None, source)


def _moved(heads: Heads, old: Ref, new: Ref, source: Snapshot, why: Reason) -> Move:
    after = tuple(new if ref == old else ref for ref in heads.refs)
    return Move(after, {old.name: (True, why)}, old.name, old.name, source)


def _replaced(heads: Heads, change: ReplaceBranch, now_ms: int) -> Move:
    old = find(heads, change.name, is_branch=True)
    if old.name == MAIN and (change.point is not None or change.max_ref_age_ms is not None):
        what = message("use rollback to move it") if change.point is not None else message("main never expires")
        raise Invalid(
            "replace-branch cannot do this to branch main: {what}.",
            what=what,
            remedy="Use rollback TABLE VERSION, or omit this option.",
        )
    source = resolve(heads, change.point or f"branch:{old.name}", change.branch).snapshot
    new = _kept(dataclasses.replace(old, snapshot_id=source.id), change, source, now_ms)
    if new == old:
        raise Invalid("Branch {name} is already at snapshot {id} with this retention.", name=old.name, id=source.id)
    why = codes.WILL_POINT(id=source.id)
    why = codes.WILL_KEEP_OTHERWISE() if source.id == old.snapshot_id else why
    return _moved(heads, old, new, source, why)


def _kept(ref: Ref, change: CreateBranch | ReplaceBranch, source: Snapshot, now_ms: int) -> Ref:
    """Return the branch with the requested retention. Raises `Invalid` if that is not positive or too short."""
    requested = (change.min_snapshots, change.max_snapshot_age_ms, change.max_ref_age_ms)
    if any(value is not None and value <= 0 for value in requested):
        raise Invalid("Branch retention must be positive.")
    refuse_short("branch", source, change.max_ref_age_ms, now_ms)
    given = zip(("min_snapshots", "max_snapshot_age_ms", "max_ref_age_ms"), requested, strict=True)
    return dataclasses.replace(ref, **{name: value for name, value in given if value is not None})  # type: ignore[arg-type]


def _rolled_back(heads: Heads, change: Rollback) -> Move:
    if change.branch != MAIN:
        raise Invalid("Only main can be rolled back.", remedy="Use replace-branch to move another branch.")
    if change.destructive:
        raise Invalid(
            ("An Iceberg rollback deletes nothing: snapshots it leaves behind are kept until they expire."),
            remedy="Omit --destructive.",
        )
    old, found = find(heads, MAIN, is_branch=True), resolve(heads, change.point)
    source = found.snapshot
    _refuse_there(old, source)
    line = _line(heads, old.snapshot_id)
    if source.id not in line and not change.any_line:
        raise Invalid(
            ("Snapshot {id} is not an ancestor of {snapshot_id}, where main is, so this would not be a rollback."),
            id=source.id,
            snapshot_id=old.snapshot_id,
            remedy="Pass --set to move main there anyway.",
        )
    notes: list[Reason] = []
    if change.point.strip().startswith("time:"):
        time_ms = parse_time_ms(change.point.strip().removeprefix("time:"))
        theirs = max(
            (each for each in line.values() if each.time_ms < time_ms), key=lambda each: each.time_ms, default=None
        )
        if theirs is None or theirs.id != source.id:
            outcome = message("fails") if theirs is None else message("moves to {id}", id=theirs.id)
            notes.append(
                codes.ROLLBACK_ELSEWHERE(
                    id=source.id,
                    whither=outcome,
                )
            )
    now = heads.main.current_schema
    if source.schema_id != now:
        notes.append(codes.SCHEMA_STAYS(now=now, then=source.schema_id))
    moved = _moved(
        heads,
        old,
        dataclasses.replace(old, snapshot_id=source.id),
        source,
        codes.WILL_POINT(id=source.id),
    )
    return dataclasses.replace(moved, notes=tuple(notes))


# checks --------------------------------------------------------------------------------------------------------------


def find(heads: Heads, name: str, *, is_branch: bool | None = None) -> Ref:
    """Return a ref by name. Raises `Invalid` if there is none, or one of the other kind."""
    kinds = {None: message("ref"), False: KINDS["tag"], True: KINDS["branch"]}
    for ref in heads.refs:
        if ref.name == name:
            if is_branch is not None and ref.is_branch != is_branch:
                there, wanted = kinds[ref.is_branch], kinds[is_branch]
                raise Invalid(
                    "{name!r} is a {there}, not a {wanted}; nothing was changed.",
                    name=name,
                    there=there,
                    wanted=wanted,
                )
            return ref
    known = [ref.name for ref in heads.refs if is_branch in (None, ref.is_branch)]
    listed = {None: refs_there, False: tags_there, True: branches_there}[is_branch]
    raise Invalid(
        "There is no {kinds} {name!r}; nothing was changed.",
        kinds=kinds[is_branch],
        name=name,
        remedy=listed(name, known),
        code={None: None, False: ErrorCode.NO_TAG, True: ErrorCode.NO_BRANCH}[is_branch],
    )


def refuse_short(kind: str, source: Snapshot, kept_ms: int | None, now_ms: int) -> None:
    """Raise `Invalid` for a retention that would have ended already, because it is counted from the snapshot's time."""
    if kept_ms is None:
        return
    if kept_ms <= 0:
        raise Invalid("The retention of a {kind} must be positive.", kind=KINDS[kind])
    age_ms = now_ms - source.time_ms
    if age_ms >= kept_ms:
        raise Invalid(
            "Iceberg counts the retention of a {kind} from its snapshot, which is {age_ms} old: with "
            "{kept_ms} the next expiry would already delete it.",
            kind=KINDS[kind],
            age_ms=duration(age_ms),
            kept_ms=duration(kept_ms),
            remedy="Give a longer retention, or none.",
        )


def _refuse_name(heads: Heads, kind: str, name: str) -> None:
    refuse_name(kind, name, is_file=False)
    if any(ref.name == name for ref in heads.refs):
        raise Invalid(
            "Ref {name!r} already exists.",
            name=name,
            remedy="Delete it first, or choose another name.",
            code=ErrorCode.NAME_TAKEN,
        )


def _refuse_main(name: str, done: str) -> None:
    if name == MAIN:
        raise Invalid(
            "Branch main cannot be {done}: without it the table reads as empty.", done=done, remedy="Leave it out."
        )


def _refuse_there(ref: Ref, source: Snapshot) -> None:
    if ref.snapshot_id == source.id:
        raise Invalid(
            "Branch {name} is already at snapshot {id}; there is nothing to do.",
            name=ref.name,
            id=source.id,
            code=ErrorCode.NOTHING_TO_DO,
        )


# snapshots left behind -----------------------------------------------------------------------------------------------


def left_behind(heads: Heads, after: Sequence[Ref]) -> frozenset[int]:
    """Return the snapshots that some ref reaches now and none does afterwards."""
    return frozenset(_reached(heads, heads.refs) - _reached(heads, after))


def snapshots_text(left: Set[int]) -> str:
    ids = sorted(left)
    listed = ", ".join(map(str, ids[:3])) + (" …" if len(ids) > 3 else "")
    why = (
        "{count} snapshot ({ids}) will then be on no branch or tag",
        "{count} snapshots ({ids}) will then be on no branch or tag",
    )
    return counted(len(ids), *why, ids=listed)


def _reached(heads: Heads, refs: Sequence[Ref]) -> set[int]:
    found: set[int] = set()
    for ref in refs:
        found |= _line(heads, ref.snapshot_id).keys() if ref.is_branch else {ref.snapshot_id}
    return found & members(heads).keys()


def _line(heads: Heads, head: int) -> dict[int, Snapshot]:
    return {each.id: each for each in ancestors(members(heads), head)}
