"""A history that Spark builds and keeps in parts, so that neither a worker nor this process holds all files.

Each manifest is decoded once. Its entries go to the parts of the objects that they name; each part becomes a history of
its own, which a task keeps on its disk. What a part answers is added up here. See `core.formats.parts`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from core.errors import Unsupported
from core.formats.parts import Builder, Examination, Facts, Manifests, Missing, Reader, divided, part_of
from core.formats.table_format import Examined
from core.model import history as histories
from core.model import intervals
from core.model.history import HistorySummary, Reclaimed, Totals
from core.model.intervals import Ints, Mask, Shapes
from core.model.references import Heads, Holder
from core.model.unheld import Listed, Lister, Unheld
from core.spark.metadata import directories, unheld
from core.spark.metadata.part_rows import (
    PICKLED,
    SCHEMA,
    TYPE,
    Batches,
    Kind,
    PartContents,
    asking,
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
from core.table import Table

ENTRIES = 250_000
"""Of a part, about: 150 MB of memory while its history is built."""

MOST_FREED = 2_000_000
"""Files that a plan may free: it names each."""

_BATCH_BYTES = 4 << 20  # of manifests that are decoded together: some 100,000 entries
T = TypeVar("T")


@dataclass(frozen=True)
class SparkHistory(HistorySummary):
    """What Spark sums up of the parts of a history, which it keeps until `close`.

    marks: a checksum of each part. Spark builds a part again that was lost with its executor; if the table has changed
    meanwhile, the new one differs, and nothing is answered from it.
    """

    marks: Mapping[int, bytes] = field(repr=False)
    merged: Shapes = field(repr=False)
    sums: Totals = field(repr=False)
    made: DataFrame | None = field(repr=False)
    contradictory: frozenset[int] = field(repr=False)
    examination: Examination | None = field(repr=False)

    @property
    def shapes(self) -> Shapes:
        return self.merged

    @property
    def totals(self) -> Totals:
        return self.sums

    def reclaimed(self, deleted: Mask, kept: Mask, tags: Mask) -> Reclaimed:
        """As declared. Raises `Unsupported` if it is more than `MOST_FREED` files."""
        runs = self.merged.runs
        chosen = runs.over(deleted) & ~runs.over(kept)
        if (count := int(self.merged.count[chosen].sum())) > MOST_FREED:
            raise Unsupported(
                "This plan would free {count:,} files; a plan names each file, and {most:,} at most.",
                count=count,
                most=MOST_FREED,
                path=self.heads.location,
                remedy="Expire fewer snapshots at a time, or delete fewer tags.",
            )

        def answer(own: PartContents) -> Reclaimed:
            return histories.reclaimed(*own.objects(), deleted, kept, tags)

        found = self._answers(answer, Kind.OBJECTS, Kind.HELD)
        return Reclaimed(
            pa.concat_tables([each.frees for each in found]),
            sum(each.foreign for each in found),
            sum(each.kept_bytes for each in found),
            sum(each.tags_keep_bytes for each in found),
        )

    def objects_among(self, paths: Collection[str]) -> frozenset[str]:
        def answer(own: PartContents) -> list[str]:
            known = own.objects()[0]["path"]
            found: list[str] = known.filter(pc.is_in(known, value_set=own.paths())).to_pylist()
            return found

        return frozenset(path for own in self._answers_for_paths(answer, paths) for path in own)

    def held_among(self, paths: Collection[str]) -> dict[str, tuple[int, ...]]:
        existing, found = self.existing, dict[str, tuple[int, ...]]()

        def answer(own: PartContents) -> dict[str, tuple[int, ...]]:
            return histories.held_among(*own.objects(), existing, own.paths().to_pylist())

        for own in self._answers_for_paths(answer, paths):
            found |= own
        return found

    def partitions(self) -> frozenset[str]:
        def answer(own: PartContents) -> list[str]:
            found: list[str] = own.table(Kind.PARTITIONS)["path"].to_pylist()
            return found

        return frozenset(path for own in self._answers(answer, Kind.PARTITIONS) for path in own)

    def unheld(self, lister: Lister, directories: Sequence[str], seen: Listed) -> Unheld:
        """As declared. Raises `Unsupported` if it is more than `MOST_FREED` files."""
        given = self._made, self.marks, self.existing, self.heads.location
        with asking(), unheld.unheld_files(*given, lister, directories, seen) as found:
            if found.count > MOST_FREED:
                raise Unsupported(
                    "There are {count:,} orphans; a plan names each file, and {most:,} at most.",
                    count=found.count,
                    most=MOST_FREED,
                    path=self.heads.location,
                    remedy="Give an earlier time with --older-than, delete those, and go on with a later one.",
                )
            return Unheld(found.frees(), found.stays, found.listed)

    def examined(self, frees: Collection[str]) -> Examined | None:
        """As `TableFormat.examine`; None where that needs no files."""
        if self.examination is None:
            return None
        check, existing = self.examination.check(frees), self.existing

        def answer(own: PartContents) -> Missing:
            objects, held = own.objects()
            there = own.table(Kind.LISTED, directories.NOTHING)
            return check.missing(objects.filter(pa.array(held.over(existing))), there)

        with asking():
            listed = directories.listed(self._made.sparkSession, check, frees, self.parts)
            listed = listed.persist(StorageLevel.DISK_ONLY)
            try:
                rows = collected(listed.where(F.col("kind") == Kind.GONE))
                more = listed.where(F.col("kind") == Kind.LISTED)
                found = self._answers(answer, Kind.OBJECTS, Kind.HELD, more=more)
            finally:
                forget(listed)
        gone = frozenset(path for content in rows for path in PICKLED.loads(content))
        problems = self.examination.problems(self, self.contradictory)
        return Examined(problems, self.examination.doubt(check, found, frees), gone)

    @property
    def parts(self) -> int:
        return len(self.marks)

    def split(self, holders: tuple[Holder, ...], first: Ints) -> SparkHistory:
        runs = self.merged.runs.split(first)
        return replace(self, holders=holders, merged=replace(self.merged, runs=runs), made=None)

    def close(self) -> None:
        """Let Spark forget the parts."""
        if self.made is not None:
            forget(self.made)

    @property
    def _made(self) -> DataFrame:
        assert self.made is not None, "costs of tags need no files"
        return self.made

    def _answers_for_paths(self, answer: Callable[[PartContents], T], paths: Collection[str]) -> list[T]:
        """As `_answers`, of the parts of these paths; each is given its own."""
        if not paths:
            return []
        every = pa.table({"path": pa.array(list(paths), pa.string())})
        parts = part_of(every["path"].combine_chunks(), self.parts)
        rows = [row_of(part, Kind.PATHS, written(own)) for part, own in divided(every, parts)]
        with asking():
            with_paths = self._made.sparkSession.createDataFrame(pa.Table.from_batches(rows))
        return self._answers(answer, Kind.OBJECTS, Kind.HELD, more=with_paths)

    def _answers(self, answer: Callable[[PartContents], T], *kinds: str, more: DataFrame | None = None) -> list[T]:
        """Return what each part answers, given its contents of these kinds. `more`: contents of parts besides."""

        def run(batches: Batches) -> Iterator[pa.RecordBatch]:
            for part, rows in by_part(batches).items():
                own = PartContents(rows)
                with forwarding_errors():
                    found = answer(own)
                yield row_of(part, Kind.SUMS, PICKLED.dumps((part, own.one(Kind.MARK), found)))

        with asking():
            contents = self._made.where(F.col("kind").isin(Kind.MARK, *kinds))
            if more is not None:
                contents = contents.unionByName(more).repartitionById(self.parts, F.col("part"))
            answers = [PICKLED.loads(content) for content in collected(contents.mapInArrow(run, TYPE))]
        if {part: mark for part, mark, _ in answers} != self.marks or len(answers) != self.parts:
            raise lost(self.heads.location)
        return [found for _, _, found in answers]


@dataclass(frozen=True, slots=True)
class _Sums:
    """The results of building a part: the number of entries it was built from, its checksum, and its sums."""

    part: int
    rows: int
    mark: bytes
    shapes: Shapes
    totals: Totals
    contradictory: Ints


def build(
    spark: SparkSession, table: Table, heads: Heads, *, changelogs: bool = False, entries: int = ENTRIES
) -> SparkHistory:
    """Read every manifest of any holder with Spark. `entries`: of a part, about.

    Raises the error of ours that a task raised, or one that says what Spark lacks.
    """
    given = table.format.in_parts(heads, changelogs=changelogs)
    parts = max(1, -(-given.entries // entries))
    manifests = given.manifests
    kept: list[DataFrame] = []
    try:
        decoded = _decoded(spark, given.reader(), manifests, parts).persist(StorageLevel.DISK_ONLY)
        kept.append(decoded)
        facts: list[Facts] = []
        rows = 0
        for content in collected(decoded.where(F.col("kind") == Kind.FACTS)):
            some, count = PICKLED.loads(content)
            facts, rows = [*facts, *some], rows + count
        frame = given.frame(sorted(facts, key=lambda each: each.manifest))
        made = _made(spark, frame.builder, decoded, parts).persist(StorageLevel.DISK_ONLY)
        kept.append(made)
        sums: list[_Sums] = [PICKLED.loads(content) for content in collected(made.where(F.col("kind") == Kind.SUMS))]
        if sum(each.rows for each in sums) != rows or {each.part for each in sums} != set(range(parts)):
            raise lost(table.location)
    except BaseException:
        for each in kept:
            forget(each)
        raise
    forget(decoded)
    totals = Totals(*(np.sum(each, axis=0) for each in zip(*(_columns(each.totals) for each in sums), strict=True)))
    return SparkHistory(
        heads=frame.heads,
        holders=frame.holders,
        incomplete=frame.problems(totals),
        warnings=frame.warnings,
        marks={each.part: each.mark for each in sums},
        merged=intervals.merged([each.shapes for each in sums], len(frame.holders)),
        sums=totals,
        made=made,
        contradictory=frozenset(number for each in sums for number in each.contradictory.tolist()),
        examination=frame.examination,
    )


def _columns(totals: Totals) -> tuple[Ints, Ints, Ints, Ints]:
    return totals.files, totals.bytes, totals.rows, totals.data_files


def _decoded(spark: SparkSession, reader: Reader, manifests: Manifests, parts: int) -> DataFrame:
    """The entries of all manifests, as tables for parts, and the facts of each batch."""

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        for some in _batches(batches):
            with forwarding_errors():
                facts, rows, of = reader.entries(some, parts)
            yield row_of(-1, Kind.FACTS, PICKLED.dumps((facts, len(rows))))
            for part, own in divided(rows, of):
                yield row_of(part, Kind.ENTRIES, written(own))

    numbers, names, sizes = zip(*manifests, strict=True) if manifests else ((), (), ())
    units = pa.table(
        {
            "number": pa.array(numbers, pa.int64()),
            "name": pa.array(names, pa.string()),
            "size": pa.array(sizes, pa.int64()),
        }
    )
    return tasks.divided(spark, units, [max(1, size) for size in sizes]).mapInArrow(run, TYPE)


def _batches(batches: Batches) -> Iterator[list[tuple[int, str, int]]]:
    """Manifests in groups that are decoded together."""
    some: list[tuple[int, str, int]] = []
    filled = 0
    for batch in batches:
        for row in batch.to_pylist():
            some.append((row["number"], row["name"], row["size"]))
            filled += row["size"]
            if filled >= _BATCH_BYTES:
                yield some
                some, filled = [], 0
    if some:
        yield some


def _made(spark: SparkSession, builder: Builder, decoded: DataFrame, parts: int) -> DataFrame:
    """The parts: of each its sums, its objects and where they are held."""

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        for part, rows in by_part(batches).items():
            tables = [read(content) for kind, content in rows if kind == Kind.ENTRIES]
            with forwarding_errors():
                built = builder.part(tables, part, parts)
            history = built.history
            objects, held = written(history.objects), PICKLED.dumps(history.held)
            mark = hashlib.blake2b(objects + held).digest()
            shapes = intervals.merged([history.shapes], len(history.holders))
            received = sum(len(each) for each in tables)
            yield row_of(
                part, Kind.SUMS, PICKLED.dumps(_Sums(part, received, mark, shapes, history.totals, built.contradictory))
            )
            partitions = written(pa.table([history.files["partition"].unique()], ["path"]))
            contents = (Kind.OBJECTS, objects), (Kind.HELD, held), (Kind.PARTITIONS, partitions), (Kind.MARK, mark)
            for kind, content in contents:
                yield row_of(part, kind, content)

    # Each part is built even if no entry names one of its objects: lists and documents are objects, too.
    every = spark.createDataFrame(
        pa.table([pa.array(range(parts), pa.int32()), [Kind.NONE] * parts, [b""] * parts], schema=SCHEMA)
    )
    rows = decoded.where(F.col("kind") == Kind.ENTRIES).unionByName(every)
    return rows.repartitionById(parts, F.col("part")).mapInArrow(run, TYPE)
