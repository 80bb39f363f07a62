"""What a commit changes in each partition, as engines report it to the server of a REST catalog.

Source: `PartitionEntry`, `PartitionStatistics`, `InternalRowPartitionComputer` of Paimon 1.4.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Any

from core.formats.paimon import partitions
from core.formats.paimon.manifests import DELETE
from core.formats.paimon.write.manifest_encoding import Record
from core.model.references import Schema


def of_changes(schema: Schema, changes: Iterable[Record]) -> list[dict[str, Any]]:
    """Return one document for each partition, in which removed files, rows and bytes count as negative.

    Raises `Unsupported` if the text of a partition value does not follow from the stored one.
    """
    found: dict[bytes, dict[str, Any]] = {}
    for entry in changes:
        file, sign = entry["_FILE"], -1 if entry["_KIND"] == DELETE else 1
        sums = found.setdefault(
            entry["_PARTITION"],
            {"recordCount": 0, "fileSizeInBytes": 0, "fileCount": 0, "lastFileCreationTime": 0, "totalBuckets": 0},
        )
        sums["recordCount"] += sign * file["_ROW_COUNT"]
        sums["fileSizeInBytes"] += sign * file["_FILE_SIZE"]
        sums["fileCount"] += sign
        sums["lastFileCreationTime"] = max(sums["lastFileCreationTime"], _epoch_ms(file["_CREATION_TIME"]))
        sums["totalBuckets"] = entry["_TOTAL_BUCKETS"]
    specs = partitions.specs(schema, list(found))
    return [{"spec": spec, **sums} for spec, sums in zip(specs, found.values(), strict=True)]


def _epoch_ms(wall_clock: dt.datetime | int | None) -> int:
    """Return the time of a wall clock in this machine's zone; 0 if unknown. New entries have milliseconds."""
    if wall_clock is None:
        return 0
    if isinstance(wall_clock, int):
        wall_clock = dt.datetime.fromtimestamp(wall_clock / 1000, dt.UTC)
    return int(wall_clock.replace(tzinfo=None).timestamp() * 1000)
