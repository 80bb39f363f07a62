"""A Paimon table's history in parts. See `core.formats.parts`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.formats import parts as in_parts
from core.formats.paimon import consistency
from core.formats.paimon.consistency import ManifestContents
from core.formats.paimon.disk_check import PaimonDiskCheck
from core.formats.paimon.file_paths import Identities, changelog_path, identities
from core.formats.paimon.history import build, file_index
from core.formats.paimon.history.file_index import PaimonIndexed
from core.formats.paimon.history.outline import PaimonLists, PaimonOutline
from core.formats.paimon.manifests import ENTRY, PaimonManifests
from core.formats.paimon.read.holder_axis import axis
from core.formats.paimon.read.problems import unknown_in
from core.formats.parts import MANIFEST, DiskCheck, Facts, HistoryPart, HolderFrame, Manifests, Missing, part_of
from core.messages import Reason
from core.model.history import HistorySummary
from core.model.intervals import Ints
from core.model.references import Heads, Problem
from core.storage import memory
from core.storage.decoded_files import Loaded, add_unlisted, expand, flat
from core.storage.store import Store

_RANGE = "compacted-changelog-"
_ENTRIES = pa.schema([*((column.name, column.type) for column in ENTRY), (MANIFEST, pa.int64())])


@dataclass(frozen=True, slots=True)
class PaimonReader:
    store: Store
    heads: Heads

    def entries(self, manifests: Manifests, parts: int) -> tuple[list[Facts], pa.Table, Ints]:
        names, sizes = [name for _, name, _ in manifests], {name: size for _, name, size in manifests if size}
        numbers = np.array([number for number, _, _ in manifests], dtype=np.int64)
        source = PaimonManifests(self.store, is_kept=False)
        loaded, found = file_index.identified_in(self.heads, names, source.load(names, ENTRY, sizes))
        unknown, counts = unknown_in(loaded, numbers), np.diff(loaded.start)
        manifest_of = np.repeat(np.arange(len(names), dtype=np.int64), counts)
        added, deleted, rows = (each.tolist() for each in consistency.sums(loaded.rows, manifest_of, len(names)))
        facts = [
            Facts(
                number,
                (added[at], deleted[at]),
                loaded.errors.get(name),
                unknown.get(number),
                rows[at],
                source.odd.get(name),
            )
            for at, (number, name, _) in enumerate(manifests)
        ]
        identity, part = _parts(found, parts)
        row, pair = expand(np.searchsorted(identity, np.arange(found.count + 1)).astype(np.int64), found.identity)
        entries = loaded.rows.append_column(MANIFEST, pa.array(np.repeat(numbers, counts)))
        return facts, entries if len(row) == len(entries) else entries.take(pa.array(row)), part[pair]


def _parts(found: Identities, parts: int) -> tuple[Ints, Ints]:
    """Return the parts of each identity's objects, as (identity, part) pairs sorted by identity."""
    path = flat(found.files["path"])
    pairs = [np.arange(found.count, dtype=np.int64) * parts + part_of(path, parts)]
    ranges = np.flatnonzero(pc.match_substring(path, _RANGE).to_numpy(zero_copy_only=False))
    if len(ranges):
        chosen = found.files.select(["path", "bucket"]).take(pa.array(ranges))
        real = [changelog_path(each["path"], each["bucket"]) for each in chosen.to_pylist()]
        pairs.append(ranges * parts + part_of(pa.array(real, pa.string()), parts))
    if len(found.extra_owner):
        pairs.append(found.extra_owner * parts + part_of(flat(found.extra_path), parts))
    every = np.unique(np.concatenate(pairs)) if len(pairs) > 1 else pairs[0]
    return every // parts, every % parts


@dataclass(frozen=True, slots=True)
class PaimonBuilder:
    outline: PaimonOutline
    listed_manifests: pa.Table

    def part(self, entries: Sequence[pa.Table], part: int, parts: int) -> HistoryPart:
        every = pa.concat_tables([_ENTRIES.empty_table(), *entries])
        manifest = every[MANIFEST].to_numpy()
        order = np.argsort(manifest, kind="stable")
        numbers, start = np.unique(manifest[order], return_index=True)
        rows = every.drop_columns([MANIFEST]).take(pa.array(order)).combine_chunks()
        loaded = Loaded(rows, np.concatenate((start, [len(rows)])).astype(np.int64), {})
        names = [self.outline.names[number] for number in numbers.tolist()]
        index = file_index.empty(self.outline.heads.main.schema).with_manifests(self.listed_manifests)
        found = identities(rows, self.outline.heads)
        index = file_index.extended(index, numbers, names, loaded, found, {})
        outline = dataclasses.replace(
            self.outline,
            objects=tuple(each.only(part_of(each.paths, parts) == part) for each in self.outline.objects),
        )
        history = in_parts.only(build.assembled(outline, index), part, parts)
        return HistoryPart(history, consistency.contradictory(rows, manifest[order], found))


