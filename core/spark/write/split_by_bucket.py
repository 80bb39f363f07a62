"""Split the rows of a frame by bucket: each task writes its rows to one file, grouped by bucket.

Invariants: rows keep the order of the frame's partitions and their order within them. A row that the table could not
merge again, or that its columns cannot store, fails the job. Files are used instead of Spark's shuffle because they
keep the rows columnar.
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from core.errors import Invalid, Unsupported
from core.formats.paimon import binary_row, types
from core.formats.paimon.types import parse
from core.formats.paimon.write import bucket_hash, documents
from core.model.references import Schema
from core.spark.merge import aggregates
from core.spark.merge.columns import codes, order_by
from core.spark.merge.rows import KIND
from core.spark.merge.rules import AGGREGATION, FIRST_ROW, PARTIAL_UPDATE, MergeRule
from core.spark.read.paimon.frames import KINDS
from core.spark.session.task_errors import forwarding_errors
from core.spark.write import append as write

Bucket: TypeAlias = tuple[bytes, int]

NAMED_KIND = "_KEY_kind"  # the column with each row's kind, as text; no table has a column of this name
# rows of one bucket in a task's file:
PIECES = "task int, path string, number int, partition binary, bucket int, rows bigint"
_PIECE = pa.schema([("task", pa.int32()), ("path", pa.string()), ("number", pa.int32()), ("partition", pa.binary()),
                    ("bucket", pa.int32()), ("rows", pa.int64())])  # fmt: skip
_PIECE_BYTES = 64 << 20  # of rows that are split at once
_RETRACTIONS = pa.array([1, 3], pa.int8())


def shaped(rows: DataFrame, schema: Schema, kinds: str | None) -> DataFrame:
    """The table's columns with their types, and each row's kind."""
    from pyspark.sql.types import StructType

    own = [name for name in rows.columns if name != kinds]
    names = [field.name for field in schema.fields]
    if sorted(own) != sorted(names):
        raise Invalid(f"The rows have the columns {', '.join(own)}; the table has {', '.join(names)}.")
    kind = kinds or schema.options.get("rowkind.field")
    named = F.col(types.quoted(kind)).cast("string") if kind else F.lit("+I")
    fields = [(field.name, parse(field.type), field.id) for field in schema.fields]
    wanted = StructType([write._struct_field(name, of, number) for name, of, number in fields])
    wanted = wanted.add(NAMED_KIND, "string")
    chosen = rows.select(*(F.col(types.quoted(name)) for name in names), named.alias(NAMED_KIND)).to(wanted)
    checked = [write._checked(name, of).alias(name) for name, of, _ in fields]
    return chosen.select(*checked, NAMED_KIND)


def of_buckets(pieces: Iterable[Mapping[str, Any]], numbers: Mapping[Bucket, int]) -> list[dict[str, Any]]:
    """The units to sort: per bucket its pieces in the order of the frame, and its first sequence number."""
    found: dict[Bucket, dict[str, Any]] = {}
    for piece in sorted(pieces, key=lambda piece: (piece["task"], piece["number"])):
        bucket = (piece["partition"], piece["bucket"])
        partition = base64.b64encode(piece["partition"]).decode()
        new = {"partition": partition, "bucket": piece["bucket"], "rows": 0, "pieces": []}
        unit = found.setdefault(bucket, {**new, "first": numbers.get(bucket, -1) + 1})
        unit["pieces"].append((piece["path"], piece["number"]))
        unit["rows"] += piece["rows"]
    return list(found.values())


def split(
    schema: Schema, rule: MergeRule, folder: str
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a task that writes its rows to a file, grouped by bucket, and describes the pieces.

    Rows that the table does not store are dropped.
    """
    bucket_keys = documents.bucket_keys(schema)
    buckets = int(schema.options["bucket"])
    types = {field.name: parse(field.type) for field in schema.fields}
    checked = _checking(schema, rule)

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        path, pieces = f"{folder}/{uuid.uuid4()}", list[dict[str, Any]]()
        place = {"task": TaskContext.get().partitionId(), "path": path}  # type: ignore[union-attr]  # this is a task
        with contextlib.ExitStack() as stack, forwarding_errors():
            file: pa.ipc.RecordBatchFileWriter | None = None
            for rows in _gathered(map(checked, batches)):
                bucket = bucket_hash.buckets(
                    [rows[name] for name in bucket_keys], [types[name] for name in bucket_keys], buckets
                )
                partitions_, partition = _partitions(rows, schema)
                group = partition * buckets + bucket
                order = order_by(group)
                ordered, placed = group[order], rows.take(pa.array(order))
                start = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
                for at, end in zip(start, [*start[1:], len(order)], strict=True):
                    if file is None:
                        lz4 = pa.ipc.IpcWriteOptions(compression="lz4")
                        file = stack.enter_context(pa.ipc.new_file(path, placed.schema, options=lz4))
                    which, number = divmod(int(ordered[at]), buckets)
                    own = {
                        "number": len(pieces),
                        "partition": partitions_[which],
                        "bucket": number,
                        "rows": int(end - at),
                    }
                    pieces.append({**place, **own})
                    file.write_batch(placed.slice(at, end - at))
        yield from pa.Table.from_pylist(pieces, schema=_PIECE).to_batches()

    return run


