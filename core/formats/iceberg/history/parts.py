"""An Iceberg table's history in parts. See `core.formats.parts`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.formats import parts as in_parts
from core.formats.iceberg.file_paths import TableLocation
from core.formats.iceberg.history import build, file_index
from core.formats.iceberg.history.outline import IcebergIndexed, IcebergLists, IcebergOutline, inherited
from core.formats.iceberg.manifests import DELETED, ENTRY, IcebergManifests
from core.formats.iceberg.metadata import Metadata
from core.formats.parts import MANIFEST, Facts, HistoryPart, HolderFrame, Manifests, part_of
from core.model.intervals import Ints
from core.model.references import Heads
from core.storage import memory
from core.storage.decoded_files import Loaded, add_unlisted, flat


@dataclass(frozen=True, slots=True)
class IcebergReader:
    """listed_manifests: what lists say about each manifest, which its entries inherit."""

    place: TableLocation
    listed_manifests: pa.Table

    def entries(self, manifests: Manifests, parts: int) -> tuple[list[Facts], pa.Table, Ints]:
        names, sizes = [name for _, name, _ in manifests], {name: size for _, name, size in manifests if size}
        numbers = np.array([number for number, _, _ in manifests], dtype=np.int64)
        loaded = IcebergManifests(is_kept=False).load(self.place, names, ENTRY, sizes)
        rows = inherited(loaded, self.listed_manifests.take(pa.array(numbers))).rows
        status = rows["status"].to_numpy().astype(np.int64)
        facts = [
            Facts(
                number, tuple(np.bincount(status[begin:end], minlength=DELETED + 1).tolist()), loaded.errors.get(name)
            )
            for (number, name, _), begin, end in zip(manifests, loaded.start, loaded.start[1:], strict=False)
        ]
        rows = rows.append_column(MANIFEST, pa.array(np.repeat(numbers, np.diff(loaded.start))))
        rows = rows.filter(pc.not_equal(rows["status"], DELETED))
        paths = self.place.paths(flat(rows["path"])) if len(rows) else pa.array([], pa.string())
        return facts, rows, part_of(paths, parts)


def _counts(status: Ints) -> tuple[int, ...]:
    return tuple(np.bincount(status, minlength=DELETED + 1).tolist())


@dataclass(frozen=True, slots=True)
class IcebergBuilder:
    outline: IcebergOutline
    place: TableLocation
    found: Metadata
    listed_manifests: pa.Table

    def part(self, entries: Sequence[pa.Table], part: int, parts: int) -> HistoryPart:
        every = pa.concat_tables(entries) if entries else _no_entries()
        manifest = every[MANIFEST].to_numpy()
        order = np.argsort(manifest, kind="stable")
        numbers, start = np.unique(manifest[order], return_index=True)
        rows = every.drop_columns([MANIFEST]).take(pa.array(order)).combine_chunks()
        loaded = Loaded(rows, np.concatenate((start, [len(rows)])).astype(np.int64), {})
        names = [self.outline.names[number] for number in numbers.tolist()]
        index = file_index.empty(self.place, self.found).with_manifests(self.listed_manifests)
        index = file_index.with_entries(index, self.place, self.found, numbers, names, loaded, {})
        own = tuple(each.only(part_of(each.paths, parts) == part) for each in self.outline.objects)
        outline = dataclasses.replace(self.outline, objects=own)
        history = in_parts.only(build.assembled(outline, index, self.place, self.found), part, parts)
        return HistoryPart(history, manifest[:0])


def _no_entries() -> pa.Table:
    """Entries as `IcebergReader` gives them, and none."""
    nothing = Loaded(
        pa.schema([(column.name, column.type) for column in ENTRY]).empty_table(), np.zeros(1, np.int64), {}
    )
    rows = inherited(nothing, file_index.SAID.empty_table()).rows
    return rows.append_column(MANIFEST, pa.array([], pa.int64()))


class IcebergInParts:
    """What is read before any manifest: metadata, and all manifest lists."""

    def __init__(self, place: TableLocation, heads: Heads, found: Metadata) -> None:
        self.heads, self.place, self.found = heads, place, found
        self._listed = IcebergLists(place, heads, found, IcebergManifests(is_kept=False))

    @cached_property
    def _read(self) -> IcebergIndexed:
        return self._listed.with_lists(file_index.empty(self.place, self.found))

    @cached_property
    def manifests(self) -> Manifests:
        every, sizes = self._read.names, self._listed.sizes
        numbers = np.flatnonzero(self._read.present).tolist()
        # The error of a size that cannot be asked is found again, and reported, when the manifest is read.
        add_unlisted(self.place.size, [every[number] for number in numbers], sizes, {})
        return [(number, every[number], sizes.get(every[number], 0)) for number in numbers]

    @property
    def entries(self) -> int:
        sizes = np.array([size for _, _, size in self.manifests], dtype=np.int64)
        claimed = self._listed.claimed(self._read.index.listed_manifests.filter(pa.array(self._read.present)), sizes)
        return int(memory.possible(claimed, sizes).sum())

    def reader(self) -> IcebergReader:
        return IcebergReader(self.place, self._read.index.listed_manifests)

    def frame(self, facts: Sequence[Facts]) -> HolderFrame:
        every = self._read.names
        errors = {every[each.manifest]: each.error for each in facts if each.error is not None}
        counts = {each.manifest: each.entries for each in facts if each.error is None}
        read = self._listed.checked(self._read, errors, counts)
        outline = self._listed.outline(read)
        light = dataclasses.replace(self.heads, references={}, document={})
        builder = IcebergBuilder(
            dataclasses.replace(outline, heads=light), self.place, self.found, self._read.index.listed_manifests
        )
        return HolderFrame(
            outline.heads, outline.holders, outline.warnings, builder, lambda _totals: outline.incomplete
        )
