"""Every word the dashboard shows. Pages hold no sentences of their own.

Law: a sentence names the thing, the number with its unit, and where it helps the next step. Text that others wrote
(names of tables, tags, users) goes through `html.escape` before it enters a chart's hover text.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from core.model import MAIN, Tag
from dashboard.present import units
from dashboard.present.axis import MAX_POINTS, Dot, Flag

PRODUCT = "Snapscope"
TAGLINE = "What did this table look like then, what changed, what do I lose if I clean up?"

if TYPE_CHECKING:
    from core.asof import AsOf
    from core.journal import Run
    from core.spark.query import QueryAnswer
    from core.spark.rowdiff import RowDiff
    from core.sweep import Receipt

# pages ---------------------------------------------------------------------------------------------------------------

PAGES: Mapping[str, tuple[str, str]] = {
    "overview": ("Overview", ":material/home:"),
    "timeline": ("Timeline", ":material/timeline:"),
    "asof": ("As of", ":material/history:"),
    "diff": ("Diff", ":material/compare_arrows:"),
    "retention": ("Retention", ":material/auto_delete:"),
    "tags": ("Tags", ":material/bookmark:"),
    "query": ("Query", ":material/terminal:"),
    "audit": ("Audit", ":material/fact_check:"),
}

# frame ---------------------------------------------------------------------------------------------------------------

WAREHOUSE = "Warehouse"
WAREHOUSE_HELP = "A warehouse, a database directory or one table: a path or any fsspec URL (s3://, oss://, gs:// …)."
WAREHOUSE_HINT = "/data/warehouse or s3://bucket/warehouse"
TABLE = "Table"
REFRESH = "Refresh"
REFRESH_HELP = "Read the clock again. Relative times and age rules are counted from the moment shown here."
ZONE = "Time zone"
ZONE_HELP = "Every time on every page is shown in this zone. The command line always takes and prints UTC."
READ_ONLY = "Read-only"
READ_ONLY_HELP = (
    "This server was started for reading: each page shows the plan and the exact command. "
    "`snapscope serve WAREHOUSE --write` starts one that carries plans out."
)
WRITABLE = "Allow changes"
WRITABLE_HELP = (
    "Off: every page only shows what a change would do. On: a plan can be carried out after it was confirmed. "
    "It counts for this warehouse and this browser tab alone. On from the start only in a demo warehouse."
)
PICK_TABLE = "Pick a table"


def more_lines(number: int) -> str:
    return f"{number} more"


# points

LATEST = "latest: the newest snapshot"
EARLIEST = "earliest: the oldest retained snapshot"
POINT_PLACEHOLDER = "Choose a point, or type one"
POINT_HELP = (
    "A snapshot id, tag:NAME, branch:NAME, branch:NAME/12, time:2026-11-01T00:00:00Z, watermark:N, latest, earliest or "
    "latest~3. A bare time such as 2026-11-01 08:00 is read in the zone shown on the left."
)


NO_WAREHOUSE = "No warehouse is open."
NO_WAREHOUSE_NEXT = (
    "Type its path or URL on the left, or start with one: `snapscope serve WAREHOUSE`. "
    "To try it on made-up data: `snapscope demo DIR`, then `snapscope serve DIR`."
)
EMPTY_WAREHOUSE = "This warehouse has no tables yet."
EMPTY_WAREHOUSE_NEXT = (
    "A table is a directory `<database>.db/<table>` that holds `schema/schema-<N>`. Check the location on the left, "
    "or make tables to play with: `snapscope demo DIR`."
)


def now_line(now_ms: int, zone: str) -> str:
    return f"As of {units.moment(now_ms, zone)}"


def table_summary(snapshots: int, tags: int, branches: int, last_ms: int | None, now_ms: int, zone: str) -> str:
    parts = [units.plural(snapshots, "snapshot")]
    if tags:
        parts.append(units.plural(tags, "tag"))
    if branches:
        parts.append(units.plural(branches, "branch", "branches"))
    if last_ms is not None:
        parts.append(f"last commit {units.moment(last_ms, zone)} ({units.ago(last_ms, now_ms)})")
    return " · ".join(parts)


# errors --------------------------------------------------------------------------------------------------------------

ERROR_TITLES: Mapping[str, str] = {
    "NotFound": "Not found",
    "Invalid": "That cannot be asked",
    "Conflict": "The table has changed",
    "Corrupt": "A file cannot be read",
    "Unsupported": "Not supported here",
}
ERROR_FILE = "File"
ERROR_WORKS: Mapping[str, str] = {
    "NotFound": "Everything else on this table and all other tables can be used as before.",
    "Invalid": "Nothing was changed. Change the request and ask again.",
    "Conflict": "Nothing more was changed. Look at the new state and confirm again.",
    "Corrupt": "Points that do not need this file can still be opened; totals that do are shown as lower bounds.",
    "Unsupported": "History, files, differences and plans of this table can still be read.",
}
ERROR_NEXT: Mapping[str, str] = {
    "NotFound": "Pick another one.",
    "Invalid": "Correct the request.",
    "Conflict": "Press Refresh.",
    "Corrupt": "Restore the file from a copy, or drop the points that need it by name.",
    "Unsupported": "Use the table's own engine for this.",
}
UNEXPECTED = "Snapscope itself failed"
NEXT_STEP = "What to do"
STILL_WORKS = "What still works"


def unexpected(kind: str, reference: str) -> str:
    return (
        f"An error that was not foreseen ({kind}) stopped this page. Nothing was changed. "
        f"The server's log has the details under reference {reference}."
    )


def moved(table: str) -> str:
    return f"The table {table} is no longer here: it was moved or deleted since it was listed."


MOVED_NEXT = "Press Refresh to list the warehouse again, or pick another table."
READ_AGAIN = "Read again"
STOPPED = "Reading was stopped."
CANCEL = "Cancel"


def reading(done: int, total: int) -> str:
    return f"Read {units.count(done)} of {units.plural(total, 'manifest')}"


# notices: one line per thing worth knowing about a table -------------------------------------------------------------


def no_snapshots(table: str) -> str:
    return f"{table} has no snapshots yet: nothing was ever committed to it."


NO_SNAPSHOTS_NEXT = (
    "History starts with the first commit. Write to the table with any Paimon engine, then press Refresh."
)


def one_snapshot(number: str) -> str:
    return f"Snapshot {number} is the only one: there is nothing to compare it with until the next commit."


def held_by_tags(tags: Sequence[str], snapshots: Sequence[int]) -> str:
    which = ", ".join(str(number) for number in snapshots[:5]) + (" …" if len(snapshots) > 5 else "")
    if len(snapshots) == 1:
        names = _names(tags)
        return (
            f"Snapshot {which} has expired and is kept by {'tag' if len(tags) == 1 else 'tags'} {names}: "
            f"it can still be read by {'that name' if len(tags) == 1 else 'those names'}."
        )
    return f"{len(snapshots)} snapshots ({which}) have expired and are kept by {units.plural(len(tags), 'tag')} alone."


def twin_tags(names: Sequence[str], number: int) -> str:
    several = "both" if len(names) == 2 else "all"
    return (
        f"Tags {_names(names)} keep the same snapshot {number}: deleting one of them frees nothing, "
        f"deleting {several} may."
    )


def gap(first: int, last: int) -> str:
    what = f"Snapshot {first} is" if first == last else f"Snapshots {first} to {last} are"
    return (
        f"{what} missing between {first - 1} and {last + 1}: Paimon's time travel fails across this gap and its "
        f"expiry may free files that are still needed."
    )


def on_branch(branch: str) -> str:
    return f" (branch {branch})"


def many_snapshots(number: int) -> str:
    return (
        f"{units.count(number)} snapshots are more than {units.count(MAX_POINTS)} points: the timeline shows how many "
        "commits each stretch of time holds. Click a bar to look inside."
    )


def lower_bound(problems: int) -> str:
    return f"{units.plural(problems, 'file')} could not be read, so totals marked ≥ are lower bounds."


def _names(names: Sequence[str], most: int = 6) -> str:
    shown = list(names[:most])
    if len(names) > most:
        return ", ".join(shown) + f" and {len(names) - most} more"
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + f" and {shown[-1]}"


# timeline ------------------------------------------------------------------------------------------------------------

_KINDS = {
    "APPEND": "Append",
    "OVERWRITE": "Overwrite",
    "COMPACT": "Compaction",
    "ANALYZE": "Statistics only",
    "replace": "Rewrite",
}


def commit_kind(kind: str) -> str:
    return _KINDS.get(kind, kind.capitalize())


def lane(branch: str, held: bool) -> str:
    return "kept by tags" if held else escape(branch if len(branch) <= 14 else branch[:13] + "…")


LEGEND_HELD = "Expired, kept by a tag"
LEGEND_TAG = "Tag"
LEGEND_BRANCH = "Branch"
LEGEND_CONSUMER = "Consumer reads on here"
LEGEND_SCHEMA = "Schema changed"
LEGEND_DUE = {"paimon": "Goes with the next commit of a writer", "iceberg": "Goes with the next expiry"}
SCHEMA_LETTER = "S"


TREND_ROWS = "Rows"
TREND_FILES = "Files"
TREND_BYTES = "Bytes"


def axis_time(zone: str) -> str:
    return f"Commit time, {zone}"


def plain(text: str) -> str:
    """Text of others inside a chart."""
    return escape(text)


def dot_hover(dot: Dot, zone: str, held: bool) -> str:
    lines = [f"<b>{escape(dot.point)}</b> {commit_kind(dot.kind)}", units.moment(dot.time_ms, zone)]
    if held:
        lines[0] = f"<b>Snapshot {dot.id}</b> {commit_kind(dot.kind)}, expired"
    if dot.delta_rows is not None and dot.total_rows is not None:
        lines.append(f"{units.signed(dot.delta_rows)} rows → {units.count(dot.total_rows)}")
    if dot.tags:
        lines.append("Tags: " + escape(_names(dot.tags, 4)))
    return "<br>".join(lines)


def window_text(window_ms: tuple[int, int]) -> str:
    """How a stretch of time stands in the address."""
    return f"{window_ms[0]}..{window_ms[1]}"


def bin_hover(kind: str, number: int, total: int, window_ms: tuple[int, int], zone: str) -> str:
    return (
        f"<b>{units.plural(total, 'commit')}</b>, {units.count(number)} {commit_kind(kind).lower()}"
        f"<br>{units.moment(window_ms[0], zone)}<br>to {units.moment(window_ms[1], zone)}<br>Click to look inside"
    )


def cut_hover(branch: str) -> str:
    return f"Branch {escape(branch)} starts here"


def mark_hover(before: int, after: int) -> str:
    return f"Schema {before} → {after}"


def flag_label(flags: Sequence[Flag]) -> str:
    return flags[0].name + (f" +{len(flags) - 1}" if len(flags) > 1 else "")


def flag_hover(flags: Sequence[Flag], zone: str) -> str:
    names = escape(_names([flag.name for flag in flags]))
    return f"<b>{'Tag' if len(flags) == 1 else 'Tags'} {names}</b><br>of {units.moment(flags[0].time_ms, zone)}"


def pin_hover(name: str, next_snapshot: int, ahead: bool) -> str:
    rest = ", which is still to come" if ahead else " and needs all later ones"
    return f"<b>Consumer {escape(name)}</b><br>reads snapshot {next_snapshot} next{rest}"


def trend_hover(point: str, name: str, value: str) -> str:
    return f"<b>{value}</b> {name.lower()} at {escape(point)}"


def trend_template(zone: str) -> str:
    """A template for the chart itself, which knows each mark's time: no text is sent for it."""
    return f"%{{customdata[1]}}<br>%{{x|%Y-%m-%d %H:%M:%S}} {zone}"


