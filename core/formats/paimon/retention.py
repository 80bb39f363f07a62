"""Which snapshots and changelogs an expiry takes: the engine's rules, by version, over what is retained.

Law: only a prefix goes, and each point's verdict says which rule decided it. "The newest N" counts retained
snapshots; where ids have no gaps that is the engine's own arithmetic, where they have, it keeps no fewer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.errors import Invalid
from core.messages import Reason, told
from core.model import codes
from core.model.references import Line
from core.model.time_travel import in_words
from core.units import is_true, parse_duration_ms, wall_clock

UNBOUNDED = 2**31 - 1
LEAST = 10  # retain-min where nobody says otherwise
BATCH_IDENTIFIER = 2**63 - 1  # of commits that belong to no streaming job
RULES: Mapping[str, Reason] = {
    "newest": codes.PAIMON_2(),
    "1.x": codes.PAIMON_1(),
    "0.9": codes.PAIMON_0_9(),
}
_RUN_LIMIT = {"newest": 50, "1.x": 50, "0.9": 10}


@dataclass(frozen=True, slots=True)
class Policy:
    """What may go. `threshold_ms`: points committed at or after it are protected by age."""

    retain_max: int
    retain_min: int
    threshold_ms: int
    max_deletes: int | None
    rules: str
    notes: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Retained:
    """One point on the line an expiry works on: its id and commit time (None if the file is unreadable)."""

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
    """What is asked for, completed from the table's options: alone they are what a writer goes by. `Invalid` where it
    contradicts itself."""
    if rules not in RULES:
        raise Invalid(
            "There is no rule set {rules!r}.", rules=rules, remedy=told("Rule sets: {rules}.", rules=", ".join(RULES))
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
        raise Invalid("retain-min must be at least 1, not {least}: the newest snapshot always stays.", least=least)
    if greatest < 1:
        raise Invalid(
            "retain-max must be at least 1, not {greatest}: the newest snapshot always stays.", greatest=greatest
        )
    if greatest < least:
        whose = (
            told("from the table's option {prefix}.num-retained.min", prefix=prefix)
            if own_min is not None
            else told("the engine's default")
        )
        least_is = "" if retain_min is not None else f", {whose}"
        raise Invalid(
            "retain-max ({greatest}) is below retain-min ({least}{least_is}).",
            greatest=greatest,
            least=least,
            least_is=least_is,
            remedy=told("Give both, max at least min."),
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
    return Policy(greatest, least, min(thresholds), max_deletes, rules, tuple(notes))


def _retained_ms(options: Mapping[str, str], prefix: str) -> int:
    key = next((f"{each}.time-retained" for each in (prefix, "snapshot") if options.get(f"{each}.time-retained")), "")
    try:
        return parse_duration_ms(options.get(key, "1 h"))
    except Invalid as error:
        raise Invalid(
            told("The table option {key} cannot be read: {message}", key=key, message=error.message),
            remedy=error.remedy,
        ) from None


def _number(options: Mapping[str, str], key: str) -> int | None:
    text = options.get(key)
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        raise Invalid(
            "The table option {key} was expected to be a number, found {text!r}.", key=key, text=text
        ) from None


def keeps_changelogs(options: Mapping[str, str]) -> bool:
    """The engine's rule: a changelog option set above its snapshot counterpart keeps changelogs longer."""

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
    """Do streaming readers hold snapshots? Else only changelogs, where these are kept longer than snapshots."""
    return rules != "newest" or not (is_true(options.get("consumer.changelog-only")) and keeps_changelogs(options))


@dataclass(frozen=True, slots=True)
class SnapshotVerdicts:
    """The ids that go, ascending, and per id the reasons."""

    goes: tuple[int, ...]
    reasons: Mapping[int, tuple[Reason, ...]]


