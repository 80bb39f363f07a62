"""Bisect: find the first version of a branch at which a condition holds, in log2(n) probes. Pure.

Invariants: the search assumes that the condition turned true once and stayed true, and reports everything it saw that
contradicts this. A probe that could not be read, or whose answer is NULL, is unknown and never false; the result then
names the versions between which the change happened. Nothing is claimed about versions that are no longer retained.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from core.errors import Invalid, NotFound
from core.messages import message
from core.model.lineage import ancestors, members
from core.model.references import MAIN, Heads, Line, Snapshot
from core.storage.size_limits import STATEMENT
from core.table import resolve

MOST_UNKNOWN = 16  # after this many probes without an answer, a search reports what it knows
TURNED, SEEN = "turned", "seen"  # columns of a probe: the condition, and the value it compares
OFF_THE_WAY = frozenset({"rolled-back", "staged"})


@dataclass(frozen=True, slots=True)
class Candidate:
    """A version to probe.

    `time_ms` is its commit, None if its snapshot cannot be read. `after_gap`: the commits just before it are no longer
    retained, so a change seen here may be older.
    """

    point: str
    id: int
    time_ms: int | None
    after_gap: bool = False


@dataclass(frozen=True, slots=True)
class Probe:
    """The answer at one place: True, False, or None for unknown; then `problem` says why.

    `seen` is the value that the condition compares, if it compares one (`count(*)` in `count(*) > 10`).
    """

    place: int
    value: bool | None
    seconds: float
    seen: str | None = None
    problem: str | None = None


class Outcome(StrEnum):
    TURNED = "turned"  # false, later true
    ALREADY = "already"  # true at the first version that could be read
    NEVER = "never"  # true at no version that was probed
    BACK = "back"  # true at the first version and false at the last: it did not turn once
    UNKNOWN = "unknown"  # nothing could be read


@dataclass(frozen=True, slots=True)
class BisectResult:
    """The result of a search; places are indexes of candidates.

    `unknown` are the places between `last_false` and `first_true` without an answer. `contradictions` are pairs of a
    place where the condition holds and the next probed one, where it does not.
    """

    outcome: Outcome
    first_true: int | None
    last_false: int | None
    unknown: tuple[int, ...]
    contradictions: tuple[tuple[int, int], ...]


Known = Mapping[int, bool | None]


def next_place(count: int, known: Known) -> int | None:
    """The place to probe next among `count`: both ends first, then the middle of the open range; None when finished."""
    for end in (0, count - 1):
        if end not in known:
            return end
    if known[0] is True or known[count - 1] is False:
        return None
    if sum(value is None for value in known.values()) >= MOST_UNKNOWN:
        return None
    low, high = _between(count, known)
    probed = [low, *sorted(place for place in known if low < place < high), high]
    # Around unknown places, probe the longest unprobed stretch, the later one if equal: any answer there halves the
    # rest.
    gap, start = max((after - before, before) for before, after in itertools.pairwise(probed))
    return start + gap // 2 if gap > 1 else None


def answer(count: int, known: Known) -> BisectResult:
    """The result of the probes so far."""
    low, high = _between(count, known)
    unknown = tuple(place for place in range(low + 1, high) if known.get(place) is None)
    answers = sorted((place, value) for place, value in known.items() if value is not None)
    steps = itertools.pairwise(answers)
    contradictions = tuple((one, other) for (one, before), (other, after) in steps if before and not after)
    first_true = high if high < count else None
    if first_true is None:
        outcome = Outcome.NEVER if low >= 0 else Outcome.UNKNOWN
    elif low >= 0:
        outcome = Outcome.TURNED
    else:
        outcome = Outcome.BACK if known.get(count - 1) is False else Outcome.ALREADY
    return BisectResult(outcome, first_true, low if low >= 0 else None, unknown, contradictions)


def _between(count: int, known: Known) -> tuple[int, int]:
    """The last place known to be false before the first known to be true, and that one; -1 and `count` if none."""
    high = min((place for place, value in known.items() if value is True), default=count)
    return max((place for place, value in known.items() if value is False and place < high), default=-1), high


# ------------------------------------------------------------------------------------------------------------- places


def places(heads: Heads, start: str | None, end: str | None, branch: str = MAIN) -> tuple[Candidate, ...]:
    """The retained snapshots of a branch in commit order, preceded by those that only a tag keeps.

    `start` and `end` are POINTs, both included (None: from the first, to the last). Raises `NotFound` or `Invalid` for
    versions that do not exist, are not on the branch, or are in the wrong order.
    """
    line = heads.line(branch)
    if line is None:
        resolve(heads, "latest", branch)
        raise NotFound("There is no branch {branch!r}.", branch=branch, path=heads.location)
    way = _by_ids(line) if heads.capabilities.ids_are_ordered else _by_parents(heads, line)
    if not way:
        raise NotFound("Branch {branch} has no snapshot to look at.", branch=branch, path=heads.location)
    first = 0 if start is None else _position(heads, way, start, branch)
    last = len(way) - 1 if end is None else _position(heads, way, end, branch)
    if first > last:
        raise Invalid("{start} comes after {end}.", start=start, end=end, remedy="Name the earlier version first.")
    return tuple(
        place if is_linked else replace(place, after_gap=True)
        for (place, _), is_linked in zip(way, _linked(heads, way), strict=True)
    )[first : last + 1]


_Way = list[tuple[Candidate, Snapshot | None]]


def _by_ids(line: Line) -> _Way:
    before = "" if line.branch == MAIN else f"branch:{line.branch}/"
    found: dict[int, tuple[Candidate, Snapshot | None]] = {
        int(each.name): (Candidate(before + each.name, int(each.name), None), None)
        for each in line.unreadable
        if each.kind == "snapshot"
    }
    found |= {each.id: (Candidate(f"{before}{each.id}", each.id, each.time_ms), each) for each in line.snapshots}
    newest = max(found, default=None)
    for tag in line.tags:  # a tag newer than the newest snapshot remains from before a rollback
        own = tag.snapshot
        if own.id not in found and (newest is None or own.id < newest):
            found[own.id] = (Candidate(f"{before}tag:{tag.name}", own.id, own.time_ms), own)
    return [found[number] for number in sorted(found)]


def _by_parents(heads: Heads, line: Line) -> _Way:
    """The branch's ancestors, preceded by older snapshots that only main's tags keep."""
    head = line.latest
    chain = list(ancestors(members(heads), None if head is None else head.id))[::-1]
    found = [(Candidate(str(each.id), each.id, each.time_ms), each) for each in chain]
    if line.branch == MAIN and chain:
        tags = {tag.snapshot.id: tag for each in heads.lines for tag in each.tags}
        old = sorted(
            (tag for tag in tags.values() if _is_before(tag.snapshot, chain)), key=lambda tag: tag.snapshot.time_ms
        )
        kept = [(Candidate(f"tag:{tag.name}", tag.snapshot.id, tag.snapshot.time_ms), tag.snapshot) for tag in old]
        return [*kept, *found]
    return [*found]


def _is_before(snapshot: Snapshot, chain: list[Snapshot]) -> bool:
    return snapshot.time_ms < chain[0].time_ms and snapshot.state not in OFF_THE_WAY and snapshot not in chain


def _linked(heads: Heads, way: _Way) -> Iterator[bool]:
    """Per place: whether the one before it is the commit just before."""
    yield True
    for (one, _), (other, snapshot) in itertools.pairwise(way):
        if heads.capabilities.ids_are_ordered:
            yield other.id - one.id == 1  # ids count commits
        else:
            yield snapshot is not None and snapshot.parent_id == one.id


def _position(heads: Heads, way: _Way, point: str, branch: str) -> int:
    at = resolve(heads, point, branch)
    for position, (place, snapshot) in enumerate(way):
        if place.id == at.snapshot.id and snapshot is not None and snapshot.content == at.snapshot.content:
            return position
    raise Invalid(
        "{point} is snapshot {id}, which is not in the history of branch {branch}.",
        point=point,
        id=at.snapshot.id,
        branch=branch,
        remedy="Name versions of one branch, and give that branch with --branch.",
    )


# ---------------------------------------------------------------------------------------------------------- condition


@dataclass(frozen=True, slots=True)
class Condition:
    """What is asked at each place: `statement` returns one row with the columns TURNED and, if `compares`, SEEN."""

    text: str
    statement: str
    compares: bool


def condition(text: str) -> Condition:
    """Turn a condition over `t` into a statement: `count(*) > 1000`, `exists(select 1 from t where …)`, `max(a) < 0`.

    Raises `Invalid` for what is not an expression, and for what would be true or false of each row.
    """
    from sqlglot import exp, parse
    from sqlglot.errors import SqlglotError

    own = text.strip().rstrip(";").rstrip()
    if len(own) > STATEMENT:
        raise Invalid(
            "A statement may have at most {most:,} characters; this one has {found:,}.", most=STATEMENT, found=len(own)
        )
    try:
        parsed = [each for each in parse(own, read="spark") if each is not None]
        outer = [part for each in parsed for part in _outside(each, exp.Query)]
    except RecursionError:
        raise Invalid("The query was rejected: it is nested too deeply.", remedy=_SUCH) from None
    except SqlglotError as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise Invalid(
            "The condition is not a valid SQL expression: {plain}", plain=_plain(reason), remedy=_SUCH
        ) from error
    if len(parsed) != 1 or not isinstance(parsed[0], exp.Condition | exp.Query):
        raise Invalid("A condition is one SQL expression.", remedy=_SUCH)
    reads = any(isinstance(each, exp.Column | exp.AggFunc | exp.Anonymous | exp.Any) for each in outer)
    if reads and not any(isinstance(each, exp.AggFunc | exp.Anonymous | exp.Any) for each in outer):
        raise Invalid(
            "This condition is true or false for each row, not for the table as a whole.",
            remedy=message("Ask whether such rows exist: exists(select 1 from t where {own}).", own=own),
        )
    seen = _compared(own)
    columns = f"(\n{own}\n) AS {TURNED}" + ("" if seen is None else f", (\n{seen}\n) AS {SEEN}")
    return Condition(own, f"SELECT {columns}" + (" FROM t" if reads else ""), seen is not None)


_COMPARISONS = frozenset({"GT", "GTE", "LT", "LTE", "EQ", "NEQ"})
_MORE = frozenset({"AND", "OR", "NOT", "CASE", "BETWEEN", "IN", "IS", "LIKE", "ILIKE", "RLIKE", "SELECT", "WITH"})
_SUCH = message("Such as count(*) > 1000, max(amount) < 0 or exists(select 1 from t where amount < 0).")


def _plain(text: str) -> str:
    """Remove the escapes that underline a place in a terminal."""
    return text.replace("\x1b[4m", "").replace("\x1b[0m", "")


def _outside(node: Any, inner: Any) -> Iterator[Any]:
    """A parsed expression and its parts, except those inside its subqueries."""
    if not isinstance(node, inner):
        yield node
        for part in node.iter_expressions():
            yield from _outside(part, inner)


def _compared(text: str) -> str | None:
    """The left side of a condition that is one comparison, as written; None for any other."""
    from sqlglot import tokenize

    depth, found = 0, []
    for token in tokenize(text, read="spark"):
        kind = token.token_type.name
        depth += (kind in ("L_PAREN", "L_BRACKET")) - (kind in ("R_PAREN", "R_BRACKET"))
        if depth == 0 and kind in _MORE:
            return None
        if depth == 0 and kind in _COMPARISONS:
            found.append(token)
    return text[: found[0].start].rstrip() or None if len(found) == 1 else None
