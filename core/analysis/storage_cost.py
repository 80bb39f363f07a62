"""Questions of cost: who holds what, what a tag costs, which tags to delete, what each retention would free.

Invariant: each is `freed` computed for many sets at once. Of each object only the positions that stay matter; sums are
exact. One pass over the intervals answers for any number of tags or retentions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from core.errors import Invalid
from core.formats import registry
from core.model.history import HistorySummary
from core.model.intervals import Intervals, Ints, Mask, Shapes, freed
from core.model.references import MAIN, Holder, HolderKind

MAX_DROPPABLE = 400
MOST_NAMES = 40  # beyond, the remaining tags are taken together
LIVE, HISTORY = "live", "history"


@dataclass(frozen=True, slots=True)
class Cost:
    """What deleting only this holder frees."""

    files: int
    bytes: int


def _kept(runs: Intervals, mask: Mask) -> tuple[Ints, Ints, Ints]:
    """Per object over the masked positions: how many hold it, and the first and the last of them (-1 if none).

    Intervals are maximal and sorted by owner, so those of one object are neighbours.
    """
    sums = np.concatenate(([0], np.cumsum(mask, dtype=np.int64)))
    places = np.flatnonzero(mask)
    begin, end = sums[runs.first], sums[runs.last + 1]
    hit = end > begin
    owner, begin, end = runs.owner[hit], begin[hit], end[hit]
    count, first, last = np.zeros(runs.owners, np.int64), np.full(runs.owners, -1), np.full(runs.owners, -1)
    if len(owner):
        starts = np.flatnonzero(np.concatenate(([True], owner[1:] != owner[:-1])))
        ends = np.concatenate((starts[1:], [len(owner)])) - 1
        own = owner[starts]
        count[own] = np.add.reduceat(end - begin, starts) if len(starts) < len(owner) else end - begin
        first[own], last[own] = places[begin[starts]], places[end[ends] - 1]
    return count, first, last


def _only(runs: Intervals, chosen: Mask) -> tuple[Intervals, Ints]:
    """The intervals of the chosen objects, renumbered, and the objects' old numbers."""
    return runs.only(chosen), np.flatnonzero(chosen)


def exclusive(history: HistorySummary, kept: Mask) -> tuple[Ints, Ints]:
    """Per position: (files, bytes) that it alone keeps among `kept`, which deleting only it would free."""
    alike = history.shapes
    count, first, _ = _kept(alike.runs, kept)
    single = count == 1
    files, sizes = np.zeros((2, len(history.holders)), dtype=np.int64)
    np.add.at(files, first[single], alike.count[single])
    np.add.at(sizes, first[single], alike.weight[single])
    return files, sizes


def is_exact(history: HistorySummary, kept: Mask) -> Mask:
    """Per position: whether `exclusive` is exact.

    It is not if another kept version is unreadable and may share files.
    """
    blind = np.zeros(len(history.holders), dtype=np.bool_)
    blind[list(history.incomplete)] = True
    blind &= kept
    return np.asarray((blind.sum() - blind) == 0)


def retention_curve(history: HistorySummary, branch: str = MAIN) -> tuple[Ints, Ints]:
    """What keeping only the newest N snapshots of `branch` frees, for every N from 0 to all: (files, bytes).

    All tags, other branches and changelogs stay. Index 0 exists only for the arithmetic: one snapshot always stays.
    """
    alike = history.shapes
    own = np.array([_is_snapshot(holder, branch) for holder in history.holders], dtype=np.bool_)
    named = {str(ref.snapshot_id) for ref in history.heads.refs if ref.name != MAIN}  # Iceberg's tags and branches
    may_go = own & np.array([holder.name not in named for holder in history.holders], dtype=np.bool_)
    others = alike.runs.over(history.existing & ~may_go)
    _, _, last = _kept(alike.runs, may_go)
    order = np.cumsum(own) - 1  # a position's rank among the branch's snapshots
    alone = (last >= 0) & ~others
    total = int(own.sum())
    files, sizes = np.zeros((2, total + 1), dtype=np.int64)
    # An object whose last snapshot has rank r is freed once the first r + 1 expire: when at most total - r - 1 are
    # kept.
    at = total - order[last[alone]] - 1
    np.add.at(files, at, alike.count[alone])
    np.add.at(sizes, at, alike.weight[alone])
    return np.cumsum(files[::-1])[::-1], np.cumsum(sizes[::-1])[::-1]


def _is_snapshot(holder: Holder, branch: str) -> bool:
    return holder.branch == branch and holder.kind is HolderKind.SNAPSHOT and holder.exists


