"""What each commit of a branch changed, by partition, from the metadata that a history was made from. Pure.

Invariant: a commit's change is the set of files that are live at it and were not just before, and the reverse, by path:
a file that only moved to another level is no change. If the previous state has expired or could not be read in full,
the change is unknown, never empty. Rows are those of data files; rows that delete files remove are reported separately.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.analysis.diff import COMPACTION, schema_changes
from core.model.history import History
from core.model.intervals import Intervals, Ints, maximal
from core.model.references import MAIN, HolderKind, Line, Snapshot


@dataclass(frozen=True, slots=True)
class Sums:
    """Files, rows and bytes on both sides. `added_deletes` are files that take rows of others away (Iceberg)."""

    added_files: int = 0
    added_rows: int = 0
    added_bytes: int = 0
    removed_files: int = 0
    removed_rows: int = 0
    removed_bytes: int = 0
    added_deletes: int = 0

    @property
    def moved_rows(self) -> int:
        """How large a commit is."""
        return self.added_rows + self.removed_rows


@dataclass(frozen=True, slots=True)
class CommitSummary:
    """One commit. `before`: the state it was made on, None for the first of all. `is_known`: whether that state is
    there and both could be read in full; else there are no sums."""

    snapshot: Snapshot
    before: Snapshot | None
    is_known: bool
    sums: Sums = Sums()
    partitions: Mapping[str, Sums] = field(default_factory=dict)  # the largest first; "" of a table without
    vanished: tuple[str, ...] = ()  # partitions that had files before, and have none after
    rows_before: int = 0
    schema: tuple[str, ...] = ()  # sentences of columns that changed

    @property
    def is_rewrite(self) -> bool:
        """Whether the same rows were only written again."""
        return self.snapshot.kind in COMPACTION


class CommitChanges:
    """The changes of one branch's commits, the oldest first: `sums` of all at once, `of` one in full."""

    def __init__(self, history: History, branch: str = MAIN) -> None:
        line = history.heads.require(branch)
        self.line = line
        self.snapshots = line.snapshots
        self._history = history
        known = _states(history, line)
        steps = [_before(history, known, each) for each in line.snapshots]
        self._before = [snapshot for snapshot, _, _ in steps]
        own = [known[each.id][1] for each in line.snapshots]
        blind = set(history.incomplete)
        self.is_known = np.array(
            [
                is_known and at not in blind and before not in blind
                for (_, before, is_known), at in zip(steps, own, strict=True)
            ],
            dtype=np.bool_,
        )
        self._events(own, [before for _, before, _ in steps])

    def _events(self, own: Sequence[int], before: Sequence[int | None]) -> None:
        """Every file that came or went, by commit and partition: `(commit, partition, side)` and what it holds."""
        history, files = self._history, self._history.files
        path, paths = object_of(files)
        runs = maximal(history.live.of(path, paths))
        first = first_of(path, paths)
        rows, sizes = (pc.fill_null(files[name], 0).to_numpy() for name in ("rows", "bytes"))
        deletes = np.zeros(len(files), dtype=np.bool_)
        if "content" in files.column_names:
            deletes = pc.not_equal(files["content"], "data").to_numpy()
        partition = pc.fill_null(files["partition"], "").combine_chunks().dictionary_encode()
        self._names = partition.dictionary.to_pylist()
        codes = partition.indices.to_numpy()
        commit, side, owner = _crossings(runs, own, before)
        file = first[owner]
        self._commit, self._side, self._partition = commit, side, codes[file] if len(file) else file
        self._is_delete = deletes[file] if len(file) else np.zeros(0, dtype=np.bool_)
        self._rows = np.where(self._is_delete, 0, rows[file]) if len(file) else file
        self._bytes = sizes[file] if len(file) else file
        self._own = own
        data = history.live.sums(np.where(deletes, 0, rows))
        self._data_before = [0 if at is None else int(data[at]) for at in before]

    @cached_property
    def sums(self) -> tuple[Sums, ...]:
        """Of every commit; of one that is not known they mean nothing."""
        return _sums(self._commit, len(self.snapshots), self._side, self._rows, self._bytes, self._is_delete)

    @cached_property
    def vanished(self) -> tuple[tuple[str, ...], ...]:
        """Of every commit the partitions that had data files before it and have none after."""
        found: list[list[str]] = [[] for _ in self.snapshots]
        data = ~self._is_delete
        is_removed = data & (self._side == 1)
        key = self._commit * np.int64(len(self._names) + 1) + self._partition
        only = np.setdiff1d(key[is_removed], key[data & (self._side == 0)])
        if not len(only):
            return tuple(map(tuple, found))
        commit, partition = np.divmod(only, len(self._names) + 1)
        remaining = self._live_data(partition, np.array(self._own, dtype=np.int64)[commit])
        for number, code in zip(commit[remaining == 0].tolist(), partition[remaining == 0].tolist(), strict=True):
            found[number].append(self._names[code])
        return tuple(tuple(sorted(names)) for names in found)

    def _live_data(self, partition: Ints, position: Ints) -> Ints:
        """How many data files of each of these partitions are live at the position beside it."""
        files, live = self._history.files, self._history.live
        names = pa.array(self._names, pa.string())
        codes = pc.index_in(pc.fill_null(files["partition"], ""), value_set=names).to_numpy()
        is_wanted = np.isin(np.arange(len(self._names)), partition)[codes]
        if "content" in files.column_names:
            is_wanted &= pc.equal(files["content"], "data").to_numpy()
        is_wanted_run = is_wanted[live.owner]
        width = np.int64(live.positions + 1)
        before = codes[live.owner[is_wanted_run]] * width
        began, ended = np.sort(before + live.first[is_wanted_run]), np.sort(before + live.last[is_wanted_run])
        start = partition * width
        at = start + position
        has_begun = np.searchsorted(began, at, side="right") - np.searchsorted(began, start)
        return np.asarray(has_begun - (np.searchsorted(ended, at) - np.searchsorted(ended, start)))

    @cached_property
    def times(self) -> Ints:
        """When each was committed, in ms."""
        return np.array([each.time_ms for each in self.snapshots], dtype=np.int64)

    @cached_property
    def kinds(self) -> np.ndarray:
        """The kind of each, as its format writes it."""
        return np.array([each.kind for each in self.snapshots], dtype=object)

    @cached_property
    def moved_rows(self) -> Ints:
        """How large each is."""
        return np.array([each.moved_rows for each in self.sums], dtype=np.int64)

    def rows_before(self, number: int) -> int:
        """Rows in data files of the state that a commit was made on."""
        return self._data_before[number]

    def schema(self, number: int) -> tuple[str, ...]:
        """What changed of the columns with a commit."""
        return _schema_changes(self.line, self._before[number], self.snapshots[number])

    def is_rewrite(self, number: int) -> bool:
        return self.snapshots[number].kind in COMPACTION

    def of(self, number: int) -> CommitSummary:
        """The commit at a place among `snapshots`."""
        snapshot, before = self.snapshots[number], self._before[number]
        schema = self.schema(number)
        if not self.is_known[number]:
            return CommitSummary(snapshot, before, False, schema=schema)
        here = slice(*np.searchsorted(self._commit, (number, number + 1)))
        codes, local = np.unique(self._partition[here], return_inverse=True)
        sums = _sums(local, len(codes), self._side[here], self._rows[here], self._bytes[here], self._is_delete[here])
        named = zip((self._names[code] for code in codes), sums, strict=True)
        largest = sorted(named, key=lambda each: (-each[1].added_bytes - each[1].removed_bytes, each[0]))
        return CommitSummary(
            snapshot=snapshot,
            before=before,
            is_known=True,
            sums=self.sums[number],
            partitions=dict(largest),
            vanished=self.vanished[number],
            rows_before=self._data_before[number],
            schema=schema,
        )


