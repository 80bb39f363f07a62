"""Jobs that outlive a click: queries and changes run outside the page's script, in one registry per process.

Law: a click's rerun ends a script at any `st.*` call, so nothing that must finish runs inside one. Each job id is used
once: submitting it again is refused. One job at a time changes a table. Closing the tab changes nothing; Cancel is a
flag that the job reads between its steps.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from core.errors import Conflict, SnapscopeError
from dashboard import words
from dashboard.formatting import language

log = logging.getLogger("snapscope.jobs")
warms_up = True  # tests that need no Spark switch it off
KEPT_S = 3_600  # a finished job can be looked at for an hour


@dataclass
class Job:
    """One piece of work. Only its own thread writes `result`, `error` and `ended_s`."""

    id: str
    kind: str
    subject: str  # what it works on: jobs that change things are one per subject
    started_s: float
    done: int = 0
    total: int = 0
    stage: str = field(default_factory=lambda: words.JOB_STARTING)
    language: str = field(default_factory=language.chosen)  # its thread speaks that of who asked for it
    result: Any = None
    error: Exception | None = None
    ended_s: float | None = None
    cancelled: threading.Event = field(default_factory=threading.Event)
    _over: threading.Event = field(default_factory=threading.Event)

    @property
    def running(self) -> bool:
        return not self._over.is_set()

    @property
    def is_awaited(self) -> bool:
        """Running, and nobody said that they need its result no more."""
        return self.running and not self.cancelled.is_set()

    def progress(self, done: int, total: int) -> None:
        self.done, self.total = done, total

    def waits(self, seconds: float) -> None:
        self.stage = words.settling(seconds)

    def wait(self, seconds: float) -> bool:
        """True once the work is over; gives a quick answer a chance to be drawn at once."""
        return self._over.wait(seconds)

    def elapsed_s(self) -> float:
        return (self.ended_s or time.monotonic()) - self.started_s


_jobs: dict[str, Job] = {}
_lock = threading.Lock()


def submit(id: str, kind: str, subject: str, work: Callable[[Job], Any], *, exclusive: bool = False) -> Job:
    """Start work under an id. `Conflict` if the id was taken, or if an exclusive job works on the same subject."""
    with _lock:
        _forget_old()
        if id in _jobs:
            raise Conflict(words.JOB_TWICE, remedy=words.JOB_TWICE_NEXT)
        if exclusive and any(each.running and each.kind == kind and each.subject == subject for each in _jobs.values()):
            raise Conflict(words.job_busy(subject), remedy=words.JOB_TWICE_NEXT)
        job = _jobs[id] = Job(id, kind, subject, time.monotonic())
    threading.Thread(target=_run, args=(job, work), name=f"snapscope-{kind}", daemon=True).start()
    return job


def once(id: str, work: Callable[[Job], Any]) -> None:
    """Start work that this process needs once; a failure is in its log and shows when the work is needed."""
    with contextlib.suppress(Conflict):
        submit(id, id, "", work)


def find(id: str | None) -> Job | None:
    """The job of that id, while it is remembered."""
    with _lock:
        return _jobs.get(id) if id else None


def latest(kind: str, subject: str) -> Job | None:
    """The newest job of a kind on a subject."""
    with _lock:
        found = [each for each in _jobs.values() if each.kind == kind and each.subject == subject]
    return max(found, key=lambda each: each.started_s, default=None)


def dismiss(id: str) -> None:
    """Forget a job that is over."""
    with _lock:
        if id in _jobs and not _jobs[id].running:
            del _jobs[id]


def _run(job: Job, work: Callable[[Job], Any]) -> None:
    language.choose(job.language)
    try:
        job.result = work(job)
    except SnapscopeError as error:
        job.error = error
    except Exception as error:
        log.exception("Job %s (%s) failed", job.id, job.kind)
        job.error = error
    finally:
        job.ended_s = time.monotonic()
        job._over.set()


def _forget_old() -> None:
    now = time.monotonic()
    for id in [
        id for id, job in _jobs.items() if job.ended_s is not None and now - job.ended_s > KEPT_S and job.subject
    ]:
        del _jobs[id]