TIMELINE_ALT = "Snapshots of this table on a time axis, with tags, branches, consumers and schema changes"
CLICK_A_POINT = "Click a point to see everything its commit says. Drag to zoom, double-click to zoom out."
SHOW_ALL = "Show all"
DENSE = "Each bar counts the commits of one stretch of time. Click one to look inside."


def window(first_ms: int, last_ms: int, shown: int, zone: str) -> str:
    return f"{units.plural(shown, 'snapshot')} from {units.moment(first_ms, zone)} to {units.moment(last_ms, zone)}"


def point_title(found: AsOf) -> str:
    own = found.point.rsplit("/", 1)[-1]
    branch = "" if found.branch == "main" else f" on {found.branch}"
    return f"Snapshot {own}{branch}" if own.isdigit() else f"Tag {own.removeprefix('tag:')}{branch}"


# a point in detail ---------------------------------------------------------------------------------------------------

DETAIL_NONE = "No point is chosen"
DIFF_PREVIOUS = "Diff with previous"
DIFF_LATEST = "Diff with latest"
QUERY_HERE = "Query"
TAG_HERE = "Tag it"
SHOW_ON_TIMELINE = "Show on timeline"
ALL_FIELDS = "Every field of its JSON"
FIELD_NAMES: Mapping[str, str] = {
    "snapshot": "Snapshot",
    "kind": "Commit",
    "committed": "Committed",
    "goes": "Goes",
    "branch": "Branch",
    "standing": "Standing",
    "schema": "Schema",
    "rows": "Rows",
    "files": "Live files",
    "bytes": "Live bytes",
    "watermark": "Watermark",
    "user": "Commit user",
    "tags": "Tags",
    "operation": "Operation",
}


