"""The retention curve next to a plan: all retentions, storage by holder, the best tags to delete."""

from __future__ import annotations

import functools
import html
from collections.abc import Mapping, Sequence

from core.analysis.expiration_dates import ExpirationDate
from core.messages import both
from core.model.references import MAIN, NO_BRANCH
from dashboard.formatting import units
from dashboard.formatting.language import N_, _, spoken
from dashboard.formatting.prices import Price, money
from dashboard.words.notices import listed

MODE_STORAGE = N_("Storage")
LAB_HOLDERS = N_("Storage by holder")
LAB_DROPS = N_("Tags that reclaim most")
LAB_OWN = N_("The table's own policy")
LAB_PARTS: Mapping[str, str] = {"holders": LAB_HOLDERS, "drops": LAB_DROPS, "own": LAB_OWN}
LAB_CURVE_HELP = N_(
    "Bytes reclaimed by keeping the newest N snapshots of this branch, for every N, while "
    "all tags, branches and changelogs are kept, whatever their age: a plan that considers "
    "ages may reclaim more or less. From the manifests' sizes."
)
LAB_HOLDERS_HELP = N_("Each column of dots is one exact set of holders: only deleting all of them reclaims its files.")
LAB_DROPS_HELP = N_("For each number of tags, the ones whose deletion reclaims most, with everything else kept.")
LAB_DROPS_LATER = N_(
    "For each number of tags, the ones without which the next expiry by the table's own "
    "rules reclaims most. Removing an Iceberg tag reclaims nothing immediately."
)
LAB_NO_CURVE = N_("One snapshot or none: there is nothing to choose.")
LAB_AS_TABLE = N_("As a table")
LAB_FILES = N_("Files")
LAB_COUNT = N_("Tags", context="how many")
LAB_DROP_TAGS = N_("Delete these")
LAB_FREES = N_("Reclaims")
LAB_SETS_NOUN = N_("sets")
LAB_HELD_BY = N_("Held by exactly")
LAB_ENDS = N_("Expires automatically")
LAB_ENDS_HELP = N_(
    "By this branch's own options, or the tag's own time, as the engine that commits next would judge it."
)
LAB_KEEPS_ALL = N_("Writers of this table expire nothing automatically.")
CALENDAR_HELP = N_(
    "Bytes reclaimed automatically by each date, on every branch: by the table's options and the tags' own retention."
)
CALENDAR_NONE = N_("No snapshot or tag expires on a date: expiry here waits for commits or for a consumer.")
CALENDAR_SNAPSHOTS = N_("Snapshots expire")
CALENDAR_TAGS = N_("Tags expire")
CALENDAR_DATE = N_("Not before")
CALENDAR_POINTS = N_("What is deleted", context="calendar")
CALENDAR_TOTAL = N_("Total reclaimed by then")
CALENDAR_NOUN = N_("dates")
CURVE_X = N_("Snapshots kept (newest N)")
NATIVE = N_("Compare with Paimon")
NATIVE_SAME = N_(
    "Paimon's own deletion, computed step by step as the engine does it, would delete exactly these files too."
)


def lab_next(branch: str, headline: str, prevented_by: Sequence[str]) -> str:
    if branch == MAIN:
        coming = _(
            "At the next commit, the engine itself does this: {headline}",
            headline=headline,
        )
    else:
        coming = _(
            "At the next commit to branch {branch}, the engine itself does this: {headline}",
            branch=branch,
            headline=headline,
        )
    return functools.reduce(both, [coming, *map(spoken, prevented_by)])


def holders_hover(holders: str, size: int, files: int) -> str:
    return _(
        "{holders}<br>{size} in {files}",
        holders=html.escape(holders),
        size=units.exact_bytes(size),
        files=units.plural(files, "file"),
    )


def calendar_hover(day: ExpirationDate, total: int, zone: str) -> str:
    lines = [units.moment(day.at_ms, zone), html.escape(listed(day.points))]
    lines.append(
        _(
            "reclaims {bytes} in {files}; {total} in total by then",
            bytes=units.size(day.bytes),
            files=units.plural(day.files, "file"),
            total=units.size(total),
        )
    )
    return "<br>".join(lines)


def curve_hover(keep: int, size: int, files: int, price: Price | None = None) -> str:
    text = _(
        "Keep {keep}: reclaims {size} in {files}",
        keep=units.count(keep),
        size=units.size(size),
        files=units.plural(files, "file"),
    )
    return text if price is None else f"{text}<br>{money(size, price)}"


def curve_chosen(keep: int) -> str:
    return _("keep {keep}", keep=units.count(keep))


SETS_TICKED = N_("Delete what these sets hold")
SETS_TICKED_HINT = N_("Click columns of the chart, or choose sets here")
SETS_NOW = N_("Reclaims now")
SETS_LATER = N_("Reclaims once the table's own policy has run")
SETS_ALT = N_("Sets of holders and the bytes each holds. Click a column to tick it; the box above does the same.")
PLAN_THIS = N_("Plan this")
_NAMES = {
    "live": N_("newest snapshot"),
    "history": N_("older snapshots"),
    "changelogs": N_("changelogs"),
    f"branch:{NO_BRANCH}": N_("snapshots on no branch"),
}


def holder_name(name: str) -> str:
    """How a chart calls a name that the core groups by."""
    return _(_NAMES[name]) if name in _NAMES else name


def deleting_names(names: Sequence[str]) -> str:
    if not names:
        return _("The newest snapshot is always kept.")
    return _("Deleting {names}", names=listed(tuple(names)))


def sets_elsewhere(names: Sequence[str]) -> str:
    if not names:
        return _("The newest snapshot is always kept, with everything it holds.")
    return _(
        "Delete {names} first, on the Tags page or with Expire changelogs: one plan cannot cover everything.",
        names=listed(tuple(names)),
    )
