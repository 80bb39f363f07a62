"""What a table's references and manifest lists say: its holders, which manifests each of them uses, and the objects
that they name themselves. Data files follow from the manifests (`core.formats.paimon.history.build`).

Invariant: what cannot be read is a problem of each position that needs it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from core.errors import SnapscopeError
from core.formats.held_objects import HeldObjects
from core.formats.paimon import layout
from core.formats.paimon.file_paths import kept_elsewhere
from core.formats.paimon.history import file_index
from core.formats.paimon.history.file_index import PaimonIndexed
from core.formats.paimon.manifests import ADD, INDEX, PaimonManifests
from core.formats.paimon.read.metadata_files import Named, Names, named, unreadable
from core.formats.paimon.read.problems import unknown_sources, unread
from core.messages import message
from core.model.codes import Fault
from core.model.intervals import Intervals, Ints, Mask, from_pairs
from core.model.references import Heads, Holder, HolderKind, ObjectKind, Problem
from core.storage.decoded_files import expand
from core.storage.store import Store

_NOTHING: Ints = np.zeros(0, dtype=np.int64)
_NO_FILE = message("no file")

Pairs = tuple[Ints, Ints]


@dataclass(frozen=True, slots=True)
class PaimonOutline:
    """names: of manifests, by number; present: those that some list names
    views, additions, changelog: (position, manifest) pairs of what a version consists of, of what its commit added, and
        of its changelog
    objects: those that references and lists name
    """

    heads: Heads
    holders: tuple[Holder, ...]
    names: Sequence[str]
    present: Mask
    views: Pairs
    additions: Pairs
    changelog: Pairs
    objects: tuple[HeldObjects, ...]
    incomplete: Mapping[int, tuple[Problem, ...]]
    warnings: tuple[Problem, ...]

    @property
    def positions(self) -> int:
        return len(self.holders)

    def with_rows(self, rows: Ints) -> PaimonOutline:
        """Report versions whose files have fewer rows, of the given numbers by position, than their snapshot states:
        some of their files would be unprotected."""
        found = dict(self.incomplete)
        for position, holder in enumerate(self.holders):
            expected_rows = holder.snapshot.total_rows if holder.snapshot else None
            if expected_rows is None or holder.kind is HolderKind.CHANGELOG or position in found:
                continue
            if rows[position] < expected_rows:
                expected = message("manifests with {said:,} rows (totalRecordCount)", said=expected_rows)
                remedy = message(
                    "A manifest or manifest list lost entries; restore it, or delete this snapshot or tag."
                )
                lost = Problem(holder.path, expected, f"{rows[position]:,}", remedy, Fault.ROWS_LOST)
                found[position] = (lost,)
        return dataclasses.replace(self, incomplete=dict(sorted(found.items())))


@dataclass
class PaimonLists:
    """What holders name, and the listing of the directory of manifests: what is read before any manifest."""

    store: Store
    heads: Heads
    manifests: PaimonManifests
    holders: tuple[Holder, ...]
    incomplete: dict[int, list[Problem]] = field(default_factory=dict)
    given: Named = field(init=False)
    changelog_lists: Names = field(init=False)

    def __post_init__(self) -> None:
        self.positions = len(self.holders)
        self.warnings = [problem for line in self.heads.lines for problem in line.warnings]
        there = self.store.ls_if_there(layout.MANIFEST, layout.OF_MANIFESTS)
        self.sizes = {entry.name: entry.size for entry in there if entry.size is not None}
        self.marks = {entry.name: entry.mark for entry in there if entry.size is not None and entry.mark is not None}
        elsewhere = list(kept_elsewhere(self.heads, self.holders))
        for position, problem in (*unreadable(self.heads, self.holders), *elsewhere):
            self.incomplete.setdefault(position, []).append(problem)
        self.elsewhere = np.array([position for position, _ in elsewhere], dtype=np.int64)
        self.given = named(self.heads, self.holders)
        self.changelog_lists = self._without_dangling(self.given.changelog_lists)
        self.objects: list[HeldObjects] = []

    @property
    def lists(self) -> list[str]:
        """The names of all manifest lists."""
        return list(
            dict.fromkeys(name for source in (self.given.lists, self.changelog_lists) for name in source.number)
        )

    def outline(self, read: PaimonIndexed) -> PaimonOutline:
        """Return what follows from the lists and from the problems of the manifests that they name."""
        given, index = self.given, read.index
        listed = dict(zip(self.lists, read.lists.tolist(), strict=True))
        self._blame(read.list_errors, given.lists, self.changelog_lists)
        self._blame_sizes(given.list_bytes, listed)

        def behind(source: Names) -> Pairs:
            """Return the (position, manifest) pairs that follow from (position, list) pairs."""
            position, local = source.pairs
            number = (
                np.array([listed[name] for name in source.names], dtype=np.int64)[local] if len(local) else _NOTHING
            )
            there = number >= 0
            pair, row = expand(index.start, number[there])
            return position[there][pair], index.row[row]

        every = (given.lists, given.view_lists, given.delta_lists, self.changelog_lists)
        holds, views, additions, changelog = (behind(source) for source in every)
        names = index.listed_manifests["name"].to_pylist()
        self._blame_manifests(read.errors, names, holds, changelog)
        for at, problem in unknown_sources(self.holders, names, read.unknown, additions):
            self._add(at, problem)
        kept, compact = [names[number] for number in np.flatnonzero(read.present)], np.cumsum(read.present) - 1
        for source in (holds, changelog):
            self._hold_names(kept, (source[0], compact[source[1]]), ObjectKind.MANIFEST, layout.MANIFEST, self.sizes)
        views, additions, changelog = (self._located(each) for each in (views, additions, changelog))
        for names_ in (given.lists, self.changelog_lists):
            self._hold_names(names_.names, names_.pairs, ObjectKind.MANIFEST_LIST, layout.MANIFEST, self.sizes)
        self._hold_indexes(given.index_manifests)
        self._hold_statistics(given.statistics)
        self._hold_documents()
        return PaimonOutline(
            self.heads,
            self.holders,
            names,
            read.present,
            views,
            additions,
            changelog,
            tuple(self.objects),
            {position: tuple(problems) for position, problems in sorted(self.incomplete.items())},
            tuple(dict.fromkeys(self.warnings)),
        )

    def _located(self, pairs: Pairs) -> Pairs:
        """Leave out positions whose files would be looked for in the wrong place: they hold no file that is known."""
        if not len(self.elsewhere):
            return pairs
        known = ~np.isin(pairs[0], self.elsewhere)
        return pairs[0][known], pairs[1][known]

    def _without_dangling(self, lists: Names) -> Names:
        """Drop the changelog lists of snapshots whose list no longer exists.

        A snapshot restored from a tag (by a rollback or a branch) names the list that was deleted when it first
        expired. The files of that list are deleted or unreferenced, so its absence endangers no file; an unreadable
        list may."""

        def is_there(position: int, name: str) -> bool:
            holder = self.holders[position]
            if name in self.sizes or holder.kind is not HolderKind.SNAPSHOT or self.manifests.size(name) is not None:
                return True
            self.warnings.append(
                Problem(
                    f"{layout.MANIFEST}/{name}",
                    message("the changelog of snapshot {point}", point=holder.point),
                    _NO_FILE,
                    message("It was deleted when the snapshot first expired: only streaming reads of it fail."),
                    Fault.CHANGELOG_MISSING,
                )
            )
            return False

        return lists.only(is_there)

    # problems ------------------------------------------------------------------------------------------------------

    def _blame(self, errors: Mapping[str, SnapscopeError], *sources: Names) -> None:
        for source in sources:
            names = source.names
            for position, number in zip(source.position, source.name, strict=True):
                if names[number] in errors:
                    self._incomplete(
                        position, names[number], errors[names[number]], message("a readable manifest list")
                    )

    def _blame_sizes(self, sizes: Sequence[tuple[int, str, int]], listed: Mapping[str, int]) -> None:
        """Compare list sizes: a list that lost whole blocks is readable, and its row counts may match by chance."""
        for position, name, size in sizes:
            if name in listed and self.sizes.get(name, size) != size:
                found = SnapscopeError("{sizes:,} bytes", sizes=self.sizes[name])
                self._incomplete(position, name, found, message("a manifest list of {size:,} bytes", size=size))

    def _blame_manifests(
        self, errors: Mapping[str, SnapscopeError], names: Sequence[str], *sources: tuple[Ints, Ints]
    ) -> None:
        if not errors:
            return
        for positions, numbers in sources:
            bad = np.isin(numbers, [number for number, name in enumerate(names) if name in errors])
            for position, number in zip(positions[bad], numbers[bad], strict=True):
                name = names[number]
                self._incomplete(int(position), name, errors[name], message("a readable manifest"))

    def _incomplete(self, position: int, name: str, error: SnapscopeError, expected: str) -> None:
        self._add(position, unread(name, error, expected))

    def _add(self, position: int, problem: Problem) -> None:
        found = self.incomplete.setdefault(position, [])
        if problem not in found:
            found.append(problem)

    # objects -------------------------------------------------------------------------------------------------------

    def _hold_statistics(self, statistics: Names) -> None:
        if not statistics.number:
            return
        sizes = _sizes(self.store, layout.STATISTICS)
        unlisted = (name for name in statistics.names if name not in sizes)
        sizes_of_unlisted = {name: self.store.size(f"{layout.STATISTICS}/{name}") for name in unlisted}
        sizes |= {name: size for name, size in sizes_of_unlisted.items() if size is not None}
        self._hold_names(statistics.names, statistics.pairs, ObjectKind.STATISTICS, layout.STATISTICS, sizes)

    def _hold_names(
        self, names: Sequence[str], pairs: tuple[Ints, Ints], kind: ObjectKind, directory: str, sizes: Mapping[str, int]
    ) -> None:
        """Hold named files of `directory`. A missing one is no object; its holders are marked incomplete elsewhere."""
        runs = from_pairs(pairs[1], pairs[0], len(names), self.positions)
        there = np.array([name in sizes for name in names], dtype=np.bool_)
        keep = there[runs.owner] if len(names) else np.zeros(0, dtype=np.bool_)
        runs = Intervals(runs.owner[keep], runs.first[keep], runs.last[keep], runs.owners, runs.positions)
        self._hold(
            pa.array([f"{directory}/{name}" for name in names], pa.string()),
            kind,
            pa.array([sizes.get(name) for name in names], pa.int64()),
            runs,
        )
        if kind is ObjectKind.STATISTICS:
            for position, number in zip(*pairs, strict=True):
                if not there[number]:
                    problem = Problem(
                        f"{directory}/{names[number]}",
                        message("a statistics file"),
                        _NO_FILE,
                        message("Run ANALYZE again."),
                        Fault.STATISTICS_MISSING,
                    )
                    self.incomplete.setdefault(int(position), []).append(problem)

    def _hold_indexes(self, indexes: Names) -> None:
        if not indexes.number:
            return
        names = indexes.names
        loaded, paths = file_index.identified_in(
            self.heads, names, self.manifests.load(names, INDEX, self.sizes), index_files=True
        )
        for place, own in zip(indexes.position, indexes.name, strict=True):
            if names[own] in loaded.errors:
                self._incomplete(place, names[own], loaded.errors[names[own]], message("a readable index manifest"))
        self._hold_names(names, indexes.pairs, ObjectKind.MANIFEST, layout.MANIFEST, self.sizes)
        position, local = self._located(indexes.pairs)
        index, row = loaded.expand(local)
        added = loaded.rows["kind"].to_numpy()[row] == ADD
        runs = from_pairs(paths.identity[row[added]], position[index][added], paths.count, self.positions)
        self._hold(paths.files["path"], ObjectKind.INDEX, paths.files["bytes"], runs)

    def _hold_documents(self) -> None:
        kinds = {
            HolderKind.SNAPSHOT: ObjectKind.SNAPSHOT,
            HolderKind.TAG: ObjectKind.TAG,
            HolderKind.CHANGELOG: ObjectKind.CHANGELOG_JSON,
        }
        for holder_kind, kind in kinds.items():
            own = [position for position, each in enumerate(self.holders) if each.kind is holder_kind and each.exists]
            contents = [self.heads.references.get(self.holders[position].path) for position in own]
            at = np.array(own, dtype=np.int64)
            self._hold(
                pa.array([self.holders[position].path for position in own], pa.string()),
                kind,
                pa.array([None if content is None else len(content) for content in contents], pa.int64()),
                Intervals(np.arange(len(own), dtype=np.int64), at, at, len(own), self.positions),
            )

    def _hold(self, paths: pa.Array, kind: ObjectKind, sizes: pa.Array, runs: Intervals) -> None:
        self.objects.append(HeldObjects.of(paths, kind, sizes, runs))


def _sizes(store: Store, directory: str) -> dict[str, int]:
    return {entry.name: entry.size for entry in store.ls_if_there(directory) if entry.size is not None}
