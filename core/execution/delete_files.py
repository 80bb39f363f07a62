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
    was_swept: bool = False  # an earlier attempt may have deleted files without having recorded it
    are_orphans: bool = False  # which are told from held files by their names alone, as paths have many spellings


def sweep(
    table: Table,
    work: Work,
    journal: Journal,
    created: list[str],
    deleted: list[str],
    progress: Progress | None,
    cancelled: Callable[[], bool],
    begins: Callable[[], None],
) -> Receipt:
    """Delete files batch by batch, check what remains, and return the receipt. All references are already deleted.

    `begins` is called directly before the first file is deleted, and raises if none may be."""
    sizes = {path: size for path, _, size in work.frees}
    going = {path for path, _ in work.removes}
    gone = going.union(deleted)
    waiting = [path for path in sizes if path not in gone]
    look = functools.partial(read_stable_references, table, going.intersection(deleted))
    swept = _Swept(deleted=list(deleted), problems=list(work.problems))
    seen: Heads | None = None
    has_begun = False
    why_not: Callable[[str], Reason | None] = _unjudged
    gone_before: Collection[str] = ()
    for begin in range(0, len(waiting), BATCH):
        if begin == 0 and cancelled():
            swept.is_cancelled = True  # no file is deleted yet, so the run can still be undone
            break
        if begin % (table.batches_together * BATCH) == 0:
            heads = look()
            if seen is None or heads.references != seen.references:
                why_not, gone_before, seen = _judged(table, look, heads, waiting[begin:], work)
        if begin == 0:
            begins()
            if cancelled():  # since it was asked, too
                swept.is_cancelled = True
                break
            has_begun = True
            journal.add(work.run, journals.SWEEPING, {"files": len(waiting)})
        else:
            journal.check(work.run)  # whoever resumes must know what earlier batches deleted
        done = _Swept()
        try:
            _delete(table, waiting[begin : begin + BATCH], why_not, gone_before, cancelled, done, work.was_swept)
        finally:
            journal.add(work.run, journals.SWEPT, {"deleted": done.deleted, "kept_back": _written(done.kept_back)})
        swept.add(done)
        if progress is not None:
            progress(len(sizes) - len(waiting) + min(begin + BATCH, len(waiting)), len(sizes))
        if done.is_cancelled:
            break
    if has_begun or not swept.is_cancelled:
        left = _history(table, look, look())
        swept.problems += [codes.AFTER_SWEEP(problem=each) for each in _broken(table, left, sizes)]
        _clean_directories(table, swept.deleted, left.heads)
    # What the store refuses once it may allow a resumed run. What it refuses again is reported and left to be found as
    # orphans: an open run would block the table for ever.
    outcome = "cancelled" if swept.is_cancelled else "incomplete" if swept.problems and work.is_first else "done"
    receipt = Receipt(
        run=work.run,
        table=table.location,
        plan_fingerprint=work.fingerprint,
        outcome=outcome,
        created=tuple(created),
        deleted=tuple(swept.deleted),
        freed_bytes=sum(sizes.get(path, 0) for path in swept.deleted),
        planned_files=len(sizes),
        planned_bytes=sum(sizes.values()),
        kept_back=tuple(swept.kept_back),
        problems=tuple(swept.problems),
        journal_head="",
        keeps_versions=bool(swept.deleted) and table.store.keeps_versions() is True,
    )
    what = {"done": journals.DONE, "cancelled": journals.CANCELLED}.get(outcome, journals.FAILED)
    detail = {
        **receipt.written(),
        "deleted": len(receipt.deleted),
        "problem": next(iter(sentences(swept.problems)), None),
    }
    return dataclasses.replace(receipt, journal_head=journal.add(work.run, what, detail))


def _written(kept_back: Iterable[tuple[str, Reason]]) -> list[tuple[str, str]]:
    """The files kept back, as stored in the journal."""
    return [(path, why.text) for path, why in kept_back]


@dataclass
class _Swept:
    deleted: list[str] = dataclasses.field(default_factory=list)
    kept_back: list[tuple[str, Reason]] = dataclasses.field(default_factory=list)
    problems: list[Reason] = dataclasses.field(default_factory=list)
    is_cancelled: bool = False

    def add(self, other: _Swept) -> None:
        self.deleted += other.deleted
        self.kept_back += other.kept_back
        self.problems += other.problems
        self.is_cancelled |= other.is_cancelled


