"""Which files of a bucket a full compaction rewrites, and which it only moves to the highest level. Pure.

Invariant: the same choice as the engine's (`MergeTreeCompactTask`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from core.formats.paimon import binary_row
from core.formats.paimon.types import PaimonType, parse
from core.formats.paimon.write import manifest_encoding
from core.formats.paimon.write.manifest_encoding import Record
from core.model.references import Schema
from core.units import number, parse_size_bytes

TARGET = "128 mb"
_SMALL = 0.7  # fraction of the target size: `compaction.small-file-ratio`
_RUNS = 5  # `num-sorted-run.compaction-trigger`


@dataclass(frozen=True, slots=True)
class BucketRewrite:
    """Files of one bucket to be rewritten, as sections in key order, whose key ranges do not overlap."""

    sections: Sequence[Sequence[Record]]
    top: int  # the level of the result

    @property
    def files(self) -> list[Record]:
        return [entry for section in self.sections for entry in section]


def keys(schema: Schema) -> list[tuple[str, PaimonType]]:
    """Return the primary key without partition keys: the sort order within a bucket."""
    type_of = {field.name: parse(field.type) for field in schema.fields}
    return [(name, type_of[name]) for name in schema.primary_keys if name not in schema.partition_keys]


def levels(schema: Schema) -> int:
    return number(schema.options, "num-levels", number(schema.options, "num-sorted-run.compaction-trigger", _RUNS) + 1)


def of_table(schema: Schema, live: Sequence[Record]) -> Iterator[tuple[int, list[Record], list[BucketRewrite]]]:
    """Yield for each bucket: its top level, files that move there unchanged, and files that are rewritten."""
    buckets: dict[tuple[bytes, int], list[Record]] = {}
    for entry in live:
        buckets.setdefault((entry["_PARTITION"], entry["_BUCKET"]), []).append(entry)
    for files in buckets.values():
        top = max(levels(schema) - 1, *(entry["_FILE"]["_LEVEL"] for entry in files))
        yield top, *planned(schema, files, top)


def planned(schema: Schema, files: Sequence[Record], top: int) -> tuple[list[Record], list[BucketRewrite]]:
    """Return (files of one bucket that move to the top level unchanged, files that are rewritten)."""
    if all(entry["_FILE"]["_LEVEL"] == top for entry in files):
        return [], []
    target = parse_size_bytes(schema.options.get("target-file-size", TARGET))
    small = int(target * number(schema.options, "compaction.small-file-ratio", _SMALL))
    moved: list[Record] = []
    rewrites: list[BucketRewrite] = []
    waiting: list[list[Record]] = []

    def upgrade(entry: Record) -> None:
        if entry["_FILE"]["_DELETE_ROW_COUNT"] != 0:  # including unknown
            rewrites.append(BucketRewrite([[entry]], top))
        elif entry["_FILE"]["_LEVEL"] != top:
            moved.append(entry)

    def flush() -> None:
        if len(waiting) == 1 and len(waiting[0]) == 1:
            upgrade(waiting[0][0])
        elif waiting:
            rewrites.append(BucketRewrite(list(waiting), top))
        waiting.clear()

    for section in sections(schema, files):
        if len(section) > 1 or section[0]["_FILE"]["_FILE_SIZE"] < small:
            waiting.append(section)
        else:
            flush()
            upgrade(section[0])
    flush()
    return moved, rewrites


def sections(schema: Schema, files: Sequence[Record]) -> list[list[Record]]:
    """Group files in key order; files with overlapping key ranges are in one section."""
    key_types = [type_ for _, type_ in keys(schema)]

    def key(stored: bytes) -> list[Any]:
        return [manifest_encoding.ordered(value) for value in binary_row.decode(stored, key_types)]

    ranged = sorted(
        ((key(entry["_FILE"]["_MIN_KEY"]), key(entry["_FILE"]["_MAX_KEY"]), entry) for entry in files),
        key=lambda each: each[:2],
    )
    found: list[list[Record]] = []
    reach: Any = None
    for low, high, entry in ranged:
        if found and low <= reach:
            found[-1].append(entry)
            reach = max(reach, high)
        else:
            found.append([entry])
            reach = high
    return found
