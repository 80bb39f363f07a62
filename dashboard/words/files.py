"""Files: what a point consists of, who holds a file, and how healthy the files are."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from core.analysis.file_health import Bucket, Health
from core.analysis.file_lifetime import FileLifetime, Stretch
from core.formats.iceberg.references import NO_BRANCH
from core.model.column_bounds import Bounds
from core.model.references import MAIN, Holder, Snapshot
from dashboard.formatting import units
from dashboard.words.explanations import Rule
from dashboard.words.timeline import commit_kind
from dashboard.words.told import spoken

FILES_POINT = "Files at"
FILES_HERE = "Files"
FILE_BOX = "A file's life"
FILE_BOX_PLACEHOLDER = "Paste a path or a name, or click a file below"
FILE_BOX_HELP = (
    "A data file, manifest, index or any other file of the table: its path, its URL, or its name alone. It need not be "
    "live at the point."
)
CLOSE_FILE = "Close"
PANES: Mapping[str, str] = {
    "map": "Map",
    "list": "All files",
    "manifests": "Manifests",
    "columns": "Columns",
    "health": "Health",
}
PANE = "Part of the page"
EVERYTHING = "Whole table"
NO_FILES_HERE = "No data file is live here."
NO_FILES_NEXT = "The point holds no rows. Choose another point above, or go up to the whole table."
NO_SUCH_FOLDER = "No file of this point lies in this folder. Go up, or choose a point that has it."
MAP_HELP = "Each rectangle is a folder, its area the bytes in it. Click one to look inside; a file shows its life."
FIND_HELP = "Any part of a path or a partition, whatever its case."
NOTHING_FOUND = "No file here has that in its path or partition."
ITS_LIFE = "Life of this manifest"
LIFE_ALT = "When this file was live, and which snapshots, tags and branches hold it, on the table's time axis"
LIFE_BEFORE = "Born here or before"
MAP_ALT = "Bytes by partition and bucket, as rectangles"
FIND = "Find"
FIND_PLACEHOLDER = "part of a path or a partition"
ORDER = "Order"
ORDERS: Mapping[str, str] = {"large": "Largest first", "small": "Smallest first", "path": "By path"}
PREVIOUS_PAGE = "Previous"
NEXT_PAGE = "Next"
COLUMNS_NOUN = "columns"
PARTITIONS_NOUN = "partitions"
STRETCHES_NOUN = "stretches"
FILE_COLUMN: Mapping[str, str] = {
    "path": "File",
    "change": "Entry",
    "kind": "Kind",
    "bytes": "Size",
    "rows": "Rows",
    "partition": "Partition",
    "bucket": "Bucket",
    "level": "Level",
    "schema_id": "Schema",
    "source": "Written by",
    "sequences": "Sequence numbers",
    "delete_rows": "Deleted rows",
    "list": "List",
    "added": "Added",
    "deleted": "Removed",
    "existing": "Carried over",
    "format": "Format",
    "content": "Content",
    "sequence": "Sequence number",
    "deletes": "Deletes",
    "files": "Files",
    "name": "Name",
    "small_files": "Small files",
    "small_bytes": "Of small files",
    "column": "Column",
    "type": "Type",
    "low": "Least",
    "high": "Greatest",
    "nulls": "Nulls",
    "told": "Told by",
}
LISTS: Mapping[str, str] = {
    "base": "base: what was there before the commit",
    "delta": "delta: what the commit changed",
    "changelog": "changelog: rows for streaming readers",
    "index": "index: deletion vectors and hash indexes",
    "data": "data files",
    "deletes": "delete files",
}
LIST_HEADS = ("List", "File", "Size", "Manifests", "Added", "Removed")
ENTRY_CHANGES: Mapping[str, str] = {"added": "+ added", "removed": "− removed", "existing": "carried over"}
NO_MANIFESTS = "The point names no manifest: nothing was ever written under it."
CHOOSE_MANIFEST = "Choose a manifest to see its entries."
ALL_MANIFESTS = "All manifests"
SOURCES: Mapping[str, str] = {"append": "a write", "compact": "compaction"}

# a file's life

NOT_WRITTEN = "not written"
LIFE_LIVE = "Live"
LIFE_HEADS: Mapping[str, str] = {
    "holders_of": "Held by",
    "points": "Points",
    "ends": "Goes by itself",
    "since": "From",
    "until": "To",
}
LIFE_NOT_HERE = "Not live at the point shown above: it is listed here because other points hold it."
LIFE_BORN = "Born"
LIFE_REMOVED = "Removed"
LIFE_KEPT = "Kept by"
LIFE_WHY = "Why it is kept"
LIFE_EARLIEST = "Earliest it can go"
LIFE_STILL_LIVE = "still live in the newest state"
LIFE_UNKNOWN_END = "by a commit that is no longer retained or cannot be read"
LIFE_UNKNOWN_NOW = "not known: the newest state cannot be read in full"
LIFE_NO_LIVE = "live at no point that can be read: only commits name it"
LIFE_NEVER = "no date: nothing takes its last holder away by itself"
LIFE_AFTER_COMMITS = "no date is certain: the commits named above are yet to come"
LIFE_NOW = "with the next expiry: its time is over"
ROW_KINDS: Mapping[str, str] = {"snapshot": "Snapshots", "tag": "Tags", "changelog": "Changelogs"}
KIND_NOUNS: Mapping[str, str] = {"snapshot": "snapshot", "tag": "tag", "changelog": "changelog"}


def others(number: int) -> str:
    return f"{units.count(number)} others"


def box_hover(row: Mapping[str, Any]) -> str:
    files = "" if row["is_file"] else f"<br>{units.plural(row['files'], 'file')}"
    size = f"{units.size(row['bytes'])} ({units.exact_bytes(row['bytes'])})"
    return f"<b>{escape(str(row['name']))}</b><br>{size}{files}<br>{units.plural(row['rows'], 'row')}"


def life_row(kind: str, branch: str) -> str:
    if branch == NO_BRANCH:
        return f"{ROW_KINDS[kind]} on no branch"
    return ROW_KINDS[kind] if branch == MAIN else f"{ROW_KINDS[kind]} of {branch}"


def life_born(found: FileLifetime, zone: str) -> str:
    assert found.born is not None
    who = _commit(found.born, zone)
    return (
        f"by {who}" if found.is_exact else f"in or before {who}: the commit before it is not retained or not readable"
    )


def life_removed(found: FileLifetime, zone: str) -> str:
    if found.removed is not None:
        return f"by {_commit(found.removed, zone)}"
    return {True: LIFE_STILL_LIVE, False: LIFE_UNKNOWN_END, None: LIFE_UNKNOWN_NOW}[found.is_live]


def _commit(snapshot: Snapshot, zone: str) -> str:
    return f"snapshot {snapshot.id} ({commit_kind(snapshot.kind)}), {units.moment(snapshot.time_ms, zone)}"


def life_live_hover(found: FileLifetime) -> str:
    return f"Live in the newest state of {escape(found.branch)}"


def life_held(counts: Mapping[str, int]) -> str:
    parts = [units.plural(number, KIND_NOUNS[kind]) for kind, number in counts.items() if number]
    return ", ".join(parts) or "no point that can be read"


def life_may_go(at_ms: int, zone: str) -> str:
    return f"Not before {units.moment(at_ms, zone)}"


def life_may_go_later(at_ms: int, zone: str) -> str:
    return f"Not before {units.moment(at_ms, zone)}, further off than this axis reaches"


def life_at_least(at_ms: int, zone: str) -> str:
    return f"no date; in no case before {units.moment(at_ms, zone)}"


def stretch_hover(each: Stretch) -> str:
    ends = f"<br>{escape(spoken(each.ends.words))}" if each.ends else ""
    return f"{escape(stretch_points(each.first.point, each.last.point, len(each.holders)))}{ends}"


def holder_hover(holder: Holder, zone: str) -> str:
    moment = holder.snapshot.time_ms if holder.snapshot else None
    return f"{escape(holder.point)}<br>{units.moment(moment, zone)}"


def stretch_points(first: str, last: str, count: int) -> str:
    return first if count == 1 else f"{first} to {last} ({units.count(count)})"


def page_line(first: int, last: int, total: int) -> str:
    return f"{units.count(first)} to {units.count(last)} of {units.count(total)}"


def folder_line(files: int, size: int, rows: int) -> str:
    return f"{units.plural(files, 'file')}, {units.size(size)}, {units.plural(rows, 'row')}"


# columns

COLUMNS_OF_FILE = "What the manifests say of the columns of this one file."
SOME_NOT_TOLD = "Some files do not tell: what is shown is of those that do."
SOME_OTHER_TYPE = (
    "Some files have bounds of a type that a column has no more: they are written, and cannot be read as today's type."
)
COLUMNS_HELP = (
    "From the statistics in manifests, decoded by the schema each file was written with; no data file is opened. A "
    "text marked ✂ is possibly truncated: formats keep the first 16 characters, of a greatest value rounded up. "
    "Rows that deletes or later versions of a key hide still count."
)


def columns_too_many(files: int, most: int) -> str:
    return (
        f"{units.count(files)} files are too many to decode at once; at most {units.count(most)} are. Choose a "
        "partition on the Map, or one file."
    )


def told_by(found: Bounds) -> str:
    return (
        "all files" if found.told == found.files else f"{units.count(found.told)} of {units.count(found.files)} files"
    )


def nulls(found: Bounds) -> str:
    if found.nulls is None:
        return NOT_WRITTEN
    return units.count(found.nulls) if found.counted == found.files else f"≥ {units.count(found.nulls)}"


def cut(text: str) -> str:
    return f"{text} ✂"


ALL_NULL = "all null"
OTHER_TYPE = "written, not as this type"

# health

HEALTH_SMALL = "Small files"
HEALTH_PER_PLACE = "Files per bucket"
HEALTH_PER_PARTITION = "Files per partition"
HEALTH_SKEW = "Skew"
HEALTH_RUNS = "Sorted runs"
HEALTH_DELETES = "Deleted rows"
HEALTH_HELPS_NOT = "Nothing here asks for a compaction."
HEALTH_PARTITIONS = "Partitions by small files"
HEALTH_COMPACT = "Few large files of many small ones:"
HEALTH_NOT_LATEST = "These figures are of the point shown; a compaction works on the newest state."


def place(found: Bucket | None) -> str:
    if found is None:
        return "—"
    where = found.partition or EVERYTHING
    return where if found.bucket is None else f"{where}, bucket {found.bucket}"


def small_value(found: Health) -> str:
    return f"{units.count(found.small_files)} of {units.count(found.files)}"


def small_rule(found: Health) -> str:
    return (
        f"below {units.size(found.small.below_bytes)}: {found.small.ratio:g} of the target size, "
        f"{units.size(found.small.target_bytes)}"
    )


def per_place_value(found: Health) -> str:
    if found.median_files is None or found.fullest is None:
        return "—"
    return f"{units.count(found.fullest.amount)} at most"


def per_place_rule(found: Health) -> str:
    return (
        "—"
        if found.median_files is None
        else f"{found.median_files:,.4g} in the median; most in {place(found.fullest)}"
    )


def skew_value(found: Health) -> str:
    return "—" if found.skew is None else f"{found.skew:,.2f} ×"


def skew_rule(found: Health) -> str:
    largest = found.largest.amount if found.largest else None
    median = None if found.median_bytes is None else round(found.median_bytes)
    return f"{place(found.largest)} with {units.size(largest)}, against {units.size(median)} in the median one"


def runs_value(found: Health) -> str:
    return "—" if found.runs is None else f"{units.count(found.runs.amount)} at most"


def runs_rule(found: Health) -> str:
    return (
        f"{place(found.runs)}; a compaction is due at {units.count(found.trigger)}. "
        f"{units.plural(found.level0 or 0, 'file')} at level 0"
    )


def deletes_value(found: Health) -> str:
    if found.delete_rows is None:
        return NOT_WRITTEN
    return "—" if found.delete_ratio is None else f"{found.delete_ratio:.1%}"


def deletes_rule(found: Health) -> str:
    told = "not every file tells" if found.delete_rows is None else units.plural(found.delete_rows, "row")
    equality = f", and {units.plural(found.equality_deletes, 'equality delete')}" if found.equality_deletes else ""
    return f"{told} that take rows away{equality}, for {units.plural(found.rows, 'row')} in files"


# how figures are computed

_MANIFESTS = "The manifests that the point's snapshot, tag or branch names. No data file is opened."
HOW_MAP = Rule(
    "Map",
    "Data files live at the point, by partition and bucket.",
    _MANIFESTS,
    "Every area is the sum of the bytes below it. The smallest are taken together as others; the table has each.",
    "Bytes, shown in decimal units: 1 kB is 1,000 bytes. The exact figure stands on hover.",
)
HOW_LIFE = Rule(
    "A file's life",
    "Snapshots, tags, branches and changelogs that name the file, each stretch without a gap.",
    "The manifests of every point of every branch.",
    "Born: the first commit of the line that has it live; removed: the first after the last. The last holder by the "
    "table's own options and times decides when it may go; no date is told where that hangs on commits yet to come.",
    "Points; times are of commits.",
)
HOW_COLUMNS = Rule(
    "Columns",
    "Least and greatest value and nulls of each column over the files chosen.",
    "Statistics in manifests (Paimon: _VALUE_STATS and _KEY_STATS; Iceberg: lower_bounds, upper_bounds, "
    "null_value_counts).",
    "Decoded by the schema a file was written with, matched by column id. What is not written is told as such, never "
    "as 0. Texts may be cut at 16 characters, or where the table's option says, if shorter.",
    "Values as the column has them; rows.",
)
HOW_HEALTH = Rule(
    "Health",
    "Data files live at the point.",
    f"{_MANIFESTS} The point's own options.",
    "Small: what a compaction of the engine takes (Paimon: target-file-size times compaction.small-file-ratio; "
    "Iceberg: write.target-file-size-bytes times 0.75). Skew: the largest bucket against the median one. Sorted runs: "
    "each file of level 0 and each other level of a bucket. Deleted rows: retractions and deletion vectors "
    "(Iceberg: position deletes), for each row in files.",
    "Files, bytes, rows.",
)


def health_compact_by(engine: str) -> str:
    return f"{engine}'s own engine makes few large files of many small ones:"
