"""Since when: a condition, its probes, the first point where it holds."""

from __future__ import annotations

from dashboard.formatting import units
from dashboard.words.explanations import Rule

CONDITION = "Condition"
CONDITION_HELP = (
    "True or false of the whole table t: count(*) > 1000, max(amount) < 0, exists(select 1 from t where …). "
    "What is NULL, or cannot be read, is unknown and never false."
)
BISECT_FROM = "From"
BISECT_FROM_NONE = "the oldest that is retained"
BISECT_TO = "To"
BISECT_TO_NONE = "the newest"
BISECT_BRANCH = "Branch"
BISECT_EVERY = "Ask every point"
BISECT_RUN = "Search"
BISECT_CANCELLED = "The search was cancelled."
BISECT_EMPTY = "Since when is it so?"
BISECT_EMPTY_NEXT = (
    "Write what is true now and was not once. Both ends are asked, then half and half again: among 1,000 snapshots the "
    "one where it turned is found by about 12 queries. For example:"
)
BISECT_ASSUMED = "Taken for granted: it turned true once and stayed so. Points between those asked were not looked at."
BISECT_ALL = "Every point was asked."
BISECT_GAP = "Snapshots just before it are not retained any more: it may have turned at one of those."
BISECT_COLUMNS = ("Point", "Committed", "Value", "Compared value", "Took")
BISECT_VALUES = {"true": "✓ true", "false": "✕ false", "unknown": "? unknown"}
BISECT_TURNED = "What changed there"
BISECT_AT = "Query it"
BISECT_AS_OF = "As of"
BISECT_TIMELINE = "Timeline"
BISECT_BACK = "True at the first point, false at the last: it turned the other way. Ask for not (…)."
BISECT_NEVER = "True at no point that was asked."
BISECT_UNKNOWN = "No point that was asked gave an answer; why stands beside each."


def bisect_every_help(most: int) -> str:
    return f"Looks at each point of the stretch, so that nothing is taken for granted. For at most {most} points."


def bisect_running(elapsed_s: float, done: int, total: int, point: str) -> str:
    asked = f"{done} of about {units.plural(total, 'probe')} answered"
    return f"Searching for {elapsed_s:.0f} s: {asked}, now at {point}" if point else f"Searching for {elapsed_s:.0f} s"


def bisect_turned(point: str, when: str, before: str) -> str:
    return f"First true at {point}, committed {when}; false at {before}."


def bisect_already(point: str, when: str) -> str:
    return f"True already at {point}, committed {when}: the first point that could be read. What was before is unknown."


def bisect_unknown_between(count: int) -> str:
    return f"Unknown just before it: {units.plural(count, 'point')}. It may have turned at any of them."


def bisect_contradiction(true_at: str, false_at: str) -> str:
    return f"It did not turn once: true at {true_at}, false again at {false_at}."


def bisect_stat(probes: int, points: int, branch: str, seconds: float) -> str:
    return (
        f"{units.plural(probes, 'probe')} of {units.plural(points, 'retained point')} on {branch} in {seconds:.1f} s."
    )


HOW_BISECT = Rule(
    "First point where it holds",
    "The retained snapshots of the branch between the two points, and tags that keep expired ones before them.",
    "One query for each probe, over the files of that point, with that point's own schema.",
    "Both ends first, then the middle of what is open, until a true point follows a false one. NULL and what cannot be "
    "read are unknown and never false; beside them the longest stretch not yet asked is halved.",
    "Seconds for each probe, Spark's planning included.",
)
