"""Home: all tables and their totals, what is new, what ends soon, what to mind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dashboard.formatting import units
from dashboard.words.explanations import Rule
from dashboard.words.notices import listed

SEARCH = "Search tables"
OVERVIEW_COLUMNS: Mapping[str, str] = {
    "snapshots": "Snapshots",
    "names": "Tags, branches",
    "rows": "Rows in files",
    "live": "Live",
    "history": "Only history",
    "policy": "Policy frees",
    "commit": "Last commit",
}
LIVE_HELP = "Bytes of data files that readers of main's latest snapshot open, from its manifests."
ONLY_HISTORY_HELP = (
    "Bytes of every kind of file that nothing but older snapshots, tags, changelogs and branches holds: what would be "
    "freed if only main's latest snapshot stayed."
)
POLICY_HELP = (
    "Bytes that the tables' own options would free now, every branch's snapshots expired as its policy has it. Judged "
    "when the manifests were read, at the most 15 minutes ago."
)
ROWS_COLUMN_HELP = "Rows in live files of main's latest snapshot, before any merge of keys."
OVERVIEW_HELP: Mapping[str, str] = {
    "snapshots": "Retained snapshots of all branches, by listing.",
    "names": "Names that keep a point readable after it expires.",
    "rows": ROWS_COLUMN_HELP,
    "live": LIVE_HELP,
    "history": ONLY_HISTORY_HELP,
    "policy": POLICY_HELP,
    "commit": "Commit time of main's latest snapshot; the exact time on hover.",
}
TILE_TABLES = "Tables"
TILE_LIVE = "Live"
TILE_LIVE_BELOW = "data files of latest snapshots"
TILE_HISTORY = "Only history holds"
TILE_HISTORY_BELOW = "all kinds of files"
TILE_POLICY = "Policies free"
TILE_POLICY_BELOW = "now, by the tables' own options"


def read_so_far(read: int, tables: int) -> str:
    return f"{units.count(read)} of {units.count(tables)} read"


def with_warnings(number: int, snapshots: int) -> str:
    warned = f"{units.count(number)} with warnings" if number else "none with warnings"
    return f"{warned}; {units.plural(snapshots, 'snapshot')}"


NO_MATCH = "No table has that in its name."


HOW_POLICY = Rule(
    "Policy frees",
    "Files that nothing holds any more once every branch's own policy has expired what it takes now.",
    "The snapshot.* options of each branch (Iceberg: history.expire.* and each ref's own); every manifest.",
    "The engine's expiry (Paimon 2.0, Iceberg 1.11) judged when the manifests were read, at the most 15 minutes ago; "
    "then the same sets of holders as in a plan. Tags stay. A policy that contradicts itself takes nothing.",
    "Bytes, shown in decimal units: 1 kB is 1,000 bytes. The exact figure stands on hover.",
)
HOW_SINCE = Rule(
    "Since your last visit",
    "Commits, tags, branches, rows, files and bytes of then against now.",
    "The references, read now, and what was remembered of them (state directory, desk/visits.json).",
    "A visit begins after 30 minutes away. Sums are of then against now, so they stay exact where snapshots in between "
    "have expired; commits that came and expired meanwhile are a number (Paimon's ids are consecutive) or only known "
    "to be possible (Iceberg).",
    "Commits, rows as files hold them, files, bytes.",
)

# what is new

WATCH = "Watch this table"
UNWATCH = "Watch this table no longer"
NOTHING_KEPT = "Watched tables and what is new are not kept:"
FIRST_VISIT = "This is the first look from here. From the next visit on, each table says what is new."
SINCE_QUIET = "nothing is new"
SINCE_NEW_TABLE = "Not seen before."
SINCE_UNSEEN = "others may have come and expired meanwhile"


def last_visit(ago: str, changed: int, tables: int) -> str:
    return f"Since your last visit, {ago}: {units.count(changed)} of {units.plural(tables, 'table')} changed."


def reading_tables(read: int, tables: int, name: str, done: int, total: int) -> str:
    manifests = f", {units.count(done)} of {units.plural(total, 'manifest')}" if total else ""
    return f"Read {read} of {units.plural(tables, 'table')}; {name}{manifests}"


def since(ago: str) -> str:
    return f"Since {ago}:"


def since_kind(number: int, kind: str, user: str, branch: str) -> str:
    return f"{units.count(number)} {kind} by {user or 'unknown'}" + (f" on {branch}" if branch else "")


def since_commits(number: int, kinds: str, more: bool) -> str:
    return f"{units.plural(number, 'new commit')}: {kinds}{', …' if more else ''}"


def since_unseen(number: int) -> str:
    return f"{units.count(number)} more came and expired unseen"


def since_moved(branch: str, before: int, now: int | None) -> str:
    return f"{branch} was set back from {before} to {now}" if now is not None else f"{branch} was emptied"


def since_expired(number: int) -> str:
    return f"{units.plural(number, 'snapshot')} gone"


def since_tags_made(names: Sequence[str]) -> str:
    return f"{_tags(names)} made"


def since_tags_moved(names: Sequence[str]) -> str:
    return f"{_tags(names)} set to another snapshot"


def since_tags_ended(names: Sequence[str]) -> str:
    return f"{_tags(names)} ended, as planned"


def since_tags_gone(names: Sequence[str]) -> str:
    return f"{_tags(names)} deleted"


def since_branches_made(names: Sequence[str]) -> str:
    return f"{'branch' if len(names) == 1 else 'branches'} {listed(names, 3)} made"


def since_branches_gone(names: Sequence[str]) -> str:
    return f"{'branch' if len(names) == 1 else 'branches'} {listed(names, 3)} deleted"


def since_schema(sentences: Sequence[str]) -> str:
    more = f" and {len(sentences) - 1} more" if len(sentences) > 1 else ""
    return f"schema: {sentences[0]}{more}"


def since_schema_ids(before: int, now: int) -> str:
    return f"schema {before} became {now}; what it was is gone"


def _tags(names: Sequence[str]) -> str:
    return f"{'tag' if len(names) == 1 else 'tags'} {listed(names, 3)}"


# what happened in the demo

STORIES = "What happened here?"
STORIES_HELP = "Accidents in the past of this demo, each found within five clicks."
STORY_ANSWER = "Answer"


def story_open(table: str, point: str) -> str:
    return f"Begin at {table}, {point}"


# what ends soon, what to mind

ENDS_SOON = "Tags that end within 7 days"
ENDS_NONE = "No tag ends by itself within 7 days."
TO_MIND = "To mind, worst first"
NOTHING_TO_MIND = "Nothing stands out."


def tag_ends(when: str, left: str, is_over: bool, is_wall_clock: bool) -> str:
    whose = " by the writers' clock" if is_wall_clock else ""
    if is_over:
        return f"its time was over {left} ago ({when}{whose}): it goes with the next commit or expiry"
    return f"ends in {left}, {when}{whose}"
