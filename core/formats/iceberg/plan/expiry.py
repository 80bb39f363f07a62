"""Plans of an Iceberg table: snapshots hold files, refs decide which snapshots are kept.

Invariant: freed = reachable from an expiring snapshot and from no remaining one. Removing a ref frees nothing by
itself; its cost is computed under the table's own retention. A plan is the same value as for any other format.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np
import pyarrow.compute as pc

from core.errors import Corrupt, Invalid, Unsupported
from core.formats import orphan_files
from core.formats.iceberg import retention
from core.formats.iceberg.plan import reference_changes
from core.formats.iceberg.plan.reference_changes import Move, find, snapshots_text
from core.formats.iceberg.retention import ExpiryOptions, RefVerdicts
from core.messages import Reason, counted, listed, message
from core.model import codes
from core.model.actions import (
    Analyze,
    Change,
    CleanOrphans,
    ClearConsumers,
    Compact,
    CreateTag,
    DeleteBranches,
    DeleteTags,
    DropPartitions,
    Expire,
    OfBranches,
    RenameBranch,
    RenameTag,
    ResetConsumer,
    Truncate,
)
from core.model.codes import Fault
from core.model.history import HistorySummary
from core.model.intervals import Mask
from core.model.lineage import members
from core.model.plan import FREES, Plan, Verdict, fingerprint, ordered, unreadable
from core.model.references import MAIN, Heads, Ref, Snapshot, point_in_words
from core.model.time_travel import in_words
from core.units import size

RULES = codes.ICEBERG()


def preview(history: HistorySummary, change: Change, now_ms: int) -> Plan:
    """Plan `change` at `now_ms`; errors as in `core.formats.table_format.TableFormat.plan`."""
    heads = history.heads
    judged, move = _unchanged(heads), Move(heads.refs)
    warnings: list[Reason] = []
    match change:
        case Expire():
            _refuse_unheeded(change)
            judged = _expire(heads, change, now_ms)
            warnings += _expiry_notes(heads, change, judged)
            warnings += unreadable(_tagged(heads, judged.expired))
        case CleanOrphans():
            refuse_off(heads)
            warnings += orphan_files.cautions(change, now_ms)
        case DropPartitions() | Truncate() | Compact() | Analyze():
            raise Unsupported(
                (
                    "Snapscope changes only references of Iceberg tables and expires snapshots; it writes "
                    "nothing else to them."
                ),
                path=heads.location,
                remedy="Use the table's own engine instead.",
            )
        case ResetConsumer() | ClearConsumers():
            raise Unsupported(
                "Iceberg does not store the progress of streaming readers.",
                path=heads.location,
                remedy="Reset the reader in its own engine.",
            )
        case _:
            move = reference_changes.of(heads, change, now_ms)
            left = reference_changes.left_behind(heads, move.after)
            judged = _moved(judged, move, left)
            warnings += [*move.notes, *_cost(history, change, move, left, now_ms)]
            warnings += unreadable(_tagged(heads, left), later=True)
            if move.source is not None and not isinstance(change, CreateTag | RenameTag | RenameBranch):
                _refuse_unread(history, move.source)
    return _plan(history, change, now_ms, judged, move, warnings)


def _tagged(heads: Heads, ids: Set[int]) -> list[Snapshot]:
    """Return those of these snapshots that a tag currently names."""
    there = members(heads)
    named = {ref.snapshot_id for ref in heads.refs if not ref.is_branch} & there.keys() & ids
    return [there[id] for id in named]


def expiring(history: HistorySummary, now_ms: int) -> Mask:
    """Mask the positions that the table's own retention would expire at `now_ms`; none if expiry is disabled."""
    try:
        refuse_off(history.heads)
    except Unsupported:
        return np.zeros(len(history.holders), dtype=np.bool_)
    return ~_kept(history, _judge(history.heads, ExpiryOptions(now_ms)))