def by_holders(history: HistorySummary, most: int = MOST_NAMES) -> pa.Table:
    """Bytes by the set of names that hold them: holders (text), files, bytes; largest first.

    Names are "live" (main's newest snapshot), "history" (main's other snapshots), each tag, each other branch and
    "changelogs". Beyond `most` names, the remaining tags are combined as "other tags".
    """
    masks = holder_names(history, most)
    names = list(masks)
    totals: dict[str, tuple[int, int]] = {}
    for text, files, sizes in _by_signature(history.shapes, names, list(masks.values())):
        before = totals.get(text, (0, 0))
        totals[text] = before[0] + files, before[1] + sizes
    rows = sorted(((text, *total) for text, total in totals.items()), key=lambda row: (-row[2], row[0]))
    columns = [pa.array([row[column] for row in rows], kind) for column, kind in enumerate(_HOLDER_COLUMNS)]
    return pa.table(dict(zip(("holders", "files", "bytes"), columns, strict=True)))


def holder_names(history: HistorySummary, most: int = MOST_NAMES) -> dict[str, Mask]:
    """Return the positions of each name that `by_holders` uses."""
    masks: dict[str, Mask] = {}
    live = history.live_now()
    for position, holder in enumerate(history.holders):
        if holder.exists:
            name = _group(holder, position == live, masks, most)
            masks.setdefault(name, np.zeros(len(history.holders), np.bool_))[position] = True
    return masks


def deleting(history: HistorySummary, names: Collection[str], kept: Mask) -> Cost:
    """Return what deleting these names of `by_holders` frees among `kept`; the newest snapshot always stays."""
    remaining = kept.copy()
    for name, mask in holder_names(history).items():
        if name in names and name != LIVE:
            remaining &= ~mask
    alike = history.shapes
    is_freed = freed(alike.runs, kept, remaining)
    return Cost(int(alike.count[is_freed].sum()), int(alike.weight[is_freed].sum()))


