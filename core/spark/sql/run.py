"""Run a user's query: checked, with a row limit and a time limit, cancellable from any thread, with progress.

Invariants:
- Only what core/spark/sql/guard.py accepted runs, and exactly the plan that was checked.
- The caller gets an answer at the end, at the time limit, or on cancellation, whatever Spark does: neither its thread
  nor the one that cleans up stopped queries calls the JVM.
- One time limit covers everything: waiting for Spark, planning, running, and running again.
- A stopped query releases its cores: if its tasks or the JVM do not react, Spark is killed from outside and restarted.
- Whatever Spark raises becomes one sentence in Spark's own words; a stack trace is never shown.
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
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from core.errors import Conflict, Invalid, SnapscopeError, TimedOut
from core.messages import message
from core.spark.session import cluster, connect
from core.spark.session import session as sessions
from core.spark.session.refusals import TOO_LARGE, TOO_LARGE_NEXT, TOO_LARGE_TOGETHER, refusal
from core.spark.sql import guard
from core.spark.sql.arrow_rows import first_rows

POLL_S = 0.15
AGAIN_S = 0.25
LINGER_S = 5.0
EXIT_S = 2.0  # seconds from a broken connection to the exit status of its JVM
ATTEMPTS = 3  # killing Spark because of one query ends other queries, too

_GONE = (Py4JError, OSError, AttributeError)  # raised by calls to a Spark that has ended


@dataclass(frozen=True, slots=True)
class StatementResult:
    """Rows as an Arrow table. `truncated`: there are more than the cap. `seconds`: from the call to the rows."""

    table: pa.Table
    truncated: bool
    seconds: float


@dataclass(slots=True)
class RunningStatement:
    """A running query, shared by its caller, its worker and whoever cancels it."""

    id: str
    changed: threading.Event = field(default_factory=threading.Event)  # set when it ended or was cancelled
    ended: threading.Event = field(default_factory=threading.Event)
    cancelled: bool = False
    given_up: bool = False  # nobody waits for the rows: cancelled, timed out, or the caller has left
    has_begun: bool = False  # Spark has started
    is_alone: bool = True  # no other query ran at the same time
    spark: sessions.Spark | None = None  # what it runs on, once started
    remote: Any = None  # its session of a Connect server, if it has one
    tasks: tuple[int, int] = (0, 0)  # (done, known)
    result: Any = None
    error: BaseException | None = None

    def answer(self, make: Callable[[], DataFrame], *, row_cap: int = 1_000) -> StatementResult:
        """At most `row_cap` rows of a frame, in the query's own thread.

        Raises Spark's errors as `refusal` converts them.
        """
        if not 1 <= row_cap <= _MOST_ROWS:
            raise Invalid("The row cap must be from 1 to {most:,}, not {row_cap}.", most=_MOST_ROWS, row_cap=row_cap)
        began = time.monotonic()
        try:
            frame = make()
            if self.given_up:
                raise _stopped()
            rows = first_rows(frame, row_cap + 1)
        except Exception as error:
            raise refusal(error) from error
        return StatementResult(rows.slice(0, row_cap), rows.num_rows > row_cap, time.monotonic() - began)


_MOST_ROWS = 2**31 - 2  # one more is asked for, and Spark's limit is a 32-bit integer
_running: dict[str, RunningStatement] = {}
_lock = threading.Lock()


_T = TypeVar("_T")


def run_on_spark(
    work: Callable[[SparkSession, RunningStatement], _T],
    *,
    timeout_s: float,
    query_id: str | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    session: SparkSession | None = None,
) -> _T:
    """Run the work in its own thread and, unless one is given, its own session; retry if another query ended its Spark.

    `timeout_s` covers everything. `on_progress(done, total)` counts tasks, both never decreasing; it is called in the
    caller's thread, first as soon as the query can be cancelled, then at most every 0.15 s, and anything it raises
    cancels the query. `query_id` is what `cancel` takes; use a new one for each query. Raises what the work raises,
    Invalid on timeout and cancellation, Conflict if `query_id` is already running.
    """
    began = time.monotonic()
    query = RunningStatement(id=query_id or uuid.uuid4().hex)
    with _lock:
        if query.id in _running:
            raise Conflict("A query with the id {id} is already running.", id=query.id)
        query.is_alone = not _running
        for other in _running.values():
            other.is_alone = False
        _running[query.id] = query
    try:
        # Spark's job groups belong to threads, and planning that hangs cannot be interrupted: one thread per query.
        _thread(f"query {query.id}", _work, query, work, session)
        if on_progress is not None:
            _thread(f"progress of query {query.id}", _count, query)
        _wait(query, began + timeout_s, on_progress)
    finally:
        with _lock:
            del _running[query.id]
        if query.cancelled or not query.ended.is_set():
            query.given_up = True
            _thread(f"ending query {query.id}", _release_cores, query)
    if query.cancelled:
        raise _stopped()
    if query.given_up:
        raise _too_slow(query, timeout_s)
    if query.error is not None:
        raise query.error
    done: _T = query.result
    return done


def run(
    session: SparkSession,
    sql: str,
    views: Collection[str],
    *,
    row_cap: int = 1_000,
    timeout_s: float = 60.0,
    on_progress: Callable[[int, int], None] | None = None,
    query_id: str | None = None,
) -> StatementResult:
    """Check and run `sql` over the temporary views named in `views`; return at most `row_cap` rows.

    See `run_on_spark` for the rest. Raises Invalid for what the guard refuses and what Spark cannot run, Corrupt for a
    data file that cannot be read.
    """
    return run_on_spark(
        lambda spark, run: run.answer(lambda: guard.check(spark, sql, views).frame, row_cap=row_cap),
        timeout_s=timeout_s,
        query_id=query_id,
        on_progress=on_progress,
        session=session,
    )


def _stopped() -> Invalid:
    return Invalid("The query was cancelled.")


def _too_slow(query: RunningStatement, timeout_s: float) -> TimedOut:
    remedy = message("Add a filter or select fewer columns, or raise the limit (--timeout on the command line).")
    if not query.has_begun:
        remedy = message(
            "Spark had not started by then: try again, or raise the limit (--timeout on the command line)."
        )
    if (master := sessions.cluster_name()) is not None and not query.tasks[0]:
        remedy = message(
            "If {master} has no free workers, wait for one, or raise the limit (--timeout).", master=master
        )
    return TimedOut("The query was stopped after {timeout_s:g} s, its time limit.", timeout_s=timeout_s, remedy=remedy)


def _thread(name: str, work: Callable[..., None], *given: object) -> threading.Thread:
    started = threading.Thread(target=work, args=given, name=name, daemon=True)
    started.start()
    return started


def cancel(query_id: str) -> bool:
    """Cancel a running query, from any thread: its `run` raises Invalid. False if no query of that id runs."""
    with _lock:
        query = _running.get(query_id)
        if query is None:
            return False
        query.cancelled = query.given_up = True
    query.changed.set()  # its caller does the rest
    return True


# threads of a query ------------------------------------------------------------------------------------------------


def _work(
    query: RunningStatement, work: Callable[[SparkSession, RunningStatement], object], session: SparkSession | None
) -> None:
    try:
        for left in reversed(range(ATTEMPTS if session is None else 1)):
            try:
                query.spark = sessions.spark()
                own = session or sessions.isolated()
                try:
                    query.spark = sessions.spark()  # a new one if the first accepted no work
                    _name(query, own)
                    if not query.given_up:
                        query.has_begun = True
                        query.result = work(own, query)
                finally:
                    query.remote = None
                    if session is None:
                        sessions.release(own)
                return
            except Exception as error:
                taken = _taken_away(query, error)
                if query.given_up or not left or query.spark is None or not query.spark.was_killed:
                    raise taken or _of_ours(error) from error
    except BaseException as error:  # noqa: BLE001 - handed to the caller's thread, which raises it
        query.error = error
    finally:
        query.ended.set()
        query.changed.set()


def _name(query: RunningStatement, own: SparkSession) -> None:
    """Make the work that this thread starts in a session known as the query's, so that it can be counted and ended."""
    if not connect.is_remote(own):
        own.sparkContext.setJobGroup(query.id, "a query in Snapscope", interruptOnCancel=True)
        return

    def count(stages: Any, *_others: Any, **_more: Any) -> None:
        done, total = (sum(getattr(each, of) for each in stages or ()) for of in ("num_completed_tasks", "num_tasks"))
        query.tasks = max(query.tasks[0], done), max(query.tasks[1], total)

    remote: Any = own
    remote.registerProgressHandler(count)
    query.remote = remote


