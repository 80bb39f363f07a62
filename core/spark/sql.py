"""Runs a user's query: checked, capped in rows, limited in time, cancellable from anywhere, its progress told.

Laws:
- Only what core/spark/guard.py let through runs, and it is the very plan that was checked.
- `run` comes back: at the end, soon after the time limit, or soon after `cancel`, even while Spark is still planning.
- A query that was stopped gives its cores back: where its tasks do not look up, Spark is ended and started anew.
- Whatever Spark throws becomes one sentence of Spark's own; a stack trace is never shown.
"""

from __future__ import annotations

import contextlib
import threading
import time
import uuid
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pyarrow as pa
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.sql import DataFrame, SparkSession, types

from core.errors import Conflict, Corrupt, Invalid, SnapscopeError, Unsupported
from core.spark import guard
from core.spark import session as sessions
from core.spark.session import said
from core.spark.told import heard
from core.told import told

POLL_S = 0.15
AGAIN_S = 0.25
LINGER_S = 5.0
ATTEMPTS = 3  # a Spark that was ended to be rid of somebody's query takes the others with it


class Restarted(Invalid):
    """Spark was ended under this query, to be rid of another one that would not stop; asked again it will run."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows as an Arrow table. `truncated`: the query has more than the cap. `seconds`: from the call to the rows."""

    table: pa.Table
    truncated: bool
    seconds: float


@dataclass(slots=True)
class _Query:
    """A running query as its caller, its worker and whoever cancels it see it."""

    id: str
    session: SparkSession
    changed: threading.Event = field(default_factory=threading.Event)  # ended, or cancelled
    ended: threading.Event = field(default_factory=threading.Event)
    cancelled: bool = False
    given_up: bool = False  # nobody waits for the rows any more: cancelled, out of time, or the caller has left
    rows: pa.Table | None = None
    error: BaseException | None = None

    def stop(self) -> None:
        """Ends the running job and refuses the group's later ones: Spark plans further jobs as it goes."""
        self.given_up = True
        context: Any = self.session.sparkContext._jsc
        with contextlib.suppress(Py4JError):  # Spark itself has ended, and nothing runs
            if context is not None:
                context.sc().cancelJobGroupAndFutureJobs(self.id)


_running: dict[str, _Query] = {}
_lock = threading.Lock()


_T = TypeVar("_T")


def lasting(work: Callable[[SparkSession], _T]) -> _T:
    """Does the work in a session of its own; again where another query's end took this one's Spark along."""
    for _ in range(ATTEMPTS - 1):
        session = sessions.isolated()
        try:
            return work(session)
        except (Restarted, Py4JError):
            if not sessions.was_ended(session):
                raise
    return work(sessions.isolated())


def run(
    session: SparkSession,
    sql: str,
    views: Collection[str],
    *,
    row_cap: int = 1_000,
    timeout_s: float = 60.0,
    on_progress: Callable[[int, int], None] | None = None,
    query_id: str | None = None,
) -> Answer:
    """Checks and runs `sql` over the temporary views named in `views`, and returns at most `row_cap` rows.

    `on_progress(done, total)` counts tasks, both only ever growing; it is called from this thread, at first as soon as
    the query can be cancelled, then at most every 0.15 s, and whatever it raises cancels the query. `query_id` is what
    `cancel` takes; use a new one for each query. Raises Invalid for what the guard refuses, what Spark cannot run, a
    time-out and a cancel; Corrupt for a data file that cannot be read; Conflict where `query_id` is running already.
    """
    return answer(
        session,
        lambda: guard.check(session, sql, views).frame,
        row_cap=row_cap,
        timeout_s=timeout_s,
        on_progress=on_progress,
        query_id=query_id,
    )


def answer(
    session: SparkSession,
    make: Callable[[], DataFrame],
    *,
    row_cap: int = 1_000,
    timeout_s: float = 60.0,
    on_progress: Callable[[int, int], None] | None = None,
    query_id: str | None = None,
) -> Answer:
    """`run` for a frame of our own: `make` is called in the query's thread, so whatever it does can be cancelled."""
    if row_cap < 1:
        raise Invalid("The row cap must be at least 1, not {row_cap}.", row_cap=row_cap)
    began = time.monotonic()
    query = _Query(id=query_id or uuid.uuid4().hex, session=session)
    with _lock:
        if query.id in _running:
            raise Conflict("A query with the id {id} is already running.", id=query.id)
        _running[query.id] = query
    try:
        # Spark's job group belongs to the thread, and a planning that hangs cannot be interrupted: a thread per query.
        threading.Thread(target=_work, args=(query, make, row_cap), name=f"query {query.id}", daemon=True).start()
        _wait(query, began + timeout_s, on_progress)
    finally:
        with _lock:
            del _running[query.id]
        if query.given_up or not query.ended.is_set():
            query.stop()
            threading.Thread(target=_see_off, args=(query,), name=f"ending query {query.id}", daemon=True).start()
    if query.cancelled:
        raise Invalid("The query was cancelled.")
    if query.given_up:
        raise Invalid(
            "The query was stopped after {timeout_s:g} seconds, its time limit.",
            timeout_s=timeout_s,
            remedy="Ask for less (a filter, fewer columns), or raise the limit (--timeout on the command line).",
        )
    if query.error is not None:
        if sessions.was_ended(session):
            raise Restarted(
                told("Spark was started anew while the query ran."), remedy=told("Ask again.")
            ) from query.error
        raise refusal(query.error) from query.error
    assert query.rows is not None
    truncated = query.rows.num_rows > row_cap
    return Answer(query.rows.slice(0, row_cap), truncated, time.monotonic() - began)


