"""Runs a bisect on a table: each probe is one query at one version, as the Query page and `query` run it.

Law: a probe that fails is unknown and says why; a condition is refused only if it fails at both ends in the same way.
"""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.analysis.bisect import (
    SEEN,
    TURNED,
    BisectResult,
    Candidate,
    Condition,
    Probe,
    answer,
    condition,
    next_place,
    places,
)
from core.errors import Invalid, SnapscopeError
from core.messages import told
from core.model.history import History
from core.model.references import MAIN
from core.table import Table

EVERY_MOST = 200  # places that are looked at one by one
NULL = "the condition is NULL there"


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found. `probes` stand in the order they were asked, `places` in the order of commits."""

    asked: Condition
    branch: str
    places: tuple[Candidate, ...]
    probes: tuple[Probe, ...]
    answer: BisectResult
    is_every: bool
    seconds: float

    @property
    def is_after_gap(self) -> bool:
        """Whether snapshots that went lie before the first point where the condition holds: after the last where it
        does not, or, where there is none, just before."""
        first, last = self.answer.first_true, self.answer.last_false
        if first is None:
            return False
        return any(place.after_gap for place in self.places[first if last is None else last + 1 : first + 1])

    def place(self, number: int | None) -> Candidate | None:
        return None if number is None else self.places[number]


def expected(count: int, *, is_every: bool) -> int:
    """How many probes a search makes where all can be read."""
    return count if is_every else min(count, 2 + math.ceil(math.log2(max(count - 1, 1))))


def search(
    table: Table,
    text: str,
    *,
    start: str | None = None,
    end: str | None = None,
    branch: str = MAIN,
    is_every: bool = False,
    history: History | None = None,
    timeout_s: float = 60.0,
    on_place: Callable[[Candidate, str, int], None] | None = None,
    on_probe: Callable[[Candidate, Probe], None] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Found:
    """The first of a branch's points where a condition holds, between two points (None: all that is retained).

    `on_place` is told each point before it is asked, with the id of its query (for `run.cancel`) and
    how many points there are, `on_probe` each answer. `timeout_s` is for one probe. `is_every` asks all points instead
    of half and half again. `Invalid` for what is no condition, one that can be asked nowhere, and where it was
    cancelled."""
    asked = condition(text)
    history = history or table.history()
    looked = places(history.heads, start, end, branch)
    if is_every and len(looked) > EVERY_MOST:
        raise Invalid(
            "These are {looked:,} points, too many to ask one by one (at most {every_most}).",
            looked=len(looked),
            every_most=EVERY_MOST,
            remedy="Name a shorter stretch, or search without asking every point.",
        )
    began = time.monotonic()
    probes: list[Probe] = []
    known: dict[int, bool | None] = {}
    refusals: list[Invalid] = []
    while (place := _next(len(looked), known, is_every=is_every)) is not None:
        if cancelled():
            raise Invalid("The search was cancelled.")
        id = uuid.uuid4().hex  # Spark takes no more work under an id that was stopped once
        if on_place is not None:
            on_place(looked[place], id, len(looked))
        probe, error = _probe(table, history, asked, looked[place], place, timeout_s, id, cancelled)
        if isinstance(error, Invalid):
            refusals.append(error)
        known[place] = probe.value
        probes.append(probe)
        if on_probe is not None:
            on_probe(looked[place], probe)
        _refuse_alike(probes, refusals, min(2, len(looked)))
    return Found(
        asked, branch, looked, tuple(probes), answer(len(looked), known), is_every, time.monotonic() - began
    )  # fmt: skip


def _next(count: int, known: dict[int, bool | None], *, is_every: bool) -> int | None:
    if not is_every:
        return next_place(count, known)
    return next((place for place in (0, count - 1, *range(count)) if place not in known), None)


def _refuse_alike(probes: Sequence[Probe], refusals: Sequence[Invalid], ends: int) -> None:
    """A condition that both ends refuse in the same words (but for columns it might have meant) is wrong in itself."""
    said = {str(error.message.values.get("said", error)).partition(" Did you mean")[0] for error in refusals}
    if len(probes) == len(refusals) == ends and len(said) == 1:
        raise refusals[0]


def _probe(
    table: Table,
    history: History,
    asked: Condition,
    place: Candidate,
    number: int,
    timeout_s: float,
    id: str,
    cancelled: Callable[[], bool],
) -> tuple[Probe, SnapscopeError | None]:
    from core.spark.query import query
    from core.spark.sql import run as sql  # Spark is slow to load

    def heard(_done: int, _total: int) -> None:
        if cancelled():  # asked for before the query was there to be stopped
            sql.cancel(id)

    began = time.monotonic()
    try:
        found = query.query(
            table,
            asked.statement,
            at=place.point,
            row_cap=2,
            timeout_s=timeout_s,
            query_id=id,
            on_progress=heard,
            history=history,
        ).table
    except SnapscopeError as error:
        if cancelled():
            raise Invalid("The search was cancelled.") from error
        return Probe(number, None, time.monotonic() - began, None, str(error)), error
    seconds = time.monotonic() - began
    if found.num_rows != 1:
        raise Invalid(
            "The condition gave {which} at {point}.",
            which=told("no row") if found.num_rows == 0 else told("more than one row"),
            point=place.point,
            remedy="Ask one thing of the whole table, such as exists(select 1 from t where …) or an aggregate.",
        )
    value = found[TURNED][0].as_py()
    if value is not None and not isinstance(value, bool):
        raise Invalid(
            "The condition is neither true nor false at {point}: it gives {value!r}.",
            point=place.point,
            value=value,
            remedy="Compare it with something, such as count(*) > 1000.",
        )
    seen = _text(found[SEEN][0].as_py()) if asked.compares else None
    return Probe(number, value, seconds, seen, NULL if value is None else None), None


def _text(value: object) -> str:
    return "NULL" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
