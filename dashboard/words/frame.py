"""What stands around every page: the pages themselves, the sidebar, points, an empty warehouse."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.formatting import units

PRODUCT = "Snapscope"
TAGLINE = "What did this table look like then, what changed, what do I lose if I clean up?"

PAGES: Mapping[str, tuple[str, str]] = {
    "overview": ("Home", ":material/home:"),
    "timeline": ("Timeline", ":material/timeline:"),
    "asof": ("As of", ":material/history:"),
    "diff": ("Diff", ":material/compare_arrows:"),
    "files": ("Files", ":material/folder_open:"),
    "retention": ("Retention", ":material/auto_delete:"),
    "tags": ("Tags", ":material/bookmark:"),
    "query": ("Query", ":material/terminal:"),
    "audit": ("Audit", ":material/fact_check:"),
    "doctor": ("Doctor", ":material/stethoscope:"),
}

WAREHOUSE = "Warehouse"
WAREHOUSE_HELP = (
    "A warehouse, a database directory or one table: a path, any fsspec URL (s3://, oss://, gs:// …), or "
    "iceberg://CATALOG."
)
WAREHOUSE_HINT = "/data/warehouse or s3://bucket/warehouse"
TABLE = "Table"
REFRESH = "Refresh"
REFRESH_HELP = "Read the clock again. Relative times and age rules are counted from the moment shown here."
ZONE = "Time zone"
ZONE_HELP = "Every time on every page is shown in this zone. The command line always takes and prints UTC."
LANGUAGE = "Language"
LANGUAGES: Mapping[str, str] = {"en": "EN", "zh": "中文"}
READ_ONLY = "Read-only"
READ_ONLY_HELP = (
    "This server was started for reading: each page shows the plan and the exact command. "
    "`snapscope serve WAREHOUSE --write` starts one that carries plans out."
)
WRITABLE = "Allow changes"
WRITABLE_HELP = (
    "Off: every page only shows what a change would do. On: a plan can be carried out after it was confirmed. "
    "It counts for this warehouse and this browser tab alone."
)
SEARCH_TABLES = "Search tables"
FORMATS = {"paimon": "Apache Paimon", "iceberg": "Apache Iceberg"}


def table_help(of: str, location: str) -> str:
    return f"{FORMATS.get(of, of)}, `{location}`"


def more_tables(number: int) -> str:
    return f"{units.plural(number, 'more table')}: search for them."


def more_lines(number: int) -> str:
    return f"{number} more"


NO_WAREHOUSE = "No warehouse is open."
NO_WAREHOUSE_NEXT = (
    "Type its path or URL on the left, or start with one: `snapscope serve WAREHOUSE`. "
    "To try it on made-up data: `snapscope demo DIR`, then `snapscope serve DIR`."
)
EMPTY_WAREHOUSE = "This warehouse has no tables yet."
EMPTY_WAREHOUSE_NEXT = (
    "A Paimon table is a directory `<database>.db/<table>` that holds `schema/schema-<N>`, an Iceberg table one with "
    "`metadata/*.metadata.json`. Check the location on the left, or make tables to play with: `snapscope demo DIR`."
)


def date_ticks() -> list[dict[str, object]]:
    """How dates stand on an axis, by the distance between its ticks (ms, or months): [] is the chart's own way."""
    return []


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
