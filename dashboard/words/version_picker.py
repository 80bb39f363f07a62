"""Picking a version: what can be chosen and typed, and what it resolved to."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.formatting.language import N_, _

VERSION = N_("Time or version")
VERSION_HELP = N_("Follow the newest snapshot again. The version chosen here is shown on every page of this table.")
TO_LATEST = N_("Latest")
ACTS_NOW: Mapping[str, str] = {
    "retention": N_("A past version is chosen at the top. This page plans for the table as it is now."),
    "orphans": N_("A past version is chosen at the top. This page looks for orphans of the table as it is now."),
    "tags": N_(
        "A past version is chosen at the top. This page lists the tags that exist now; a new "
        "tag gets the chosen version."
    ),
}
LATEST = N_("latest: the newest snapshot")
EARLIEST = N_("earliest: the oldest retained snapshot")
POINT_PLACEHOLDER = N_("Choose a version, or type one")
PICK_NONE = N_("Clear")
POINT_HELP = N_(
    "A snapshot id, a tag, a branch, BRANCH/12, a time, `watermark:N`, `latest`, `earliest` or "
    "`latest~3`. A time may name its zone (`2026-11-01 08:00 Asia/Shanghai`, "
    "`2026-11-01T08:00+08:00`); a bare one is read in the zone on the left. `tag:NAME` and "
    "`branch:NAME` always mean a name."
)


def picked_snapshot(snapshot: str, branch: str) -> str:
    where = _(" on {branch}", branch=branch) if branch else ""
    return _("Snapshot{where} {told}", where=where, told=snapshot)


def two_names(name: str) -> str:
    return _("{name!r} is both a tag and a branch.", name=name)


def two_names_next(name: str) -> str:
    return _("Write tag:{name} or branch:{name}.", name=name)


def elsewhere(branch: str, chosen_branch: str) -> str:
    return _("That is a snapshot of {branch}, and this is about {wanted}.", branch=branch, wanted=chosen_branch)


def elsewhere_next(chosen_branch: str) -> str:
    return _("Choose a version of {wanted}.", wanted=chosen_branch)


CALENDAR = N_("Choose a day")
CALENDAR_BEFORE = N_("Previous month")
CALENDAR_AFTER = N_("Next month")
CALENDAR_TIME = N_("Time")
CALENDAR_COMMITS = N_("commits: {count}")


def calendar_hint(zone: str) -> str:
    return _("Marked days have commits. A day without a time means its end, {zone}.", zone=zone)
