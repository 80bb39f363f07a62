"""Effects on reference files, one by one (Paimon): done, resumed, and undone. What each may do and what a crash leaves
stands in `core.model.effects`.

Law: a file is changed only while it has the bytes it was planned with. What is there again after it went is somebody's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.errors import Conflict, Corrupt
from core.execution.stable_read import read_if_there, read_or_none
from core.formats.paimon import layout
from core.formats.paimon.write import publish
from core.messages import counted, told
from core.model.effects import (
    DeleteIfEqual,
    Effect,
    OfReference,
    PutIfAbsent,
    RemoveDirectory,
    RepairHint,
    ReplaceIfEqual,
    Require,
    RequireNewest,
    SetHint,
)
from core.storage import presence
from core.storage.store import Store
from core.table import Table


@dataclass
class References:
    """The reference effects of one run. `spares`: references that were to go and may no longer."""

    table: Table
    run: str
    effects: Sequence[Effect]
    is_first: bool
    spares: frozenset[str] = frozenset()
    created: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    is_built_on: bool = False
    is_idle: bool = False  # a reference that stands alone is there already, so nobody asks what it was made of

    def look_again(self) -> None:
        """What a resumed run must know before it goes on."""
        self.is_built_on = self._is_built_on()
        self.is_idle = self._is_idle()

    @property
    def store(self) -> Store:
        return self.table.store

    @property
    def of_references(self) -> list[OfReference]:
        return [each for each in self.effects if isinstance(each, OfReference)]

    # done -----------------------------------------------------------------------------------------------------------

    def do(self, effect: Effect) -> None:
        """Carry one effect out, unless that was done before."""
        match effect:
            case Require():
                self._require(effect)
            case PutIfAbsent():
                self._put(effect)
            case ReplaceIfEqual():
                self._replace(effect)
            case DeleteIfEqual():
                self._delete(effect)
            case SetHint():
                if self.is_built_on:
                    repair(self.store, effect.path)
                else:
                    _set(self.store, effect.path, effect.content)
            case RepairHint():
                if self.created or self.deleted or not self.is_first:  # whoever was cut off may have removed the last
                    repair(self.store, effect.path, self.created, self.deleted)
            case RequireNewest():
                if late := self._late(effect):
                    raise Conflict(
                        "{late} was committed meanwhile, on top of what was removed.",
                        late=late,
                        path=late,
                        remedy="Undo this run: that brings back what it stands on.",
                    )
            case RemoveDirectory():
                schemas = (entry.name for entry in self.store.ls_if_there(f"{effect.path}/{layout.SCHEMA}"))
                if not any(name.startswith(f"{layout.SCHEMA}-") for name in schemas):  # else it was made again
                    _clear(self.store, effect.path)
            case _:
                raise AssertionError(f"{type(effect).__name__} is no effect on a reference")

    def _require(self, effect: Require) -> None:
        if self.is_built_on or self.is_idle:
            return
        if read_or_none(self.table, effect.path) != effect.content:
            raise Lost(
                told("{path} was changed by another hand since it was read.", path=effect.path),
                path=effect.path,
                remedy=told("Plan again."),
            )

    def _put(self, effect: PutIfAbsent) -> None:
        if effect.instead_of is not None:
            if effect.instead_of in self.spares:
                return
            if publish.publish(self.store, effect.path, effect.content):
                self.created.append(effect.path)
            elif read_if_there(self.table, effect.path) != effect.content:
                raise Conflict(
                    told("{path} exists with other content; nothing was deleted.", path=effect.path), path=effect.path
                )
            return
        now = None if self.is_first else read_or_none(self.table, effect.path)
        if now is None:
            self.store.create(effect.path, effect.content)
        elif now != effect.content:
            raise _anothers(effect.path, "Undo this run.")
        self.created.append(effect.path)

    def _replace(self, effect: ReplaceIfEqual) -> None:
        now = read_or_none(self.table, effect.path)
        if now == effect.before:
            self.store.put(effect.path, effect.after)
            if effect.is_alone:
                self.created.append(effect.path)
        elif now != effect.after and not (effect.is_alone and not self.is_first):
            raise _anothers(effect.path, "Plan again." if self.is_first and effect.is_alone else "Undo this run.")

    def _delete(self, effect: DeleteIfEqual) -> None:
        if effect.path in self.spares:
            return
        read = read_or_none if effect.while_planned else read_if_there  # what one read misses is judged again later
        found = read(self.table, effect.path)
        if found is None:
            if not self.is_first and not effect.while_planned:
                self.deleted.append(effect.path)
            return
        if found != effect.content:
            if not self.is_first:
                return  # the name belongs to something new
            raise Conflict(
                told(
                    "{path} was rewritten while the plan was applied; {deleted} had gone, no file was deleted.",
                    path=effect.path,
                    deleted=counted(len(self.deleted), "{count} reference", "{count} references"),
                ),
                path=effect.path,
                remedy=told(
                    "Take it back with `snapscope undo {run}`, or go on with `snapscope resume {run}`.", run=self.run
                ),
            )
        if self.store.delete(effect.path):
            self.deleted.append(effect.path)
        elif presence.stays(self.store, effect.path, effect.content):
            raise Corrupt(
                "The store says that this reference is not there, and still lets it be read; no file was deleted.",
                path=effect.path,
                remedy=told("Check the store, then go on with `snapscope resume {run}`.", run=self.run),
            )

    def _is_built_on(self) -> bool:
        """Is all done, and have others committed since? Then it is theirs, and what it came from may go."""
        own = self.of_references
        if not own or any(_stands_alone(each) for each in own):
            return False
        found = [(each, read_or_none(self.table, each.path)) for each in own]
        is_done = all(now != before(each) for each, now in found)
        return is_done and any(now != after(each) for each, now in found)

    def _is_idle(self) -> bool:
        made = [each for each in self.of_references if isinstance(each, PutIfAbsent | ReplaceIfEqual) and each.is_alone]
        return any(read_if_there(self.table, each.path) != before(each) for each in made)

    # undone ---------------------------------------------------------------------------------------------------------

    def to_undo(self) -> list[tuple[OfReference, bytes | None]]:
        """The effects to take back, last one first, with what is there. `Conflict` where others were there since."""
        late = next(
            (path for each in self.effects if isinstance(each, RequireNewest) if (path := self._late(each))), None
        )
        own = self.of_references
        if late is not None and late in {each.path for each in own}:
            own = [each for each in own if not _is_beyond(each.path, late)]
        found = [(each, self._found(each)) for each in own]
        left = [(each, now) for each, now in found if now != before(each)]
        for each, now in [(each, now) for each, now in left if now != after(each)]:  # others' by now
            match each:
                case PutIfAbsent() | DeleteIfEqual() if each.is_alone:
                    return []  # ours is not there, or all that keeps its files
                case PutIfAbsent() if each.instead_of is not None:
                    left.remove((each, now))
                case ReplaceIfEqual() if each.is_alone and now is None:
                    pass
                case DeleteIfEqual() if each.while_planned:
                    raise _moved_on(each.path, told("is another's by now"))
                case ReplaceIfEqual() if not each.is_alone and len(left) == 1:
                    return []  # nothing of ours is there
                case _:
                    raise _anothers(each.path, "Resume the run instead.")
        follows = {each.followed_by for each in own if isinstance(each, DeleteIfEqual) and each.followed_by}
        for path in sorted(follows):
            if read_or_none(self.table, path) is None:
                raise _moved_on(path, told("is gone, too"))
        return list(reversed(left))

    def _found(self, effect: OfReference) -> bytes | None:
        is_asked_well = effect.is_alone or before(effect) is None
        return (read_if_there if is_asked_well else read_or_none)(self.table, effect.path)

    def undo(self, left: Sequence[tuple[OfReference, bytes | None]]) -> list[str]:
        """Everything as it was; what changed."""
        for each, now in left:
            was = before(each)
            if was is not None and now is None:
                self.store.create(each.path, was)  # Conflict where the name was taken: nothing is overwritten
            else:
                _set(self.store, each.path, was)
        hints = [each.path for each in self.effects if isinstance(each, SetHint | RepairHint)]
        for path in dict.fromkeys(hints):
            repair(self.store, path)
        made = {each.path.rpartition("/")[0] for each, _ in left if before(each) is None}
        for directory in sorted(each for each in made if each.startswith(f"{layout.BRANCH}/")):
            self.store.remove_empty_dir(directory)  # an empty branch directory is a branch
            self.store.remove_empty_dir(directory.rpartition("/")[0])
        if made:
            self.store.remove_empty_dir(layout.BRANCH)
        return [each.path for each, _ in left if not (isinstance(each, PutIfAbsent) and each.instead_of)]

    def nothing_is_left(self) -> bool:
        """Is nothing there that these effects would have made?"""
        made = [each for each in self.of_references if not isinstance(each, DeleteIfEqual)]
        return all(read_if_there(self.table, each.path) != after(each) for each in made)

    def _late(self, effect: RequireNewest) -> str | None:
        """A snapshot of others that stands on one that went, or goes: others' do not lead up to it from the newest that
        stays. Where that one is gone, too, it has expired since, and nobody knows."""
        own = {each.path: (before(each), after(each)) for each in self.of_references}
        directory, _, name = effect.path.rpartition("/")
        names = (entry.name.removeprefix(f"{layout.SNAPSHOT}-") for entry in self.store.ls_if_there(directory))
        there, newest = sorted(int(each) for each in names if each.isdecimal()), int(name.rpartition("-")[2])
        expected = newest + 1
        for number in (each for each in there if each > newest and newest in there):
            path = f"{directory}/{layout.SNAPSHOT}-{number}"
            if path in own and read_or_none(self.table, path) in own[path]:
                continue
            if number != expected:
                return path
            expected += 1
        return None


class Lost(Conflict):
    """What something was to be made of is not as it was: what was made already is taken back."""

    kind = Conflict.__name__


def before(effect: OfReference) -> bytes | None:
    match effect:
        case PutIfAbsent():
            return None
        case ReplaceIfEqual():
            return effect.before
        case DeleteIfEqual():
            return effect.content


def after(effect: OfReference) -> bytes | None:
    match effect:
        case PutIfAbsent():
            return effect.content
        case ReplaceIfEqual():
            return effect.after
        case DeleteIfEqual():
            return None


def _stands_alone(effect: OfReference) -> bool:
    """Others that came since are no reason to leave the rest: each is judged by itself."""
    return effect.is_alone or (isinstance(effect, DeleteIfEqual) and effect.while_planned)


def repair(store: Store, path: str, made: Sequence[str] = (), gone: Sequence[str] = ()) -> None:
    """A hint says what there is, whatever a listing shows that is behind the time; it goes where there is nothing."""
    directory, _, name = path.rpartition("/")
    prefix = f"{directory}/{directory.rpartition('/')[2]}-"
    there = {f"{directory}/{entry.name}" for entry in store.ls_if_there(directory)}.union(made).difference(gone)
    found = [each.removeprefix(prefix) for each in there if each.startswith(prefix)]
    numbers = [int(each) for each in found if each.isdecimal()]
    if numbers:
        store.put(path, str(max(numbers) if name == layout.LATEST else min(numbers)).encode())
    else:
        store.delete(path)


def _is_beyond(path: str, late: str) -> bool:
    """Is it the reference of this snapshot, or of a later one of its branch?"""
    (directory, _, number), (beside, _, least) = path.rpartition("-"), late.rpartition("-")
    return directory == beside and int(number) >= int(least)


def _anothers(path: str, remedy: str) -> Conflict:
    return Conflict(told("{path} was changed by another hand since it was read.", path=path), path=path, remedy=remedy)


def _moved_on(path: str, said: str) -> Conflict:
    """Brought back behind a rollback, old snapshots would be the newest; behind another's expiry, they would leave a
    hole."""
    return Conflict(
        told(
            "{path} {said}: others have rolled back or expired since, so nothing was brought back.",
            path=path,
            said=said,
        ),
        path=path,
        remedy="Resume the run instead.",
    )


def _set(store: Store, path: str, content: bytes | None) -> None:
    if content is None:
        store.delete(path)
    else:
        store.put(path, content)


def _clear(store: Store, directory: str) -> None:
    """What engines keep beside references (hints, success files, litter), and the directories. `Conflict` for more."""
    for entry in store.ls_if_there(directory):
        path = f"{directory}/{entry.name}"
        is_beside = entry.name in (layout.EARLIEST, layout.LATEST) or directory.endswith(layout.SUCCESS_FILES)
        if entry.is_dir:
            _clear(store, path)
        elif is_beside or (entry.name.startswith(".") and entry.name.endswith(".tmp")):
            store.delete(path)
        else:
            raise Conflict(
                told("{path} was made while its branch was being removed, and is left there.", path=path),
                path=path,
                remedy="Undo this run, or remove what is left with the table's own engine and resume it.",
            )
    store.remove_empty_dir(directory)
