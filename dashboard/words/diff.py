"""Diff: files, rows, schema and commits between two versions; table columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.analysis.diff import spelled
from core.analysis.schema_history import ChangeKind, ColumnChange
from core.model.references import Field
from core.model.row_diff import RowDiff
from dashboard.formatting import units
from dashboard.formatting.language import N_, _, ngettext
from dashboard.words.query import engine
from dashboard.words.retention import EXPIRES, GOES

DIFF_TEACH = N_("Click two snapshots or tags: the first is A (before), the second is B (after).")
DIFF_PICK_A = N_("Click version A on the timeline, or choose it below. B is the version at the top of the page.")
DIFF_PICK_B = N_("B is the latest snapshot. Click another one, or choose it at the top of the page.")
POINT_A = N_("A (before)")
POINT_B = N_("B (after)")
SWAP = "⇄"
SWAP_HELP = N_("Swap A and B: added becomes removed.")
HIDE_COMPACTION = N_("Hide compaction")
HIDE_COMPACTION_HELP = N_("Files that only rewrite existing rows are shown apart from real changes.")
BY_PARTITION = N_("By partition and bucket")
FILES = N_("Files")
SCHEMA_OPTIONS = N_("Schema, options, statistics")
COMMITS = N_("Commits between")
SAME_POINT = N_("A and B have the same content: there is no difference.")
NO_FILE_CHANGE = N_("The data files of A and B are the same.")
ONLY_COMPACTION = N_("Only compaction: files were rewritten, no rows were added or removed.")
ALL_COMPACTED = N_(
    "Every file that differs was added or removed by compaction. Rows written between A and "
    "B are inside these files: see Row changes."
)
NO_SCHEMA_CHANGE = N_("Columns, options and statistics are the same in both versions.")
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
DIFF_AS_TABLE = N_("As a table")
CHOOSE_A_FILE = N_("Choose a file to see which commit added it, which removed it, and what still keeps it.")
SIDES: Mapping[str, str] = {"added": N_("+ added"), "removed": N_("− removed")}
CHANGES: Mapping[str, str] = {"data": N_("data"), "compaction": N_("compaction"), "deletes": N_("deletes changed")}


def bucket(number: int | None) -> str:
    if number is None:
        return "—"
    return str(number) if number >= 0 else _("postpone")


def compaction_stat(before: int, after: int, before_bytes: int, after_bytes: int, rows: int) -> str:
    text = _(
        "compaction {before} → {files}, {before_size} → {after_size}",
        before=units.count(before),
        files=units.plural(after, "file"),
        before_size=units.size(before_bytes),
        after_size=units.size(after_bytes),
    )
    return text + (_(", {rows} inside", rows=units.signed_plural(rows, "row")) if rows else "")


def hidden_rows(rows: int) -> str:
    return _(
        "The hidden compaction files contain {carried} that were written between A and B and "
        "compacted before B. Show compaction to see all rows.",
        carried=units.signed_plural(rows, "row"),
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
DIFF_PARTS: Mapping[str, str] = {
    "partitions": BY_PARTITION,
    "files": FILES,
    "rows": ROW_CHANGES,
    "schema": SCHEMA_OPTIONS,
    "commits": COMMITS,
}
QUERY_BOTH = N_("Run one SQL statement at A and B")
COMPARE_ROWS = N_("Compare rows")
COMPARE_ROWS_HELP = N_(
    "Uses Spark: compares by primary key if there is one, otherwise whole rows. Files that "
    "both versions share are not read."
)
COMPARING_CANCELLED = N_("The comparison was cancelled.")
ROW_CHANGES_NAME = "row-changes"
ROW_SIDES: Mapping[str, str] = {"added": SIDES["added"], "removed": SIDES["removed"], "changed": N_("± changed")}
ROW_COUNTS: Mapping[str, str] = {
    "added": N_("{count} added"),
    "removed": N_("{count} removed"),
    "changed": N_("{count} changed"),
}
TIMES = N_("Occurrences")
NULL = "null"


def row_count(count: int, side: str) -> str:
    return _(ROW_COUNTS[side], count=units.count(count))


def rows_unchanged(count: int) -> str:
    return _("{count} unchanged", count=units.count(count))


def value_change(before: str, after: str) -> str:
    return f"{before} → {after}"


def rows_note(found: RowDiff) -> str:
    return _(
        "From {a} to {b}: read {read} of {files} in {seconds:.1f} s by {engine}.",
        a=found.a.point,
        b=found.b.point,
        read=units.count(found.files_read),
        files=units.plural(found.files_live, "file"),
        seconds=found.seconds,
        engine=engine(found.engine),
    )


def no_row_change(found: RowDiff) -> str:
    if found.not_compared:
        return _("A and B have the same rows in the compared columns.")
    return _("A and B have the same rows.")


def rows_capped(shown: int) -> str:
    return ngettext(
        "The first {count} row that differs is shown; the totals above count all rows.",
        "The first {count} rows that differ are shown, in order; the totals above count all rows.",
        shown,
    )


def sentence(text: str) -> str:
    return _("{text}.", text=text)


BACKWARDS = N_("B is older than A: “added” means rows or files that only B has. Swap to compare forward in time.")

COMMIT_COLUMNS: Mapping[str, str] = {
    "snapshot": N_("Snapshot"),
    "kind": N_("Commit"),
    "committed": N_("Committed"),
    "ago": N_("Age"),
    "delta": N_("Rows"),
    "user": N_("Commit user"),
}
COMMITS_NOUN = N_("commits")
SETTING_OF = N_("Type")
SETTING = N_("What changed")
SETTING_COLUMN = N_("column")
SETTING_OPTION = N_("option")
SETTING_STATISTICS = N_("statistics")
NOT_COUNTED = N_("not counted")
CHANGES_NOUN = N_("changes")
ROW_KINDS_SHOWN = N_("Row changes to show")
ROW_KINDS_HELP = N_("Shows only rows of these kinds; all if none is chosen.")
NO_ROW_OF_KIND = N_("None of the rows shown is of this kind. The totals above count all rows.")
NO_COMMITS_BETWEEN = N_("No retained snapshots between A and B on one branch.")
FILES_NOUN = N_("files", context="counted")
POINTS_NOUN = N_("snapshots and tags", context="counted")
CHANGE_HELP = N_("Compaction: a COMPACT commit added the file, or removed it while its rows are kept in other files.")
BYTES_HELP = N_("Rounded; click a cell for the exact number of bytes.")
COLUMN: Mapping[str, str] = {
    "side": N_("Side"),
    "path": N_("File"),
    "partition": N_("Partition"),
    "bucket": N_("Bucket"),
    "bytes": N_("Size"),
    "rows": N_("Rows"),
    "level": N_("Level"),
    "change": N_("Reason"),
    "point": N_("Snapshot or tag"),
    "verdict": N_("Decision"),
    "reasons": N_("Why"),
    "committed": N_("Committed"),
    "kind": N_("Kind"),
    "tag": N_("Tag"),
    "snapshot": N_("Snapshot"),
    "standing": N_("Status"),
    "expires": N_("Expires at"),
}


def life_of(name: str) -> str:
    return _("File history of {name}", name=name)


# columns across schemas

COLUMN_NAME = N_("Column")
MOVED = N_("Order of columns")
MISSING_SCHEMAS = N_("Schemas not there")
NO_SCHEMA_HISTORY = N_("All schemas that are there have the same columns.")
CHANGE_HUES: Mapping[str, str] = {
    **dict.fromkeys(ChangeKind, "changed"),
    ChangeKind.ADDED: "added",
    ChangeKind.DROPPED: "removed",
    ChangeKind.COMMENT: "compaction",
}
SCHEMA_HISTORY = N_("Schema history")


def schema_history(changes: int) -> str:
    """Name the closed panel."""
    return _("Schema history: {changes}", changes=ngettext("{count} change", "{count} changes", changes))


def columns_changed(times: int) -> str:
    return ngettext("{count} change of columns", "{count} changes of columns", times)


def schemas(ids: Sequence[int]) -> str:
    """Name schemas by their ids: `Schema 5–6`."""
    shown = str(ids[0]) if len(ids) == 1 else f"{ids[0]}–{ids[-1]}"
    return _("Schema {ids}", ids=shown)


def schema_since(when: str, *, is_made: bool) -> str:
    return _("made at {when}", when=when) if is_made else _("first snapshot committed at {when}", when=when)


def seen_by(letters: str) -> str:
    return _("seen by {letters}", letters=", ".join(letters))


def current(snapshots: str) -> str:
    return _("{snapshots}, current", snapshots=snapshots)


def field_id(id: int) -> str:
    return _("id {id}", id=id)


def type_of(column: Field) -> str:
    return spelled(column.type)


def schema_change(of: ColumnChange) -> str:
    match of.kind:
        case ChangeKind.ADDED:
            return f"+ {of.after}"
        case ChangeKind.DROPPED:
            return _("− dropped")
        case ChangeKind.REQUIRED:
            return "NOT NULL"
        case ChangeKind.OPTIONAL:
            return _("NULL allowed")
        case ChangeKind.DEFAULT:
            return _("default {value}", value=of.after or "NULL")
        case ChangeKind.COMMENT:
            return _("comment")
        case _:
            return f"{of.before} → {of.after}"


def missing_schemas(ids: Sequence[int]) -> str:
    listed = ", ".join(map(str, ids[:8])) + (" …" if len(ids) > 8 else "")
    return _("{ids} cannot be read or were removed: what changed here may be theirs.", ids=listed)


def newest_schemas(shown: int, total: int) -> str:
    return _(
        "The newest {shown} of {total} versions of the columns are shown; the list below has all.",
        shown=shown,
        total=units.count(total),
    )


# table cells that are coloured by meaning
HUES: Mapping[str, str] = {
    GOES: "freed",
    EXPIRES: "freed",
    SIDES["added"]: "added",
    SIDES["removed"]: "removed",
    CHANGES["compaction"]: "compaction",
}


def hue(cell: str) -> str | None:
    """Return the hue of a cell by its text, which is in the reader's language."""
    return next((name for text, name in HUES.items() if _(text) == cell), None)
