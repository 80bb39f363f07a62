"""The Home page for display: table rows, totals, news since the last visit, what expires soon, what needs attention.

Invariant: a number that is still being read is shown as dots, a sum over incomplete data starts with ≥, and a number
that can no longer be determined is replaced by text.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np

from core.analysis.changes_since import Since
from core.analysis.commit_changes import CommitChanges
from core.analysis.commit_sentences import attention_sentence, what
from core.analysis.expiration_dates import expiries, expiring
from core.analysis.usual_commits import Sign, attention
from core.formats.table_format import TableRef
from core.model.history import History
from core.model.intervals import Mask
from core.model.references import MAIN, Heads, Tag
from core.units import wall_clock
from dashboard import words
from dashboard.formatting import markup, units
from dashboard.formatting.language import noun
from dashboard.formatting.markup import Html, Piece
from dashboard.view_models.notices import INFO, PROBLEM, WARNING, Notice, notices

SOON_MS = 7 * 86_400_000
LATELY_MS, MONTH_MS = 14 * 86_400_000, 30 * 86_400_000
MOST = 50  # tables that Home shows, and so reads
NEWEST = 3  # commits that Home tells in a sentence


@dataclass(frozen=True, slots=True)
class TableFacts:
    """One row of Home. Files and bytes are None until the manifests are read; `lower_bound` if some could not be read.

    `history_bytes` is what would be reclaimed if only main's latest snapshot were kept. `policy_bytes` is what the
    policies of all branches would reclaim at `judged_ms`.
    """

    snapshots: int
    tags: int
    branch_tags: int
    branches: int
    rows: int | None
    last_ms: int | None
    live_files: int | None
    live_bytes: int | None
    history_bytes: int | None
    policy_bytes: int | None
    judged_ms: int | None
    lower_bound: bool
    notes: tuple[Notice, ...]
    attention: tuple[tuple[int, Notice], ...] = ()  # of main's commits: when, and what to look at
    newest: tuple[tuple[int, str], ...] = ()  # of main's last commits: when, and what they changed

    @property
    def exactly(self) -> tuple[int | None, int | None]:
        """Current files and bytes, or None if the real values may be higher, so that later visits are not compared with
        them."""
        return (None, None) if self.lower_bound else (self.live_files, self.live_bytes)


def table_facts(heads: Heads, history: History | None = None, now_ms: int = 0) -> TableFacts:
    """Compute the Home row of a table, first from its references alone, then with its history."""
    latest = heads.main.latest
    files = live = only = policy = None
    if history is not None:
        newest = history.live_now()
        files, live = (
            (0, 0) if newest is None else (int(t[newest]) for t in (history.totals.files, history.totals.bytes))
        )
        kept = np.zeros(history.held.positions, dtype=np.bool_)
        kept[[] if newest is None else [newest]] = True
        only = _freed(history, kept)
        policy = _freed(history, history.existing & ~expiring(history, now_ms))
    return TableFacts(
        snapshots=sum(len(line.snapshots) for line in heads.lines),
        tags=len(heads.main.tags),
        branch_tags=sum(len(line.tags) for line in heads.lines[1:]),
        branches=len(heads.branches),
        rows=latest.total_rows if latest else None,
        last_ms=latest.time_ms if latest else None,
        live_files=files,
        live_bytes=live,
        history_bytes=only,
        policy_bytes=policy,
        judged_ms=None if history is None else now_ms,
        lower_bound=bool(history and history.incomplete),
        notes=notices(heads, history),
        **({} if history is None or latest is None else _commits(history, now_ms)),
    )


def _commits(history: History, now_ms: int) -> dict[str, Any]:
    """What main's last commits changed, and what of the last month needs attention."""
    changes = CommitChanges(history)
    found = []
    for each in attention(changes, now_ms - MONTH_MS, now_ms):
        is_commit = each.sign is not Sign.STOPPED
        at = each.change.snapshot.time_ms if is_commit else now_ms
        text = words.spoken(attention_sentence(each))
        found.append((at, Notice(WARNING, text, str(each.change.snapshot.id))))
    last = reversed(range(max(0, len(changes.snapshots) - NEWEST), len(changes.snapshots)))
    newest = [(changes.snapshots[each].time_ms, words.spoken(what(changes.of(each)))) for each in last]
    return {"attention": tuple(found), "newest": tuple(newest)}


def noteworthy(found: TableFacts, before_ms: int | None, now_ms: int) -> tuple[Notice, ...]:
    """What needs attention of the last two weeks, or of all the time since the last visit (a month at most)."""
    since = now_ms - LATELY_MS if before_ms is None else min(before_ms, now_ms - LATELY_MS)
    return tuple(note for at, note in found.attention if at > since)


