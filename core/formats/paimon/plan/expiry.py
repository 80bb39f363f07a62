"""Plans of Paimon's snapshots and tags: which ones an expiry or a deletion removes, and which tags are created.

Invariant: a version that was not named is removed only by the table's own rules, and the verdict says by which.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from core.errors import Corrupt, ErrorCode, Invalid, NotFound, SnapscopeError
from core.formats import orphan_files
from core.formats.paimon import layout, retention
from core.formats.paimon.retention import Policy, Retained, SnapshotVerdicts, keeps_changelogs
from core.formats.paimon.time_travel import resolve
from core.messages import Reason, message
from core.model import codes
from core.model.actions import (
    Change,
    CleanOrphans,
    CreateTag,
    DeleteTags,
    Expire,
    RenameTag,
    ReplaceTag,
    asks_changelogs,
    check_tag_name,
    find_tag,
    refuse_unheeded,
)
from core.model.codes import Fault
from core.model.history import HistorySummary
from core.model.intervals import Mask
from core.model.plan import Plan
from core.model.ref_names import tags_there
from core.model.references import Heads, HolderKind, Line, Snapshot
from core.planning.reclaim import drafted
from core.planning.unknown_references import refuse_unknown

NAMED = codes.NAMED_TO_DELETE()


def preview(history: HistorySummary, change: Change, now_ms: int, line: Line | None = None) -> Plan:
    """Plan `change` at `now_ms`. `line`: the branch as its writers see it, if they are who makes the change.

    Raises `Invalid` for a contradictory request, `NotFound` for an unknown branch, `Corrupt` if a version that is kept
    could not be read completely.
    """
    line = line or history.heads.require(change.branch)
    warnings: list[Reason] = []
    after = history.existing.copy()
    reasons: dict[int, tuple[Reason, ...]] = {}
    leaves: list[str] = []
    source: Snapshot | None = None
    source_tag: str | None = None
    rules = retention.RULES["newest"]
    match change:
        case Expire():
            rules = retention.RULES.get(change.rules, rules)  # an unknown one is rejected below
            _expire(history, line, change, now_ms, after, reasons, leaves, warnings)
            _drop_tags(history, line, change.drop_tags, after, reasons)
            _drop_old_tags(history, line, change, now_ms, after, reasons)
        case DeleteTags():
            if not change.names:
                raise Invalid("No tag was given.", remedy="Give at least one tag to delete.")
            _drop_tags(history, line, change.names, after, reasons)
        case CreateTag():
            check_tag_name(line, change.name)
            source, source_tag = _tag_source(history.heads, change)
            leaves.append(layout.reference(change.branch, layout.TAG, change.name))
        case RenameTag():
            source = find_tag(line, change.name).snapshot
            check_tag_name(line, change.to)
            leaves.append(layout.reference(change.branch, layout.TAG, change.to))
        case ReplaceTag():
            old = find_tag(line, change.name)
            if old.expires is not None and change.retained_ms is None:
                warnings.append(
                    codes.TAG_LOSES_END(
                        name=change.name,
                        at=f"{old.expires:%Y-%m-%d %H:%M:%S}",
                    )
                )
            source, source_tag = _tag_source(history.heads, change)
            why = codes.REPLACED(source=_source_words(change))
            _drop_tags(history, line, (change.name,), after, reasons, why)
            leaves.append(layout.reference(change.branch, layout.TAG, change.name))
        case CleanOrphans():
            warnings += orphan_files.cautions(change, now_ms)
        case _:
            raise Invalid("{name} rewrites references, so the table format must plan it.", name=type(change).__name__)
    if not change.names_a_reference:
        refuse_unknown(history, line, after, change)
    plan = drafted(history, change, rules, now_ms, after, reasons, leaves, warnings)
    return plan if source is None else dataclasses.replace(plan, source=source, source_tag=source_tag)


def expiring(history: HistorySummary, now_ms: int) -> Mask:
    """Mask the positions that each branch's own retention would expire at `now_ms`, in as many runs as that takes; none
    where it cannot be applied."""
    mask = np.zeros(len(history.holders), dtype=np.bool_)
    for line in history.heads.lines:
        after, reasons = history.existing.copy(), dict[int, tuple[Reason, ...]]()
        try:
            change = Expire(branch=line.branch, max_deletes=retention.UNBOUNDED)
            _expire(history, retention.seen_by_writers(line), change, now_ms, after, reasons, [], [])
        except SnapscopeError:
            continue
        mask |= history.existing & ~after
    return mask


# removal -------------------------------------------------------------------------------------------------------------


def requested_policy(change: Expire, options: Mapping[str, str], now_ms: int) -> Policy:
    """Return the policy for what an expiry considers: snapshots, or only changelogs."""
    is_changelogs = change.changelogs_only
    return retention.policy(
        options,
        now_ms,
        retain_max=change.changelog_retain_max if is_changelogs else change.retain_max,
        retain_min=change.changelog_retain_min if is_changelogs else change.retain_min,
        time_retained_ms=change.changelog_time_retained_ms if is_changelogs else change.time_retained_ms,
        older_than_ms=change.older_than_ms,
        max_deletes=change.max_deletes,
        rules=change.rules,
        prefix="changelog" if is_changelogs else "snapshot",
    )


def _expire(
    history: HistorySummary,
    line: Line,
    change: Expire,
    now_ms: int,
    after: Mask,
    reasons: dict[int, tuple[Reason, ...]],
    leaves: list[str],
    warnings: list[Reason],
) -> None:
    refuse_unheeded(change)
    if broken := next((each for each in line.unreadable if each.kind == "consumer"), None):
        raise Corrupt(
            ("Consumer {name} cannot be read, so the snapshots it still needs cannot be determined. {problem}"),
            name=broken.name,
            problem=dataclasses.replace(broken.problem, remedy="").sentence(),
            path=broken.problem.path,
            remedy="Restore the file, or delete this consumer: snapscope clear-consumers."
            if broken.problem.path in history.heads.references
            else broken.problem.remedy,
        )
    snapshots = _retained(history, line, HolderKind.SNAPSHOT)
    rule = requested_policy(change, line.options, now_ms)
    if change.changelogs_only:
        changelogs = _retained(history, line, HolderKind.CHANGELOG)
        judged = retention.expire_changelogs(line, changelogs, snapshots, rule)
        _judge(history, line, HolderKind.CHANGELOG, judged, after, reasons)
        every = retention.expire_changelogs(line, changelogs, snapshots, dataclasses.replace(rule, max_deletes=None))
        warnings += [*rule.notes, *_later(judged, every, rule)]
        return
    warnings += rule.notes
    if change.snapshots:
        judged = retention.named_snapshots(snapshots, change.snapshots)
    else:
        judged = retention.expire_snapshots(line, snapshots, rule)
        every = retention.expire_snapshots(line, snapshots, dataclasses.replace(rule, max_deletes=None))
        warnings += _later(judged, every, rule)
    _judge(history, line, HolderKind.SNAPSHOT, judged, after, reasons)
    is_held = any(why.code == codes.CONSUMER for each in judged.reasons.values() for why in each)
    if is_held and not retention.heeds_consumers(line.options, change.rules):
        warnings.append(codes.COMMITS_PASS_CONSUMERS())
    runs = retention.engine_runs(len(judged.expired), rule)
    if runs > 1 and change.max_deletes is None:
        warnings.append(codes.ENGINE_RUNS(runs=runs))
    warnings += retention.lost_jobs(line, judged.expired)
    if any(problem.code == Fault.GAP for problem in line.warnings):
        warnings.append(codes.GAP())
    if keeps_changelogs(line.options) or asks_changelogs(change):
        expired = set(judged.expired)
        for position, holder in enumerate(history.holders):
            is_here = holder.branch == line.branch and holder.kind is HolderKind.CHANGELOG and not holder.exists
            if is_here and int(holder.name) in expired:
                after[position] = True
                leaves.append(holder.path)
        if leaves:
            warnings.append(codes.CALL_DELETES_CHANGELOGS())
    elif line.changelogs or line.options.get("changelog-producer", "none") != "none":
        warnings.append(codes.CHANGELOGS_FREED())


def _later(judged: SnapshotVerdicts, every: SnapshotVerdicts, rule: Policy) -> list[Reason]:
    """Return a reason if the table's own limit leaves some of `every` for later runs."""
    count = len(every.expired) - len(judged.expired)
    return [codes.LATER_RUNS(count=count, most=rule.max_deletes)] if count and rule.is_own_limit else []