def _taken_away(query: RunningStatement, error: Exception) -> SnapscopeError | None:
    """The error if the work failed because its Spark ended; None for any other failure."""
    if query.spark is None:
        return None
    if query.spark.was_killed:
        return Invalid("Spark was restarted while the query ran.", remedy="Run it again.")
    chain = (error, error.__cause__, error.__context__)
    if not query.spark.ran_out_of_memory(EXIT_S if any(map(_is_cut_off, chain)) else 0):
        master = sessions.cluster_name()
        return cluster.ended(query.spark.farewell(), master) if master and any(map(_is_cut_off, chain)) else None
    return Invalid(TOO_LARGE if query.is_alone else TOO_LARGE_TOGETHER, remedy=TOO_LARGE_NEXT)


def _is_cut_off(error: BaseException | None) -> bool:
    """Whether the JVM did not answer: not an error of a file, which is another subclass of OSError. Py4J raises a bare
    Py4JError if only part of an answer arrived."""
    is_network = isinstance(error, ConnectionError | TimeoutError | EOFError | Py4JNetworkError)
    return is_network or type(error) in (OSError, Py4JError)


def _of_ours(error: Exception) -> Exception:
    """Convert errors of Spark to ours; return others unchanged."""
    return refusal(error) if isinstance(error, Py4JError | PySparkException | ConnectionError) else error


