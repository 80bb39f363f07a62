"""Bisect: a condition, its probes, and the first version where it is true."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from dashboard.formatting import units
from dashboard.formatting.language import N_, _, ngettext
from dashboard.words.explanations import Rule

CONDITION = N_("Condition")
CONDITION_HELP = N_(
    "A condition on the whole table t: count(*) > 1000, max(amount) < 0, exists(select 1 "
    "from t where …). A result of NULL, or a snapshot that cannot be read, counts as "
    "unknown, never as false."
)
BISECT_FROM = N_("From")
BISECT_FROM_NONE = N_("the oldest retained")
BISECT_TO = N_("To")
BISECT_TO_NONE = N_("the newest")
BISECT_BRANCH = N_("Branch")
BISECT_EVERY = N_("Check every snapshot")
BISECT_RUN = N_("Search")
BISECT_CANCELLED = N_("The search was cancelled.")
BISECT_EMPTY = N_("When did it first become true?")
BISECT_EMPTY_NEXT = N_(
    "Enter a condition that is true now and was false before. Both ends are checked first, "
    "then the middle of the remaining range: about 12 queries find the change among 1,000 "
    "snapshots. For example:"
)
BISECT_ASSUMED = N_(
    "Assumes that the condition became true once and stayed true. Snapshots between the checked ones were not read."
)
BISECT_ALL = N_("Every snapshot was checked.")
BISECT_GAP = N_("The snapshots just before it are no longer retained: the change may have happened in one of them.")
BISECT_COLUMNS = (N_("Snapshot or tag"), N_("Committed"), N_("Value"), N_("Compared value"), N_("Took"))
BISECT_VALUES = {"true": N_("✓ true"), "false": N_("✕ false"), "unknown": N_("? unknown")}
BISECT_HUES: Mapping[bool | None, str] = {True: "tag", False: "removed", None: "consumer"}
BISECT_SIGNS: Mapping[bool | None, str] = {True: "✓", False: "✕", None: "?"}
BISECT_LANE = N_("bisect")
BISECT_AGAIN = N_("Search again")
BISECT_HIDE = N_("Hide the search")
BISECT_TURNED = N_("What changed there")
BISECT_AT = N_("Query this snapshot")
BISECT_AS_OF = N_("As of")
BISECT_TIMELINE = N_("Timeline")
BISECT_BACK = N_("True at the first snapshot, false at the last: the change goes the other way. Search for not (…).")
BISECT_NEVER = N_("Not true in any checked snapshot.")
BISECT_UNKNOWN = N_("No checked snapshot gave a result; the reason is shown beside each.")


def bisect_found(point: str, *, was_false: bool) -> str:
    name = escape(point)
    return _("first true: {point}", point=name) if was_false else _("already true: {point}", point=name)


def bisect_hover(step: int, point: str, value: bool | None, time_ms: int, zone: str) -> str:
    result = BISECT_VALUES["unknown" if value is None else str(value).lower()]
    return _(
        "<b>Step {step}: {said}</b><br>at {point}<br>{when}",
        step=step,
        said=result,
        point=escape(point),
        when=units.weekday_moment(time_ms, zone),
    )


def bisect_drawn(condition: str, steps: int) -> str:
    """Say what a link's marks are: answers that its author got."""
    return ngettext(
        "Bisect of `{condition}`: {count} snapshot checked, as this link recorded it.",
        "Bisect of `{condition}`: {count} snapshots checked, as this link recorded them.",
        steps,
        condition=condition.replace("`", "'"),
    )


def bisect_every_help(most: int) -> str:
    return _(
        "Checks each snapshot in the range and assumes nothing. For at most {most} snapshots.",
        most=most,
    )


def bisect_running(elapsed_s: float, done: int, total: int, point: str) -> str:
    progress = ngettext("{done} of about {count} query done", "{done} of about {count} queries done", total, done=done)
    return (
        _("Searching for {elapsed_s:.0f} s: {asked}, now at {point}", elapsed_s=elapsed_s, asked=progress, point=point)
        if point
        else _("Searching for {elapsed_s:.0f} s", elapsed_s=elapsed_s)
    )


def bisect_turned(point: str, when: str, before: str) -> str:
    return _("First true at {point}, committed {when}; false at {before}.", point=point, when=when, before=before)


def bisect_already(point: str, when: str) -> str:
    return _(
        (
            "Already true at {point}, committed {when}: the first snapshot that could be read. The "
            "state before it is unknown."
        ),
        point=point,
        when=when,
    )


def bisect_unknown_between(count: int) -> str:
    return ngettext(
        "Unknown just before it: {count} snapshot. The change may have happened in any of them.",
        "Unknown just before it: {count} snapshots. The change may have happened in any of them.",
        count,
    )


def bisect_contradiction(true_at: str, false_at: str) -> str:
    return _(
        "It changed more than once: true at {true_at}, false again at {false_at}.", true_at=true_at, false_at=false_at
    )


def bisect_stat(probes: int, points: int, branch: str, seconds: float) -> str:
    return _(
        "{probes} of {points} on {branch} in {seconds:.1f} s.",
        probes=units.plural(probes, "query", "queries"),
        points=units.plural(points, "retained snapshot"),
        branch=branch,
        seconds=seconds,
    )


HOW_BISECT = Rule(
    N_("First snapshot where the condition is true"),
    N_("The retained snapshots of the branch between the two ends, and older expired ones that tags keep."),
    N_("One query per snapshot, over the files of that snapshot, with its own schema."),
    N_(
        "Both ends first, then the middle of the remaining range, until a true snapshot directly "
        "follows a false one. NULL and unreadable snapshots are unknown, never false; where "
        "there are unknowns, the longest unchecked range is halved."
    ),
    N_("Seconds for each query, including Spark's planning."),
)