def object_of(files: pa.Table) -> tuple[Ints, int]:
    """Of every file a number that only files of the same path have, and a bound of these numbers; of vectors in one
    file, each has its own."""
    found: Ints = files["object"].to_numpy()
    if "offset" in files.column_names:
        offset = files["offset"].combine_chunks().dictionary_encode(null_encoding="encode")
        pairs = pa.array(found * np.int64(len(offset.dictionary) + 1) + offset.indices.to_numpy()).dictionary_encode()
        found = pairs.indices.to_numpy().astype(np.int64)
    return found, int(found.max(initial=-1)) + 1


def first_of(owner: Ints, owners: int) -> Ints:
    """Per object one of its rows, 0 of a number without any: what rows say of their path is the same."""
    first: Ints = np.zeros(owners, dtype=np.int64)
    first[owner[::-1]] = np.arange(len(owner) - 1, -1, -1, dtype=np.int64)
    return first


def _crossings(runs: Intervals, own: Sequence[int], before: Sequence[int | None]) -> tuple[Ints, Ints, Ints]:
    """(commit, side, object), by commit, of what is live at a commit and was not before it (side 0), or the reverse
    (side 1). What it says of a commit without a known state before is not used."""
    if not own:
        nothing = np.zeros(0, dtype=np.int64)
        return nothing, nothing, nothing
    places = np.array(own, dtype=np.int64)
    follows = all(was is None or was == at for was, at in zip(before[1:], own, strict=False))
    if not follows or (len(own) > 1 and not (np.diff(places) > 0).all()):
        commits = [_crossing(runs, number, *step) for number, step in enumerate(zip(own, before, strict=True))]
    else:  # each commit was made on the one before it: what came begins at it, what went ended at the one before
        first, last = np.searchsorted(places, runs.first), np.searchsorted(places, runs.last, side="right") - 1
        here = first <= last
        line = maximal(Intervals(runs.owner[here], first[here], last[here], runs.owners, len(own)))
        is_added, is_removed = line.first > 0, line.last + 1 < len(own)
        sides = np.concatenate((np.zeros(is_added.sum(), dtype=np.int64), np.ones(is_removed.sum(), dtype=np.int64)))
        commit = np.concatenate((line.first[is_added], line.last[is_removed] + 1))
        order = np.argsort(commit, kind="stable")
        owner = np.concatenate((line.owner[is_added], line.owner[is_removed]))
        commits = [_crossing(runs, 0, own[0], before[0]), (commit[order], sides[order], owner[order])]
    commit, side, owner = (np.concatenate(each) for each in zip(*commits, strict=True))
    return commit, side, owner


