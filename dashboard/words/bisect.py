"""Since when: a condition, its probes, the first point where it holds."""

from __future__ import annotations

from dashboard.formatting import units
from dashboard.formatting.language import N_, _, ngettext
from dashboard.words.explanations import Rule

CONDITION = N_("Condition")
CONDITION_HELP = N_(
    "True or false of the whole table t: count(*) > 1000, max(amount) < 0, exists(select 1 from t "
    "where …). What is NULL, or cannot be read, is unknown and never false."
)
BISECT_FROM = N_("From")
BISECT_FROM_NONE = N_("the oldest that is retained")
BISECT_TO = N_("To")
BISECT_TO_NONE = N_("the newest")
BISECT_BRANCH = N_("Branch")
BISECT_EVERY = N_("Ask every point")
BISECT_RUN = N_("Search")
BISECT_CANCELLED = N_("The search was cancelled.")
BISECT_EMPTY = N_("Since when is it so?")
BISECT_EMPTY_NEXT = N_(
    "Write what is true now and was not once. Both ends are asked, then half and half again: among "
    "1,000 snapshots the one where it turned is found by about 12 queries. For example:"
)
BISECT_ASSUMED = N_(
    "Taken for granted: it turned true once and stayed so. Points between those asked were not looked at."
)
BISECT_ALL = N_("Every point was asked.")
BISECT_GAP = N_("Snapshots just before it are not retained any more: it may have turned at one of those.")
BISECT_COLUMNS = (N_("Point"), N_("Committed"), N_("Value"), N_("Compared value"), N_("Took"))
BISECT_VALUES = {"true": N_("✓ true"), "false": N_("✕ false"), "unknown": N_("? unknown")}
BISECT_TURNED = N_("What changed there")
BISECT_AT = N_("Query it")
BISECT_AS_OF = N_("As of")
BISECT_TIMELINE = N_("Timeline")
BISECT_BACK = N_("True at the first point, false at the last: it turned the other way. Ask for not (…).")
BISECT_NEVER = N_("True at no point that was asked.")
BISECT_UNKNOWN = N_("No point that was asked gave an answer; why stands beside each.")


def bisect_every_help(most: int) -> str:
    return _(
        "Looks at each point of the stretch, so that nothing is taken for granted. For at most {most} points.",
        most=most,
    )


def bisect_running(elapsed_s: float, done: int, total: int, point: str) -> str:
    asked = ngettext(
        "{done} of about {count} probe answered", "{done} of about {count} probes answered", total, done=done
    )
    return (
        _("Searching for {elapsed_s:.0f} s: {asked}, now at {point}", elapsed_s=elapsed_s, asked=asked, point=point)
        if point
        else _("Searching for {elapsed_s:.0f} s", elapsed_s=elapsed_s)
    )


def bisect_turned(point: str, when: str, before: str) -> str:
    return _("First true at {point}, committed {when}; false at {before}.", point=point, when=when, before=before)


def bisect_already(point: str, when: str) -> str:
    return _(
        "True already at {point}, committed {when}: the first point that could be read. What was before is unknown.",
        point=point,
        when=when,
    )


def bisect_unknown_between(count: int) -> str:
    return ngettext(
        "Unknown just before it: {count} point. It may have turned at any of them.",
        "Unknown just before it: {count} points. It may have turned at any of them.",
        count,
    )


def bisect_contradiction(true_at: str, false_at: str) -> str:
    return _("It did not turn once: true at {true_at}, false again at {false_at}.", true_at=true_at, false_at=false_at)


def bisect_stat(probes: int, points: int, branch: str, seconds: float) -> str:
    return _(
        "{probes} of {points} on {branch} in {seconds:.1f} s.",
        probes=units.plural(probes, "probe"),
        points=units.plural(points, "retained point"),
        branch=branch,
        seconds=seconds,
    )


HOW_BISECT = Rule(
    N_("First point where it holds"),
    N_("The retained snapshots of the branch between the two points, and tags that keep expired ones before them."),
    N_("One query for each probe, over the files of that point, with that point's own schema."),
    N_(
        "Both ends first, then the middle of what is open, until a true point follows a false one. NULL "
        "and what cannot be read are unknown and never false; beside them the longest stretch not yet "
        "asked is halved."
    ),
    N_("Seconds for each probe, Spark's planning included."),
)
