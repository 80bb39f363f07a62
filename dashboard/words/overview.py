"""Home: all tables and their totals, what is new, what expires soon, what needs attention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dashboard.formatting import units
from dashboard.formatting.language import N_, _, ngettext
from dashboard.words.explanations import Rule
from dashboard.words.notices import listed

FILTER = N_("Filter tables")
SORT = N_("Sort by")
SORT_HELP = N_("Tables that could not be read are listed last. Watched tables are listed first if no order is chosen.")
SORT_UNSET = N_("Name, watched first")
REVERSE = N_("Reverse the order")


def sort_capped(most: int) -> str:
    return _("Filter to {most} tables or fewer to sort by a figure.", most=units.count(most))


OVERVIEW_COLUMNS: Mapping[str, str] = {
    "snapshots": N_("Snapshots"),
    "names": N_("Tags, branches"),
    "rows": N_("Rows in files"),
    "live": N_("Current"),
    "history": N_("Held by history only"),
    "policy": N_("Reclaimable by policy"),
    "commit": N_("Last commit"),
}
LIVE_HELP = N_("Bytes of data files that readers of main's latest snapshot open, from its manifests.")
ONLY_HISTORY_HELP = N_(
    "Bytes of every kind of file that only older snapshots, tags, changelogs and branches "
    "hold: what would be reclaimed if only main's latest snapshot were kept."
)
POLICY_HELP = N_(
    "Bytes that the tables' own options would reclaim now, with every branch's snapshots "
    "expired by its policy. Computed when the manifests were read, at most 15 minutes ago."
)
ROWS_COLUMN_HELP = N_("Rows in the current files of main's latest snapshot, before any merge of keys.")
OVERVIEW_HELP: Mapping[str, str] = {
    "snapshots": N_("Retained snapshots of all branches, by listing."),
    "names": N_("Tags and branches, which keep a snapshot readable after it expires."),
    "rows": ROWS_COLUMN_HELP,
    "live": LIVE_HELP,
    "history": ONLY_HISTORY_HELP,
    "policy": POLICY_HELP,
    "commit": N_("Commit time of main's latest snapshot; the exact time on hover."),
}
TILE_TABLES = N_("Tables")
TILE_LIVE = N_("Current")
TILE_LIVE_BELOW = N_("data files of latest snapshots")
TILE_HISTORY = N_("Held by history only")
TILE_HISTORY_BELOW = N_("all kinds of files")
TILE_POLICY = N_("Reclaimable by policy")
TILE_POLICY_BELOW = N_("now, by the tables' own options")


def read_so_far(read: int, tables: int) -> str:
    return _("{read} of {tables} read", read=units.count(read), tables=units.count(tables))


def with_warnings(number: int, snapshots: int) -> str:
    warned = _("{number} with warnings", number=units.count(number)) if number else _("none with warnings")
    return _("{warned}; {snapshots}", warned=warned, snapshots=units.plural(snapshots, "snapshot"))


NO_MATCH = N_("No table name matches.")


HOW_POLICY = Rule(
    N_("Reclaimable by policy"),
    N_("Files that nothing holds any more once every branch's own policy has expired what it can now."),
    N_("The snapshot.* options of each branch (Iceberg: history.expire.* and each ref's own); every manifest."),
    N_(
        "The engine's expiry (Paimon 2.0, Iceberg 1.11), computed when the manifests were read, "
        "at most 15 minutes ago; then the same sets of holders as in a plan. Tags are kept. A "
        "policy that contradicts itself expires nothing."
    ),
    N_("Bytes in decimal units: 1 kB is 1,000 bytes. Hover for the exact figure."),
)
HOW_SINCE = Rule(
    N_("Since your last visit"),
    N_("Commits, tags, branches, rows, files and bytes, then and now."),
    N_("The references as read now, and as stored at your last visit (desk/visits.json in the state directory)."),
    N_(
        "A visit begins after 30 minutes away. Sums compare then with now, so they stay exact where "
        "snapshots in between have expired; commits that came and expired meanwhile are a number "
        "(Paimon's ids are consecutive) or only known to be possible (Iceberg)."
    ),
    N_("Commits, rows as files hold them, files, bytes."),
)

# what is new

WATCH = N_("Watch this table")
UNWATCH = N_("Stop watching this table")
NOTHING_KEPT = N_("Watched tables and news since the last visit cannot be stored:")
FIRST_VISIT = N_("This is your first visit. From the next one on, each table shows what is new.")
SINCE_QUIET = N_("nothing is new")
SINCE_NEW_TABLE = N_("Not seen before.")
SINCE_UNSEEN = N_("others may have been committed and expired meanwhile")


def last_visit(ago: str, changed: int, tables: int) -> str:
    return ngettext(
        "Since your last visit, {ago}: {changed} of {count} table changed.",
        "Since your last visit, {ago}: {changed} of {count} tables changed.",
        tables,
        ago=ago,
        changed=units.count(changed),
    )


def reading_tables(read: int, tables: int, name: str, done: int, total: int) -> str:
    manifests = (
        ngettext(", {done} of {count} manifest", ", {done} of {count} manifests", total, done=units.count(done))
        if total
        else ""
    )
    return ngettext(
        "Read {read} of {count} table; reading {name}{manifests}",
        "Read {read} of {count} tables; reading {name}{manifests}",
        tables,
        read=read,
        name=name,
        manifests=manifests,
    )


def since(ago: str) -> str:
    return _("Since {ago}:", ago=ago)


def since_kind(number: int, kind: str, user: str, branch: str) -> str:
    return _("{number} {kind} by {user}", number=units.count(number), kind=kind, user=user or _("unknown")) + (
        _(" on {branch}", branch=branch) if branch else ""
    )


def since_commits(number: int, kinds: str, more: bool) -> str:
    return ngettext(
        "{count} new commit: {kinds}{rest}",
        "{count} new commits: {kinds}{rest}",
        number,
        kinds=kinds,
        rest=_(", …") if more else "",
    )


def since_unseen(number: int) -> str:
    return _("{number} more committed and expired in between", number=units.count(number))


def since_moved(branch: str, before: int, now: int | None) -> str:
    return (
        _("{branch} was moved from {before} to {now}", branch=branch, before=before, now=now)
        if now is not None
        else _("{branch} was emptied", branch=branch)
    )


def since_expired(number: int) -> str:
    return _("{snapshots} no longer there", snapshots=units.plural(number, "snapshot"))


def since_tags_created(names: Sequence[str]) -> str:
    return ngettext("tag {names} created", "tags {names} created", len(names), names=listed(names, 3))


def since_tags_moved(names: Sequence[str]) -> str:
    return ngettext(
        "tag {names} moved to another snapshot",
        "tags {names} moved to another snapshot",
        len(names),
        names=listed(names, 3),
    )


def since_tags_expired(names: Sequence[str]) -> str:
    return ngettext(
        "tag {names} deleted after its retention",
        "tags {names} deleted after their retention",
        len(names),
        names=listed(names, 3),
    )


def since_tags_deleted(names: Sequence[str]) -> str:
    return ngettext("tag {names} deleted", "tags {names} deleted", len(names), names=listed(names, 3))


def since_branches_created(names: Sequence[str]) -> str:
    return ngettext("branch {names} created", "branches {names} created", len(names), names=listed(names, 3))


def since_branches_deleted(names: Sequence[str]) -> str:
    return ngettext("branch {names} deleted", "branches {names} deleted", len(names), names=listed(names, 3))


def since_schema(sentences: Sequence[str]) -> str:
    more = _(" and {number} more", number=len(sentences) - 1) if len(sentences) > 1 else ""
    return _("schema: {sentences}{more}", sentences=sentences[0], more=more)


def since_schema_ids(before: int, now: int) -> str:
    if before == now:
        return _("schema {before} is another one now; the earlier one no longer exists", before=before)
    return _("schema {before} became {now}; the earlier one no longer exists", before=before, now=now)


# events of the demo

STORIES = N_("What happened here?")
STORIES_HELP = N_("Accidents in the past of this demo, each found within five clicks.")
STORY_ANSWER = N_("Answer")


def story_open(table: str, point: str) -> str:
    return _("Start at {table}, {point}", table=table, point=point)


# what expires soon, what needs attention

ENDS_SOON = N_("Tags that expire within 7 days")
ENDS_NONE = N_("No tag expires automatically within 7 days.")
TO_MIND = N_("Needs attention")
TABLE_UNREAD = N_("This table could not be read. Its line above says why.")
NOTHING_TO_MIND = N_("No problems found.")


def tag_ends(when: str, left: str, is_over: bool, is_wall_clock: bool) -> str:
    whose = _(" by the writers' clock") if is_wall_clock else ""
    if is_over:
        return _(
            ("its retention ended {left} ago ({when}{whose}): it is deleted with the next commit or expiry"),
            left=left,
            when=when,
            whose=whose,
        )
    return _("expires in {left}, {when}{whose}", left=left, when=when, whose=whose)
