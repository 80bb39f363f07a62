"""Tags: what each keeps and costs; making, moving and deleting them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from core.model.references import Line, Tag
from dashboard.formatting import units

NO_TAGS = "Nothing pins history: this table has no tags."


def no_tags_next(horizon_ms: int | None, zone: str) -> str:
    if horizon_ms is None:
        return "A tag keeps a snapshot readable after it expires. Create one below."
    return (
        f"Without one, nothing before {units.moment(horizon_ms, zone)} can be read, and that horizon moves on with "
        "every expiry. A tag keeps a snapshot readable after it expires: create one below."
    )


TAG_NAME = "Name"
TAG_POINT = "Snapshot"
TAG_NAME_HINT = "month-2026-11"
TAG_CREATE_TEACH = "Give it a name to see the plan. A tag deletes nothing."
CREATE = "Create tag"
TAG_RETAINED = "Keep for"
TAG_RETAINED_HELP = "After this time an engine that commits deletes the tag by itself. Blank: never."
TAG_KEPT_HELP = (
    "The tag's own time is filled in, and is counted from its replacement. After it, an engine that commits deletes "
    "the tag by itself. Blank: never."
)
TAG_RETAINED_HINT = "blank: for ever, or 90d"
TAG_CREATE = "Create a tag"
TAG_CHOOSE = "Choose a row to open a tag, let it name another snapshot, rename or delete it."
TAG_COST = "Frees now"
TAG_LATER = "After the policy"
TAG_LATER_HELP = (
    "Bytes that deleting this tag would free after every branch's own expiry options have taken what they take at the "
    "moment shown: what the tag really costs in the long run."
)
TAG_VERIFY = "Check every file"
TAG_VERIFY_HELP = (
    "After the tag is made, every data file of its point is looked up; if one is missing the tag is withdrawn."
)
TAG_RENAME_TO = "New name"
TAG_REPLACE_POINT = "Snapshot it names from now on"
TAG_COST_HELP = (
    "Bytes that nothing but this one tag holds. Two tags on one snapshot each free nothing alone, so these numbers do "
    "not add up."
)
TAG_EXPIRES_HELP: Mapping[str, str] = {
    "clock": "By the clock of whoever created the tag: Paimon writes no zone.",
    "age": "From then on the next expiry drops it, by the age of its snapshot.",
}
NEVER = "never"


def dearest(now: tuple[str, int] | None, later: tuple[str, int] | None) -> str:
    """Which tag costs most; None: not known."""
    if now is None or later is None:
        return "Which tag costs most is not known: not everything that stays could be read."
    first = f"{now[0]}, {units.size(now[1])}" if now[1] else "none, nothing is kept by one tag alone"
    second = f"{later[0]}, {units.size(later[1])}" if later[1] else "none"
    return f"Costs most now: {first}. Once the table's own policy has run: {second}."


def replace_tag(name: str) -> str:
    return f"Let {name} name another snapshot"


def rename_tag(name: str) -> str:
    return f"Rename {name}"


def delete_tag(name: str) -> str:
    return f"Delete {name}: what that frees"


def tag_expires(tag: Tag, zone: str) -> str:
    if tag.ends_ms is not None:
        return units.moment(tag.ends_ms, zone)
    return NEVER if tag.expires is None else units.wall_clock(tag.expires)


def tag_retained(retained: dt.timedelta | None) -> str:
    return "for ever" if retained is None else units.duration(round(retained.total_seconds() * 1_000))


BRANCHES = "Branches and the way back"
BRANCH_HEADS = ("Branch", "Snapshot", "Committed", "Keeps")
BRANCH_NAME = "New branch"
BRANCH_POINT = "Starts at"
BRANCH_REPLACE_POINT = "Points from now on to"
BRANCH_POINT_HELP = "A snapshot, a tag or a branch; a time or latest~2 may be typed."
BRANCH_LEAST = "Newest kept"
BRANCH_SNAPSHOT_AGE = "Snapshots kept for"
BRANCH_AGE = "Branch kept for"
ROLLBACK_POINT = "Main goes back to"
ROLLBACK_SET = "Also to what is no ancestor"
ROLLBACK_SET_HELP = "Main may then point to any snapshot of the table, as Iceberg's set_current_snapshot lets it."
BRANCH_FORMS: Mapping[str, str] = {
    "create": "Create a branch",
    "replace": "Let a branch point elsewhere, or keep otherwise",
    "rename": "Rename a branch",
    "forward": "Fast-forward main to a branch",
    "rollback": "Roll back",
    "delete": "Delete branches",
    "consumer": "Reset a streaming reader",
}
BRANCH_TEACH: Mapping[str, str] = {
    "create": "Give it a name to see the plan. A branch deletes nothing.",
    "replace": "Choose a branch, and where it points or what it keeps.",
    "rename": "Choose a branch and its new name.",
    "forward": "Choose a branch that goes on from where main is.",
    "rollback": "Choose a point to see what would be left behind.",
    "delete": "Choose branches to see what nothing would hold any more.",
    "consumer": "Choose a reader; without a snapshot it is forgotten.",
}
BRANCH_CUT_HELP = "A tag of main. Blank: a branch without any snapshot, with the table's schemas."
ROLLBACK_DESTROYS = "Remove what came after"
ROLLBACK_DESTROYS_HELP = (
    "Off: a new snapshot gets the old content, and everything stays. On: newer snapshots and their tags are removed, "
    "as Paimon's rollback does."
)
ORPHAN_HEADS = ("File", "Kind", "Bytes")
CONSUMER = "Reader"
CONSUMER_NEXT = "Reads next"
CONSUMER_HELP = "The snapshot it begins with. A reader that is running keeps its own place, and writes it back."


def rollback_point(branch: str) -> str:
    return f"{branch} goes back to"


def branch_holds(line: Line) -> str:
    return f"{units.plural(len(line.snapshots), 'snapshot')}, {units.plural(len(line.tags), 'tag')}"


def held_by_nothing(files: int) -> str:
    return f"{units.plural(files, 'file')} that nothing holds then: left to be found as orphans"


def branch_keeps(least: int | None, snapshots_ms: int | None, own_ms: int | None) -> str:
    told = [] if least is None else [f"its newest {least}"]
    told += [] if snapshots_ms is None else [f"snapshots for {units.duration(snapshots_ms)}"]
    told += [] if own_ms is None else [f"itself for {units.duration(own_ms)}"]
    return ", ".join(told) or "as the table says"