def cancel(query_id: str) -> bool:
    """Cancels a running query, from any thread: its `run` raises Invalid. False where no query of that id runs."""
    with _lock:
        query = _running.get(query_id)
        if query is None:
            return False
        query.cancelled = True
    query.stop()
    query.changed.set()
    return True


def refusal(error: BaseException) -> SnapscopeError:
    """Any failure of Spark as one of our errors, in Spark's own words. Errors of ours pass through."""
    if isinstance(error, SnapscopeError):
        return error
    text = str(error)
    if ours := heard(text):
        return ours
    if isinstance(error, Py4JNetworkError | ConnectionError):
        return Invalid("Spark's process ended while the query ran.", remedy="Ask again: a new one is started.")
    if "OutOfMemoryError" in text or "SparkOutOfMemoryError" in text:
        return Invalid(
            "The query needs more memory than Spark has.",
            remedy="Ask for fewer rows or columns, or give Spark more with spark.driver.memory.",
        )
    if "doesn't contain any field Ids" in text:
        return Unsupported(
            "A data file's columns have no field ids, so only a name mapping tells which is which "
            "(schema.name-mapping.default), and that is not read here. {said}",
            said=said(error),
            remedy="Read the table with its own engine.",
        )
    if "[FAILED_READ_FILE" in text:
        return Corrupt("Spark could not read a data file. {said}", said=said(error))
    return Invalid("Spark could not run this query. {said}", said=said(error))


# ------------------------------------------------------------------------------------------------------ in both threads


def _work(query: _Query, make: Callable[[], DataFrame], row_cap: int) -> None:
    try:
        query.session.sparkContext.setJobGroup(query.id, "a query in Snapscope", interruptOnCancel=True)
        frame = make()
        if not query.given_up:
            query.rows = to_arrow(frame.limit(row_cap + 1))
    except BaseException as error:  # noqa: BLE001 - handed to the caller's thread, which raises it
        query.error = error
    finally:
        query.ended.set()
        query.changed.set()


def _see_off(query: _Query) -> None:
    """Cancels until the worker has ended: of the jobs to come, Spark does not refuse those that end in a shuffle.

    Then its tasks have `LINGER_S` to end. The loops of a join of everything with everything never look up, for minutes
    or hours; a local Spark that nobody else uses, or that has no core left for anybody, is ended with them.
    """
    while not query.ended.wait(AGAIN_S):
        query.stop()
    deadline = time.monotonic() + LINGER_S
    while (lingering := _lingering(query)) and sessions.is_local(query.session):
        if time.monotonic() > deadline:
            with _lock:
                if not _running or lingering >= query.session.sparkContext.defaultParallelism:
                    sessions.end(query.session)
                    return
        time.sleep(AGAIN_S)


def _lingering(query: _Query) -> int:
    """Tasks of the query that still hold a core."""
    try:
        tracker = query.session.sparkContext.statusTracker()
        jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(query.id)]
        stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
        return sum(stage.numActiveTasks for stage in stages if stage)
    except (Py4JError, AttributeError):  # Spark has ended, and them with it
        return 0


def _wait(query: _Query, deadline: float, on_progress: Callable[[int, int], None] | None) -> None:
    """Until the query has ended, was cancelled, or the deadline has passed."""
    done = total = 0
    if on_progress is not None:
        on_progress(0, 0)  # who gave up while there was nothing to cancel yet says so now
    while not query.ended.is_set() and not query.cancelled and (left := deadline - time.monotonic()) > 0:
        query.changed.wait(left if on_progress is None else min(POLL_S, left))
        if on_progress is not None and not query.ended.is_set():
            seen = _tasks(query)
            if seen[1] and (max(done, seen[0]), max(total, seen[1])) != (done, total):
                done, total = max(done, seen[0]), max(total, seen[1])
                on_progress(done, total)


def _tasks(query: _Query) -> tuple[int, int]:
    """Tasks finished and known so far. Spark finds more of them as it goes, and forgets old stages."""
    tracker = query.session.sparkContext.statusTracker()
    done = total = 0
    for job in tracker.getJobIdsForGroup(query.id):
        info = tracker.getJobInfo(job)
        for stage in info.stageIds if info else ():
            if tasks := tracker.getStageInfo(stage):
                done, total = done + tasks.numCompletedTasks, total + tasks.numTasks
    return done, total


# ------------------------------------------------------------------------------------------------------ rows into Arrow


def to_arrow(frame: DataFrame) -> pa.Table:
    """All rows as Arrow, whatever the column types and names. Names may repeat. What Arrow has no match for becomes
    Spark's text of it: year-month and calendar intervals, variants, structs with repeated field names, and arrays, maps
    and structs of untyped nulls."""
    names = frame.columns
    plain: Any = frame.toDF(*(f"c{position}" for position in range(len(names))))
    columns = [
        plain[field.name] if _fits(field.dataType) else plain[field.name].cast("string") for field in plain.schema
    ]
    sent = plain.select(*(column.alias(f"c{position}") for position, column in enumerate(columns)))
    # Planned here, where an error is thrown: one in the thread that serves the rows would leave us waiting for them.
    sent._jdf.queryExecution().executedPlan()
    return sent.toArrow().rename_columns(names)


def _fits(kind: types.DataType, inside: bool = False) -> bool:
    match kind:
        case types.ArrayType():
            return _fits(kind.elementType, True)
        case types.MapType():
            return _fits(kind.keyType, True) and _fits(kind.valueType, True)
        case types.StructType():
            return len(set(kind.names)) == len(kind.names) and all(_fits(field.dataType, True) for field in kind)
        case types.NullType():
            return not inside
        case types.YearMonthIntervalType() | types.CalendarIntervalType() | types.VariantType():
            return False
        case _:
            return True
