"""A recovery goal: which versions it asks for, what is missing, what to tag, what that costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.planning.recovery_goal import DAY, HOUR, MONTH, WEEK, GoalPeriod
from dashboard.formatting import units
from dashboard.formatting.language import N_, _, capitalized, listing, ngettext

MODE_GOAL = N_("Recovery goal")
GOAL_TEACH = N_(
    "Say how far back you must be able to go. The page proposes the cheapest tags for it; everything else can expire."
)
GOAL_BOXES: Mapping[str, str] = {
    HOUR: N_("Hourly, hours"),
    DAY: N_("Daily, days"),
    WEEK: N_("Weekly, weeks"),
    MONTH: N_("Monthly, months"),
}
GOAL_BOX_HELP = N_("For how many of the last periods to keep a version each, by the UTC calendar. Blank: none.")
GOAL_NEWEST = N_("Newest snapshots")
GOAL_NEWEST_HELP = N_("How many of the newest snapshots to keep as well, whatever their age.")
GOAL_MET = N_("Recoverable")
GOAL_MISSING = N_("Missing today")
GOAL_MISSING_BELOW = N_("none of them is left")
GOAL_TAGS = N_("New tags")
GOAL_TAGS_BELOW = N_("the fewest bytes that meet it")
GOAL_HOLDS = N_("Then held")
GOAL_RECLAIMS = N_("Reclaims")
GOAL_RECLAIMS_BELOW = N_("once both steps have run")
GOAL_STEP_TAGS = N_("Step 1: create the tags")
GOAL_STEP_EXPIRE = N_("Step 2: expire the rest")
GOAL_TAGS_FIRST = N_(
    "Create the tags first: the plan then takes them into account, and no snapshot that they keep can expire."
)
GOAL_NO_TAGS = N_("No tag is needed: what is kept anyway meets the goal as far as anything is left.")
GOAL_CREATE = N_("Create tags")
GOAL_STATEMENTS = N_("The same by the engine's own statements")
GOAL_OPTIONS = N_(
    "To let writers create these tags from now on, set the table options below. A table creates tags of one period "
    "only; the others need a scheduled statement."
)
GOAL_COLUMNS: Mapping[str, str] = {
    "tag": N_("Tag"),
    "point": N_("Snapshot"),
    "committed": N_("Committed"),
    "serves": N_("Kept for"),
    "until": N_("Needed until"),
}
_UNITS: Mapping[str, str] = {HOUR: N_("hourly"), DAY: N_("daily"), WEEK: N_("weekly"), MONTH: N_("monthly")}


def goal_in_words(tiers: Sequence[tuple[str, int]]) -> str:
    counted = {
        HOUR: lambda count: ngettext("hourly for {count} hour", "hourly for {count} hours", count),
        DAY: lambda count: ngettext("daily for {count} day", "daily for {count} days", count),
        WEEK: lambda count: ngettext("weekly for {count} week", "weekly for {count} weeks", count),
        MONTH: lambda count: ngettext("monthly for {count} month", "monthly for {count} months", count),
    }
    return listing([counted[unit](count) for unit, count in tiers])


def goal_headline(goal: str, tags: int, met: int, required: int) -> str:
    new_tags = ngettext("{count} new tag", "{count} new tags", tags)
    return _(
        "{goal}: {tags} for {met} of {asked} versions.", goal=capitalized(goal), tags=new_tags, met=met, asked=required
    )


def stretch(found: GoalPeriod) -> str:
    """`daily 2026-11-20`, `monthly 2026-10`: a time of the goal."""
    return f"{_(_UNITS[found.tier.unit])} {stretch_date(found)}"


def stretch_date(found: GoalPeriod) -> str:
    text = units.iso(found.start_ms)
    return text[: {HOUR: 13, MONTH: 7}.get(found.tier.unit, 10)]


def of_required(required: int) -> str:
    return _("of {asked} versions", asked=units.count(required))


def missing_versions(number: int) -> str:
    return _("Missing today ({number})", number=units.count(number))


def goal_creates(tags: int, bytes_held: int) -> str:
    return ngettext(
        "Creates {count} tag, which holds {size}",
        "Creates {count} tags, which hold {size}",
        tags,
        size=units.size(bytes_held),
    )
