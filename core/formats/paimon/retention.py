"""Which snapshots and changelogs an expiry removes: the rules of the engine's versions.

Invariant: only the oldest ones are removed, and each verdict says which rule decided it. "The newest N" counts retained
snapshots. If ids have no gaps, that is the engine's own arithmetic; if they have gaps, it keeps no fewer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.errors import Invalid
from core.messages import Reason, message
from core.model import codes
from core.model.references import Line
from core.model.time_travel import in_words
from core.units import is_true, parse_duration_ms, wall_clock

UNBOUNDED = 2**31 - 1
LEAST = 10  # the engine's default of retain_min
BATCH_IDENTIFIER = 2**63 - 1  # of commits that belong to no streaming job
RULES: Mapping[str, Reason] = {
    "newest": codes.PAIMON_2(),
    "1.x": codes.PAIMON_1(),
    "0.9": codes.PAIMON_0_9(),
}
LIMIT = "snapshot.expire.limit"
_RUN_LIMIT = {"newest": 50, "1.x": 50, "0.9": 10}


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of an expiry. What was committed at or after `threshold_ms` is protected by its age."""

    retain_max: int
    retain_min: int
    threshold_ms: int
    max_deletes: int | None
    rules: str
    notes: tuple[Reason, ...] = ()
    is_own_limit: bool = False  # `max_deletes` is the table's `snapshot.expire.limit`; below 1, nothing expires

    @property
    def most_per_run(self) -> int:
        """How many expire in one run of the engine; below 1, none."""
        own = self.max_deletes if self.is_own_limit else None
        return _RUN_LIMIT[self.rules] if own is None else own

    @property
    def limit(self) -> Reason:
        """The verdict on what `max_deletes` keeps for a later run."""
        return (codes.EXPIRE_LIMIT if self.is_own_limit else codes.MAX_DELETES)(most=self.max_deletes)


@dataclass(frozen=True, slots=True)
class Retained:
    """One snapshot or changelog that an expiry considers: its id and commit time (None if the file is unreadable)."""

    id: int
    time_ms: int | None


def policy(
    options: Mapping[str, str],
    now_ms: int,
    *,
    retain_max: int | None = None,
    retain_min: int | None = None,
    time_retained_ms: int | None = None,
    older_than_ms: int | None = None,
    max_deletes: int | None = None,
    rules: str = "newest",
    prefix: str = "snapshot",
) -> Policy:
    """Return the requested policy, completed from the table's options, which alone are what a writer applies.

    Raises `Invalid` if the values contradict each other or an option cannot be parsed.
    """
    if rules not in RULES:
        raise Invalid(
            "There is no rule set {rules!r}.",
            rules=rules,
            remedy=message("Rule sets: {rules}.", rules=", ".join(RULES)),
        )
    own_min = _number(options, f"{prefix}.num-retained.min")
    own_max = _number(options, f"{prefix}.num-retained.max")
    if prefix == "changelog":
        own_min = own_min if own_min is not None else _number(options, "snapshot.num-retained.min")
        own_max = own_max if own_max is not None else _number(options, "snapshot.num-retained.max")
    notes = []
    greatest = retain_max if retain_max is not None else own_max if own_max is not None else UNBOUNDED
    least = retain_min if retain_min is not None else own_min if own_min is not None else LEAST
    if retain_min is None and own_min is None and retain_max is not None and 1 <= greatest < least:
        notes.append(
            codes.RETAIN_MIN_LOWERED(
                least=least,
                greatest=greatest,
            )
        )
        least = greatest
    if least < 1:
        raise Invalid("retain-min must be at least 1, not {least}: the newest snapshot is always kept.", least=least)
    if greatest < 1:
        raise Invalid(
            "retain-max must be at least 1, not {greatest}: the newest snapshot is always kept.", greatest=greatest
        )
    if greatest < least:
        whose = (
            message("from the table option {prefix}.num-retained.min", prefix=prefix)
            if own_min is not None
            else message("the engine's default")
        )
        least_is = "" if retain_min is not None else message(", {whose}", whose=whose)
        raise Invalid(
            "retain-max ({greatest}) is below retain-min ({least}{least_is}).",
            greatest=greatest,
            least=least,
            least_is=least_is,
            remedy=message("Give both, with max at least min."),
        )
    if max_deletes is not None and max_deletes < 1:
        raise Invalid("max-deletes must be at least 1, not {max_deletes}.", max_deletes=max_deletes)
    for name, value in (("time-retained", time_retained_ms), ("older-than", older_than_ms)):
        if value is not None and value < 0:
            raise Invalid("{name} must not be negative.", name=name)
    if time_retained_ms is None and older_than_ms is None:
        time_retained_ms = _retained_ms(options, prefix)
    thresholds = [] if time_retained_ms is None else [now_ms - time_retained_ms]
    thresholds += [] if older_than_ms is None else [older_than_ms]
    own_most = _number(options, LIMIT) if max_deletes is None else None
    most = max_deletes if own_most is None else own_most
    return Policy(greatest, least, min(thresholds), most, rules, tuple(notes), own_most is not None)


