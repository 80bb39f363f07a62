"""What the next commit of a writer deletes by itself, from the table's own options: what it breaks, what prevents it.

Law: told is the least that goes, for a commit yet to come may itself replace more; a tag that is said to prevent a
break was tried on the engine's own steps first.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core import plan as planning
from core.changes import Expire
from core.errors import NotFound, SnapscopeError
from core.history import History
from core.model import MAIN, HolderKind, Line, Tag
from core.planned import Plan
from core.retention import policy
from core.table import Table

RUN_LIMIT = 50  # `snapshot.expire.limit` where nobody says otherwise
_LOOKED_AT = 1_000  # lost files of a point that its tag is chosen by
_NAMED = 8


@dataclass(frozen=True, slots=True)
class Forecast:
    """`plan` is None where it cannot be told, and `headline` says why. The rest are sentences."""

    branch: str
    plan: Plan | None
    headline: str
    breaks: tuple[str, ...] = ()
    prevented_by: tuple[str, ...] = ()

    @property
    def goes(self) -> tuple[str, ...]:
        """The points that go, in order."""
        return () if self.plan is None else tuple(verdict.point for verdict in self.plan.goes)


def forecast(table: Table, history: History, now_ms: int, branch: str = MAIN) -> Forecast | None:
    """What the next commit to a branch expires, judged as its writer would at `now_ms`, that commit counted.

    None where writers expire nothing by themselves (`write-only`, Iceberg), or nothing was ever committed.
    """
    line = history.heads.line(branch)
    if line is None:
        raise NotFound(f"There is no branch {branch!r}.", path=table.location)
    if line.options.get("write-only") == "true" or not line.snapshots or history.heads.format != "paimon":
        return None
    try:
        plan = planning.preview(history, _asked(line, now_ms), now_ms)
        broken = table.broken_by_paimon(plan, history, history.heads) if plan.goes else {}
        breaks = tuple(each for each in table.native(plan, history) if "itself would strand" not in each)
    except SnapscopeError as error:
        return Forecast(branch, None, f"This cannot be told: {error}")
    named = [verdict.point for verdict in plan.goes]
    shown = ", ".join(named[:_NAMED]) + (f" and {len(named) - _NAMED} more" if len(named) > _NAMED else "")
    headline = f"{plan.headline} {'At the least these go' if named else ''}".strip()
    headline += f": {shown}." if named else ""
    prevented = (*_keeping(line, plan), *_mending(table, history, line, plan, broken)) if named else ()
    return Forecast(branch, plan, headline, breaks, prevented)


def _asked(line: Line, now_ms: int) -> Expire:
    """The expiry of a writer: it counts its own new snapshot, and takes no more than its limit at a time."""
    own = policy(
        line.options,
        now_ms,
        retain_max=None,
        retain_min=None,
        time_retained_ms=None,
        older_than_ms=None,
        max_deletes=None,
        rules="newest",
    )
    limit = line.options.get("snapshot.expire.limit", "")
    return Expire(
        branch=line.branch,
        retain_max=max(own.retain_max - 1, 1),
        retain_min=max(own.retain_min - 1, 1),
        max_deletes=int(limit) if limit.isdecimal() and int(limit) else RUN_LIMIT,
        expired_tags=any(tag.expires is not None for tag in line.tags)
        and line.options.get("tag.time-expire-enabled") != "false",
    )


def _keeping(line: Line, plan: Plan) -> list[str]:
    """What keeps the points that go."""
    told = []
    ids = [int(point) for point in (each.point.rsplit("/", 1)[-1] for each in plan.goes) if point.isdecimal()]
    if ids:
        told.append(f"Tag snapshot {max(ids)} to keep it.")
        count = len(line.snapshots) + 1
        most = line.options.get("snapshot.num-retained.max", "")
        options = [f"snapshot.num-retained.min = {count}"]
        if most.isdecimal() and int(most) < count:
            options.append(f"snapshot.num-retained.max = {count}")
        told.append(
            f"The table option {' with '.join(options)} keeps all of them for one more commit; write-only = true keeps "
            "writers from expiring anything."
        )
    if len(ids) < len(plan.goes):
        told.append("The table option tag.time-expire-enabled = false keeps tags whose time has passed.")
    return told


def _mending(table: Table, history: History, line: Line, plan: Plan, broken: Mapping[str, Sequence[str]]) -> list[str]:
    """The tags that keep whole what would break, where tags can."""
    chosen = {_holding(history, line, paths) for paths in broken.values()} - {None}
    snapshots = [each for each in line.snapshots if each.id in chosen]
    if not broken or not snapshots:
        return []
    tags = sorted([*line.tags, *(Tag("", each, None, None) for each in snapshots)], key=lambda tag: tag.snapshot.id)
    tagged = dataclasses.replace(line, tags=tuple(tags))
    lines = tuple(tagged if each is line else each for each in history.heads.lines)
    if table.broken_by_paimon(plan, history, dataclasses.replace(history.heads, lines=lines)):
        return []
    names = " and ".join(str(each.id) for each in snapshots)
    what = f"a tag of snapshot {names}" if len(snapshots) == 1 else f"tags of snapshots {names}"
    return [f"{', '.join(broken)}: {what} would keep {'it' if len(broken) == 1 else 'them'} whole."]


def _holding(history: History, line: Line, paths: Sequence[str]) -> int | None:
    """The retained snapshot of the branch that holds most of these files, the newest of several."""
    held = Counter(
        int(holder.name)
        for path in paths[:_LOOKED_AT]
        for holder in history.holders_of(path)
        if holder.kind is HolderKind.SNAPSHOT and holder.branch == line.branch and holder.exists
    )
    return max(held, key=lambda number: (held[number], number), default=None)
