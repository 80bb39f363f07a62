"""Iceberg's retention: which refs and snapshots an expiry removes, by each ref's own rule. Pure.

Invariant (Iceberg 1.11, `RemoveSnapshots`): a ref expires by the age of its snapshot; the head of a live ref is always
kept. On a branch, snapshots are kept as long as they are young enough or among the newest N, and none after the first
that is neither. A snapshot on no branch is kept by the cut-off alone; one exactly at the cut-off is kept. Named ids
expire; naming the head of a live ref is an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from core.errors import Corrupt, ErrorCode, Invalid
from core.messages import Reason
from core.model import codes
from core.model.lineage import ancestors, members
from core.model.references import MAIN, Heads, Ref, Snapshot
from core.model.time_travel import in_words
from core.units import duration

MAX_SNAPSHOT_AGE, MIN_SNAPSHOTS, MAX_REF_AGE = (
    f"history.expire.{name}" for name in ("max-snapshot-age-ms", "min-snapshots-to-keep", "max-ref-age-ms")
)
FIVE_DAYS_MS = 432_000_000
FOREVER_MS = 2**63 - 1
PREVIOUS_MAX, DELETE_OLD = "write.metadata.previous-versions-max", "write.metadata.delete-after-commit.enabled"


def is_off(properties: Mapping[str, str]) -> bool:
    """Return whether the table rejects every expiry, because its files may belong to other tables too."""
    return properties.get("gc.enabled", "true").lower() != "true"


def max_ref_age_ms(ref: Ref, properties: Mapping[str, str]) -> int | None:
    """Return the maximum age of a ref's snapshot in milliseconds before the ref expires; None = unlimited."""
    if ref.name == MAIN:
        return None
    age_ms = number(properties, MAX_REF_AGE, FOREVER_MS) if ref.max_ref_age_ms is None else ref.max_ref_age_ms
    return None if age_ms >= FOREVER_MS else age_ms


def number(properties: Mapping[str, str], key: str, default: int) -> int:
    """Return a table property that is a whole number. Raises `Corrupt` if it has another value."""
    text = properties.get(key)
    try:
        return default if text is None else int(text)
    except ValueError:
        raise Corrupt(
            "The table property {key} must be a whole number, not {text!r:.60}.",
            key=key,
            text=text,
            remedy="Correct the property.",
        ) from None


@dataclass(frozen=True, slots=True)
class ExpiryOptions:
    """The arguments of an expiry. None = the table's own option. `dropped`: refs to delete first, with reasons."""

    now_ms: int
    older_than_ms: int | None = None
    retain_last: int | None = None
    ids: frozenset[int] = frozenset()
    dropped: Mapping[str, Reason] | None = None


@dataclass(frozen=True, slots=True)
class RefVerdicts:
    """The verdict on each ref and each snapshot: whether it is kept, and why."""

    refs: Mapping[str, tuple[bool, Reason]]
    snapshots: Mapping[int, tuple[bool, tuple[Reason, ...]]]

    @property
    def expired(self) -> frozenset[int]:
        return frozenset(number for number, (keep, _) in self.snapshots.items() if not keep)

    @property
    def deleted_refs(self) -> frozenset[str]:
        return frozenset(name for name, (keep, _) in self.refs.items() if not keep)


def judge(
    snapshots: Mapping[int, Snapshot], refs: Sequence[Ref], properties: Mapping[str, str], options: ExpiryOptions
) -> RefVerdicts:
    """Decide what an expiry removes. Raises `Invalid` for an id that does not exist or that a live ref points to."""
    if options.retain_last is not None and options.retain_last < 1:
        raise Invalid("At least one snapshot must be retained, not {retain_last}.", retain_last=options.retain_last)
    if missing := sorted(options.ids - snapshots.keys()):
        raise Invalid(
            "There is no snapshot {missing}; nothing was changed.", missing=missing[0], code=ErrorCode.NO_SNAPSHOT
        )
    age_ms = number(properties, MAX_SNAPSHOT_AGE, FIVE_DAYS_MS)
    cutoff = options.now_ms - age_ms if options.older_than_ms is None else options.older_than_ms
    least = number(properties, MIN_SNAPSHOTS, 1) if options.retain_last is None else options.retain_last
    ref_verdicts = {ref.name: _ref(ref, snapshots, properties, options) for ref in refs}
    live = [ref for ref in refs if ref_verdicts[ref.name][0]]
    reasons: dict[int, list[Reason]] = {number: [] for number in snapshots}
    for ref in live:
        if ref.snapshot_id in options.ids:
            named = ", ".join(each.name for each in live if each.snapshot_id == ref.snapshot_id)
            raise Invalid(
                "Snapshot {snapshot_id} cannot expire: it is still referenced by {named}.",
                snapshot_id=ref.snapshot_id,
                named=named,
                remedy="Delete the ref in the same plan, or omit the snapshot.",
            )
        points = codes.BRANCH_POINTS if ref.is_branch else codes.TAG_NAMES
        reasons[ref.snapshot_id].append(points(name=ref.name))
    on_branch: dict[int, list[Reason]] = {}
    tagged = {ref.snapshot_id for ref in live if not ref.is_branch}
    for ref in live:
        if ref.is_branch:
            _walk(ref, snapshots, cutoff, least, options.now_ms, reasons, on_branch)
    found: dict[int, tuple[bool, tuple[Reason, ...]]] = {}
    for each in snapshots.values():
        if each.id not in on_branch and each.id not in tagged and each.time_ms >= cutoff:
            reasons[each.id].append(codes.YOUNG_ON_NO_REF(at=in_words(cutoff)))
        if each.id in options.ids:
            found[each.id] = (False, (codes.NAMED_TO_EXPIRE(),))
        elif reasons[each.id]:
            found[each.id] = (True, tuple(reasons[each.id]))
        else:
            reasons_to_expire = on_branch.get(each.id) or [codes.OLD_ON_NO_REF(at=in_words(cutoff))]
            found[each.id] = (False, tuple(reasons_to_expire))
    return RefVerdicts(ref_verdicts, found)


