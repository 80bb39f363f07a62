"""Build a table's History, starting from its manifests.

The lists of every holder tell which manifests it uses, which gives each manifest its intervals; each manifest is
decoded once. A data file is live where a manifest that ADDs it is listed and none that DELETEs it is (the engine's own
scan rule), so its intervals are intervals(ADD manifests) minus intervals(DELETE manifests). Deltas are never replayed
from a base, because that loses files on real tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from core.errors import SnapscopeError
from core.formats import large_texts
from core.formats.entry_groups import Groups
from core.formats.paimon import file_index, layout
from core.formats.paimon.file_paths import Identities
from core.formats.paimon.manifests import ADD, INDEX, PaimonManifests
from core.formats.paimon.read.holder_axis import axis
from core.formats.paimon.read.metadata_files import Names, named, unreadable
from core.formats.paimon.read.problems import unknown_sources, unread
from core.messages import told
from core.model.codes import Fault
from core.model.history import History
from core.model.intervals import Intervals, Ints, empty, from_pairs, maximal, subtract, union
from core.model.references import Heads, Holder, HolderKind, ObjectKind, Problem
from core.storage.decoded_files import expand, flat
from core.storage.store import Store

_NOTHING: Ints = np.zeros(0, dtype=np.int64)
_NO_FILE = told("no file")


def build(
    store: Store,
    heads: Heads,
    manifests: PaimonManifests,
    *,
    changelogs: bool,
    progress: Callable[[int, int], None] | None = None,
) -> History:
    """Read every list and manifest of any holder, and compute which holder holds which files."""
    return _Builder(store, heads, manifests, axis(heads, changelogs=changelogs), progress).build()


class _Builder:
    """The steps of `build`, and the state they share."""

    def __init__(
        self,
        store: Store,
        heads: Heads,
        manifests: PaimonManifests,
        holders: tuple[Holder, ...],
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self.store, self.heads, self.manifests, self.holders, self.progress = store, heads, manifests, holders, progress
        self.positions = len(holders)
        self.incomplete: dict[int, list[Problem]] = {}
        self.warnings = [problem for line in heads.lines for problem in line.warnings]
        listed = [entry for entry in store.ls_if_there(layout.MANIFEST, layout.OF_MANIFESTS) if entry.size is not None]
        self.sizes = {entry.name: entry.size for entry in listed if entry.size is not None}
        self.marks = {entry.name: entry.mark for entry in listed if entry.mark is not None}
        self.paths: list[pa.Array] = []
        self.kinds: list[ObjectKind] = []
        self.bytes: list[pa.Array] = []
        self.held: list[Intervals] = []

    def build(self) -> History:
        for position, problem in unreadable(self.heads, self.holders):
            self.incomplete.setdefault(position, []).append(problem)
        given = named(self.heads, self.holders)
        changelog_lists = self._without_dangling(given.changelog_lists)
        names = _distinct(given.lists, changelog_lists)
        read = file_index.read(self.heads, self.manifests, names, self.sizes, self.marks, self.progress)
        index, present = read.index, read.present
        listed = dict(zip(names, read.lists.tolist(), strict=True))
        self._blame(read.list_errors, given.lists, changelog_lists)
        self._blame_sizes(given.list_bytes, listed)

        def behind(source: Names) -> tuple[Ints, Ints]:
            """Return the (position, manifest) pairs that follow from (position, list) pairs."""
            position, local = source.pairs
            number = (
                np.array([listed[name] for name in source.names], dtype=np.int64)[local] if len(local) else _NOTHING
            )
            there = number >= 0
            pair, row = expand(index.start, number[there])
            return position[there][pair], index.row[row]

        every = (given.lists, given.view_lists, given.delta_lists, changelog_lists)
        holds, views, additions, changelog = (behind(source) for source in every)
        manifest_names = index.said["name"].to_pylist()
        self._blame_manifests(read.errors, manifest_names, holds, changelog)
        files, groups = index.of(present)
        found = file_index.identified(files, self.heads, are_distinct=index.is_distinct)
        live = self._live(groups, views, len(manifest_names))
        for at, problem in unknown_sources(self.holders, manifest_names, read.unknown, additions):
            self._add(at, problem)
        self._hold_data(groups, found, live, additions)
        self._hold_changelog(groups, found, changelog)
        kept, compact = [manifest_names[number] for number in np.flatnonzero(present)], np.cumsum(present) - 1
        for source in (holds, changelog):
            self._hold_names(kept, (source[0], compact[source[1]]), ObjectKind.MANIFEST, layout.MANIFEST, self.sizes)
        for names_ in (given.lists, changelog_lists):
            self._hold_names(names_.names, names_.pairs, ObjectKind.MANIFEST_LIST, layout.MANIFEST, self.sizes)
        self._hold_indexes(given.index_manifests)
        if given.statistics.number:
            sizes = _sizes(self.store, layout.STATISTICS)
            unlisted = (name for name in given.statistics.names if name not in sizes)
            asked = {name: self.store.size(f"{layout.STATISTICS}/{name}") for name in unlisted}
            sizes |= {name: size for name, size in asked.items() if size is not None}
            self._hold_names(
                given.statistics.names, given.statistics.pairs, ObjectKind.STATISTICS, layout.STATISTICS, sizes
            )
        self._hold_documents()
        return self._history(found, groups.on_files(live))

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
                    told("the changelog of snapshot {point}", point=holder.point),
                    _NO_FILE,
                    told("It was deleted when the snapshot first expired: only streaming reads of it fail."),
                    Fault.CHANGELOG_MISSING,
                )
            )
            return False

        return lists.only(is_there)

    # reading ----------------------------------------------------------------------------------------------------

    def _blame(self, errors: Mapping[str, SnapscopeError], *sources: Names) -> None:
        for source in sources:
            names = source.names
            for position, number in zip(source.position, source.name, strict=True):
                if names[number] in errors:
                    self._incomplete(position, names[number], errors[names[number]], told("a readable manifest list"))

    def _blame_sizes(self, sizes: Sequence[tuple[int, str, int]], listed: Mapping[str, int]) -> None:
        """Compare list sizes: a list that lost whole blocks is readable, and its row counts may match by chance."""
        for position, name, size in sizes:
            if name in listed and self.sizes.get(name, size) != size:
                found = SnapscopeError("{sizes:,} bytes", sizes=self.sizes[name])
                self._incomplete(position, name, found, told("a manifest list of {size:,} bytes", size=size))

    def _blame_manifests(
        self, errors: Mapping[str, SnapscopeError], names: Sequence[str], *sources: tuple[Ints, Ints]
    ) -> None:
        if not errors:
            return
        for positions, numbers in sources:
            bad = np.isin(numbers, [number for number, name in enumerate(names) if name in errors])
            for position, number in zip(positions[bad], numbers[bad], strict=True):
                name = names[number]
                self._incomplete(int(position), name, errors[name], told("a readable manifest"))

    def _incomplete(self, position: int, name: str, error: SnapscopeError, expected: str) -> None:
        self._add(position, unread(name, error, expected))

    def _add(self, position: int, problem: Problem) -> None:
        found = self.incomplete.setdefault(position, [])
        if problem not in found:
            found.append(problem)

    # holders of files ---------------------------------------------------------------------------------------------

    def _live(self, groups: Groups, views: tuple[Ints, Ints], manifests: int) -> Intervals:
        """Return where the files of each group are live."""
        runs = from_pairs(views[1], views[0], manifests, self.positions)
        return subtract(groups.covered(runs, file_index.ADDS), groups.covered(runs, file_index.DELETES))

    def _hold_data(self, groups: Groups, found: Identities, live: Intervals, additions: tuple[Ints, Ints]) -> None:
        """Hold live files, and files that a commit's delta ADDs even if the same commit deletes them.

        A changelog without a producer holds what its delta ADDs or DELETEs, except what compaction wrote."""
        position, group, code = groups.pairs(*additions)
        is_changelog = np.array([holder.kind is HolderKind.CHANGELOG for holder in self.holders], dtype=np.bool_)
        by_compaction = np.isin(code, file_index.BY_COMPACTION)
        wanted = np.where(is_changelog[position], ~by_compaction, np.isin(code, file_index.ADDS))
        group, position = group[wanted], position[wanted]
        outside = ~live.covers(group, position)
        also = from_pairs(group[outside], position[outside], groups.count, self.positions)
        live, extra = groups.on_files(live), groups.on_files(also)
        self._hold(found.files["path"], ObjectKind.DATA, found.files["bytes"], union(live, extra))
        if len(found.extra_owner):
            for runs in (live, extra):
                self._hold_extras(found, runs)

    def _hold_extras(self, found: Identities, runs: Intervals) -> None:
        order = np.argsort(runs.owner, kind="stable")
        owner = runs.owner[order]
        start = np.searchsorted(owner, np.arange(found.count + 1)).astype(np.int64)
        index, run = expand(start, found.extra_owner)
        count = len(found.extra_owner)
        sizes = pa.nulls(count, pa.int64())
        moved = Intervals(index, runs.first[order][run], runs.last[order][run], count, self.positions)
        self._hold(found.extra_path, ObjectKind.DATA, sizes, moved)

    def _hold_changelog(self, groups: Groups, found: Identities, changelog: tuple[Ints, Ints]) -> None:
        position, group, code = groups.pairs(*changelog)
        added = np.isin(code, file_index.ADDS)
        runs = groups.on_files(from_pairs(group[added], position[added], groups.count, self.positions))
        if len(runs.owner):
            self._hold(found.changelog_paths(), ObjectKind.CHANGELOG, found.files["bytes"], runs)

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
                        told("a statistics file"),
                        _NO_FILE,
                        told("Run ANALYZE again."),
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
                self._incomplete(place, names[own], loaded.errors[names[own]], told("a readable index manifest"))
        self._hold_names(names, indexes.pairs, ObjectKind.MANIFEST, layout.MANIFEST, self.sizes)
        position, local = indexes.pairs
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

    def _hold(self, paths: pa.Array | pa.ChunkedArray, kind: ObjectKind, sizes: pa.Array, runs: Intervals) -> None:
        self.paths.append(flat(paths))
        self.bytes.append(flat(sizes))
        self.kinds.append(kind)
        self.held.append(runs)

    # assembling the history -------------------------------------------------------------------------------------

    def _history(self, found: Identities, live: Intervals) -> History:
        paths, code, _ = large_texts.numbered_together(self.paths, is_first_distinct=found.are_paths_distinct)
        count = len(paths)
        starts = np.concatenate(([0], np.cumsum([len(each) for each in self.paths]))).astype(np.int64)
        held = maximal(
            union(
                *(
                    runs.of(code[begin:end], count)
                    for runs, (begin, end) in zip(self.held, pairwise(starts), strict=True)
                )
            )
            if self.held
            else empty(0, self.positions)
        )
        kind = np.repeat(np.arange(len(self.kinds), dtype=np.int8), np.diff(starts))
        size = pa.chunked_array(self.bytes, pa.int64()).combine_chunks()
        if count < len(code):
            first = np.full(count, -1, dtype=np.int64)  # a path has the kind under which it is first held
            holds = np.zeros(len(code), dtype=np.bool_)
            for runs, begin in zip(self.held, starts, strict=False):
                holds[begin + runs.owner] = True
            for rows in (np.arange(len(code)), np.flatnonzero(holds)):
                first[code[rows[::-1]]] = rows[::-1]
            kind, size = kind[first], size.take(pa.array(first))
        objects = pa.table(
            {
                "path": paths,
                "kind": pa.array([kind.value for kind in self.kinds], pa.string()).take(pa.array(kind)),
                "bytes": size,
                "ours": found.ours(paths),
            }
        )
        files = found.files.append_column("object", pa.array(code[: found.count], pa.int64()))
        if found.are_paths_distinct:
            files = files.set_column(0, "path", paths.slice(0, found.count))  # one copy of the texts
        self._check_rows(live, files)
        return History(
            heads=self.heads,
            holders=self.holders,
            objects=objects,
            held=held,
            files=files,
            live=live,
            incomplete={position: tuple(problems) for position, problems in sorted(self.incomplete.items())},
            warnings=tuple(dict.fromkeys(self.warnings)),
        )

    def _check_rows(self, live: Intervals, files: pa.Table) -> None:
        """Report views with fewer rows than their snapshot states: some of their files would be unprotected."""
        rows = live.sums(files["rows"].to_numpy())
        for position, holder in enumerate(self.holders):
            said = holder.snapshot.total_rows if holder.snapshot else None
            if said is None or holder.kind is HolderKind.CHANGELOG or position in self.incomplete:
                continue
            if rows[position] < said:
                expected = told("manifests with {said:,} rows (totalRecordCount)", said=said)
                remedy = told("A manifest or manifest list lost entries; restore it, or delete this snapshot or tag.")
                lost = Problem(holder.path, expected, f"{rows[position]:,}", remedy, Fault.ROWS_LOST)
                self.incomplete[position] = [lost]


def _sizes(store: Store, directory: str) -> dict[str, int]:
    return {entry.name: entry.size for entry in store.ls_if_there(directory) if entry.size is not None}


def _distinct(*sources: Names) -> list[str]:
    return list(dict.fromkeys(name for source in sources for name in source.number))
