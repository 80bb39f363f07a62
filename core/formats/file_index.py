"""An index of a table's manifest lists and manifests: which manifests a list names, and which files a manifest names,
independent of who holds them. Each commit adds its own files. The index is stored on the local disk.

Invariants:
- It is used only while every file it was made from, and that is still needed, is listed with the mark it had then (its
  size, time and checksum); else all are read again. So it gives what reading them now would give.
- It depends on nothing but those files and `key`. What holds a file is computed from the references each time.
- It is not kept if manifests contradict each other about a file or lists about a manifest: then the order decides in
  which they are read. Nor are files kept that could not be read.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.formats.entry_groups import Groups
from core.model.intervals import Ints, Mask
from core.storage import mapped_tables
from core.storage.decoded_files import first_rows

LEAST = 500  # files: reading fewer takes no longer than a person notices
_NEW, _PART = 100, 1 / 32  # what is worth writing it again, of as many files
_NAMED = pa.schema([("name", pa.string()), ("mark", pa.string())])


@dataclass(frozen=True)
class FileIndex:
    """lists: name, mark; list i names the rows `row[start[i]:start[i + 1]]` of `listed_manifests`
    listed_manifests: what lists say about each manifest: name and the format's columns
    marks: per manifest, the mark of the file its entries come from; null where they were not read
    counts: per manifest and code, the number of its entries
    files: a row for each file: path, and the format's columns
    removed: entries that say only that a file was removed: number of the manifest, and the format's columns
    """

    key: str
    lists: pa.Table
    start: Ints
    row: Ints
    listed_manifests: pa.Table
    marks: pa.Array
    counts: Ints
    files: pa.Table
    groups: Groups
    removed: pa.Table
    is_distinct: bool = True  # no two files share a path
    is_sound: bool = True  # nothing in it contradicts itself
    saved: int = 0  # of its lists and manifests, those on the local disk

    CODES = 4

    @classmethod
    def empty(cls, key: str, manifests: pa.Schema, files: pa.Schema, removed: pa.Schema) -> FileIndex:
        none = np.zeros(0, dtype=np.int64)
        return cls(
            key, _NAMED.empty_table(), np.zeros(1, dtype=np.int64), none, manifests.empty_table(),
            pa.array([], pa.string()), none.reshape(0, cls.CODES), files.empty_table(), Groups.none(),
            removed.empty_table(),
        )  # fmt: skip

    def with_manifests(self, manifests: pa.Table) -> FileIndex:
        """Return this empty index with what lists say about manifests, and without their entries."""
        marks, counts = pa.nulls(len(manifests), pa.string()), np.zeros((len(manifests), self.CODES), dtype=np.int64)
        return dataclasses.replace(self, listed_manifests=manifests, marks=marks, counts=counts)

    @cached_property
    def list_numbers(self) -> Mapping[str, int]:
        return {name: number for number, name in enumerate(self.lists["name"].to_pylist())}

    @cached_property
    def are_read(self) -> Mask:
        """Per manifest: whether its entries are known."""
        found: Mask = self.marks.is_valid().to_numpy(zero_copy_only=False)
        return found

    @property
    def size(self) -> int:
        """How many lists and manifests it contains."""
        return len(self.lists) + int(self.are_read.sum())

    def fits_lists(self, names: Sequence[str], marks: Mapping[str, str]) -> bool:
        """Return whether all of these lists that it knows are still what they were."""
        was = self.lists["mark"].to_pylist()
        numbers = ((name, self.list_numbers.get(name)) for name in names)
        return all(number is None or marks.get(name) == was[number] for name, number in numbers)

    def fits_manifests(self, present: Mask, marks: Mapping[str, str]) -> bool:
        """Return whether all of these manifests that it knows are still what they were."""
        chosen = pa.array(present & self.are_read)
        names, was = self.listed_manifests["name"].filter(chosen).to_pylist(), self.marks.filter(chosen).to_pylist()
        return all(marks.get(name) == mark for name, mark in zip(names, was, strict=True))

    def present(self, lists: Ints) -> Mask:
        """Per manifest: whether one of these lists names it."""
        named = np.zeros(len(self.lists), dtype=np.bool_)
        named[lists] = True
        found = np.zeros(len(self.listed_manifests), dtype=np.bool_)
        found[self.row[np.repeat(named, np.diff(self.start))]] = True
        return found

    # growing ----------------------------------------------------------------------------------------------------------

    def with_lists(self, names: Sequence[str], marks: Mapping[str, str], counts: Ints, rows: pa.Table) -> FileIndex:
        """Add lists: their rows one after another, `counts[i]` of list i."""
        known = pc.index_in(rows["name"], value_set=self.listed_manifests["name"]).combine_chunks()
        new = np.flatnonzero(known.is_null().to_numpy(zero_copy_only=False))
        encoded = rows["name"].take(pa.array(new)).combine_chunks().dictionary_encode()
        codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        numbers = pc.fill_null(known, -1).to_numpy(zero_copy_only=False).astype(np.int64)
        numbers[new] = codes + len(self.listed_manifests)
        own = rows.take(pa.array(new[first_rows(codes, len(encoded.dictionary))]))
        listed_manifests = pa.concat_tables([self.listed_manifests, own]).combine_chunks()
        others = listed_manifests.drop_columns(["name"])
        agree = rows.select(others.column_names).equals(others.take(pa.array(numbers)))
        del known, encoded, codes
        pa.default_memory_pool().release_unused()
        listed = pa.table([names, [marks.get(name) for name in names]], schema=_NAMED)
        return dataclasses.replace(
            self,
            lists=pa.concat_tables([self.lists, listed]).combine_chunks(),
            start=np.concatenate((self.start, self.start[-1] + np.cumsum(counts, dtype=np.int64))),
            row=np.concatenate((self.row, numbers)),
            listed_manifests=listed_manifests,
            marks=pa.concat_arrays([self.marks, pa.nulls(len(own), pa.string())]),
            counts=np.concatenate((self.counts, np.zeros((len(own), self.CODES), dtype=np.int64))),
            is_sound=self.is_sound and agree and all(name in marks for name in names),
        )

    def with_entries(
        self, manifests: Ints, marks: Mapping[str, str], manifest: Ints, code: Ints, file: Ints, files: pa.Table
    ) -> FileIndex:
        """Add what these manifests contain: entry i of `manifest[i]` says `code[i]` about `file[i]`.

        `files` are those that are new; they are numbered after the known ones.
        """
        pa.default_memory_pool().release_unused()
        names = self.listed_manifests["name"].take(pa.array(manifests)).to_pylist()
        found = self.marks.to_numpy(zero_copy_only=False).copy()
        found[manifests] = [marks.get(name, "") for name in names]
        counts = self.counts.copy()
        np.add.at(counts, (manifest, code), 1)
        all_files = pa.concat_tables([self.files, files]) if len(files) and len(self.files) else files
        return dataclasses.replace(
            self,
            marks=pa.array(found, pa.string()),
            counts=counts,
            files=all_files if len(files) else self.files,
            groups=self.groups.extended(file, manifest, code, len(self.files) + len(files)),
            is_sound=self.is_sound and all(name in marks for name in names),
        )

    def of(self, present: Mask) -> tuple[pa.Table, Groups]:
        """Return the files that these manifests name, and their groups."""
        rows = self._alive(present)
        if len(rows) == len(self.files):
            return self.files, self.groups
        return self.files.take(pa.array(rows)), self.groups.only(rows)

    def rows_of(self, paths: pa.StringArray) -> Ints:
        """Return its files that have one of these paths."""
        if not len(self.files):
            return np.zeros(0, dtype=np.int64)  # without the set of paths, which takes a quarter as long as decoding
        return np.flatnonzero(pc.is_in(self.files["path"], value_set=paths).to_numpy())

    def removed_by(self, names: Sequence[str]) -> tuple[pa.Table, list[str]]:
        """Return what these manifests say was removed, and those of them whose entries are not known."""
        number = {name: at for at, name in enumerate(self.listed_manifests["name"].to_pylist()) if self.are_read[at]}
        found = [number[name] for name in names if name in number]
        chosen = self.removed.filter(pc.is_in(self.removed["manifest"], value_set=pa.array(found, pa.int64())))
        return chosen, [name for name in names if name not in number]

    def _alive(self, present: Mask) -> Ints:
        alive = np.zeros(self.groups.count, dtype=np.bool_)
        alive[self.groups.owner[present[self.groups.manifest]]] = True
        return np.flatnonzero(alive[self.groups.group_of])

    # on the local disk ------------------------------------------------------------------------------------------------

    def kept(self, place: str | None, lists: Ints, present: Mask) -> FileIndex:
        """Write what is still needed to the local disk, if that is allowed (`place`) and enough of it is new; return
        what is needed from then on."""
        new = self.size - self.saved
        if place is None or not self.is_sound or self.size < LEAST or new < min(_NEW, _PART * self.size + 1):
            return self
        kept = self._without(lists, present)
        mapped_tables.keep(place, self.key, kept._tables())
        return dataclasses.replace(kept, saved=kept.size)

    def _without(self, lists: Ints, present: Mask) -> FileIndex:
        """Return it without everything but these lists and manifests."""
        if len(lists) == len(self.lists) and present.all():
            return self
        numbers, rows = np.cumsum(present) - 1, self._alive(present)
        counts = np.diff(self.start)
        chosen = np.zeros(len(self.lists), dtype=np.bool_)
        chosen[lists] = True
        mask = pa.array(present)
        removed = self.removed
        if len(removed):
            number = removed["manifest"].to_numpy()
            rest = removed.filter(pa.array(present[number]))
            removed = rest.set_column(0, "manifest", pa.array(numbers[rest["manifest"].to_numpy()], pa.int64()))
        return dataclasses.replace(
            self,
            lists=self.lists.filter(pa.array(chosen)),
            start=np.concatenate(([0], np.cumsum(counts[chosen]))).astype(np.int64),
            row=numbers[self.row[np.repeat(chosen, counts)]],
            listed_manifests=self.listed_manifests.filter(mask),
            marks=self.marks.filter(mask),
            counts=self.counts[present],
            files=self.files.take(pa.array(rows)) if len(rows) < len(self.files) else self.files,
            groups=self.groups.without(present, rows, numbers),
            removed=removed,
        )

    def _tables(self) -> dict[str, pa.Table]:
        counts = {f"count{code}": self.counts[:, code] for code in range(self.CODES)}
        return {
            "lists": self.lists.append_column("rows", pa.array(np.diff(self.start))),
            "rows": pa.table({"row": self.row}),
            "said": pa.table({"mark": self.marks, **counts, **_columns(self.listed_manifests)}),
            "files": pa.table({"group": self.groups.group_of, **_columns(self.files)}),
            "groups": pa.table({"entries": np.diff(self.groups.start)}),
            "entries": pa.table({"manifest": self.groups.manifest, "code": self.groups.code}),
            "removed": self.removed,
            "facts": pa.table({"is_distinct": [self.is_distinct]}),
        }

    def found(self, place: str | None) -> FileIndex:
        """Return what the local disk has under this key; else the index itself, which is empty."""
        tables = None if place is None else mapped_tables.find(place, self.key)
        if tables is None:
            return self
        listed_manifests, files, groups = tables["said"], tables["files"], tables["groups"]
        known = dataclasses.replace(
            self,
            lists=tables["lists"].drop_columns(["rows"]),
            start=_starts(tables["lists"]["rows"]),
            row=tables["rows"]["row"].to_numpy(),
            listed_manifests=listed_manifests.select(self.listed_manifests.column_names),
            marks=pa.concat_arrays([pa.array([], pa.string()), *listed_manifests["mark"].chunks]),
            counts=np.column_stack([listed_manifests[f"count{code}"].to_numpy() for code in range(self.CODES)]),
            files=files.drop_columns(["group"]),
            groups=Groups(
                files["group"].to_numpy(),
                _starts(groups["entries"]),
                tables["entries"]["manifest"].to_numpy(),
                tables["entries"]["code"].to_numpy(),
            ),
            removed=tables["removed"],
            is_distinct=tables["facts"]["is_distinct"][0].as_py(),
        )
        return dataclasses.replace(known, saved=known.size)


def do_agree(table: pa.Table, columns: Sequence[str], rows: Ints, firsts: Ints) -> bool:
    """Return whether each row says in these columns what the first about the same file says."""
    repeated = np.flatnonzero(rows != firsts)
    chosen, first = pa.array(rows[repeated]), pa.array(firsts[repeated])
    return all(table[name].take(chosen).equals(table[name].take(first)) for name in columns)


def _starts(counts: pa.ChunkedArray) -> Ints:
    return np.concatenate(([0], np.cumsum(counts.to_numpy()))).astype(np.int64)


def _columns(table: pa.Table) -> dict[str, pa.ChunkedArray]:
    return dict(zip(table.column_names, table.columns, strict=True))
