"""Build a table's History, starting from its manifests.

Each snapshot's list tells which manifests it uses, which gives each manifest its intervals; each manifest is decoded
once. A file is live where a manifest is listed that has it with status EXISTING or ADDED. A snapshot holds its list,
its manifests, its live files by path (a Puffin file with many deletion vectors is one file), and its statistics
files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import SnapscopeError
from core.formats import large_texts
from core.formats.file_index import FileIndex
from core.formats.iceberg import file_index
from core.formats.iceberg.file_paths import TableLocation
from core.formats.iceberg.manifests import ADDED, DATA, ENTRY, LIST, IcebergManifests
from core.formats.iceberg.metadata import Member, Metadata, signed
from core.formats.iceberg.references import reference
from core.messages import clause, told
from core.model.history import History
from core.model.intervals import Intervals, Ints, Mask, empty, from_pairs, maximal, union
from core.model.references import Heads, Holder, HolderKind, ObjectKind, Problem
from core.storage import memory
from core.storage.decoded_files import Loaded, expand, flat
from core.storage.file_systems import DirectoryEntry

_NOTHING: Ints = np.zeros(0, dtype=np.int64)
_INLINE = "manifests of snapshot "
_SHOWN_LAST = ("content", "offset", "referenced", "sequence", "deletes", "spec_id", "spelled")
_STATUS = ("existing", "added", "deleted")
_BYTES_PER_ENTRY = 1000  # of memory, at most: 650 measured with statistics of 8 columns, 990 if all paths end alike
_ENTRY_PACKED = 100  # bytes of an entry in a manifest, if nothing counts them


def axis(heads: Heads) -> tuple[Holder, ...]:
    """Return a position for every snapshot, branch by branch."""
    return tuple(
        Holder(HolderKind.SNAPSHOT, line.branch, str(each.id), each, reference(f"snapshots/{each.id}"))
        for line in heads.lines
        for each in line.snapshots
    )


def build(
    place: TableLocation,
    heads: Heads,
    found: Metadata,
    manifests: IcebergManifests,
    progress: Callable[[int, int], None] | None = None,
) -> History:
    """Read every list and manifest of any snapshot, and compute which snapshot holds which files."""
    return _Builder(place, heads, found, manifests, progress).build()


class _Builder:
    """The steps of `build`, and the state they share."""

    def __init__(
        self,
        place: TableLocation,
        heads: Heads,
        found: Metadata,
        manifests: IcebergManifests,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self.place, self.heads, self.found, self.manifests, self.progress = place, heads, found, manifests, progress
        self.holders = axis(heads)
        self.positions = len(self.holders)
        self.at = {int(holder.name): position for position, holder in enumerate(self.holders)}
        self.incomplete: dict[int, list[Problem]] = {}
        self.listed: dict[str, Mapping[str, DirectoryEntry]] = {}
        self.sizes: dict[str, int] = {}
        self.marks: dict[str, str] = {}
        self.inline: dict[str, Member] = {}
        self.warnings = [problem for line in heads.lines for problem in line.warnings]
        self.paths: list[pa.Array] = []
        self.kinds: list[pa.Array] = []
        self.bytes: list[pa.Array] = []
        self.held: list[Intervals] = []

    def build(self) -> History:
        names, holders = self._lists()
        index, present, numbers = self._read(names)
        for path, error in self.list_errors.items():
            for place in holders[path]:
                self._incomplete(place, path, error, told("a readable manifest list"))
        files, groups = index.of(present)
        at, local = _columns([(place, number) for name, number in zip(names, numbers, strict=True) if number >= 0
                               for place in holders[name]])  # fmt: skip
        pair, row = expand(index.start, local)
        position, manifest = at[pair], index.row[row]
        every = index.said["name"].to_pylist()
        self._blame(self.errors, position, manifest, every)
        runs = from_pairs(manifest, position, len(every), self.positions)
        live = groups.on_files(maximal(groups.covered(runs, file_index.LIVE)))
        shown = self._shown(files)
        kinds = pa.array(["data", "deletes"]).take(pa.array((files["code"].to_numpy() != DATA).astype(np.int8)))
        self._hold(files["path"], kinds, files["whole"], live)
        self._hold_lists(names, holders)
        kept = np.flatnonzero(present)
        manifests = [every[number] for number in kept]
        own = pa.array([self.sizes.get(name) for name in manifests], pa.int64())
        held = from_pairs((np.cumsum(present) - 1)[manifest], position, len(kept), self.positions)
        self._hold(pa.array(manifests, pa.string()), ObjectKind.MANIFEST, own, held)
        self._hold_statistics()
        return self._history(shown, live, are_distinct=index.is_distinct)

    # reading ----------------------------------------------------------------------------------------------------------

    def _lists(self) -> tuple[list[str], dict[str, list[int]]]:
        """Return the paths of manifest lists, and the positions of each.

        A snapshot of version 1 that names its manifests itself has a list without a file."""
        wanted: dict[str, list[int]] = {}
        members = (self.found.snapshots[int(holder.name)] for holder in self.holders)
        given = [(member.manifest_list, member.id) for member in members if member.manifest_list is not None]
        locations = pa.array([location for location, _ in given], pa.string())
        for path, (_, own) in zip(self.place.paths(locations).to_pylist(), given, strict=True):
            wanted.setdefault(path, []).append(self.at[own])
        for member in self.found.snapshots.values():
            if member.manifests:
                self.inline[f"{_INLINE}{member.id}"] = member
                wanted[f"{_INLINE}{member.id}"] = [self.at[member.id]]
        self._list([name for name in wanted if name not in self.inline])
        return list(wanted), wanted

    def _list(self, paths: Sequence[str]) -> None:
        found = self.place.entries([path for path in paths if path not in self.sizes], self.listed)
        self.sizes |= {path: entry.size for path, entry in found.items() if entry.size is not None}
        self.marks |= {path: entry.mark for path, entry in found.items() if entry.mark is not None}

    def _hold_lists(self, names: Sequence[str], holders: Mapping[str, list[int]]) -> None:
        paths = [name for name in names if name not in self.inline]
        at, number = _columns([(place, number) for number, path in enumerate(paths) for place in holders[path]])
        sizes = pa.array([self.sizes.get(path) for path in paths], pa.int64())
        runs = from_pairs(number, at, len(paths), self.positions)
        self._hold(pa.array(paths, pa.string()), ObjectKind.MANIFEST_LIST, sizes, runs)

    def _read(self, names: list[str]) -> tuple[FileIndex, Mask, list[int]]:
        """Index these lists and the manifests they name; return which manifests are named, and the number of each list
        (-1: cannot be read)."""
        for index in self._known():
            if not index.fits_lists(names, self.marks):
                continue
            index = self._with_lists(index, [name for name in names if name not in index.list_numbers])
            numbers = [index.list_numbers.get(name, -1) for name in names]
            there = np.array([number for number in numbers if number >= 0], dtype=np.int64)
            present = index.present(there)
            every = index.said["name"].to_pylist()
            self._list([every[number] for number in np.flatnonzero(present)])
            if index.fits_manifests(present, self.marks):
                index = self._with_entries(index, present, every)
                if index.is_sound:
                    self.manifests.index = index.kept(self._kept_at(), there, present)
                return index, present, numbers
        raise AssertionError("an empty index fits")

    def _known(self) -> Iterator[FileIndex]:
        """Yield what may be known of the table's manifests, the most likely first; at last nothing."""
        empty = file_index.empty(self.place, self.found)
        if self.manifests.index is not None and self.manifests.index.key == empty.key:
            yield self.manifests.index
        yield empty.found(self._kept_at())
        yield empty

    def _kept_at(self) -> str | None:
        return self.place.store.location if self.manifests.is_kept else None

    def _with_lists(self, index: FileIndex, names: list[str]) -> FileIndex:
        files = [name for name in names if name not in self.inline]
        loaded = self.manifests.load(self.place, files, LIST, self.sizes)
        self.list_errors = loaded.errors
        members = [self.inline[name] for name in names if name in self.inline]
        inline = [(self.at[member.id], path, member.id) for member in members for path in member.manifests]
        rows = pa.concat_tables([loaded.rows.drop_columns(["key"]), inline_rows(inline)]).combine_chunks()
        read = [number for number, name in enumerate(files) if name not in loaded.errors]
        counts = np.concatenate((np.diff(loaded.start)[read], [len(member.manifests) for member in members]))
        given = [files[number] for number in read] + [f"{_INLINE}{member.id}" for member in members]
        return file_index.with_lists(index, self.place, given, counts.astype(np.int64), rows, self.marks)

    def _with_entries(self, index: FileIndex, present: Mask, every: Sequence[str]) -> FileIndex:
        """Read the manifests that are not indexed yet, and check all against what the manifest lists state."""
        new = np.flatnonzero(present & ~index.are_read)
        names, rows = [every[number] for number in new.tolist()], index.said.take(pa.array(new))
        self._fits(names, rows)
        entries = self.manifests.load(self.place, names, ENTRY, self.sizes, self.progress)
        self.errors = dict(entries.errors)
        grown = file_index.with_entries(index, self.place, self.found, new, names, inherited(entries, rows), self.marks)
        self._check_counts(grown, present, every)
        return grown

    def _fits(self, names: Sequence[str], rows: pa.Table) -> None:
        """Refuse entries that do not fit into memory; lists of version 1 need not say how many there are."""
        own = np.array([self.sizes.get(name, 0) for name in names], dtype=np.int64)
        said = pc.add(pc.add(rows["existing"], rows["added"]), rows["deleted"])
        claimed = pc.coalesce(said, pa.array(own // _ENTRY_PACKED))
        memory.require(flat(claimed).to_numpy(), own, _BYTES_PER_ENTRY, self.place.store.location)

    def _check_counts(self, index: FileIndex, present: Mask, every: Sequence[str]) -> None:
        """Compare the numbers of entries with those in the manifest list.

        A manifest that lost whole blocks is still readable. If its size matches the list, the list is wrong, as some
        writers' lists are.
        """
        lengths = index.said["bytes"].to_pylist()
        for value, name in enumerate(_STATUS):
            counts = index.counts[:, value]
            said = pc.fill_null(index.said[name], -1).to_numpy()
            for number in np.flatnonzero(present & index.are_read & (said >= 0) & (said != counts)).tolist():
                path = every[number]
                if path in self.errors:
                    continue
                expected = told("{said} {name} entries from its manifest list", said=int(said[number]), name=name)
                if self.sizes.get(path) == lengths[number]:
                    remedy = told(
                        "Harmless: only the count in the list is wrong; the manifest has the length that the "
                        "list states."
                    )
                    self.warnings.append(Problem(path, expected, f"{counts[number]}", remedy))
                else:
                    self.errors[path] = SnapscopeError(
                        "expected {said} {name} entries according to its manifest list, found {counts}",
                        said=int(said[number]),
                        name=name,
                        counts=int(counts[number]),
                    )

    def _blame(
        self, errors: Mapping[str, SnapscopeError], positions: Ints, manifests: Ints, every: Sequence[str]
    ) -> None:
        if errors:
            for position, number in zip(positions, manifests, strict=True):
                if (path := every[int(number)]) in errors:
                    self._incomplete(int(position), path, errors[path], told("a readable manifest"))

    def _incomplete(self, position: int, path: str, error: SnapscopeError, expected: str) -> None:
        problem = Problem(
            path,
            expected,
            clause(error.message),
            error.remedy or told("Restore the file, or expire the snapshots that need it."),
        )
        found = self.incomplete.setdefault(position, [])
        if problem not in found:
            found.append(problem)

    # holders of files -------------------------------------------------------------------------------------------------

    def _shown(self, files: pa.Table) -> pa.Table:
        nothing = pa.nulls(len(files), pa.int32())
        columns = {name: files[name] for name in ("path", "bytes", "rows", "partition")}
        columns |= {"bucket": nothing, "level": nothing, "schema_id": pa.nulls(len(files), pa.int64())}
        columns |= {"source": self._sources(files["snapshot_id"]), "format": files["format"]}
        return pa.table(columns | {name: files[name] for name in _SHOWN_LAST})

    def _sources(self, snapshots: pa.ChunkedArray) -> pa.Array:
        """Return whether a rewriting commit added a file, if that commit is still known."""
        known = {signed(member.id): member.summary.get("operation") for member in self.found.snapshots.values()}
        words_of = {number: "compact" if kind == "replace" else "append" for number, kind in known.items() if kind}
        encoded = flat(snapshots).dictionary_encode()
        words = pa.array([words_of.get(number) for number in encoded.dictionary.to_pylist()], pa.string())
        return words.take(encoded.indices) if len(words) else pa.nulls(len(encoded), pa.string())

    def _hold_statistics(self) -> None:
        wanted: dict[str, tuple[int, list[int]]] = {}
        for number, path, size in self.found.statistics:
            if number in self.at:
                wanted.setdefault(self.place.path(path), (size, []))[1].append(self.at[number])
        at, owner = _columns(
            [(position, number) for number, (_, some) in enumerate(wanted.values()) for position in some]
        )
        runs = from_pairs(owner, at, len(wanted), self.positions)
        sizes = pa.array([size for size, _ in wanted.values()], pa.int64())
        self._hold(pa.array(list(wanted), pa.string()), ObjectKind.STATISTICS, sizes, runs)

    def _hold(
        self, paths: pa.Array | pa.ChunkedArray, kind: ObjectKind | pa.Array, sizes: pa.Array, runs: Intervals
    ) -> None:
        self.paths.append(flat(paths))
        kinds = pa.array([kind.value] * len(paths), pa.string()) if isinstance(kind, ObjectKind) else kind
        self.kinds.append(kinds)
        self.bytes.append(flat(sizes))
        self.held.append(runs)

    # assembling the history -------------------------------------------------------------------------------------------

    def _history(self, files: pa.Table, live: Intervals, *, are_distinct: bool) -> History:
        """Put the parts together. The paths of `files` are the first."""
        starts = np.concatenate(([0], np.cumsum([len(each) for each in self.paths]))).astype(np.int64)
        paths, code, first = large_texts.numbered_together(self.paths, is_first_distinct=are_distinct)
        if are_distinct:
            files = files.set_column(0, "path", paths.slice(0, len(files)))  # one copy of the texts
        self.paths.clear()
        count = len(first)
        parts = [
            runs.of(code[begin:end], count) for runs, (begin, end) in zip(self.held, pairwise(starts), strict=True)
        ]
        described = pa.table(
            {
                "kind": pa.chunked_array(self.kinds, pa.string()).combine_chunks(),
                "bytes": pa.chunked_array(self.bytes, pa.int64()).combine_chunks(),
            }
        )
        objects = _taken(described, first).add_column(0, "path", paths)
        objects = objects.append_column("ours", self.place.ours(paths))
        own = pa.array(code[: len(files)])
        return History(
            heads=self.heads,
            holders=self.holders,
            objects=objects,
            held=maximal(union(*parts) if parts else empty(0, self.positions)),
            files=files.append_column("object", own),
            live=live,
            incomplete={position: tuple(problems) for position, problems in sorted(self.incomplete.items())},
            warnings=tuple(dict.fromkeys(self.warnings)),
        )


def _taken(table: pa.Table, rows: Ints) -> pa.Table:
    """The given rows, in ascending order, without a copy if they are all."""
    return table if len(rows) == len(table) else table.take(pa.array(rows))


def inherited(entries: Loaded, rows: pa.Table) -> Loaded:
    """Fill in what ADDED entries inherit from their manifest's row in the list: snapshot id and sequence number.

    Version 1 has no sequence numbers: all its entries get 0.
    """
    counts = np.diff(entries.start)
    table = entries.rows
    given = pa.array(np.repeat(np.arange(len(counts)), counts))
    sequence = pc.fill_null(rows["sequence"], 0).take(given)
    is_added = pc.equal(table["status"], ADDED)
    for name, value in (
        ("snapshot_id", pc.if_else(is_added, rows["snapshot_id"].take(given), None)),
        ("sequence", pc.if_else(pc.or_(is_added, pc.equal(sequence, 0)), sequence, None)),
        ("content", rows["content"].take(given)),
    ):
        table = table.set_column(
            table.schema.get_field_index(name), name, pc.coalesce(table[name], value.cast(table[name].type))
        )
    table = table.append_column("spec_id", rows["spec_id"].take(given))
    return Loaded(table, entries.start, entries.errors)


def inline_rows(inline: Sequence[tuple[int, str, int]]) -> pa.Table:
    """Return list rows for the manifests that a version 1 snapshot names itself."""
    schema = pa.schema([(column.name, column.type) for column in LIST if column.name != "key"])
    rows = [
        {"path": path, "spec_id": 0, "content": 0, "sequence": 0, "snapshot_id": signed(own)} for _, path, own in inline
    ]
    return pa.Table.from_pylist(rows, schema)


def _columns(pairs: Sequence[tuple[int, int]]) -> tuple[Ints, Ints]:
    both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]
