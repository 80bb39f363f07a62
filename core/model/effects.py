"""What a plan does to a table, as values in order: the same list is shown, journaled, run, resumed and undone. Pure.

Law: each effect names the condition under which it may happen, and leaves a table that can be read. It is known from
the table alone whether it has happened; so running the list twice is running it once.

| effect | may happen while | cut off before it | cut off after it | undone |
|---|---|---|---|---|
| `PutIfAbsent` | nothing is there | nothing was made | our bytes are there | deleted while it has our bytes |
| `ReplaceIfEqual` | it has the planned bytes | has those before | has those after | set back while it has ours |
| `DeleteIfEqual` | it has the planned bytes | is there | is gone; the journal has its bytes | put if absent |
| `SetHint`, `RepairHint` | always: a hint is no reference | stale: readers list | true | repaired |
| `RemoveDirectory` | nothing but litter is in it | an empty branch is left | is gone | with its references |
| `CommitSnapshot` | the newest is the planned one | unnamed litter | landed, known by its user | never: roll back |
| `SwapMetadata` | each part of it is as planned | unnamed litter | made: the log says so | by another swap |
| `Wait` | references are gone | files too many | files too many | references come back |
| `DeleteUnreferencedFiles` | see below | files too many | files too many, never too few | never: resume |

`Require`, `RequireNewest`, `VerifyFiles` and `CheckTable` change nothing. Files go while no reference holds them that
is read after the last one went and the wait, and while everything that stays can be read in full.

A first run stops (`Conflict`) where a condition does not hold; a resumed one leaves what is another's by now, and stops
where what it has still to do needs it. A failed `Require` or commit takes back what was done before it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from core.messages import Told, counted, told
from core.units import size


@dataclass(frozen=True, slots=True)
class Require:
    """A reference has exactly these bytes: what a new reference is made of is asked before and after."""

    path: str
    content: bytes


@dataclass(frozen=True, slots=True)
class PutIfAbsent:
    """A reference file is made where none is. `instead_of`: it keeps what a reference that goes held, and is not made
    where that one stays; with the same bytes it may be there already.

    `is_alone`: no other reference depends on it, so where another's stands in its place, nothing is to be taken back.
    """

    path: str
    content: bytes
    is_alone: bool = False
    instead_of: str | None = None


@dataclass(frozen=True, slots=True)
class ReplaceIfEqual:
    """A reference file is written anew. `is_alone`: a resumed run goes on where it is another's by now."""

    path: str
    before: bytes
    after: bytes
    is_alone: bool = False


@dataclass(frozen=True, slots=True)
class DeleteIfEqual:
    """A reference file goes. `while_planned`: when resumed, only if the same change, planned again, still lets it go.
    `followed_by`: the reference after it, without which it is not brought back; `is_alone` as of `PutIfAbsent`."""

    path: str
    content: bytes
    is_alone: bool = False
    while_planned: bool = False
    followed_by: str | None = None


@dataclass(frozen=True, slots=True)
class SetHint:
    """A hint says this, whatever it said before; None: it is not there. A resumed run lets it say what there is."""

    path: str
    content: bytes | None


@dataclass(frozen=True, slots=True)
class RepairHint:
    """A hint says what there is, where anything was made or went."""

    path: str


@dataclass(frozen=True, slots=True)
class RequireNewest:
    """Nobody has committed on top of a snapshot that goes: others' ids lead up from this one without a gap."""

    path: str


@dataclass(frozen=True, slots=True)
class RemoveDirectory:
    """A directory goes with what engines keep beside references in it; `Conflict` for anything more."""

    path: str


@dataclass(frozen=True, slots=True)
class VerifyFiles:
    """Everything that reading a point needs is there. `tag`: the reference that goes again where it is not.
    `when_resumed`: only then, for what the tag was made of may have gone meanwhile."""

    point: str
    tag: str | None = None
    when_resumed: bool = False


