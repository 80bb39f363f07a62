"""Diff: files, rows, schema and commits between two points; columns of long tables."""

from __future__ import annotations

from collections.abc import Mapping

from core.model.row_diff import RowDiff
from dashboard.formatting import units
from dashboard.formatting.language import N_, _, ngettext
from dashboard.words.retention import GOES

DIFF_TEACH = N_("Click two points: the first is A (before), the second is B (after).")
DIFF_PICK_A = N_("Click the first point, A, on the timeline, or choose it below.")
DIFF_PICK_B = N_("Now click the second point, B.")
POINT_A = N_("A (before)")
POINT_B = N_("B (after)")
SWAP = "⇄"
SWAP_HELP = N_("Swap: exchange A and B: what was added becomes removed.")
HIDE_COMPACTION = N_("Hide compaction")
HIDE_COMPACTION_HELP = N_("Files that only rewrite rows already there are told apart from real change.")
BY_PARTITION = N_("By partition and bucket")
FILES = N_("Files")
SCHEMA_OPTIONS = N_("Schema, options, statistics")
COMMITS = N_("Commits between")
SAME_POINT = N_("A and B name the same content: there is no difference.")
NO_FILE_CHANGE = N_("No data file differs between A and B.")
ONLY_COMPACTION = N_("Only compaction happened: files were rewritten, no row was added or removed.")
ALL_COMPACTED = N_(
    "Every file that differs came or went by compaction. Rows written between A and B are inside of "
    "such files: Row changes tells which."
)
NO_SCHEMA_CHANGE = N_("Columns, options and statistics are the same at both points.")
NET = N_("Net")
ROWS_NOUN = N_("rows")
NONE_OF: Mapping[str, str] = {"added": N_("no file added"), "removed": N_("no file removed")}
WHOLE_TABLE = N_("(whole table)")
PARTITIONS = N_("partitions", context="counted")
TREE_HEADS = (N_("Partition and bucket"), N_("Files"), N_("Added"), N_("Rows"), N_("Files"), N_("Removed"), N_("Rows"))
TREE_COLUMNS: Mapping[str, str] = {
    "partition": N_("Partition"),
    "bucket": N_("Bucket"),
    "added_files": N_("Files added"),
    "added_bytes": N_("Bytes added"),
    "added_rows": N_("Rows added"),
    "removed_files": N_("Files removed"),
    "removed_bytes": N_("Bytes removed"),
    "removed_rows": N_("Rows removed"),
}
DIFF_AS_TABLE = N_("The same as a table")
CHOOSE_A_FILE = N_("Choose a file to see who brought it, who took it away, and what still keeps it.")
SIDES: Mapping[str, str] = {"added": N_("+ added"), "removed": N_("− removed")}
CHANGES: Mapping[str, str] = {"data": N_("data"), "compaction": N_("compaction"), "deletes": N_("deletes changed")}


def bucket(number: int | None) -> str:
    if number is None:
        return "—"
    return str(number) if number >= 0 else _("postpone")


def compaction_stat(before: int, after: int, before_bytes: int, after_bytes: int, carried: int) -> str:
    text = _(
        "compaction {before} → {files}, {before_size} → {after_size}",
        before=units.count(before),
        files=units.plural(after, "file"),
        before_size=units.size(before_bytes),
        after_size=units.size(after_bytes),
    )
    return text + (_(", {rows} inside", rows=units.signed_plural(carried, "row")) if carried else "")


def hidden_rows(carried: int) -> str:
    return _(
        "The hidden compaction files hold {carried} that were written between A and B and compacted "
        "before B. Show compaction to see every row.",
        carried=units.signed_plural(carried, "row"),
    )


def capped_tables(shown: int, total: int) -> str:
    return _(
        "The first {shown} of {total} tables are shown. Search to find the others.",
        shown=shown,
        total=units.count(total),
    )


def capped(shown: int, total: int, what: str) -> str:
    return _(
        "The first {shown} of {total} {what} are shown; the download has all.",
        shown=units.count(shown),
        total=units.count(total),
        what=what,
    )


