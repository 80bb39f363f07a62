"""What the next commit deletes automatically by the table's options, what that breaks, and what prevents it.

Invariant: this is a lower bound, because a future commit may itself replace more files. A tag is suggested as a remedy
only after the engine's own steps were simulated with it.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from core.errors import SnapscopeError
from core.formats.paimon.expiration_dates import first_seen
from core.formats.paimon.options import resolved
from core.formats.paimon.plan import expiry
from core.formats.paimon.retention import keeps_changelogs, policy, seen_by_writers
from core.messages import Reason, both, message
from core.model import codes
from core.model.actions import Expire
from core.model.expiry import Forecast
from core.model.history import History
from core.model.plan import Plan
from core.model.references import Heads, HolderKind, Line, Tag
from core.units import is_true

Deletion = Callable[[Plan, History, Heads], tuple[tuple[Reason, ...], dict[str, list[str]]]]
_LOOKED_AT = 1_000  # lost files of a version by which its tag is chosen


def forecast(deletion: Deletion, history: History, now_ms: int, line: Line) -> Forecast | None:
    """Forecast what the next commit to a branch expires, as its writer would decide at `now_ms`, counting that commit.

    `deletion`: see `PaimonFormat.engine_deletion`. None if writers expire nothing automatically (`write-only`) or
    nothing was ever committed.
    """
    branch = line.branch
    if is_true(resolved(line.options).get("write-only")) or not line.snapshots:
        return None
    try:
        expiries = [
            (each, line if each.changelogs_only else seen_by_writers(line)) for each in _writer_expiries(line, now_ms)
        ]
        plans = tuple(expiry.preview(history, each, now_ms, seen) for each, seen in expiries)
        heads = [_with(history.heads, line, seen) for _, seen in expiries]
        deletions = [deletion(plan, history, own) for plan, own in zip(plans, heads, strict=True)]
    except SnapscopeError as error:
        return Forecast(branch, (), message("This cannot be determined: {why}", why=str(error)))
    differences = dict.fromkeys(each for found, _ in deletions for each in found)
    breaks = tuple(each for each in differences if each.code != codes.ENGINE_STRANDS)
    if why := _why_not_expired(line, differences):
        return Forecast(branch, (), message("This cannot be determined: {why}", why=why), breaks)
    headline = plans[0].headline
    for plan in plans[1:]:
        headline = message("{first} Long-lived changelogs: {second}", first=headline, second=plan.headline)
    found = Forecast(branch, plans, headline, breaks)
    if not found.expired:
        return found
    broken = {point: lost for _, by_point in deletions for point, lost in by_point.items()}
    return dataclasses.replace(
        found,
        headline=both(found.headline, message("These figures are a lower bound.")),
        prevented_by=(*_keeping(line, found.expired), *_mending(deletion, history, line, plans[0], broken)),
    )


def _with(heads: Heads, line: Line, other: Line) -> Heads:
    """Return `heads` with another line in place of this one."""
    return dataclasses.replace(heads, lines=tuple(other if each is line else each for each in heads.lines))


def _why_not_expired(line: Line, differences: Iterable[Reason]) -> Reason | None:
    """Return why the engine will not expire what the rules allow: it fails, or ignores those snapshots."""
    if failure := next((each for each in differences if each.code == codes.ENGINE_FAILS), None):
        return failure
    if line.snapshots and (seen := first_seen(line)) > line.snapshots[0].id:
        return codes.EARLIEST_HIDES(id=seen)
    return None


def _writer_expiries(line: Line, now_ms: int) -> list[Expire]:
    """Return the expiries of a writer: it counts its own new snapshot, and expires no more than its limit at a time."""
    own = policy(line.options, now_ms)
    most = None if own.is_own_limit else own.most_per_run
    expiry = Expire(
        branch=line.branch,
        retain_max=max(own.retain_max - 1, 1),
        retain_min=max(own.retain_min - 1, 1),
        max_deletes=most,
        expired_tags=any(tag.expires is not None for tag in line.tags)
        and is_true(line.options.get("tag.time-expire-enabled", "true")),
    )
    if not line.changelogs or not keeps_changelogs(line.options):
        return [expiry]
    own = policy(line.options, now_ms, prefix="changelog")
    least, greatest = max(own.retain_min - 1, 1), max(own.retain_max - 1, 1)
    return [
        expiry,
        Expire(
            branch=line.branch,
            changelogs_only=True,
            changelog_retain_max=greatest,
            changelog_retain_min=least,
            max_deletes=most,
        ),
    ]


def _keeping(line: Line, expired: Sequence[str]) -> list[Reason]:
    """Return what would keep the versions that expire."""
    found: list[Reason] = []
    own = [point.rsplit("/", 1)[-1] for point in expired]
    count = len(line.snapshots) + 1
    if ids := [int(point) for point in own if point.isdecimal()]:
        kept = {tag.snapshot.id for tag in line.tags if f"tag:{tag.name}" not in own}
        if bare := [id for id in ids if id not in kept]:
            found.append(codes.TAG_IT(id=max(bare)))
        found.append(
            codes.RETAIN_MORE(
                option=_retaining(line, "snapshot", count),
            )
        )
    if any(point.startswith("changelog:") for point in own):
        option = _retaining(line, "changelog", count + len(line.changelogs))
        found.append(codes.RETAIN_CHANGELOGS(option=option))
    if any(point.startswith("tag:") for point in own):
        found.append(codes.KEEP_ENDED_TAGS())
    return found


def _retaining(line: Line, prefix: str, count: int) -> str:
    """Return the options that retain `count` snapshots: the minimum, and the maximum if it is set lower."""
    options = [f"{prefix}.num-retained.min = {count}"]
    most = line.options.get(f"{prefix}.num-retained.max", line.options.get("snapshot.num-retained.max", ""))
    if most.isdecimal() and int(most) < count:
        options.append(f"{prefix}.num-retained.max = {count}")
    return " with ".join(options)


def _mending(
    deletion: Deletion, history: History, line: Line, plan: Plan, broken: Mapping[str, Sequence[str]]
) -> list[Reason]:
    """Return the tags that keep broken versions readable, if tags can."""
    chosen = {_holding(history, line, paths) for paths in broken.values()} - {None}
    snapshots = [each for each in line.snapshots if each.id in chosen]
    if not broken or not snapshots:
        return []
    tags = sorted([*line.tags, *(Tag("", each, None, None) for each in snapshots)], key=lambda tag: tag.snapshot.id)
    tagged = dataclasses.replace(seen_by_writers(line), tags=tuple(tags))
    if deletion(plan, history, _with(history.heads, line, tagged))[1]:
        return []
    names = " and ".join(str(each.id) for each in snapshots)
    which = message("a tag of snapshot {ids}" if len(snapshots) == 1 else "tags of snapshots {ids}", ids=names)
    return [codes.TAGS_MEND(points=", ".join(broken), tags=which)]


def _holding(history: History, line: Line, paths: Sequence[str]) -> int | None:
    """Return the retained snapshot of the branch that holds most of these files; the newest if there are several."""
    held = Counter(
        int(holder.name)
        for path in paths[:_LOOKED_AT]
        for holder in history.holders_of(path)
        if holder.kind is HolderKind.SNAPSHOT and holder.branch == line.branch and holder.exists
    )
    return max(held, key=lambda number: (held[number], number), default=None)
