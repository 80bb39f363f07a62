"""The timeline, its chart, and a point in detail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from core.model.time_travel import AsOf
from dashboard.charts.pointer import Reset
from dashboard.charts.time_axis import Dot, Flag
from dashboard.formatting import units
from dashboard.formatting.language import N_, _, capitalized, ngettext
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
    name = escape(branch if len(branch) <= 14 else branch[:13] + "…")
    return _("kept by tags") if held else _("{name}<br>(empty)", name=name) if empty else name


LEGEND_HELD = N_("Expired, kept by a tag")
LEGEND_TAG = N_("Tag")
LEGEND_BRANCH = N_("Branch")
LEGEND_CONSUMER = N_("Consumer reads on here")
LEGEND_SCHEMA = N_("Schema changed")
LEGEND_DUE = {"commit": N_("Goes with the next commit of a writer"), "expiry": N_("Goes with the next expiry")}
SCHEMA_LETTER = "S"
LEGEND_PATH = N_("Where main pointed")
LEGEND_RESET = N_("Main set back or on by hand")
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


def plain(text: str) -> str:
    """Text of others inside a chart."""
    return escape(text)


def pointed(spans_ms: Sequence[tuple[int, int | None]], zone: str) -> str:
    """When main pointed to a snapshot."""
    if not spans_ms:
        return _("never, by the snapshot-log")
    found = [
        _("{start} to {end}", start=units.moment(start, zone), end=_("now") if end is None else units.moment(end, zone))
        for start, end in spans_ms[-3:]
    ]
    times = [_("{number} times, lastly", number=len(spans_ms))] if len(spans_ms) > 3 else []
    return _("; ").join(times + found)


def dot_hover(dot: Dot, under: int = 0) -> str:
    """What is of this dot alone; `dot_template` tells the rest."""
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
    if under:
        lines.append(
            ngettext(
                "{count} more commit under it: click, then look closer",
                "{count} more commits under it: click, then look closer",
                under,
            )
        )
    return "<br>".join(lines)


def dot_template(kind: str, zone: str, held: bool) -> str:
    """A template for the chart itself, which knows each mark's time: no text is sent for it."""
    expired = _(", expired") if held else ""
    return f"%{{customdata[1]}}<br>{escape(commit_kind(kind))}{expired}<br>%{{x|%Y-%m-%d %H:%M:%S}} {zone}"


def state_hover(dot: Dot, zone: str) -> str:
    return f"{dot_hover(dot)}<br>{escape(commit_kind(dot.kind))}<br>{units.moment(dot.time_ms, zone)}"


def window_text(window_ms: tuple[int, int]) -> str:
    """How a stretch of time stands in the address."""
    return f"{window_ms[0]}..{window_ms[1]}"


def bin_hover(kind: str, number: int, total: int, window_ms: tuple[int, int], zone: str) -> str:
    return _(
        "<b>{commits}</b>, {number} {kind}<br>{first}<br>to {last}<br>Click to look inside",
        commits=units.plural(total, "commit"),
        number=units.count(number),
        kind=commit_kind(kind).lower(),
        first=units.moment(window_ms[0], zone),
        last=units.moment(window_ms[1], zone),
    )


def cut_hover(branch: str) -> str:
    return _("Branch {branch} starts here", branch=escape(branch))


def mark_hover(before: int, after: int) -> str:
    return _("Schema {before} → {after}", before=before, after=after)


def flag_label(flags: Sequence[Flag]) -> str:
    return flags[0].name + (f" +{len(flags) - 1}" if len(flags) > 1 else "")


def flag_hover(flags: Sequence[Flag], zone: str) -> str:
    return ngettext(
        "<b>Tag {names}</b><br>of {when}",
        "<b>Tags {names}</b><br>of {when}",
        len(flags),
        names=escape(listed([flag.name for flag in flags])),
        when=units.moment(flags[0].time_ms, zone),
    )


def reset_hover(found: Reset, zone: str) -> str:
    made = units.moment(found.made_ms, zone)
    return _(
        "<b>Main was set to {id}</b><br>{found_time}<br>committed {made}",
        id=found.id,
        found_time=units.moment(found.time_ms, zone),
        made=made,
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


def trend_template(exact: str, zone: str, named: bool) -> str:
    """A template for the chart itself, which knows each mark's value, point and time: no text is sent for it."""
    return f"{exact}{(_(' at %{customdata}') if named else '')}<br>%{{x|%Y-%m-%d %H:%M:%S}} {zone}"


TIMELINE_ALT = N_("Snapshots of this table on a time axis, with tags, branches, consumers and schema changes")
CLICK_A_POINT = N_("Click a point to see everything its commit says. Drag to zoom, double-click to zoom out.")
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

DETAIL_NONE = N_("No point is chosen")
DIFF_PREVIOUS = N_("Diff with previous")
DIFF_LATEST = N_("Diff with latest")
QUERY_HERE = N_("Query")
TAG_HERE = N_("Tag it")
SHOW_ON_TIMELINE = N_("Show on timeline")
ALL_FIELDS = N_("Every field of its JSON")
FIELD_NAMES: Mapping[str, str] = {
    "snapshot": N_("Snapshot"),
    "kind": N_("Commit", context="its kind"),
    "committed": N_("Committed"),
    "goes": N_("Goes"),
    "branch": N_("Branch"),
    "standing": N_("Standing"),
    "main": N_("Main pointed here"),
    "schema": N_("Schema"),
    "rows": N_("Rows"),
    "files": N_("Live files"),
    "bytes": N_("Live bytes"),
    "watermark": N_("Watermark"),
    "user": N_("Commit user"),
    "tags": N_("Tags"),
    "operation": N_("Operation"),
}


def cannot_be_told(why: str) -> str:
    return _("This cannot be told: {why}", why=why)


RETAINED = N_("Retained snapshot")
EXPIRED_HELD = N_("Expired, readable by its tag")
UNREADABLE = N_("cannot be read")
ROWS_HELP = N_("Rows in live files, before any merge of keys (totalRecordCount of the snapshot file).")
PREVIOUS, NEXT = (N_("Previous"), N_("Next"))
ASOF_HERE = N_("As of")
PROTECT_THIS = N_("Protect: a tag for a while")
FIELDS_COPY = N_("The document itself, to copy:")


def step_to(label: str, id: int) -> str:
    return _("{label}: {id}", label=label, id=id)


EARLIER, LATER = (N_("Earlier"), N_("Later"))
CLOSER, WIDER = (N_("Closer"), N_("Wider"))
RANGE = N_("Stretch of time shown")
NOTHING_IN_WINDOW = N_("No commit lies in this stretch of time. Look wider, or show all.")
POINTS_TABLE = N_("The points as a table, to choose by keyboard and to download")
POINTS_TEACH = N_("Choosing a line does what clicking its point does. Files and bytes are what is live there.")
POINT_COLUMNS: Mapping[str, str] = {
    "point": N_("Point"),
    "committed": N_("Committed"),
    "kind": N_("Commit", context="its kind"),
    "rows": N_("Rows"),
    "delta": N_("Change of rows"),
    "files": N_("Live files"),
    "bytes": N_("Live bytes"),
    "schema": N_("Schema"),
    "tags": N_("Tags"),
    "note": N_("Note"),
}
