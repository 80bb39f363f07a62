"""The frame around every page: page names, the sidebar, versions, an empty warehouse."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.formatting import units
from dashboard.formatting.language import N_, _, ngettext

PRODUCT = "Snapscope"
TAGLINE = N_("What did this table look like then, what changed, what do I lose if I clean up?")

PAGES: Mapping[str, tuple[str, str]] = {
    "overview": (N_("Home"), ":material/home:"),
    "audit": (N_("Audit"), ":material/fact_check:"),
    "doctor": (N_("Doctor"), ":material/stethoscope:"),
    "timeline": (N_("Timeline"), ":material/timeline:"),
    "asof": (N_("As of"), ":material/history:"),
    "diff": (N_("Diff"), ":material/compare_arrows:"),
    "files": (N_("Files"), ":material/folder_open:"),
    "retention": (N_("Retention"), ":material/auto_delete:"),
    "orphans": (N_("Orphans"), ":material/folder_delete:"),
    "tags": (N_("Tags"), ":material/bookmark:"),
    "query": (N_("Query"), ":material/terminal:"),
}

WAREHOUSE = N_("Warehouse")
WAREHOUSE_HELP = N_(
    "Choose one that was opened before, or type another: a warehouse, a database directory or one table; a path, "
    "any fsspec URL (s3://, oss://, gs:// …), iceberg://CATALOG, or a name from the settings file."
)
WAREHOUSE_HINT = N_("/data/warehouse or s3://bucket/warehouse")
TABLE = N_("Table")
REFRESH = N_("Refresh")
REFRESH_HELP = N_("Read the clock again. Relative times and age rules are counted from the moment shown here.")
ZONE = N_("Time zone")
ZONE_HELP = N_(
    "Every time on every page is shown in this zone. The command line prints UTC; it reads a time without a zone in "
    "this machine's zone and says so."
)
LANGUAGE = N_("Language")
READ_ONLY = N_("Read-only")
READ_ONLY_HELP = N_(
    "This server was started for reading: each page shows the plan and the exact command. `snapscope "
    "serve WAREHOUSE --write` starts one that carries plans out."
)
WRITABLE = N_("Allow changes")
WRITABLE_HELP = N_(
    "Off: pages only show what a change would do. On: a plan can be run after you confirm "
    "it. Applies to this warehouse and this browser tab only."
)
SEARCH_TABLES = N_("Search tables")
FORMATS = {"paimon": "Apache Paimon", "iceberg": "Apache Iceberg"}


def table_help(of: str, location: str) -> str:
    return _("{get}, `{location}`", get=_(FORMATS.get(of, of)), location=location)


def more_tables(number: int) -> str:
    return ngettext("{count} more table: search for them.", "{count} more tables: search for them.", number)


def more_lines(number: int) -> str:
    return _("{number} more", number=number)


NO_WAREHOUSE = N_("No warehouse is open.")
NO_WAREHOUSE_NEXT = N_(
    "Type its path or URL on the left, or start with one: `snapscope serve WAREHOUSE`. To try it on "
    "made-up data: `snapscope demo DIR`, then `snapscope serve DIR`."
)
EMPTY_WAREHOUSE = N_("This warehouse has no tables yet.")
EMPTY_WAREHOUSE_NEXT = N_(
    "A Paimon table is a directory `<database>.db/<table>` that holds `schema/schema-<N>`, an "
    "Iceberg table one with `metadata/*.metadata.json`. Check the location on the left, or create "
    "tables to try: `snapscope demo DIR`."
)


def document_title(page: str, subject: str) -> str:
    """Of a browser's tab: what it is about first, for tabs are narrow."""
    return " · ".join(filter(None, (subject, _(PAGES[page][0]), PRODUCT)))


def demo_building(ready: int, tables: int, now: str) -> str:
    """`now`: the table that is being written, empty while Spark starts."""
    what = _("writing {table}", table=now) if now else _("starting Spark")
    return _("Building the demo: {ready} of {tables} tables ready, {what} …", ready=ready, tables=tables, what=what)


def demo_stopped(problem: str) -> str:
    return _("The demo could not be built: {problem} Run `make run` again to continue.", problem=problem)


def demo_cut_off(ready: int, tables: int) -> str:
    return _(
        "Building the demo was cut off: {ready} of {tables} tables are here. Run `make run` again, or "
        "`snapscope demo` on this directory, to continue.",
        ready=ready,
        tables=tables,
    )


def date_ticks() -> list[dict[str, object]]:
    """Return date formats for an axis by the distance between its ticks (ms, or months); [] uses plotly's default."""
    day = 86_400_000
    ranges: list[tuple[list[object], str]] = [
        ([None, 1_000], N_("%H:%M:%S.%L\n%b %-d")),
        ([1_000, 60_000], N_("%H:%M:%S\n%b %-d")),
        ([60_000, day], N_("%H:%M\n%b %-d, %Y")),
        ([day, "M1"], N_("%b %-d\n%Y")),
        (["M1", "M12"], N_("%b\n%Y")),
        (["M12", None], N_("%Y")),
    ]
    if all(_(form) == form for _between, form in ranges):
        return []
    return [{"dtickrange": between, "value": _(form)} for between, form in ranges]


