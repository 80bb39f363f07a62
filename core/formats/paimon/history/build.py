"""Build a table's History, starting from its manifests.

The lists of every holder tell which manifests it uses, which gives each manifest its intervals; each manifest is
decoded once. A data file is live where a manifest that ADDs it is listed and none that DELETEs it is (the engine's own
scan rule), so its intervals are intervals(ADD manifests) minus intervals(DELETE manifests). Deltas are never replayed
from a base, because that loses files on real tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa

from core.formats import large_texts
from core.formats.file_index import FileIndex
from core.formats.held_objects import HeldObjects
from core.formats.paimon.history import file_index
from core.formats.paimon.history.outline import PaimonLists, PaimonOutline, Pairs
from core.formats.paimon.manifests import PaimonManifests
from core.formats.paimon.read.holder_axis import axis
from core.model.history import History
from core.model.intervals import Intervals, empty, from_pairs, maximal, subtract, union
from core.model.references import Heads, HolderKind, ObjectKind
from core.storage.decoded_files import expand
from core.storage.store import Store


def build(
    store: Store,
    heads: Heads,
    manifests: PaimonManifests,
    *,
    changelogs: bool,
    progress: Callable[[int, int], None] | None = None,
) -> History:
    """Read every list and manifest of any holder, and compute which holder holds which files."""
    listed = PaimonLists(store, heads, manifests, axis(heads, changelogs=changelogs))
    read = file_index.read(heads, manifests, listed.lists, listed.sizes, listed.marks, progress)
    outline = listed.outline(read)
    found = assembled(outline, read.index)
    rows = found.live.sums(found.files["rows"].to_numpy())
    return replace(found, incomplete=outline.with_rows(rows).incomplete)


def assembled(outline: PaimonOutline, index: FileIndex) -> History:
    """Return the history of an outline and of the files of its manifests."""
    return _Assembly(outline, index).history()


class _Assembly:
    """The steps of `assembled`, and the state they share."""

    def __init__(self, outline: PaimonOutline, index: FileIndex) -> None:
        self.outline, self.heads, self.positions = outline, outline.heads, outline.positions
        files, self.groups = index.of(outline.present)
        self.found = file_index.identified(files, self.heads, are_distinct=index.is_distinct)
        self.objects: list[HeldObjects] = []

    def history(self) -> History:
        live = self._live(self.outline.views)
        self._hold_data(live, self.outline.additions)
        self._hold_changelog(self.outline.changelog)
        self.objects += self.outline.objects
        return self._history(self.groups.on_files(live))

    def _live(self, views: Pairs) -> Intervals:
        """Return where the files of each group are live."""
        runs = from_pairs(views[1], views[0], len(self.outline.names), self.positions)
        added, removed = (self.groups.covered(runs, codes) for codes in (file_index.ADDS, file_index.DELETES))
        return subtract(added, removed)

    def _hold_data(self, live: Intervals, additions: Pairs) -> None:
        """Hold live files, and files that a commit's delta ADDs even if the same commit deletes them.

        A changelog without a producer holds what its delta ADDs or DELETEs, except what compaction wrote."""
        groups, found = self.groups, self.found
        position, group, code = groups.pairs(*additions)
        is_changelog = np.array([each.kind is HolderKind.CHANGELOG for each in self.outline.holders], dtype=np.bool_)
        by_compaction = np.isin(code, file_index.BY_COMPACTION)
        wanted = np.where(is_changelog[position], ~by_compaction, np.isin(code, file_index.ADDS))
        group, position = group[wanted], position[wanted]
        outside = ~live.covers(group, position)
        also = from_pairs(group[outside], position[outside], groups.count, self.positions)
        live, extra = groups.on_files(live), groups.on_files(also)
        self._hold(found.files["path"], ObjectKind.DATA, found.files["bytes"], union(live, extra))
        if len(found.extra_owner):
            for runs in (live, extra):
                self._hold_extras(runs)

    def _hold_extras(self, runs: Intervals) -> None:
        order = np.argsort(runs.owner, kind="stable")
        owner = runs.owner[order]
        start = np.searchsorted(owner, np.arange(self.found.count + 1)).astype(np.int64)
        index, run = expand(start, self.found.extra_owner)
        count = len(self.found.extra_owner)
        sizes = pa.nulls(count, pa.int64())
        moved = Intervals(index, runs.first[order][run], runs.last[order][run], count, self.positions)
        self._hold(self.found.extra_path, ObjectKind.DATA, sizes, moved)

    def _hold_changelog(self, changelog: Pairs) -> None:
        position, group, code = self.groups.pairs(*changelog)
        added = np.isin(code, file_index.ADDS)
        runs = self.groups.on_files(from_pairs(group[added], position[added], self.groups.count, self.positions))
        if len(runs.owner):
            self._hold(self.found.changelog_paths(), ObjectKind.CHANGELOG, self.found.files["bytes"], runs)

    def _hold(self, paths: pa.Array | pa.ChunkedArray, kind: ObjectKind, sizes: pa.Array, runs: Intervals) -> None:
        self.objects.append(HeldObjects.of(paths, kind, sizes, runs))

    def _history(self, live: Intervals) -> History:
        found, held = self.found, self.objects
        every = [each.paths for each in held]
        paths, code, _ = large_texts.numbered_together(every, is_first_distinct=found.are_paths_distinct)
        count = len(paths)
        starts = np.concatenate(([0], np.cumsum([len(each) for each in every]))).astype(np.int64)
        moved = [
            each.runs.of(code[begin:end], count) for each, (begin, end) in zip(held, pairwise(starts), strict=True)
        ]
        kind = pa.chunked_array([each.kinds for each in held], pa.string())
        size = pa.chunked_array([each.bytes for each in held], pa.int64())
        if count < len(code):
            own = len(every[0]) if paths.num_chunks > 1 else 0  # objects of the first part that no other part names
            first = np.full(count - own, -1, dtype=np.int64)  # a path has the kind under which it is first held
            holds = np.zeros(len(code), dtype=np.bool_)
            for each, begin in zip(held, starts, strict=False):
                holds[begin + each.runs.owner] = True
            for rows in (np.arange(own, len(code)), own + np.flatnonzero(holds[own:])):
                first[code[rows[::-1]] - own] = rows[::-1]
            kind, size = (
                pa.chunked_array([*each.slice(0, own).chunks, *each.take(pa.array(first)).chunks])
                for each in (kind, size)
            )
        objects = pa.table(
            {
                "path": paths,
                "kind": kind,
                "bytes": size,
                "ours": found.ours(paths),
            }
        )
        files = found.files.append_column("object", pa.array(code[: found.count], pa.int64()))
        if found.are_paths_distinct:
            files = files.set_column(0, "path", paths.slice(0, found.count))  # one copy of the texts
        return History(
            heads=self.heads,
            holders=self.outline.holders,
            objects=objects,
            held=maximal(union(*moved) if moved else empty(0, self.positions)),
            files=files,
            live=live,
            incomplete=self.outline.incomplete,
            warnings=self.outline.warnings,
        )
