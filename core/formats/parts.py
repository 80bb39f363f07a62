"""A history in parts: each has the objects with some paths and all that holds them, so that answers of parts add up.

Invariant: `part_of` depends on nothing but a path, and a part is built from all entries that name one of its objects,
in the order in which they are read without parts. So an object is held in its part exactly where it is held in the
whole.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import pyarrow as pa

from core.errors import SnapscopeError
from core.messages import Reason
from core.model.history import History, HistorySummary, Totals
from core.model.intervals import Ints
from core.model.references import Heads, Holder, Problem

MANIFEST = "manifest"
"""The column of entries that has the number of the manifest they come from."""

Manifests = Sequence[tuple[int, str, int]]


@dataclass(frozen=True, slots=True)
class Facts:
    """What decoding a manifest yields besides its entries: their number by kind, why it could not be read, an unknown
    value that only matters to some holders, the rows of its files (less those of deleted ones), and fields that no
    known release writes."""

    manifest: int
    entries: tuple[int, ...]
    error: SnapscopeError | None = None
    unknown: int | None = None
    rows: int = 0
    odd: str | None = None


@dataclass(frozen=True, slots=True)
class HistoryPart:
    """A part, and the numbers of manifests that contradict others, or themselves, about one of its objects."""

    history: History
    contradictory: Ints


@dataclass(frozen=True, slots=True)
class Missing:
    """The result of looking for some of the held objects in the directories of files to be deleted.

    unsure: a directory where one is missing, or has another size → why nothing there may be deleted
    namesakes: held objects with the name of a file to be deleted
    """

    unsure: Mapping[str, Reason]
    namesakes: frozenset[str]


class DiskCheck(Protocol):
    """Compares what versions hold with what is in the directories of files to be deleted. It can be pickled."""

    @property
    def directories(self) -> pa.Array: ...

    def listed(self, directories: Collection[str]) -> pa.Table:
        """List some of `directories`: path and bytes of everything in them."""

    def missing(self, objects: pa.Table, listed: pa.Table) -> Missing:
        """Look for some of the objects that versions hold, given as path, kind and bytes, in what is at their paths."""


class Examination(Protocol):
    """Checks whether redundant metadata of a history in parts agrees, and whether files to be deleted may be needed."""

    def problems(self, history: HistorySummary, contradictory: Collection[int]) -> Mapping[int, Problem]:
        """Return a contradiction by position, given the manifests that parts name."""

    def check(self, frees: Collection[str]) -> DiskCheck: ...

    def doubt(
        self, check: DiskCheck, found: Sequence[Missing], frees: Collection[str]
    ) -> Callable[[str], Reason | None]:
        """Return what says why a file stays, or None if it may be deleted, from what was found of all objects."""


class Reader(Protocol):
    """Decodes manifests of one table, given as number, name and size in bytes. It can be pickled."""

    def entries(self, manifests: Manifests, parts: int) -> tuple[list[Facts], pa.Table, Ints]:
        """Return facts, entries with the column `MANIFEST`, and the part of each.

        An entry that names objects of several parts is repeated.
        """


class Builder(Protocol):
    """Builds any part of one history. It can be pickled."""

    def part(self, entries: Sequence[pa.Table], part: int, parts: int) -> HistoryPart:
        """Return a part, from all tables that `Reader.entries` gave for it, in any order of manifests."""


@dataclass(frozen=True, slots=True)
class HolderFrame:
    """The holders of a history, and what builds its parts.

    problems: given the sums over all parts, what could not be read by position
    examination: None where `TableFormat.examine` needs no files
    """

    heads: Heads
    holders: tuple[Holder, ...]
    warnings: tuple[Problem, ...]
    builder: Builder
    problems: Callable[[Totals], Mapping[int, tuple[Problem, ...]]]
    examination: Examination | None = None


class InParts(Protocol):
    """A table whose history is built in parts: manifests are decoded anywhere, in any batches, in any order."""

    @property
    def manifests(self) -> Manifests: ...

    @property
    def entries(self) -> int:
        """How many entries there are by what manifest lists say, of which some may be wrong."""

    def reader(self) -> Reader: ...

    def frame(self, facts: Sequence[Facts]) -> HolderFrame:
        """Return the frame, given what decoding each manifest told."""


def part_of(paths: pa.Array, parts: int) -> Ints:
    """Return the part of the object at each path."""
    from pandas.util import hash_array  # slow to import, and rarely needed

    keys = hash_array(paths.to_numpy(zero_copy_only=False), categorize=False)
    found: Ints = (keys % np.uint64(parts)).astype(np.int64)
    return found


def divided(entries: pa.Table, part_of_entry: Ints) -> Iterator[tuple[int, pa.Table]]:
    """Yield each part's entries, in the order given."""
    order = np.argsort(part_of_entry, kind="stable")
    rows = entries.take(pa.array(order))
    begin = 0
    for part, count in zip(*(each.tolist() for each in np.unique(part_of_entry, return_counts=True)), strict=True):
        yield part, rows.slice(begin, count)
        begin += count


def only(history: History, part: int, parts: int) -> History:
    """Return the objects and files of one part, of a history that has all of them and maybe some of others."""
    is_in_part = part_of(history.objects["path"].combine_chunks(), parts) == part
    if is_in_part.all():
        return history
    number = np.cumsum(is_in_part) - 1
    files = is_in_part[history.files["object"].to_numpy()]
    rows = history.files.filter(pa.array(files))
    rows = rows.set_column(
        rows.schema.get_field_index("object"), "object", pa.array(number[rows["object"].to_numpy()], pa.int64())
    )
    objects = history.objects.filter(pa.array(is_in_part))
    return replace(
        history, objects=objects, held=history.held.only(is_in_part), files=rows, live=history.live.only(files)
    )
