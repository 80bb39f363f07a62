"""What stands around every page: the pages themselves, the sidebar, points, an empty warehouse."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.formatting import units
from dashboard.formatting.language import N_, _, ngettext

PRODUCT = "Snapscope"
TAGLINE = N_("What did this table look like then, what changed, what do I lose if I clean up?")

PAGES: Mapping[str, tuple[str, str]] = {
    "overview": (N_("Home"), ":material/home:"),
    "timeline": (N_("Timeline"), ":material/timeline:"),
    "asof": (N_("As of"), ":material/history:"),
    "diff": (N_("Diff"), ":material/compare_arrows:"),
    "files": (N_("Files"), ":material/folder_open:"),
    "retention": (N_("Retention"), ":material/auto_delete:"),
    "tags": (N_("Tags"), ":material/bookmark:"),
    "query": (N_("Query"), ":material/terminal:"),
    "audit": (N_("Audit"), ":material/fact_check:"),
    "doctor": (N_("Doctor"), ":material/stethoscope:"),
}

WAREHOUSE = N_("Warehouse")
WAREHOUSE_HELP = N_(
    "A warehouse, a database directory or one table: a path, any fsspec URL (s3://, oss://, gs:// "
    "…), or iceberg://CATALOG."
)
WAREHOUSE_HINT = N_("/data/warehouse or s3://bucket/warehouse")
TABLE = N_("Table")
REFRESH = N_("Refresh")
REFRESH_HELP = N_("Read the clock again. Relative times and age rules are counted from the moment shown here.")
ZONE = N_("Time zone")
ZONE_HELP = N_("Every time on every page is shown in this zone. The command line always takes and prints UTC.")
LANGUAGE = N_("Language")
READ_ONLY = N_("Read-only")
READ_ONLY_HELP = N_(
    "This server was started for reading: each page shows the plan and the exact command. `snapscope "
    "serve WAREHOUSE --write` starts one that carries plans out."
)
WRITABLE = N_("Allow changes")
WRITABLE_HELP = N_(
    "Off: every page only shows what a change would do. On: a plan can be carried out after it was "
    "confirmed. It counts for this warehouse and this browser tab alone."
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
    "Iceberg table one with `metadata/*.metadata.json`. Check the location on the left, or make "
    "tables to play with: `snapscope demo DIR`."
)


def date_ticks() -> list[dict[str, object]]:
    """How dates stand on an axis, by the distance between its ticks (ms, or months): [] is the chart's own way."""
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


def table_summary(snapshots: int, tags: int, branches: int, last_ms: int | None, now_ms: int, zone: str) -> str:
    parts = [units.plural(snapshots, "snapshot")]
    if tags:
        parts.append(units.plural(tags, "tag"))
    if branches:
        parts.append(units.plural(branches, "branch", "branches"))
    if last_ms is not None:
        parts.append(
            _("last commit {last} ({last_2})", last=units.moment(last_ms, zone), last_2=units.ago(last_ms, now_ms))
        )
    return " · ".join(parts)


# the first line of every page, and what the sidebar knows of this session

COPY_LINK = N_("Copy link")
COPY_LINK_HELP = N_("Copies the address of exactly this view: table, point, time zone and all that is set.")
COPIED = N_("Copied")
RECENT = N_("Recent")
ZONE_HINT = N_("Choose a zone, or type one: Asia/Kolkata")


def zone_unknown(name: str) -> str:
    return _("There is no time zone {name!r}: type a name such as Asia/Kolkata.", name=name)


def of_database(name: str) -> str:
    return _("Tables of {name}.", name=name)


ALL_TABLES = N_("Show all tables")


# reports to take away

REPORT_OF_TABLE = N_("Report (HTML)")
REPORT_OF_TABLE_HELP = N_(
    "The table's state at this point as one file to hand on: columns, tags, branches, snapshots, who "
    "holds the bytes. It needs no network and runs nothing; in English, times in this zone. The "
    "same: `snapscope report TABLE -o FILE`."
)
REPORT_OF_DIFF = N_("Report (HTML)")
REPORT_OF_DIFF_HELP = N_(
    "This difference as one file to hand on: files, partitions, commits, columns and options. It "
    "needs no network and runs nothing; in English. `snapscope report TABLE --diff A B -o FILE` "
    "makes the same."
)
REPORT_OF_PLAN = N_("For approval (HTML)")
REPORT_OF_PLAN_HELP = N_(
    "This plan as one file to hand on: what goes, what keeps the rest, warnings, and the command "
    "that runs exactly this plan or refuses. It needs no network, runs nothing; in English. The "
    "same: `snapscope plan … --report FILE`."
)


# access: refused requests, and the question before a page opens a location

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
    asked = f"`{host}`" if host else _("no host")
    return (
        _("This server only answers to `{own}`; the request was for {asked}.", own=own, asked=asked),
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
