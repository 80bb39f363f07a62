"""A part of a history as rows of a frame: the number of the part, a kind, and a content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.serializers import CPickleSerializer
from pyspark.sql import DataFrame

from core.errors import Conflict, SnapscopeError
from core.model.intervals import Intervals
from core.spark.session.refusals import refusal

TYPE = "part int, kind string, content binary"
SCHEMA = pa.schema([("part", pa.int32()), ("kind", pa.string()), ("content", pa.binary())])
PICKLED = CPickleSerializer()  # what Spark sends values with itself
Batches = Iterable[pa.RecordBatch]


class Kind:
    """Of contents."""

    FACTS, ENTRIES, NONE = "facts", "entries", "none"  # what decoded manifests tell, and what they contain
    SUMS, OBJECTS, HELD, MARK = "sums", "objects", "held", "mark"  # of a part that was built
    PARTITIONS = "partitions"  # of its files
    PATHS, LISTED, GONE = "paths", "listed", "gone"  # what a part is asked about


@dataclass(frozen=True, slots=True)
class PartContents:
    """What a part consists of, as (kind, content)."""

    rows: Sequence[tuple[str, bytes]]

    def one(self, wanted: str) -> bytes:
        """Return the one content of a kind."""
        (found,) = (content for kind, content in self.rows if kind == wanted)
        return found

    def table(self, wanted: str, *others: pa.Table) -> pa.Table:
        """Return the rows of all contents of a kind, and of others."""
        return pa.concat_tables([*(read(content) for kind, content in self.rows if kind == wanted), *others])

    def paths(self) -> pa.ChunkedArray:
        """Return the paths that it is asked about."""
        return self.table(Kind.PATHS, pa.schema([("path", pa.string())]).empty_table())["path"]

    def objects(self) -> tuple[pa.Table, Intervals]:
        """Return the objects and where they are held."""
        return read(self.one(Kind.OBJECTS)), PICKLED.loads(self.one(Kind.HELD))


def by_part(batches: Batches) -> dict[int, list[tuple[str, bytes]]]:
    found: dict[int, list[tuple[str, bytes]]] = {}
    for batch in batches:
        for part, kind, content in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            found.setdefault(part, []).append((kind, content))
    return found


def row_of(part: int, kind: str, content: bytes) -> pa.RecordBatch:
    return pa.record_batch([pa.array([part], pa.int32()), [kind], pa.array([content], pa.binary())], schema=SCHEMA)


@contextmanager
def asking() -> Iterator[None]:
    """Turn every error of Spark into one of ours."""
    try:
        yield
    except SnapscopeError:
        raise
    except Exception as error:
        raise refusal(error) from error


def collected(frame: DataFrame) -> list[bytes]:
    with asking():
        found: list[bytes] = frame.select("content").toArrow()["content"].to_pylist()
        return found


def forget(frame: DataFrame) -> None:
    """Release a cached frame. Errors are ignored: if Spark has ended, the caller reports why."""
    with suppress(Py4JError, PySparkException, OSError):
        frame.unpersist()


def lost(location: str) -> Conflict:
    return Conflict(
        "Spark lost some of the metadata that it had read, and the table has changed since.",
        path=location,
        remedy="Try again.",
    )


def written(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def read(content: bytes) -> pa.Table:
    return pa.ipc.open_stream(content).read_all()