def _retained_ms(options: Mapping[str, str], prefix: str) -> int:
    key = next((f"{each}.time-retained" for each in (prefix, "snapshot") if options.get(f"{each}.time-retained")), "")
    try:
        return parse_duration_ms(options.get(key, "1 h"))
    except Invalid as error:
        raise Invalid(
            message("The table option {key} cannot be parsed: {message}", key=key, message=error.message),
            remedy=error.remedy,
        ) from None


def _number(options: Mapping[str, str], key: str) -> int | None:
    text = options.get(key)
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        raise Invalid("The table option {key} must be a number, not {text!r}.", key=key, text=text) from None


def keeps_changelogs(options: Mapping[str, str]) -> bool:
    """Return whether some changelog option exceeds its snapshot counterpart: the engine then keeps changelogs."""

    def number(key: str, default: int) -> int:
        text = options.get(key)
        return default if text is None or not text.strip().lstrip("-").isdigit() else int(text)

    for end, default in (("num-retained.min", 10), ("num-retained.max", UNBOUNDED)):
        own = number(f"snapshot.{end}", default)
        if number(f"changelog.{end}", own) > own:
            return True
    own_text = options.get("snapshot.time-retained", "1 h")
    return parse_duration_ms(options.get("changelog.time-retained", own_text)) > parse_duration_ms(own_text)


def heeds_consumers(options: Mapping[str, str], rules: str) -> bool:
    """Return whether consumers keep snapshots from a writer's expiry; a plan and the engine's CALL always heed them.

    If not, they keep only changelogs, where those outlive snapshots.
    """
    return rules != "newest" or not (is_true(options.get("consumer.changelog-only")) and keeps_changelogs(options))


def seen_by_writers(line: Line, rules: str = "newest") -> Line:
    """Return the branch as a writer's expiry of snapshots sees it: without consumers that keep no snapshot from it."""
    return line if heeds_consumers(line.options, rules) else dataclasses.replace(line, consumers=())


@dataclass(frozen=True, slots=True)
class SnapshotVerdicts:
    """The ids that expire, ascending, and the reasons for each id."""

    expired: tuple[int, ...]
    reasons: Mapping[int, tuple[Reason, ...]]


def expire_snapshots(line: Line, retained: Sequence[Retained], rule: Policy) -> SnapshotVerdicts:
    """Decide which retained snapshots of a branch expire; `retained` is ordered oldest first."""
    count = len(retained)
    beyond = max(count - rule.retain_max, 0)  # those before this index expire whatever their age
    stop, blocker = count - rule.retain_min, codes.AMONG_NEWEST(least=rule.retain_min)
    if rule.max_deletes is not None and rule.max_deletes < stop:
        stop, blocker = rule.max_deletes, rule.limit
    for consumer in line.consumers:
        first = next((i for i, each in enumerate(retained) if each.id >= consumer.next_snapshot), count)
        if first < stop:
            stop, blocker = first, codes.CONSUMER(name=consumer.name, id=consumer.next_snapshot)
    reasons: dict[int, tuple[Reason, ...]] = {}
    index = 0
    while index < stop:
        each = retained[index]
        if index < beyond:
            reasons[each.id] = (codes.BEYOND_NEWEST(most=rule.retain_max),)
        else:
            judged = retained[min(index + 1, count - 1)] if rule.rules == "newest" else each
            if judged.time_ms is None:
                stop, blocker = index, codes.AGE_UNKNOWN(id=judged.id)
                break
            whose = message("its successor {id} was", id=judged.id) if judged is not each else message("it was")
            if judged.time_ms >= rule.threshold_ms:
                stop, blocker = index, codes.YOUNG(whose=whose, at=in_words(judged.time_ms))
                break
            reasons[each.id] = (codes.OLD(whose=whose, at=in_words(rule.threshold_ms)),)
        index += 1
    for position in range(max(index, 0), count):
        each = retained[position]
        own = [blocker]
        if position >= count - rule.retain_min:
            own = [codes.AMONG_NEWEST(least=rule.retain_min)]
        elif position > index:
            own = [codes.ONLY_PREFIX(id=retained[index].id, why=blocker)]
        reasons[each.id] = tuple(own)
    return SnapshotVerdicts(tuple(each.id for each in retained[: max(index, 0)]), reasons)


