"""What a plan does to a table, as an ordered list of values that is shown, journaled, run, resumed and undone. Pure.

Invariant: each effect states the condition under which it may happen, and leaves a table that can be read. The table
alone shows whether an effect has happened, so running the list twice equals running it once.

| effect | condition | interrupted before it | interrupted after it | undo |
|---|---|---|---|---|
| `PutIfAbsent` | nothing exists at the path | nothing was created | our bytes exist | deleted if it has our bytes |
| `ReplaceIfEqual` | it has the planned bytes | has the old bytes | has the new bytes | restored if it has ours |
| `DeleteIfEqual` | it has the planned bytes | exists | deleted; the journal has its bytes | put if absent |
| `SetHint`, `RepairHint` | none: a hint is no reference | stale: readers list | correct | repaired |
| `RaiseHint` | a snapshot stays | correct | older snapshots are hidden from engines | repaired |
| `RemoveDirectory` | it contains only leftovers | an empty branch remains | deleted | with its references |
| `CommitSnapshot` | the newest is as planned | unreferenced files | committed, known by its user | never: roll back |
| `SwapMetadata` | each part is as planned | unreferenced files | done: the log shows it | by another swap |
| `Wait` | references are deleted | surplus files | surplus files | references come back |
| `DeleteUnreferencedFiles` | see below | surplus files | surplus files, none missing | never: resume |

`Require`, `RequireNewest`, `VerifyFiles` and `CheckTable` change nothing. A file is deleted only if no reference, read
after the last reference was deleted and after the wait, holds it, and only if everything that stays can be read in
full.

A first run stops (`Conflict`) where a condition does not hold. A resumed run skips what another writer has since
changed, and stops where a remaining effect depends on it, or ends there if it can no longer be undone. When a `Require`
or commit fails, the effects before it are undone, by a first run only those that it carried out itself: someone else
may have made the same change.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from core.messages import Message, counted, message
from core.units import size


@dataclass(frozen=True, slots=True)
class Require:
    """Require that a reference has exactly these bytes; checked before and after creating a reference from it."""

    path: str
    content: bytes


@dataclass(frozen=True, slots=True)
class PutIfAbsent:
    """Create a reference file if none exists at the path.

    `is_alone`: no other reference depends on this one, so an undo does nothing if another writer's file is there.
    `instead_of`: the reference being deleted whose files this one takes over. It is not created if that one stays, and
    may already exist with the same bytes.
    """

    path: str
    content: bytes
    is_alone: bool = False
    instead_of: str | None = None


@dataclass(frozen=True, slots=True)
class ReplaceIfEqual:
    """Overwrite a reference file if unchanged.

    `is_alone`: a resumed run continues if another writer has replaced it.
    """

    path: str
    before: bytes
    after: bytes
    is_alone: bool = False


@dataclass(frozen=True, slots=True)
class DeleteIfEqual:
    """Delete a reference file if unchanged.

    `while_planned`: on resume, delete it only if planning the same action again still deletes it. `followed_by`: the
    next reference, without which this one is not restored. `is_alone`: as in `PutIfAbsent`.
    """

    path: str
    content: bytes
    is_alone: bool = False
    while_planned: bool = False
    followed_by: str | None = None


@dataclass(frozen=True, slots=True)
class SetHint:
    """Write a hint file whatever it contained before; None deletes it.

    A resumed run writes what the table has by then.
    """

    path: str
    content: bytes | None


@dataclass(frozen=True, slots=True)
class RepairHint:
    """Correct a hint file to match the table, if anything was created or deleted."""

    path: str


@dataclass(frozen=True, slots=True)
class RaiseHint:
    """Write to a hint which snapshot will be the oldest, before any older one is deleted.

    Engines read from there on, so the references deleted next may go in any order. `first`: the oldest that stays, or
    with a whole branch the one that is deleted last, with its bytes. Raises `Conflict` if none would stay.
    """

    path: str
    first: str
    content: bytes


@dataclass(frozen=True, slots=True)
class RequireNewest:
    """Require that nobody has committed on top of a snapshot being deleted: later ids follow `path` without a gap."""

    path: str


@dataclass(frozen=True, slots=True)
class RemoveDirectory:
    """Delete a directory and what engines keep beside references in it; `Conflict` for anything else."""

    path: str


@dataclass(frozen=True, slots=True)
class VerifyFiles:
    """Check that every file needed to read a version exists.

    `tag`: the reference to delete again if one is missing. `when_resumed`: check only on resume, because the tag's
    source may have been deleted in the meantime.
    """

    point: str
    tag: str | None = None
    when_resumed: bool = False


@dataclass(frozen=True, slots=True)
class CommitSnapshot:
    """Commit a new snapshot, put if absent, directly on top of this one; if others commit first, plan again.

    `user` commits only once, so its commit can be recognized. The commit ends `files`, or has the content of
    `restores`.
    """

    branch: str
    newest: str
    newest_content: bytes
    user: str
    files: tuple[str, ...] = ()
    restores: str | None = None
    restored_content: bytes | None = None


@dataclass(frozen=True, slots=True)
class SwapMetadata:
    """Delete and set references that are parts of one document, by the next metadata file or through the catalog.

    `removes`: by path, the references to delete with the bytes they must have. `sets`: those to write with their new
    bytes; a path in both is replaced. `beside`: other parts that change in the same commit, with their old bytes.
    """

    removes: tuple[tuple[str, bytes], ...] = ()
    sets: tuple[tuple[str, bytes], ...] = ()
    beside: tuple[tuple[str, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class Wait:
    """Give writers time to publish a reference they were about to write."""


@dataclass(frozen=True, slots=True)
class DeleteUnreferencedFiles:
    """Delete those of the planned files that no reference holds at that moment."""

    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class CheckTable:
    """Read again everything that stays."""


OfReference = PutIfAbsent | ReplaceIfEqual | DeleteIfEqual
Effect = (
    Require | OfReference | SetHint | RepairHint | RaiseHint | RequireNewest | RemoveDirectory | VerifyFiles
    | CommitSnapshot | SwapMetadata | Wait | DeleteUnreferencedFiles | CheckTable
)  # fmt: skip
_OF_PATHS = (Require, PutIfAbsent, ReplaceIfEqual, DeleteIfEqual, SetHint, RepairHint, RaiseHint, RemoveDirectory)
_END = (Wait, DeleteUnreferencedFiles, CheckTable)


def ended(changes: Sequence[Effect], files: int, size_bytes: int, *, waits: bool) -> tuple[Effect, ...]:
    """Append to reference changes the steps needed where they may leave files or versions unreferenced."""
    deletes = [DeleteUnreferencedFiles(files, size_bytes)] if files else []
    return (*changes, *([Wait()] if waits else []), *deletes, CheckTable())


def changes(effects: Sequence[Effect]) -> tuple[Effect, ...]:
    """The effects that come before waiting and deleting files."""
    return tuple(each for each in effects if not isinstance(each, _END))


def is_shared(effects: Sequence[Effect]) -> bool:
    """Whether others may change the table during the run; true only where each reference has its own condition."""
    return not any(isinstance(each, CheckTable | CommitSnapshot | SwapMetadata) for each in effects)


def before(effect: OfReference) -> bytes | None:
    """The bytes of its reference before the effect; None if there is none."""
    match effect:
        case PutIfAbsent():
            return None
        case ReplaceIfEqual():
            return effect.before
        case DeleteIfEqual():
            return effect.content


def after(effect: OfReference) -> bytes | None:
    """The bytes of its reference after the effect; None if there is none."""
    match effect:
        case PutIfAbsent():
            return effect.content
        case ReplaceIfEqual():
            return effect.after
        case DeleteIfEqual():
            return None


def stands_alone(effect: OfReference) -> bool:
    """Whether the effect is judged alone: changes by others elsewhere are no reason to skip it."""
    return effect.is_alone or (isinstance(effect, DeleteIfEqual) and effect.while_planned)


@dataclass(frozen=True, slots=True)
class Step:
    """Neighbouring effects of one kind as shown on pages, on the command line, in reports and in the journal."""

    kind: str
    count: int
    words: Message


def steps(effects: Sequence[Effect]) -> tuple[Step, ...]:
    """Describe the effects in order; empty if nothing changes."""
    if all(isinstance(each, CheckTable) for each in effects):
        return ()
    found: list[Step] = []
    for kind, same in itertools.groupby(effects, key=type):
        neighbours = list(same)
        paths = [each.path for each in neighbours if isinstance(each, _OF_PATHS)]
        if len(paths) > 1:
            found.append(Step(kind.__name__, len(paths), _of_many(kind, paths)))
        else:
            found += [Step(kind.__name__, 1, _of_one(each)) for each in neighbours]
    return tuple(found)


def _of_many(kind: type, paths: list[str]) -> Message:
    these = message("{first} … {last}", first=paths[0], last=paths[-1])
    many = {"count": f"{len(paths):,}", "these": these}
    if kind is Require:
        return message("Require that {count} references are unchanged: {these}", **many)
    if kind is PutIfAbsent:
        return message("Create {count} references, each if nothing is there: {these}", **many)
    if kind is ReplaceIfEqual:
        return message("Replace {count} references, each if unchanged: {these}", **many)
    if kind is DeleteIfEqual:
        return message("Delete {count} references, each if unchanged: {these}", **many)
    if kind is RemoveDirectory:
        return message("Remove {count} directories, each if nothing else is in it: {these}", **many)
    return message("Update {count} hints: {these}", **many)


def _of_one(effect: Effect) -> Message:
    match effect:
        case Require():
            return message("Require that {path} is unchanged", path=effect.path)
        case PutIfAbsent():
            return message("Create {path}, if nothing is there", path=effect.path)
        case ReplaceIfEqual():
            return message("Replace {path}, if unchanged", path=effect.path)
        case DeleteIfEqual():
            return message("Delete {path}, if unchanged", path=effect.path)
        case SetHint() | RepairHint():
            return message("Update hint {path}", path=effect.path)
        case RaiseHint():
            return message("Update hint {path}, so that engines stop reading what is deleted next", path=effect.path)
        case RequireNewest():
            return message("Require that no one has committed after {path}", path=effect.path)
        case RemoveDirectory():
            return message("Remove directory {path}, if nothing else is in it", path=effect.path)
        case VerifyFiles() if effect.when_resumed:
            return message("If interrupted before: check that every file of {point} is there", point=effect.point)
        case VerifyFiles():
            return message("Check that every file of {point} is there", point=effect.point)
        case CommitSnapshot():
            return message("Commit a snapshot on top of {path}, if that is still the newest", path=effect.newest)
        case SwapMetadata():
            return _of_swap(effect)
        case Wait():
            return message("Wait for running writers to finish")
        case DeleteUnreferencedFiles():
            files = counted(effect.files, "{count} file", "{count} files")
            return message(
                "Read all references again; of {files} ({size}), delete those that no reference holds",
                files=files,
                size=size(effect.bytes),
            )
        case CheckTable():
            return message("Check that everything that is kept can be read")


def _of_swap(effect: SwapMetadata) -> Message:
    written = dict(effect.sets)
    removed = [path for path, _ in effect.removes if path not in written]
    return message(
        "Commit new table metadata: {gone}, {made}, if these are unchanged",
        gone=counted(len(removed), "{count} reference removed", "{count} references removed"),
        made=counted(len(written), "{count} set", "{count} set"),
    )
