"""Plans: what a change would free, why every point stays or goes, frozen before anyone says yes.

Law: freed = what some going point holds and no remaining point holds. Only what is known of a going point is freed;
a remaining point that is not wholly known refuses the plan. A plan is a value: applying it may do less, never more.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import Corrupt, Invalid, NotFound, SnapscopeError
from core.formats.iceberg.plan import refs
from core.formats.paimon import retention
from core.formats.paimon.retention import Retained, Verdicts, keeps_changelogs
from core.messages import counted, told
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
    tag_source,
)
from core.model.history import History
from core.model.intervals import Mask, freed
from core.model.plan import FREES, Plan, Verdict, fingerprint, ordered, unreadable
from core.model.references import MAIN, Holder, HolderKind, Line, Snapshot
from core.planning.unknown_references import refuse_unknown, refuse_unread

DAY_MS = 86_400_000


def preview(history: History, change: Change, now_ms: int) -> Plan:
    """The plan of `change` at `now_ms`. `Invalid` for a request that contradicts itself, `Corrupt` where a remaining
    point is not wholly known."""
    if history.heads.format == "iceberg":
        return refs.preview(history, change, now_ms)
    line = history.heads.line(change.branch)
    if line is None:
        known = ", ".join(each.branch for each in history.heads.lines)
        raise NotFound(
            "There is no branch {branch!r}.",
            branch=change.branch,
            path=history.heads.location,
            remedy=told("Branches: {known}.", known=known),
        )
    warnings: list[str] = []
    after = history.existing.copy()
    reasons: dict[int, tuple[str, ...]] = {}
    leaves: list[str] = []
    source: Snapshot | None = None
    source_tag: str | None = None
    rules = retention.RULES["newest"]
    match change:
        case Expire():
            rules = retention.RULES.get(change.rules, change.rules)
            _expire(history, line, change, now_ms, after, reasons, leaves, warnings)
            _drop_tags(history, line, change.drop_tags, after, reasons)
            _drop_old_tags(history, line, change, now_ms, after, reasons)
        case DeleteTags():
            if not change.names:
                raise Invalid("No tag was named.", remedy="Name at least one tag to delete.")
            _drop_tags(history, line, change.names, after, reasons)
        case CreateTag():
            check_tag_name(line, change.name)
            source, source_tag = tag_source(history.heads, change)
            leaves.append(_tag_path(change.branch, change.name))
        case RenameTag():
            source = find_tag(line, change.name).snapshot
            check_tag_name(line, change.to)
            leaves.append(_tag_path(change.branch, change.to))
        case ReplaceTag():
            old = find_tag(line, change.name)
            if old.expires is not None and change.retained_ms is None:
                warnings.append(
                    told(
                        "Tag {name} would have ended by itself {at}; replaced without a retention (time-retained), it "
                        "never does.",
                        name=change.name,
                        at=f"{old.expires:%Y-%m-%d %H:%M:%S}",
                    )
                )
            source, source_tag = tag_source(history.heads, change)
            why = told("replaced by {source}", source=_source_words(change))
            _drop_tags(history, line, (change.name,), after, reasons, why)
            leaves.append(_tag_path(change.branch, change.name))
        case CleanOrphans():
            if change.older_than_ms > now_ms:
                raise Invalid("Orphans can only be older than now.", remedy="Name a time in the past.")
            if now_ms - change.older_than_ms < DAY_MS:
                warnings.append(
                    told(
                        "Files less than a day old are taken, too: what a writer has written and not yet committed "
                        "looks just like an orphan."
                    )
                )
        case _:
            raise Invalid("{name} rewrites references, so its plan is its format's.", name=type(change).__name__)
    if not change.names_a_reference:
        refuse_unknown(history, line, after, change)
    plan = drafted(history, change, rules, now_ms, after, reasons, leaves, warnings)
    return plan if source is None else dataclasses.replace(plan, source=source, source_tag=source_tag)


def going(history: History, now_ms: int) -> Mask:
    """Positions that every branch's own policy would expire at `now_ms`; nothing where a policy cannot be judged."""
    if history.heads.format == "iceberg":
        return refs.going(history, now_ms)
    mask = np.zeros(len(history.holders), dtype=np.bool_)
    for line in history.heads.lines:
        after, reasons = history.existing.copy(), dict[int, tuple[str, ...]]()
        try:
            _expire(history, line, Expire(branch=line.branch), now_ms, after, reasons, [], [])
        except SnapscopeError:
            continue
        mask |= history.existing & ~after
    return mask


