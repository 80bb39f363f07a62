"""Plans of changes that rewrite references and free no file: rollbacks, branches, consumers; and of branches that go.

Law: a plan is the references of now and those of afterwards, as exact bytes, and the order between. What nothing names
any more is told (`orphans`), not deleted: the engine leaves it to its orphan cleaner. A branch that is deleted takes
along what only it holds. Pure. Source: docs/paimon.md §9 and §12, Paimon 2.1.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import assert_never

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import Corrupt, Invalid, NotFound, Unsupported
from core.formats.paimon import layout
from core.formats.paimon.plan import consumers, effects, rollback_as_latest
from core.formats.paimon.plan.drafts import Draft
from core.formats.paimon.references import document
from core.formats.paimon.time_travel import resolve
from core.formats.paimon.write import documents
from core.messages import Reason, told
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
from core.model.effects import Effect, OfReference, Require, SetHint
from core.model.history import History
from core.model.plan import Plan
from core.model.ref_names import refuse_name
from core.model.references import MAIN, Heads, Line, ObjectKind
from core.planning import reclaim as planning

OfLines = CreateBranch | ReplaceBranch | RenameBranch | DeleteBranches | FastForward | Rollback | OfConsumers
RULES = codes.PAIMON_REFERENCES()
_KINDS = (layout.SCHEMA, layout.TAG, layout.SNAPSHOT, layout.CHANGELOG, layout.CONSUMER)
_REFERENCES = (ObjectKind.SNAPSHOT.value, ObjectKind.TAG.value, ObjectKind.CHANGELOG_JSON.value)
_GUARDED = ("scan.fallback-branch", "scan.primary-branch")


def preview(history: History, change: OfLines, now_ms: int) -> Plan:
    """The plan of `change`. `Invalid` for what cannot be asked, `Corrupt` where what would go cannot be told."""
    heads = history.heads
    if isinstance(change, Rollback) and not change.destructive:
        return rollback_as_latest.preview(history, change, now_ms)
    draft = _drafted(history, change)
    before, left = heads.references, set(draft.after.values())
    steps = [(path, before.get(path), draft.after.get(path)) for path in draft.order]
    steps = [(path, old, new) for path, old, new in steps if old != new]
    if not steps:
        raise Invalid("The table is just so already, so there is nothing to do.")
    doing: list[Effect] = [effects.rewritten(*step) for step in steps]
    for place, path, text in reversed(draft.hints):
        earlier = set(draft.order[:place])
        doing.insert(sum(each.path in earlier for each in doing if isinstance(each, OfReference)), SetHint(path, text))
    is_left = [each.path not in before or before[each.path] in left for each in history.holders]
    after = history.existing & np.array(is_left, dtype=np.bool_)
    going = [position for position, each in enumerate(history.holders) if each.exists and each.path in draft.why]
    if isinstance(change, DeleteBranches):
        for position, problems in history.incomplete.items():
            if after[position]:
                raise Corrupt(
                    "{point} stays, but it cannot be read in full, so nobody knows which files it still needs: "
                    "{problem}",
                    point=history.holders[position].point,
                    problem=problems[0].sentence(),
                    path=problems[0].path,
                    remedy="Restore the file.",
                )
    elif going and history.incomplete:
        draft.warnings.append(codes.LOSS_UNKNOWN())
    reasons = {position: (draft.why[history.holders[position].path],) for position in going}
    leaves = [path for path, _, new in steps if new is not None]
    plan = planning.drafted(history, change, RULES, now_ms, after, reasons, leaves, draft.warnings)
    gone = {history.holders[position].point for position in going}
    points = tuple(dataclasses.replace(each, keep=each.point not in gone) for each in plan.points)
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
                raise Invalid("No branch was named.", remedy="Name at least one branch to delete.")
            for name in change.names:
                _take(heads, name, draft, codes.NAMED_TO_DELETE())
        case RenameBranch():
            _copy(heads, _own(heads, change.name), change.to, draft, (*_KINDS,))
            _take(heads, change.name, draft, codes.BRANCH_RENAMED(name=change.to))
        case FastForward():
            _forward(heads, line, change, draft)
        case ReplaceBranch():
            raise Unsupported(
                "A Paimon branch is a line of snapshots of its own, so it cannot be let point elsewhere.",
                path=heads.location,
                remedy="Roll it back (--branch), or delete it and create it anew.",
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
        raise Invalid("A Paimon branch is rolled back to a point of its own only.", remedy="Name one of its points.")
    target = draft.source = found.snapshot
    history.require(found.point)
    draft.warnings += rollback_as_latest.elsewhere(line, change.point, found)
    _refuse_unreadable(line)
    path, content = layout.reference(line.branch, layout.SNAPSHOT, target.id), documents.untagged(target.content)
    there = draft.after.get(path)
    if there is not None and document(there, path) != document(content, path):
        raise Invalid(
            "The id {id} is another snapshot's by now than the one that {point} keeps.",
            id=target.id,
            point=found.point,
            remedy="Roll back to another point, or without --destructive.",
        )
    if there is not None:
        draft.guards.append(path)  # an expiry may take it
    else:
        draft.sets(path, content)
        draft.guards.append(layout.reference(line.branch, layout.TAG, found.point.rpartition("tag:")[2]))
        draft.hint(layout.hint(line.branch, layout.EARLIEST), target.id)
    draft.hint(
        layout.hint(line.branch, layout.LATEST), target.id
    )  # the engine's order: readers list while more is there
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
                "{kind} {name} cannot be read, so nobody knows whether it goes. {problem}",
                kind=bad.kind.capitalize(),
                name=bad.name,
                problem=bad.problem.sentence(),
                path=bad.problem.path,
            )


# branches ------------------------------------------------------------------------------------------------------------


def _create(heads: Heads, line: Line, change: CreateBranch, draft: Draft) -> None:
    if any(each is not None for each in (change.min_snapshots, change.max_snapshot_age_ms, change.max_ref_age_ms)):
        raise Invalid("What a branch keeps of itself is Iceberg's to say; a Paimon branch has the table's options.")
    if line.branch != MAIN:
        raise Invalid("Paimon makes branches of main only.")
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
            "A Paimon branch starts at a tag of main or empty, not at {point}: expiry heeds tags alone.",
            point=change.point,
            remedy="Make a tag there first (create-tag), and name it as tag:NAME.",
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
    """All references of these kinds of a line, as another branch's."""
    _copy_files(heads, [path for kind in kinds for path in _files(heads, line.branch, kind)], to, draft)


