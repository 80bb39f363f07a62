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
    lost,
    read,
    row_of,
    written,
)
from core.spark.session import divided as tasks
from core.spark.session.task_errors import forwarding_errors

_AT_ONCE = 64  # directories that a task lists together
_TOGETHER = 100_000  # files that go to the shares together


@dataclass(frozen=True)
class UnheldFiles:
    """count: files that may be deleted; stays, listed: as of `core.model.unheld.Unheld`."""

    count: int
    stays: Mapping[str, int]
    listed: Listed
    _judged: DataFrame
    _accept: Callable[[Mapping[int, bytes]], None]

    def frees(self) -> pa.Table:
        """Return the files that may be deleted: path, kind and bytes. Raises `Conflict` if parts have changed."""
        found = [LISTED.empty_table().select(["path", "kind", "bytes"])]
        for content in collected(self._judged.where(F.col("kind") == Kind.OBJECTS)):
            marks, frees = PICKLED.loads(content)
            self._accept(marks)
            found.append(read(frees))
        return pa.concat_tables(found)


@contextmanager
def unheld_files(
    made: DataFrame,
    marks: Mapping[int, bytes],
    existing: Mask,
    location: str,
    lister: Lister,
    directories: Sequence[str],
    seen: Listed,
) -> Iterator[UnheldFiles]:
    """List directories, and sort out what existing versions hold of these files and of those `seen`.

    made, marks: the parts of a history, and the checksum of each. Spark may build a part again at any time, so each
    share of names comes with the checksums of the parts that it is from. Raises `Conflict` if they are others.
    """
    spark, parts = made.sparkSession, len(marks)

    def accept(found: Mapping[int, bytes]) -> None:
        if found != marks:
            raise lost(location)

    with ExitStack() as kept:

        def keep(frame: DataFrame) -> DataFrame:
            held = frame.persist(StorageLevel.DISK_ONLY)
            kept.callback(forget, held)
            return held

        given = [row_of(-1, Kind.NONE, b""), *_shares(Kind.LISTED, seen.files, parts)]
        contents = made.where(F.col("kind").isin(Kind.MARK, Kind.OBJECTS, Kind.HELD))
        shares = contents.mapInArrow(_held(existing, parts), TYPE)
        shares = shares.unionByName(spark.createDataFrame(pa.Table.from_batches(given)))
        listings = list[Listed]()
        if directories:  # a client of Spark Connect cannot send none
            units = pa.table([pa.array(directories, pa.string())], ["directory"])
            listed = keep(tasks.divided(spark, units, [1] * len(units)).mapInArrow(_lists(lister, parts), TYPE))
            listings = [PICKLED.loads(content) for content in collected(listed.where(F.col("kind") == Kind.GONE))]
            shares = shares.unionByName(listed)
        judged = keep(shares.where(F.col("part") >= 0).repartitionById(parts, F.col("part")).mapInArrow(_judge, TYPE))
        stays, count = Counter[str](), 0
        sums = collected(judged.where(F.col("kind") == Kind.SUMS))
        for content in sums:
            found, free, others = PICKLED.loads(content)
            accept(found)
            count += free
            stays.update(others)
        if len(sums) != parts:
            raise lost(location)
        without = replace(seen, files=LISTED.empty_table())
        yield UnheldFiles(count, stays, Listed.together([without, *listings]), judged, accept)


def _lists(lister: Lister, parts: int) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        waiting: list[pa.Table] = []
        for batch in batches:
            every = batch.column("directory").to_pylist()
            for start in range(0, len(every), _AT_ONCE):
                with forwarding_errors():
                    found = lister.listed(every[start : start + _AT_ONCE])
                yield row_of(-1, Kind.GONE, PICKLED.dumps(replace(found, files=LISTED.empty_table())))
                waiting.append(found.files)
                if sum(map(len, waiting)) >= _TOGETHER:
                    yield from _shares(Kind.LISTED, pa.concat_tables(waiting), parts)
                    waiting = []
        yield from _shares(Kind.LISTED, pa.concat_tables([LISTED.empty_table(), *waiting]), parts)

    return run


def _held(existing: Mask, parts: int) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """The names of what existing versions hold, and for each share the checksums of the parts that they are from."""

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        for part, rows in by_part(batches).items():
            own = PartContents(rows)
            with forwarding_errors():
                objects, held = own.objects()
                found = pa.table([names(objects["path"].filter(pa.array(held.over(existing))))], ["path"])
            mark = PICKLED.dumps((part, own.one(Kind.MARK)))
            for share in range(parts):
                yield row_of(share, Kind.MARK, mark)
            yield from _shares(Kind.PATHS, found, parts)

    return run


def _judge(batches: Batches) -> Iterator[pa.RecordBatch]:
    for part, rows in by_part(batches).items():
        own = PartContents(rows)
        marks = dict(PICKLED.loads(content) for kind, content in rows if kind == Kind.MARK)
        with forwarding_errors():
            frees, stays = unheld(own.table(Kind.LISTED, LISTED.empty_table()), own.paths())
        yield row_of(part, Kind.SUMS, PICKLED.dumps((marks, len(frees), stays)))
        if len(frees):
            yield row_of(part, Kind.OBJECTS, PICKLED.dumps((marks, written(frees))))


def _shares(kind: str, rows: pa.Table, parts: int) -> Iterator[pa.RecordBatch]:
    if len(rows):
        for part, own in divided(rows, part_of(names(rows["path"]).combine_chunks(), parts)):
            yield row_of(part, kind, written(own))
