"""Home as values: a row for each table, totals, news since the last visit, what expires soon, what needs attention.

Law: a number that is still being read is shown as dots, a sum over less than everything says ≥, and what can no longer
be known is said in words.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np

from core.analysis.changes_since import Since
from core.analysis.expiration_dates import expiring
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


@dataclass(frozen=True, slots=True)
class TableFacts:
    """One line of Home. Files and bytes are None until manifests were read; `lower_bound` where not all could be.

    `history_bytes`: freed if only main's newest snapshot stayed; `policy_bytes`: freed by every branch's own policy at
    `judged_ms`.
    """

    snapshots: int
    tags: int
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

    @property
    def exactly(self) -> tuple[int | None, int | None]:
        """Live files and bytes, each None where it may be less than there is: the next one is not held against it."""
        return (None, None) if self.lower_bound else (self.live_files, self.live_bytes)


def table_facts(heads: Heads, history: History | None = None, now_ms: int = 0) -> TableFacts:
    """What Home says of a table, first from its references alone, then with its history."""
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
        tags=sum(len(line.tags) for line in heads.lines),
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
    )


def _freed(history: History, kept: Mask) -> int | None:
    """Known bytes that nothing holds once only `kept` stays; what is not ours to delete left out. None where one of
    these points cannot be read in full: nobody knows what it keeps, so any number could be too great."""
    if any(kept[position] for position in history.incomplete):
        return None
    held = history.held
    return history.bytes_of(held.over(history.existing) & ~held.over(kept) & history.objects["ours"].to_numpy())


# the tables -----------------------------------------------------------------------------------------------------------


def head() -> str:
    columns = words.OVERVIEW_COLUMNS
    return markup.grid_head([(columns[name], words.OVERVIEW_HELP.get(name, "")) for name in columns])


def line(found: TableFacts | None, zone: str, now_ms: int, news: Piece = "") -> str:
    """The cells of one table; dots where a number is still being read. `news` stands under them."""
    if found is None:
        return markup.grid_line([markup.muted("…") for _ in words.OVERVIEW_COLUMNS], "")

    def size(value: int | None) -> Html:
        if value is None:
            return markup.muted("…" if found.judged_ms is None else "—")
        return markup.size(value, at_least=found.lower_bound)

    names = [units.plural(found.tags, "tag")] if found.tags else []
    names += [units.plural(found.branches, "branch", "branches")] if found.branches else []
    cells: list[Piece] = [
        units.count(found.snapshots),
        markup.muted(", ".join(names) or "—"),
        units.count(found.rows),
        size(found.live_bytes),
        size(found.history_bytes),
        size(found.policy_bytes),
        markup.hint(units.ago(found.last_ms, now_ms), units.moment(found.last_ms, zone)),
    ]
    return markup.grid_line(cells, markup.news(news) if news else "")


def tiles(tables: int, read: Sequence[TableFacts]) -> str:
    """Sums over the tables read so far; `≥` while some are still missing or could not be read in full."""
    missing = len(read) < tables
    some = missing or any(each.lower_bound for each in read)

    def total(values: Iterator[int | None]) -> Html:
        return markup.size(sum(value or 0 for value in values), at_least=some)

    noted = sum(any(note.level != INFO for note in each.notes) for each in read)
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


def news(found: Since, zone: str, now_ms: int) -> Html:
    """One line of what is new in a table since it was last seen."""
    since = markup.hint(words.since(units.ago(found.at_ms, now_ms)), units.moment(found.at_ms, zone))
    if found.is_quiet:
        return markup.join([since, markup.muted(words.SINCE_QUIET)])
    return markup.join([since, markup.join(_news(found), " · ")])


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
    for said, names in (
        (words.since_tags_made, found.tags_made),
        (words.since_tags_moved, found.tags_moved),
        (words.since_tags_ended, found.tags_ended),
        (words.since_tags_gone, found.tags_gone),
        (words.since_branches_made, found.branches_made),
        (words.since_branches_gone, found.branches_gone),
    ):
        if names:
            yield markup.hint(said([name.removeprefix("tag:") for name in names]), "\n".join(names))
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
    """Whether a remembered document is one that `since` reads: an older version may have kept another."""
    keys = {"at_ms", "heads", "retained", "tags", "schema", "rows", "files", "bytes"}
    return isinstance(kept, Mapping) and keys <= kept.keys()


# what ends soon -------------------------------------------------------------------------------------------------------


def story(clicks: Sequence[str], answer: str) -> str:
    """The way to an answer, step by step; the answer itself on request."""
    return markup.story(clicks, words.STORY_ANSWER, answer)


def ending(heads: Heads, now_ms: int) -> list[tuple[int, str, Tag]]:
    """Tags that end by themselves within `SOON_MS`, or whose time is over: (ms left, point, tag), the next one first.

    Paimon's tags are judged by the wall clock of this machine, as its writers' is: files hold no zone.
    """
    found = []
    for line in heads.lines:
        prefix = "" if line.branch == MAIN else f"branch:{line.branch}/"
        for tag in line.tags:
            left = _left_ms(tag, now_ms)
            if left is not None and left <= SOON_MS:
                found.append((left, f"{prefix}tag:{tag.name}", tag))
    return sorted(found, key=lambda each: each[:2])


def _left_ms(tag: Tag, now_ms: int) -> int | None:
    if tag.ends_ms is not None:
        return tag.ends_ms - now_ms
    return None if tag.expires is None else (tag.expires - wall_clock(now_ms)) // dt.timedelta(milliseconds=1)


def ends(left: int, point: str, tag: Tag, zone: str) -> Html:
    """One line of a tag that ends soon."""
    when = words.tag_ends(words.tag_expires(tag, zone), units.span(abs(left)), left <= 0, tag.ends_ms is None)
    return markup.join([markup.chip("tag", point.replace("tag:", "", 1)), markup.mono(tag.snapshot.id), when])


def worst_first(found: Sequence[tuple[str, Notice]]) -> list[tuple[str, Notice]]:
    """(table, notice), the gravest first."""
    order = (PROBLEM, WARNING, INFO)
    return sorted(found, key=lambda each: (order.index(each[1].level), each[0]))
