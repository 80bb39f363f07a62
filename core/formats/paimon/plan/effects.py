"""The effects of a plan on a Paimon table, in order: one reference after another, each with its own condition. Pure.

Invariant: the source of a new reference is required before and after it is written. Before snapshots expire, the hint
that engines read first names the oldest one that stays (docs/adr/0047); files are deleted last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from core.formats.paimon import layout
from core.formats.paimon.write import documents
from core.model.actions import Change, CreateTag, Expire, RenameTag, ReplaceTag
from core.model.effects import (
    CommitSnapshot,
    DeleteIfEqual,
    Effect,
    PutIfAbsent,
    RaiseHint,
    RemoveDirectory,
    RepairHint,
    ReplaceIfEqual,
    Require,
    RequireNewest,
    SetHint,
    VerifyFiles,
    ended,
)
from core.model.plan import Plan
from core.model.references import MAIN, Heads
from core.units import wall_clock


def of(plan: Plan, heads: Heads) -> tuple[Effect, ...]:
    """Return all effects of a finished plan. For branches, rollbacks and commits the planner has set them already."""
    change, source = plan.change, plan.source
    files, freed_bytes = len(plan.frees), plan.freed_bytes
    if isinstance(change, CreateTag | RenameTag | ReplaceTag) and source is not None:
        kind, name = (layout.SNAPSHOT, str(source.id)) if plan.source_tag is None else (layout.TAG, plan.source_tag)
        of_tag = Require(layout.reference(change.branch, kind, name), source.content)
        if isinstance(change, RenameTag):
            return renamed_tag(change.branch, change.name, change.to, source.content)
        content = documents.tag(documents.untagged(source.content), wall_clock(plan.now_ms), change.retained_ms)
        path = layout.reference(change.branch, layout.TAG, change.name)
        if isinstance(change, CreateTag):
            return (
                *new_tag(of_tag, path, content),
                VerifyFiles(point(change.branch, change.name), path, not change.verified),
            )
        replaced = (of_tag, ReplaceIfEqual(path, dict(plan.removes)[path], content, is_alone=True), of_tag)
        return ended(replaced, files, freed_bytes, waits=True)
    if any(isinstance(each, CommitSnapshot) for each in plan.effects):
        return plan.effects
    if plan.effects:
        return ended(plan.effects, files, freed_bytes, waits=files > 0)
    points = ((each.point, each.keep) for each in plan.points)
    deletions = _hidden_first(change, deleted(change, plan.removes, plan.leaves, points), heads.references)
    return ended(deletions, files, freed_bytes, waits=bool(plan.removes))


# tags ----------------------------------------------------------------------------------------------------------------


def point(branch: str, name: str) -> str:
    """Return a tag's name as a version."""
    return f"tag:{name}" if branch == MAIN else f"branch:{branch}/tag:{name}"


def new_tag(source: Require, path: str, content: bytes) -> tuple[Effect, ...]:
    return (source, PutIfAbsent(path, content, is_alone=True), source)


def renamed_tag(branch: str, name: str, to: str, content: bytes) -> tuple[Effect, ...]:
    old, new = (layout.reference(branch, layout.TAG, each) for each in (name, to))
    return (*new_tag(Require(old, content), new, content), DeleteIfEqual(old, content, is_alone=True))


def deleted(
    change: Change,
    removes: Sequence[tuple[str, bytes]],
    leaves: Sequence[str],
    points: Iterable[tuple[str, bool]],
) -> tuple[Effect, ...]:
    """Delete snapshots, tags and changelogs if the same change still allows it.

    Where the plan says so, a snapshot is first kept as a long-lived changelog.
    """
    contents = dict(removes)
    sources = {
        path: path.replace(f"{layout.CHANGELOG}/{layout.CHANGELOG}-", f"{layout.SNAPSHOT}/{layout.SNAPSHOT}-")
        for path in leaves
    }
    creations: list[Effect] = [PutIfAbsent(path, contents[old], instead_of=old) for path, old in sources.items()]
    if creations:
        creations.append(RepairHint(layout.hint(change.branch, layout.LATEST, layout.CHANGELOG)))
    after = _followed(change, removes, points)
    deletions = [DeleteIfEqual(path, content, while_planned=True, followed_by=after) for path, content in removes]
    hints = []
    if isinstance(change, Expire):
        kind = layout.CHANGELOG if change.changelogs_only else layout.SNAPSHOT
        hints = [RepairHint(layout.hint(change.branch, layout.EARLIEST, kind))] if deletions else []
    return (*creations, *deletions, *hints)


