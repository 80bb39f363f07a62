"""Files: what a version consists of, who holds a file, and how healthy the files are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from core.analysis.file_health import Bucket, Health
from core.analysis.file_lifetime import FileLifetime, Stretch
from core.model.column_bounds import Bounds
from core.model.references import MAIN, NO_BRANCH, Holder, Snapshot
from dashboard.formatting import units
from dashboard.formatting.language import N_, _, ngettext, noun, spoken
from dashboard.words.timeline import commit_kind

FILES_HERE = N_("Files")
FILE_BOX = N_("File history")
FILE_BOX_PLACEHOLDER = N_("Paste a path or a name, or click a file below")
FILE_BOX_HELP = N_(
    "A data file, manifest, index or any other file of the table: its path, its URL, or only "
    "its name. It need not be current in the chosen version."
)
CLOSE_FILE = N_("Close")
PANES: Mapping[str, str] = {
    "map": N_("Map"),
    "list": N_("All files"),
    "manifests": N_("Manifests"),
    "columns": N_("Columns"),
    "health": N_("Health"),
}
PANE = N_("Part of the page")
EVERYTHING = N_("Whole table")
NO_FILES_HERE = N_("No current data files here.")
NO_FILES_NEXT = N_("This version has no rows. Choose another one above, or go up to the whole table.")
NO_SUCH_FOLDER = N_("No file of this version is in this folder. Go up, or choose another version.")
MAP_HELP = N_(
    "Each rectangle is a folder, its area the bytes in it. Click one to look inside; a file shows its history."
)
FIND_HELP = N_("Any part of a path or a partition, whatever its case.")
NOTHING_FOUND = N_("No file here has that in its path or partition.")
ITS_LIFE = N_("Manifest history")
LIFE_ALT = N_("When this file was current, and which snapshots, tags and branches hold it, on the table's time axis")
LIFE_BEFORE = N_("Added here or before")
MAP_ALT = N_("Bytes by partition and bucket, as rectangles")
FIND = N_("Find")
FIND_PLACEHOLDER = N_("part of a path or a partition")
ORDER = N_("Sort by")
ORDERS: Mapping[str, str] = {"large": N_("Largest first"), "small": N_("Smallest first"), "path": N_("By path")}
PREVIOUS_PAGE = N_("Previous", context="page")
NEXT_PAGE = N_("Next", context="page")
COLUMNS_NOUN = N_("columns")
PARTITIONS_NOUN = N_("partitions", context="counted")
STRETCHES_NOUN = N_("intervals")
FILE_COLUMN: Mapping[str, str] = {
    "path": N_("File"),
    "change": N_("Entry"),
    "kind": N_("Kind"),
    "bytes": N_("Size"),
    "rows": N_("Rows"),
    "partition": N_("Partition"),
    "bucket": N_("Bucket"),
    "level": N_("Level"),
    "schema_id": N_("Schema"),
    "source": N_("Written by"),
    "sequences": N_("Sequence numbers"),
    "delete_rows": N_("Deleted rows"),
    "list": N_("List"),
    "added": N_("Added"),
    "deleted": N_("Removed"),
    "existing": N_("Carried over"),
    "format": N_("Format"),
    "content": N_("Content"),
    "sequence": N_("Sequence number"),
    "deletes": N_("Deletes"),
    "files": N_("Files", context="how many"),
    "name": N_("Name"),
    "small_files": N_("Small files", context="how many"),
    "small_bytes": N_("Of small files"),
    "column": N_("Column"),
    "type": N_("Type"),
    "low": N_("Min"),
    "high": N_("Max"),
    "nulls": N_("Nulls"),
    "told": N_("Statistics from"),
}
LISTS: Mapping[str, str] = {
    "base": N_("base: what was there before the commit"),
    "delta": N_("delta: what the commit changed"),
    "changelog": N_("changelog: rows for streaming readers"),
    "index": N_("index: deletion vectors and hash indexes"),
    "data": N_("data files"),
    "deletes": N_("delete files"),
}
LIST_HEADS = (N_("List"), N_("File"), N_("Size"), N_("Manifests", context="how many"), N_("Added"), N_("Removed"))
ENTRY_CHANGES: Mapping[str, str] = {"added": N_("+ added"), "removed": N_("− removed"), "existing": N_("carried over")}
NO_MANIFESTS = N_("This version has no manifest: nothing was ever written to it.")
CHOOSE_MANIFEST = N_("Choose a manifest to see its entries.")
ALL_MANIFESTS = N_("All manifests")
SOURCES: Mapping[str, str] = {"append": N_("a write"), "compact": N_("compaction")}

# file lifetime

NOT_WRITTEN = N_("not written")
LIFE_LIVE = N_("Current")
LIFE_HEADS: Mapping[str, str] = {
    "holders_of": N_("Held by"),
    "points": N_("Snapshots and tags"),
    "ends": N_("Expires automatically"),
    "since": N_("From"),
    "until": N_("To"),
}
LIFE_NOT_HERE = N_("Not current in the version shown above: listed because other snapshots or tags hold it.")
LIFE_BORN = N_("Added")
LIFE_REMOVED = N_("Removed")
LIFE_KEPT = N_("Kept by")
LIFE_WHY = N_("Why it is kept")
LIFE_EARLIEST = N_("Earliest possible deletion")
LIFE_STILL_LIVE = N_("still current in the newest state")
LIFE_UNKNOWN_END = N_("by a commit that is no longer retained or cannot be read")
LIFE_UNKNOWN_NOW = N_("cannot be determined: the newest state cannot be read in full")
LIFE_NO_LIVE = N_("not current in any readable snapshot or tag: only commits refer to it")
LIFE_NEVER = N_("no date: nothing deletes its last holder automatically")
LIFE_UNDATED = N_("no date is certain, for the reason given above")
LIFE_NOW = N_("with the next expiry: its retention has ended")
_HOLDERS = {"snapshot": noun("snapshot"), "tag": noun("tag"), "changelog": noun("changelog")}
ROW_KINDS: Mapping[str, str] = {"snapshot": N_("Snapshots"), "tag": N_("Tags"), "changelog": N_("Changelogs")}


def others(number: int) -> str:
    return _("{number} others", number=units.count(number))


def box_hover(row: Mapping[str, Any]) -> str:
    files = "" if row["is_file"] else ngettext("<br>{count} file", "<br>{count} files", row["files"])
    size = f"{units.size(row['bytes'])} ({units.exact_bytes(row['bytes'])})"
    return ngettext(
        "<b>{name}</b><br>{size}{files}<br>{count} row",
        "<b>{name}</b><br>{size}{files}<br>{count} rows",
        row["rows"],
        name=escape(str(row["name"])),
        size=size,
        files=files,
    )


def life_row(kind: str, branch: str) -> str:
    if branch == NO_BRANCH:
        return _("{kind} on no branch", kind=_(ROW_KINDS[kind]))
    return _(ROW_KINDS[kind]) if branch == MAIN else _("{kind} of {branch}", kind=_(ROW_KINDS[kind]), branch=branch)


def life_added(found: FileLifetime, zone: str) -> str:
    assert found.born is not None
    commit = _commit(found.born, zone)
    if found.is_exact:
        return _("by {commit}", commit=commit)
    return _("in or before {commit}: the commit before it is not retained or not readable", commit=commit)


def life_removed(found: FileLifetime, zone: str) -> str:
    if found.removed is not None:
        return _("by {commit}", commit=_commit(found.removed, zone))
    return _({True: LIFE_STILL_LIVE, False: LIFE_UNKNOWN_END, None: LIFE_UNKNOWN_NOW}[found.is_live])


def _commit(snapshot: Snapshot, zone: str) -> str:
    return _(
        "snapshot {id} ({commit_kind}), {snapshot_time}",
        id=snapshot.id,
        commit_kind=commit_kind(snapshot.kind),
        snapshot_time=units.moment(snapshot.time_ms, zone),
    )


def life_live_hover(found: FileLifetime) -> str:
    return _("Current in the newest state of {branch}", branch=escape(found.branch))


def life_held(counts: Mapping[str, int]) -> str:
    parts = [units.plural(number, _HOLDERS[kind]) for kind, number in counts.items() if number]
    return _(", ", "names").join(parts) or _("no readable snapshot or tag")


def life_deletable(at_ms: int, zone: str) -> str:
    return _("Not before {at}", at=units.moment(at_ms, zone))


def life_deletable_later(at_ms: int, zone: str) -> str:
    return _("Not before {at}, beyond the end of this axis", at=units.moment(at_ms, zone))


def life_at_least(at_ms: int, zone: str) -> str:
    return _("no date; in no case before {at}", at=units.moment(at_ms, zone))


def stretch_hover(each: Stretch) -> str:
    ends = f"<br>{escape(spoken(each.ends.words))}" if each.ends else ""
    return f"{escape(stretch_points(each.first.point, each.last.point, len(each.holders)))}{ends}"


def holder_hover(holder: Holder, zone: str) -> str:
    moment = holder.snapshot.time_ms if holder.snapshot else None
    return f"{escape(holder.point)}<br>{units.moment(moment, zone)}"


def stretch_points(first: str, last: str, count: int) -> str:
    return first if count == 1 else _("{first} to {last} ({count})", first=first, last=last, count=units.count(count))


def page_line(first: int, last: int, total: int) -> str:
    return _("{first} to {last} of {total}", first=units.count(first), last=units.count(last), total=units.count(total))


def folder_line(files: int, size: int, rows: int) -> str:
    return _(
        "{files}, {size}, {rows}",
        files=units.plural(files, "file"),
        size=units.size(size),
        rows=units.plural(rows, "row"),
    )


# columns

COLUMNS_OF_FILE = N_("What the manifests record about the columns of this file.")
SOME_NOT_TOLD = N_("Some files lack bounds; the figures come from those that have them.")
SOME_OTHER_TYPE = N_("Some files record bounds of a column's earlier type, which cannot be read as its present type.")
COLUMNS_HELP = N_(
    "From the statistics in manifests, decoded by the schema each file was written with; no data "
    "file is opened. A text marked ✂ is possibly truncated: formats keep the first 16 characters, of "
    "a greatest value rounded up. Rows that deletes or later versions of a key hide still count."
)


def columns_too_many(files: int, most: int) -> str:
    return _(
        "{files} files are too many to decode at once; at most {most} are. Choose a partition on the Map, or one file.",
        files=units.count(files),
        most=units.count(most),
    )


def statistics_from(found: Bounds) -> str:
    return (
        _("all files")
        if found.files_with_bounds == found.files
        else _(
            "{told} of {files} files",
            told=units.count(found.files_with_bounds),
            files=units.count(found.files),
        )
    )


def nulls(found: Bounds) -> str:
    if found.nulls is None:
        return _(NOT_WRITTEN)
    return units.count(found.nulls) if found.files_with_null_count == found.files else f"≥ {units.count(found.nulls)}"


def cut(text: str) -> str:
    return f"{text} ✂"


ALL_NULL = N_("all null")
OTHER_TYPE = N_("written, not as this type")

# health

HEALTH_SMALL = N_("Small files")
HEALTH_PER_PLACE = N_("Files per bucket")
HEALTH_PER_PARTITION = N_("Files per partition")
HEALTH_SKEW = N_("Skew")
HEALTH_RUNS = N_("Sorted runs")
HEALTH_DELETES = N_("Deleted rows")
HEALTH_HELPS_NOT = N_("Nothing here needs a compaction.")
HEALTH_PARTITIONS = N_("Partitions by number of small files")
HEALTH_COMPACT = N_("Few large files of many small ones:")
HEALTH_NOT_LATEST = N_("These figures are of the version shown; a compaction works on the newest state.")


def place(found: Bucket | None) -> str:
    if found is None:
        return "—"
    where = found.partition or _(EVERYTHING)
    return where if found.bucket is None else _("{where}, bucket {bucket}", where=where, bucket=found.bucket)


def small_value(found: Health) -> str:
    return _("{small_files} of {files}", small_files=units.count(found.small_files), files=units.count(found.files))


def small_rule(found: Health) -> str:
    return _(
        "below {below_bytes}: {ratio:g} of the target size, {target_bytes}",
        below_bytes=units.size(found.small.below_bytes),
        ratio=found.small.ratio,
        target_bytes=units.size(found.small.target_bytes),
    )


def per_place_value(found: Health) -> str:
    if found.median_files is None or found.fullest is None:
        return "—"
    return _("at most {amount}", amount=units.count(found.fullest.amount))


def per_place_rule(found: Health) -> str:
    return (
        "—"
        if found.median_files is None
        else _(
            "{median_files:,.4g} in the median; most in {place}",
            median_files=found.median_files,
            place=place(found.fullest),
        )
    )


def skew_value(found: Health) -> str:
    return "—" if found.skew is None else f"{found.skew:,.2f} ×"


def skew_rule(found: Health) -> str:
    largest = found.largest.amount if found.largest else None
    median = None if found.median_bytes is None else round(found.median_bytes)
    return _(
        "{place} with {largest}, against {median} in the median one",
        place=place(found.largest),
        largest=units.size(largest),
        median=units.size(median),
    )


def runs_value(found: Health) -> str:
    return "—" if found.runs is None else _("at most {amount}", amount=units.count(found.runs.amount))


def runs_rule(found: Health) -> str:
    return ngettext(
        "{place}; a compaction is due at {due}. {count} file at level 0",
        "{place}; a compaction is due at {due}. {count} files at level 0",
        found.level0 or 0,
        place=place(found.runs),
        due=units.count(found.trigger),
    )


def deletes_value(found: Health) -> str:
    if found.delete_rows is None:
        return _(NOT_WRITTEN)
    return "—" if found.delete_ratio is None else f"{found.delete_ratio:.1%}"


def deletes_rule(found: Health) -> str:
    rows = _("not recorded for every file") if found.delete_rows is None else units.plural(found.delete_rows, "row")
    equality = found.equality_deletes and ngettext(
        ", and {count} equality delete", ", and {count} equality deletes", found.equality_deletes
    )
    return _(
        "{rows} deleted{equality}, of {all} in files",
        rows=rows,
        equality=equality or "",
        all=units.plural(found.rows, "row"),
    )


def health_compact_by(engine: str) -> str:
    return _("{engine} itself rewrites many small files as few large ones:", engine=engine)


SHADE = N_("Colour by")
SHADES: Mapping[str, str] = {"age": N_("Age"), "size": N_("Size of a file"), "rewrites": N_("Rewrites")}
_SCALES: Mapping[str, str] = {
    "age": N_("mean age of the bytes"),
    "size": N_("mean size of a file"),
    "rewrites": N_("bytes written for each that is live, in the retained history"),
}


def scale(by: str, shades: Sequence[float | None]) -> tuple[str, str, str]:
    """What the colours mean, the palest and the darkest."""
    known = [each for each in shades if each is not None]
    ends = [shade(by, each) for each in (min(known), max(known))] if known else ["—", "—"]
    return _(_SCALES[by]), ends[0], ends[1]


def shade(by: str, value: float) -> str:
    if by == "rewrites":
        return f"{value:,.1f} ×"
    return units.span(round(value)) if by == "age" else units.size(round(value))