def _retained(history: HistorySummary, line: Line, kind: HolderKind) -> list[Retained]:
    found = [
        Retained(int(holder.name), holder.snapshot.time_ms if holder.snapshot else None)
        for holder in history.holders
        if holder.branch == line.branch and holder.kind is kind and holder.exists
    ]
    return sorted(found, key=lambda each: each.id)


def _judge(
    history: HistorySummary,
    line: Line,
    kind: HolderKind,
    judged: SnapshotVerdicts,
    after: Mask,
    reasons: dict[int, tuple[Reason, ...]],
) -> None:
    expired = set(judged.expired)
    for position, holder in enumerate(history.holders):
        if holder.branch == line.branch and holder.kind is kind and holder.exists:
            reasons[position] = judged.reasons[int(holder.name)]
            after[position] = int(holder.name) not in expired


def _source_words(change: ReplaceTag) -> str:
    return (
        message("the newest snapshot")
        if change.snapshot_id is None
        else message("snapshot {id}", id=change.snapshot_id)
    )


def _drop_tags(
    history: HistorySummary,
    line: Line,
    names: tuple[str, ...],
    after: Mask,
    reasons: dict[int, tuple[Reason, ...]],
    why: Reason = NAMED,
) -> None:
    there = {
        holder.name: position
        for position, holder in enumerate(history.holders)
        if holder.branch == line.branch and holder.kind is HolderKind.TAG
    }
    for name in names:
        if name not in there:
            raise Invalid(
                "There is no tag {name!r}; nothing was changed.",
                name=name,
                remedy=tags_there(name, sorted(there)),
                code=ErrorCode.NO_TAG,
            )
        after[there[name]] = False
        reasons[there[name]] = (why,)


