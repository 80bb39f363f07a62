"""The timeline, its chart, and the details of a version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from textwrap import wrap

from core.model.references import NO_BRANCH
from core.model.time_travel import AsOf
from core.safe_text import escape_direction_marks
from dashboard.charts.pointer import Reset
from dashboard.charts.time_axis import Dot, Flag, Pin
from dashboard.formatting import units
from dashboard.formatting.language import N_, _, capitalized, ngettext
from dashboard.words.explanations import Rule
from dashboard.words.notices import listed

_KINDS = {
    "APPEND": N_("Append"),
    "OVERWRITE": N_("Overwrite"),
    "COMPACT": N_("Compaction"),
    "ANALYZE": N_("Statistics only"),
    "append": N_("Append"),
    "overwrite": N_("Overwrite"),
    "delete": N_("Delete"),
    "replace": N_("Rewrite"),
}


def commit_kind(kind: str) -> str:
    return _(_KINDS.get(kind, kind.capitalize()))


def lane(branch: str, held: bool, empty: bool) -> str:
    if branch == NO_BRANCH:
        return _("(no branch)")
    name = escape(escape_direction_marks(branch if len(branch) <= 14 else branch[:13] + "…"))
    return _("kept by tags") if held else _("{name}<br>(empty)", name=name) if empty else name


LEGEND_HELD = N_("Expired, kept by a tag")
LEGEND_TAG = N_("Tag")
LEGEND_BRANCH = N_("Branch")
LEGEND_CONSUMER = N_("Next snapshot of a consumer")
LEGEND_SCHEMA = N_("Schema changed")
LEGEND_UNUSUAL = N_("Unusual commit")
LEGEND_DUE = {"commit": N_("Expires at the next commit"), "expiry": N_("Expires at the next expiration run")}
SCHEMA_LETTER = "S"
LEGEND_PATH = N_("Where main pointed")
LEGEND_RESET = N_("Main moved by hand")
PATH_HOVER = N_("Where main pointed, by the snapshot-log")
STATES: Mapping[str, tuple[str, str]] = {
    "rolled-back": ("R", N_("Rolled back")),
    "staged": ("W", N_("Staged, not published")),
    "published": ("P", N_("Staged, then published")),
    "picked": ("C", N_("Cherry-picked")),
    "orphaned": ("O", N_("On no ref")),
}


TREND_ROWS = N_("Rows")
TREND_FILES = N_("Files")
TREND_BYTES = N_("Bytes")


def axis_time(zone: str) -> str:
    return _("Commit time, {zone}", zone=zone)


def axis_commits(zone: str) -> str:
    return _("Commits in order, evenly spaced; times in {zone}", zone=zone)


SPACINGS: Mapping[str, str] = {"time": N_("By time"), "commit": N_("By commit")}
SPACING = N_("How commits are spaced")


def plain(text: str) -> str:
    """Escape text written by others for use in a chart."""
    return escape(text)


def pointed(spans_ms: Sequence[tuple[int, int | None]], zone: str) -> str:
    """Say when main pointed to a snapshot."""
    if not spans_ms:
        return _("never, according to the snapshot-log")
    found = [
        _("{start} to {end}", start=units.moment(start, zone), end=_("now") if end is None else units.moment(end, zone))
        for start, end in spans_ms[-3:]
    ]
    times = [_("{number} times, lastly", number=len(spans_ms))] if len(spans_ms) > 3 else []
    return _("; ").join(times + found)


def dot_hover(dot: Dot, unusual: Sequence[str] = ()) -> str:
    """Return the hover text specific to this dot; `dot_template` adds the rest."""
    lines = [f"<b>{dot.id}</b>"]
    if dot.delta_rows is not None and dot.total_rows is not None:
        lines[0] += _(
            " {delta_rows} rows → {total_rows}",
            delta_rows=units.signed(dot.delta_rows),
            total_rows=units.count(dot.total_rows),
        )
    if dot.note:
        lines.append(escape(capitalized(dot.note)).replace(_("; "), "<br>"))
    if dot.tags:
        lines.append(_("Tags: ") + escape(listed(dot.tags, 4)))
    lines += [f"<b>!</b> {'<br>'.join(map(escape, wrap(each, 60)))}" for each in unusual]
    return "<br>".join(lines)


def _when(zone: str, by_commit: bool) -> str:
    if by_commit or not units.is_plotlys_weekday():
        return "%{hovertext}"
    return f"%{{x|%a %Y-%m-%d %H:%M:%S}} {zone}"


def dot_template(kind: str, zone: str, held: bool, *, by_commit: bool = False) -> str:
    """Return a hover template: plotly fills in each mark's time, so that the text is not sent for every mark."""
    expired = _(", expired") if held else ""
    return f"%{{customdata[1]}}<br>{escape(commit_kind(kind))}{expired}<br>{_when(zone, by_commit)}"


