"""Which small files of an append table are compacted into one file, as the engine chooses them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.formats.paimon.write.manifest_encoding import Record
from core.units import number, parse_size_bytes


@dataclass(frozen=True, slots=True)
class SmallFileOptions:
    """Sizes in bytes: the target of a file, the limit below which it is small, and the cost of opening another file."""

    target: int = 256 << 20
    small: int = (256 << 20) * 7 // 10
    opening: int = 4 << 20
    least: int = 5  # this many small files are compacted even if they are below the target size


def rules(options: Mapping[str, str]) -> SmallFileOptions:
    """Return the table's own options, else the engine's defaults. Raises `Invalid` for an invalid number or size."""
    usual = SmallFileOptions()
    target = parse_size_bytes(options.get("target-file-size", str(usual.target)))
    return SmallFileOptions(
        target,
        int(target * number(options, "compaction.small-file-ratio", 0.7)),
        parse_size_bytes(options.get("source.split.open-file-cost", str(usual.opening))),
        number(options, "compaction.min.file-num", usual.least),
    )


def bins(live: Iterable[Record], by: SmallFileOptions) -> list[list[Record]]:
    """Group files that become one, each group from one partition, smallest first; never a single file."""
    partitions: dict[bytes, list[Record]] = {}
    for entry in live:
        if _size(entry) < by.small:
            partitions.setdefault(entry["_PARTITION"], []).append(entry)
    found: list[list[Record]] = []
    for small in partitions.values():
        pending: list[Record] = []
        for entry in sorted(small, key=lambda entry: (_size(entry), entry["_FILE"]["_FILE_NAME"])):
            pending.append(entry)
            if len(pending) > 1 and sum(_size(each) + by.opening for each in pending) >= 2 * by.target:
                found.append(pending)
                pending = []
        if len(pending) >= max(by.least, 2):
            found.append(pending)
    return found


def tasks(packed: Iterable[list[Record]], by: SmallFileOptions) -> list[list[Record]]:
    """Group bins into tasks by size, but never two bins of one partition, because they would become one file."""
    found: list[list[Record]] = []
    inside: set[bytes] = set()
    for small in packed:
        partition = small[0]["_PARTITION"]
        if not found or partition in inside or sum(map(_size, [*found[-1], *small])) > 2 * by.target:
            found.append([])
            inside = set()
        found[-1] += small
        inside.add(partition)
    return found


def _size(entry: Record) -> int:
    return int(entry["_FILE"]["_FILE_SIZE"])
