"""What a commit changes in each partition; a real server gets it in tests/interop."""

from __future__ import annotations

import datetime as dt

import pytest

from core.formats.paimon import binary_row
from core.formats.paimon.write.partition_statistics import of_changes
from core.model.references import Field, Schema

SCHEMA = Schema(0, (Field(0, "dt", "DATE"), Field(1, "region", "STRING")), ("dt", "region"), (), {}, 0)
NOON = dt.datetime(2026, 7, 1, 12, tzinfo=dt.UTC)


def entry(kind: int, partition: bytes, rows: int, size: int, created: dt.datetime | int | None) -> dict[str, object]:
    file = {"_ROW_COUNT": rows, "_FILE_SIZE": size, "_CREATION_TIME": created}
    return {"_KIND": kind, "_PARTITION": partition, "_TOTAL_BUCKETS": 2, "_FILE": file}


@pytest.mark.parametrize("is_legacy", [True, False])
def test_sums_for_each_partition(is_legacy: bool) -> None:
    """Removed files count as negative, and times are those of the machine's zone."""
    options = {"partition.legacy-name": str(is_legacy).lower()}
    schema = Schema(0, SCHEMA.fields, SCHEMA.partition_keys, (), options, 0)
    eu, none = (binary_row.encode((dt.date(2026, 7, 1), each), ("DATE", "STRING")) for each in ("a/b", None))
    late_ms = int(NOON.timestamp() * 1000) + 5
    changes = [entry(0, eu, 10, 100, NOON), entry(1, eu, 30, 300, late_ms), entry(0, none, 1, 7, None)]
    found = of_changes(schema, changes)
    local = int(NOON.replace(tzinfo=None).timestamp() * 1000)
    date = "20635" if is_legacy else "2026-07-01"
    assert found == [
        {
            "spec": {"dt": date, "region": "a/b"},
            "recordCount": -20,
            "fileSizeInBytes": -200,
            "fileCount": 0,
            "lastFileCreationTime": local + 5,
            "totalBuckets": 2,
        },
        {
            "spec": {"dt": date, "region": "__DEFAULT_PARTITION__"},
            "recordCount": 1,
            "fileSizeInBytes": 7,
            "fileCount": 1,
            "lastFileCreationTime": 0,
            "totalBuckets": 2,
        },
    ]


def test_a_table_without_partitions_has_one() -> None:
    schema = Schema(0, SCHEMA.fields, (), (), {}, 0)
    assert [each["spec"] for each in of_changes(schema, [entry(0, binary_row.EMPTY, 1, 1, 0)])] == [{}]
    assert of_changes(schema, []) == []