@dataclass(frozen=True, slots=True)
class PaimonExamination:
    """See `core.formats.paimon.consistency`. `facts` are those of all manifests, by name."""

    listed: PaimonLists
    names: Sequence[str]
    facts: Mapping[str, Facts]

    def problems(self, history: HistorySummary, contradictory: Collection[int]) -> Mapping[int, Problem]:
        wrong = {self.names[number] for number in contradictory}

        def contents(names: list[str]) -> ManifestContents:
            nothing = Facts(-1, (0, 0))
            found = [self.facts.get(name, nothing) for name in names]
            added, deleted, rows = (
                np.array(each, dtype=np.int64)
                for each in zip(*((*fact.entries, fact.rows) for fact in (nothing, *found)), strict=True)
            )
            odd = {name: fact.odd for name, fact in self.facts.items() if fact.odd is not None}
            at = np.flatnonzero([name in wrong for name in names])
            return ManifestContents(added[1:], deleted[1:], rows[1:], at, odd)

        return consistency.problems(history, self.listed.manifests, dict(self.listed.sizes), contents)

    def check(self, frees: Collection[str]) -> PaimonDiskCheck:
        return PaimonDiskCheck.of(self.listed.store, frees)

    def doubt(
        self, check: DiskCheck, found: Sequence[Missing], frees: Collection[str]
    ) -> Callable[[str], Reason | None]:
        assert isinstance(check, PaimonDiskCheck)
        return check.doubts(found, frees, ()).of


def _light(heads: Heads) -> Heads:
    """Return references without their contents, which parts do not need."""
    return dataclasses.replace(heads, references={})


class PaimonInParts:
    """What is read before any manifest: references, and all manifest lists."""

    def __init__(self, store: Store, heads: Heads, *, changelogs: bool) -> None:
        self.heads = heads
        self._listed = PaimonLists(
            store, heads, PaimonManifests(store, is_kept=False), axis(heads, changelogs=changelogs)
        )

    @cached_property
    def _read(self) -> PaimonIndexed:
        listed = self._listed
        return file_index.read_lists(self.heads, listed.manifests, listed.lists, listed.sizes, listed.marks)

    @cached_property
    def manifests(self) -> Manifests:
        every, sizes = self._read.index.listed_manifests["name"].to_pylist(), self._listed.sizes
        numbers = np.flatnonzero(self._read.present).tolist()
        # The error of a size that cannot be asked is found again, and reported, when the manifest is read.
        add_unlisted(self._listed.manifests.size, [every[number] for number in numbers], sizes, {})
        return [(number, every[number], sizes.get(every[number], 0)) for number in numbers]

    @property
    def entries(self) -> int:
        listed_manifests = self._read.index.listed_manifests.filter(pa.array(self._read.present))
        sizes = np.array([size for _, _, size in self.manifests], dtype=np.int64)
        entries = listed_manifests["added"].to_numpy() + listed_manifests["deleted"].to_numpy()
        return int(memory.possible(entries, sizes).sum())

    def reader(self) -> PaimonReader:
        return PaimonReader(self._listed.store, _light(self.heads))

    def frame(self, facts: Sequence[Facts]) -> HolderFrame:
        listed_manifests = self._read.index.listed_manifests
        names = listed_manifests["name"].to_pylist()
        errors = {names[each.manifest]: each.error for each in facts if each.error is not None}
        counts = {each.manifest: sum(each.entries) for each in facts if each.error is None}
        errors |= file_index.contradictions(listed_manifests, counts, self._listed.sizes)
        unknown = {each.manifest: each.unknown for each in facts if each.unknown is not None}
        read = dataclasses.replace(self._read, errors=errors, unknown=unknown)
        outline = self._listed.outline(read)
        builder = PaimonBuilder(dataclasses.replace(outline, heads=_light(self.heads)), listed_manifests)
        return HolderFrame(
            outline.heads, outline.holders, outline.warnings, builder,
            lambda totals: outline.with_rows(totals.rows).incomplete,
            PaimonExamination(self._listed, names, {names[each.manifest]: each for each in facts}),
        )  # fmt: skip