def _gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows in larger batches."""
    waiting, size = list[pa.RecordBatch](), 0
    for batch in batches:
        waiting.append(batch)
        size += batch.nbytes
        if size >= _PIECE_BYTES:
            yield pa.concat_batches(waiting)
            waiting, size = [], 0
    if any(map(len, waiting)):
        yield pa.concat_batches(waiting)


def _checking(schema: Schema, rule: MergeRule) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
    """Return a function that keeps the rows to store, with their kinds as numbers, and refuses invalid ones."""
    of = {field.name: parse(field.type) for field in schema.fields}
    refused = _refused(schema, rule)
    known = pa.array(KINDS)

    def check(batch: pa.RecordBatch) -> pa.RecordBatch:
        for name, type_ in of.items():
            if not type_.nullable and batch[name].null_count:
                raise Invalid(f"The column '{name}' may not be null, but some rows have no value.")
        kind = pc.index_in(batch[NAMED_KIND], known).cast(pa.int8())
        if kind.null_count:
            wrong = batch[NAMED_KIND].filter(kind.is_null())[0].as_py()
            raise Invalid(f"{wrong!r} is no kind of a row: {', '.join(KINDS)} are.")
        rows = pa.RecordBatch.from_arrays([*(batch[name] for name in of), kind], names=[*of, KIND])
        if rule.ignore_delete:
            return rows.filter(pc.invert(pc.is_in(kind, _RETRACTIONS)))
        for number, why in refused.items():
            if pc.any(pc.equal(kind, number)).as_py():
                raise Unsupported(
                    f"A row of kind {KINDS[number]} cannot be written: {why}",
                    remedy="Leave rows of this kind out, or change the table's options.",
                )
        return rows

    return check


def _partitions(batch: pa.RecordBatch, schema: Schema) -> tuple[list[bytes], npt.NDArray[np.int64]]:
    """(partitions as stored, the index of each row's partition)."""
    names = schema.partition_keys
    if not names:
        return [binary_row.EMPTY], np.zeros(len(batch), dtype=np.int64)
    of = {field.name: parse(field.type) for field in schema.fields}
    columns = pa.table({name: batch[name].cast(types.arrow(of[name])) for name in names})
    _, first, each = np.unique(codes(columns, names), return_index=True, return_inverse=True)
    distinct = columns.take(pa.array(first)).to_pylist()
    return [binary_row.encode([row[name] for name in names], [of[name] for name in names]) for row in distinct], each


def read(pieces: Iterable[tuple[str, int]]) -> pa.Table:
    """The rows of one bucket, in the order of its pieces."""
    batches = []
    for path, together in itertools.groupby(pieces, key=lambda piece: piece[0]):
        with pa.memory_map(path) as content, pa.ipc.open_file(content) as file:
            batches += [file.get_batch(number) for _, number in together]
    return pa.Table.from_batches(batches)


def _refused(schema: Schema, rule: MergeRule) -> dict[int, str]:
    """Row kinds, by number, that the table cannot merge again, with the reason.

    The engine accepts them, and then no reader can read the table any more.
    """
    if rule.engine == FIRST_ROW:
        return dict.fromkeys((1, 3), "a first-row table takes those only with 'ignore-delete'.")
    if rule.engine == PARTIAL_UPDATE and not rule.groups:
        if rule.remove_on_delete:
            return {}
        why = (
            "a partial-update table takes those only with 'ignore-delete', 'partial-update.remove-record-on-delete' "
            "or sequence groups."
        )
        return dict.fromkeys((1, 3), why)
    of = {field.name: parse(field.type) for field in schema.fields}
    for name, function in rule.functions.items():
        column = aggregates.column_of(function, pa.chunked_array([pa.array([], types.arrow(of[name], micros=True))]), 0)
        if not function.ignores_retract and not hasattr(column, "retract"):
            why = f"the function '{function.name}' of the column '{name}' cannot take a row back."
            whole = rule.engine == AGGREGATION and rule.remove_on_delete
            return dict.fromkeys((1,) if whole else (1, 3), why)
    return {}
