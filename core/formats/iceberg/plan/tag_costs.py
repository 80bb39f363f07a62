"""The cost of Iceberg's tags. They hold no files: a tag costs what an expiry would free only without it. Pure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.formats.iceberg import retention
from core.formats.iceberg.retention import ExpiryOptions
from core.model.history import HistorySummary
from core.model.intervals import Mask
from core.model.lineage import members
from core.model.references import MAIN, Holder, HolderKind


def by_tags(history: HistorySummary, now_ms: int) -> tuple[HistorySummary, Mask]:
    """Return a history in which each tag that alone keeps its snapshot has its own position, and what is kept.

    Whether a tag keeps its snapshot does not depend on tags of other snapshots, so a set of tags is a set of
    positions.
    """
    heads, options = history.heads, history.heads.main.options
    if retention.is_off(options):
        return history, np.zeros(len(history.holders), dtype=np.bool_)
    branches = [ref for ref in heads.refs if ref.is_branch]
    judged, untagged = (
        retention.judge(members(heads), given, options, ExpiryOptions(now_ms)) for given in (heads.refs, branches)
    )
    expired, alone = judged.expired, untagged.expired - judged.expired
    names: dict[str, list[str]] = {}
    for tag in heads.main.tags:
        if tag.name not in judged.deleted_refs and tag.snapshot.id in alone:
            names.setdefault(str(tag.snapshot.id), []).append(tag.name)
    holders: list[Holder] = []
    start: list[int] = []
    for holder in history.holders:
        start.append(len(holders))
        own = names.get(holder.name)
        holders += [replace(holder, kind=HolderKind.TAG, branch=MAIN, name=name) for name in own] if own else [holder]
    first = np.array([*start, len(holders)], dtype=np.int64)
    is_kept = np.array([int(each.name) not in expired for each in history.holders], dtype=np.bool_)
    return history.split(tuple(holders), first), np.repeat(is_kept, np.diff(first))
