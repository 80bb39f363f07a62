"""Draft plans: what an action frees, and why each version is kept or expires, fixed before anyone confirms it.

Invariant: freed = what some expiring holder holds and no remaining holder holds. Of an expiring holder, only files
known from its metadata are freed; a remaining holder that cannot be read in full refuses the plan. A plan is a value:
running it may do less, never more.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.messages import Reason, counted
from core.model import codes
from core.model.actions import (
    Change,
)
from core.model.history import HistorySummary
from core.model.intervals import Mask
from core.model.plan import FREES, Plan, Verdict, fingerprint, ordered, unreadable
from core.model.references import MAIN, Holder, HolderKind, Snapshot
from core.planning.unknown_references import refuse_unread


def drafted(
    history: HistorySummary,
    change: Change,
    rules: Reason,
    now_ms: int,
    after: Mask,
    reasons: Mapping[int, tuple[Reason, ...]],
    leaves: list[str],
    warnings: list[Reason],
) -> Plan:
    """The plan after which the holders in `after` remain."""
    deleted = history.existing & ~after
    tags = np.array([holder.kind is HolderKind.TAG for holder in history.holders], dtype=np.bool_)
    found = history.reclaimed(deleted, after, tags)
    if found.foreign:
        warnings.append(codes.FOREIGN(files=counted(found.foreign, "{count} file", "{count} files")))
    points = tuple(
        Verdict(holder.point, bool(after[position]), reasons.get(position, (_why_kept(holder, change.branch),)))
        for position, holder in enumerate(history.holders)
        if holder.exists
    )
    refuse_unread(history, deleted)
    removes = [
        (holder.path, history.heads.references[holder.path])
        for kind in (HolderKind.TAG, HolderKind.CHANGELOG, HolderKind.SNAPSHOT)
        for position, holder in enumerate(history.holders)
        if deleted[position] and holder.kind is kind
    ]
    for position in np.flatnonzero(deleted):
        warnings += [
            codes.LOWER_BOUND(
                point=history.holders[position].point,
                problem=problem.sentence(),
            )
            for problem in history.incomplete.get(int(position), ())
        ]
    readable = {_commit(each) for each in _snapshots(history, after)}
    warnings += unreadable([each for each in _snapshots(history, deleted & tags) if _commit(each) not in readable])
    return Plan(
        table=history.heads.location,
        change=change,
        rules=rules,
        now_ms=now_ms,
        fingerprint=fingerprint(history.heads, change, rules, now_ms),
        points=points,
        frees=_frees(found.frees, leaves),
        kept_bytes=found.kept_bytes,
        tags_keep_bytes=found.tags_keep_bytes,
        removes=tuple(removes),
        leaves=tuple(leaves),
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _snapshots(history: HistorySummary, chosen: Mask) -> list[Snapshot]:
    """The snapshots that the chosen snapshots and tags make readable; a changelog makes none readable."""
    holders = [history.holders[position] for position in np.flatnonzero(chosen)]
    return [each.snapshot for each in holders if each.snapshot and each.kind is not HolderKind.CHANGELOG]


def _commit(snapshot: Snapshot) -> tuple[object, ...]:
    """What identifies a snapshot and its copies in tags and branches."""
    return snapshot.id, snapshot.time_ms, snapshot.commit_user, snapshot.commit_identifier


def _frees(found: pa.Table, leaves: list[str]) -> pa.Table:
    table = found.cast(FREES)
    table = table.filter(pc.invert(pc.is_in(table["path"], value_set=pa.array(leaves, pa.string()))))
    return ordered(table)


def _why_kept(holder: Holder, branch: str) -> Reason:
    if holder.branch != branch:
        if holder.branch == MAIN:
            return codes.OF_MAIN()
        return codes.OF_BRANCH(name=holder.branch)
    return codes.UNASKED()
