"""Run a bisect on a table: each probe is one query at one version, run like the Query page and `query` do.

Invariant: a probe that fails is unknown and says why; a condition is refused only if it fails at both ends in the same
way.
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
from core.messages import message
from core.model.history import History
from core.model.references import MAIN
from core.table import Table

EVERY_MOST = 200  # how many places may be checked one by one
NULL = "the condition is NULL there"


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search. `probes` are in the order they were made, `places` in commit order."""

    condition: Condition
    branch: str
    places: tuple[Candidate, ...]
    probes: tuple[Probe, ...]
    answer: BisectResult
    is_every: bool
    seconds: float

    @property
    def is_after_gap(self) -> bool:
        """Whether snapshots that are no longer retained lie where the condition may have turned true.

        That is after the last version where it is false or, if there is none, just before the first where it is true.
        """
        first, last = self.answer.first_true, self.answer.last_false
        if first is None:
            return False
        return any(place.after_gap for place in self.places[first if last is None else last + 1 : first + 1])

    def place(self, number: int | None) -> Candidate | None:
        return None if number is None else self.places[number]


def expected(count: int, *, is_every: bool) -> int:
    """How many probes a search makes if all versions can be read."""
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
    """Find the first version of a branch at which a condition holds, between two versions (None: all retained).

    `on_place` is called with each version before its probe, the id of the query (for `run.cancel`) and the number of
    versions; `on_probe` with each answer. `timeout_s` applies to one probe. `is_every` probes all versions instead of
    bisecting. Raises `Invalid` if the text is not a condition, if it fails everywhere, and on cancellation.
    """
    parsed_condition = condition(text)
    history = history or table.history()
    candidates = places(history.heads, start, end, branch)
    if is_every and len(candidates) > EVERY_MOST:
        raise Invalid(
            "{looked:,} versions are too many to check one by one (at most {every_most}).",
            looked=len(candidates),
            every_most=EVERY_MOST,
            remedy="Give a shorter range, or search without checking every snapshot.",
        )
    began = time.monotonic()
    probes: list[Probe] = []
    known: dict[int, bool | None] = {}
    refusals: list[Invalid] = []
    while (place := _next(len(candidates), known, is_every=is_every)) is not None:
        if cancelled():
            raise Invalid("The search was cancelled.")
        id = uuid.uuid4().hex  # Spark accepts no more work under an id that was cancelled
        if on_place is not None:
            on_place(candidates[place], id, len(candidates))
        probe, error = _probe(table, history, parsed_condition, candidates[place], place, timeout_s, id, cancelled)
        if isinstance(error, Invalid):
            refusals.append(error)
        known[place] = probe.value
        probes.append(probe)
        if on_probe is not None:
            on_probe(candidates[place], probe)
        _refuse_alike(probes, refusals, min(2, len(candidates)))
    outcome, seconds = answer(len(candidates), known), time.monotonic() - began
    return Found(parsed_condition, branch, candidates, tuple(probes), outcome, is_every, seconds)


def _next(count: int, known: dict[int, bool | None], *, is_every: bool) -> int | None:
    if not is_every:
        return next_place(count, known)
    return next((place for place in (0, count - 1, *range(count)) if place not in known), None)


def _refuse_alike(probes: Sequence[Probe], refusals: Sequence[Invalid], ends: int) -> None:
    """Raise the refusal of both ends if the wording is the same (except suggested columns): the condition is wrong."""
    wordings = {str(error.message.values.get("said", error)).partition(" Did you mean")[0] for error in refusals}
    if len(probes) == len(refusals) == ends and len(wordings) == 1:
        raise refusals[0]


def _probe(
    table: Table,
    history: History,
    condition: Condition,
    place: Candidate,
    number: int,
    timeout_s: float,
    id: str,
    cancelled: Callable[[], bool],
) -> tuple[Probe, SnapscopeError | None]:
    from core.spark.query import query
    from core.spark.sql import run as sql  # slow to import

    def stop_if_cancelled(_done: int, _total: int) -> None:
        if cancelled():  # cancelled before the query could be stopped
            sql.cancel(id)

    began = time.monotonic()
    try:
        found = query.query(
            table,
            condition.statement,
            at=place.point,
            row_cap=2,
            timeout_s=timeout_s,
            query_id=id,
            on_progress=stop_if_cancelled,
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
            which=message("no row") if found.num_rows == 0 else message("more than one row"),
            point=place.point,
            remedy=("Ask for one value of the whole table, such as exists(select 1 from t where …) or an aggregate."),
        )
    value = found[TURNED][0].as_py()
    if value is not None and not isinstance(value, bool):
        raise Invalid(
            "The condition is neither true nor false at {point}: it gives {value!r}.",
            point=place.point,
            value=value,
            remedy="Compare it with a value, such as count(*) > 1000.",
        )
    seen = _text(found[SEEN][0].as_py()) if condition.compares else None
    return Probe(number, value, seconds, seen, NULL if value is None else None), None


def _text(value: object) -> str:
    return "NULL" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
