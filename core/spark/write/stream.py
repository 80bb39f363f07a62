"""A sink for Structured Streaming: each micro-batch is one commit, made once however often Spark repeats the batch.

Invariant: the commit's user is the query and its identifier the batch number. Both are stored in the snapshot, so a
batch that was committed before a crash and is delivered again is recognized.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

from pyspark.sql import DataFrame

from core.errors import Invalid
from core.formats.paimon.write import commit, documents, publish
from core.model.references import MAIN
from core.spark.write import append as write
from core.spark.write import upsert
from core.storage.store import Store


def stream_to(
    location: str | Store,
    *,
    user: str,
    branch: str = MAIN,
    kinds: str | None = None,
    watermark: Callable[[DataFrame], int | None] = lambda rows: None,
    now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
) -> Callable[[DataFrame, int], None]:
    """Return a function for `DataStreamWriter.foreachBatch` that appends each micro-batch to the table.

    If the table has a primary key, it upserts it (`kinds`: as in `upsert.upsert`). `user` names the query and its
    checkpoint: a query that starts on a new checkpoint counts its batches from 0 again and needs a new name.
    `watermark` returns that of a batch, in epoch milliseconds. A batch without rows makes no commit.
    """
    if not user.strip() or user == documents.WRITER:
        raise Invalid("A stream needs its own name.", remedy="Name the query, one name for each checkpoint.")
    store = location if isinstance(location, Store) else Store(location)

    def batch(rows: DataFrame, number: int) -> None:
        at = write.stamp(now_ms(), user=user, identifier=number, branch=branch)
        if commit.landed(store, "APPEND", at) is not None:
            return
        if publish.read_head(store, branch).schema.primary_keys:
            if not rows.isEmpty():
                upsert.upsert(store, rows, dataclasses.replace(at, watermark=watermark(rows)), kinds=kinds)
            return
        with write.stage(store, rows, at) as groups:
            if staged := groups.get(None, ()):
                at = dataclasses.replace(at, time_ms=now_ms(), watermark=watermark(rows))
                write.commit_append(store, staged, at)

    return batch