def cannot_be_told(why: str) -> str:
    return f"This cannot be told: {why}"


RETAINED = "Retained snapshot"
EXPIRED_HELD = "Expired, readable by its tag"
UNREADABLE = "cannot be read"
ROWS_HELP = "Rows in live files, before any merge of keys (totalRecordCount of the snapshot file)."


# as of ---------------------------------------------------------------------------------------------------------------

ASOF_INPUT = "Time or point"
ASOF_PLACEHOLDER = (
    "2026-11-01 08:00, time:2026-11-01T00:00:00Z, tag:v1, 12, latest~3, branch:dev, watermark:1700000000000"
)
ASOF_TEACH = (
    "Paste a time from a log, an incident or a report, or name a point. The answer is the snapshot a reader at that "
    "moment saw, why that one, and what lies on both sides of it."
)
ASOF_BEFORE = "Before"
ASOF_THIS = "As of then"
ASOF_AFTER = "After"
ASOF_NOTHING_BEFORE = "Nothing earlier is retained."
ASOF_NOTHING_AFTER = "Nothing newer: this is the latest."
ASOF_RULE = "Why this one"
ASOF_ENGINE = "Paimon's own answer"
ASOF_EXAMPLES = "For example"


def asof_gap(gap_ms: int) -> str:
    if gap_ms == 0:
        return "Committed at exactly the time asked for."
    return f"Committed {units.duration(gap_ms)} before the time asked for."


