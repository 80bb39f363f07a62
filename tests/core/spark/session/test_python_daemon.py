"""The path of Python workers has no archives, which every task would list again."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyspark
import pytest
from pyspark.sql import SparkSession

from core.spark.session import python_daemon


def test_workers_take_pyspark_from_its_directory(spark: SparkSession) -> None:
    archives = python_daemon.ARCHIVES

    def told(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        import sys
        import zipimport

        for _ in batches:
            found = [each for each in sys.path if each.endswith(archives)]
            found += [place for place, by in sys.path_importer_cache.items() if isinstance(by, zipimport.zipimporter)]
            yield pa.record_batch({"path": [*found, f"from {sys.modules['pyspark'].__file__}"]})

    (found,) = spark.range(1).mapInArrow(told, "path string").collect()
    assert found["path"] == f"from {pyspark.__file__}"


def test_another_pyspark_does_not_replace_the_one_of_spark(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pyspark").mkdir()
    path = ["", str(tmp_path), "/spark/python/lib/pyspark.zip", "/spark/jars/spark-core.jar"]
    monkeypatch.setattr(sys, "path", list(path))
    monkeypatch.setenv("SPARK_HOME", "/spark")
    python_daemon.leave_archives_out()
    assert sys.path == path
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "pyspark"))
    monkeypatch.setattr(sys, "path_importer_cache", dict.fromkeys(path))
    python_daemon.leave_archives_out()
    assert sys.path == path[:2] == [*sys.path_importer_cache]