def _drop_old_tags(
    history: HistorySummary,
    line: Line,
    change: Expire,
    now_ms: int,
    after: Mask,
    reasons: dict[int, tuple[Reason, ...]],
) -> None:
    expired, of_unknown_age = retention.ended_tags(
        line, now_ms if change.expired_tags else None, change.tags_older_than_ms
    )
    for name, why in expired.items():
        _drop_tags(history, line, (name,), after, reasons, why)
    for position, holder in enumerate(history.holders):
        if (
            holder.kind is HolderKind.TAG
            and holder.branch == line.branch
            and after[position]
            and holder.name in of_unknown_age
        ):
            reasons[position] = (of_unknown_age[holder.name],)


def _tag_source(heads: Heads, change: CreateTag | ReplaceTag) -> tuple[Snapshot, str | None]:
    """Return the snapshot a tag is made from, and the tag it is copied from if the snapshot has expired.

    Raises `NotFound` if neither exists, `Invalid` for a retention that is not positive.
    """
    if change.retained_ms is not None and change.retained_ms <= 0:
        raise Invalid("The retention of a tag must be positive.")
    point = "latest" if change.snapshot_id is None else str(change.snapshot_id)
    try:
        return resolve(heads, point, change.branch).snapshot, None
    except NotFound:
        line = heads.line(change.branch)
        for tag in () if line is None else line.tags:
            if tag.snapshot.id == change.snapshot_id and tag.name != change.name:
                return tag.snapshot, tag.name
        raise