def _delete(
    table: Table,
    paths: Sequence[str],
    why_not: Callable[[str], Reason | None],
    gone_before: Collection[str],
    cancelled: Callable[[], bool],
    swept: _Swept,
    was_swept: bool,
) -> None:
    """Delete one batch: by one request where the store can, and the rest several files in parallel.

    Every path ends up in `swept`, whatever interrupts the batch. Some stores say of a file that does not exist that
    they deleted it: those of `gone_before` were not listed before, and others deleted them.
    """
    stop, store = threading.Event(), table.store
    judged = [(path, why_not(path)) for path in paths]
    swept.kept_back += [(path, reason) for path, reason in judged if reason is not None]
    waiting = [path for path, reason in judged if reason is None]

    def one(path: str) -> None:
        if stop.is_set() or cancelled():
            swept.is_cancelled = True
        else:
            try:
                # A client that repeats a request whose answer was lost hears that there is no such file.
                is_gone = store.delete(path)
                if not is_gone and (was_swept or not store.is_local):
                    is_gone = store.size(path) is None
                    if not is_gone:
                        raise Corrupt("The store found no such file to delete, but it is there.", remedy="Try again.")
                if is_gone and path not in gone_before:
                    swept.deleted.append(path)
                else:
                    swept.kept_back.append((path, codes.GONE_ALREADY()))
            except SnapscopeError as error:
                swept.kept_back.append((path, codes.NOT_DELETED(error=str(error))))
                swept.problems.append(codes.FILE_NOT_DELETED(path=path, error=str(error)))

    if not cancelled():
        together = store.delete_together(dict.fromkeys(waiting))
        swept.deleted += together.difference(gone_before)
        swept.kept_back += [(path, codes.GONE_ALREADY()) for path in together.intersection(gone_before)]
        waiting = [path for path in waiting if path not in together]
    with ThreadPoolExecutor(DELETERS if store.is_local else REMOTE_DELETERS) as pool:
        try:
            for _ in pool.map(one, waiting):
                pass
        except BaseException:
            stop.set()
            raise
    swept.deleted.sort()
    swept.kept_back.sort(key=lambda each: each[0])
    swept.problems.sort(key=lambda each: str(each.values["path"]))
    doubts = dict.fromkeys(why for _, why in swept.kept_back if why.code in codes.DOUBTS)
    swept.problems += [codes.SOME_KEPT(why=why) for why in doubts]


def _clean_directories(table: Table, deleted: Sequence[str], left: Heads) -> None:
    """Remove directories that became empty, where the table's options ask for it."""
    for directory in table.format.may_be_empty(left, deleted):
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


def _history(table: Table, look: Callable[[], Heads], heads: Heads) -> HistorySummary:
    """The holders by these references, or by newer ones if a reference expired while its files were being read."""
    for _ in range(ATTEMPTS):
        history = table.summary(heads)
        if table.newer(history) is None:
            return history
        heads = look()
    raise Conflict(
        "Other writers kept deleting snapshots while they were being read.",
        remedy="Retry when fewer writers are active.",
    )


def _unjudged(path: str) -> Reason | None:
    raise AssertionError(f"{path} was not judged")


def _judged(
    table: Table, look: Callable[[], Heads], heads: Heads, waiting: Sequence[str], work: Work
) -> tuple[Callable[[str], Reason | None], frozenset[str], Heads]:
    """As `_reasons_to_stay`, and the references by which it is so. While a large history is read, others may create a
    reference to what it let go: then it is read again."""
    for _ in range(ATTEMPTS):
        why_not, gone = _reasons_to_stay(table, look, heads, waiting, work)
        now = look()
        if not table.format.adds_holders(heads, now):
            return why_not, gone, heads
        heads = now
    raise Conflict(
        "Others kept creating references to older snapshots while the table was read.",
        remedy="Retry when fewer writers are active.",
    )


def _reasons_to_stay(
    table: Table, look: Callable[[], Heads], heads: Heads, waiting: Sequence[str], work: Work
) -> tuple[Callable[[str], Reason | None], frozenset[str]]:
    """A function that says, per path, why the file stays after all; and the files that others have deleted already.

    A resumed run may have deleted them itself, without having recorded it, so it takes none for deleted by others.

    Raises `Corrupt` unless every remaining version was read in full and its metadata is consistent.
    """
    history = _history(table, look, heads)
    unknown_references.refuse_unknown_schema(history)
    if history.incomplete:
        raise Corrupt(
            "No further file was deleted. {broken}",
            broken=functools.reduce(both, sentences(_broken(table, history, {path for path, _, _ in work.frees})[:10])),
            path=history.problems[0].path,
            remedy=("Restore it, or use the table's own engine to remove what refers to it; then resume this run."),
        )
    left = frozenset(waiting)
    examined = table.examine(history, {path: kind for path, kind, _ in work.frees if path in left})
    refuse_contradictions(history, examined, {holder.point for holder in history.holders if holder.exists})
    held = history.named_like_held(left) if work.are_orphans else history.held_among(left).keys()
    fenced = outside_roots.fence(work.allowed)

    def why_not(path: str) -> Reason | None:
        if path in held:
            return codes.HELD_SINCE()
        return examined.doubt(path) or (fenced(path) if urls.is_url(path) else None)

    return why_not, examined.gone if work.is_first else frozenset()


def refuse_contradictions(history: HistorySummary, examined: Examined, stays: Collection[str]) -> None:
    """Raise `Corrupt` if the metadata of a version that stays contradicts itself, or is of a newer engine."""
    for position, problem in examined.problems.items():
        point = history.holders[position].point
        if point in stays and problem.code == Fault.UNSUPPORTED:
            raise Corrupt(
                "{point} is kept, but it cannot be read in full, so the files it still needs cannot be determined: "
                "{problem}",
                point=point_in_words(point),
                problem=problem.sentence(),
                path=problem.path,
            )
        if point in stays:
            raise Corrupt(
                "{point} is kept, but its metadata contradicts itself, so the files it needs cannot be "
                "determined: {problem} No file was deleted.",
                point=point_in_words(point),
                problem=problem.sentence(),
                path=problem.path,
            )
