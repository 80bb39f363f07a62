"""Delete the files of a run, first or resumed. The only code that deletes table files.

Invariant: at every step, the files deleted are planned − held, where held is read after every reference to be deleted
is gone. Nothing is deleted while a remaining version cannot be read in full.
"""

from __future__ import annotations

import dataclasses
import functools
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from core import urls
from core.errors import Conflict, Corrupt, SnapscopeError
from core.execution import journal as journals
from core.execution.journal import Journal
from core.execution.stable_read import ATTEMPTS, read_stable_references
from core.formats.table_format import Examined
from core.messages import Reason, both, counted, listed, sentences
from core.model import codes
from core.model.codes import Fault
from core.model.history import HistorySummary
from core.model.references import Heads, Problem, point_in_words
from core.planning import outside_roots, unknown_references
from core.table import Progress, Table
from core.units import size

BATCH = 1000  # not more than a store deletes by one request
DELETERS, REMOTE_DELETERS = 8, 64  # single requests at a time


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a run did, in all its attempts together.

    `kept_back`: planned files that were not deleted because they are held again, were already gone, or the store
    refused.
    """

    run: str
    table: str
    plan_fingerprint: str
    outcome: str  # "done", "cancelled" or "incomplete"; the last two can be resumed
    created: tuple[str, ...]
    deleted: tuple[str, ...]
    freed_bytes: int
    planned_files: int
    planned_bytes: int
    kept_back: tuple[tuple[str, Reason], ...]  # (path, why)
    problems: tuple[Reason, ...]
    journal_head: str  # hash of the journal's newest entry; it covers all earlier entries
    keeps_versions: bool = False  # the bucket keeps what was deleted, so that no space is freed yet

    @property
    def notes(self) -> tuple[Reason, ...]:
        """What else a reader of the receipt must know."""
        return (codes.VERSIONS_KEPT(size=size(self.freed_bytes)),) if self.keeps_versions else ()

    @property
    def is_exact(self) -> bool:
        """Whether everything planned was deleted. (Nothing else ever is.)"""
        return self.outcome == "done" and len(self.deleted) == self.planned_files and not self.kept_back

    def written(self) -> dict[str, object]:
        """As stored in the journal: with texts, so that readers need no codes."""
        return {
            **dataclasses.asdict(self),
            "kept_back": _written(self.kept_back),
            "problems": sentences(self.problems),
        }


@dataclass(frozen=True)
class Work:
    """The files that a run still has to delete, from a plan or from the journal."""

    run: str
    fingerprint: str
    removes: Sequence[tuple[str, bytes]]  # deleted references
    frees: Sequence[tuple[str, str, int]]
    is_first: bool
    allowed: tuple[str, ...] = ()  # roots outside the table under which files may be deleted
    problems: tuple[Reason, ...] = ()  # found before
    may_have_deleted: bool = False  # an earlier attempt may have deleted files without having recorded it
    are_orphans: bool = False  # which are told from held files by their names alone, as paths have many spellings


def sweep(
    table: Table,
    work: Work,
    journal: Journal,
    created: list[str],
    deleted: list[str],
    progress: Progress | None,
    cancelled: Callable[[], bool],
    before_first_delete: Callable[[], None],
) -> Receipt:
    """Delete files batch by batch, check what remains, and return the receipt. All references are already deleted.

    `before_first_delete` is called directly before the first file is deleted, and raises if none may be."""
    sizes = {path: size for path, _, size in work.frees}
    removed_references = {path for path, _ in work.removes}
    already_deleted = removed_references.union(deleted)
    waiting = [path for path in sizes if path not in already_deleted]
    read_heads = functools.partial(read_stable_references, table, removed_references.intersection(deleted))
    result = _Deletions(deleted=list(deleted), problems=list(work.problems))
    seen: Heads | None = None
    has_begun = False
    reason_to_keep: Callable[[str], Reason | None] = _not_read_yet
    deleted_by_others: Collection[str] = ()
    for start in range(0, len(waiting), BATCH):
        if start == 0 and cancelled():
            result.is_cancelled = True  # no file is deleted yet, so the run can still be undone
            break
        if start % (table.batches_together * BATCH) == 0:
            heads = read_heads()
            if seen is None or heads.references != seen.references:
                reason_to_keep, deleted_by_others, seen = _current_reasons(
                    table, read_heads, heads, waiting[start:], work
                )
        if start == 0:
            before_first_delete()
            if cancelled():  # since it was asked, too
                result.is_cancelled = True
                break
            has_begun = True
            journal.add(work.run, journals.SWEEPING, {"files": len(waiting)})
        else:
            journal.check(work.run)  # whoever resumes must know what earlier batches deleted
        batch = _Deletions()
        try:
            _delete(
                table,
                waiting[start : start + BATCH],
                reason_to_keep,
                deleted_by_others,
                cancelled,
                batch,
                work.may_have_deleted,
            )
        finally:
            journal.add(work.run, journals.SWEPT, {"deleted": batch.deleted, "kept_back": _written(batch.kept_back)})
        result.add(batch)
        if progress is not None:
            progress(len(sizes) - len(waiting) + min(start + BATCH, len(waiting)), len(sizes))
        if batch.is_cancelled:
            break
    if has_begun or not result.is_cancelled:
        remaining = _history(table, read_heads, read_heads())
        result.problems += [codes.AFTER_SWEEP(problem=each) for each in _broken(table, remaining, sizes)]
        _clean_directories(table, result.deleted, remaining.heads)
    # What the store refuses once it may allow a resumed run. What it refuses again is reported and left to be found as
    # orphans: an open run would block the table for ever.
    outcome = "cancelled" if result.is_cancelled else "incomplete" if result.problems and work.is_first else "done"
    receipt = Receipt(
        run=work.run,
        table=table.location,
        plan_fingerprint=work.fingerprint,
        outcome=outcome,
        created=tuple(created),
        deleted=tuple(result.deleted),
        freed_bytes=sum(sizes.get(path, 0) for path in result.deleted),
        planned_files=len(sizes),
        planned_bytes=sum(sizes.values()),
        kept_back=tuple(result.kept_back),
        problems=tuple(result.problems),
        journal_head="",
        keeps_versions=bool(result.deleted) and table.store.keeps_versions() is True,
    )
    event = {"done": journals.DONE, "cancelled": journals.CANCELLED}.get(outcome, journals.FAILED)
    detail = {
        **receipt.written(),
        "deleted": len(receipt.deleted),
        "problem": next(iter(sentences(result.problems)), None),
    }
    return dataclasses.replace(receipt, journal_head=journal.add(work.run, event, detail))


def _written(kept_back: Iterable[tuple[str, Reason]]) -> list[tuple[str, str]]:
    """The files kept back, as stored in the journal."""
    return [(path, why.text) for path, why in kept_back]


@dataclass
class _Deletions:
    deleted: list[str] = dataclasses.field(default_factory=list)
    kept_back: list[tuple[str, Reason]] = dataclasses.field(default_factory=list)
    problems: list[Reason] = dataclasses.field(default_factory=list)
    is_cancelled: bool = False

    def add(self, other: _Deletions) -> None:
        self.deleted += other.deleted
        self.kept_back += other.kept_back
        self.problems += other.problems
        self.is_cancelled |= other.is_cancelled


def _delete(
    table: Table,
    paths: Sequence[str],
    reason_to_keep: Callable[[str], Reason | None],
    deleted_by_others: Collection[str],
    cancelled: Callable[[], bool],
    result: _Deletions,
    may_have_deleted: bool,
) -> None:
    """Delete one batch: by one request where the store can, and the rest several files in parallel.

    Every path ends up in `result`, whatever interrupts the batch. Some stores say of a file that does not exist that
    they deleted it: those of `deleted_by_others` were not listed before.
    """
    stop, store = threading.Event(), table.store
    reasons = [(path, reason_to_keep(path)) for path in paths]
    result.kept_back += [(path, reason) for path, reason in reasons if reason is not None]
    waiting = [path for path, reason in reasons if reason is None]

    def delete_one(path: str) -> None:
        if stop.is_set() or cancelled():
            result.is_cancelled = True
        else:
            try:
                # A client that repeats a request whose answer was lost hears that there is no such file.
                is_deleted = store.delete(path)
                if not is_deleted and (may_have_deleted or not store.is_local):
                    is_deleted = store.size(path) is None
                    if not is_deleted:
                        raise Corrupt("The store found no such file to delete, but it is there.", remedy="Try again.")
                if is_deleted and path not in deleted_by_others:
                    result.deleted.append(path)
                else:
                    result.kept_back.append((path, codes.GONE_ALREADY()))
            except SnapscopeError as error:
                result.kept_back.append((path, codes.NOT_DELETED(error=str(error))))
                result.problems.append(codes.FILE_NOT_DELETED(path=path, error=str(error)))

    if not cancelled():
        deleted_together = store.delete_together(dict.fromkeys(waiting))
        result.deleted += deleted_together.difference(deleted_by_others)
        result.kept_back += [(path, codes.GONE_ALREADY()) for path in deleted_together.intersection(deleted_by_others)]
        waiting = [path for path in waiting if path not in deleted_together]
    with ThreadPoolExecutor(DELETERS if store.is_local else REMOTE_DELETERS) as pool:
        try:
            for _ in pool.map(delete_one, waiting):
                pass
        except BaseException:
            stop.set()
            raise
    result.deleted.sort()
    result.kept_back.sort(key=lambda each: each[0])
    result.problems.sort(key=lambda each: str(each.values["path"]))
    doubts = dict.fromkeys(why for _, why in result.kept_back if why.code in codes.DOUBTS)
    result.problems += [codes.SOME_KEPT(why=why) for why in doubts]


def _clean_directories(table: Table, deleted: Sequence[str], remaining: Heads) -> None:
    """Remove directories that became empty, where the table's options ask for it."""
    for directory in table.format.may_be_empty(remaining, deleted):
        while directory and table.store.remove_empty_dir(directory):
            directory = directory.rpartition("/")[0]


