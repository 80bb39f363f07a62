"""A table's whole history in columns: which objects each holder keeps, and which files are live at each version.

Invariant: H(x), the set of holders of an object, is exactly the positions in its intervals. Positions are holders in a
fixed order. What could not be read is recorded per position in `incomplete`; nothing here guesses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import Corrupt, ErrorCode, NotFound
from core.model.intervals import Intervals, Ints, Mask, Shapes, shapes
from core.model.references import Heads, Holder, Problem, point_in_words
from core.model.time_travel import UNWRITTEN
from core.model.unheld import LISTED, Listed, Lister, NoLister, Unheld, given, names, unheld


@dataclass(frozen=True, slots=True)
class Totals:
    """Per position: live files, their bytes and rows (in files, before any merge), and the files that have rows."""

    files: Ints
    bytes: Ints
    rows: Ints
    data_files: Ints


@dataclass(frozen=True, slots=True)
class Reclaimed:
    """What no holder keeps any more after some are deleted.

    frees: path, kind and bytes of the objects that may be deleted, in any order
    foreign: how many others there are, which are not the table's
    kept_bytes, tags_keep_bytes: the known sizes of all objects that remain, and of those that only tags keep
    """

    frees: pa.Table
    foreign: int
    kept_bytes: int
    tags_keep_bytes: int


@dataclass(frozen=True)
class HistorySummary(ABC):
    """The holders of a table, and sums over what they hold: enough to plan what a deletion reclaims and what it costs.

    `History` has all files besides. Where they do not fit into one process, Spark sums them up.

    incomplete: position → what could not be read there
    """

    heads: Heads = field(repr=False)
    holders: tuple[Holder, ...] = field(repr=False)
    incomplete: Mapping[int, tuple[Problem, ...]]
    warnings: tuple[Problem, ...]

    @property
    @abstractmethod
    def shapes(self) -> Shapes:
        """Objects grouped by where they are held, with the known bytes of those that may be deleted."""

    @property
    @abstractmethod
    def totals(self) -> Totals:
        """Live files, bytes and rows of each position."""

    @abstractmethod
    def reclaimed(self, deleted: Mask, kept: Mask, tags: Mask) -> Reclaimed:
        """Return what is held in `deleted` and nowhere in `kept`. `tags`: the positions of tags."""

    @abstractmethod
    def objects_among(self, paths: Collection[str]) -> frozenset[str]:
        """Return those of these paths that are objects of the table."""

    @abstractmethod
    def held_among(self, paths: Collection[str]) -> dict[str, tuple[int, ...]]:
        """Return those of these paths that existing holders hold, and the positions of these holders."""

    @abstractmethod
    def partitions(self) -> frozenset[str]:
        """Return the directories of the partitions that any version has files in."""

    @abstractmethod
    def unheld(self, lister: Lister, directories: Sequence[str], seen: Listed) -> Unheld:
        """List directories; return which of these files, and of those `seen`, no existing holder holds."""

    def named_like_held(self, paths: Collection[str]) -> frozenset[str]:
        """Return those of these paths whose file has the name of one that an existing holder holds, at any place."""
        free = self.unheld(NoLister(), (), given(paths)).frees["path"].to_pylist() if paths else ()
        return frozenset(paths).difference(free)

    @abstractmethod
    def split(self, holders: tuple[Holder, ...], first: Ints) -> HistorySummary:
        """Return the same on the positions of `holders`, where position p was split as `Intervals.split` does."""

    @cached_property
    def existing(self) -> Mask:
        """Positions of holders that exist now, without those that an expiry would create."""
        return np.array([holder.exists for holder in self.holders], dtype=np.bool_)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Each thing that could not be read, without duplicates."""
        return tuple(dict.fromkeys(problem for found in self.incomplete.values() for problem in found))

    def position(self, point: str) -> int:
        """The position of a holder given as a POINT string. Raises `NotFound` if there is none."""
        try:
            return self._positions[point]
        except KeyError:
            raise NotFound(
                "The table has no snapshot or tag {point}.",
                point=point,
                path=self.heads.location,
                code=ErrorCode.NO_SNAPSHOT,
            ) from None

    def require(self, point: str) -> int:
        """The position of a version that was read in full.

        Raises `Corrupt`, naming the first problem, if it was not.
        """
        position = self.position(point)
        if problems := self.incomplete.get(position):
            raise Corrupt(
                "{point} cannot be read in full: {problem}",
                point=point_in_words(point),
                problem=problems[0].sentence(),
                path=problems[0].path,
                remedy="Other snapshots and tags are not affected.",
            )
        return position

    @cached_property
    def _positions(self) -> dict[str, int]:
        found = {holder.point: position for position, holder in enumerate(self.holders)}
        if not self.heads.capabilities.tags_hold_files:  # a tag has no position of its own, only that of its snapshot
            named = {holder.name: position for position, holder in enumerate(self.holders)}
            tags = {f"tag:{tag.name}": str(tag.snapshot.id) for tag in self.heads.main.tags}
            found |= {point: named[name] for point, name in tags.items() if name in named}  # else it is a holder itself
        return found

    def live_now(self) -> int | None:
        """The position of main's newest snapshot, or None for a table without snapshots."""
        latest = self.heads.main.latest
        return None if latest is None else self.position(str(latest.id))