def asof_engine(engine: int | None, note: str | None, ours: int) -> str:
    if note:
        return note
    what = "nothing" if engine is None else f"snapshot {engine}"
    return f"Paimon's own search answers {what} here, not {ours}."


def read_as(text: str, zone: str) -> str:
    return f"Read as {text}; a time without a zone is taken as {zone}."


ASOF_GAP = "Gap"
ASKED = "asked"

# diff ----------------------------------------------------------------------------------------------------------------

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
SCHEMA_OPTIONS = "Schema and options"
COMMITS = "Commits between"
SAME_POINT = "A and B name the same content: there is no difference."
NO_FILE_CHANGE = "No data file differs between A and B."
ONLY_COMPACTION = "Only compaction happened: files were rewritten, no row was added or removed."
ALL_COMPACTED = (
    "Every file that differs came or went by compaction. Rows written between A and B are inside of such files: Row "
    "changes tells which."
)
NO_SCHEMA_CHANGE = "Columns and options are the same at both points."
NET = "Net"
ROWS_NOUN = "rows"
ROW = "row"
FILE = "file"
NONE_OF: Mapping[str, str] = {"added": "no file added", "removed": "no file removed"}
WHOLE_TABLE = "(whole table)"
PARTITIONS = "partitions"
PARTITION_HEADS = ("Partition", "Bucket", "Files", "Added", "Rows", "Files", "Removed", "Rows")
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

COMMIT_HEADS = ("Snapshot", "Commit", "Committed", "Rows", "Commit user")
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


def capped_newest(shown: int, total: int) -> str:
    return f"The newest {units.count(shown)} of {units.count(total)} commits are shown."


# retention -----------------------------------------------------------------------------------------------------------