def _hidden_first(change: Change, effects: Sequence[Effect], references: Mapping[str, bytes]) -> tuple[Effect, ...]:
    """Before the first snapshot or changelog that expires, raise the hint to the first one that is kept."""
    first = next((each.followed_by for each in effects if isinstance(each, DeleteIfEqual)), None)
    if not isinstance(change, Expire) or first is None or first not in references:
        return tuple(effects)
    kind = layout.CHANGELOG if change.changelogs_only else layout.SNAPSHOT
    below = layout.reference(change.branch, kind, "")
    at = next(i for i, each in enumerate(effects) if isinstance(each, DeleteIfEqual) and each.path.startswith(below))
    raised = RaiseHint(layout.hint(change.branch, layout.EARLIEST, kind), first, references[first])
    return (*effects[:at], raised, *effects[at:])


def _followed(change: Change, removes: Sequence[tuple[str, bytes]], points: Iterable[tuple[str, bool]]) -> str | None:
    """Return the first snapshot, or long-lived changelog, that is kept after the deleted ones."""
    if not isinstance(change, Expire):
        return None
    kind, label = (layout.CHANGELOG, "changelog:") if change.changelogs_only else (layout.SNAPSHOT, "")
    label = label if change.branch == MAIN else f"branch:{change.branch}/{label}"
    kept = [name[len(label) :] for name, keep in points if keep and name.startswith(label)]
    first = min((int(each) for each in kept if each.isdecimal()), default=None)
    directory = layout.reference(change.branch, kind, "")
    if first is None or not any(path.startswith(directory) for path, _ in removes):
        return None
    return f"{directory}{first}"


# branches, consumers, rollbacks --------------------------------------------------------------------------------------


def rewritten(path: str, before: bytes | None, after: bytes | None) -> PutIfAbsent | ReplaceIfEqual | DeleteIfEqual:
    """Return the effect that changes one reference from `before` to `after`; None means absent."""
    if before is None:
        assert after is not None
        return PutIfAbsent(path, after)
    return DeleteIfEqual(path, before) if after is None else ReplaceIfEqual(path, before, after)


def guarded(doing: Sequence[Effect], guards: Sequence[Require], clears: Iterable[str]) -> tuple[Effect, ...]:
    """Rewrite references in this order, provided that their sources are unchanged before and after."""
    return (*guards, *doing, *guards, *_newest(doing), *map(RemoveDirectory, clears))


def _newest(doing: Sequence[Effect]) -> list[Effect]:
    """Where a branch's newest snapshot is set back, require that nobody has committed in the meantime."""
    found: list[Effect] = []
    for each in doing:
        directory, _, name = each.path.rpartition("/") if isinstance(each, SetHint) else ("", "", "")
        if isinstance(each, SetHint) and each.content and name == layout.LATEST and directory.endswith(layout.SNAPSHOT):
            found.append(RequireNewest(f"{directory}/{layout.SNAPSHOT}-{each.content.decode()}"))
    return found


def restored(commit: CommitSnapshot, at: str, tag: str | None) -> tuple[Effect, ...]:
    """Commit a new snapshot with the content of an old one; first create `tag` for that unless None."""
    assert commit.restores is not None
    assert commit.restored_content is not None
    if tag is None:
        return (VerifyFiles(at), commit)
    path = layout.reference(commit.branch, layout.TAG, tag)
    source = Require(commit.restores, commit.restored_content)
    made = new_tag(source, path, documents.untagged(commit.restored_content))
    return (VerifyFiles(at), *made, VerifyFiles(point(commit.branch, tag), path, when_resumed=True), commit)
