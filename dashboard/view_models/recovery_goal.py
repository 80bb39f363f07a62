"""A recovery goal as values: the tags it takes, as changes and as rows; what writers' options can do of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, count

import numpy as np
import pandas as pd

from core.model.actions import CreateTag, Expire
from core.model.history import History
from core.model.intervals import Mask
from core.model.plan import Plan
from core.model.references import MAIN
from core.planning.recovery_goal import DAY, HOUR, Proposal, Tier
from core.units import whole
from dashboard import words
from dashboard.formatting import units

MINUTE_MS = 60_000
_PERIODS = {DAY: "daily", HOUR: "hourly"}


def kept(history: History, plan: Plan) -> Mask:
    """The positions that a plan keeps."""
    is_kept = {each.point: each.keep for each in plan.points}
    return np.array([holder.exists and is_kept.get(holder.point, True) for holder in history.holders], dtype=np.bool_)


def expiry(history: History, branch: str, newest: int) -> Expire:
    """All but the newest snapshots of a branch (of an Iceberg table: of each) and what tags keep."""
    if history.heads.capabilities.refs_have_retention:
        return Expire(retain_min=newest, time_retained_ms=0)
    return Expire(branch=branch, retain_max=newest, retain_min=newest, max_deletes=_all(history, branch))


def own_policy(history: History) -> Expire:
    """What the table's own options ask for."""
    return Expire(max_deletes=_all(history, MAIN))


def _all(history: History, branch: str) -> int | None:
    """As many as there are, if the table limits one run: what later runs expire is not kept either."""
    is_limited = any(each.branch == branch and "snapshot.expire.limit" in each.options for each in history.heads.lines)
    return len(history.holders) if is_limited else None


def tags(history: History, found: Proposal, branch: str, now_ms: int) -> list[CreateTag]:
    """A tag for each version that needs one, named after the longest stretch it is for, and kept as long; a name that
    is taken gets a number. Iceberg counts the retention of a tag from its snapshot, Paimon from its creation."""
    is_of_snapshot = history.heads.capabilities.refs_have_retention
    used_names = {tag.name for line in history.heads.lines for tag in line.tags} | {*history.heads.branches}
    used_names |= {ref.name for ref in history.heads.refs}
    created = []
    for each in found.tags:
        longest = max(each.stretches, key=lambda stretch: stretch.needed_until_ms)
        name = f"{longest.tier.unit}-{words.stretch_date(longest)}".replace(":", "-").lower()
        candidates = chain([name], (f"{name}-{number}" for number in count(2)))
        name = next(free for free in candidates if free not in used_names)
        used_names.add(name)
        holder = history.holders[each.position]
        since_ms = holder.snapshot.time_ms if holder.snapshot and is_of_snapshot else now_ms
        left_ms = -(-(each.until_ms - since_ms) // MINUTE_MS) * MINUTE_MS  # statements count in minutes
        created.append(CreateTag(name, holder.snapshot.id if holder.snapshot else int(holder.name), left_ms, branch))
    return created


def rows(history: History, found: Proposal, tags: Sequence[CreateTag], zone: str) -> pd.DataFrame:
    """One line per new tag."""
    snapshots = [history.holders[each.position].snapshot for each in found.tags]
    return pd.DataFrame(
        {
            "tag": [each.name for each in tags],
            "point": [str(each.snapshot_id) for each in tags],
            "committed": [units.moment(each.time_ms if each else None, zone) for each in snapshots],
            "serves": [", ".join(words.stretch(stretch) for stretch in each.stretches) for each in found.tags],
            "until": [units.moment(each.until_ms, zone) for each in found.tags],
        }
    )


def options(tiers: Sequence[Tier]) -> Mapping[str, str]:
    """Paimon's table options by which writers make the tags of one tier, the shortest it has a period for."""
    for unit in (HOUR, DAY):
        for tier in tiers:
            if tier.unit == unit:
                length = whole(tier.count * {HOUR: 3_600_000, DAY: 86_400_000}[unit])
                return {
                    "tag.automatic-creation": "process-time",
                    "tag.creation-period": _PERIODS[unit],
                    "tag.default-time-retained": length,
                }
    return {}
