"""Notices about a table, one line each."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.charts.time_axis import MAX_POINTS
from dashboard.formatting import units
from dashboard.formatting.language import N_, _, ngettext


def listed(names: Sequence[str], most: int = 6) -> str:
    shown = names[:most]
    comma = _(", ", "names")
    if len(names) > most:
        return _("{names} and {number} more", names=comma.join(shown), number=len(names) - most)
    if len(shown) < 2:
        return "".join(shown)
    return _("{names} and {last}", names=comma.join(shown[:-1]), last=shown[-1])


def no_snapshots(table: str) -> str:
    return _("{table} has no snapshots yet: nothing was ever committed to it.", table=table)


NO_SNAPSHOTS_NEXT = N_("History starts with the first commit. Write to the table, then press Refresh.")


def one_snapshot(number: str) -> str:
    return _(
        "Snapshot {number} is the only one: there is nothing to compare it with until the next commit.", number=number
    )


def held_by_tags(tags: Sequence[str], snapshots: Sequence[int]) -> str:
    which = _(", ", "names").join(str(number) for number in snapshots[:5]) + (" …" if len(snapshots) > 5 else "")
    if len(snapshots) == 1:
        return ngettext(
            "Snapshot {which} has expired and is kept by tag {tags}: it can still be read by that name.",
            "Snapshot {which} has expired and is kept by tags {tags}: it can still be read by those names.",
            len(tags),
            which=which,
            tags=listed(tags),
        )
    return _(
        "{number} snapshots ({which}) have expired and are kept only by {tags}.",
        number=len(snapshots),
        which=which,
        tags=units.plural(len(tags), "tag"),
    )


def twin_tags(names: Sequence[str], number: int) -> str:
    if len(names) == 2:
        return _(
            ("Tags {names} keep the same snapshot {number}: deleting one of them reclaims nothing, deleting both may."),
            names=listed(names),
            number=number,
        )
    return _(
        ("Tags {names} keep the same snapshot {number}: deleting one of them reclaims nothing, deleting all may."),
        names=listed(names),
        number=number,
    )


def many_twin_tags(snapshots: int, tags: int) -> str:
    return _(
        "{snapshots} snapshots are kept by several tags each, {tags} in all: deleting one tag reclaims nothing while "
        "another one keeps the same snapshot.",
        snapshots=units.count(snapshots),
        tags=units.count(tags),
    )


def gap(first: int, last: int) -> str:
    what = (
        _("Snapshot {first} is", first=first)
        if first == last
        else _("Snapshots {first} to {last} are", first=first, last=last)
    )
    return _(
        "{what} missing between {first} and {last}: Paimon's time travel fails across this gap "
        "and its expiry may delete files that are still needed.",
        what=what,
        first=first - 1,
        last=last + 1,
    )


def on_branch(branch: str) -> str:
    return _(" (branch {branch})", branch=branch)


def many_snapshots(number: int) -> str:
    return _(
        "{number} snapshots exceed {max_points}: the timeline shows the number of commits per "
        "time interval. Click a bar to zoom in.",
        number=units.count(number),
        max_points=units.count(MAX_POINTS),
    )


def lower_bound(problems: int) -> str:
    return _("{files} could not be read, so totals marked ≥ are lower bounds.", files=units.plural(problems, "file"))


def notices_count(warnings: int, notes: int) -> str:
    """The heading of collapsed notices: how many there are."""
    counted = [units.plural(warnings, "warning")] if warnings else []
    counted += [units.plural(notes, "note")] if notes else []
    return ", ".join(counted)