RETENTION_TEACH = (
    "Describe what may go. Nothing changes here: first you see exactly which files that frees and why the rest stays."
)
MODE_EXPIRE = "Expire snapshots"
MODE_TAGS = "Delete tags"
MODE_CHANGELOGS = "Expire changelogs"
KEEP_MAX = "Keep at most"
KEEP_MAX_HELP = "Newest snapshots to keep at most (retain-max). Older ones go even if they are young."
KEEP_MIN = "Keep at least"
KEEP_MIN_HELP = "Newest snapshots to keep in any case (retain-min)."
KEEP_LAST_HELP = "Newest snapshots of each branch to keep in any case (retain-last); a branch's own number wins."
REFS_TOO = "Refs to drop too"
REFS_HINT = "Choose tags and branches"
CUTOFF_HELP = (
    "A length such as `7 d` or `36 h`, or a time. Blank: the table's own age, five days where it sets none. "
    "A branch's own age wins."
)
OLDER_THAN = "Only older than"
OLDER_THAN_HELP = (
    "A length such as `7 d` or `36 h`, or a time. Snapshots younger than that stay, unless there are more than "
    "the most to keep."
)
OLDER_THAN_HINT = "7d, 36 h, 2026-11-01"
MAX_DELETES = "At most so many at once"
MAX_DELETES_HELP = "Blank: to the end. The engine itself stops after snapshot.expire.limit (50) per run."
DROP_TOO = "Tags to drop too"
TAGS_OLDER = "Tags made before"
TAGS_OLDER_HELP = (
    "A length such as `90 d` or a time: tags created before go in the same plan. A tag keeps its time of creation only "
    "where it was made with a retention; one without stays, and says so."
)
TAGS_ENDED = "Tags past their time"
TAGS_ENDED_HELP = "Also tags whose own retention has ended, by the wall clock of the machine Snapscope runs on."
CHANGELOG_AGE = "Long-lived changelogs go by a length of time, not before a moment."
CHANGELOG_AGE_NEXT = "Write a whole number and a unit: 7 d, 36 h."
UNSET = "not set"
TAGS_TO_DELETE = "Tags to delete"
BRANCH = "Branch"
PREVIEW_EMPTY_EXPIRE = "Set at least one rule above to see what it would free."
PREVIEW_EMPTY_TAGS = "Choose one or more tags above to see what deleting them would free."
TAGS_FREE_LATER = (
    "Removing an Iceberg tag frees nothing by itself: the Tags page tells what each costs once an expiry has run."
)
NO_TAGS_TO_DELETE = "This table has no tags, so there is none to delete."
MODE = "What may go"
OLDER_THAN_NEXT = (
    "Write a whole number and a unit (7 d, 36 h, 90 min), or a time such as 2026-11-01 or 2026-11-01T08:00."
)
TAGS_TO_DELETE_HINT = "Choose tags"
KEEPS_BELOW = "held by points that stay"
TAGS_KEEP = "Kept by tags alone"
TAGS_KEEP_BELOW = "of what going points held"
GO = "Points that go"
HOW = "How computed"
PLANNED_AT = "Counted from"
PART_FREED = "Would be freed"
PART_TAGS = "Goes from history, kept by tags alone"
PART_STAYS = "Stays"
KIND_HEADS = ("Kind", "Files", "Bytes")
KEPT_BACK_HEADS = ("File", "Why it stayed")
FREES = "Frees"
KEEPS = "Keeps"
VERDICTS = "Verdict per point"
FREED_FILES = "Files that would go"
COMMAND = "The same on the command line"
NOTHING_FREED = "This frees nothing. The reasons per point below say which rule kept everything."
GOES = "✕ goes"
STAYS = "✓ stays"
CARRY_OUT = "Carry out"
WHY_NOT_HERE = (
    "This server was started for reading, so the plan is shown and not carried out. Run the command below, or start "
    "the dashboard with `snapscope serve WAREHOUSE --write`."
)
SWITCHED_OFF = "Changes are switched off: “Allow changes” in the sidebar lets this plan be carried out."
FINGERPRINT = "Plan"
FINGERPRINT_HELP = (
    "The plan is bound to the content of every snapshot, tag, branch and consumer file it was made from. "
    "If a point that goes has changed when it runs, it stops."
)
RULES = "Rules"


def of_points(total: int) -> str:
    return f"of {units.plural(total, 'point')}"


def freed_files(number: int) -> str:
    return f"{FREED_FILES} ({units.count(number)})"


def kept_back(number: int) -> str:
    return f"{units.plural(number, 'file')} kept back"


def applying(done: int, total: int, stage: str) -> str:
    return f"Deleted {units.count(done)} of {units.plural(total, 'file')}" if total else stage


def settling(seconds: float) -> str:
    return f"References are gone; writers get {seconds:g} s to finish before any file is deleted"


CANCELLING = "Cancelling: what is under way ends, then it stops"


