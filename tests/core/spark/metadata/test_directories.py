"""Directories of files to be deleted, listed by tasks."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from core.formats.paimon.disk_check import PaimonDiskCheck
from core.formats.parts import part_of
from core.spark.metadata import directories
from core.spark.metadata.part_rows import PICKLED, Kind, by_part, read
from core.storage.store import Store


@pytest.mark.parametrize("together", [1, 100_000])
def test_what_is_there_goes_to_its_part(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    monkeypatch.setattr(directories, "_TOGETHER", together)
    there = {f"bucket-{bucket}/data-{number}": bucket + number for bucket in range(3) for number in range(20)}
    for path, size in there.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(b"x" * size)
    frees = ["bucket-0/data-1", "bucket-1/data-99", "bucket-7/data-1", "s3://elsewhere/data-1"]
    check = PaimonDiskCheck.of(Store(str(tmp_path)), frees)
    found = by_part(directories.listed(spark, check, frees, 4).toArrow().to_batches())
    gone = [path for kind, content in found.pop(-1) for path in PICKLED.loads(content) if kind == Kind.GONE]
    assert sorted(gone) == ["bucket-1/data-99", "bucket-7/data-1"]
    listed: dict[str, int] = {}
    for part, rows in found.items():
        for kind, content in rows:
            assert kind == Kind.LISTED
            own = read(content)
            assert set(part_of(own["path"].combine_chunks(), 4)) == {part}
            listed |= dict(zip(own["path"].to_pylist(), own["bytes"].to_pylist(), strict=True))
    assert listed == {path: size for path, size in there.items() if not path.startswith("bucket-2/")}
