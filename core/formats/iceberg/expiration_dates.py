"""When each snapshot and tag of an Iceberg table expires, given an expiry by the table's own rules. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from core.formats.iceberg.retention import (
    FIVE_DAYS_MS,
    FOREVER_MS,
    MAX_SNAPSHOT_AGE,
    MIN_SNAPSHOTS,
    max_ref_age_ms,
    number,
)
from core.messages import counted, told
from core.model.expiry import Expiry
from core.model.lineage import ancestors, members
from core.model.references import MAIN, Heads
from core.model.time_travel import in_words


def expiries(heads: Heads, now_ms: int, rules: str = "newest") -> dict[str, Expiry]:
    """Return the expiry of each readable snapshot and tag, by version."""
    return {point: Expiry(point, *told) for point, told in ends(heads, now_ms).items()}


def ends(heads: Heads, now_ms: int) -> dict[str, tuple[int | None, str, bool]]:
    """Return for each snapshot and tag when an expiry by the table's own rules may remove it.

    Values: epoch milliseconds (None if unknown or never), the text, and whether it depends on future commits.
    """
    properties, snapshots = heads.main.options, members(heads)
    age_ms, least = number(properties, MAX_SNAPSHOT_AGE, FIVE_DAYS_MS), number(properties, MIN_SNAPSHOTS, 1)
    found: dict[str, tuple[int | None, str, bool]] = {}
    heads_of: dict[int, list[str]] = {}
    ahead: dict[int, tuple[int, str]] = {}  # per snapshot: number of commits that still keep it, and on which branch
    held: dict[int, list[tuple[int, int]]] = {}  # per snapshot: until when (ms) each branch keeps it, and exists
    for ref in heads.refs:
        if ref.snapshot_id not in snapshots:
            continue
        heads_of.setdefault(ref.snapshot_id, []).append(ref.name)
        if not ref.is_branch:
            continue
        own = least if ref.min_snapshots is None else ref.min_snapshots
        own_ms = age_ms if ref.max_snapshot_age_ms is None else ref.max_snapshot_age_ms
        ref_age_ms, oldest_ms = max_ref_age_ms(ref, properties), FOREVER_MS  # none outlasts a newer one that expired
        gone_ms = FOREVER_MS if ref_age_ms is None else snapshots[ref.snapshot_id].time_ms + ref_age_ms
        for place, each in enumerate(ancestors(snapshots, ref.snapshot_id)):
            if own - place > ahead.get(each.id, (0, ""))[0]:
                ahead[each.id] = own - place, ref.name
            elif place >= own:
                oldest_ms = min(oldest_ms, each.time_ms + own_ms)
                held.setdefault(each.id, []).append((min(oldest_ms, gone_ms), gone_ms))
    for line in heads.lines:
        prefix = "" if line.branch == MAIN else f"branch:{line.branch}/"
        for each in line.snapshots:
            kept = held.get(each.id, [])
            until_ms = max((kept_ms for kept_ms, _ in kept), default=0)
            if all(gone_ms <= until_ms for _, gone_ms in kept):  # then on no ref
                until_ms = max(until_ms, each.time_ms + age_ms)
            found[f"{prefix}{each.id}"] = _end(heads_of.get(each.id), ahead.get(each.id), until_ms, now_ms)
    for tag in heads.main.tags:
        words = told("never automatically: it has no retention")
        if tag.ends_ms is not None:
            words = told("at the first expiry after {at}, by the age of its snapshot", at=in_words(tag.ends_ms))
        found[f"tag:{tag.name}"] = tag.ends_ms, words, False
    return found


def _end(
    named: Sequence[str] | None, ahead: tuple[int, str] | None, until_ms: int, now_ms: int
) -> tuple[int | None, str, bool]:
    if named:
        never = "never while {names} points to it", "never while {names} point to it"
        return None, counted(len(named), *never, names=", ".join(named)), False
    if ahead:
        why = (
            "after {count} more commit on {branch}, not before {at}, and only when an expiry runs",
            "after {count} more commits on {branch}, not before {at}, and only when an expiry runs",
        )
        return None, counted(ahead[0], *why, branch=ahead[1], at=in_words(until_ms)), True
    after = "at the first expiry after {at}"
    due = told("at the next expiry") if until_ms < now_ms else told(after, at=in_words(until_ms))
    return until_ms, told("{due}; Iceberg's writers expire nothing automatically", due=due), False
