"""Plans, which show what an action would delete before anything changes, and receipts of runs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic

import numpy as np
import pyarrow as pa

from core.execution import delete_files
from core.model import plan as core_plan
from core.model.history import History
from core.model.references import HolderKind
from core.units import size
from snapscope import display, frames
from snapscope.display import Bar
from snapscope.frames import COUNT, TEXT, F

VERSIONS = {"version": TEXT, "is_kept": frames.FLAG, "why": TEXT}
FREED = {"path": TEXT, "kind": TEXT, "size_bytes": COUNT}
STORAGE = {"part": TEXT, "files": COUNT, "size_bytes": COUNT}
KEPT_BACK = {"path": TEXT, "why": TEXT}


@dataclass(frozen=True)
class Plan(Generic[F]):
    """What an action would do to a table. Making a plan changes nothing; `Table.apply` runs it.

    Attributes:
        table: the table's location.
        action: the kind of action, such as `Expire`.
        headline: a one-sentence summary.
        fingerprint: a hash of the table's references, the action and the time. Equal plans have equal fingerprints.
        judged_at: the time at which ages were computed (UTC).
        reclaimed_files: the number of files that the plan deletes.
        reclaimed_bytes: their total size, as far as known.
        kept_bytes: the total size of all files that are still held afterwards.
        expires: the snapshots and tags that the plan removes, as versions (`12`, `tag:v1`).
        warnings: what to check before you apply the plan.
        notes: other remarks.
        outside: directories outside the table's own directory in which the plan deletes files; pass them to `apply` to
            confirm them.
        is_empty: True if there is nothing to do.

    Example:
        >>> plan = table.plan.expire(retain_max=10)
        >>> plan.reclaimed_bytes
    """

    table: str
    action: str
    headline: str
    fingerprint: str
    judged_at: dt.datetime | None
    reclaimed_files: int
    reclaimed_bytes: int
    kept_bytes: int
    expires: tuple[str, ...] = field(repr=False)
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    outside: tuple[str, ...]
    is_empty: bool
    _of: core_plan.Plan = field(repr=False, compare=False)
    _history: History = field(repr=False, compare=False)
    _frame: Callable[[pa.Table], F] = field(repr=False, compare=False)

    def versions(self) -> F:
        """List all snapshots and tags: whether the plan keeps each one, and why.

        Returns:
            One row per version: `version`, `is_kept`, `why`.

        Example:
            >>> table.plan.expire(retain_max=10).versions().query("not is_kept")
        """
        rows = [
            {"version": each.point, "is_kept": each.keep, "why": "; ".join(str(why) for why in each.reasons)}
            for each in self._of.points
        ]
        return self._frame(frames.of_rows(rows, VERSIONS))

    def files(self) -> F:
        """List the files that the plan deletes.

        Returns:
            One row per file: `path` (relative to the table, or a URL), `kind`, `size_bytes`.

        Example:
            >>> table.plan.expire(retain_max=10).files().to_csv("reclaimed.csv")
        """
        return self._frame(frames.shaped(self._of.frees, FREED))

    def storage(self) -> F:
        """Break the table's storage down into what is reclaimed and what holds the rest.

        Returns:
            One row per part: `part` (`reclaimed`, `current files`, `older snapshots`, `changelogs`, `tags only`),
            `files`, `size_bytes`. Each file is counted once, in the first part that it belongs to.

        Example:
            >>> table.plan.expire(retain_max=10).storage()
        """
        rows = [{"part": each.label, "files": each.files, "size_bytes": each.size_bytes} for each in self._bars]
        return self._frame(frames.of_rows(rows, STORAGE))

    @property
    def _bars(self) -> list[Bar]:
        return [Bar("reclaimed", self.reclaimed_files, self.reclaimed_bytes, is_reclaimed=True), *_kept(self)]

    def __repr__(self) -> str:
        return display.lines(
            self.headline,
            *display.text_bars(self._bars),
            *(f"Warning: {each}" for each in self.warnings),
            *self.notes,
            self._judged,
        )

    def _repr_html_(self) -> str:
        return display.card(
            self.headline,
            display.bars(self._bars),
            *map(display.warning, self.warnings),
            *map(display.note, (*self.notes, self._judged)),
        )

    @property
    def _judged(self) -> str:
        return f"Ages as of {display.when(self.judged_at)}. Plan {self.fingerprint[:16]}. Nothing has been changed."


def planned(
    found: core_plan.Plan, history: History, sentences: Sequence[str], frame: Callable[[pa.Table], F]
) -> Plan[F]:
    return Plan(
        table=found.table,
        action=type(found.change).__name__,
        headline=str(found.headline),
        fingerprint=found.fingerprint,
        judged_at=frames.moment(found.now_ms),
        reclaimed_files=len(found.frees),
        reclaimed_bytes=found.freed_bytes,
        kept_bytes=found.kept_bytes,
        expires=tuple(each.point for each in found.deleted_points),
        warnings=tuple(str(each) for each in found.warnings),
        notes=tuple(str(each) for each in (*sentences, *found.notes)),
        outside=tuple(each.root for each in found.outside),
        is_empty=not (found.removes or found.leaves or len(found.frees)),
        _of=found,
        _history=history,
        _frame=frame,
    )


def _kept(plan: Plan[Any]) -> list[Bar]:
    """Break down what the plan keeps. Each object is counted once: in the newest version, else in other snapshots,
    changelogs or tags."""
    history, expired = plan._history, set(plan.expires)
    kept = np.array([each.exists and each.point not in expired for each in history.holders], dtype=np.bool_)
    kinds = np.array([each.kind for each in history.holders], dtype=object)
    newest = np.zeros(len(kept), dtype=np.bool_)
    if (live := history.live_now()) is not None:
        newest[live] = kept[live]
    seen = np.zeros(history.held.owners, dtype=np.bool_)
    found: list[Bar] = []
    for label, chosen in (
        ("current files", newest),
        ("older snapshots", kept & (kinds == HolderKind.SNAPSHOT)),
        ("changelogs", kept & (kinds == HolderKind.CHANGELOG)),
        ("tags only", kept & (kinds == HolderKind.TAG)),
    ):
        own = history.held.over(chosen) & ~seen
        seen |= own
        if own.any() or not found:
            found.append(Bar(label, int(own.sum()), history.bytes_of(own)))
    return found


@dataclass(frozen=True)
class Receipt(Generic[F]):
    """The result of a run, including all of its attempts.

    Attributes:
        run: the run id in the journal; empty if there was nothing to do.
        table: the table's location.
        outcome: `done`, `nothing to do`, `cancelled` or `incomplete`; `Table.resume` continues the last two.
        is_as_planned: True if the run did everything that was planned, and nothing else.
        deleted: the paths of all deleted files.
        created: the paths of all created files.
        reclaimed_bytes: the total size of the deleted files; 0 if their bucket keeps old versions.
        planned_files: the number of files that the plan would delete.
        planned_bytes: their total size.
        problems: problems found after the run, and what else to know about it.
        journal_head: the hash of the newest journal entry, which covers all entries before it.

    Example:
        >>> receipt = table.apply(plan)
        >>> assert receipt.outcome == "done"
    """

    run: str
    table: str
    outcome: str
    is_as_planned: bool
    deleted: tuple[str, ...] = field(repr=False)
    created: tuple[str, ...] = field(repr=False)
    reclaimed_bytes: int
    planned_files: int
    planned_bytes: int
    problems: tuple[str, ...]
    journal_head: str
    _kept_back: tuple[tuple[str, str], ...] = field(repr=False)
    _frame: Callable[[pa.Table], F] = field(repr=False)

    def kept_back(self) -> F:
        """List the files that were planned for deletion but kept.

        Returns:
            One row per file: `path`, `why`.

        Example:
            >>> table.apply(plan).kept_back()
        """
        rows = [{"path": path, "why": str(why)} for path, why in self._kept_back]
        return self._frame(frames.of_rows(rows, KEPT_BACK))

    def __repr__(self) -> str:
        return display.lines(self._headline, *self._more)

    def _repr_html_(self) -> str:
        return display.card(self._headline, *map(display.note, self._more))

    @property
    def _headline(self) -> str:
        if not self.run:
            return "Nothing to do."
        done = f"{len(self.deleted):,} of {self.planned_files:,} files deleted, {size(self.reclaimed_bytes)} reclaimed"
        return f"{self.outcome.capitalize()}: {done}."

    @property
    def _more(self) -> list[str]:
        created = f"Created {', '.join(self.created)}." if self.created else ""
        stayed = [f"Kept: {path}: {why}" for path, why in self._kept_back[: display.SHOWN]]
        run = f"Run {self.run}." if self.run else ""
        return [*filter(None, (created, run)), *stayed, *self.problems]


def receipt(found: delete_files.Receipt, frame: Callable[[pa.Table], F]) -> Receipt[F]:
    return Receipt(
        run=found.run,
        table=found.table,
        outcome=str(found.outcome),
        is_as_planned=found.is_exact,
        deleted=found.deleted,
        created=found.created,
        reclaimed_bytes=0 if found.keeps_versions else found.freed_bytes,
        planned_files=found.planned_files,
        planned_bytes=found.planned_bytes,
        problems=tuple(str(each) for each in (*found.notes, *found.problems)),
        journal_head=found.journal_head,
        _kept_back=tuple((path, str(why)) for path, why in found.kept_back),
        _frame=frame,
    )
