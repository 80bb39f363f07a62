"""Run, resume and undo the effects on single reference files (Paimon).

`core.model.effects` describes what each effect may do and what a crash leaves.

Invariant: a file is changed only while it has the bytes it was planned with. A file that exists again after it was
deleted belongs to another writer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.errors import Conflict, Corrupt, NotFound, SnapscopeError
from core.execution.journal_watch import resuming, undoing
from core.execution.stable_read import read_if_there, read_or_none
from core.formats.paimon import layout
from core.formats.paimon.write import publish
from core.messages import counted, message
from core.model.effects import (
    DeleteIfEqual,
    Effect,
    OfReference,
    PutIfAbsent,
    RaiseHint,
    RemoveDirectory,
    RepairHint,
    ReplaceIfEqual,
    Require,
    RequireNewest,
    SetHint,
    after,
    before,
    stands_alone,
)
from core.storage import presence
from core.storage.store import Store
from core.table import Table

Found = tuple[OfReference, bytes | None]  # an effect with the current bytes of its reference


@dataclass
class References:
    """The reference effects of one run. `spares`: what was to be deleted and no longer may be."""

    table: Table
    run: str
    effects: Sequence[Effect]
    is_first: bool
    on_spark: bool = False  # whoever ends the run may need Spark
    spares: frozenset[str] = frozenset()
    created: list[str] = field(default_factory=list)  # by this attempt itself, as the two below
    deleted: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    is_built_on: bool = False
    is_idle: bool = False  # an independent reference already exists, so its source is not checked

    def look_again(self) -> None:
        """Read what a resumed run must know before it continues."""
        self.is_built_on = self._is_built_on()
        self.is_idle = self._is_idle()

    @property
    def store(self) -> Store:
        return self.table.store

    @property
    def of_references(self) -> list[OfReference]:
        return [each for each in self.effects if isinstance(each, OfReference)]

    # run ------------------------------------------------------------------------------------------------------------

    def do(self, effect: Effect) -> None:
        """Run one effect, unless it has already happened."""
        match effect:
            case Require():
                self._require(effect)
            case PutIfAbsent():
                self._put(effect)
            case ReplaceIfEqual():
                self._replace(effect)
            case DeleteIfEqual():
                self.delete(effect)
            case SetHint():
                if self.is_built_on:
                    publish.repair_hint(self.store, effect.path)
                else:
                    _set(self.store, effect.path, effect.content)
            case RepairHint():
                if self.created or self.deleted or not self.is_first:  # an interrupted attempt may have deleted all
                    publish.repair_hint(self.store, effect.path, self.created, self.deleted)
            case RequireNewest():
                self._refuse_late(effect)
            case RemoveDirectory():
                schemas = (entry.name for entry in self.store.ls_if_there(f"{effect.path}/{layout.SCHEMA}"))
                if not any(name.startswith(f"{layout.SCHEMA}-") for name in schemas):  # else it was created again
                    _clear(self.store, effect.path)
            case _:
                raise AssertionError(f"{type(effect).__name__} is no effect on a reference")

    def _require(self, effect: Require) -> None:
        if self.is_built_on or self.is_idle:
            return
        if read_or_none(self.table, effect.path) != effect.content:
            raise _anothers(effect.path, "Make a new plan.", Lost)

    def _put(self, effect: PutIfAbsent) -> None:
        if effect.instead_of is not None:
            if effect.instead_of in self.spares:
                return
            if publish.publish(self.store, effect.path, effect.content):
                self.created.append(effect.path)
            elif read_if_there(self.table, effect.path) != effect.content:
                problem = message("{path} already exists with other content; nothing was deleted.", path=effect.path)
                raise Conflict(problem, path=effect.path)
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
            if (last := RequireNewest(effect.path)) in self.effects:
                self._refuse_late(last)
            try:
                self.store.put(effect.path, effect.after, now)
                (self.created if effect.is_alone else self.replaced).append(effect.path)
                return
            except Conflict:
                now = read_or_none(self.table, effect.path)
        if now != effect.after and (now == effect.before or self.is_first or not effect.is_alone):
            raise _anothers(effect.path, "Plan again." if self.is_first and effect.is_alone else "Undo this run.")

    def delete(self, effect: DeleteIfEqual) -> None:
        if effect.path in self.spares:
            return
        read = read_or_none if effect.while_planned else read_if_there  # a missed one is planned again later
        if not self.may_delete(effect, now := read(self.table, effect.path)):
            return
        try:
            is_deleted = self.store.delete(effect.path, now)
        except Conflict:
            if self.may_delete(effect, read(self.table, effect.path)):
                raise  # another writer has written the same bytes again
            return
        if is_deleted:
            self.deleted.append(effect.path)
        elif presence.is_still_there(self.store, effect.path, effect.content):
            raise Corrupt(
                ("The store reports that this reference does not exist, but still returns it; no file was deleted."),
                path=effect.path,
                remedy=message(
                    "Check the store, then resume with `{resume}`.", resume=resuming(self.run, on_spark=self.on_spark)
                ),
            )
        elif not self.store.is_local:  # it was there just now: the client has repeated a request whose answer was lost
            self.deleted.append(effect.path)

    def may_delete(self, effect: DeleteIfEqual, found: bytes | None) -> bool:
        """Whether a reference with these bytes is the one to delete. Raises `Conflict` if a first run finds another."""
        if found is None:
            if not self.is_first and not effect.while_planned:
                self.deleted.append(effect.path)
            return False
        if found != effect.content:
            if not self.is_first:
                return False  # another writer has reused the name
            raise Conflict(
                message(
                    ("{path} was rewritten while the plan was running; {deleted} had been deleted, no file was."),
                    path=effect.path,
                    deleted=counted(len(self.deleted), "{count} reference", "{count} references"),
                ),
                path=effect.path,
                remedy=message(
                    "Undo it with `{undo}`, or resume it with `{resume}`.",
                    undo=undoing(self.run, on_spark=self.on_spark),
                    resume=resuming(self.run, on_spark=self.on_spark),
                ),
            )
        return True

    def _is_built_on(self) -> bool:
        """Whether all effects happened and others have committed since, so that their source may be gone."""
        own = self.of_references
        if not own or any(stands_alone(each) for each in own):
            return False
        found = [(each, read_or_none(self.table, each.path)) for each in own]
        is_done = all(now != before(each) for each, now in found)
        return is_done and any(now != after(each) for each, now in found)

    def _is_idle(self) -> bool:
        written = [
            each for each in self.of_references if isinstance(each, PutIfAbsent | ReplaceIfEqual) and each.is_alone
        ]
        return any(read_if_there(self.table, each.path) != before(each) for each in written)

    # undo -----------------------------------------------------------------------------------------------------------

    def to_undo(self) -> list[Found]:
        """The effects to undo, last one first, with the current bytes. Raises `Conflict` if others have changed any."""
        newest = [each for each in self.effects if isinstance(each, RequireNewest)]
        late = next((path for each in newest if (path := self._late(each))), None)
        own = self.of_references
        if late is not None and late in {each.path for each in own}:
            own = [each for each in own if not _is_beyond(each.path, late)]
        found = self._found(own)
        left = [(each, now) for each, now in self._without_expired(found) if now != before(each)]
        for each, now in [(each, now) for each, now in left if now != after(each)]:  # changed by others since
            match each:
                case PutIfAbsent() | DeleteIfEqual() if each.is_alone:
                    return []  # our reference is gone, or is the only one that keeps its files
                case PutIfAbsent() if each.instead_of is not None:
                    left.remove((each, now))
                case ReplaceIfEqual() if each.is_alone and now is None:
                    pass
                case DeleteIfEqual() if each.while_planned:
                    raise _moved_on(each.path, message("has since been created by another writer"))
                case ReplaceIfEqual() if not each.is_alone and len(left) == 1:
                    return []  # none of our references exists
                case _:
                    raise _anothers(each.path, "Resume the run instead.")
        for last in newest if late is None else ():
            self._refuse_moved(last, found, left)
        follows = {each.followed_by for each in own if isinstance(each, DeleteIfEqual) and each.followed_by}
        for path in sorted(follows):
            if read_or_none(self.table, path) is None:
                raise _moved_on(path, message("no longer exists either"))
        return list(reversed(left))

    def _without_expired(self, found: Sequence[Found]) -> list[Found]:
        """Drop the snapshots that a rollback was to delete and has not: it deletes the newest first."""
        directories = {each.path.rpartition("/")[0] for each in self.effects if isinstance(each, RequireNewest)}
        remaining, existing = list[Found](), set[str]()
        for each, now in found:
            directory = each.path.rpartition("/")[0]
            if directory in directories and isinstance(each, DeleteIfEqual):
                if now is None and directory in existing:
                    continue
                existing.update([] if now is None else [directory])
            remaining.append((each, now))
        return remaining

    def _refuse_moved(self, effect: RequireNewest, found: Sequence[Found], left: Sequence[Found]) -> None:
        """Raise `Conflict` if deleted snapshots would come after another one than before: someone has rolled back."""
        directory = effect.path.rpartition("/")[0]
        own = [each for each in found if each[0].path.startswith(f"{directory}/") and after(each[0]) is None]
        if any(now is not None for _, now in own) or not any(each in left for each in own) or not self._ids(directory):
            return
        at = [each for each, _ in found if each.path == effect.path]
        known = {each.content for each in self.effects if isinstance(each, Require) and each.path == effect.path}
        known.update(text for each in at for text in (before(each), after(each)) if text)
        now = read_if_there(self.table, effect.path)
        if now not in known:
            why = message("no longer exists either" if now is None else "has since been created by another writer")
            raise _moved_on(effect.path, why)

    def _found(self, own: Sequence[OfReference]) -> list[Found]:
        """The effects with the current bytes of their references."""
        known = self.store.read_many([each.path for each in own if not each.is_alone and before(each) is not None])
        found: list[Found] = []
        for each in own:
            content = known.get(each.path)
            if content is None:
                found.append((each, read_if_there(self.table, each.path)))
            elif isinstance(content, NotFound):
                found.append((each, None))
            elif isinstance(content, SnapscopeError):
                raise content
            else:
                found.append((each, content))
        return found

    def undo(self, left: Sequence[Found]) -> list[str]:
        """Undo these effects; return the paths that changed."""
        for each, now in left:
            was = before(each)
            if was is not None and now is None:
                self.store.create(each.path, was)  # Conflict if the name was taken: nothing is overwritten
            else:
                _set(self.store, each.path, was, now)
        hints = [each.path for each in self.effects if isinstance(each, SetHint | RepairHint | RaiseHint)]
        for path in dict.fromkeys(hints):
            publish.repair_hint(self.store, path)
        made = {each.path.rpartition("/")[0] for each in self.of_references if before(each) is None}
        for directory in sorted(each for each in made if each.startswith(f"{layout.BRANCH}/")):
            self.store.remove_empty_dir(directory)  # an empty one is a branch; an interrupted undo may have left it
            self.store.remove_empty_dir(directory.rpartition("/")[0])
        if made:
            self.store.remove_empty_dir(layout.BRANCH)
        return [each.path for each, _ in left if not (isinstance(each, PutIfAbsent) and each.instead_of)]

    def nothing_is_left(self) -> bool:
        """Whether nothing exists that these effects would have created."""
        written = [each for each in self.of_references if not isinstance(each, DeleteIfEqual)]
        return all(read_if_there(self.table, each.path) != after(each) for each in written)

    def is_as_before(self) -> bool:
        """Whether every reference is as before the run; if so, also repair the hints."""
        if self.created or self.deleted or any(now != before(each) for each, now in self._found(self.of_references)):
            return False
        self.undo(())
        return True

    def _refuse_late(self, effect: RequireNewest) -> None:
        if late := self._late(effect):
            raise Conflict(
                "{late} was committed in the meantime, on top of what was removed.",
                late=late,
                path=late,
                remedy="Undo this run: it restores the snapshots that commit builds on.",
            )

    def _late(self, effect: RequireNewest) -> str | None:
        """A snapshot by others on top of one that is or was to be deleted, or None.

        Such a snapshot shows as a gap in the ids from the newest snapshot that stays, or before that is replaced. If it
        is gone too, it has expired since, and the answer is unknown: None.
        """
        own = {each.path: (before(each), after(each)) for each in self.of_references}
        directory, _, name = effect.path.rpartition("/")
        there, newest = self._ids(directory), int(name.rpartition("-")[2])
        old, _ = own.get(effect.path, (None, None))
        is_old = old is not None and read_or_none(self.table, effect.path) == old
        expected = 0 if is_old else newest + 1
        for number in (each for each in there if each > newest and newest in there):
            path = f"{directory}/{layout.SNAPSHOT}-{number}"
            if path in own and read_or_none(self.table, path) in own[path]:
                continue
            if number != expected:
                return path
            expected += 1
        return None

    def _ids(self, directory: str) -> list[int]:
        names = (entry.name.removeprefix(f"{layout.SNAPSHOT}-") for entry in self.store.ls_if_there(directory))
        return sorted(int(each) for each in names if each.isdecimal())


class Lost(Conflict):
    """The source of something created has changed: what was created is undone."""

    kind = Conflict.__name__


def _is_beyond(path: str, late: str) -> bool:
    """Whether a path is the reference of this snapshot or of a later one of its branch."""
    (directory, _, number), (late_directory, _, late_number) = path.rpartition("-"), late.rpartition("-")
    return directory == late_directory and int(number) >= int(late_number)


def _anothers(path: str, remedy: str, kind: type[Conflict] = Conflict) -> Conflict:
    return kind(message("Another writer changed {path} after it was read.", path=path), path=path, remedy=remedy)


def _moved_on(path: str, what_happened: str) -> Conflict:
    """The error for a reference that others have moved past.

    Restored after a rollback, old snapshots would become the newest; after another's expiry, they would leave a gap.
    """
    why = "{path} {said}: someone has rolled back or expired since, so nothing was restored."
    return Conflict(message(why, path=path, said=what_happened), path=path, remedy="Resume the run instead.")


def _set(store: Store, path: str, content: bytes | None, now: bytes | None = None) -> None:
    """Write a file, None: delete it. Raises `Conflict` if another writer changed it after `now` was read."""
    try:
        if content is None:
            store.delete(path, now)
        else:
            store.put(path, content, now)
    except Conflict as error:
        raise _anothers(path, "Resume the run instead.") from error


def _clear(store: Store, directory: str) -> None:
    """Delete what engines keep beside references (hints, success files, temporary files), and the directories.

    Raises `Conflict` for anything else.
    """
    for entry in store.ls_if_there(directory):
        path = f"{directory}/{entry.name}"
        is_beside = entry.name in (layout.EARLIEST, layout.LATEST) or directory.endswith(layout.SUCCESS_FILES)
        if entry.is_dir:
            _clear(store, path)
        elif is_beside or (entry.name.startswith(".") and entry.name.endswith(".tmp")):
            store.delete(path)
        else:
            raise Conflict(
                message("{path} was created while its branch was being deleted; it was left in place.", path=path),
                path=path,
                remedy="Undo this run, or remove the remaining references with the table's own engine and resume it.",
            )
    store.remove_empty_dir(directory)
