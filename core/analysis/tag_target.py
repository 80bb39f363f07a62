"""Which snapshot a tag created from a time or a watermark names: the first one at or after it. Pure.

Invariant (Paimon's create_tag_from_timestamp and _from_watermark): creating a tag rounds up where time travel rounds
down. A tag whose snapshot has expired is a candidate, too, if it is nearer. The result of the engine's own search is
returned alongside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.errors import Corrupt, Invalid, NotFound
from core.messages import both, message
from core.model.references import MAIN, Heads, Line, Snapshot
from core.model.time_travel import AsOf, in_words
from core.table import resolve


@dataclass(frozen=True, slots=True)
class TagTarget:
    """The snapshot that the tag would name.

    `tag` keeps it if it has expired. `travel` is what time travel returns, None if nothing. `engine` is the id that the
    engine's own search finds, `engine_note` why it differs, if that is not for the commit times.
    """

    snapshot: Snapshot
    tag: str | None
    rule: str
    travel: AsOf | None
    engine: int | None
    engine_note: str | None = None

    def sentences(self) -> list[str]:
        """Both answers, to be shown before anything is tagged."""
        here = self.travel
        answer = message("nothing") if here is None else message("snapshot {id}", id=here.snapshot.id)
        found: list[str] = [
            message("The tag will point to snapshot {id}: {rule}", id=self.snapshot.id, rule=self.rule),
            message("Time travel to that time finds {answer}.", answer=answer),
        ]
        if here is not None:
            found[-1] = both(found[-1], here.rule)
        if self.engine != self.snapshot.id:
            own = message("finds nothing") if self.engine is None else message("finds {engine}", engine=self.engine)
            note = message("Paimon's own search {own}: it stops at equal or out-of-order commit times.", own=own)
            found.append(self.engine_note or note)
        return found


def tag_target(
    heads: Heads, *, time_ms: int | None = None, watermark: int | None = None, branch: str = MAIN
) -> TagTarget:
    """What a tag created from a time or a watermark names. Raises `NotFound` if everything is earlier."""
    if (time_ms is None) == (watermark is None):
        raise Invalid("A tag can be created from a time or from a watermark.", remedy="Give exactly one of them.")
    if not heads.capabilities.makes_tags_from_times:
        raise Invalid(
            "{format} cannot create a tag from a time.",
            format=heads.capabilities.title,
            remedy="Give a snapshot id; `snapscope as-of` shows which snapshot was current then.",
        )
    line = heads.line(branch)
    if line is None:
        raise NotFound("There is no branch {branch!r}.", branch=branch, path=heads.location)
    for each in line.unreadable:
        if each.kind in ("snapshot", "tag"):
            raise Corrupt(
                "Which snapshot was current then cannot be determined: {problem}",
                problem=each.problem.sentence(),
                path=each.problem.path,
            )
    if watermark is not None:
        return _of(
            heads,
            line,
            lambda each: each.watermark,
            watermark,
            message("a watermark of {watermark}", watermark=watermark),
            "watermark",
        )
    assert time_ms is not None
    return _of(heads, line, lambda each: each.time_ms, time_ms, in_words(time_ms), "time")


def _of(
    heads: Heads, line: Line, value: Callable[[Snapshot], int | None], wanted: int, words: str, kind: str
) -> TagTarget:
    def fits(each: Snapshot) -> bool:
        return (own := value(each)) is not None and own >= wanted

    retained = next((each for each in line.snapshots if fits(each)), None)
    found, tag = retained, None
    first = next((each for each in line.tags if fits(each.snapshot)), None)  # the engine looks only at the first tag
    if first is not None and (retained is None or (value(first.snapshot) or 0) < (value(retained) or 0)):
        found = first.snapshot
        tag = None if any(each.id == found.id for each in line.snapshots) else first.name
    if found is None:
        last = max((own for each in line.snapshots if (own := value(each)) is not None), default=None)
        newest = (
            message("There are no watermarks.")
            if last is None
            else message("The newest is {value}.", value=in_words(last) if kind == "time" else last)
        )
        raise NotFound(
            "No snapshot or tag was committed at or after {words}.",
            words=words,
            remedy=both(newest, message("Give a snapshot id instead.")),
        )
    rule = message("the first at or after {words}.", words=words)
    if tag:
        rule = message("the first at or after {words}; it has expired and is kept by tag {tag}.", words=words, tag=tag)
    try:
        travel = resolve(heads, f"{kind}:{wanted}", line.branch)
    except NotFound:
        travel = None
    if found is not retained:
        return TagTarget(found, tag, rule, travel, found.id)
    if kind == "watermark" and travel is not None:  # the same search of the engine's
        return TagTarget(found, tag, rule, travel, travel.engine, travel.engine_note)
    return TagTarget(found, tag, rule, travel, _searched(line, value, wanted))


def _searched(line: Line, value: Callable[[Snapshot], int | None], wanted: int) -> int | None:
    """The result of the engine's bisection over ids, which returns at once on an equal value."""
    known = [each for each in line.snapshots if value(each) is not None]
    low, high, best = 0, len(known) - 1, None
    while low <= high:
        middle = (low + high) // 2
        own = value(known[middle])
        assert own is not None
        if own == wanted:
            return known[middle].id
        if own > wanted:
            high, best = middle - 1, known[middle].id
        else:
            low = middle + 1
    return best