def expire_snapshots(line: Line, retained: Sequence[Retained], rule: Policy) -> SnapshotVerdicts:
    """Judge the retained snapshots of a line, oldest first."""
    count = len(retained)
    beyond = max(count - rule.retain_max, 0)  # those before this index go whatever their age
    stop, blocker = count - rule.retain_min, codes.AMONG_NEWEST(least=rule.retain_min)
    if rule.max_deletes is not None and rule.max_deletes < stop:
        stop, blocker = rule.max_deletes, codes.MAX_DELETES(most=rule.max_deletes)
    for consumer in line.consumers if heeds_consumers(line.options, rule.rules) else ():
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
            whose = told("its successor {id} was", id=judged.id) if judged is not each else told("it was")
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
    """Exactly the named ids go. `Invalid` unless they are the oldest: a hole makes the engine throw and its next
    expiry delete files that are still needed."""
    ids = [each.id for each in retained]
    for each in wanted:
        if each not in ids:
            raise Invalid("Snapshot {each} is not retained, so it cannot go.", each=each)
    chosen = set(wanted)
    if chosen == set(ids):
        raise Invalid(
            "All snapshots were named; the newest always stays.", remedy=told("Leave out {ids}.", ids=ids[-1])
        )
    prefix = ids[: len(chosen)]
    if chosen != set(prefix):
        holes = [each for each in ids[: ids.index(max(chosen))] if each not in chosen]
        shown = ", ".join(str(each) for each in holes[:10]) + (" …" if len(holes) > 10 else "")
        raise Invalid(
            "Only the oldest snapshots of a table may go; these would leave a hole, across which Paimon fails.",
            remedy=told(
                "Name the older ones too ({shown}), or tag what must stay and expire up to {chosen}.",
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
    """Judge long-lived changelogs: counted together with the snapshots; the newest one always stays."""
    combined = [*changelogs, *snapshots]
    count, own = len(combined), len(changelogs)
    beyond = max(count - rule.retain_max, 0)
    stop, blocker = own - 1, codes.NEWEST_CHANGELOG()
    if count - rule.retain_min < stop:
        stop = count - rule.retain_min
        blocker = codes.AMONG_NEWEST_CHANGELOGS(least=rule.retain_min)
    if rule.max_deletes is not None and rule.max_deletes < stop:
        stop, blocker = rule.max_deletes, codes.MAX_DELETES(most=rule.max_deletes)
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
    """Tags that go (their retention is over at `now_ms`, or they were made before `older_than_ms`), each with why;
    and tags of which the latter is not known: they stay, with why. Judged by this machine's wall clock."""
    now = None if now_ms is None else wall_clock(now_ms)
    oldest = None if older_than_ms is None else wall_clock(older_than_ms)
    goes, untold = dict[str, Reason](), dict[str, Reason]()
    for tag in line.tags:
        if now is not None and tag.expires is not None and now > tag.expires:
            ended = f"{tag.expires:%Y-%m-%d %H:%M:%S}"
            goes[tag.name] = codes.RETENTION_ENDED(ended=ended, now=f"{now:%Y-%m-%d %H:%M:%S}")
        elif oldest is not None and tag.created is None:
            untold[tag.name] = codes.TAG_AGE_UNKNOWN()
        elif oldest is not None and tag.created is not None and tag.created < oldest:
            goes[tag.name] = codes.TAG_OLD(at=f"{tag.created:%Y-%m-%d %H:%M:%S}")
    return goes, untold


def lost_jobs(line: Line, goes: Sequence[int]) -> list[Reason]:
    """A restarted streaming job learns what it committed from its newest snapshot; without it, it may commit twice."""
    newest = {each.commit_user: each for each in line.snapshots if each.commit_identifier != BATCH_IDENTIFIER}
    return [
        codes.LOST_JOB(
            id=each.id,
            user=user,
        )
        for user, each in newest.items()
        if each.id in goes
    ]


def engine_runs(going: int, rules: str) -> int:
    """How many runs of the engine take this many snapshots (`snapshot.expire.limit` at its default)."""
    return -(-going // _RUN_LIMIT[rules])