def _copy_files(heads: Heads, paths: Iterable[str], to: str, draft: Draft) -> None:
    refuse_name("branch", to)
    if any(each.branch == to for each in heads.lines):
        raise Invalid("Branch {to!r} exists already.", to=to, remedy="Delete it first, or choose another name.")
    for path in paths:
        if path not in heads.references:
            raise Corrupt("It is needed for the branch, and it is not there.", path=path, remedy="Restore the file.")
        kind, name = path.split("/")[-2:]
        draft.sets(f"{layout.branch_dir(to)}{kind}/{name}", heads.references[path])
        draft.guards.append(path)


def _take(heads: Heads, name: str, draft: Draft, why: Reason) -> None:
    """Everything of a branch goes, its first schema last: a branch without schema makes engines stop."""
    line = _own(heads, name)
    for option in _GUARDED:
        if heads.main.options.get(option) == name:
            raise Invalid(
                "Branch {name} is the table's {option}.",
                name=name,
                option=option,
                remedy="Set the option otherwise first.",
            )
    if inner := [each.branch for each in heads.lines if each.branch.startswith(f"{name}/")]:
        raise Invalid(
            "The directory of branch {inner!r} lies within it.", inner=inner[0], remedy="Deal with that one first."
        )
    for kind in (layout.TAG, layout.CHANGELOG, layout.SNAPSHOT, layout.CONSUMER):
        for path in _files(heads, line.branch, kind):
            draft.removes(path, why)
    for path in reversed(_files(heads, line.branch, layout.SCHEMA)):
        draft.removes(path, why)
    draft.clears = (*draft.clears, layout.branch_dir(name).rstrip("/"))
    draft.guards = [path for path in draft.guards if path in draft.after]


def _forward(heads: Heads, line: Line, change: FastForward, draft: Draft) -> None:
    """Main's snapshots, schemas and tags from where the branch began are replaced by the branch's own."""
    own = _own(heads, change.name)
    if line.branch != MAIN:
        raise Invalid("Paimon forwards main only.")
    _refuse_unreadable(line)
    if own.unreadable:
        raise Corrupt(own.unreadable[0].problem.sentence(), path=own.unreadable[0].problem.path)
    if own.earliest is None or own.latest is None:
        raise Invalid("Branch {branch} has no snapshot, so main cannot become what it is.", branch=own.branch)
    first, last = own.earliest, own.latest
    draft.source = last
    if line.latest is not None and line.latest.id >= last.id:  # readers list while what comes after is there
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


# what is there -------------------------------------------------------------------------------------------------------


def _line(heads: Heads, branch: str) -> Line:
    line = heads.line(branch)
    if line is None:
        known = ", ".join(each.branch for each in heads.lines)
        raise NotFound(
            "There is no branch {branch!r}.",
            branch=branch,
            path=heads.location,
            remedy=told("Branches: {known}.", known=known),
        )
    return line


def _own(heads: Heads, name: str) -> Line:
    if name == MAIN:
        raise Invalid("Branch main is the table itself.", remedy="Name another branch.")
    return _line(heads, name)


def _files(heads: Heads, branch: str, kind: str) -> list[str]:
    """References of a kind of a branch, numbered ones in order."""
    start = f"{layout.branch_dir(branch)}{kind}/"
    found = [path for path in heads.references if path.startswith(start)]
    return sorted(found, key=lambda path: (int(n) if (n := path.rpartition("-")[2]).isdecimal() else 0, path))
