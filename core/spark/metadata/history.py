"""A history that Spark builds and keeps in parts, so that neither a worker nor this process holds all files.

Each manifest is decoded once. Its entries go to the parts of the objects that they name; each part becomes a history of
its own, which a task keeps on its disk. What a part answers is added up here. See `core.formats.parts`.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from py4j.protocol import Py4JError
from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.serializers import CPickleSerializer
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from core.errors import Conflict, Unsupported
from core.formats.parts import Builder, Facts, Manifests, Reader, divided
from core.model import history as histories
from core.model import intervals
from core.model.history import HistorySummary, Reclaimed, Totals
from core.model.intervals import Ints, Mask, Shapes
from core.model.references import Heads, Holder
from core.spark.session import divided as tasks
from core.spark.session import session
from core.spark.session.refusals import refusal
from core.spark.session.task_errors import forwarding_errors
from core.table import ATTEMPTS, Table, kept_changing

ENTRIES = 250_000
"""Of a part, about: 150 MB of memory while its history is built."""

MOST_FREED = 2_000_000
"""Files that a plan may free: it names each."""

_BATCH_BYTES = 4 << 20  # of manifests that are decoded together: some 100,000 entries
_ROWS = "part int, kind string, content binary"
_SCHEMA = pa.schema([("part", pa.int32()), ("kind", pa.string()), ("content", pa.binary())])
_FACTS, _ENTRIES, _NONE = "facts", "entries", "none"
_SUMS, _OBJECTS, _HELD, _MARK = "sums", "objects", "held", "mark"
_PICKLED = CPickleSerializer()  # what Spark sends values with itself
Batches = Iterable[pa.RecordBatch]
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

    @property
    def shapes(self) -> Shapes:
        return self.merged

    @property
    def totals(self) -> Totals:
        return self.sums

    def reclaimed(self, going: Mask, after: Mask, tags: Mask) -> Reclaimed:
        """As declared. Raises `Unsupported` if it is more than `MOST_FREED` files."""
        assert self.made is not None, "costs of tags need no files"
        runs = self.merged.runs
        chosen = runs.over(going) & ~runs.over(after)
        if (count := int(self.merged.count[chosen].sum())) > MOST_FREED:
            raise Unsupported(
                "This plan would free {count:,} files; a plan names each file, and {most:,} at most.",
                count=count,
                most=MOST_FREED,
                path=self.heads.location,
                remedy="Expire fewer snapshots at a time, or delete fewer tags.",
            )

        def answer(own: dict[str, bytes]) -> Reclaimed:
            return histories.reclaimed(_table(own[_OBJECTS]), _PICKLED.loads(own[_HELD]), going, after, tags)

        found = list(self._asked(answer, _OBJECTS, _HELD))
        return Reclaimed(
            pa.concat_tables([each.frees for each in found]),
            sum(each.foreign for each in found),
            sum(each.kept_bytes for each in found),
            sum(each.tags_keep_bytes for each in found),
        )

    def objects_among(self, paths: Collection[str]) -> frozenset[str]:
        wanted = pa.array(list(paths), pa.string())

        def answer(own: dict[str, bytes]) -> list[str]:
            known = _table(own[_OBJECTS])["path"]
            found: list[str] = known.filter(pc.is_in(known, value_set=wanted)).to_pylist()
            return found

        return frozenset(path for own in self._asked(answer, _OBJECTS) for path in own)

    @property
    def parts(self) -> int:
        return len(self.marks)

    def split(self, holders: tuple[Holder, ...], first: Ints) -> SparkHistory:
        runs = self.merged.runs.split(first)
        return replace(self, holders=holders, merged=replace(self.merged, runs=runs), made=None)

    def close(self) -> None:
        """Let Spark forget the parts."""
        if self.made is not None:
            _forget(self.made)

    def _asked(self, answer: Callable[[dict[str, bytes]], T], *kinds: str) -> Iterator[T]:
        """Yield what each part answers, given its contents of these kinds."""
        assert self.made is not None

        def run(batches: Batches) -> Iterator[pa.RecordBatch]:
            for part, rows in _by_part(batches).items():
                own = dict(rows)
                yield _row(part, _SUMS, _PICKLED.dumps((part, own[_MARK], answer(own))))

        asked = self.made.where(F.col("kind").isin(_MARK, *kinds)).mapInArrow(run, _ROWS)
        for content in _contents(asked):
            part, mark, found = _PICKLED.loads(content)
            if mark != self.marks[part]:
                raise _lost(self.heads.location)
            yield found


@dataclass(frozen=True, slots=True)
class _Sums:
    """What building a part tells: the entries that it was built from, its checksum, and its sums."""

    part: int
    rows: int
    mark: bytes
    shapes: Shapes
    totals: Totals


def lasting(table: Table, *, changelogs: bool = False) -> SparkHistory:
    """As `Table.lasting`, with the Spark of this process: read again if a table changes while it is read."""
    heads = table.heads()
    for _ in range(ATTEMPTS):
        found = build(session.get(), table, heads, changelogs=changelogs)
        newer = table.newer(found)
        if newer is None:
            return found
        found.close()
        heads = newer
    raise kept_changing()


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
        for content in _contents(decoded.where(F.col("kind") == _FACTS)):
            some, count = _PICKLED.loads(content)
            facts, rows = [*facts, *some], rows + count
        frame = given.frame(sorted(facts, key=lambda each: each.manifest))
        made = _made(spark, frame.builder, decoded, parts).persist(StorageLevel.DISK_ONLY)
        kept.append(made)
        sums: list[_Sums] = [_PICKLED.loads(content) for content in _contents(made.where(F.col("kind") == _SUMS))]
        if sum(each.rows for each in sums) != rows:
            raise _lost(table.location)
    except BaseException:
        for each in kept:
            _forget(each)
        raise
    _forget(decoded)
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
    )


def _forget(frame: DataFrame) -> None:
    """Let Spark forget a frame, unless it has ended: why, is told by whoever asked it."""
    with contextlib.suppress(Py4JError, PySparkException, OSError):
        frame.unpersist()


def _lost(location: str) -> Conflict:
    return Conflict(
        "Spark lost some of the metadata that it had read, and the table has changed since.",
        path=location,
        remedy="Try again.",
    )


def _columns(totals: Totals) -> tuple[Ints, Ints, Ints, Ints]:
    return totals.files, totals.bytes, totals.rows, totals.data_files


def _decoded(spark: SparkSession, reader: Reader, manifests: Manifests, parts: int) -> DataFrame:
    """The entries of all manifests, as tables for parts, and the facts of each batch."""

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        for some in _batches(batches):
            with forwarding_errors():
                facts, rows, of = reader.entries(some, parts)
            yield _row(-1, _FACTS, _PICKLED.dumps((facts, len(rows))))
            for part, own in divided(rows, of):
                yield _row(part, _ENTRIES, _content(own))

    numbers, names, sizes = zip(*manifests, strict=True) if manifests else ((), (), ())
    units = pa.table(
        {
            "number": pa.array(numbers, pa.int64()),
            "name": pa.array(names, pa.string()),
            "size": pa.array(sizes, pa.int64()),
        }
    )
    return tasks.divided(spark, units, [max(1, size) for size in sizes]).mapInArrow(run, _ROWS)


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
        for part, rows in _by_part(batches).items():
            tables = [_table(content) for kind, content in rows if kind == _ENTRIES]
            with forwarding_errors():
                history = builder.part(tables, part, parts)
            objects, held = _content(history.objects), _PICKLED.dumps(history.held)
            mark = hashlib.blake2b(objects + held).digest()
            shapes = intervals.merged([history.shapes], len(history.holders))
            received = sum(len(each) for each in tables)
            yield _row(part, _SUMS, _PICKLED.dumps(_Sums(part, received, mark, shapes, history.totals)))
            for kind, content in ((_OBJECTS, objects), (_HELD, held), (_MARK, mark)):
                yield _row(part, kind, content)

    # Each part is built even if no entry names one of its objects: lists and documents are objects, too.
    every = spark.createDataFrame(
        pa.table([pa.array(range(parts), pa.int32()), [_NONE] * parts, [b""] * parts], schema=_SCHEMA)
    )
    rows = decoded.where(F.col("kind") == _ENTRIES).unionByName(every)
    return rows.repartitionById(parts, F.col("part")).mapInArrow(run, _ROWS)


def _by_part(batches: Batches) -> dict[int, list[tuple[str, bytes]]]:
    found: dict[int, list[tuple[str, bytes]]] = {}
    for batch in batches:
        for part, kind, content in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            found.setdefault(part, []).append((kind, content))
    return found


def _row(part: int, kind: str, content: bytes) -> pa.RecordBatch:
    return pa.record_batch([pa.array([part], pa.int32()), [kind], pa.array([content], pa.binary())], schema=_SCHEMA)


def _contents(frame: DataFrame) -> list[bytes]:
    try:
        found: list[bytes] = frame.select("content").toArrow()["content"].to_pylist()
    except Exception as error:
        raise refusal(error) from error
    return found


def _content(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _table(content: bytes) -> pa.Table:
    return pa.ipc.open_stream(content).read_all()
