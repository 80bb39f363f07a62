"""Finds the files that no version holds: tasks list directories, and compare names with those that parts hold.

Names are compared in as many shares as there are parts, by a hash of the name, since a part has the objects of some
paths. So neither a task nor this process has all names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from core.formats.parts import divided, part_of
from core.model.intervals import Mask
from core.model.unheld import LISTED, Listed, Lister, names, unheld
from core.spark.metadata.part_rows import (
    PICKLED,
    TYPE,
    Batches,
    Kind,
    PartContents,
    by_part,
    collected,
    forget,
    read,
    row_of,
    written,
)
from core.spark.session import divided as tasks
from core.spark.session.task_errors import forwarding_errors

_TOGETHER = 64  # directories whose files go to the shares together


@dataclass(frozen=True)
class SortedOut:
    """marks: the checksum of each part that was asked; count: files that may be deleted; stays, listed: as of
    `core.model.unheld.Unheld`."""

    marks: Mapping[int, bytes]
    count: int
    stays: Mapping[str, int]
    listed: Listed
    _judged: DataFrame

    def frees(self) -> pa.Table:
        """Return the files that may be deleted: path, kind and bytes."""
        nothing = LISTED.empty_table().select(["path", "kind", "bytes"])
        found = collected(self._judged.where(F.col("kind") == Kind.OBJECTS))
        return pa.concat_tables([nothing, *map(read, found)])


@contextmanager
def sorted_out(
    made: DataFrame, existing: Mask, parts: int, lister: Lister, directories: Sequence[str], seen: Listed
) -> Iterator[SortedOut]:
    """List directories, and sort out what existing versions hold of these files and of those `seen`. `made`: parts."""
    spark = made.sparkSession
    with ExitStack() as kept:

        def keep(frame: DataFrame) -> DataFrame:
            held = frame.persist(StorageLevel.DISK_ONLY)
            kept.callback(forget, held)
            return held

        units = pa.table([pa.array(directories, pa.string())], ["directory"])
        listed = tasks.divided(spark, units, [1] * len(units)).mapInArrow(_lists(lister, parts), TYPE)
        given = [row_of(-1, Kind.NONE, b""), *_shares(Kind.LISTED, seen.files, parts)]
        had = spark.createDataFrame(pa.Table.from_batches(given))
        some = made.where(F.col("kind").isin(Kind.MARK, Kind.OBJECTS, Kind.HELD))
        named = keep(some.mapInArrow(_held(existing, parts), TYPE).unionByName(listed).unionByName(had))
        marks = dict(map(PICKLED.loads, collected(named.where(F.col("kind") == Kind.MARK))))
        told = [PICKLED.loads(content) for content in collected(named.where(F.col("kind") == Kind.GONE))]
        shares = named.where(F.col("part") >= 0).repartitionById(parts, F.col("part"))
        judged = keep(shares.mapInArrow(_judge, TYPE))
        stays, count = Counter[str](), 0
        for content in collected(judged.where(F.col("kind") == Kind.SUMS)):
            free, others = PICKLED.loads(content)
            count += free
            stays.update(others)
        without = replace(seen, files=LISTED.empty_table())
        yield SortedOut(marks, count, stays, Listed.together([without, *told]), judged)


def _lists(lister: Lister, parts: int) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            every = batch.column("directory").to_pylist()
            for begin in range(0, len(every), _TOGETHER):
                with forwarding_errors():
                    found = lister.listed(every[begin : begin + _TOGETHER])
                yield from _shares(Kind.LISTED, found.files, parts)
                yield row_of(-1, Kind.GONE, PICKLED.dumps(replace(found, files=LISTED.empty_table())))

    return run


def _held(existing: Mask, parts: int) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """The checksum of each part, and the names of what existing versions hold."""

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        for part, rows in by_part(batches).items():
            own = PartContents(rows)
            with forwarding_errors():
                objects, held = own.objects()
                found = objects.select(["path"]).filter(pa.array(held.over(existing)))
            yield row_of(-1, Kind.MARK, PICKLED.dumps((part, own.one(Kind.MARK))))
            yield from _shares(Kind.PATHS, found, parts)

    return run


def _judge(batches: Batches) -> Iterator[pa.RecordBatch]:
    for part, rows in by_part(batches).items():
        own = PartContents(rows)
        with forwarding_errors():
            frees, stays = unheld(own.table(Kind.LISTED, LISTED.empty_table()), names(own.paths()))
        yield row_of(part, Kind.SUMS, PICKLED.dumps((len(frees), stays)))
        if len(frees):
            yield row_of(part, Kind.OBJECTS, written(frees))


def _shares(kind: str, rows: pa.Table, parts: int) -> Iterator[pa.RecordBatch]:
    if len(rows):
        for part, own in divided(rows, part_of(names(rows["path"]).combine_chunks(), parts)):
            yield row_of(part, kind, written(own))