@dataclass(frozen=True)
class History(HistorySummary):
    """Everything that questions about a table are answered from.

    objects: one row per physical path: path (text, relative to the table, or a full URI where external),
             kind (text, `ObjectKind`), bytes (int64, null where only the store knows), ours (bool: may be deleted)
    held:    intervals of objects over positions
    files:   one row per live identity of a data file: path, bytes, rows, partition, bucket, level, schema_id,
             source ("append", "compact" or null), format, object (row in `objects`)
    live:    intervals of files over positions
    """

    objects: pa.Table = field(repr=False)
    held: Intervals = field(repr=False)
    files: pa.Table = field(repr=False)
    live: Intervals = field(repr=False)

    @cached_property
    def totals(self) -> Totals:
        ones = np.ones(self.live.owners, dtype=np.int64)
        files = self.live.sums(ones)
        return Totals(
            files,
            self.live.sums(self.files["bytes"].to_numpy()),
            self.live.sums(self.files["rows"].to_numpy()),
            self.live.sums(pc.equal(self.files["content"], "data").cast(pa.int64()).to_numpy())
            if "content" in self.files.column_names
            else files,
        )

    @cached_property
    def shapes(self) -> Shapes:
        """Objects grouped by where they are held, with the known bytes of those that may be deleted."""
        sizes: Ints = pc.fill_null(self.objects["bytes"], 0).to_numpy()
        return shapes(self.held, sizes * self.objects["ours"].to_numpy())

    def reclaimed(self, deleted: Mask, kept: Mask, tags: Mask) -> Reclaimed:
        return reclaimed(self.objects, self.held, deleted, kept, tags)

    def objects_among(self, paths: Collection[str]) -> frozenset[str]:
        known = self.objects["path"]
        return frozenset(known.filter(pc.is_in(known, value_set=pa.array(list(paths), pa.string()))).to_pylist())

    def held_among(self, paths: Collection[str]) -> dict[str, tuple[int, ...]]:
        return held_among(self.objects, self.held, self.existing, paths)

    def partitions(self) -> frozenset[str]:
        return frozenset(self.files["partition"].unique().to_pylist())

    def unheld(self, lister: Lister, directories: Sequence[str], seen: Listed) -> Unheld:
        listed = Listed.together([seen, lister.listed(directories)])
        frees, kept = unheld(listed.files, names(self.objects["path"].filter(pa.array(self.held.over(self.existing)))))
        return Unheld(frees, kept, replace(listed, files=LISTED.empty_table()))

    def split(self, holders: tuple[Holder, ...], first: Ints) -> History:
        return replace(self, holders=holders, held=self.held.split(first))

    def files_at(self, position: int, *, is_ordered: bool = True) -> pa.Table:
        """The live data files of one version, ordered by path, as far as they could be read (see `require`).

        Without `is_ordered` in any order: putting 100,000 paths in order costs a sixth of reading their manifests.
        """
        rows = np.flatnonzero(self.live.at(position))
        if not is_ordered:
            return self.files if len(rows) == len(self.files) else self.files.take(pa.array(rows))
        paths = self.files["path"]
        order = pc.sort_indices(paths if len(rows) == len(paths) else paths.take(pa.array(rows)))
        return self.files.take(pa.array(rows[order.to_numpy()]))

    def files_of(self, point: str) -> pa.Table:
        """As `files_at`, of a version that was read in full; none of a table without snapshots."""
        return self.files.slice(0, 0) if point == UNWRITTEN else self.files_at(self.require(point))

    def partitions_at(self, position: int) -> pa.Table:
        """Files, rows and bytes by partition at a position; the largest first."""
        sums = (
            self.files_at(position, is_ordered=False)
            .group_by("partition")
            .aggregate([("path", "count"), ("rows", "sum"), ("bytes", "sum")])
        )
        named = sums.select(["partition", "path_count", "rows_sum", "bytes_sum"])
        named = named.rename_columns(["partition", "files", "rows", "bytes"])
        return named.sort_by([("bytes", "descending"), ("partition", "ascending")])

    def holders_of(self, path: str) -> tuple[Holder, ...]:
        """The existing holders of this object; empty if the history does not know the path."""
        found = pc.index(self.objects["path"], path).as_py()
        if found < 0:
            return ()
        mask = self.held.positions_of(found) & self.existing
        return tuple(self.holders[position] for position in np.flatnonzero(mask))

    def bytes_of(self, chosen: Mask) -> int:
        """The sum of the known sizes of the chosen objects, in bytes."""
        return _bytes_of(self.objects, chosen)