def _broken(table: Table, history: HistorySummary, planned: Collection[str]) -> list[Reason]:
    """Problems of remaining versions that cannot be read in full or lack a file that was planned for deletion.

    A version created during the deletion may come too late for some files, and looks complete if its metadata was kept.
    """
    unread: dict[Problem, list[str]] = {}
    for position, problems in history.incomplete.items():
        unread.setdefault(problems[0], []).append(history.holders[position].point)
    return [
        *(
            codes.POINTS_UNREAD(points=listed([*map(point_in_words, points[:10])]), problem=each.sentence())
            for each, points in unread.items()
        ),
        *(
            codes.POINT_LACKS(
                point=point_in_words(point),
                files=counted(len(paths), "{count} file", "{count} files"),
                first=paths[0],
            )
            for point, paths in table.lacking(history, planned).items()
        ),
    ]


def _history(table: Table, read_heads: Callable[[], Heads], heads: Heads) -> HistorySummary:
    """The holders by these references, or by newer ones if a reference expired while its files were being read."""
    for _ in range(ATTEMPTS):
        history = table.summary(heads)
        if table.newer(history) is None:
            return history
        heads = read_heads()
    raise Conflict(
        "Other writers kept deleting snapshots while they were being read.",
        remedy="Retry when fewer writers are active.",
    )