def grave(why: Sequence[str]) -> str:
    return f"{'; '.join(why)}.".capitalize()


def type_to_confirm(word: str) -> str:
    return f"Type **{word}** to confirm"


def older_than_unread(text: str) -> str:
    return f"“{text}” is neither a length of time such as 7d nor a time such as 2026-11-01."


# tags ----------------------------------------------------------------------------------------------------------------

NO_TAGS = "Nothing pins history: this table has no tags."


def no_tags_next(horizon_ms: int | None, zone: str) -> str:
    if horizon_ms is None:
        return "A tag keeps a snapshot readable after it expires. Create one below."
    return (
        f"Without one, nothing before {units.moment(horizon_ms, zone)} can be read, and that horizon moves on with "
        "every expiry. A tag keeps a snapshot readable after it expires: create one below."
    )


TAG_NAME = "Name"
TAG_POINT = "Snapshot"
TAG_NAME_HINT = "month-2026-11"
TAG_CREATE_TEACH = "Give it a name to see the plan. A tag deletes nothing."
CREATE = "Create tag"
TAG_RETAINED = "Keep for"
TAG_RETAINED_HELP = "After this time an engine that commits deletes the tag by itself. Blank: never."
TAG_KEPT_HELP = (
    "The tag's own time is filled in, and is counted from its replacement. After it, an engine that commits deletes "
    "the tag by itself. Blank: never."
)
TAG_RETAINED_HINT = "blank: for ever, or 90d"
TAG_CREATE = "Create a tag"
TAG_COST = "Frees now"
TAG_LATER = "After the policy"
TAG_LATER_HELP = (
    "Bytes that deleting this tag would free after every branch's own expiry options have taken what they take at the "
    "moment shown: what the tag really costs in the long run."
)
TAG_VERIFY = "Check every file"
TAG_VERIFY_HELP = (
    "After the tag is made, every data file of its point is looked up; if one is missing the tag is withdrawn."
)
TAG_RENAME_TO = "New name"
TAG_REPLACE_POINT = "Snapshot it names from now on"
TAG_COST_HELP = (
    "Bytes that nothing but this one tag holds. Two tags on one snapshot each free nothing alone, so these numbers do "
    "not add up."
)
TAG_EXPIRES_HELP: Mapping[str, str] = {
    "paimon": "By the clock of whoever created the tag: Paimon writes no zone.",
    "iceberg": "From then on the next expiry drops it, by the age of its snapshot.",
}
NEVER = "never"


def replace_tag(name: str) -> str:
    return f"Let {name} name another snapshot"


def rename_tag(name: str) -> str:
    return f"Rename {name}"


def delete_tag(name: str) -> str:
    return f"Delete {name}: what that frees"


def tag_expires(tag: Tag, zone: str) -> str:
    if tag.ends_ms is not None:
        return units.moment(tag.ends_ms, zone)
    return NEVER if tag.expires is None else units.wall_clock(tag.expires)


def tag_retained(retained: dt.timedelta | None) -> str:
    return "for ever" if retained is None else units.duration(round(retained.total_seconds() * 1_000))


# query ---------------------------------------------------------------------------------------------------------------

SQL = "SQL"
QUERY_POINT = "At"
QUERY_LATEST = "latest"
QUERY_BEFORE = "Compare with"
QUERY_OPTIONAL = "optional: a second point"
ROW_CAP = "Rows at most"
TIMEOUT = "Seconds at most"
HOLD = "Hold the point for an hour"
HOLD_HELP = (
    "Makes a tag of the point before the query runs, so that no expiry takes it away meanwhile. An engine that commits "
    "deletes the tag after the hour. Needs “Allow changes”."
)
RUN = "Run"
RESULT_NAME = "result"
DOWNLOAD_CSV = "Download CSV"
NO_ROWS = "The query ran and returned no rows."
QUERY_CANCELLED = "The query was cancelled."


def sql_help(name: str, *, has_before: bool) -> str:
    text = f"One SELECT. The table as of the chosen point is {name}, or t for short."
    if not has_before:
        return text
    return f"{text} The second point is {name}_before, or t_before; what changed from it to the first is t_changes."


def running(elapsed_s: float, done: int, total: int) -> str:
    seconds = f"Running for {elapsed_s:.0f} s"
    return (
        f"{seconds}: {units.count(done)} of {units.plural(total, 'task')} done"
        if total
        else f"{seconds}: waiting for Spark"
    )