def reclaimed(objects: pa.Table, held: Intervals, deleted: Mask, kept: Mask, tags: Mask) -> Reclaimed:
    """As `HistorySummary.reclaimed`, of some of its objects."""
    was_held, by_tag, otherwise = (held.over(some) for some in (deleted, kept & tags, kept & ~tags))
    still_held = by_tag | otherwise
    chosen, ours = was_held & ~still_held, objects["ours"].to_numpy()
    return Reclaimed(
        objects.select(["path", "kind", "bytes"]).take(pa.array(np.flatnonzero(chosen & ours))),
        int((chosen & ~ours).sum()),
        _bytes_of(objects, still_held),
        _bytes_of(objects, was_held & by_tag & ~otherwise),
    )


def held_among(
    objects: pa.Table, held: Intervals, existing: Mask, paths: Collection[str]
) -> dict[str, tuple[int, ...]]:
    """As `HistorySummary.held_among`, of some of its objects."""
    is_given = pc.is_in(objects["path"], value_set=pa.array(list(paths), pa.string()))
    chosen = held.over(existing) & is_given.to_numpy()
    runs, positions = held.only(chosen), np.flatnonzero(existing)
    order = np.argsort(runs.owner, kind="stable")
    begin = np.searchsorted(positions, runs.first[order], side="left")
    end = np.searchsorted(positions, runs.last[order], side="right")
    start = np.searchsorted(runs.owner[order], np.arange(runs.owners + 1)).tolist()
    spans, every = list(zip(begin.tolist(), end.tolist(), strict=True)), positions.tolist()
    found: dict[str, tuple[int, ...]] = {}
    for path, first, last in zip(objects["path"].filter(pa.array(chosen)).to_pylist(), start, start[1:], strict=False):
        found[path] = tuple(position for one, other in spans[first:last] for position in every[one:other])
    return found


def _bytes_of(objects: pa.Table, chosen: Mask) -> int:
    return int(pc.sum(objects["bytes"].filter(pa.array(chosen))).as_py() or 0)