def marginal(history: HistorySummary, after: Sequence[Ref], now_ms: int) -> tuple[int, int]:
    """Return the number of files and bytes that an expiry by the table's own rules frees only with these refs."""
    return _measured(history, *_with_and_without(history, after, now_ms))


def _with_and_without(history: HistorySummary, after: Sequence[Ref], now_ms: int) -> tuple[Mask, Mask]:
    """Return what an expiry by the table's own rules keeps with all refs, and with these."""
    kept, without = (_kept(history, _judge(history.heads, ExpiryOptions(now_ms), refs)) for refs in (None, after))
    return kept, without


def _measured(history: HistorySummary, before: Mask, after: Mask) -> tuple[int, int]:
    found = history.reclaimed(before, after, np.zeros_like(after)).frees
    return len(found), int(pc.sum(found["bytes"]).as_py() or 0)


def _plan(
    history: HistorySummary,
    change: Change,
    now_ms: int,
    judged: RefVerdicts,
    move: Move,
    warnings: list[Reason],
) -> Plan:
    heads, after = history.heads, _kept(history, judged)
    leaves = () if move.writes is None else (_path(move.writes),)
    if not change.names_a_reference:
        _refuse_unknown(history, after)
    found = history.reclaimed(history.existing, after, np.zeros_like(after))
    if found.foreign:
        warnings.append(codes.FOREIGN(files=counted(found.foreign, "{count} file", "{count} files")))
    warnings += [
        codes.LOWER_BOUND(
            point=history.holders[position].point,
            problem=problem.sentence(),
        )
        for position in np.flatnonzero(~after)
        for problem in history.incomplete.get(int(position), ())
    ]
    removes = [(_path(name), heads.references[_path(name)]) for name in sorted(judged.deleted_refs)]
    if move.replaces is not None:
        removes.append((_path(move.replaces), heads.references[_path(move.replaces)]))
    removes += [
        (holder.path, heads.references[holder.path])
        for position, holder in enumerate(history.holders)
        if not after[position]
    ]
    is_search = isinstance(change, CleanOrphans)
    if is_search or len(found.frees) or found.foreign:
        fewer = _fewer_than_stated(history, after)
        if is_search and fewer:
            raise Corrupt(
                "{why} What they do not list would look orphaned.",
                why=fewer[0],
                path=heads.location,
                remedy="Use the engine's own remove_orphan_files if these counts are known to be wrong.",
            )
        warnings += fewer
    if (removes or leaves) and (old := retention.old_metadata(heads)):
        warnings.append(
            codes.OLD_METADATA(
                files=counted(len(old), "{count} old metadata file", "{count} old metadata files"),
                rule=retention.DELETE_OLD,
                named=", ".join(old[:5]) + (" …" if len(old) > 5 else ""),
            )
        )
    return Plan(
        table=heads.location,
        change=change,
        rules=RULES,
        now_ms=now_ms,
        fingerprint=fingerprint(heads, change, RULES, now_ms),
        points=(*_snapshot_verdicts(history, judged), *_ref_verdicts(heads, judged)),
        frees=ordered(found.frees.cast(FREES)),
        kept_bytes=found.kept_bytes,
        tags_keep_bytes=0,
        removes=tuple(removes),
        leaves=leaves,
        warnings=tuple(dict.fromkeys(warnings)),
        source=move.source,
    )


def _fewer_than_stated(history: HistorySummary, after: Mask) -> list[Reason]:
    """Report remaining snapshots whose manifests list fewer data or delete files than their summary states.

    A list that lost whole blocks is readable, and the files missing in it would be freed. A summary may be stale, so
    this is only a warning.
    """
    totals, found = history.totals, []
    counts = {"total-data-files": totals.data_files, "total-delete-files": totals.files - totals.data_files}
    for position, holder in enumerate(history.holders):
        summary = (holder.snapshot.fields.get("summary") if holder.snapshot else None) or {}
        for name, count in counts.items():
            stated = str(summary.get(name, ""))
            if after[position] and stated.isdecimal() and count[position] < int(stated):
                about = {"point": holder.point, "name": name, "said": stated, "found": count[position]}
                found.append(message("{point} ({name}: {said}, found: {found})", **about))
    if not found:
        return []
    what = listed(found[:5] + (["…"] if len(found) > 5 else []))
    return [codes.FEWER_FILES(what=what)]