def now_line(now_ms: int, zone: str) -> str:
    return _("As of {now}", now=units.moment(now_ms, zone))


def tags_of(main: int, branches: int) -> str:
    """Tags of main, and beside them those that only branches have."""
    if not branches:
        return units.plural(main, "tag")
    return _("{tags} and {number} more on branches", tags=units.plural(main, "tag"), number=units.count(branches))


def table_summary(
    snapshots: int, tags: int, branches: int, last_ms: int | None, now_ms: int, zone: str, branch_tags: int = 0
) -> str:
    """`tags` are those of main, `branch_tags` those that branches have of their own."""
    parts = [units.plural(snapshots, "snapshot")]
    if tags or branch_tags:
        parts.append(tags_of(tags, branch_tags))
    if branches:
        parts.append(units.plural(branches, "branch", "branches"))
    if last_ms is not None:
        parts.append(
            _("last commit {last} ({last_2})", last=units.moment(last_ms, zone), last_2=units.ago(last_ms, now_ms))
        )
    return "\u00a0· ".join(parts)  # no line begins with a dot


# the breadcrumb and the session controls in the sidebar

COPY_LINK = N_("Copy link")
COPY_LINK_HELP = N_("Copies the address of exactly this view: table, version, time zone and all settings.")
COPIED = N_("Copied")
PALETTE = N_("Go to …")
PALETTE_HINT = N_("Page, table, tag, snapshot or time")
PALETTE_HINT_AWAY = N_("Page or table")
PALETTE_USE = N_("↑ ↓ to choose, Enter to open, Esc to close")
PALETTE_MORE = N_("There are more: keep typing.")
PALETTE_NONE = N_("Nothing matches.")
PALETTE_PAGE = N_("Page")
PALETTE_TAG = N_("Tag")
PALETTE_VERSION = N_("Version")


def palette_version(text: str) -> str:
    return _("Open version {text}", text=text)


RECENT = N_("Recent")
ZONE_HINT = N_("Choose a zone, or type one: Asia/Kolkata")


def zone_unknown(name: str) -> str:
    return _("{name!r} is not a known time zone. Try a name such as Asia/Kolkata.", name=name)


def of_database(name: str) -> str:
    return _("Tables of {name}.", name=name)


ALL_TABLES = N_("Show all tables")


# report downloads

REPORT_OF_TABLE = N_("Report (HTML)")
REPORT_OF_TABLE_HELP = N_(
    "The table's state at this version as one file to share: columns, tags, branches, "
    "snapshots, storage by holder. It needs no network and runs nothing; in English, times "
    "in this zone. The same: `snapscope report TABLE -o FILE`."
)
REPORT_OF_DIFF = N_("Report (HTML)")
REPORT_OF_DIFF_HELP = N_(
    "This difference as one file to share: files, partitions, commits, columns and options. "
    "It needs no network and runs nothing; in English. The same: `snapscope report TABLE "
    "--diff A B -o FILE`."
)
REPORT_OF_PLAN = N_("For approval (HTML)")
REPORT_OF_PLAN_HELP = N_(
    "This plan as one file to share: what is deleted, what keeps the rest, warnings, and the "
    "command that runs exactly this plan or refuses. It needs no network, runs nothing; in "
    "English. The same: `snapscope plan … --report FILE`."
)


# access: rejected requests, and the confirmation before a page opens a location

REFUSED = N_("Access refused")
REFUSED_SECRET: tuple[str, ...] = (
    N_(
        "Open the address that `snapscope serve` printed when it started: it ends in `?token=…`. This "
        "browser then stays signed in until it is closed, or the server stops."
    ),
    N_("Each start prints a new address; an older one no longer works."),
)
REFUSED_FOREIGN: tuple[str, ...] = (
    N_("This request came from another website or program."),
    N_("If you followed a link, open it again from here. No address changes a table."),
)
REFUSED_AGAIN = N_("Open this address again")


def refused_host(host: str, own: str) -> tuple[str, ...]:
    requested = f"`{host}`" if host else _("no host")
    return (
        _("This server only answers to `{own}`; the request was for {asked}.", own=own, asked=requested),
        _(
            "Open the address that `snapscope serve` printed. If its port is forwarded, start it with "
            "`--allow-host NAME:PORT`, as shown in your browser's address bar."
        ),
    )


UNGUARDED = N_("Start the dashboard with snapscope serve")
UNGUARDED_NEXT = N_(
    "This server was started by `streamlit run`, so any website open in this browser could use it. "
    "Stop it and run `snapscope serve PLACE`, which prints an address with a secret."
)

OPEN_TITLE = N_("Open this location?")
OPEN_WHY = N_(
    "This server was not started with the location that this link names. Nothing has been read from "
    "it yet. Opening it uses the files and credentials of whoever runs this server: open it only if "
    "you trust the link."
)
OPEN_INSTEAD = N_("Go to the served warehouse")


def open_place(place: str) -> str:
    return _("Open {place}", place=place)
