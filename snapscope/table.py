"""The `Table` class: read a table, plan changes and run them."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from core import catalog, settings_file
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


def opened(location: str | os.PathLike[str], *, branch: str, zone: str, read_only: bool) -> Table[pd.DataFrame]:
    """See `snapscope.open`."""
    time_input.zone_of(zone)
    found = open_table(_place(location))
    found.heads().require(branch)
    return Table(found, branch, zone, frames.to_pandas, read_only=read_only)


def listed(warehouse: str | os.PathLike[str]) -> pd.DataFrame:
    """See `snapscope.tables`."""
    return frames.to_pandas(frames.tables(catalog.list_tables(_place(warehouse))))


def _place(location: str | os.PathLike[str]) -> str:
    try:
        return settings_file.location(os.fsdecode(location))
    except TypeError as error:
        raise Invalid(
            "{location!r} is not a location.", location=location, remedy="Give a path, a URL or a name."
        ) from error


def recorded(location: str | None) -> pd.DataFrame:
    """See `snapscope.runs`."""
    named = None if location is None else settings_file.location(location)
    return frames.to_pandas(frames.runs(Journal().runs(named)))


class Table(Questions[F]):
    """One branch of one table, as opened by `snapscope.open`. Every call reads the table's current state.

    The arguments `at`, `before`, `since`, `a` and `b` are versions: a snapshot id (`"12"`), `tag:v1`, `branch:dev/12`,
    `latest`, `latest~3`, `earliest`, a timezone-aware `datetime`, or a time such as `2026-11-20T08:00:00Z`, `yesterday
    08:00` or `3 days ago`. Text that can mean two different times raises `Invalid`, which names both. A version that
    does not exist raises `NotFound`, which names the nearest ones. Metadata that cannot be read raises `Corrupt`, which
    names the file.
    """

    def __init__(
        self, opened: Opened, branch: str, zone: str, frame: Callable[[pa.Table], F], *, read_only: bool
    ) -> None:
        super().__init__(opened, branch, zone, frame)
        self._read_only = read_only

    @property
    def read_only(self) -> bool:
        """Whether `apply`, `resume` and `undo` are rejected."""
        return self._read_only

    def arrow(self) -> Table[pa.Table]:
        """Return the same table with Arrow tables instead of DataFrames as results.

        Example:
            >>> table.arrow().files().num_rows
        """
        return Table(self._table, self._branch, self._zone, frames.to_arrow, read_only=self._read_only)

    @property
    def plan(self) -> Plans[F]:
        """Plans for this branch, with ages computed as of now: `table.plan.expire(…)`. A plan changes nothing."""
        return Plans(self._table, self._history, self._branch, self._zone, self._frame)

    def plan_at(self, time: Time) -> Plans[F]:
        """Return plans with ages computed as of another time.

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
        """Run a plan.

        The plan is recomputed first and rejected if the table no longer allows it. Nothing beyond the plan is ever
        deleted. The run is recorded in the journal before anything changes. References are removed first; files are
        deleted last, after waiting for `settle`. If a run is interrupted, by Ctrl-C or a crash, continue it with
        `resume` or, before it starts to delete files, revert it with `undo`.

        Args:
            plan: a plan made from this table.
            settle: how long to wait for running writers before files are deleted.
            outside: the directories listed in `plan.outside`, to confirm them.
            progress: a callback that receives the number of files done and the total.

        Raises:
            Conflict: the table no longer allows this plan, or an earlier run is unfinished; nothing was changed.
            Invalid: the table was opened read-only, or the plan belongs to another table.
            Unsupported: the table's store does not support an operation that the plan needs.

        Example:
            >>> table.apply(table.plan.expire(retain_max=10))
        """
        self._refuse_read_only()
        if not isinstance(plan, Plan):
            raise Invalid("{plan!r} is not a plan.", plan=plan, remedy="Make one, such as table.plan.expire().")
        if plan.is_empty:
            execution.refuse_unfinished(self._table, Journal())
            return Receipt(
                "", self.location, "nothing to do", is_as_planned=True, deleted=(), created=(), reclaimed_bytes=0,
                planned_files=0, planned_bytes=0, problems=(), journal_head="", _kept_back=(), _frame=self._frame,
            )  # fmt: skip
        done = execution.apply(self._table, plan._of, settle_s=duration_s(settle), progress=progress, outside=outside)
        return plans.receipt(done, self._frame)

    def runs(self) -> F:
        """List the changes made to this table from this machine, newest first, with the columns of `snapscope.runs`.

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
        """Continue an interrupted run.

        Args:
            run: the run id; None means the unfinished run of this table.
            settle: how long to wait for running writers before files are deleted.
            outside: directories outside the table's own, only for a run started by an older version.
            progress: a callback that receives the number of files done and the total.

        Raises:
            Invalid: this table has no such unfinished run, or it was opened read-only.

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
        """Revert a run that has not started to delete files.

        Args:
            run: the run id; None means the unfinished run of this table.

        Returns:
            The paths that were restored.

        Raises:
            Invalid: this table has no such unfinished run, files may already be deleted, or the table was opened
                read-only.

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