def _count(query: RunningStatement) -> None:
    """Count tasks finished and known so far. Spark finds more of them while running, and forgets old stages."""
    while not query.ended.wait(POLL_S) and not query.given_up:
        if query.spark is None:
            continue
        try:
            tracker = query.spark.session.sparkContext.statusTracker()
            done = total = 0
            for job in tracker.getJobIdsForGroup(query.id):
                info = tracker.getJobInfo(job)
                for stage in info.stageIds if info else ():
                    if tasks := tracker.getStageInfo(stage):
                        done, total = done + tasks.numCompletedTasks, total + tasks.numTasks
        except _GONE:
            continue
        query.tasks = max(query.tasks[0], done), max(query.tasks[1], total)


def _wait(query: RunningStatement, deadline: float, on_progress: Callable[[int, int], None] | None) -> None:
    """Wait until the query has ended, was cancelled, or the deadline has passed."""
    reported = (0, 0)
    if on_progress is not None:
        on_progress(0, 0)  # a caller that gave up earlier can say so now
    while not query.ended.is_set() and not query.cancelled and (left_s := deadline - time.monotonic()) > 0:
        query.changed.wait(left_s if on_progress is None else min(POLL_S, left_s))
        if on_progress is not None and not query.ended.is_set() and (seen := query.tasks)[1] and seen != reported:
            reported = seen
            on_progress(*reported)


@dataclass(slots=True)
class _TaskState:
    """The last known state of a query that is to end."""

    at: float
    lingering: int = 0  # tasks that still hold a core
    cores: int = 1
    over: threading.Event = field(default_factory=threading.Event)


def _release_cores(query: RunningStatement) -> None:
    """Make sure that a stopped query releases its cores. All calls to the JVM are made by another thread.

    Its tasks get `LINGER_S` seconds to end. The loops of a cross join do not react for minutes or hours: a local Spark
    that nobody else uses, or that has no free core left, is killed with them. So is one that has not answered for that
    long.
    """
    state = _TaskState(time.monotonic())
    _thread(f"cancelling query {query.id}", _cancel, query, state)
    deadline = time.monotonic() + LINGER_S
    while not state.over.wait(AGAIN_S):
        if query.spark is None or (now := time.monotonic()) < deadline:
            continue
        with _lock:
            is_alone = not _running
        is_held = state.lingering and (is_alone or state.lingering >= state.cores)
        is_stuck = query.ended.is_set() and is_held and sessions.is_local(query.spark.session)
        if is_stuck or now - state.at > LINGER_S:
            sessions.kill(query.spark)
            return


def _interrupt(remote: Any) -> None:
    """End what runs in a session of a Connect server, which may not answer."""
    with contextlib.suppress(Exception):  # the server has ended, and the tasks with it
        remote.interruptAll()


def _cancel(query: RunningStatement, state: _TaskState) -> None:
    """Cancel until worker and tasks have ended: Spark lets future jobs through if they end in a shuffle."""
    interrupting: threading.Thread | None = None
    while not (query.ended.is_set() and query.spark is None):
        is_last = query.ended.is_set()
        if (remote := query.remote) is not None and not (interrupting and interrupting.is_alive()):
            interrupting = _thread(f"interrupting query {query.id}", _interrupt, remote)
        if query.spark is not None:
            try:
                context: Any = query.spark.session.sparkContext
                context._jsc.sc().cancelJobGroupAndFutureJobs(query.id)
                tracker = context.statusTracker()
                jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(query.id)]
                stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
                state.cores = context.defaultParallelism
                state.lingering = sum(stage.numActiveTasks for stage in stages if stage)
                state.at = time.monotonic()
            except _GONE:  # Spark has ended, and the tasks with it
                break
            if is_last and not state.lingering:
                break
        query.ended.wait(AGAIN_S)
        if is_last:
            time.sleep(AGAIN_S)
    state.over.set()
