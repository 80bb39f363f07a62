"""The retention curve beside a plan: every retention, storage by holder, the best tags to delete."""

from __future__ import annotations

import functools
import html
from collections.abc import Sequence

from core.analysis.expiration_dates import ExpirationDate
from core.messages import both
from core.model.references import MAIN
from dashboard.formatting import units
from dashboard.formatting.language import N_, _, spoken
from dashboard.words.notices import listed

LAB = N_("What other choices would do")
LAB_CURVE = N_("Every retention")
LAB_HOLDERS = N_("Who holds the bytes")
LAB_DROPS = N_("Best tags to drop")
LAB_OWN = N_("The table's own policy")
LAB_CURVE_HELP = N_(
    "Bytes freed by keeping the newest N snapshots of this branch, for every N, while all tags, "
    "branches and changelogs stay, whatever their age: a plan that heeds ages may free more or less. "
    "From the manifests' sizes."
)
LAB_HOLDERS_HELP = N_(
    "Each row is one exact set of names: only dropping all of them frees its files. “live” is the "
    "newest snapshot, “history” are the others."
)
LAB_DROPS_HELP = N_("For each number of tags, the ones whose dropping frees most, everything else staying as it is.")
LAB_DROPS_LATER = N_(
    "For each number of tags, the ones without which the next expiry by the table's own rules frees "
    "most. Removing an Iceberg tag frees nothing by itself."
)
LAB_NO_CURVE = N_("One snapshot or none: there is nothing to choose.")
LAB_AS_TABLE = N_("As a table")
LAB_FILES = N_("Files")
LAB_COUNT = N_("Tags", context="how many")
LAB_DROP_TAGS = N_("Drop these")
LAB_FREES = N_("Frees")
LAB_SETS_NOUN = N_("sets")
LAB_HELD_BY = N_("Held by exactly")
LAB_ENDS = N_("Goes by itself")
LAB_ENDS_HELP = N_(
    "By this branch's own options, or the tag's own time, as the engine that commits next would judge it."
)
LAB_KEEPS_ALL = N_("Writers of this table expire nothing by themselves.")
CALENDAR_HELP = N_(
    "Bytes that have gone by themselves by each date, on every branch: by the table's options and tags' own times."
)
CALENDAR_NONE = N_("No snapshot and no tag goes by a date: what goes at all waits for commits or for a consumer.")
CALENDAR_SNAPSHOTS = N_("Snapshots go")
CALENDAR_TAGS = N_("Tags go")
CALENDAR_DATE = N_("Not before")
CALENDAR_POINTS = N_("What goes", context="calendar")
CALENDAR_TOTAL = N_("Freed in all by then")
CALENDAR_NOUN = N_("dates")
CURVE_X = N_("Snapshots kept (newest N)")
NATIVE = N_("Beside Paimon")
NATIVE_SAME = N_(
    "Paimon's own deletion, computed step by step the way the engine does it, would take exactly these files too."
)


def lab_next(branch: str, headline: str, prevented_by: Sequence[str]) -> str:
    if branch == MAIN:
        coming = _(
            "Apart from any plan, the table's own options have the next commit of a writer do: {headline}",
            headline=headline,
        )
    else:
        coming = _(
            "Apart from any plan, the table's own options have the next commit of a writer to branch {branch} do: "
            "{headline}",
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
            "frees {bytes} in {files}; {total} in all by then",
            bytes=units.size(day.bytes),
            files=units.plural(day.files, "file"),
            total=units.size(total),
        )
    )
    return "<br>".join(lines)


def curve_hover(keep: int, size: int, files: int) -> str:
    return _(
        "Keep {keep}: frees {size} in {files}",
        keep=units.count(keep),
        size=units.size(size),
        files=units.plural(files, "file"),
    )


def curve_chosen(keep: int) -> str:
    return _("keep {keep}", keep=units.count(keep))
