"""Units of work, each in the task that is meant for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from core.spark.session.divided import divided, shares


@pytest.mark.parametrize("count", [0, 1, 2, 3, 50])
def test_every_unit_is_in_one_task_and_no_task_waits(spark: SparkSession, count: int) -> None:
    units = pa.table({"name": [f"unit {number}" for number in range(count)]})

    def named(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found = [name for batch in batches for name in batch.column(0).to_pylist()]
        if found:
            yield pa.record_batch({"names": [found]})

    tasks = [
        each["names"] for each in divided(spark, units, [1] * count).mapInArrow(named, "names array<string>").collect()
    ]
    assert sorted(name for names in tasks for name in names) == sorted(units["name"].to_pylist())
    most = min(count, 4 * spark.sparkContext.defaultParallelism)
    assert len(tasks) == most
    assert all(count // most <= len(names) <= count // most + 1 for names in tasks)


def test_large_units_come_first_and_small_ones_fill_up() -> None:
    assert shares([1, 10, 1, 8, 1, 6], 3) == [2, 0, 2, 1, 1, 2]
    assert shares([0, 0, 0, 0], 2) in ([0, 1, 0, 1], [1, 0, 1, 0]), "units without a size are counted"