def state_hover(dot: Dot, zone: str) -> str:
    return f"{dot_hover(dot)}<br>{escape(commit_kind(dot.kind))}<br>{units.moment(dot.time_ms, zone)}"


def window_text(window_ms: tuple[int, int]) -> str:
    """Format a time range for the URL."""
    return f"{window_ms[0]}..{window_ms[1]}"


def bin_hover(kind: str, number: int, total: int, window_ms: tuple[int, int], zone: str) -> str:
    return _(
        "<b>{commits}</b>, {number} {kind}<br>{first}<br>to {last}<br>Click to look inside",
        commits=units.plural(total, "commit"),
        number=units.count(number),
        kind=commit_kind(kind).lower(),
        first=units.weekday_moment(window_ms[0], zone),
        last=units.weekday_moment(window_ms[1], zone),
    )


def cluster_hover(
    number: int, kinds: Sequence[tuple[str, int]], window_ms: tuple[int, int], zone: str, unusual: int = 0
) -> str:
    """Return the hover text of several commits that overlap; `kinds` with the number of each."""
    opens = _("Click to zoom in") if window_ms[0] < window_ms[1] else _("Click to choose the newest")
    odd = [ngettext("{count} unusual", "{count} unusual", unusual)] if unusual else []
    return _(
        "<b>{commits}</b>: {kinds}<br>{first}<br>to {last}<br>{opens}",
        commits=units.plural(number, "commit"),
        kinds=", ".join([*(f"{units.count(each)} {escape(kind)}" for kind, each in kinds), *odd]),
        first=units.weekday_moment(window_ms[0], zone),
        last=units.weekday_moment(window_ms[1], zone),
        opens=opens,
    )


def cut_hover(branch: str) -> str:
    return _("Branch {branch} starts here", branch=escape(branch))


def mark_hover(before: int, after: int) -> str:
    return _("Schema {before} → {after}", before=before, after=after)


def group_label(group: Sequence[Flag | Pin]) -> str:
    return escape_direction_marks(group[0].name) + (f" +{len(group) - 1}" if len(group) > 1 else "")


def flag_hover(flags: Sequence[Flag], zone: str) -> str:
    if flags[0].time_ms < flags[-1].time_ms:
        return _(
            "<b>Tags {names}</b><br>{first}<br>to {last}<br>Click to zoom in",
            names=escape(listed([flag.name for flag in flags], 4)),
            first=units.weekday_moment(flags[0].time_ms, zone),
            last=units.weekday_moment(flags[-1].time_ms, zone),
        )
    return ngettext(
        "<b>Tag {names}</b><br>of {when}",
        "<b>Tags {names}</b><br>of {when}",
        len(flags),
        names=escape(listed([flag.name for flag in flags])),
        when=units.weekday_moment(flags[0].time_ms, zone),
    )


def reset_hover(found: Reset, zone: str) -> str:
    committed = units.moment(found.made_ms, zone)
    return _(
        "<b>Main was moved to {id}</b><br>{found_time}<br>committed {made}",
        id=found.id,
        found_time=units.moment(found.time_ms, zone),
        made=committed,
    )


def pin_hover(name: str, next_snapshot: int, ahead: bool) -> str:
    rest = _(", which is still to come") if ahead else _(" and needs all later ones")
    return _(
        "<b>Consumer {name}</b><br>reads snapshot {next_snapshot} next{rest}",
        name=escape(name),
        next_snapshot=next_snapshot,
        rest=rest,
    )


TREND_ROWS_EXACT = N_("<b>%{y:,d}</b> rows")
TREND_FILES_EXACT = N_("<b>%{y:,d}</b> files")
TREND_BYTES_EXACT = N_("<b>%{y:,d}</b> bytes")


def trend_template(exact: str, zone: str, named: bool, *, by_commit: bool = False) -> str:
    """Return a hover template: plotly fills in each mark's value, version and time, so that the text is not sent for
    every mark."""
    at = _(" at %{customdata[0]}") if named else ""
    return f"{exact}{at}%{{customdata[1]}}<br>{_when(zone, by_commit)}"


def trend_change(before: str, change: int, *, is_size: bool) -> str:
    """Say how much a version differs from the one listed before it, as a line of a hover text."""
    shown = units.signed_size(change) if is_size else units.signed(change)
    return _("<br>{change} since {before}", change=shown, before=escape(before))


TIMELINE_ALT = N_("Snapshots of this table on a time axis, with tags, branches, consumers and schema changes")
CLICK_A_POINT = N_(
    "Click a snapshot or tag to see the details of its commit, shift-click a second one to compare the two. "
    "Drag to zoom, double-click to zoom out."
)
SHOW_ALL = N_("Show all")
DENSE = N_("Each bar counts the commits of one stretch of time. Click one to look inside.")


