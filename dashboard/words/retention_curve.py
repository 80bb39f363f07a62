"""The retention curve beside a plan: every retention, storage by holder, the best tags to delete."""

from __future__ import annotations

import html
from collections.abc import Sequence

from core.analysis.expiration_dates import ExpirationDate
from core.model.references import MAIN
from dashboard.formatting import units
from dashboard.words.notices import listed

LAB = "What other choices would do"
LAB_CURVE = "Every retention"
LAB_HOLDERS = "Who holds the bytes"
LAB_DROPS = "Best tags to drop"
LAB_OWN = "The table's own policy"
LAB_CURVE_HELP = (
    "Bytes freed by keeping the newest N snapshots of this branch, for every N, while all tags, branches and "
    "changelogs stay, whatever their age: a plan that heeds ages may free more or less. From the manifests' sizes."
)
LAB_HOLDERS_HELP = (
    "Each row is one exact set of names: only dropping all of them frees its files. “live” is the newest snapshot, "
    "“history” are the others."
)
LAB_DROPS_HELP = "For each number of tags, the ones whose dropping frees most, everything else staying as it is."
LAB_DROPS_LATER = (
    "For each number of tags, the ones without which the next expiry by the table's own rules frees most. Removing an "
    "Iceberg tag frees nothing by itself."
)
LAB_NO_CURVE = "One snapshot or none: there is nothing to choose."
LAB_AS_TABLE = "As a table"
LAB_FILES = "Files"
LAB_COUNT = "Tags"
LAB_DROP_TAGS = "Drop these"
LAB_FREES = "Frees"
LAB_SETS_NOUN = "sets"
LAB_HELD_BY = "Held by exactly"
LAB_ENDS = "Goes by itself"
LAB_ENDS_HELP = "By this branch's own options, or the tag's own time, as the engine that commits next would judge it."
LAB_KEEPS_ALL = "Writers of this table expire nothing by themselves."
CALENDAR_HELP = (
    "Bytes that have gone by themselves by each date, on every branch: by the table's options and tags' own times."
)
CALENDAR_NONE = "No snapshot and no tag goes by a date: what goes at all waits for commits or for a consumer."
CALENDAR_SNAPSHOTS = "Snapshots go"
CALENDAR_TAGS = "Tags go"
CALENDAR_DATE = "Not before"
CALENDAR_POINTS = "What goes"
CALENDAR_TOTAL = "Freed in all by then"
CALENDAR_NOUN = "dates"
CURVE_X = "Snapshots kept (newest N)"
NATIVE = "Beside Paimon"
NATIVE_SAME = (
    "Paimon's own deletion, computed step by step the way the engine does it, would take exactly these files too."
)


def lab_next(branch: str, headline: str, prevented_by: Sequence[str]) -> str:
    where = "" if branch == MAIN else f" to branch {branch}"
    told = f"Apart from any plan, the table's own options have the next commit of a writer{where} do: {headline}"
    return " ".join([told, *prevented_by])


def holders_hover(holders: str, size: int, files: int) -> str:
    return f"{html.escape(holders)}<br>{units.exact_bytes(size)} in {units.plural(files, 'file')}"


def calendar_hover(day: ExpirationDate, total: int, zone: str) -> str:
    lines = [units.moment(day.at_ms, zone), html.escape(listed(day.points))]
    lines.append(
        f"frees {units.size(day.bytes)} in {units.plural(day.files, 'file')}; {units.size(total)} in all by then"
    )
    return "<br>".join(lines)


def curve_hover(keep: int, size: int, files: int) -> str:
    return f"Keep {units.count(keep)}: frees {units.size(size)} in {units.plural(files, 'file')}"


def curve_chosen(keep: int) -> str:
    return f"keep {units.count(keep)}"
