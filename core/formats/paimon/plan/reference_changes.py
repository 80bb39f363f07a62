"""Plans of rollbacks, branches and consumers, which rewrite references and, except for deleted branches, free no file.

Invariant: a plan consists of the current and the resulting references, as exact bytes, and the order of the changes.
Files that become unreferenced are reported (`orphans`), not deleted, because the engine leaves them to its orphan
cleaner. Deleting a branch also deletes the files that only it holds. Pure. Source: docs/paimon.md §9 and §12, Paimon
2.0.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import assert_never

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import Corrupt, ErrorCode, Invalid, Unsupported
from core.formats.paimon import layout
from core.formats.paimon.plan import consumers, effects, rollback_as_latest
from core.formats.paimon.plan.drafts import Draft
from core.formats.paimon.references import document
from core.formats.paimon.time_travel import resolve
from core.formats.paimon.write import documents
from core.messages import Reason
from core.model import codes
from core.model.actions import (
    ClearConsumers,
    CreateBranch,
    DeleteBranches,
    FastForward,
    OfConsumers,
    RenameBranch,
    ReplaceBranch,
    ResetConsumer,
    Rollback,
)
from core.model.effects import Effect, OfReference, Require
from core.model.history import History
from core.model.plan import Plan
from core.model.ref_names import refuse_name
from core.model.references import MAIN, Heads, Line, ObjectKind
from core.planning import reclaim as planning
from core.planning import unknown_references

OfLines = CreateBranch | ReplaceBranch | RenameBranch | DeleteBranches | FastForward | Rollback | OfConsumers
RULES = codes.PAIMON_REFERENCES()
_KINDS = (layout.SCHEMA, layout.TAG, layout.SNAPSHOT, layout.CHANGELOG, layout.CONSUMER)
_REFERENCES = (ObjectKind.SNAPSHOT.value, ObjectKind.TAG.value, ObjectKind.CHANGELOG_JSON.value)
_GUARDED = (
    "scan.fallback-branch",
    "scan.primary-branch",
    "scan.fallback-snapshot-branch",
    "scan.fallback-delta-branch",
)


def preview(history: History, change: OfLines, now_ms: int) -> Plan:
    """Plan `change`.

    Raises `Invalid` for an invalid request or if there is nothing to do, `Corrupt` if what would be deleted is not
    fully known.
    """
    heads = history.heads
    if isinstance(change, Rollback) and not change.destructive:
        return rollback_as_latest.preview(history, change, now_ms)
    draft = _drafted(history, change)
    before, left = heads.references, set(draft.after.values())
    steps = [(path, before.get(path), draft.after.get(path)) for path in draft.order]
    steps = [(path, old, new) for path, old, new in steps if old != new]
    if not steps:
        raise Invalid("The table is already in that state.", code=ErrorCode.NOTHING_TO_DO)
    doing: list[Effect] = [effects.rewritten(*step) for step in steps]
    for place, hint in reversed(draft.hints):
        earlier = set(draft.order[:place])
        doing.insert(sum(each.path in earlier for each in doing if isinstance(each, OfReference)), hint)
    is_left = [each.path not in before or before[each.path] in left for each in history.holders]
    after = history.existing & np.array(is_left, dtype=np.bool_)
    deleted_positions = [
        position for position, each in enumerate(history.holders) if each.exists and each.path in draft.why
    ]
    if isinstance(change, DeleteBranches):
        for position, problems in history.incomplete.items():
            if after[position]:
                raise Corrupt(
                    "{point} is kept, but it cannot be read in full, so the files it still needs cannot be "
                    "determined: {problem}",
                    point=history.holders[position].point,
                    problem=problems[0].sentence(),
                    path=problems[0].path,
                    remedy=unknown_references.remedy(problems[0]),
                )
    elif deleted_positions and history.incomplete:
        draft.warnings.append(codes.LOSS_UNKNOWN())
    reasons = {position: (draft.why[history.holders[position].path],) for position in deleted_positions}
    leaves = [path for path, _, new in steps if new is not None]
    plan = planning.drafted(history, change, RULES, now_ms, after, reasons, leaves, draft.warnings)
    deleted_points = {history.holders[position].point for position in deleted_positions}
    points = tuple(dataclasses.replace(each, keep=each.point not in deleted_points) for each in plan.points)
    is_freed = isinstance(change, DeleteBranches)
    orphans = plan.frees.filter(pc.invert(pc.is_in(plan.frees["kind"], value_set=pa.array(_REFERENCES))))
    return dataclasses.replace(
        plan,
        points=points,
        frees=plan.frees if is_freed else plan.frees.slice(0, 0),
        orphans=orphans.slice(0, 0) if is_freed else orphans,
        removes=tuple((path, old) for path, old, _ in steps if old is not None),
        effects=effects.guarded(doing, [Require(path, before[path]) for path in draft.guards], draft.clears),
        source=draft.source,
    )


def _drafted(history: History, change: OfLines) -> Draft:
    heads, draft = history.heads, Draft(dict(history.heads.references))
    line = _line(heads, change.branch)
    match change:
        case Rollback():
            _rollback(history, line, change, draft)
        case CreateBranch():
            _create(heads, line, change, draft)
        case DeleteBranches():
            if not change.names:
                raise Invalid("No branch was given.", remedy="Give at least one branch to delete.")
            for name in change.names:
                _take(heads, name, draft, codes.NAMED_TO_DELETE())
        case RenameBranch():
            _copy(heads, _own(heads, change.name), change.to, draft, (*_KINDS,))
            _take(heads, change.name, draft, codes.BRANCH_RENAMED(name=change.to))
        case FastForward():
            _forward(heads, line, change, draft)
        case ReplaceBranch():
            raise Unsupported(
                "A Paimon branch has snapshots of its own, so it cannot be moved to another one.",
                path=heads.location,
                remedy="Roll it back (--branch), or delete it and create it again.",
            )
        case ResetConsumer():
            consumers.reset(heads, line, change, draft)
        case ClearConsumers():
            consumers.clear(heads, line, change, draft)
        case _:
            assert_never(change)
    return draft


# rollback ------------------------------------------------------------------------------------------------------------


def _rollback(history: History, line: Line, change: Rollback, draft: Draft) -> None:
    found = resolve(history.heads, change.point, change.branch)
    if change.any_line or found.branch != line.branch:
        raise Invalid(
            "A Paimon branch can be rolled back only to a snapshot or tag of its own.",
            remedy="Choose a snapshot or tag of this branch.",
        )
    target = draft.source = found.snapshot
    history.require(found.point)
    draft.warnings += rollback_as_latest.elsewhere(line, change.point, found)
    _refuse_unreadable(line)
    path, content = layout.reference(line.branch, layout.SNAPSHOT, target.id), documents.untagged(target.content)
    there = draft.after.get(path)
    if there is not None and document(there, path) != document(content, path):
        raise Invalid(
            "Id {id} now belongs to a different snapshot than the one that {point} keeps.",
            id=target.id,
            point=found.point,
            remedy="Roll back to another snapshot or tag, or omit --destructive.",
        )
    if there is not None:
        draft.guards.append(path)  # an expiry may delete it
    else:
        draft.sets(path, content)
        draft.guards.append(layout.reference(line.branch, layout.TAG, found.point.rpartition("tag:")[2]))
        draft.hint(layout.hint(line.branch, layout.EARLIEST), target.id)
    draft.hint(
        layout.hint(line.branch, layout.LATEST), target.id
    )  # the engine's order: readers list while newer ones exist
    why = codes.NEWER(id=target.id)
    for each in reversed([each for each in line.snapshots if each.id > target.id]):
        draft.removes(layout.reference(line.branch, layout.SNAPSHOT, each.id), why)
    if lost := [each for each in line.changelogs if each.id > target.id]:
        for each in reversed(lost):
            draft.removes(layout.reference(line.branch, layout.CHANGELOG, each.id), why)
        left = max((each.id for each in line.changelogs if each.id <= target.id), default=None)
        for hint in (layout.LATEST, *([layout.EARLIEST] if left is None else [])):
            draft.hint(layout.hint(line.branch, hint, layout.CHANGELOG), left)
    for tag in line.tags:
        if tag.snapshot.id > target.id:
            names = codes.NAMES_NEWER(why=why)
            draft.removes(layout.reference(line.branch, layout.TAG, tag.name), names)
    for consumer in line.consumers:
        if consumer.next_snapshot > target.id + 1:
            draft.warnings.append(
                codes.CONSUMER_WAITS(
                    name=consumer.name,
                    next_snapshot=consumer.next_snapshot,
                )
            )
    if draft.why:
        draft.warnings.append(codes.IDS_USED_AGAIN())


def _refuse_unreadable(line: Line) -> None:
    for bad in line.unreadable:
        if bad.kind not in (layout.SCHEMA, layout.CONSUMER):
            raise Corrupt(
                ("{kind} {name} cannot be read, so it cannot be determined whether it would be deleted. {problem}"),
                kind=bad.kind.capitalize(),
                name=bad.name,
                problem=bad.problem.sentence(),
                path=bad.problem.path,
            )


# branches ------------------------------------------------------------------------------------------------------------


def _create(heads: Heads, line: Line, change: CreateBranch, draft: Draft) -> None:
    if any(each is not None for each in (change.min_snapshots, change.max_snapshot_age_ms, change.max_ref_age_ms)):
        raise Invalid("Branch retention is an Iceberg setting; a Paimon branch follows the table's options.")
    if line.branch != MAIN:
        raise Invalid("Paimon creates branches from main only.")
    if change.point is None:
        newest = max(line.schemas, default=-1)
        _copy_files(
            heads, [layout.reference(MAIN, layout.SCHEMA, each) for each in range(newest + 1)], change.name, draft
        )
        return
    found = resolve(heads, change.point)
    name = found.point.removeprefix("tag:")
    if found.branch != MAIN or name == found.point:
        raise Invalid(
            ("A Paimon branch starts empty or at a tag of main, not at {point}: expiry respects only tags."),
            point=change.point,
            remedy="Create a tag there first (create-tag), then give it as tag:NAME.",
        )
    target = draft.source = found.snapshot
    tag = layout.reference(MAIN, layout.TAG, name)
    schemas = [layout.reference(MAIN, layout.SCHEMA, each) for each in range(target.schema_id + 1)]
    _copy_files(heads, [*schemas, tag], change.name, draft)
    snapshot, content = layout.reference(MAIN, layout.SNAPSHOT, target.id), documents.untagged(target.content)
    there = heads.references.get(snapshot)
    is_same = there is not None and document(there, snapshot) == document(content, snapshot)
    draft.sets(
        layout.reference(change.name, layout.SNAPSHOT, target.id), there if is_same and there is not None else content
    )


def _copy(heads: Heads, line: Line, to: str, draft: Draft, kinds: Sequence[str]) -> None:
    """Copy all references of these kinds of a branch to another branch."""
    _copy_files(heads, [path for kind in kinds for path in _files(heads, line.branch, kind)], to, draft)


def _copy_files(heads: Heads, paths: Iterable[str], to: str, draft: Draft) -> None:
    refuse_name("branch", to)
    if any(each.branch == to for each in heads.lines):
        raise Invalid(
            "Branch {to!r} already exists.",
            to=to,
            remedy="Delete it first, or choose another name.",
            code=ErrorCode.NAME_TAKEN,
        )
    for path in paths:
        if path not in heads.references:
            raise Corrupt("The branch needs this file, but it does not exist.", path=path, remedy="Restore the file.")
        kind, name = path.split("/")[-2:]
        draft.sets(f"{layout.branch_dir(to)}{kind}/{name}", heads.references[path])
        draft.guards.append(path)


def _take(heads: Heads, name: str, draft: Draft, why: Reason) -> None:
    """Delete all references of a branch, its first schema last: engines fail on a branch without a schema.

    The newest snapshot, and the newest changelog, hide the older ones, and are deleted after them."""
    line = _own(heads, name)
    for option in _GUARDED:
        if heads.main.options.get(option) == name:
            raise Invalid(
                "Branch {name} is the table's {option}.",
                name=name,
                option=option,
                remedy="Change that option first.",
            )
    if inner := [each.branch for each in heads.lines if each.branch.startswith(f"{name}/")]:
        raise Invalid(
            "The directory of this branch contains that of branch {inner!r}.",
            inner=inner[0],
            remedy="Delete or rename that branch first.",
        )
    for kind in (layout.TAG, layout.CHANGELOG, layout.SNAPSHOT, layout.CONSUMER):
        paths = _files(heads, line.branch, kind)
        if kind in (layout.CHANGELOG, layout.SNAPSHOT) and len(paths) > 1:
            draft.hides(layout.hint(line.branch, layout.EARLIEST, kind), paths[-1])
        for path in paths:
            draft.removes(path, why)
    for path in reversed(_files(heads, line.branch, layout.SCHEMA)):
        draft.removes(path, why)
    draft.clears = (*draft.clears, layout.branch_dir(name).rstrip("/"))
    draft.guards = [path for path in draft.guards if path in draft.after]


def _forward(heads: Heads, line: Line, change: FastForward, draft: Draft) -> None:
    """Replace main's snapshots, schemas and tags, from the start of the branch on, by those of the branch."""
    own = _own(heads, change.name)
    if line.branch != MAIN:
        raise Invalid("Paimon can fast-forward main only.")
    _refuse_unreadable(line)
    if own.unreadable:
        raise Corrupt(own.unreadable[0].problem.sentence(), path=own.unreadable[0].problem.path)
    if own.earliest is None or own.latest is None:
        raise Invalid("Branch {branch} has no snapshot, so main cannot be fast-forwarded to it.", branch=own.branch)
    first, last = own.earliest, own.latest
    draft.source = last
    if line.latest is not None and line.latest.id >= last.id:  # readers list while later snapshots exist
        draft.hint(layout.hint(MAIN, layout.LATEST), last.id)
    new = {
        kind: {path.removeprefix(layout.branch_dir(own.branch)): path for path in _files(heads, own.branch, kind)}
        for kind in (layout.SCHEMA, layout.SNAPSHOT, layout.TAG)
    }
    draft.guards += [path for kind in new.values() for path in kind.values()]
    for path, source in new[layout.SCHEMA].items():
        draft.sets(path, heads.references[source])
    why = codes.FORWARDED(name=own.branch, id=first.id)
    ours = [layout.reference(MAIN, layout.SNAPSHOT, each.id) for each in line.snapshots if each.id >= first.id]
    for path in reversed(ours):
        if path not in new[layout.SNAPSHOT]:
            draft.removes(path, why)
        elif heads.references[path] != heads.references[new[layout.SNAPSHOT][path]]:
            draft.why[path] = why
    for path, source in reversed(new[layout.SNAPSHOT].items()):
        draft.sets(path, heads.references[source])
    for path, source in new[layout.TAG].items():
        if path in heads.references and heads.references[path] != heads.references[source]:
            draft.why[path] = why
        draft.sets(path, heads.references[source])
    for tag in line.tags:
        path = layout.reference(MAIN, layout.TAG, tag.name)
        if tag.snapshot.id >= first.id and path not in new[layout.TAG]:
            draft.removes(path, why)
    for path in reversed(_files(heads, MAIN, layout.SCHEMA)):
        if int(path.rpartition("-")[2]) >= first.schema_id and path not in new[layout.SCHEMA]:
            draft.removes(path, why)
    draft.hint(layout.hint(MAIN, layout.LATEST), last.id)
    if line.earliest is None or line.earliest.id > first.id:
        draft.hint(layout.hint(MAIN, layout.EARLIEST), first.id)
    elif line.earliest.id < first.id:
        draft.warnings.append(
            codes.FORWARD_HIDES(
                id=first.id,
            )
        )


# lookup --------------------------------------------------------------------------------------------------------------


def _line(heads: Heads, branch: str) -> Line:
    return heads.require(branch)


def _own(heads: Heads, name: str) -> Line:
    if name == MAIN:
        raise Invalid("Branch main is the table itself.", remedy="Choose another branch.")
    return _line(heads, name)


def _files(heads: Heads, branch: str, kind: str) -> list[str]:
    """Return a branch's references of a kind, numbered ones in order."""
    start = f"{layout.branch_dir(branch)}{kind}/"
    found = [path for path in heads.references if path.startswith(start)]
    return sorted(found, key=lambda path: (int(n) if (n := path.rpartition("-")[2]).isdecimal() else 0, path))
