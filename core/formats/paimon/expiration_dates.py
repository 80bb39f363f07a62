"""When each snapshot and tag of a Paimon table expires automatically, by the table's options. Pure.

Invariant: a date is given only if it follows from the present state. If it depends on future commits or on a consumer,
the text says so. Tags expire by the writer's wall clock, and the tag file stores no time zone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from core.errors import Invalid
from core.formats.paimon import retention
from core.formats.paimon.options import resolved
from core.formats.paimon.plan import automatic_tags
from core.formats.paimon.retention import UNBOUNDED
from core.messages import counted, message
from core.model.codes import Fault
from core.model.expiry import Expiry, undetermined
from core.model.references import Heads, Line, Tag
from core.model.time_travel import in_words
from core.units import epoch_ms, is_true


def expiries(heads: Heads, now_ms: int, rules: str = "newest") -> dict[str, Expiry]:
    """Return the expiry of each readable snapshot and tag of every branch, by version."""
    found: dict[str, Expiry] = {}
    for line in heads.lines:
        prefix = "" if line.branch == heads.main.branch else f"branch:{line.branch}/"
        for expiry in (*_snapshots(line, now_ms, rules), *_tags(line)):
            found[prefix + expiry.point] = dataclasses.replace(expiry, point=prefix + expiry.point)
    return found


def _snapshots(line: Line, now_ms: int, rules: str) -> list[Expiry]:
    options, count = line.options, len(line.snapshots)
    if is_true(resolved(options).get("write-only")):
        never = message("never at a commit: the table is write-only")
        return [Expiry(str(each.id), None, never) for each in line.snapshots]
    try:
        policy = retention.policy(options, now_ms, rules=rules)
    except Invalid as error:  # options that contradict themselves hide nothing else
        return [undetermined(str(each.id), error) for each in line.snapshots]
    if policy.most_per_run < 1:
        never = message("never at a commit: {option} is {most}", option=retention.LIMIT, most=policy.most_per_run)
        return [Expiry(str(each.id), None, never) for each in line.snapshots]
    retained_ms = now_ms - policy.threshold_ms
    holds = retention.heeds_consumers(options, rules)
    found, not_before, seen = [], 0, first_seen(line)
    unseen, is_late = sum(each.id < seen for each in line.snapshots), False
    for index, each in enumerate(line.snapshots):
        # `more`: commits until the count no longer keeps it. `most`: commits until it expires whatever its age.
        more = index - count + policy.retain_min + 1
        most = index - count + policy.retain_max + 1
        judged_ms = each.time_ms
        if rules == "newest":  # judged by the age of its successor, which the newest one does not have yet
            judged_ms = line.snapshots[index + 1].time_ms if index + 1 < count else now_ms
            more = max(more, min(2, most)) if index + 1 == count else more
        if most > 1:
            not_before = max(not_before, judged_ms + retained_ms)
        is_old, runs = not_before <= now_ms, (index - unseen) // policy.most_per_run + 1
        is_late = is_late or (is_old and runs > 1)  # more are due than one commit expires
        most, more = max(most, runs), max(more, runs) if is_late or more > 1 else more
        blocking = next((other.name for other in line.consumers if holds and other.next_snapshot <= each.id), None)
        any_age = ", or after {count} more commit at any age", ", or after {count} more commits at any age"
        limit = counted(most, *any_age)
        limit = limit if policy.retain_max < UNBOUNDED else message("")
        when = None if more > 1 or blocking is not None else not_before
        is_counted = each.id >= seen and blocking is None and more > 1
        if each.id < seen:
            hidden = "never at a commit: Paimon does not see it, because snapshot/EARLIEST points to snapshot {id}"
            when, words = None, message(hidden, id=seen)
        elif blocking is not None:
            words = message("never while consumer {name} still has to read it", name=blocking)
        elif is_counted:
            is_by_count = is_old or most <= more
            age = "" if is_by_count else message(", not before {at}{limit}", at=in_words(not_before), limit=limit)
            words = counted(more, "after {count} more commit{age}", "after {count} more commits{age}", age=age)
        elif is_old:
            words = message("at the next commit")
        else:
            words = message("at the first commit after {at}{limit}", at=in_words(not_before), limit=limit)
            if runs > 1:
                words = message("{words}; one commit expires at most {count}", words=words, count=policy.most_per_run)
        found.append(Expiry(str(each.id), when, words, is_counted))
    return found


def first_seen(line: Line) -> int:
    """Return the lowest snapshot id that Paimon sees.

    Paimon trusts an EARLIEST hint whose snapshot exists, and ignores snapshots before it.
    """
    hint = next(
        (each.ids for each in line.warnings if each.code == Fault.HINT and each.path.endswith("/EARLIEST")), None
    )
    return next((each.id for each in line.snapshots if hint in (None, (each.id,))), -1)


def _tags(line: Line) -> list[Expiry]:
    try:
        surplus = automatic_tags.surplus(line)
    except Invalid as error:
        return [undetermined(f"tag:{tag.name}", error) for tag in line.tags]
    return [_tag(tag, resolved(line.options), surplus.get(tag.name)) for tag in line.tags]


def _tag(tag: Tag, options: Mapping[str, str], more: int | None) -> Expiry:
    """Return when a tag expires. `more`: see `automatic_tags.surplus`; None: no limit on their number deletes it."""
    is_batch = options.get(automatic_tags.MODE, "").lower() == "batch"
    when = "when {count} more automatic tag exists", "when {count} more automatic tags exist"
    if is_batch:
        when = "when {count} more tag exists", "when {count} more tags exist"
    counting = counted(more, *when) if more else message("at the next batch write")
    is_write_only = is_true(options.get("write-only"))
    is_counted = more is not None and (is_batch or not is_write_only)
    moment_ms = None
    if tag.expires is None and more is None:
        words = message("never automatically: it has no retention")
    elif is_write_only and not is_counted:
        words = message("never at a commit: the table is write-only")
    elif tag.expires is None or is_write_only or not is_true(options.get("tag.time-expire-enabled", "true")):
        words = counting if is_counted else message("never at a commit: tag.time-expire-enabled is not true")
    else:
        moment_ms = epoch_ms(tag.expires)
        words = message("after {at} by the writers' clock (no zone)", at=f"{tag.expires:%Y-%m-%d %H:%M:%S}")
        words = message("{date}, or {count}", date=words, count=counting) if is_counted else words
    return Expiry(f"tag:{tag.name}", moment_ms, words, is_counted and moment_ms is None)
