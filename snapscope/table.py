"""A table: the questions it answers, the plans of changes to it, and the running of plans."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from core import catalog
from core.errors import Invalid
from core.execution import apply as execution
from core.execution import recovery
from core.execution.journal import Journal
from core.model import time_input
from core.table import Table as Opened
from core.table import open_table
from snapscope import frames, plans
from snapscope.frames import F
from snapscope.planner import Plans
from snapscope.plans import Plan, Receipt
from snapscope.points import Duration, Time, duration_s, time_ms
from snapscope.questions import Questions

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[int, int], None]


def opened(location: str, *, branch: str, zone: str, read_only: bool) -> Table[pd.DataFrame]:
    """See `snapscope.open`."""
    time_input.zone_of(zone)
    found = open_table(location)
    found.heads().require(branch)
    return Table(found, branch, zone, frames.to_pandas, read_only=read_only)


def listed(warehouse: str) -> pd.DataFrame:
    """See `snapscope.tables`."""
    return frames.to_pandas(frames.tables(catalog.list_tables(warehouse)))


def recorded(location: str | None) -> pd.DataFrame:
    """See `snapscope.runs`."""
    return frames.to_pandas(frames.runs(Journal().runs(location)))


class Table(Questions[F]):
    """One branch of one table. Made by `snapscope.open`; every answer is about the table as it is at the call.

    Wherever an argument is called `at`, `before`, `since`, `a` or `b` it is a version: a snapshot id (`"12"`),
    `tag:v1`, `branch:dev/12`, `latest`, `latest~3`, `earliest`, a `datetime` with a zone, or a time such as
    `2026-11-20T08:00:00Z`, `yesterday 08:00` or `3 days ago`. A text that can mean two times raises `Invalid`, which
    names both. A version that is not there raises `NotFound` with the nearest ones; metadata that cannot be
    read raises `Corrupt` with the file.
    """

    def __init__(
        self, opened: Opened, branch: str, zone: str, frame: Callable[[pa.Table], F], *, read_only: bool
    ) -> None:
        super().__init__(opened, branch, zone, frame)
        self._read_only = read_only

    @property
    def read_only(self) -> bool:
        """Whether `apply`, `resume` and `undo` are refused."""
        return self._read_only

    def arrow(self) -> Table[pa.Table]:
        """The same table with Arrow tables in place of DataFrames.

        Example:
            >>> table.arrow().files().num_rows
        """
        return Table(self._table, self._branch, self._zone, frames.to_arrow, read_only=self._read_only)

    @property
    def plan(self) -> Plans[F]:
        """Plans for this branch, judged at the present moment: `table.plan.expire(…)`. A plan changes nothing."""
        return Plans(self._table, self._history, self._branch, self._zone, self._frame)

    def plan_at(self, time: Time) -> Plans[F]:
        """Plans that judge ages at another time.

        Example:
            >>> table.plan_at("2026-12-01T00:00:00Z").expire().headline
        """
        return Plans(self._table, self._history, self._branch, self._zone, self._frame, time_ms(time, self._zone))

    def apply(
        self,
        plan: Plan[Any],
        *,
        settle: Duration = "30 s",
        outside: Collection[str] = (),
        progress: Progress | None = None,
    ) -> Receipt[F]:
        """Run a plan: exactly what it shows, or less. It is planned again first, and refused if it no longer holds.

        The run is written to the journal before anything changes; references go first, files last, after `settle`. A
        run that is cut off, by Ctrl-C or a crash, can be carried on by `resume` or, until files go, taken back by
        `undo`.

        Args:
            plan: made from this table.
            settle: how long running writers get before files are deleted.
            outside: the directories of `plan.outside`, confirmed by name.
            progress: is called with files done and files to do.

        Raises:
            Conflict: the table no longer allows this plan, or an earlier run is unfinished; nothing was changed.
            Invalid: the table was opened read-only, or the plan is of another table.
            Unsupported: its store cannot do what the plan needs.

        Example:
            >>> table.apply(table.plan.expire(retain_max=10))
        """
        self._refuse_read_only()
        if plan.is_empty:
            execution.refuse_unfinished(self._table, Journal())
            return Receipt(
                "", self.location, "nothing to do", is_as_planned=True, deleted=(), created=(), reclaimed_bytes=0,
                planned_files=0, planned_bytes=0, problems=(), journal_head="", _kept_back=(), _frame=self._frame,
            )  # fmt: skip
        done = execution.apply(self._table, plan._of, settle_s=duration_s(settle), progress=progress, outside=outside)
        return plans.receipt(done, self._frame)

    def runs(self) -> F:
        """Changes of this table that were made from this machine, the newest first; columns as `snapscope.runs`.

        Example:
            >>> table.runs().head(1)
        """
        return self._frame(frames.runs(Journal().runs(self.location)))

    def resume(
        self,
        run: str | None = None,
        *,
        settle: Duration = "30 s",
        outside: Collection[str] = (),
        progress: Progress | None = None,
    ) -> Receipt[F]:
        """Carry on a run that was cut off.

        Args:
            run: its id; None is this table's unfinished one.
            settle: how long running writers get before files are deleted.
            outside: directories outside the table's own, for a run that an older version began.
            progress: is called with files done and files to do.

        Raises:
            Invalid: no such run of this table is unfinished, or the table was opened read-only.

        Example:
            >>> table.resume()
        """
        self._refuse_read_only()
        done = recovery.resume(
            self._own_run(run),
            open_table=self._reopened,
            settle_s=duration_s(settle),
            progress=progress,
            outside=outside,
        )
        return plans.receipt(done, self._frame)

    def undo(self, run: str | None = None) -> tuple[str, ...]:
        """Take back a run that has not deleted files yet.

        Args:
            run: its id; None is this table's unfinished one.

        Returns:
            The paths that were restored.

        Raises:
            Invalid: no such run of this table is unfinished, its files may be gone, or the table was opened read-only.

        Example:
            >>> table.undo()
        """
        self._refuse_read_only()
        return recovery.undo(self._own_run(run), open_table=self._reopened)

    def _refuse_read_only(self) -> None:
        if self._read_only:
            raise Invalid(
                "The table was opened read-only; nothing was changed.",
                path=self.location,
                remedy="Open it without read_only=True.",
            )

    def _own_run(self, run: str | None) -> str:
        found = Journal().open_run(self.location) if run is None else Journal().run(run)
        if found is None:
            raise Invalid("No run of this table is unfinished.", path=self.location)
        if found.table != self.location:
            raise Invalid(
                "Run {run} is of another table, {table}.", run=found.id, table=found.table, remedy="Open that table."
            )
        return found.id

    def _reopened(self, _: str) -> Opened:
        return self._table