def _snapshot_verdicts(history: HistorySummary, judged: RefVerdicts) -> list[Verdict]:
    return [Verdict(holder.point, *judged.snapshots[int(holder.name)]) for holder in history.holders]


def _ref_verdicts(heads: Heads, judged: RefVerdicts) -> list[Verdict]:
    kind = {ref.name: "branch" if ref.is_branch else "tag" for ref in heads.refs}
    return [Verdict(f"{kind[name]}:{name}", keep, (why,)) for name, (keep, why) in judged.refs.items()]


def _kept(history: HistorySummary, judged: RefVerdicts) -> Mask:
    expired = judged.expired
    return np.array([int(holder.name) not in expired for holder in history.holders], dtype=np.bool_)


def _unchanged(heads: Heads) -> RefVerdicts:
    why = codes.UNASKED()
    return RefVerdicts({ref.name: (True, why) for ref in heads.refs}, dict.fromkeys(members(heads), (True, (why,))))


def _moved(judged: RefVerdicts, move: Move, left: Set[int]) -> RefVerdicts:
    why = codes.LEFT_BEHIND()
    return RefVerdicts({**judged.refs, **move.verdicts}, {**judged.snapshots, **dict.fromkeys(left, (True, (why,)))})


def _judge(heads: Heads, options: ExpiryOptions, refs: Sequence[Ref] | None = None) -> RefVerdicts:
    given = heads.refs if refs is None else refs
    return retention.judge(members(heads), given, heads.main.options, options)


def _refuse_unread(history: HistorySummary, source: Snapshot) -> None:
    """Raise `Corrupt` if a ref would point to a snapshot that cannot be read completely."""
    for position, problems in history.incomplete.items():
        if history.holders[position].name == str(source.id):
            raise Corrupt(
                "Snapshot {id} cannot be read in full, so no ref was pointed to it: {problem}",
                id=source.id,
                problem=problems[0].sentence(),
                path=problems[0].path,
                remedy="Restore the file, or choose another snapshot.",
            )


def _refuse_unknown(history: HistorySummary, after: Mask) -> None:
    for position, problems in history.incomplete.items():
        if after[position]:
            holder = history.holders[position]
            raise Corrupt(
                (
                    "{point} is kept, but it cannot be read in full, so the files it still needs cannot be "
                    "determined: {problem}"
                ),
                point=point_in_words(holder.point),
                problem=problems[0].sentence(),
                path=problems[0].path,
                remedy=message(
                    "Restore the file, or expire this snapshot in the same plan (--snapshot {name}).", name=holder.name
                ),
            )


# requests ------------------------------------------------------------------------------------------------------------


def _refuse_unheeded(change: Expire) -> None:
    """Raise `Invalid` if part of a request has no meaning in Iceberg."""
    given = {
        "retain-max": change.retain_max,
        "max-deletes": change.max_deletes,
        "changelog": change.changelogs_only or None,
        "changelog-retain-max": change.changelog_retain_max,
        "changelog-retain-min": change.changelog_retain_min,
        "changelog-time-retained": change.changelog_time_retained_ms,
        "tags-older-than": change.tags_older_than_ms,
        "branch": None if change.branch == MAIN else change.branch,
    }
    if unheeded := [name for name, value in given.items() if value is not None]:
        raise Invalid(
            "{unheeded}: Iceberg's expiry has no such option.",
            unheeded=", ".join(unheeded),
            remedy=("Give older-than, retain-min, snapshots or refs to delete; each branch follows its own retention."),
        )
    if change.older_than_ms is not None and change.time_retained_ms is not None:
        raise Invalid(
            "older-than and time-retained both set the age limit of snapshots.", remedy="Give exactly one of them."
        )