def _not_read_yet(path: str) -> Reason | None:
    raise AssertionError(f"{path} was not judged")


def _current_reasons(
    table: Table, read_heads: Callable[[], Heads], heads: Heads, waiting: Sequence[str], work: Work
) -> tuple[Callable[[str], Reason | None], frozenset[str], Heads]:
    """As `_reasons_to_keep`, and the references by which it is so. While a large history is read, others may create a
    reference to what it let go: then it is read again."""
    for _ in range(ATTEMPTS):
        reason_to_keep, deleted_by_others = _reasons_to_keep(table, read_heads, heads, waiting, work)
        now = read_heads()
        if not table.format.adds_holders(heads, now):
            return reason_to_keep, deleted_by_others, heads
        heads = now
    raise Conflict(
        "Others kept creating references to older snapshots while the table was read.",
        remedy="Retry when fewer writers are active.",
    )


def _reasons_to_keep(
    table: Table, read_heads: Callable[[], Heads], heads: Heads, waiting: Sequence[str], work: Work
) -> tuple[Callable[[str], Reason | None], frozenset[str]]:
    """A function that returns, per path, why a file is kept after all; and the files that others have deleted.

    A resumed run may have deleted them itself, without having recorded it, so it takes none for deleted by others.

    Raises `Corrupt` unless every remaining version was read in full and its metadata is consistent.
    """
    history = _history(table, read_heads, heads)
    unknown_references.refuse_unknown_schema(history)
    if history.incomplete:
        raise Corrupt(
            "No further file was deleted. {broken}",
            broken=functools.reduce(both, sentences(_broken(table, history, {path for path, _, _ in work.frees})[:10])),
            path=history.problems[0].path,
            remedy=("Restore it, or use the table's own engine to remove what refers to it; then resume this run."),
        )
    paths = frozenset(waiting)
    examined = table.examine(history, {path: kind for path, kind, _ in work.frees if path in paths})
    refuse_contradictions(history, examined, {holder.point for holder in history.holders if holder.exists})
    held_paths = history.named_like_held(paths) if work.are_orphans else history.held_among(paths).keys()
    reason_outside = outside_roots.fence(work.allowed)

    def reason_to_keep(path: str) -> Reason | None:
        if path in held_paths:
            return codes.HELD_SINCE()
        return examined.doubt(path) or (reason_outside(path) if urls.is_url(path) else None)

    return reason_to_keep, examined.gone if work.is_first else frozenset()


def refuse_contradictions(history: HistorySummary, examined: Examined, kept: Collection[str]) -> None:
    """Raise `Corrupt` if the metadata of a version that is kept contradicts itself, or is of a newer engine."""
    for position, problem in examined.problems.items():
        point = history.holders[position].point
        if point in kept and problem.code == Fault.UNSUPPORTED:
            raise Corrupt(
                "{point} is kept, but it cannot be read in full, so the files it still needs cannot be determined: "
                "{problem}",
                point=point_in_words(point),
                problem=problem.sentence(),
                path=problem.path,
            )
        if point in kept:
            raise Corrupt(
                "{point} is kept, but its metadata contradicts itself, so the files it needs cannot be "
                "determined: {problem} No file was deleted.",
                point=point_in_words(point),
                problem=problem.sentence(),
                path=problem.path,
            )
