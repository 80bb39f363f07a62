"""Diff: files, rows, schema and commits between two points; columns of long tables."""

from __future__ import annotations

from collections.abc import Mapping

from core.model.row_diff import RowDiff
from dashboard.formatting import units
from dashboard.words.retention import GOES

DIFF_TEACH = "Click two points: the first is A (before), the second is B (after)."
DIFF_PICK_A = "Click the first point, A, on the timeline, or choose it below."
DIFF_PICK_B = "Now click the second point, B."
POINT_A = "A (before)"
POINT_B = "B (after)"
SWAP = "⇄"
SWAP_HELP = "Swap: exchange A and B: what was added becomes removed."
HIDE_COMPACTION = "Hide compaction"
HIDE_COMPACTION_HELP = "Files that only rewrite rows already there are told apart from real change."
BY_PARTITION = "By partition and bucket"
FILES = "Files"
SCHEMA_OPTIONS = "Schema, options, statistics"
COMMITS = "Commits between"
SAME_POINT = "A and B name the same content: there is no difference."
NO_FILE_CHANGE = "No data file differs between A and B."
ONLY_COMPACTION = "Only compaction happened: files were rewritten, no row was added or removed."
ALL_COMPACTED = (
    "Every file that differs came or went by compaction. Rows written between A and B are inside of such files: Row "
    "changes tells which."
)
NO_SCHEMA_CHANGE = "Columns, options and statistics are the same at both points."
NET = "Net"
ROWS_NOUN = "rows"
ROW = "row"
FILE = "file"
NONE_OF: Mapping[str, str] = {"added": "no file added", "removed": "no file removed"}
WHOLE_TABLE = "(whole table)"
PARTITIONS = "partitions"
TREE_HEADS = ("Partition and bucket", "Files", "Added", "Rows", "Files", "Removed", "Rows")
TREE_COLUMNS: Mapping[str, str] = {
    "partition": "Partition",
    "bucket": "Bucket",
    "added_files": "Files added",
    "added_bytes": "Bytes added",
    "added_rows": "Rows added",
    "removed_files": "Files removed",
    "removed_bytes": "Bytes removed",
    "removed_rows": "Rows removed",
}
DIFF_AS_TABLE = "The same as a table"
CHOOSE_A_FILE = "Choose a file to see who brought it, who took it away, and what still keeps it."
SIDES: Mapping[str, str] = {"added": "+ added", "removed": "− removed"}
CHANGES: Mapping[str, str] = {"data": "data", "compaction": "compaction", "deletes": "deletes changed"}


def bucket(number: int | None) -> str:
    if number is None:
        return "—"
    return str(number) if number >= 0 else "postpone"


def compaction_stat(before: int, after: int, before_bytes: int, after_bytes: int, carried: int) -> str:
    text = (
        f"compaction {units.count(before)} → {units.plural(after, 'file')}, "
        f"{units.size(before_bytes)} → {units.size(after_bytes)}"
    )
    return text + (f", {units.signed_plural(carried, ROW)} inside" if carried else "")


def hidden_rows(carried: int) -> str:
    return (
        f"The hidden compaction files hold {units.signed_plural(carried, ROW)} that were written between A and B and "
        "compacted before B. Show compaction to see every row."
    )


def capped_tables(shown: int, total: int) -> str:
    return f"The first {shown} of {units.count(total)} tables are shown. Search to find the others."


def capped(shown: int, total: int, what: str) -> str:
    return f"The first {units.count(shown)} of {units.count(total)} {what} are shown; the download has all."


ROW_CHANGES = "Row changes"
COMPARE_ROWS = "Compare rows"
COMPARE_ROWS_HELP = (
    "Through Spark, by primary key where there is one, else whole rows. Files that both points hold alike are not read."
)
COMPARING_CANCELLED = "The comparison was cancelled."
NO_ROW_CHANGE = "No row differs between A and B."
ROW_CHANGES_NAME = "row-changes"
ROW_SIDES: Mapping[str, str] = {"added": SIDES["added"], "removed": SIDES["removed"], "changed": "± changed"}
TIMES = "Times"
NULL = "null"


def row_count(count: int, side: str) -> str:
    return f"{units.count(count)} {side}"


def rows_unchanged(count: int) -> str:
    return f"{units.count(count)} unchanged"


def became(before: str, after: str) -> str:
    return f"{before} → {after}"


def rows_note(found: RowDiff) -> str:
    read = f"read {units.count(found.files_read)} of {units.plural(found.files_live, 'file')}"
    return f"From {found.a.point} to {found.b.point}: {read} in {found.seconds:.1f} s by {found.engine}."


def rows_capped(shown: int) -> str:
    return f"The first {units.plural(shown, 'row')} that differ are shown, in order; the totals above count all."


def sentence(text: str) -> str:
    return f"{text}."


BACKWARDS = "B is older than A: added means what A lacks and B had. Swap to read it forwards in time."

COMMIT_COLUMNS: Mapping[str, str] = {
    "snapshot": "Snapshot",
    "kind": "Commit",
    "committed": "Committed",
    "ago": "How long ago",
    "delta": "Rows",
    "user": "Commit user",
}
COMMITS_NOUN = "commits"
SETTING_OF = "Of"
SETTING = "What changed"
SETTING_COLUMN = "column"
SETTING_OPTION = "option"
SETTING_STATISTICS = "statistics"
NOT_COUNTED = "not counted"
CHANGES_NOUN = "changes"
ROW_KINDS_SHOWN = "Kinds of change shown"
ROW_KINDS_HELP = "Only rows of these kinds; all where none is chosen."
NO_ROW_OF_KIND = "None of the rows shown is of this kind. The totals above count all."
NO_COMMITS_BETWEEN = "No retained snapshot lies between A and B on one branch."
FILES_NOUN = "files"
POINTS_NOUN = "points"
CHANGE_HELP = "Compaction: a COMPACT commit brought it, or took it away while its rows live on elsewhere."
BYTES_HELP = "Rounded; click a cell for the exact number of bytes."
COLUMN: Mapping[str, str] = {
    "side": "Side",
    "path": "File",
    "partition": "Partition",
    "bucket": "Bucket",
    "bytes": "Size",
    "rows": "Rows",
    "level": "Level",
    "change": "Because of",
    "point": "Point",
    "verdict": "Verdict",
    "reasons": "Why",
    "committed": "Committed",
    "kind": "Kind",
    "tag": "Tag",
    "snapshot": "Snapshot",
    "standing": "Standing",
    "expires": "Expires",
}


def life_of(name: str) -> str:
    return f"Life of {name}"


# Cells of long tables that are written in the hue of their meaning.
HUES: Mapping[str, str] = {
    GOES: "freed",
    SIDES["added"]: "added",
    SIDES["removed"]: "removed",
    CHANGES["compaction"]: "compaction",
}
