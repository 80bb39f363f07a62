"""What a table's metadata and manifest lists say: its snapshots, which manifests each of them uses, and the objects
that they name themselves. Files follow from the manifests (`core.formats.iceberg.history.build`).

Invariant: what cannot be read is a problem of each snapshot that needs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import SnapscopeError
from core.formats.file_index import FileIndex
from core.formats.held_objects import HeldObjects
from core.formats.iceberg.file_paths import TableLocation
from core.formats.iceberg.history import file_index
from core.formats.iceberg.manifests import ADDED, LIST, IcebergManifests, needed
from core.formats.iceberg.metadata import Member, Metadata, signed
from core.formats.iceberg.references import reference
from core.messages import clause, message
from core.model.intervals import Intervals, Ints, Mask, from_pairs
from core.model.references import Heads, Holder, HolderKind, ObjectKind, Problem
from core.storage import memory
from core.storage.decoded_files import Loaded, expand, flat
from core.storage.file_systems import DirectoryEntry

_INLINE = "manifests of snapshot "
_STATUS = ("existing", "added", "deleted")
_BYTES_PER_ENTRY = 1000  # of memory, at most: 650 measured with statistics of 8 columns, 990 if all paths end alike
_ENTRY_PACKED = 100  # bytes of an entry in a manifest, if nothing counts them

Pairs = tuple[Ints, Ints]


@dataclass(frozen=True, slots=True)
class IcebergOutline:
    """names: of manifests, by number; present: those that some list names; uses: (position, manifest) pairs
    objects: those that metadata and lists name
    """

    heads: Heads
    holders: tuple[Holder, ...]
    names: Sequence[str]
    present: Mask
    uses: Pairs
    objects: tuple[HeldObjects, ...]
    incomplete: Mapping[int, tuple[Problem, ...]]
    warnings: tuple[Problem, ...]

    @property
    def positions(self) -> int:
        return len(self.holders)


@dataclass(frozen=True, slots=True)
class IcebergIndexed:
    """An index of lists, and maybe of the manifests that they name.

    present: per manifest, whether a list names it
    lists: the number of each list in the index; -1 if it cannot be read
    list_errors, errors: why lists and manifests cannot be read, or what they contradict
    """

    index: FileIndex
    present: Mask
    lists: Sequence[int]
    list_errors: Mapping[str, SnapscopeError]
    errors: Mapping[str, SnapscopeError]

    @property
    def names(self) -> list[str]:
        found: list[str] = self.index.listed_manifests["name"].to_pylist()
        return found


def axis(heads: Heads) -> tuple[Holder, ...]:
    """Return a position for every snapshot, branch by branch."""
    return tuple(
        Holder(HolderKind.SNAPSHOT, line.branch, str(each.id), each, reference(f"snapshots/{each.id}"))
        for line in heads.lines
        for each in line.snapshots
    )


class IcebergLists:
    """What snapshots name, and the listings of the directories of manifests: what is read before any manifest."""

    def __init__(self, place: TableLocation, heads: Heads, found: Metadata, manifests: IcebergManifests) -> None:
        self.place, self.heads, self.found, self.manifests = place, heads, found, manifests
        self.holders = axis(heads)
        self.positions = len(self.holders)
        self.at = {int(holder.name): position for position, holder in enumerate(self.holders)}
        self.incomplete: dict[int, list[Problem]] = {}
        self.listed: dict[str, Mapping[str, DirectoryEntry]] = {}
        self.sizes: dict[str, int] = {}
        self.marks: dict[str, str] = {}
        self.inline: dict[str, Member] = {}
        self.warnings = [problem for line in heads.lines for problem in line.warnings]
        self.objects: list[HeldObjects] = []
        self.names, self.users = self._lists()

    def outline(self, read: IcebergIndexed) -> IcebergOutline:
        """Return what follows from the lists and from the problems of the manifests that they name."""
        for path, error in read.list_errors.items():
            for place in self.users[path]:
                self._incomplete(place, path, error, message("a readable manifest list"))
        numbers = [(name, number) for name, number in zip(self.names, read.lists, strict=True) if number >= 0]
        at, local = _columns([(place, number) for name, number in numbers for place in self.users[name]])
        pair, row = expand(read.index.start, local)
        position, manifest = at[pair], read.index.row[row]
        every = read.names
        self._blame(read.errors, position, manifest, every)
        self._hold_lists(self.names, self.users)
        kept = np.flatnonzero(read.present)
        manifests = [every[number] for number in kept]
        own = pa.array([self.sizes.get(name) for name in manifests], pa.int64())
        held = from_pairs((np.cumsum(read.present) - 1)[manifest], position, len(kept), self.positions)
        self._hold(pa.array(manifests, pa.string()), ObjectKind.MANIFEST, own, held)
        self._hold_statistics()
        return IcebergOutline(
            self.heads,
            self.holders,
            every,
            read.present,
            (position, manifest),
            tuple(self.objects),
            {position: tuple(problems) for position, problems in sorted(self.incomplete.items())},
            tuple(dict.fromkeys(self.warnings)),
        )

    # reading ----------------------------------------------------------------------------------------------------------

    def with_lists(self, index: FileIndex) -> IcebergIndexed:
        """Index the lists, and list the manifests that they name."""
        errors: dict[str, SnapscopeError] = {}
        index = self._with_lists(index, [name for name in self.names if name not in index.list_numbers], errors)
        numbers = [index.list_numbers.get(name, -1) for name in self.names]
        present = index.present(np.array([number for number in numbers if number >= 0], dtype=np.int64))
        read = IcebergIndexed(index, present, numbers, errors, {})
        every = read.names
        self._list([every[number] for number in np.flatnonzero(present)])
        return read

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

    def _with_lists(self, index: FileIndex, names: list[str], errors: dict[str, SnapscopeError]) -> FileIndex:
        files = [name for name in names if name not in self.inline]
        loaded = self.manifests.load(self.place, files, LIST, self.sizes)
        errors.update(loaded.errors)
        members = [self.inline[name] for name in names if name in self.inline]
        inline = [(self.at[member.id], path, member.id) for member in members for path in member.manifests]
        rows = pa.concat_tables([loaded.rows.drop_columns(["key"]), inline_rows(inline)]).combine_chunks()
        read = [number for number, name in enumerate(files) if name not in loaded.errors]
        counts = np.concatenate((np.diff(loaded.start)[read], [len(member.manifests) for member in members]))
        given = [files[number] for number in read] + [f"{_INLINE}{member.id}" for member in members]
        return file_index.with_lists(index, self.place, given, counts.astype(np.int64), rows, self.marks)

    def require_memory(self, names: Sequence[str], rows: pa.Table) -> None:
        """Refuse entries that do not fit into memory; lists of version 1 need not say how many there are."""
        own = np.array([self.sizes.get(name, 0) for name in names], dtype=np.int64)
        memory.require(self.claimed(rows, own), own, _BYTES_PER_ENTRY, self.place.store.location)

    def claimed(self, listed_manifests: pa.Table, sizes: Ints) -> Ints:
        """Return the entries of manifests of these sizes in bytes, by what lists say."""
        stated = pc.add(pc.add(listed_manifests["existing"], listed_manifests["added"]), listed_manifests["deleted"])
        found: Ints = flat(pc.coalesce(stated, pa.array(sizes // _ENTRY_PACKED))).to_numpy()
        return found

    def checked(
        self, read: IcebergIndexed, errors: Mapping[str, SnapscopeError], counts: Mapping[int, Sequence[int]]
    ) -> IcebergIndexed:
        """Compare the numbers of entries by status, of each manifest that was read, with those in the manifest list.

        A manifest that lost whole blocks is still readable. If it has the length that the list states, or at least as
        many entries of each status, the list is wrong, as some writers' lists are. One need not be readable if the
        lists agree that no file in it is live.
        """
        listed_manifests, every = read.index.listed_manifests, read.names
        wrong = (
            needed(errors, every, listed_manifests) if read.index.is_sound else dict(errors)
        )  # what contradicts itself may err
        for path, error in errors.items():
            if path not in wrong:
                remedy = message("Harmless: according to the manifest list no file in it is live, so readers skip it.")
                self.warnings.append(Problem(path, message("a readable manifest"), clause(error.message), remedy))
        lengths, every_stated = (
            listed_manifests["bytes"].to_pylist(),
            [listed_manifests[name].to_pylist() for name in _STATUS],
        )
        for status, (name, stated) in enumerate(zip(_STATUS, every_stated, strict=True)):
            for number, found in counts.items():
                path, count = every[number], found[status]
                expected_count = stated[number]
                if expected_count is None or expected_count < 0 or expected_count == count or path in wrong:
                    continue
                expected = message("{said} {name} entries from its manifest list", said=expected_count, name=name)
                pairs = [(each[number], has) for each, has in zip(every_stated, found[: len(_STATUS)], strict=True)]
                is_whole = all(least is not None and 0 <= least <= has for least, has in pairs)
                if is_whole or self.sizes.get(path) == lengths[number]:
                    remedy = message("Harmless: only the count in the list is wrong; the manifest lacks no entry.")
                    self.warnings.append(Problem(path, expected, f"{count}", remedy))
                else:
                    wrong[path] = SnapscopeError(
                        "expected {said} {name} entries according to its manifest list, found {counts}",
                        said=expected_count,
                        name=name,
                        counts=count,
                    )
        return replace(read, errors=wrong)

    def _blame(
        self, errors: Mapping[str, SnapscopeError], positions: Ints, manifests: Ints, every: Sequence[str]
    ) -> None:
        if errors:
            for position, number in zip(positions, manifests, strict=True):
                if (path := every[int(number)]) in errors:
                    self._incomplete(int(position), path, errors[path], message("a readable manifest"))

    def _incomplete(self, position: int, path: str, error: SnapscopeError, expected: str) -> None:
        problem = Problem(
            path,
            expected,
            clause(error.message),
            error.remedy or message("Restore the file, or expire the snapshots that need it."),
        )
        found = self.incomplete.setdefault(position, [])
        if problem not in found:
            found.append(problem)

    # objects ----------------------------------------------------------------------------------------------------------

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

    def _hold(self, paths: pa.Array, kind: ObjectKind, sizes: pa.Array, runs: Intervals) -> None:
        self.objects.append(HeldObjects.of(paths, kind, sizes, runs))


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