def _freed(history: History, kept: Mask) -> int | None:
    """Return the known bytes that no holder needs if only `kept` stays, excluding files that may not be deleted. None
    if one of the kept versions is not fully readable: it may hold any file, so any number could be too high."""
    if any(kept[position] for position in history.incomplete):
        return None
    held = history.held
    return history.bytes_of(held.over(history.existing) & ~held.over(kept) & history.objects["ours"].to_numpy())


# the tables -----------------------------------------------------------------------------------------------------------


FIGURES: Mapping[str, Callable[[TableFacts], int | None]] = {
    "snapshots": lambda found: found.snapshots,
    "rows": lambda found: found.rows,
    "live": lambda found: found.live_bytes,
    "history": lambda found: found.history_bytes,
    "policy": lambda found: found.policy_bytes,
    "commit": lambda found: found.last_ms,
}


def ordered(tables: Sequence[TableRef], sort: str, facts: Mapping[str, TableFacts]) -> list[TableRef]:
    """Sort tables by a figure, the largest or newest first, or by name; a `-` before it reverses. What is not known
    of a table puts it last either way; tables with the same figure stay in the order of their names."""
    column, is_reversed = sort.removeprefix("-"), sort.startswith("-")
    by_name = sorted(tables, key=lambda ref: ref.title.casefold())
    if column not in FIGURES:
        return by_name[::-1] if is_reversed else by_name
    figure = FIGURES[column]
    known = {ref.location: figure(facts[ref.location]) for ref in by_name if ref.location in facts}
    sure = [(value, ref) for ref in by_name if (value := known.get(ref.location)) is not None]
    sure.sort(key=lambda each: each[0] if is_reversed else -each[0])
    return [ref for _, ref in sure] + [ref for ref in by_name if known.get(ref.location) is None]


def head(sort: str = "") -> str:
    columns = words.OVERVIEW_COLUMNS
    sign = {sort.removeprefix("-"): " ↑" if sort.startswith("-") else " ↓"}
    return markup.grid_head(
        [(columns[name] + sign.get(name, ""), words.OVERVIEW_HELP.get(name, "")) for name in columns]
    )


def line(found: TableFacts | None, zone: str, now_ms: int, news: Piece = "") -> str:
    """Render the cells of one table, with dots for numbers still being read and `news` below."""
    if found is None:
        return markup.grid_line([markup.muted("…") for _ in words.OVERVIEW_COLUMNS], "")

    def size(value: int | None) -> Html:
        if value is None:
            return markup.muted("…" if found.judged_ms is None else "—")
        return markup.size(value, at_least=found.lower_bound)

    names = [units.plural(found.tags, "tag")] if found.tags or found.branch_tags else []
    names += [units.plural(found.branches, "branch", "branches")] if found.branches else []
    cells: list[Piece] = [
        units.count(found.snapshots),
        markup.hint(", ".join(names) or "—", words.tags_of(found.tags, found.branch_tags)),
        units.count(found.rows),
        size(found.live_bytes),
        size(found.history_bytes),
        size(found.policy_bytes),
        markup.hint(units.ago(found.last_ms, now_ms), units.moment(found.last_ms, zone)),
    ]
    return markup.grid_line(cells, markup.news(news) if news else "")


def tiles(tables: int, read: Sequence[TableFacts], notes: Sequence[tuple[str, Notice]]) -> str:
    """Sum up the tables read so far; `≥` while some are missing or could not be read completely. `notes` are what the
    page lists below, each with its table."""
    missing = len(read) < tables
    some = missing or any(each.lower_bound for each in read)

    def total(values: Iterator[int | None]) -> Html:
        return markup.size(sum(value or 0 for value in values), at_least=some)

    noted = len({table for table, note in notes if note.level != INFO})
    snapshots = sum(each.snapshots for each in read)
    below = words.read_so_far(len(read), tables) if missing else words.with_warnings(noted, snapshots)
    return markup.tiles(
        [
            (words.TILE_TABLES, units.count(tables), below),
            (words.TILE_LIVE, total(each.live_bytes for each in read), words.TILE_LIVE_BELOW),
            (words.TILE_HISTORY, total(each.history_bytes for each in read), words.TILE_HISTORY_BELOW),
            (words.TILE_POLICY, total(each.policy_bytes for each in read), words.TILE_POLICY_BELOW),
        ]
    )


# what is new ----------------------------------------------------------------------------------------------------------