def drafted(
    history: History,
    change: Change,
    rules: str,
    now_ms: int,
    after: Mask,
    reasons: Mapping[int, tuple[str, ...]],
    leaves: list[str],
    warnings: list[str],
) -> Plan:
    """The plan after which the holders of `after` are left."""
    going = history.existing & ~after
    chosen = freed(history.held, history.existing, after)
    ours = history.objects["ours"].to_numpy()
    if foreign := int((chosen & ~ours).sum()):
        warnings.append(
            told(
                "{files} outside the table and its configured paths would be freed too; they are not ours to delete, "
                "stay, and are not counted.",
                files=counted(foreign, "{count} file", "{count} files"),
            )
        )
    points = tuple(
        Verdict(holder.point, bool(after[position]), reasons.get(position, (_stays(holder, change.branch),)))
        for position, holder in enumerate(history.holders)
        if holder.exists
    )
    refuse_unread(history, going)
    removes = [
        (holder.path, history.heads.references[holder.path])
        for kind in (HolderKind.TAG, HolderKind.CHANGELOG, HolderKind.SNAPSHOT)
        for position, holder in enumerate(history.holders)
        if going[position] and holder.kind is kind
    ]
    for position in np.flatnonzero(going):
        warnings += [
            told(
                "Lower bound: {point} goes but could not be read in full, so some of its files stay behind as orphans "
                "({problem})",
                point=history.holders[position].point,
                problem=problem.sentence(),
            )
            for problem in history.incomplete.get(int(position), ())
        ]
    tags = np.array([holder.kind is HolderKind.TAG for holder in history.holders], dtype=np.bool_)
    kept = {_commit(each) for each in _snapshots(history, after)}
    warnings += unreadable([each for each in _snapshots(history, going & tags) if _commit(each) not in kept])
    by_tags = history.held.over(going) & history.held.over(after & tags) & ~history.held.over(after & ~tags)
    return Plan(
        table=history.heads.location,
        change=change,
        rules=rules,
        now_ms=now_ms,
        fingerprint=fingerprint(history.heads, change, rules, now_ms),
        points=points,
        frees=_frees(history, chosen & ours, leaves),
        kept_bytes=history.bytes_of(history.held.over(after)),
        tags_keep_bytes=history.bytes_of(by_tags),
        removes=tuple(removes),
        leaves=tuple(leaves),
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _snapshots(history: History, chosen: Mask) -> list[Snapshot]:
    """What the chosen snapshots and tags let read; a changelog lets read no point."""
    holders = [history.holders[position] for position in np.flatnonzero(chosen)]
    return [each.snapshot for each in holders if each.snapshot and each.kind is not HolderKind.CHANGELOG]


def _commit(snapshot: Snapshot) -> tuple[object, ...]:
    """What a snapshot and its copies, tags and those of branches, have in common."""
    return snapshot.id, snapshot.time_ms, snapshot.commit_user, snapshot.commit_identifier


def _frees(history: History, chosen: Mask, leaves: list[str]) -> pa.Table:
    table = history.objects.filter(pa.array(chosen)).select(["path", "kind", "bytes"]).cast(FREES)
    table = table.filter(pc.invert(pc.is_in(table["path"], value_set=pa.array(leaves, pa.string()))))
    return ordered(table)


def _stays(holder: Holder, branch: str) -> str:
    if holder.branch != branch:
        if holder.branch == MAIN:
            return told("it belongs to the main branch")
        return told("it belongs to branch {name}", name=holder.branch)
    return told("nothing here asks for it to go")


# what goes -----------------------------------------------------------------------------------------------------------


def _expire(
    history: History,
    line: Line,
    change: Expire,
    now_ms: int,
    after: Mask,
    reasons: dict[int, tuple[str, ...]],
    leaves: list[str],
    warnings: list[str],
) -> None:
    refuse_unheeded(change)
    if broken := next((each for each in line.unreadable if each.kind == "consumer"), None):
        raise Corrupt(
            "Consumer {name} cannot be read, so nobody knows which snapshots it still needs. {problem}",
            name=broken.name,
            problem=dataclasses.replace(broken.problem, remedy="").sentence(),
            path=broken.problem.path,
            remedy="Restore the file, or forget this reader: snapscope clear-consumers."
            if broken.problem.path in history.heads.references
            else broken.problem.remedy,
        )
    snapshots = _retained(history, line, HolderKind.SNAPSHOT)
    if change.changelogs_only:
        rule = retention.policy(
            line.options,
            now_ms,
            retain_max=change.changelog_retain_max,
            retain_min=change.changelog_retain_min,
            time_retained_ms=change.changelog_time_retained_ms,
            older_than_ms=change.older_than_ms,
            max_deletes=change.max_deletes,
            rules=change.rules,
            prefix="changelog",
        )
        changelogs = _retained(history, line, HolderKind.CHANGELOG)
        judged = retention.expire_changelogs(line, changelogs, snapshots, rule)
        _judge(history, line, HolderKind.CHANGELOG, judged, after, reasons)
        warnings += rule.notes
        return
    rule = retention.policy(
        line.options,
        now_ms,
        retain_max=change.retain_max,
        retain_min=change.retain_min,
        time_retained_ms=change.time_retained_ms,
        older_than_ms=change.older_than_ms,
        max_deletes=change.max_deletes,
        rules=change.rules,
    )
    warnings += rule.notes
    judged = (
        retention.named_snapshots(snapshots, change.snapshots)
        if change.snapshots
        else retention.expire_snapshots(line, snapshots, rule)
    )
    _judge(history, line, HolderKind.SNAPSHOT, judged, after, reasons)
    runs = retention.engine_runs(len(judged.goes), change.rules)
    if runs > 1 and change.max_deletes is None:
        warnings.append(told("Paimon itself would need {runs} runs for this (snapshot.expire.limit).", runs=runs))
    warnings += retention.lost_jobs(line, judged.goes)
    if any(problem.path.endswith("snapshot/") for problem in line.warnings):
        gap = "Snapshot ids have a gap; Paimon's own expiry would free other files than these here."
        warnings.append(told(gap))
    if keeps_changelogs(line.options) or asks_changelogs(change):
        going = set(judged.goes)
        for position, holder in enumerate(history.holders):
            is_here = holder.branch == line.branch and holder.kind is HolderKind.CHANGELOG and not holder.exists
            if is_here and int(holder.name) in going:
                after[position] = True
                leaves.append(holder.path)
        if leaves:
            warnings.append(
                told(
                    "Paimon's own CALL expire_snapshots would delete the changelogs that this plan leaves behind: the "
                    "procedure does not heed the table's changelog options."
                )
            )
    elif line.changelogs or line.options.get("changelog-producer", "none") != "none":
        warnings.append(told("The changelogs of the snapshots that go are freed with them."))


def _retained(history: History, line: Line, kind: HolderKind) -> list[Retained]:
    found = [
        Retained(int(holder.name), holder.snapshot.time_ms if holder.snapshot else None)
        for holder in history.holders
        if holder.branch == line.branch and holder.kind is kind and holder.exists
    ]
    return sorted(found, key=lambda each: each.id)


def _judge(
    history: History,
    line: Line,
    kind: HolderKind,
    judged: Verdicts,
    after: Mask,
    reasons: dict[int, tuple[str, ...]],
) -> None:
    goes = set(judged.goes)
    for position, holder in enumerate(history.holders):
        if holder.branch == line.branch and holder.kind is kind and holder.exists:
            reasons[position] = judged.reasons[int(holder.name)]
            after[position] = int(holder.name) not in goes


def _tag_path(branch: str, name: str) -> str:
    """Where a tag's file goes: beside its branch's other references."""
    prefix = "" if branch == MAIN else f"branch/branch-{branch}/"
    return f"{prefix}tag/tag-{name}"


def _source_words(change: ReplaceTag) -> str:
    return told("the newest snapshot") if change.snapshot_id is None else told("snapshot {id}", id=change.snapshot_id)


def _drop_tags(
    history: History,
    line: Line,
    names: tuple[str, ...],
    after: Mask,
    reasons: dict[int, tuple[str, ...]],
    why: str = told("named to be deleted"),
) -> None:
    there = {
        holder.name: position
        for position, holder in enumerate(history.holders)
        if holder.branch == line.branch and holder.kind is HolderKind.TAG
    }
    for name in names:
        if name not in there:
            known = ", ".join(sorted(there)[:20]) or "none"
            raise Invalid(
                "There is no tag {name!r}, so nothing was changed.",
                name=name,
                remedy=told("Tags: {known}.", known=known),
            )
        after[there[name]] = False
        reasons[there[name]] = (why,)


def _drop_old_tags(
    history: History, line: Line, change: Expire, now_ms: int, after: Mask, reasons: dict[int, tuple[str, ...]]
) -> None:
    goes, untold = retention.ended_tags(line, now_ms if change.expired_tags else None, change.tags_older_than_ms)
    for name, why in goes.items():
        _drop_tags(history, line, (name,), after, reasons, why)
    for position, holder in enumerate(history.holders):
        if holder.kind is HolderKind.TAG and holder.branch == line.branch and after[position] and holder.name in untold:
            reasons[position] = (untold[holder.name],)
