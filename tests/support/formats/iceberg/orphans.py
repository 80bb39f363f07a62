"""Files that nobody names in the directories of Iceberg tables, and the plans that find them."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

from core.model.actions import CleanOrphans
from core.model.plan import Plan
from core.table import open_table

DAY_MS = 86_400_000
NOW_MS = 4_000_000_000_000
AGE = CleanOrphans(NOW_MS - 3 * DAY_MS)


def unique(number: int) -> str:
    return str(uuid.UUID(int=number + 2**100))


def lost(root: Path, path: str, *, is_young: bool = False) -> str:
    """Put a file there that nobody names."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(b"12345")
    if is_young:
        os.utime(root / path, (NOW_MS / 1000, NOW_MS / 1000))
    return path


def planned(place: Path | str, change: CleanOrphans = AGE) -> Plan:
    return open_table(str(place)).preview(change, NOW_MS)


def paths(plan: Plan) -> list[str]:
    return sorted(plan.frees["path"].to_pylist())


LITTER = {
    "data": f"data/00000-0-{unique(1)}-00001.parquet",
    "data of a partition": f"data/dt=2026-01-01/00000-0-{unique(2)}-00001.orc",
    "data of a hashed path": f"data/0101/0110/00000-0-{unique(3)}.avro",
    "data of a partition of a table of Hive": f"dt=2026-01-01/{unique(4)}_1_data.0.parq",
    "deletes": f"data/00000-0-{unique(5)}-00001-deletes.parquet",
    "deletion vectors": f"data/00000-0-{unique(6)}-00001.puffin",
    "manifest list": f"metadata/snap-123-1-{unique(7)}.avro",
    "manifest": f"metadata/{unique(8)}-m0.avro",
    "statistics": f"metadata/20260101-{unique(9)}.stats",
    "statistics of partitions": f"metadata/partition-stats-1-{unique(10)}.parquet",
}