@dataclass(frozen=True, slots=True)
class CommitSnapshot:
    """A new snapshot, put if absent, on top of exactly this one; where others come first all is judged again.

    `user` commits once, so that its commit is known again. It ends `files`, or has the content of `restores`.
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
    """References that are parts of one document go and come together: by the next metadata file, or by the catalog.

    By path: those that go with the bytes they must have, and those that are set with the bytes they get; one in both is
    replaced. `beside`: what changes along with them, as it was.
    """

    removes: tuple[tuple[str, bytes], ...] = ()
    sets: tuple[tuple[str, bytes], ...] = ()
    beside: tuple[tuple[str, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class Wait:
    """Writers get time to publish a reference they were about to."""


@dataclass(frozen=True, slots=True)
class DeleteUnreferencedFiles:
    """Of the planned files, those go that no reference holds then."""

    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class CheckTable:
    """Everything that stays is read again."""


OfReference = PutIfAbsent | ReplaceIfEqual | DeleteIfEqual
Effect = (
    Require | OfReference | SetHint | RepairHint | RequireNewest | RemoveDirectory | VerifyFiles
    | CommitSnapshot | SwapMetadata | Wait | DeleteUnreferencedFiles | CheckTable
)  # fmt: skip
_OF_PATHS = (Require, PutIfAbsent, ReplaceIfEqual, DeleteIfEqual, SetHint, RepairHint, RemoveDirectory)
_END = (Wait, DeleteUnreferencedFiles, CheckTable)


def ended(changes: Sequence[Effect], files: int, size_bytes: int, *, waits: bool) -> tuple[Effect, ...]:
    """Changes of references with what follows them where any file or point may go with them."""
    deletes = [DeleteUnreferencedFiles(files, size_bytes)] if files else []
    return (*changes, *([Wait()] if waits else []), *deletes, CheckTable())


def changes(effects: Sequence[Effect]) -> tuple[Effect, ...]:
    """What is done before anybody is waited for."""
    return tuple(each for each in effects if not isinstance(each, _END))


def is_shared(effects: Sequence[Effect]) -> bool:
    """May others change the table meanwhile? Only a reference is made beside others, under its own conditions."""
    return not any(isinstance(each, CheckTable | CommitSnapshot | SwapMetadata) for each in effects)


@dataclass(frozen=True, slots=True)
class Step:
    """Neighbouring effects of one kind, as they are shown: one list for pages, command line, reports and journal."""

    kind: str
    count: int
    words: Told


def steps(effects: Sequence[Effect]) -> tuple[Step, ...]:
    """The effects in words and in order; nothing where nothing is changed."""
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


def _of_many(kind: type, paths: list[str]) -> Told:
    these = told("{first} … {last}", first=paths[0], last=paths[-1])
    many = {"count": f"{len(paths):,}", "these": these}
    if kind is Require:
        return told("Require that {count} references are unchanged: {these}", **many)
    if kind is PutIfAbsent:
        return told("Create {count} references, each if nothing is there: {these}", **many)
    if kind is ReplaceIfEqual:
        return told("Replace {count} references, each if unchanged: {these}", **many)
    if kind is DeleteIfEqual:
        return told("Delete {count} references, each if unchanged: {these}", **many)
    if kind is RemoveDirectory:
        return told("Remove {count} directories, each if nothing else is in it: {these}", **many)
    return told("Update {count} hints: {these}", **many)


def _of_one(effect: Effect) -> Told:
    match effect:
        case Require():
            return told("Require that {path} is unchanged", path=effect.path)
        case PutIfAbsent():
            return told("Create {path}, if nothing is there", path=effect.path)
        case ReplaceIfEqual():
            return told("Replace {path}, if unchanged", path=effect.path)
        case DeleteIfEqual():
            return told("Delete {path}, if unchanged", path=effect.path)
        case SetHint() | RepairHint():
            return told("Update hint {path}", path=effect.path)
        case RequireNewest():
            return told("Require that nobody has committed after {path}", path=effect.path)
        case RemoveDirectory():
            return told("Remove directory {path}, if nothing else is in it", path=effect.path)
        case VerifyFiles() if effect.when_resumed:
            return told("If interrupted before: check that every file of {point} is there", point=effect.point)
        case VerifyFiles():
            return told("Check that every file of {point} is there", point=effect.point)
        case CommitSnapshot():
            return told("Commit a snapshot on top of {path}, if that is still the newest", path=effect.newest)
        case SwapMetadata():
            return _of_swap(effect)
        case Wait():
            return told("Wait for running writers to finish")
        case DeleteUnreferencedFiles():
            files = counted(effect.files, "{count} file", "{count} files")
            return told(
                "Read all references again; delete of {files} ({size}) those that none of them holds",
                files=files,
                size=size(effect.bytes),
            )
        case CheckTable():
            return told("Check that everything that stays can be read")


def _of_swap(effect: SwapMetadata) -> Told:
    set_ = dict(effect.sets)
    gone = [path for path, _ in effect.removes if path not in set_]
    return told(
        "Commit new table metadata: {gone}, {made}, if these are unchanged",
        gone=counted(len(gone), "{count} reference removed", "{count} references removed"),
        made=counted(len(set_), "{count} set", "{count} set"),
    )
