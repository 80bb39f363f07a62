"""Units of work as a frame whose partitions, and so Spark's tasks, each have a share of about the same size."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heapreplace

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from core.spark.session import connect

_TASK = "_task"


def divided(spark: SparkSession, units: pa.Table, sizes: Sequence[int]) -> DataFrame:
    """Return the units as a frame of up to four partitions for each core, none of which is empty.

    `sizes`: of each unit, in any measure. `DataFrame.repartition(n)` would not do: it begins at a random partition in
    each task, so that two units often share one while the other core has nothing to do.
    """
    cores = connect.cores(spark)
    frame = spark.createDataFrame(units.append_column(_TASK, pa.array(shares(sizes, 4 * cores), pa.int32())))
    if len(units) > 1:
        frame = frame.repartitionById(min(len(units), 4 * cores), F.col(_TASK))
    return frame.drop(_TASK)


def shares(sizes: Sequence[int], most: int) -> list[int]:
    """Return the number of the task that gets each unit: the largest first, to the task that has the least."""
    loads = [(0, 0, task) for task in range(max(1, min(len(sizes), most)))]
    heapify(loads)
    found = [0] * len(sizes)
    for unit in sorted(range(len(sizes)), key=lambda each: -sizes[each]):
        size, units, task = loads[0]
        heapreplace(loads, (size + sizes[unit], units + 1, task))
        found[unit] = task
    return found