def named_snapshots(retained: Sequence[Retained], wanted: Sequence[int]) -> SnapshotVerdicts:
    """Expire exactly the named ids.

    Raises `Invalid` unless they are the oldest: a gap makes the engine throw, and its next expiry delete files that are
    still needed.
    """
    ids = [each.id for each in retained]
    for each in wanted:
        if each not in ids:
            raise Invalid("Snapshot {each} is not retained, so it cannot expire.", each=each)
    chosen = set(wanted)
    if chosen == set(ids):
        raise Invalid(
            "All snapshots were named for expiry; the newest is always kept.",
            remedy=message("Omit {ids}.", ids=ids[-1]),
        )
    prefix = ids[: len(chosen)]
    if chosen != set(prefix):
        holes = [each for each in ids[: ids.index(max(chosen))] if each not in chosen]
        shown = ", ".join(str(each) for each in holes[:10]) + (" …" if len(holes) > 10 else "")
        raise Invalid(
            ("Only the oldest snapshots of a table can expire; these would leave a gap, and Paimon fails across gaps."),
            remedy=message(
                ("Also name the older ones ({shown}), or tag the snapshots to keep and expire all up to {chosen}."),
                shown=shown,
                chosen=max(chosen),
            ),
        )
    kept = codes.NOT_NAMED(id=max(chosen))
    reasons = {each: (codes.NAMED_TO_GO(),) if each in chosen else (kept,) for each in ids}
    return SnapshotVerdicts(tuple(prefix), reasons)


def expire_changelogs(
    line: Line, changelogs: Sequence[Retained], snapshots: Sequence[Retained], rule: Policy
) -> SnapshotVerdicts:
    """Decide which long-lived changelogs expire. They count together with snapshots; the newest is always kept."""
    combined = [*changelogs, *snapshots]
    count, own = len(combined), len(changelogs)
    beyond = max(count - rule.retain_max, 0)
    stop, blocker = own - 1, codes.NEWEST_CHANGELOG()
    if count - rule.retain_min < stop:
        stop = count - rule.retain_min
        blocker = codes.AMONG_NEWEST_CHANGELOGS(least=rule.retain_min)
    if rule.max_deletes is not None and rule.max_deletes < stop:
        stop, blocker = rule.max_deletes, rule.limit
    for consumer in line.consumers:
        first = next((i for i, each in enumerate(combined) if each.id >= consumer.next_snapshot), count)
        if first < stop:
            stop, blocker = first, codes.CONSUMER_OF_CHANGELOGS(name=consumer.name, id=consumer.next_snapshot)
    reasons: dict[int, tuple[Reason, ...]] = {}
    index = 0
    while index < stop:
        each = changelogs[index]
        if index >= beyond:
            if each.time_ms is None or each.time_ms >= rule.threshold_ms:
                unknown = each.time_ms is None
                blocker = codes.CHANGELOG_AGE_UNKNOWN() if unknown else codes.YOUNG_CHANGELOG()
                break
            reasons[each.id] = (codes.OLD_CHANGELOG(at=in_words(rule.threshold_ms)),)
        else:
            reasons[each.id] = (codes.BEYOND_NEWEST_CHANGELOGS(most=rule.retain_max),)
        index += 1
    for each in changelogs[max(index, 0) :]:
        reasons[each.id] = (blocker,)
    return SnapshotVerdicts(tuple(each.id for each in changelogs[: max(index, 0)]), reasons)


def ended_tags(
    line: Line, now_ms: int | None, older_than_ms: int | None
) -> tuple[dict[str, Reason], dict[str, Reason]]:
    """Return the tags that expire, and those whose age is unknown and that are therefore kept, each with the reason.

    A tag expires if its retention has ended at `now_ms` or it was created before `older_than_ms`. Both are compared
    with this machine's wall clock.
    """
    now = None if now_ms is None else wall_clock(now_ms)
    oldest = None if older_than_ms is None else wall_clock(older_than_ms)
    expired, of_unknown_age = dict[str, Reason](), dict[str, Reason]()
    for tag in line.tags:
        if now is not None and tag.expires is not None and now > tag.expires:
            ended = f"{tag.expires:%Y-%m-%d %H:%M:%S}"
            expired[tag.name] = codes.RETENTION_ENDED(ended=ended, now=f"{now:%Y-%m-%d %H:%M:%S}")
        elif oldest is not None and tag.created is None:
            of_unknown_age[tag.name] = codes.TAG_AGE_UNKNOWN()
        elif oldest is not None and tag.created is not None and tag.created < oldest:
            expired[tag.name] = codes.TAG_OLD(at=f"{tag.created:%Y-%m-%d %H:%M:%S}")
    return expired, of_unknown_age


def lost_jobs(line: Line, expired: Sequence[int]) -> list[Reason]:
    """Return the streaming jobs whose newest snapshot expires.

    A restarted job finds out from that snapshot what it committed; without it, it may commit the same data twice.
    """
    newest = {each.commit_user: each for each in line.snapshots if each.commit_identifier != BATCH_IDENTIFIER}
    return [
        codes.LOST_JOB(
            id=each.id,
            user=user,
        )
        for user, each in newest.items()
        if each.id in expired
    ]


def engine_runs(count: int, rule: Policy) -> int:
    """Return how many runs of the engine this many snapshots take; 0 if the table's own limit lets none expire."""
    return -(-count // rule.most_per_run) if rule.most_per_run > 0 else 0
