"""Tags: what each one holds and costs; creating, moving and deleting tags."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from core.model.expiry import Expiry
from core.model.references import Line, Tag
from dashboard.formatting import units
from dashboard.formatting.language import N_, _, spoken

NO_TAGS = N_("This table has no tags.")


def no_tags_next(horizon_ms: int | None, zone: str) -> str:
    if horizon_ms is None:
        return _("A tag keeps a snapshot readable after it expires. Create one below.")
    return _(
        "Without one, nothing before {horizon} can be read, and that horizon moves on with every expiry. "
        "A tag keeps a snapshot readable after it expires: create one below.",
        horizon=units.moment(horizon_ms, zone),
    )


TAG_NAME = N_("Name")
TAG_POINT = N_("Snapshot")
TAG_NAME_HINT = "month-2026-11"
TAG_CREATE_TEACH = N_("Enter a name to see the plan. Creating a tag deletes nothing.")
CREATE = N_("Create tag")
TAG_RETAINED = N_("Keep for")
TAG_RETAINED_HELP = N_("After this time an engine that commits deletes the tag automatically. Blank: never.")
TAG_KEPT_HELP = N_(
    "Filled with the tag's own retention, which counts from the move. After that time an "
    "engine that commits deletes the tag automatically. Blank: never."
)
TAG_RETAINED_HINT = N_("blank: forever, or 90d")
TAG_CREATE = N_("Create a tag")
TAG_CHOOSE = N_("Choose a row to open a tag, or to move, rename or delete it.")
TAG_COST = N_("Reclaims now")
TAG_LATER = N_("After policy expiry")
TAG_LATER_HELP = N_(
    "Bytes that deleting this tag would reclaim after every branch's own expiry options have "
    "run at the moment shown: what the tag really costs in the long run."
)
TAG_VERIFY = N_("Check every file")
TAG_VERIFY_HELP = N_(
    "After the tag is created, every data file of its snapshot is checked; if one is missing the tag is withdrawn."
)
TAG_RENAME_TO = N_("New name")
TAG_REPLACE_POINT = N_("Snapshot it will point to")
TAG_COST_HELP = N_(
    "Bytes that only this tag holds. Two tags on one snapshot each reclaim nothing alone, so "
    "these numbers do not add up."
)
TAG_EXPIRES_HELP: Mapping[str, str] = {
    "clock": N_("By the clock of whoever created the tag: Paimon writes no zone."),
    "age": N_("From then on the next expiry deletes it, by the age of its snapshot."),
}
NEVER = N_("never")


def dearest(now: tuple[str, int] | None, later: tuple[str, int] | None) -> str:
    """Name the tag that costs most; None: not known."""
    if now is None or later is None:
        return _("Which tag costs most cannot be determined: not everything that is kept could be read.")
    first = (
        _("{tag}, {size}", tag=now[0], size=units.size(now[1]))
        if now[1]
        else _("none (no file is held by a single tag only)")
    )
    second = _("{tag}, {size}", tag=later[0], size=units.size(later[1])) if later[1] else _("none")
    return _("Costs most now: {first}. Once the table's own policy has run: {second}.", first=first, second=second)


def replace_tag(name: str) -> str:
    return _("Move {name} to another snapshot", name=name)


def rename_tag(name: str) -> str:
    return _("Rename {name}", name=name)


def delete_tag(name: str, size: int, files: int) -> str:
    if not files:
        return _("Delete {name}: reclaims nothing", name=name)
    file_count = units.plural(files, "file")
    return _("Delete {name}: reclaims {size} in {files}", name=name, size=units.size(size), files=file_count)


def tag_expires(tag: Tag, zone: str) -> str:
    if tag.ends_ms is not None:
        return units.moment(tag.ends_ms, zone)
    return _(NEVER) if tag.expires is None else units.wall_clock(tag.expires)


def tag_expiration(tag: Tag, zone: str, end: Expiry) -> str:
    """Say on which date a tag expires, or on what else that depends."""
    is_lasting = tag.expires is None and not end.is_open
    return tag_expires(tag, zone) if is_lasting or end.not_before_ms is not None else spoken(end.words)


def tag_retained(retained: dt.timedelta | None) -> str:
    return _("never expires") if retained is None else units.duration(round(retained.total_seconds() * 1000))


BRANCHES = N_("Branches and rollback")
BRANCH_HEADS = (N_("Branch"), N_("Snapshot"), N_("Committed"), N_("Keeps"))
BRANCH_NAME = N_("New branch")
BRANCH_POINT = N_("Starts at")
BRANCH_REPLACE_POINT = N_("Will point to")
BRANCH_POINT_HELP = N_("A snapshot, a tag or a branch; a time or latest~2 may be typed.")
BRANCH_LEAST = N_("Newest kept")
BRANCH_SNAPSHOT_AGE = N_("Snapshots kept for")
BRANCH_AGE = N_("Branch kept for")
ROLLBACK_POINT = N_("Roll main back to")
ROLLBACK_SET = N_("Allow non-ancestors too")
ROLLBACK_SET_HELP = N_("Main may then point to any snapshot of the table, as Iceberg's set_current_snapshot lets it.")
BRANCH_FORMS: Mapping[str, str] = {
    "create": N_("Create"),
    "replace": N_("Change"),
    "rename": N_("Rename"),
    "forward": N_("Fast-forward main"),
    "rollback": N_("Roll back"),
    "delete": N_("Delete"),
    "consumer": N_("Reset a reader"),
}
BRANCH_TEACH: Mapping[str, str] = {
    "create": N_("Enter a name to see the plan. Creating a branch deletes nothing."),
    "replace": N_("Choose a branch, and where it should point or what it should keep."),
    "rename": N_("Choose a branch and its new name."),
    "forward": N_("Choose a branch that continues from where main is."),
    "rollback": N_("Choose a version to see what would be left behind."),
    "delete": N_("Choose branches to see what nothing would hold any more."),
    "consumer": N_("Choose a reader; without a snapshot it is forgotten."),
}
BRANCH_CUT_HELP = N_("A tag of main. Blank: a branch without any snapshot, with the table's schemas.")
ROLLBACK_DESTROYS = N_("Remove newer snapshots")
ROLLBACK_DESTROYS_HELP = N_(
    "Off: a new snapshot gets the old content, and everything is kept. On: newer snapshots "
    "and their tags are removed, as Paimon's rollback does."
)
CHOOSE = N_("Choose one")
CHOOSE_SEVERAL = N_("Choose one or more")
ORPHAN_HEADS = (N_("File"), N_("Kind"), N_("Bytes"))
CONSUMER = N_("Reader")
CONSUMER_NEXT = N_("Reads next")
CONSUMER_HELP = N_("The snapshot it begins with. A reader that is running keeps its own place, and writes it back.")


def rollback_point(branch: str) -> str:
    return _("Roll {branch} back to", branch=branch)


def branch_holds(line: Line) -> str:
    return _(
        "{snapshots}, {tags}",
        snapshots=units.plural(len(line.snapshots), "snapshot"),
        tags=units.plural(len(line.tags), "tag"),
    )


def held_by_nothing(files: int) -> str:
    return _("{files} that nothing holds then: left to be found as orphans", files=units.plural(files, "file"))


def branch_keeps(least: int | None, snapshots_ms: int | None, own_ms: int | None) -> str:
    parts = [] if least is None else [_("its newest {least}", least=least)]
    parts += [] if snapshots_ms is None else [_("snapshots for {snapshots}", snapshots=units.duration(snapshots_ms))]
    parts += [] if own_ms is None else [_("itself for {own}", own=units.duration(own_ms))]
    return _(", ").join(parts) or _("as set by the table")