def window(first_ms: int, last_ms: int, shown: int, zone: str) -> str:
    return _(
        "{snapshots} from {first} to {last}",
        snapshots=units.plural(shown, "snapshot"),
        first=units.moment(first_ms, zone),
        last=units.moment(last_ms, zone),
    )


def point_title(found: AsOf) -> str:
    own = found.point.rsplit("/", 1)[-1]
    branch = "" if found.branch == "main" else _(" on {branch}", branch=found.branch)
    return (
        _("Snapshot {own}{branch}", own=own, branch=branch)
        if own.isdigit()
        else _("Tag {own}{branch}", own=own.removeprefix("tag:"), branch=branch)
    )


# a point in detail ---------------------------------------------------------------------------------------------------

DETAIL_NONE = N_("No snapshot or tag is selected")
COMPARE = N_("Compare with…")
COMPARE_TEACH = N_("Click the other one on the chart, or choose it here:")
COMPARE_OTHER = N_("Snapshot or tag to compare with")
DIFF_PREVIOUS = N_("Diff with previous")
DIFF_LATEST = N_("Diff with latest")
QUERY_HERE = N_("Query")
TAG_HERE = N_("Create tag here")
SHOW_ON_TIMELINE = N_("Show on timeline")
ALL_FIELDS = N_("Every field of its JSON")
FIELD_NAMES: Mapping[str, str] = {
    "snapshot": N_("Snapshot"),
    "kind": N_("Commit", context="its kind"),
    "committed": N_("Committed"),
    "goes": N_("Expires"),
    "branch": N_("Branch"),
    "standing": N_("Status"),
    "main": N_("Main pointed here"),
    "schema": N_("Schema"),
    "rows": N_("Rows"),
    "files": N_("Current files"),
    "bytes": N_("Current size"),
    "watermark": N_("Watermark"),
    "user": N_("Commit user"),
    "tags": N_("Tags"),
    "operation": N_("Operation"),
}


def expiration_unknown(why: str) -> str:
    return _("This cannot be determined: {why}", why=why)


RETAINED = N_("Retained snapshot")
EXPIRED_HELD = N_("Expired, readable by its tag")
UNREADABLE = N_("cannot be read")
ROWS_HELP = N_("Rows in current files, before any merge of keys (totalRecordCount of the snapshot file).")
PREVIOUS, NEXT = (N_("Previous"), N_("Next"))
ASOF_HERE = N_("As of")
PROTECT_THIS = N_("Add temporary tag")
PIN_ANOTHER = N_("Add another temporary tag")
FIELDS_COPY = N_("The document itself, to copy:")


def kept_by(names: Sequence[str]) -> str:
    return ngettext(
        "The temporary tag {which} keeps this snapshot.", "{count} temporary tags ({which}) keep this snapshot.",
        len(names), which=listed(names),
    )  # fmt: skip


def diff_with(older: str, newer: str) -> str:
    return _("Diff {older} → {newer}", older=older, newer=newer)


def step_to(label: str, id: int) -> str:
    return _("{label}: {id}", label=label, id=id)


EARLIER, LATER = (N_("Earlier"), N_("Later"))
CLOSER, WIDER = (N_("Zoom in"), N_("Zoom out"))
RANGE = N_("Time range shown")
NOTHING_IN_WINDOW = N_("No commits in this time range. Zoom out, or show all.")
POINTS_TABLE = N_("The snapshots and tags as a table, to choose by keyboard and to download")
POINTS_TEACH = N_(
    "Selecting a row does the same as clicking its mark. Files and bytes are the current ones of that version."
)
POINT_COLUMNS: Mapping[str, str] = {
    "point": N_("Snapshot or tag"),
    "committed": N_("Committed"),
    "kind": N_("Commit", context="its kind"),
    "rows": N_("Rows"),
    "delta": N_("Row change"),
    "files": N_("Current files"),
    "bytes": N_("Current size"),
    "schema": N_("Schema"),
    "tags": N_("Tags"),
    "note": N_("Note"),
}


# what a commit changed

NO_PARTITION = N_("not partitioned")
HOW_USUAL = Rule(
    N_("What changed, and whether that is usual"),
    N_("Files, rows and bytes that a commit added and removed, by partition; rows are those of data files."),
    N_("Which files are current at the commit and at the one before it, from the manifests of both."),
    N_(
        "Compared with the last 30 earlier commits of the same kind on the branch, at the same weekday and hour "
        "(UTC); if fewer than 5 are known, at the same time of day; else at any time. Unusual: more than twice or "
        "less than half the median of their rows, and further from it than 3 times their median deviation. Needs "
        "attention: such a load, a partition that lost its last file, changed columns, a delete of more than 10 % of "
        "the rows, and no load for 1.5 times the longest pause between the last 30."
    ),
    N_("Rows, files, bytes."),
)


def more_partitions(number: int) -> str:
    return ngettext("{count} more partition", "{count} more partitions", number)
