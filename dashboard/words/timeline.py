"""The timeline, its chart, and a point in detail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from core.model.time_travel import AsOf
from dashboard.charts.pointer import Reset
from dashboard.charts.time_axis import Dot, Flag
from dashboard.formatting import units
from dashboard.words.notices import listed

_KINDS = {
    "APPEND": "Append",
    "OVERWRITE": "Overwrite",
    "COMPACT": "Compaction",
    "ANALYZE": "Statistics only",
    "replace": "Rewrite",
}


def commit_kind(kind: str) -> str:
    return _KINDS.get(kind, kind.capitalize())


def lane(branch: str, held: bool, empty: bool) -> str:
    name = escape(branch if len(branch) <= 14 else branch[:13] + "…")
    return "kept by tags" if held else f"{name}<br>(empty)" if empty else name


LEGEND_HELD = "Expired, kept by a tag"
LEGEND_TAG = "Tag"
LEGEND_BRANCH = "Branch"
LEGEND_CONSUMER = "Consumer reads on here"
LEGEND_SCHEMA = "Schema changed"
LEGEND_DUE = {"commit": "Goes with the next commit of a writer", "expiry": "Goes with the next expiry"}
SCHEMA_LETTER = "S"
LEGEND_PATH = "Where main pointed"
LEGEND_RESET = "Main set back or on by hand"
PATH_HOVER = "Where main pointed, by the snapshot-log"
STATES: Mapping[str, tuple[str, str]] = {
    "rolled-back": ("R", "Rolled back"),
    "staged": ("W", "Staged, not published"),
    "published": ("P", "Staged, then published"),
    "picked": ("C", "Cherry-picked"),
    "orphaned": ("O", "On no ref"),
}


TREND_ROWS = "Rows"
TREND_FILES = "Files"
TREND_BYTES = "Bytes"


def axis_time(zone: str) -> str:
    return f"Commit time, {zone}"


def plain(text: str) -> str:
    """Text of others inside a chart."""
    return escape(text)


def capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


def pointed(spans_ms: Sequence[tuple[int, int | None]], zone: str) -> str:
    """When main pointed to a snapshot."""
    if not spans_ms:
        return "never, by the snapshot-log"
    found = [f"{units.moment(start, zone)} to {'now' if end is None else units.moment(end, zone)}"
             for start, end in spans_ms[-3:]]  # fmt: skip
    return "; ".join(([f"{len(spans_ms)} times, lastly"] if len(spans_ms) > 3 else []) + found)


def dot_hover(dot: Dot, under: int = 0) -> str:
    """What is of this dot alone; `dot_template` tells the rest."""
    lines = [f"<b>{dot.id}</b>"]
    if dot.delta_rows is not None and dot.total_rows is not None:
        lines[0] += f" {units.signed(dot.delta_rows)} rows → {units.count(dot.total_rows)}"
    if dot.note:
        lines.append(escape(capitalized(dot.note)).replace("; ", "<br>"))
    if dot.tags:
        lines.append("Tags: " + escape(listed(dot.tags, 4)))
    if under:
        lines.append(f"{units.plural(under, 'more commit')} under it: click, then look closer")
    return "<br>".join(lines)


def dot_template(kind: str, zone: str, held: bool) -> str:
    """A template for the chart itself, which knows each mark's time: no text is sent for it."""
    expired = ", expired" if held else ""
    return f"%{{customdata[1]}}<br>{escape(commit_kind(kind))}{expired}<br>%{{x|%Y-%m-%d %H:%M:%S}} {zone}"


def state_hover(dot: Dot, zone: str) -> str:
    return f"{dot_hover(dot)}<br>{escape(commit_kind(dot.kind))}<br>{units.moment(dot.time_ms, zone)}"


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
    names = escape(listed([flag.name for flag in flags]))
    return f"<b>{'Tag' if len(flags) == 1 else 'Tags'} {names}</b><br>of {units.moment(flags[0].time_ms, zone)}"


def reset_hover(found: Reset, zone: str) -> str:
    made = units.moment(found.made_ms, zone)
    return f"<b>Main was set to {found.id}</b><br>{units.moment(found.time_ms, zone)}<br>committed {made}"


def pin_hover(name: str, next_snapshot: int, ahead: bool) -> str:
    rest = ", which is still to come" if ahead else " and needs all later ones"
    return f"<b>Consumer {escape(name)}</b><br>reads snapshot {next_snapshot} next{rest}"


TREND_ROWS_EXACT = "<b>%{y:,d}</b> rows"
TREND_FILES_EXACT = "<b>%{y:,d}</b> files"
TREND_BYTES_EXACT = "<b>%{y:,d}</b> bytes"


def trend_template(exact: str, zone: str, named: bool) -> str:
    """A template for the chart itself, which knows each mark's value, point and time: no text is sent for it."""
    return f"{exact}{' at %{customdata}' if named else ''}<br>%{{x|%Y-%m-%d %H:%M:%S}} {zone}"


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
    "main": "Main pointed here",
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
PREVIOUS, NEXT = "Previous", "Next"
ASOF_HERE = "As of"
PROTECT_THIS = "Protect: a tag for a while"
FIELDS_COPY = "The document itself, to copy:"


def step_to(label: str, id: int) -> str:
    return f"{label}: {id}"


EARLIER, LATER = "Earlier", "Later"
CLOSER, WIDER = "Closer", "Wider"
RANGE = "Stretch of time shown"
NOTHING_IN_WINDOW = "No commit lies in this stretch of time. Look wider, or show all."
POINTS_TABLE = "The points as a table, to choose by keyboard and to download"
POINTS_TEACH = "Choosing a line does what clicking its point does. Files and bytes are what is live there."
POINT_COLUMNS: Mapping[str, str] = {
    "point": "Point",
    "committed": "Committed",
    "kind": "Commit",
    "rows": "Rows",
    "delta": "Change of rows",
    "files": "Live files",
    "bytes": "Live bytes",
    "schema": "Schema",
    "tags": "Tags",
    "note": "Note",
}