def _crossing(runs: Intervals, number: int, at: int, was: int | None) -> tuple[Ints, Ints, Ints]:
    """The same of one commit, from the two positions."""
    here = runs.owner[(runs.first <= at) & (runs.last >= at)]
    there = here[:0] if was is None else runs.owner[(runs.first <= was) & (runs.last >= was)]
    added, removed = np.setdiff1d(here, there), np.setdiff1d(there, here)
    sides = np.concatenate((np.zeros(len(added), dtype=np.int64), np.ones(len(removed), dtype=np.int64)))
    return np.full(len(sides), number, dtype=np.int64), sides, np.concatenate((added, removed))


def _sums(group: Ints, groups: int, side: Ints, rows: Ints, sizes: Ints, is_delete: np.ndarray) -> tuple[Sums, ...]:
    def added(chosen: np.ndarray, weight: Ints | None = None) -> list[int]:
        found = np.zeros(groups, dtype=np.int64)
        np.add.at(found, group[chosen], 1 if weight is None else weight[chosen])
        return found.tolist()

    is_added, is_removed = side == 0, side == 1
    columns = (
        added(is_added & ~is_delete), added(is_added, rows), added(is_added, sizes),
        added(is_removed & ~is_delete), added(is_removed, rows), added(is_removed, sizes), added(is_added & is_delete),
    )  # fmt: skip
    return tuple(Sums(*each) for each in zip(*columns, strict=True))


def _states(history: History, line: Line) -> Mapping[int, tuple[Snapshot, int]]:
    """By id the states that a commit of a line may have been made on, with their positions: its own first, else a tag
    that names it."""
    is_of_line = history.heads.capabilities.ids_are_ordered
    found: dict[int, tuple[Snapshot, int]] = {}
    for position, each in enumerate(history.holders):
        if each.kind is HolderKind.CHANGELOG or each.snapshot is None or (is_of_line and each.branch != line.branch):
            continue
        if each.kind is HolderKind.SNAPSHOT or each.snapshot.id not in found:
            found[each.snapshot.id] = each.snapshot, position
    return found


def _before(
    history: History, known: Mapping[int, tuple[Snapshot, int]], snapshot: Snapshot
) -> tuple[Snapshot | None, int | None, bool]:
    """The state a commit was made on, its position, and whether that is known; none before the very first commit."""
    is_ordered = history.heads.capabilities.ids_are_ordered
    number = snapshot.id - 1 if is_ordered else snapshot.parent_id
    if number is None or (is_ordered and number == 0):
        return None, None, True
    return (*known[number], True) if number in known else (None, None, False)


def _schema_changes(line: Line, before: Snapshot | None, snapshot: Snapshot) -> tuple[str, ...]:
    if before is None or before.schema_id == snapshot.schema_id:
        return ()
    known = line.schemas
    if before.schema_id not in known or snapshot.schema_id not in known:
        return ()
    return schema_changes(known[before.schema_id], known[snapshot.schema_id])
