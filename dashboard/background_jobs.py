"""Jobs that outlive a click: queries and changes run outside the page script, in one registry per process.

Invariant: a click reruns the page and can end the running script at any `st.*` call, so nothing that must complete runs
in a script. Each job id is used once; submitting it again is rejected. Only one job at a time changes a table. Closing
the tab has no effect on jobs; Cancel sets a flag that the job checks between its steps.
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
from dashboard.words.runs import RunState

log = logging.getLogger("snapscope.jobs")
warms_up = True  # tests that do not need Spark turn it off
KEPT_S = 3_600  # finished jobs are kept for an hour


@dataclass
class Job:
    """A unit of work. Only its own thread writes `result`, `error` and `ended_s`."""

    id: str
    kind: str
    subject: str  # what it works on; only one exclusive job per subject
    started_s: float
    done: int = 0
    total: int = 0
    language: str = field(default_factory=language.chosen)  # of the reader who started it
    title: str = ""  # the table, as readers call it
    about: str = ""  # what it does to it, in a sentence
    planned: int = 0  # files, references among them, that the plan frees: the one total of all its steps
    waits_until_s: float | None = None
    is_read: bool = False  # somebody has seen how it ended
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
        """Whether the job is running and somebody still needs its result."""
        return self.running and not self.cancelled.is_set()

    def progress(self, done: int, total: int) -> None:
        self.done, self.total = done, total

    def waits(self, seconds: float) -> None:
        self.waits_until_s = time.monotonic() + seconds

    def state(self) -> RunState:
        """How far it is, as a run of a plan."""
        left = None if self.waits_until_s is None else self.waits_until_s - time.monotonic()
        total = max(self.planned, self.total)
        return RunState(left, total - self.total + self.done, total, bool(self.total))

    def wait(self, seconds: float) -> bool:
        """Wait for the job, at most this long; True once it is over. Lets quick results be drawn immediately."""
        return self._over.wait(seconds)

    def elapsed_s(self) -> float:
        return (self.ended_s or time.monotonic()) - self.started_s


_jobs: dict[str, Job] = {}
_lock = threading.Lock()


def submit(
    id: str,
    kind: str,
    subject: str,
    work: Callable[[Job], Any],
    *,
    exclusive: bool = False,
    title: str = "",
    about: str = "",
    planned: int = 0,
) -> Job:
    """Start a job. Raises `Conflict` if the id was already used, or if an exclusive job is working on the same
    subject. `title` is the table, `about` says what is done to it, `planned` is how many files that frees."""
    with _lock:
        _forget_old()
        if id in _jobs:
            raise Conflict(words.JOB_TWICE, remedy=words.JOB_TWICE_NEXT)
        if exclusive and any(each.running and each.kind == kind and each.subject == subject for each in _jobs.values()):
            raise Conflict(words.job_busy(subject), remedy=words.JOB_TWICE_NEXT)
        job = _jobs[id] = Job(id, kind, subject, time.monotonic(), title=title, about=about, planned=planned)
    threading.Thread(target=_run, args=(job, work), name=f"snapscope-{kind}", daemon=True).start()
    return job


def once(id: str, work: Callable[[Job], Any]) -> None:
    """Start work that this process needs only once; an error is logged and appears when the work is needed."""
    with contextlib.suppress(Conflict):
        submit(id, id, "", work)


def find(id: str | None) -> Job | None:
    """Return the job with this id, if it is still kept."""
    with _lock:
        return _jobs.get(id) if id else None


def latest(kind: str, subject: str) -> Job | None:
    """Return the newest job of a kind on a subject."""
    with _lock:
        found = [each for each in _jobs.values() if each.kind == kind and each.subject == subject]
    return max(found, key=lambda each: each.started_s, default=None)


def of_kind(kind: str) -> list[Job]:
    """All jobs of a kind that are remembered, the oldest first."""
    with _lock:
        return sorted((each for each in _jobs.values() if each.kind == kind), key=lambda each: each.started_s)


def dismiss(id: str) -> None:
    """Forget a finished job."""
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
