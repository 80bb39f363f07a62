"""Run the effects of a plan, resume them from the journal, and undo them in reverse order.

Invariant: the journal records a run before its first effect, the end of its reference changes before the wait, and each
batch of deleted files. In between, the table itself shows which effects have happened: see `core.model.effects`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from core.errors import Conflict, Corrupt, Invalid, NotFound, SnapscopeError
from core.execution import (
    delete_files,
    deleted_branches,
    deleted_tags,
    expired_references,
    grace_period,
    metadata_swap,
    replanned,
    taken_over,
)
from core.execution import journal as journals
from core.execution.delete_files import Receipt, Work
from core.execution.journal import Journal
from core.execution.journal_watch import how_to_end
from core.execution.reference_effects import Lost, References
from core.execution.snapshot_commit import Commit
from core.execution.stable_read import read_stable_references
from core.formats.table_format import Unknown
from core.messages import Reason, both, counted, message
from core.model import codes
from core.model.actions import Change, CleanOrphans
from core.model.effects import (
    CheckTable,
    CommitSnapshot,
    DeleteIfEqual,
    Effect,
    OfReference,
    PutIfAbsent,
    RaiseHint,
    RepairHint,
    ReplaceIfEqual,
    SwapMetadata,
    VerifyFiles,
    Wait,
    before,
    changes,
)
from core.model.references import Heads, ObjectKind
from core.storage import presence
from core.storage.time_limits import Silent
from core.table import Progress, Table

_REFERENCES = {ObjectKind.SNAPSHOT, ObjectKind.TAG, ObjectKind.CHANGELOG_JSON, ObjectKind.METADATA}


@dataclass(frozen=True)
class RunOptions:
    """How to run a plan: see `core.execution.apply.apply`."""

    settle_s: float = 0.0
    progress: Progress | None = None
    waits: Callable[[float], None] | None = None
    cancelled: Callable[[], bool] = lambda: False


@dataclass
class Task:
    """The effects of one run on its table, taken from a plan or from the journal."""

    table: Table
    journal: Journal
    run: str
    change: Change
    fingerprint: str
    now_ms: int
    effects: Sequence[Effect]
    removes: Sequence[tuple[str, bytes]]
    frees: Sequence[tuple[str, str, int]]
    allowed: tuple[str, ...] = ()
    marks: deleted_tags.Marks = field(default_factory=dict)
    of_others: frozenset[str] = frozenset()  # references that other runs have created since
    is_first: bool = True
    on_spark: bool = False  # the run was begun, or is now carried out, with what Spark reads
    was_sent: bool = True  # the commit of a swap may have happened
    has_removed: bool = False  # an earlier attempt has finished all reference changes, and no undo has begun since
    earlier: Sequence[str] = ()  # what earlier attempts have recorded as deleted, and no undo has restored
    is_swept: bool = False
    confirm: Callable[[Heads], None] = lambda _: None  # raises if newly read references forbid the run

    created: list[str] = field(default_factory=list)
    problems: tuple[Reason, ...] = ()  # what this attempt could not do
    keeps_files: bool = False  # it cannot be told which files are needed
    has_begun: bool = False  # this attempt may have changed something

    def carry_out(self, options: RunOptions) -> Receipt:
        """Run everything from the first effect to the receipt."""
        references = self._references()
        try:
            self._refuse_taken_over(message("Nothing more was changed."))
            self.has_begun = True
            self._change(references)
        except BaseException as error:
            has_changed_nothing = self._is_untouched or (self.is_first and self._has_changed_nothing(references, error))
            self._failed(error, has_changed_nothing=has_changed_nothing)
            raise
        deleted = [path for path in references.deleted if path not in self.earlier]
        created = [*references.created, *self.created]
        try:
            if self.keeps_files or not any(isinstance(each, CheckTable) for each in self.effects):
                return self._ended(created, deleted)
            self.journal.add(self.run, journals.REMOVED, {"deleted": deleted, "created": created})
            if any(isinstance(each, Wait) for each in self.effects):
                grace_period.wait(options.settle_s, options.cancelled, options.waits)
            problems = self._all_problems()
            work = Work(self.run, self.fingerprint, self.removes, self.frees, self.is_first, self.allowed, problems,
                        self.is_swept, isinstance(self.change, CleanOrphans))  # fmt: skip
            already_deleted = [*self.earlier, *deleted]
            refuse = functools.partial(self._refuse_taken_over, message("No further file was deleted."))
            return delete_files.sweep(
                self.table, work, self.journal, created, already_deleted, options.progress, options.cancelled, refuse
            )
        except BaseException as error:
            has_changed_nothing = self._is_untouched and isinstance(error, taken_over.TakenOver)
            self._failed(error, has_changed_nothing=has_changed_nothing)
            raise

    def undo(self, on_start: Callable[[Sequence[str]], None]) -> list[str]:
        """Undo all effects, from the last to the first; return the references that changed.

        Once it is known that this is possible, before anything changes, `on_start` is called with the references that
        change; with none for those that change together."""
        if self._swaps() and not self.was_sent:
            return []  # what others have committed since may look the same
        for swap in self._swaps():
            return metadata_swap.take_back(self.table, swap, self._refuse_swept, lambda: on_start(()))
        references = References(self.table, self.run, self.effects, is_first=True)
        remaining = self._to_undo(references)
        self._refuse_taken_over(message("Nothing was undone."))
        on_start([each.path for each, _ in remaining])
        deleted_branches.clear_temporary(references)
        restored = deleted_branches.restore_first(references, remaining)
        restored += expired_references.restore(references, remaining)
        without_snapshots = [each for each in remaining if each[0].path not in restored]
        tags = deleted_tags.restore(references, without_snapshots, self.marks)
        return [*restored, *tags, *references.undo([each for each in without_snapshots if each[0].path not in tags])]

    def has_restored(self, paths: Collection[str] | None) -> bool:
        """Whether any of these references, or of all if None, is as before the run. True if that is unknown."""
        if self._swaps() or not self.table.store.is_local:
            return True  # a request whose answer was lost may still happen
        own = [each for each in self.effects if isinstance(each, OfReference) and (paths is None or each.path in paths)]
        now = self.table.store.read_many([each.path for each in own])
        absent = {path for path, content in now.items() if isinstance(content, NotFound)}
        return any(now[each.path] == before(each) or (before(each) is None and each.path in absent) for each in own)

    def _to_undo(self, references: References) -> list[tuple[OfReference, bytes | None]]:
        """The effects to undo, last one first, with the current bytes. Raises `Conflict` or `Invalid` if that is no
        longer possible."""
        for commit in self._commits():
            commit.refuse_landed()
        undoable = references.to_undo()
        if any(isinstance(each, PutIfAbsent) and each.is_alone and each.path in self.of_others for each, _ in undoable):
            return []
        restored = {each.path: content for each, _ in undoable if (content := before(each)) is not None}
        files = [path for path, kind, _ in self.frees if kind not in _REFERENCES]
        replanned.refuse_lost(self.table, self.run, restored, files)
        return undoable

    def can_undo(self) -> bool:
        """Whether the run can be undone now; True if that is unknown."""
        try:
            for swap in self._swaps() if self.was_sent else ():
                metadata_swap.refuse_taking_back(self.table, swap, self._refuse_swept)
            self._to_undo(References(self.table, self.run, self.effects, is_first=True))
        except (Conflict, Invalid):
            return False
        except SnapscopeError:
            return True
        return True

    def _refuse_swept(self) -> None:
        """Raise `Invalid` if someone else deleted files that an undo would reference again."""
        files = [path for path, kind, _ in self.frees if kind not in _REFERENCES]
        sizes = presence.sizes(self.table.store, files)
        replanned.refuse_without(self.run, [path for path in files if sizes[path] is None])

    # reference changes ----------------------------------------------------------------------------------------------

    def _change(self, references: References) -> None:
        """Everything before the wait."""
        if self.has_removed:
            for hint in (each for each in self.effects if isinstance(each, RepairHint)):
                references.do(hint)
        elif any(commit.landed() is not None for commit in self._commits() if not self.is_first):
            references.created += [each.path for each in self.effects if isinstance(each, PutIfAbsent)]
            self.created = [path for commit in self._commits() for path in commit.created(commit.run())]
        else:
            try:
                is_unordered = functools.partial(deleted_tags.is_unordered, known=self.marks)
                for effect, *others in expired_references.grouped(changes(self.effects), is_unordered):
                    self._do(effect, others, references)
            except Conflict as error:
                if self.is_first or isinstance(error, Unknown | taken_over.TakenOver) or self.can_undo():
                    raise
                self.problems = (codes.REST_LEFT(why=error.message),)
                references.undo(())  # only the hints
        if not self.is_swept:
            for swap in self._swaps():
                self._settle(swap)

    def _settle(self, swap: SwapMetadata) -> None:
        """Check what a commit has replaced. If that is unknown, no file may be deleted, and a run that can no longer be
        undone ends there."""
        try:
            metadata_swap.settle(self.table, swap)
        except Conflict as error:
            if self.is_first or isinstance(error, Unknown | taken_over.TakenOver) or self.can_undo():
                raise
            self.problems, self.keeps_files = (*self.problems, codes.REST_LEFT(why=error.message)), True

    def _do(self, effect: Effect, others: Sequence[Effect], references: References) -> None:
        match effect:
            case RaiseHint() if deleted_branches.is_over(references, effect):
                self._taking_back(references, lambda: deleted_branches.delete_left(references, others))
            case RaiseHint():
                self._taking_back(references, lambda: expired_references.delete(references, effect, others))
            case DeleteIfEqual() if others:
                tags = [each for each in (effect, *others) if isinstance(each, DeleteIfEqual)]
                self._taking_back(references, lambda: deleted_tags.delete(references, tags))
            case VerifyFiles():
                self._verify(effect, references)
            case SwapMetadata() if self.is_first:
                self.created += metadata_swap.make(self.table, effect, self.confirm, self._commits_now)
            case SwapMetadata():
                self.created += metadata_swap.finish(
                    self.table, effect, self._again, self._commits_now, was_sent=self.was_sent
                )
            case CommitSnapshot():
                self._taking_back(references, lambda: self._commit(effect))
            case _:
                self._taking_back(references, lambda: references.do(effect))

    def _taking_back(self, references: References, act: Callable[[], None]) -> None:
        """Run `act`; if its commit is refused or its source is lost, undo the effects before it and raise."""
        try:
            act()
        except Conflict as error:
            is_ours = self.is_first or any(isinstance(each, PutIfAbsent) and each.is_alone for each in self.effects)
            if (isinstance(error, Lost) and is_ours) or (self.is_first and self._is_refused_commit(error)):
                self._take_back(references, error)
            raise

    def _take_back(self, references: References, error: SnapscopeError) -> None:
        """Undo what this attempt has done and, if it resumes a run, what earlier attempts did. The bytes alone do not
        show what a first attempt has done: someone else may have made the same change."""
        own = {*references.created, *references.deleted, *references.replaced}
        try:
            if not self.is_first:
                references.undo(self._to_undo(references))
            elif own:
                references.undo([each for each in references.to_undo() if each[0].path in own])
        except SnapscopeError as failure:
            error.add_note(f"{failure}")

    def _commits_now(self) -> None:
        self.journal.add(self.run, journals.SENT, {})

    def _is_refused_commit(self, error: Conflict) -> bool:
        return any(self._commits()) and not isinstance(error, Unknown)

    def _commit(self, effect: CommitSnapshot) -> None:
        commit = self._commit_of(effect)
        self.created += commit.created(commit.run())

    def _verify(self, effect: VerifyFiles, references: References) -> None:
        """Check that every file of the version exists. If not, delete its tag again and raise.

        A file that is not confirmed to exist is not protected.
        """
        if effect.tag is None or (effect.when_resumed and self.is_first):
            return  # existing versions are checked before anything changes
        try:
            missing = self.table.missing_files(self.table.lasting(read_stable_references(self.table)), effect.point)
            if missing:
                raise Corrupt(
                    counted(
                        len(missing),
                        "{count} data file of this snapshot is missing, so the tag could not protect it and was "
                        "withdrawn.",
                        "{count} data files of this snapshot are missing, so the tag could not protect it and "
                        "was withdrawn.",
                    ),
                    path=missing[0],
                )
        except SnapscopeError as error:
            self._take_back(references, error)
            raise

    def _again(self, heads: Heads) -> replanned.Removes:
        return replanned.removes_now(self.table, self.change, self.now_ms, self.table.summary(heads, self.change))

    def _references(self) -> References:
        references = References(self.table, self.run, self.effects, self.is_first, self.on_spark)
        if not self.is_first and not self.has_removed:
            references.look_again()
            if any(isinstance(each, DeleteIfEqual) and each.while_planned for each in self.effects):
                hint = next((each for each in self.effects if isinstance(each, RaiseHint)), None)
                found = replanned.spared(self.table, self.change, self.now_ms, self.removes, hint, self.marks)
                references.spares, references.deleted = found
        return references

    def _commits(self) -> list[Commit]:
        return [self._commit_of(each) for each in self.effects if isinstance(each, CommitSnapshot)]

    def _commit_of(self, effect: CommitSnapshot) -> Commit:
        is_kept = any(isinstance(each, PutIfAbsent) for each in self.effects)
        return Commit(self.table.store, effect, self.change, is_kept, self._refuse_commit)

    def _swaps(self) -> list[SwapMetadata]:
        return [each for each in self.effects if isinstance(each, SwapMetadata)]

    @property
    def _is_untouched(self) -> bool:
        return self.is_first and not (self.has_begun and changes(self.effects))

    def _refuse_taken_over(self, outcome: str) -> None:
        """Raise if a catalog has taken the table over since it was last asked. `outcome`: if the run stays open."""
        if self._is_untouched:
            taken_over.refuse(self.table, message("Nothing was changed."))
        else:
            taken_over.refuse(self.table, outcome, self.run)

    def _refuse_commit(self) -> None:
        taken_over.refuse(self.table, message("Nothing was committed."), None if self.is_first else self.run)

    # ends -----------------------------------------------------------------------------------------------------------

    def _failed(self, error: BaseException, *, has_changed_nothing: bool) -> None:
        """Record the end of a failed attempt. If the run stays open, the error also says how to end it."""
        self.journal.failed(self.run, journals.UNDONE if has_changed_nothing else journals.FAILED, error)
        if isinstance(error, SnapscopeError) and self.run not in str(error):
            with contextlib.suppress(SnapscopeError):  # the journal is lost, which the error says
                run = self.journal.run(self.run)
                if run.is_open:
                    advice = how_to_end(self.run, on_spark=self.on_spark, can_undo=run.can_undo)
                    error.remedy = both(error.remedy, advice) if error.remedy else advice

    def _ended(self, created: Collection[str], deleted: Collection[str]) -> Receipt:
        """End a run that frees no files, or may free none."""
        kept_files = self.frees if self.keeps_files else ()
        planned = len(kept_files or deleted), sum(size for _, _, size in kept_files)
        receipt = Receipt(self.run, self.table.location, self.fingerprint, "done", tuple(created), tuple(deleted),
                          0, *planned, (), self._all_problems(), "")  # fmt: skip
        head = self.journal.add(self.run, journals.DONE, receipt.written())
        return dataclasses.replace(receipt, journal_head=head)

    def _all_problems(self) -> tuple[Reason, ...]:
        """Return what a resumed run could not do, and which references that it was to write have other contents."""
        contents = dict[str, bytes]()
        for effect in self.effects if not self.is_first else ():
            match effect:
                case SwapMetadata():
                    contents |= dict(effect.sets)
                case PutIfAbsent() if effect.is_alone:
                    contents[effect.path] = effect.content
                case ReplaceIfEqual() if effect.is_alone:
                    contents[effect.path] = effect.after
        references = self.table.heads().references if contents else {}
        differing = [path for path, content in contents.items() if references.get(path) != content]
        return (*self.problems, *(codes.NOT_AS_MADE(path=path) for path in differing))

    def _has_changed_nothing(self, references: References, error: BaseException) -> bool:
        """Whether the table is as it was before the run; False if that is unknown."""
        if isinstance(error, Unknown):
            return False
        try:
            if self._swaps():
                return not self.created and isinstance(error, SnapscopeError)
            if any(commit.landed() is not None for commit in self._commits()):
                return False
            is_sure = isinstance(error, SnapscopeError) and not isinstance(error, Silent)
            if isinstance(error, Conflict) and not (references.created or references.deleted or references.replaced):
                references.undo(())  # only the hints
                return True  # refused before it changed a reference; what is there now is another's
            if any(getattr(each, "is_alone", False) for each in self.effects) or self._commits():
                return references.nothing_is_left()
            is_local = self.table.store.is_local  # elsewhere a request whose answer was lost may still happen
            return is_sure and is_local and references.is_as_before()
        except SnapscopeError:
            return False
