"""When each snapshot and tag of an Iceberg table expires, given an expiry by the table's own rules. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import Corrupt
from core.formats.iceberg.retention import (
    FIVE_DAYS_MS,
    FOREVER_MS,
    MAX_SNAPSHOT_AGE,
    MIN_SNAPSHOTS,
    is_off,
    max_ref_age_ms,
    number,
)
from core.messages import counted, message
from core.model.expiry import Expiry, undetermined
from core.model.lineage import ancestors, members
from core.model.references import MAIN, Heads, Snapshot
from core.model.time_travel import in_words


def expiries(heads: Heads, now_ms: int, rules: str = "newest") -> dict[str, Expiry]:
    """Return the expiry of each readable snapshot and tag, by version."""
    try:
        found = ends(heads, now_ms)
    except Corrupt as error:  # a property without its number hides nothing else
        return {point: undetermined(point, error) for point in _named(heads)}
    return {point: Expiry(point, *end) for point, end in found.items()}


def ends(heads: Heads, now_ms: int) -> dict[str, tuple[int | None, str, bool]]:
    """Return for each snapshot and tag when an expiry by the table's own rules may remove it.

    Values: epoch milliseconds (None if unknown or never), the text, and whether it depends on future commits. Raises
    `Corrupt` if a property is not a number.
    """
    properties, snapshots = heads.main.options, members(heads)
    if is_off(properties):
        off = None, message("never: the table sets gc.enabled = false"), False
        return dict.fromkeys(_named(heads), off)
    age_ms, least = number(properties, MAX_SNAPSHOT_AGE, FIVE_DAYS_MS), number(properties, MIN_SNAPSHOTS, 1)
    found: dict[str, tuple[int | None, str, bool]] = {}
    heads_of: dict[int, list[str]] = {}  # per snapshot: the refs without an end that point to it
    ahead: dict[int, tuple[int, str]] = {}  # per snapshot: number of commits that still keep it, and on which branch
    held: dict[int, list[_Hold]] = {}
    for ref in heads.refs:
        if ref.snapshot_id not in snapshots:
            continue
        ref_age_ms = max_ref_age_ms(ref, properties)
        gone_ms = FOREVER_MS if ref_age_ms is None else snapshots[ref.snapshot_id].time_ms + ref_age_ms
        if ref_age_ms is None:
            heads_of.setdefault(ref.snapshot_id, []).append(ref.name)
        if not ref.is_branch:
            held.setdefault(ref.snapshot_id, []).append(_Hold(gone_ms, gone_ms))
            continue
        own = least if ref.min_snapshots is None else ref.min_snapshots
        own_ms = age_ms if ref.max_snapshot_age_ms is None else ref.max_snapshot_age_ms
        oldest_ms = FOREVER_MS  # none outlasts a newer one that expired
        for place, each in enumerate(ancestors(snapshots, ref.snapshot_id)):
            if place >= max(own, 1):
                oldest_ms = min(oldest_ms, each.time_ms + own_ms)
            elif ref_age_ms is None:
                ahead[each.id] = max(ahead.get(each.id, (0, "")), (own - place, ref.name), key=lambda some: some[0])
                continue
            branch = ref.name if gone_ms <= oldest_ms else ""
            held.setdefault(each.id, []).append(_Hold(min(oldest_ms, gone_ms), gone_ms, branch))
    for point, each in _points(heads).items():
        found[point] = _end(heads_of.get(each.id), ahead.get(each.id), _last(held.get(each.id), each, age_ms), now_ms)
    for tag in heads.main.tags:
        words = message("never automatically: it has no retention")
        if tag.ends_ms is not None:
            words = message("at the first expiry after {at}, by the age of its snapshot", at=in_words(tag.ends_ms))
        found[f"tag:{tag.name}"] = tag.ends_ms, words, False
    return found


@dataclass(frozen=True, slots=True)
class _Hold:
    """A ref that reaches a snapshot: until when it keeps it, and until when the ref exists, in epoch milliseconds.

    `branch`: its name if it keeps the snapshot to its own end, which new commits postpone.
    """

    until_ms: int
    gone_ms: int
    branch: str = ""


def _points(heads: Heads) -> dict[str, Snapshot]:
    found: dict[str, Snapshot] = {}
    for line in heads.lines:
        prefix = "" if line.branch == MAIN else f"branch:{line.branch}/"
        found |= {f"{prefix}{each.id}": each for each in line.snapshots}
    return found


def _named(heads: Heads) -> list[str]:
    """Return the snapshots and tags that have an end, by version."""
    return [*_points(heads), *(f"tag:{tag.name}" for tag in heads.main.tags)]


def _last(held: Sequence[_Hold] | None, snapshot: Snapshot, age_ms: int) -> _Hold:
    """Return the ref that keeps a snapshot longest, or its own age where no ref reaches it by then."""
    last = max(held or (), key=lambda each: each.until_ms, default=_Hold(0, 0))
    own_ms = snapshot.time_ms + age_ms
    if own_ms > last.until_ms and all(each.gone_ms <= last.until_ms for each in held or ()):
        return _Hold(own_ms, own_ms, last.branch)
    return last


def _end(
    named: Sequence[str] | None, ahead: tuple[int, str] | None, last: _Hold, now_ms: int
) -> tuple[int | None, str, bool]:
    if named:
        never = "never while {names} points to it", "never while {names} point to it"
        return None, counted(len(named), *never, names=", ".join(named)), False
    if ahead:
        why = (
            "after {count} more commit on {branch}, not before {at}, and only when an expiry runs",
            "after {count} more commits on {branch}, not before {at}, and only when an expiry runs",
        )
        return None, counted(ahead[0], *why, branch=ahead[1], at=in_words(last.until_ms)), True
    branch, at = last.branch, in_words(last.until_ms)
    if last.until_ms < now_ms:
        due = message("at the next expiry")
    elif branch:
        due = message("at the first expiry after {at}, if {branch} has no new commit", at=at, branch=branch)
    else:
        due = message("at the first expiry after {at}", at=at)
    return last.until_ms, message("{due}; Iceberg's writers expire nothing automatically", due=due), False
