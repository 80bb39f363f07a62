"""Which manifests a commit rewrites, as the engine does it (docs/paimon.md §6, step 4). Pure except for `read`.

Invariant: the live files of base and delta together do not change. A manifest that is kept keeps its record.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from core.formats.paimon import binary_row
from core.formats.paimon.manifests import ADD, DELETE
from core.formats.paimon.types import Source
from core.formats.paimon.write import manifest_encoding
from core.formats.paimon.write.manifest_encoding import Record
from core.units import number, parse_size_bytes

Read: TypeAlias = Callable[[Iterable[Record]], list[Record]]  # returns the entries of listed manifests, in order
Piece: TypeAlias = Record | list[Record]  # a listed manifest that is kept, or entries for new manifests


@dataclass(frozen=True, slots=True)
class ManifestMergeOptions:
    """When manifests are merged.

    `target`: size of a manifest in bytes. `least`: number of small manifests from which they are merged. `full`: total
    size in bytes of small or outdated manifests from which all of them are rewritten.
    """

    target: int = 8 << 20
    full: int = 16 << 20
    least: int = 30


def rules(options: Mapping[str, str]) -> ManifestMergeOptions:
    """Return the table's own options, else the engine's defaults. Raises `Invalid` for an invalid number or size."""
    usual = ManifestMergeOptions()
    return ManifestMergeOptions(
        parse_size_bytes(options.get("manifest.target-file-size", str(usual.target))),
        parse_size_bytes(options.get("manifest.full-compaction-threshold-size", str(usual.full))),
        number(options, "manifest.merge-min-count", usual.least),
    )


def merged(base: Sequence[Record], read: Read, types: Sequence[Source], by: ManifestMergeOptions) -> list[Piece]:
    """Return the new base for these listed manifests; `types` are the types of the partition keys."""
    found = _full(base, read, types, by)
    return _minor(base, read, by) if found is None else found


def _minor(base: Sequence[Record], read: Read, by: ManifestMergeOptions) -> list[Piece]:
    """Merge adjacent manifests up to the target size, and the small rest if there are many."""
    result: list[Piece] = []
    pending: list[Record] = []
    for each in base:
        pending.append(each)
        if sum(one["_FILE_SIZE"] for one in pending) >= by.target:
            result += _packed(pending, read)
            pending = []
    return [*result, *(_packed(pending, read) if len(pending) >= by.least else pending)]


def _packed(listed: list[Record], read: Read) -> list[Piece]:
    if len(listed) == 1:
        return [listed[0]]
    kept = manifest_encoding.merged(read(listed))
    return [kept] if kept else []


def _full(base: Sequence[Record], read: Read, types: Sequence[Source], by: ManifestMergeOptions) -> list[Piece] | None:
    """Apply all deletions and keep manifests that they do not affect; None if too little would be gained."""

    def is_due(each: Record) -> bool:
        return bool(each["_NUM_DELETED_FILES"] > 0 or each["_FILE_SIZE"] < by.target)

    if sum(each["_FILE_SIZE"] for each in base if is_due(each)) < by.full:
        return None
    deleting = read([each for each in base if each["_NUM_DELETED_FILES"]])
    ended = {manifest_encoding.identity(entry): entry["_PARTITION"] for entry in deleting if entry["_KIND"] == DELETE}
    touched = set(ended.values())
    stay: list[Record] = []
    rewritten: list[Record] = []
    count = 0
    for each in base:
        if not is_due(each) and not _may_hold(each, touched, types):
            stay.append(each)
            continue
        found = read([each])
        kept = [entry for entry in found if entry["_KIND"] == ADD and manifest_encoding.identity(entry) not in ended]
        if not is_due(each) and len(kept) == len(found):
            stay.append(each)
            continue
        rewritten += kept
        count += 1
    if count < 2:
        return None
    return [*stay, *([rewritten] if rewritten else [])]


def _may_hold(listed: Record, partitions: Collection[bytes], types: Sequence[Source]) -> bool:
    """Return whether a manifest may have entries of one of these partitions, by its partition statistics."""
    stats = listed["_PARTITION_STATS"]
    if not types or not partitions:
        return bool(partitions)
    least, greatest = (binary_row.decode(stats[name], types) for name in ("_MIN_VALUES", "_MAX_VALUES"))
    return any(
        all(
            low is None
            or value is None
            or manifest_encoding.ordered(low) <= manifest_encoding.ordered(value) <= manifest_encoding.ordered(high)
            for value, low, high in zip(binary_row.decode(stored, types), least, greatest, strict=True)
        )
        for stored in partitions
    )