def _expire(heads: Heads, change: Expire, now_ms: int) -> RefVerdicts:
    refuse_off(heads)
    for name in change.drop_tags:
        find(heads, name)
        if name == MAIN:
            raise Invalid("Branch main cannot be deleted.", remedy="Leave it out.")
    older_than_ms = change.older_than_ms
    if change.time_retained_ms is not None:
        older_than_ms = now_ms - change.time_retained_ms
    dropped = dict.fromkeys(change.drop_tags, codes.NAMED_TO_DROP())
    return _judge(heads, ExpiryOptions(now_ms, older_than_ms, change.retain_min, frozenset(change.snapshots), dropped))


def refuse_off(heads: Heads) -> None:
    if retention.is_off(heads.main.options):
        raise Unsupported(
            ("The table sets gc.enabled = false: its files may also belong to another table, so nothing can expire."),
            path=heads.location,
            remedy="Set gc.enabled = true only if no other table uses these files; in Nessie, use nessie-gc.",
        )


def _path(name: str) -> str:
    return f"metadata.json#refs/{name}"


# notes ---------------------------------------------------------------------------------------------------------------


def _cost(history: HistorySummary, change: Change, move: Move, left: Set[int], now_ms: int) -> list[Reason]:
    """Return what a change of refs, which frees nothing itself, allows an expiry to free."""
    if change.is_harmless:
        return []
    few = len(change.names) == 1 if isinstance(change, DeleteTags | DeleteBranches) else True
    found: list[Reason] = []
    if left:
        mask = np.array([int(holder.name) not in left for holder in history.holders], dtype=np.bool_)
        files, total = _measured(history, history.existing, mask)
        own = counted(files, "{count} file", "{count} files")
        own = message("at least {files}", files=own) if history.incomplete else own
        found.append(codes.NOTHING_ELSE_HOLDS(left=snapshots_text(left), files=own, size=size(total)))
    is_removal = isinstance(change, DeleteTags | DeleteBranches)
    of_branch = isinstance(change, OfBranches)
    if not is_removal:
        what = message("Moving the branch" if of_branch else "Moving the tag")
    elif few:
        what = message("Removing the branch" if of_branch else "Removing the tag")
    else:
        what = message("Removing these branches" if of_branch else "Removing these tags")
    try:
        refuse_off(history.heads)
    except Unsupported:
        return [*found, codes.EXPIRY_OFF(what=what)]
    files, total = marginal(history, move.after, now_ms)
    more = (
        message("more without it" if few else "more without them") if is_removal else message("more than it would now")
    )
    return [
        *found,
        codes.FREED_NEXT(
            what=what,
            files=counted(files, "{count} file", "{count} files"),
            size=size(total),
            more=more,
        ),
    ]


def _expiry_notes(heads: Heads, change: Expire, judged: RefVerdicts) -> list[Reason]:
    notes: list[Reason] = []
    if change.snapshots:
        notes.append(codes.POLICY_TOO())
    log = heads.pointer
    if judged.expired:
        remaining = members(heads).keys() - judged.expired
        after = retention.trimmed(log, remaining)
        if not log:
            notes.append(codes.LOG_EMPTY())
        elif len(after) < len(log):
            reach = message("no longer works for any time")
            if after:
                reach = message("reaches back to {at}", at=in_words(after[0][0]))
            notes.append(
                codes.LOG_TRIMMED(
                    entries=counted(len(log) - len(after), "{count} entry", "{count} entries"),
                    all=f"{len(log):,}",
                    reach=reach,
                )
            )
    is_owned = any(each.code == Fault.CATALOG_OWNED for each in heads.main.warnings)
    return [*notes, *([codes.CATALOG_OWNED()] if is_owned else [])]