ROW_CHANGES = N_("Row changes")
COMPARE_ROWS = N_("Compare rows")
COMPARE_ROWS_HELP = N_(
    "Through Spark, by primary key where there is one, else whole rows. Files that both points hold alike are not read."
)
COMPARING_CANCELLED = N_("The comparison was cancelled.")
NO_ROW_CHANGE = N_("No row differs between A and B.")
ROW_CHANGES_NAME = "row-changes"
ROW_SIDES: Mapping[str, str] = {"added": SIDES["added"], "removed": SIDES["removed"], "changed": N_("± changed")}
TIMES = N_("Times")
NULL = "null"


def row_count(count: int, side: str) -> str:
    return f"{units.count(count)} {side}"


def rows_unchanged(count: int) -> str:
    return _("{count} unchanged", count=units.count(count))


def became(before: str, after: str) -> str:
    return f"{before} → {after}"


def rows_note(found: RowDiff) -> str:
    return _(
        "From {a} to {b}: read {read} of {files} in {seconds:.1f} s by {engine}.",
        a=found.a.point,
        b=found.b.point,
        read=units.count(found.files_read),
        files=units.plural(found.files_live, "file"),
        seconds=found.seconds,
        engine=found.engine,
    )


def rows_capped(shown: int) -> str:
    return ngettext(
        "The first {count} row that differs is shown; the totals above count all.",
        "The first {count} rows that differ are shown, in order; the totals above count all.",
        shown,
    )


def sentence(text: str) -> str:
    return _("{text}.", text=text)


BACKWARDS = N_("B is older than A: added means what A lacks and B had. Swap to read it forwards in time.")

COMMIT_COLUMNS: Mapping[str, str] = {
    "snapshot": N_("Snapshot"),
    "kind": N_("Commit"),
    "committed": N_("Committed"),
    "ago": N_("How long ago"),
    "delta": N_("Rows"),
    "user": N_("Commit user"),
}
COMMITS_NOUN = N_("commits")
SETTING_OF = N_("Of")
SETTING = N_("What changed")
SETTING_COLUMN = N_("column")
SETTING_OPTION = N_("option")
SETTING_STATISTICS = N_("statistics")
NOT_COUNTED = N_("not counted")
CHANGES_NOUN = N_("changes")
ROW_KINDS_SHOWN = N_("Kinds of change shown")
ROW_KINDS_HELP = N_("Only rows of these kinds; all where none is chosen.")
NO_ROW_OF_KIND = N_("None of the rows shown is of this kind. The totals above count all.")
NO_COMMITS_BETWEEN = N_("No retained snapshot lies between A and B on one branch.")
FILES_NOUN = N_("files", context="counted")
POINTS_NOUN = N_("points", context="counted")
CHANGE_HELP = N_("Compaction: a COMPACT commit brought it, or took it away while its rows live on elsewhere.")
BYTES_HELP = N_("Rounded; click a cell for the exact number of bytes.")
COLUMN: Mapping[str, str] = {
    "side": N_("Side"),
    "path": N_("File"),
    "partition": N_("Partition"),
    "bucket": N_("Bucket"),
    "bytes": N_("Size"),
    "rows": N_("Rows"),
    "level": N_("Level"),
    "change": N_("Because of"),
    "point": N_("Point"),
    "verdict": N_("Verdict"),
    "reasons": N_("Why"),
    "committed": N_("Committed"),
    "kind": N_("Kind"),
    "tag": N_("Tag"),
    "snapshot": N_("Snapshot"),
    "standing": N_("Standing"),
    "expires": N_("Expires"),
}


def life_of(name: str) -> str:
    return _("Life of {name}", name=name)


# Cells of long tables that are written in the hue of their meaning.
HUES: Mapping[str, str] = {
    GOES: "freed",
    SIDES["added"]: "added",
    SIDES["removed"]: "removed",
    CHANGES["compaction"]: "compaction",
}