def query_note(answer: QueryAnswer) -> str:
    rows = units.plural(answer.table.num_rows, "row")
    read = f"read {units.count(answer.files_read)} of {units.plural(answer.files_live, 'live file')}"
    points = answer.point.point + (f" and {answer.before.point}" if answer.before else "")
    return f"{rows} as of {points}; {read} in {answer.seconds:.1f} s by {answer.engine}."


def left_out(what: str) -> str:
    return f"Left out: {what}."


def cut_off(shown: int) -> str:
    return f"Only the first {units.plural(shown, 'row')} are here: the query has more. Filter, or raise the cap."


# overview ------------------------------------------------------------------------------------------------------------

SEARCH = "Search tables"
OVERVIEW_COLUMNS: Mapping[str, str] = {
    "snapshots": "Snapshots",
    "names": "Tags, branches",
    "rows": "Rows",
    "live": "Live",
    "history": "Only history",
    "commit": "Last commit",
}
LIVE_HELP = "Bytes of data files that readers of main's latest snapshot open, from its manifests."
HISTORY_HELP = (
    "Bytes of every kind of file that nothing but older snapshots, tags, changelogs and branches holds: what would be "
    "freed if only main's latest snapshot stayed."
)
ROWS_COLUMN_HELP = "Rows in live files of main's latest snapshot, before any merge of keys."
OVERVIEW_HELP: Mapping[str, str] = {
    "snapshots": "Retained snapshots of all branches, by listing.",
    "names": "Names that keep a point readable after it expires.",
    "rows": ROWS_COLUMN_HELP,
    "live": LIVE_HELP,
    "history": HISTORY_HELP,
    "commit": "Commit time of main's latest snapshot; the exact time on hover.",
}
TILE_TABLES = "Tables"
TILE_SNAPSHOTS = "Snapshots"
TILE_SNAPSHOTS_BELOW = "retained, all branches"
TILE_LIVE = "Live"
TILE_LIVE_BELOW = "data files of latest snapshots"
TILE_HISTORY = "Only history holds"
TILE_HISTORY_BELOW = "all kinds of files"


def read_so_far(read: int, tables: int) -> str:
    return f"{read} of {tables} read"


def with_warnings(number: int) -> str:
    return f"{number} with warnings" if number else "none with warnings"


NO_MATCH = "No table has that in its name."


def more_notes(number: int) -> str:
    return f"and {number} more"


# jobs ----------------------------------------------------------------------------------------------------------------

JOB_STARTING = "Starting"
JOB_DISMISS = "Dismiss"
JOB_TWICE = "This plan has been submitted already."
JOB_TWICE_NEXT = "Wait for it to end; its progress is shown on this page."


def job_busy(subject: str) -> str:
    return f"Another change of {subject} is being carried out."


def receipt(found: Receipt) -> str:
    if found.created and not found.deleted:
        return f"Created {', '.join(found.created)}."
    text = f"{_OUTCOMES[found.outcome]} {units.plural(len(found.deleted), 'file')} deleted, "
    return text + f"{units.size(found.freed_bytes)} freed."


_OUTCOMES = {
    "done": "Done:",
    "cancelled": "Cancelled; what had gone by then:",
    "incomplete": "Not everything could be deleted:",
}


# Cells of long tables that are written in the hue of their meaning.
HUES: Mapping[str, str] = {
    GOES: "freed",
    SIDES["added"]: "added",
    SIDES["removed"]: "removed",
    CHANGES["compaction"]: "compaction",
}


# the lab, the journal -----------------------------------------------------------------------------------------------

LAB = "What other choices would do"
LAB_CURVE = "Every retention"
LAB_HOLDERS = "Who holds the bytes"
LAB_DROPS = "Best tags to drop"
LAB_OWN = "The table's own policy"
LAB_CURVE_HELP = (
    "Bytes freed by keeping the newest N snapshots of this branch, for every N, while all tags, branches and "
    "changelogs stay. From the sizes in the manifests."
)
LAB_HOLDERS_HELP = (
    "Each row is one exact set of names: only dropping all of them frees its files. “live” is the newest snapshot, "
    "“history” are the others."
)
LAB_DROPS_HELP = "For each number of tags, the ones whose dropping frees most, everything else staying as it is."
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
CURVE_X = "Snapshots kept (newest N)"
NATIVE = "Beside Paimon"
NATIVE_SAME = (
    "Paimon's own deletion, computed step by step the way the engine does it, would take exactly these files too."
)