def news(found: Since, zone: str, now_ms: int, newest: Sequence[tuple[int, str]] = ()) -> Html:
    """What is new in a table since it was last seen: one line, and a sentence for each of its last commits."""
    since = markup.hint(words.since(units.ago(found.at_ms, now_ms)), units.moment(found.at_ms, zone))
    if found.is_quiet:
        return markup.join([since, markup.muted(words.SINCE_QUIET)])
    line = markup.join([since, markup.join(_news(found), " · ")])
    lines = [
        markup.join([markup.muted(units.moment(at, zone)[:16]), text], " ") for at, text in newest if at > found.at_ms
    ]
    return markup.join([line, *lines], "<br>")


def _news(found: Since) -> Iterator[Piece]:
    for branch, before, now in found.moved:
        yield markup.in_hue("removed", words.since_moved(branch, before, now))
    if number := sum(each.number for each in found.commits):
        kinds = ", ".join(
            words.since_kind(each.number, each.kind, each.user, "" if each.branch == MAIN else each.branch)
            for each in found.commits[:4]
        )
        yield words.since_commits(number, kinds, len(found.commits) > 4)
    if found.unseen is None:
        yield markup.muted(words.SINCE_UNSEEN)
    elif found.unseen:
        yield markup.muted(words.since_unseen(found.unseen))
    if found.rows or found.files or found.bytes:
        yield markup.join(_net(found), ", ")
    for sentence, names in (
        (words.since_tags_created, found.tags_made),
        (words.since_tags_moved, found.tags_moved),
        (words.since_tags_expired, found.tags_ended),
        (words.since_tags_deleted, found.tags_gone),
        (words.since_branches_created, found.branches_made),
        (words.since_branches_deleted, found.branches_gone),
    ):
        if names:
            yield markup.hint(sentence([name.removeprefix("tag:") for name in names]), "\n".join(names))
    if found.expired:
        yield words.since_expired(found.expired)
    if found.schema:
        changes = [words.spoken(each) for each in found.schema]
        yield markup.hint(words.since_schema(changes), "\n".join(changes))
    if found.schema_ids:
        yield words.since_schema_ids(*found.schema_ids)


def _net(found: Since) -> Iterator[Piece]:
    for value, counted in ((found.rows, noun("row")), (found.files, noun("file"))):
        if value:
            yield markup.in_hue("added" if value > 0 else "removed", units.signed_plural(value, counted))
    if found.bytes:
        yield markup.hint(units.signed_size(found.bytes), units.exact_bytes(found.bytes))


def is_mark(kept: Any) -> TypeGuard[Mapping[str, Any]]:
    """Return whether a stored document can be read by `since`; an older version may have stored another format."""
    keys = {"at_ms", "heads", "retained", "tags", "schema", "rows", "files", "bytes"}
    return isinstance(kept, Mapping) and keys <= kept.keys()


# what ends soon -------------------------------------------------------------------------------------------------------


def story(clicks: Sequence[str], answer: str) -> str:
    """Render the steps to an answer; the answer itself appears on request."""
    return markup.story(clicks, words.STORY_ANSWER, answer)


def ending(heads: Heads, now_ms: int) -> list[tuple[int, str, Tag]]:
    """List tags that expire automatically within `SOON_MS` or have already expired, as (ms left, point, tag), soonest
    first.

    Paimon tags are judged by this machine's local time, as Paimon itself does, because the files contain no zone.
    """
    found, dates = [], expiries(heads, now_ms)
    for line in heads.lines:
        prefix = "" if line.branch == MAIN else f"branch:{line.branch}/"
        for tag in line.tags:
            left, point = _left_ms(tag, now_ms), f"{prefix}tag:{tag.name}"
            if left is not None and left <= SOON_MS and dates[point].not_before_ms is not None:
                found.append((left, point, tag))
    return sorted(found, key=lambda each: each[:2])


def _left_ms(tag: Tag, now_ms: int) -> int | None:
    if tag.ends_ms is not None:
        return tag.ends_ms - now_ms
    return None if tag.expires is None else (tag.expires - wall_clock(now_ms)) // dt.timedelta(milliseconds=1)


def ends(left: int, point: str, tag: Tag, zone: str) -> Html:
    """Render one line about a tag that expires soon."""
    when = words.tag_ends(words.tag_expires(tag, zone), units.span(abs(left)), left <= 0, tag.ends_ms is None)
    return markup.join([markup.chip("tag", point.replace("tag:", "", 1)), markup.mono(tag.snapshot.id), when])


def worst_first(found: Sequence[tuple[str, Notice]]) -> list[tuple[str, Notice]]:
    """Sort (table, notice) pairs, most severe first."""
    order = (PROBLEM, WARNING, INFO)
    return sorted(found, key=lambda each: (order.index(each[1].level), each[0]))
