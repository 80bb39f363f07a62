"""Lists the directories of files to be deleted in tasks, as rows for the parts of a history."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from core.formats.parts import DiskCheck, divided, part_of
from core.spark.metadata.part_rows import PICKLED, TYPE, Batches, Kind, row_of, written
from core.spark.session import divided as tasks
from core.spark.session.task_errors import forwarding_errors

NOTHING = pa.schema([("path", pa.string()), ("bytes", pa.int64())]).empty_table()
_TOGETHER = 100_000  # entries of directories that go to the parts together


def listed(spark: SparkSession, check: DiskCheck, frees: Collection[str], parts: int) -> DataFrame:
    """What is in the directories of files to be deleted, as tables for parts, and those of the files that are not."""
    names: dict[str, list[str]] = {each: [] for each in check.directories.to_pylist()}
    for path in frees:
        directory, _, name = path.rpartition("/")
        if directory in names:
            names[directory].append(name)

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        waiting: list[pa.Table] = []
        for batch in batches:
            for row in batch.to_pylist():
                with forwarding_errors():
                    found = check.listed([row["directory"]])
                there = frozenset(found["path"].to_pylist())
                gone = [path for name in row["names"] if (path := f"{row['directory']}/{name}") not in there]
                if gone:
                    yield row_of(-1, Kind.GONE, PICKLED.dumps(gone))
                waiting.append(found)
                if sum(map(len, waiting)) >= _TOGETHER:
                    yield from _divided(waiting, parts)
                    waiting = []
        yield from _divided(waiting, parts)

    units = pa.table(
        {
            "directory": pa.array(names, pa.string()),
            "names": pa.array(names.values(), pa.list_(pa.string())),
        }
    )
    return tasks.divided(spark, units, [1 + len(each) for each in names.values()]).mapInArrow(run, TYPE)


def _divided(listed: Sequence[pa.Table], parts: int) -> Iterator[pa.RecordBatch]:
    every = pa.concat_tables([NOTHING, *listed])
    for part, own in divided(every, part_of(every["path"].combine_chunks(), parts)):
        yield row_of(part, Kind.LISTED, written(own))