def _ref(
    ref: Ref, snapshots: Mapping[int, Snapshot], properties: Mapping[str, str], options: ExpiryOptions
) -> tuple[bool, Reason]:
    if ref.name in (options.dropped or {}):
        return False, (options.dropped or {})[ref.name]
    if ref.name == MAIN:
        return True, codes.MAIN_STAYS()
    if ref.snapshot_id not in snapshots:
        return False, codes.SNAPSHOT_MISSING(id=ref.snapshot_id)
    age_ms, own_ms = max_ref_age_ms(ref, properties), options.now_ms - snapshots[ref.snapshot_id].time_ms
    if age_ms is None:
        return True, codes.NO_END()
    if own_ms > age_ms:
        return False, codes.REF_OLD(own=duration(own_ms), age=duration(age_ms))
    return True, codes.REF_YOUNG(age=duration(age_ms))


def _walk(
    ref: Ref,
    snapshots: Mapping[int, Snapshot],
    cutoff: int,
    least: int,
    now_ms: int,
    reasons: dict[int, list[Reason]],
    on_branch: dict[int, list[Reason]],
) -> None:
    """Walk down one branch: record what it keeps, and why the rest expires."""
    least = least if ref.min_snapshots is None else ref.min_snapshots
    cutoff = cutoff if ref.max_snapshot_age_ms is None else now_ms - ref.max_snapshot_age_ms
    kept, keeping = 0, True
    for each in ancestors(snapshots, ref.snapshot_id):
        reasons_to_expire = on_branch.setdefault(each.id, [])
        few, young = kept < least, each.time_ms >= cutoff
        keeping = keeping and (few or young)
        if not keeping:
            behind = codes.BEHIND(name=ref.name)
            aged = codes.OLD_ON_BRANCH(at=in_words(cutoff), least=least, name=ref.name)
            reasons_to_expire.append(behind if young else aged)
            continue
        kept += 1
        if young:
            reasons[each.id].append(codes.YOUNG_ON_BRANCH(at=in_words(cutoff), name=ref.name))
        elif each.id != ref.snapshot_id:
            reasons[each.id].append(codes.NEWEST_ON_BRANCH(least=least, name=ref.name))


def trimmed(log: Sequence[tuple[int, int]], remaining: Set[int]) -> tuple[tuple[int, int], ...]:
    """Return the snapshot-log after an expiry: an entry whose snapshot is gone also removes all entries before it."""
    kept: list[tuple[int, int]] = []
    for entry in log:
        if entry[1] in remaining:
            kept.append(entry)
        else:
            kept.clear()
    return tuple(kept)


def cleans_incrementally(heads: Heads, expired: frozenset[int], ids: frozenset[int]) -> bool:
    """Return whether the plain Java API would delete files incrementally.

    It does if no ids are named and all snapshots, before and after the expiry, are ancestors of main.
    """
    before = members(heads)
    main = next((ref.snapshot_id for ref in heads.refs if ref.name == MAIN), None)
    line = {each.id for each in ancestors(before, main)}
    after = {number: each for number, each in before.items() if number not in expired}
    return not ids and expired <= line and {each.id for each in ancestors(after, main)} == after.keys()


def old_metadata(heads: Heads) -> tuple[str, ...]:
    """Return the metadata files that the next commit deletes: those dropped from the metadata-log, if so configured."""
    properties = heads.main.options
    if properties.get(DELETE_OLD, "false").lower() != "true":
        return ()
    listed = [str(each["metadata-file"]) for each in heads.document.get("metadata-log") or ()]
    most = max(1, number(properties, PREVIOUS_MAX, 100))
    return tuple(listed[: max(0, len(listed) + 1 - most)])
