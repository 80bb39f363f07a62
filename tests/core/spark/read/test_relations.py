"""Relations over given files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import py4j.clientserver
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from pyspark.sql import SparkSession

from core.errors import NotFound
from core.spark.read import relations


def files(root: Path, count: int) -> list[str]:
    """One file of one row in each directory."""
    for number in range(count):
        (root / f"p{number}").mkdir(parents=True)
        parquet.write_table(pa.table({"id": pa.array([number], pa.int64())}), root / f"p{number}" / "f.parquet")
    return [str(root / f"p{number}" / "f.parquet") for number in range(count)]


def read(spark: SparkSession, paths: list[str]) -> Any:
    """The files with a partition column that is twice their number."""
    values = spark.createDataFrame(pa.table({"k": pa.array([2 * at for at in range(len(paths))], pa.int32())}))
    directories = [path.rpartition("/")[0] for path in paths]
    return relations.over(
        spark, "parquet", "id BIGINT", paths, partition="k INT", values=values, directories=directories
    )


def test_each_file_has_the_values_of_its_directory(spark: SparkSession, tmp_path: Path) -> None:
    found = read(spark, files(tmp_path, 12))
    assert sorted(map(tuple, found.collect())) == [(at, 2 * at) for at in range(12)]
    assert [row.id for row in found.where("k = 6").collect()] == [3]


def test_more_files_take_no_more_calls(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = files(tmp_path / "few", 2), files(tmp_path / "many", 60)
    read(spark, few)  # compiles
    sent: list[str] = []
    plain = py4j.clientserver.ClientServerConnection.send_command

    def counted(self: Any, command: str) -> Any:
        sent.append(command.partition("\n")[0])
        return plain(self, command)

    monkeypatch.setattr(py4j.clientserver.ClientServerConnection, "send_command", counted)
    numbers = []
    for paths in (few, many):
        sent.clear()
        read(spark, paths)
        numbers.append(sum(each != "m" for each in sent))  # "m" reports garbage, whenever Python finds it
    assert numbers[0] == numbers[1] > 0


def test_a_missing_file_is_named(spark: SparkSession, tmp_path: Path) -> None:
    there = files(tmp_path, 1)
    gone = str(tmp_path / "p0" / "gone.parquet")
    with pytest.raises(NotFound) as caught:
        relations.over(spark, "parquet", "id BIGINT", [*there, gone])
    assert caught.value.path == gone