def _by_signature(alike: Shapes, names: list[str], masks: list[Mask]) -> Iterator[tuple[str, int, int]]:
    """(names that hold, files, bytes) for each set of names.

    For an object with one interval the set follows from the ranks that the interval spans (one gather for all names
    with a single position, such as tags); for the few objects with more intervals, from one bit per name.
    """
    runs = alike.runs
    many = np.bincount(runs.owner, minlength=runs.owners) > 1
    single, objects = _only(runs, ~many)
    alone = [index for index, mask in enumerate(masks) if mask.sum() == 1]
    alone.sort(key=lambda index: int(np.argmax(masks[index])))
    union = np.zeros(runs.positions, dtype=np.bool_)
    for index in alone:
        union |= masks[index]
    sums = np.concatenate(([0], np.cumsum(union, dtype=np.int64)))
    low, high = sums[single.first], sums[single.last + 1]
    key = np.where(low < high, low * (len(alone) + 1) + high, 0)
    wide = [index for index in range(len(masks)) if index not in alone]
    for index in wide:
        counted = np.concatenate(([0], np.cumsum(masks[index], dtype=np.int64)))
        key = key * 2 + (counted[single.last + 1] > counted[single.first])
    for value, files, total in _grouped(key, alike, objects[single.owner]):
        spans, held = value >> len(wide), [index for bit, index in enumerate(reversed(wide)) if value >> bit & 1]
        held += alone[spans // (len(alone) + 1) : spans % (len(alone) + 1)] if spans else []
        if held:
            yield " + ".join(names[index] for index in sorted(held)), files, total
    several, objects = _only(runs, many)
    signature = np.zeros(several.owners, dtype=np.int64)
    for bit, mask in enumerate(masks):
        signature |= several.over(mask).astype(np.int64) << bit
    for value, files, total in _grouped(signature, alike, objects):
        held = [index for index in range(len(masks)) if value >> index & 1]
        if held:
            yield " + ".join(names[index] for index in held), files, total


def _grouped(key: Ints, alike: Shapes, chosen: Ints) -> Iterator[tuple[int, int, int]]:
    """(key, files, bytes) for each distinct key of the chosen shapes."""
    table = pa.table({"key": key, "files": alike.count[chosen], "bytes": alike.weight[chosen]})
    for row in table.group_by("key").aggregate([("files", "sum"), ("bytes", "sum")]).to_pylist():
        yield row["key"], row["files_sum"], row["bytes_sum"]


_HOLDER_COLUMNS = (pa.string(), pa.int64(), pa.int64())


def _group(holder: Holder, is_live: bool, known: dict[str, Mask], most: int) -> str:
    if holder.branch != MAIN:
        return f"branch:{holder.branch}"
    match holder.kind:
        case HolderKind.SNAPSHOT:
            return LIVE if is_live else HISTORY
        case HolderKind.CHANGELOG:
            return "changelogs"
        case HolderKind.TAG:
            return f"tag:{holder.name}" if len(known) < most or f"tag:{holder.name}" in known else "other tags"


@dataclass(frozen=True, slots=True)
class TagDeletion:
    """A set of tags, by name, and what deleting all of them frees."""

    tags: tuple[str, ...]
    files: int
    bytes: int


def drops(history: HistorySummary, now_ms: int, branch: str = MAIN) -> tuple[TagDeletion, ...]:
    """`best_drops` with the rules of the format.

    For Paimon's tags: what deleting them frees now. Iceberg's tags hold no files themselves: what an expiry by the
    table's own rules at `now_ms` frees only without them; tags whose snapshots that expiry keeps anyway are left out.
    """
    own = branch if history.heads.capabilities.branches_are_directories else MAIN
    return best_drops(*registry.of(history.heads).by_tags(history, now_ms), own)


def best_drops(history: HistorySummary, kept: Mask, branch: str = MAIN) -> tuple[TagDeletion, ...]:
    """For each number of tags k (from 1): the k tags of `branch` whose deletion frees most, `kept` being what stays.

    Dynamic programming over the order of tags: deleting a block of neighbours frees every object whose kept holders are
    all inside it. The choice ignores objects held by tags that are not neighbours (each result is still exact, because
    it is counted again with the mask). Raises `Invalid` beyond 400 tags.
    """
    tags = [
        position
        for position, holder in enumerate(history.holders)
        if kept[position] and holder.branch == branch and holder.kind is HolderKind.TAG
    ]
    if len(tags) > MAX_DROPPABLE:
        raise Invalid(
            "{tags:,} tags are too many to compare; the limit is {max_droppable:,}.",
            tags=len(tags),
            max_droppable=MAX_DROPPABLE,
        )
    if not tags:
        return ()
    value, is_scattered = _block_values(history, kept, np.array(tags, dtype=np.int64))
    scattered = _only(history.shapes.runs, is_scattered)
    return tuple(_drop(history, kept, scattered, value, tags, chosen) for chosen in _choose(value[1]))


def _block_values(history: HistorySummary, kept: Mask, tags: Ints) -> tuple[tuple[Ints, Ints], Mask]:
    """value[l, r]: (files, bytes) of objects whose kept holders all lie among tags l to r, neighbours in tag order.

    Also returns the mask of objects that only tags keep, but tags that are not neighbours.
    """
    alike = history.shapes
    count, first, last = _kept(alike.runs, kept)
    rank = np.full(len(history.holders), -1, dtype=np.int64)
    rank[tags] = np.arange(len(tags))
    begin, end = rank[first], rank[last]
    only_tags = (count > 0) & ~alike.runs.over(kept & (rank < 0))
    inside = only_tags & (end - begin + 1 == count)
    exact = np.zeros((2, len(tags), len(tags)), dtype=np.int64)
    np.add.at(exact[0], (begin[inside], end[inside]), alike.count[inside])
    np.add.at(exact[1], (begin[inside], end[inside]), alike.weight[inside])
    # Sum over l <= i <= j <= r: suffix sums over the first index, prefix sums over the second.
    files, sizes = (np.cumsum(np.cumsum(each[::-1], axis=0)[::-1], axis=1) for each in exact)
    return (files, sizes), only_tags & ~inside


def _choose(value: Ints) -> list[list[int]]:
    """For each k the tags that free most: best over the first i tags, with tag i - 1 kept or ending a block."""
    n = len(value)
    best = np.zeros((n + 1, n + 1), dtype=np.int64)  # [k][i]
    block_lengths = np.zeros((n + 1, n + 1), dtype=np.int64)  # length of the block that ends at tag i - 1, 0 = tag kept
    for i in range(1, n + 1):
        for k in range(1, i + 1):
            best[k, i], block_lengths[k, i] = (best[k, i - 1], 0) if k < i else (-1, 0)
            lengths = np.arange(1, k + 1)
            before = np.maximum(i - lengths - 1, 0)  # the tag before a block is kept, or there is none
            fits = (k - lengths <= before) | (i == lengths)
            totals = np.where(fits, best[k - lengths, before] + value[i - lengths, i - 1], -1)
            at = int(np.argmax(totals))
            if totals[at] > best[k, i] or (totals[at] == best[k, i] and k == i):
                best[k, i], block_lengths[k, i] = totals[at], lengths[at]
    return [_trace(block_lengths, k, n) for k in range(1, n + 1)]


def _trace(block_lengths: Ints, k: int, i: int) -> list[int]:
    chosen: list[int] = []
    while k > 0 and i > 0:
        length = int(block_lengths[k, i])
        if length == 0:
            i -= 1
            continue
        chosen += range(i - length, i)
        k, i = k - length, max(i - length - 1, 0)
    return sorted(chosen)


def _drop(
    history: HistorySummary,
    kept: Mask,
    scattered: tuple[Intervals, Ints],
    value: tuple[Ints, Ints],
    tags: list[int],
    chosen: list[int],
) -> TagDeletion:
    """What a choice frees: blocks by their sums, and objects held by separate tags by the mask."""
    blocks: list[list[int]] = []
    for index in chosen:
        if blocks and blocks[-1][1] == index - 1:
            blocks[-1][1] = index
        else:
            blocks.append([index, index])
    files, sizes = (sum(int(each[low, high]) for low, high in blocks) for each in value)
    remaining = kept.copy()
    remaining[[tags[index] for index in chosen]] = False
    alike, (runs, objects) = history.shapes, scattered
    also = objects[~runs.over(remaining)]
    names = tuple(history.holders[tags[index]].name for index in chosen)
    return TagDeletion(names, files + int(alike.count[also].sum()), sizes + int(alike.weight[also].sum()))