def lab_next(branch: str, headline: str, prevented_by: Sequence[str]) -> str:
    where = "" if branch == MAIN else f" to branch {branch}"
    told = f"By the table's own options, the next commit of a writer{where} does this by itself: {headline}"
    return " ".join([told, *prevented_by])


def curve_hover(keep: int, size: int, files: int) -> str:
    return f"Keep {units.count(keep)}: frees {units.size(size)} in {units.plural(files, 'file')}"


def curve_chosen(keep: int) -> str:
    return f"keep {units.count(keep)}"


RESUME = "Carry on"
UNDO = "Take back"
CHANGE_NAMES: Mapping[str, str] = {
    "Expire": "Expire snapshots",
    "DeleteTags": "Delete tags",
    "CreateTag": "Create a tag",
    "ReplaceTag": "Replace a tag",
    "RenameTag": "Rename a tag",
    "CleanOrphans": "Clean up orphans",
}
DELETING = ("Expire", "DeleteTags", "ReplaceTag", "CleanOrphans")
_STATES: Mapping[str, str] = {
    "started": "stopped before it changed anything",
    "references removed": "stopped before any file was deleted",
    "sweep started": "stopped while deleting files",
    "failed": "stopped by a problem",
    "cancelled": "cancelled by its user",
    "done": "done",
    "undone": "taken back",
}


def run_state(run: Run) -> str:
    return _STATES.get(run.state, run.state)


def run_done(receipt: Mapping[str, Any]) -> str:
    return f"{units.plural(int(receipt['deleted']), 'file')}, {units.size(int(receipt['freed_bytes']))} freed"


def unfinished(run: Run, started: str) -> str:
    what = CHANGE_NAMES.get(run.change_kind, run.change_kind)
    text = f"“{what}”, started {started} by {run.who}, did not end: {run_state(run)}."
    return f"{text} {run.problem}" if run.problem else text


AUDIT_ALL = "All tables"
AUDIT_ALL_HELP = "Also changes of other tables made from this machine."
AUDIT_EMPTY = "No change was made from here yet."
AUDIT_EMPTY_NEXT = (
    "Every tag, expiry and clean-up carried out here or on the command line is listed with its plan and receipt."
)
AUDIT_PICK = "Choose a row to see its plan, its receipt and every path it deleted."
AUDIT_ENDED = "Ended"
AUDIT_DONE = "Done"
AUDIT_PATH_HEADS = ("Deleted",)
AUDIT_POINT_HEADS = ("Point", "Verdict", "Why")
AUDIT_COLUMNS: Mapping[str, str] = {
    "run": "Run",
    "started": "Started",
    "who": "Who",
    "change": "Change",
    "table": "Table",
    "state": "State",
    "planned": "Plan",
}


def audit_exact(same: int, ended: int) -> str:
    return f"Last {units.plural(ended, 'plan')}: {units.count(same)} exact."


def audit_export(style: str) -> str:
    return f"Download the journal as {style.upper()}"


def audit_intact(head: str) -> str:
    return f"The journal's chain of hashes is intact; its head is {head[:16]}."


def audit_deleted(number: int) -> str:
    return f"{units.plural(number, 'path')} deleted"


def audit_points(number: int) -> str:
    return f"Verdicts of {units.plural(number, 'point')}"


def audit_entries(number: int) -> str:
    return units.plural(number, "journal entry", "journal entries")


def restored(number: int) -> str:
    return f"Taken back: {units.plural(number, 'reference')} written back as before."


PROCEDURE: Mapping[str, str] = {
    "paimon": "Paimon's own procedure for the same request; see “Beside Paimon” for where its files would differ",
    "iceberg": "Iceberg's own Spark SQL for the same request, with a session in UTC",
}
PROTECT = "Protect for 7 days"
PROTECT_POINT = "Keep a point that would go"
PROTECT_HELP = (
    "Makes a tag of this snapshot, looks up every one of its files, and lets the tag end by itself after 7 days. "
    "What it keeps is freed only after that."
)
RULE_SET = "Whose rules"
RULE_SETS: Mapping[str, str] = {"newest": "Paimon 2.x rules", "1.x": "1.x", "0.9": "0.9"}
